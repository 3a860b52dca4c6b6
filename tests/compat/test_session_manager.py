"""Sessions by their published names: what they find, ask for, open, close and survive."""

import logging
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

import pytest
from tests.compat.session_parts import (
    NUMBER,
    PACKAGE,
    Fed,
    Fixed,
    Graph,
    Part,
    Plugins,
    Thermometer,
    config,
    no_headset,
    number,
)

from handloom.compat.isaacteleop import deviceio, teleop_session_manager
from handloom.compat.isaacteleop.retargeting_engine.deviceio_source_nodes import (
    ControllersSource,
    FullBodySource,
    HandsSource,
    HeadSource,
    IDeviceIOSink,
)
from handloom.compat.isaacteleop.retargeting_engine.interface import OutputCombiner
from handloom.compat.isaacteleop.teleop_session_manager import (
    PluginConfig,
    SessionMode,
    TeleopSession,
    create_standard_inputs,
    get_required_oxr_extensions_from_pipeline,
    helpers,
)


class Felt(IDeviceIOSink):
    """Notes what it is given and when it is sent."""

    def __init__(self, name, tracker=None):
        self._tracker, self.log = tracker, []
        super().__init__(name)

    def input_spec(self):
        return {"in": NUMBER}

    def get_tracker(self):
        return self._tracker

    def _compute_fn(self, inputs, outputs, context):
        self.log.append(("stored", inputs["in"][0]))

    def flush_to_device(self, deviceio_session):
        self.log.append(("sent", deviceio_session))


def test_leaves_are_devices_or_fed_or_neither() -> None:
    hot, fed, fixed = Thermometer(), Fed("fed"), Fixed("fixed")
    session = TeleopSession(config(Graph([hot, fed, fixed])))
    assert session._sources == [hot]
    assert session._external_leaves == [fed]
    assert session._tracker_to_source == {id(hot.get_tracker()): hot}
    assert session.has_external_inputs()
    assert session.get_external_input_specs() == {"fed": {"given": NUMBER}}
    alone = TeleopSession(config(Graph([hot, fixed])))
    assert not alone.has_external_inputs()
    assert alone.get_external_input_specs() == {}


def test_inputs_that_are_missing_are_named_and_those_that_nobody_asked_for_are_ignored() -> None:
    session = TeleopSession(config(Graph([Thermometer(), Fed("a"), Fed("b")])))
    with pytest.raises(ValueError, match=r"external.*non-DeviceIO"):
        session._validate_external_inputs(None)
    with pytest.raises(ValueError, match="Missing external inputs"):
        session._validate_external_inputs({"a": {"given": number(0)}})
    with pytest.raises(ValueError, match="missing input keys"):
        session._validate_external_inputs({"a": {}, "b": {}})
    given = {leaf: {"given": number(1), "more": number(2)} for leaf in ("a", "b")}
    with pytest.raises(ValueError, match="collide with DeviceIO source names"):
        session._validate_external_inputs({**given, "thermometer": {}})
    with no_headset(), session:
        session.step(external_inputs={**given, "nobody": {}})
        assert set(session.pipeline.seen) == {"thermometer", "a", "b"}
        assert session.pipeline.seen["a"] == {"given": given["a"]["given"]}


def test_a_session_opens_in_order_closes_in_reverse_and_opens_again(tmp_path: Path) -> None:
    plugin = PluginConfig("glove", "/glove", [tmp_path], plugin_args=["--fast"])
    session = TeleopSession(config(Graph([Thermometer()]), plugins=[plugin]))
    log: list[str] = []
    oxr, devices, plugins = Part("oxr", log), Part("devices", log), Plugins(log, "glove")
    with no_headset(oxr=oxr, devices=devices, plugins=plugins):
        before = time.time()
        with session as opened:
            assert opened is session
            assert (session.oxr_session, session.deviceio_session) == (oxr, devices)
            assert before <= session.start_time <= time.time()
            assert len(session.plugin_managers) == len(session.plugin_contexts) == 1
            with pytest.raises(RuntimeError, match="already active"):
                session.__enter__()
            session.step()
            session.step()
            assert (session.frame_count, devices.updates) == (2, 2)
        assert session.oxr_session is None
        assert session.__exit__(None, None, None) is False
        with session:
            assert session.frame_count == 0
            assert len(session.plugin_contexts) == 1
    assert log == ["+oxr", "+devices", "+glove", "-glove", "-devices", "-oxr"] * 2
    assert plugins.started == [("glove", "/glove", ["--fast"])] * 2


@pytest.mark.parametrize("stage", ["oxr", "devices", "first", "second"])
def test_what_was_opened_before_a_failure_is_closed_once(tmp_path: Path, stage: str) -> None:
    order, log, fails = ["oxr", "devices", "first", "second"], [], [stage]
    wanted = [PluginConfig(name, "/", [tmp_path]) for name in ("first", "second")]
    session = TeleopSession(config(Graph(), plugins=wanted))
    parts = {
        "oxr": Part("oxr", log, fails),
        "devices": Part("devices", log, fails),
        "plugins": Plugins(log, "first", "second", fails=fails),
    }
    with no_headset(**parts):
        with pytest.raises(RuntimeError, match=f"{stage} broke"):
            session.__enter__()
        opened = order[: order.index(stage)]
        assert log == [*(f"+{part}" for part in [*opened, stage]), *(f"-{part}" for part in reversed(opened))]
        assert session.oxr_session is None
        with session:
            pass


def test_a_failure_while_closing_again_does_not_hide_the_first(caplog: pytest.LogCaptureFixture) -> None:
    session = TeleopSession(config(Graph()))

    class Sticky:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            raise RuntimeError("stuck")

    def open_and_fail(stack):
        stack.enter_context(Sticky())
        raise ValueError("no room")

    with (
        caplog.at_level(logging.ERROR),
        patch.object(session, "_enter_resources", side_effect=open_and_fail),
        pytest.raises(ValueError, match="no room"),
    ):
        session.__enter__()
    assert "Failed to roll back TeleopSession setup" in caplog.text
    with no_headset(), session:
        pass


def test_an_error_while_closing_is_raised_and_leaves_nothing_open() -> None:
    class Sticky(Part):
        def __exit__(self, *error):
            raise RuntimeError("stuck")

    with no_headset(oxr=Sticky("oxr", [])):
        session = TeleopSession(config(Graph()))
        session.__enter__()
        with pytest.raises(RuntimeError, match="stuck"):
            session.__exit__(None, None, None)
        assert session.oxr_session is None


def test_each_tracker_is_handed_over_once() -> None:
    shared, own = object(), object()
    source = Thermometer(tracker=shared)
    sink = Felt("felt", shared).connect({"in": source.output("heat")})
    found: list = []
    graph = OutputCombiner({"heat": source.output("heat")})
    with no_headset(trackers=found), TeleopSession(config(graph, sinks=[sink], trackers=[own])):
        assert found == [shared, own]


def test_handles_of_somebody_else_are_used_as_they_are() -> None:
    handles = SimpleNamespace(instance=1)
    with (
        patch(f"{PACKAGE}.oxr.OpenXRSession") as oxr,
        patch(f"{PACKAGE}.deviceio.DeviceIOSession.run", return_value=Part("devices", [])) as run,
        TeleopSession(config(Graph(), oxr_handles=handles)) as session,
    ):
        oxr.assert_not_called()
        assert run.call_args[0][1] is handles
        assert run.call_args[0][2] is None
        assert session.oxr_session is None
        assert session.deviceio_session is not None


@pytest.mark.parametrize(
    ("known", "options", "counts", "said"),
    [
        (["glove"], {"enabled": False, "required": True}, (0, 0), None),
        (["other"], {}, (1, 0), None),
        (
            ["z", "a"],
            {"required": True},
            None,
            r"was not discovered in search paths \['.*Discovered plugins: \['a', 'z'\]",
        ),
        (["glove"], {"search_paths": [Path("nowhere")]}, (0, 0), None),
        (
            ["glove"],
            {"search_paths": [Path("nowhere")], "required": True},
            None,
            r"no existing search directories.*\['now",
        ),
    ],
)
def test_plugins_that_are_not_there_are_left_out_or_refused(tmp_path, known, options, counts, said) -> None:
    plugin = PluginConfig("glove", "/", **({"search_paths": [tmp_path]} | options))
    session = TeleopSession(config(Graph(), plugins=[plugin]))
    with no_headset(plugins=Plugins([], *known)):
        if said is not None:
            with pytest.raises(RuntimeError, match=said):
                session.__enter__()
            assert session.oxr_session is None
        else:
            with session:
                assert (len(session.plugin_managers), len(session.plugin_contexts)) == counts


def test_plugins_are_looked_at_every_sixty_steps() -> None:
    part = Part("plugin", [])
    with no_headset(), TeleopSession(config(Graph())) as session:
        session.plugin_contexts.append(part)
        for _ in range(60):
            session.step()
        assert part.checks == 1
        session.step()
        assert part.checks == 2


def test_sinks_are_stored_to_in_the_graph_and_sent_after_it() -> None:
    fed, sink = Fed("force"), Felt("felt")
    graph = OutputCombiner({"value": Fixed("fixed").output("value")})
    session = TeleopSession(config(graph, sinks=[sink.connect({"in": fed.output("result")})]))
    assert [node for _, node in session._sinks] == [sink]
    with no_headset() as log, session:
        session.step(external_inputs={"force": {"given": number(0.5)}})
        assert sink.log == [("stored", 0.5), ("sent", session.deviceio_session)]
    assert log == ["+oxr", "+devices", "-devices", "-oxr"]
    with pytest.raises(ValueError, match="IDeviceIOSink"):
        config(graph, sinks=[Fixed("other").connect({})])


def test_vendors_are_for_live_sessions_only() -> None:
    source = FullBodySource("body", vendor=deviceio.TrackerVendor("body.pico-xr"))
    live = config(Graph([source]))
    session = TeleopSession(live)
    pair = (deviceio.FullBodyTracker(), deviceio.TrackerVendor("body.pico-xr"))
    assert deviceio.VendorConfig([pair]).get_tracker_vendors()[0][0] is pair[0]
    live.mode, live.mcap_config = SessionMode.REPLAY, MagicMock()
    with pytest.raises(ValueError, match="Vendor selection is only valid"):
        TeleopSession(live)
    with pytest.raises(ValueError, match="Vendor selection is only valid"):
        session.__enter__()


def test_a_replay_plays_the_file_of_its_config_with_the_sources_named() -> None:
    file = MagicMock(filename="hands.mcap")
    file.get_tracker_names.return_value = [("extra", "name")]
    source = Thermometer()
    with (
        patch(f"{PACKAGE}.deviceio.ReplaySession.run", return_value=Part("replay", [])) as run,
        patch(f"{PACKAGE}.deviceio.DeviceIOSession.run") as live,
        patch(f"{PACKAGE}.oxr.OpenXRSession") as oxr,
        patch(f"{PACKAGE}.deviceio.McapReplayConfig") as made,
        TeleopSession(config(Graph([source]), mode=SessionMode.REPLAY, mcap_config=file)) as session,
    ):
        made.assert_called_once_with("hands.mcap", [(source.get_tracker(), "thermometer"), ("extra", "name")])
        run.assert_called_once_with(made.return_value)
        live.assert_not_called()
        oxr.assert_not_called()
        assert session.deviceio_session.name == "replay"


def test_configs_of_recordings_keep_their_trackers() -> None:
    hand, head = deviceio.HandTracker(), deviceio.HeadTracker()
    for kind in (deviceio.McapRecordingConfig, deviceio.McapReplayConfig):
        assert kind("out.mcap").get_tracker_names() == []
        pairs = [(hand, "hands"), (head, "head")]
        assert kind("out.mcap", pairs).get_tracker_names() == pairs


def test_trackers_and_extensions_of_a_graph() -> None:
    sources = [ControllersSource(name="c"), HandsSource(name="h"), HeadSource(name="head")]
    graph = Graph([*sources, MagicMock()])
    assert helpers._get_trackers_from_pipeline(graph) == [source.get_tracker() for source in sources]
    assert get_required_oxr_extensions_from_pipeline(Graph()) == ["XR_KHR_convert_timespec_time"]
    found = get_required_oxr_extensions_from_pipeline(graph)
    assert found == sorted(set(found))
    assert "XR_EXT_hand_tracking" in found
    made = create_standard_inputs([deviceio.HeadTracker(), deviceio.ControllerTracker()])
    assert {name: type(source) for name, source in made.items()} == {
        "head": HeadSource,
        "controllers": ControllersSource,
    }


def test_the_package_has_the_names_of_release_1_5() -> None:
    for name in ("ImmediatePacingConfig", "DeadlinePacingConfig", "AsyncRetargetRunnerStopped"):
        assert hasattr(teleop_session_manager, name)
    for name in ("DeadlineGuardedPacingConfig", "RetargetingPacingConfig"):
        assert not hasattr(teleop_session_manager, name)
    made = config(Graph())
    assert (made.trackers, made.plugins, made.mode) == ([], [], SessionMode.LIVE)
