"""A session: what is read, what is refused, what a recording gives again."""

from pathlib import Path

import numpy as np
import pytest

from handloom.errors import FileError, InputError, StateError
from handloom.retarget import (
    ControllerInputIndex,
    ControllerSnapshot,
    ControllersSource,
    DefaultTeleopStateManager,
    DeviceFrame,
    DeviceRecording,
    ExecutionEvents,
    ExecutionState,
    OutputCombiner,
    RetargetingExecutionConfig,
    SessionMode,
    SO101PositionClutchRetargeter,
    TeleopSession,
    TeleopSessionConfig,
    TransformMatrix,
    ValueInput,
    create_bool_selector,
    execution_events,
    group_of,
    offer_devices,
    reset_event_channel,
    teleop_state_channel,
)
from handloom.retarget.runtime.device_io import McapRecordingConfig, McapReplayConfig

IDENTITY = {"world_T_anchor": {"value": group_of(TransformMatrix(), np.eye(4, dtype=np.float32))}}


def frame(index: int, x: float = 0.0, **buttons: float) -> DeviceFrame:
    hand = ControllerSnapshot(grip_position=(x, 0.0, 0.0), grip_orientation=(0, 0, 0, 1), grip_is_valid=True, **buttons)
    return DeviceFrame(time_ns=round(index * 1e9 / 60), controller_right=hand)


def graph() -> OutputCombiner:
    anchor = ValueInput("world_T_anchor", TransformMatrix())
    hand = ControllersSource("controllers").transformed(anchor.output("value")).output("controller_right")
    clutch = SO101PositionClutchRetargeter("clutch").connect({"controller_right": hand})
    return OutputCombiner({"pose": clutch.output("ee_pose")})


def control() -> OutputCombiner:
    right = ControllersSource("buttons").output("controller_right")
    slots = {
        DefaultTeleopStateManager.INPUT_KILL: ControllerInputIndex.SECONDARY_CLICK,
        DefaultTeleopStateManager.INPUT_RUN_TOGGLE: ControllerInputIndex.PRIMARY_CLICK,
    }
    ports = {
        port: create_bool_selector(
            right, name=port, selector_fn=lambda group, slot=slot: group[slot], activate_frames=1, deactivate_frames=1
        ).output("value")
        for port, slot in slots.items()
    }
    manager = DefaultTeleopStateManager("state").connect(ports)
    return OutputCombiner({name: manager.output(name) for name in ("teleop_state", "reset_event")})


def session_on(frames: list[DeviceFrame], **options) -> TeleopSession:
    feed = iter(frames)
    return TeleopSession(TeleopSessionConfig("test", graph(), devices=lambda: next(feed), **options))


def positions(session: TeleopSession, steps: int) -> list[np.ndarray]:
    with session:
        return [session.step(IDENTITY)["pose"][0][:3].copy() for _ in range(steps)]


def test_a_session_runs_from_the_first_step_and_engaging_moves_nothing() -> None:
    moved = positions(session_on([frame(0, 0.4), frame(1, 0.5)]), 2)
    assert np.allclose(moved[0], [0.22, 0.0, 0.12], atol=1e-7)
    assert np.allclose(moved[1], [0.32, 0.0, 0.12], atol=1e-7)


def test_buttons_stop_pause_run_and_kill_through_the_control_graph() -> None:
    presses = [{}, {"primary_click": 1.0}, {}, {"primary_click": 1.0}, {}, {"secondary_click": 1.0}, {}]
    session = session_on([frame(i, **press) for i, press in enumerate(presses)], teleop_control_pipeline=control())
    seen = []
    with session:
        for _ in presses:
            session.step(IDENTITY)
            assert session.last_context is not None
            seen.append(
                (session.last_context.execution_events.execution_state, session.last_context.execution_events.reset)
            )
    states = ["stopped", "paused", "paused", "running", "running", "stopped", "stopped"]
    assert seen == [(state, i == 5) for i, state in enumerate(states)]


def test_a_lost_controller_stops_a_session_whose_buttons_it_has() -> None:
    frames = [frame(0), frame(1, primary_click=1.0), frame(2), frame(3, primary_click=1.0), DeviceFrame(time_ns=10**9)]
    session = session_on(frames, teleop_control_pipeline=control())
    with session:
        for _ in frames:
            session.step(IDENTITY)
    assert session.last_context is not None
    assert session.last_context.execution_events.execution_state == ExecutionState.STOPPED


def test_a_recording_gives_the_same_commands_again_and_says_when_it_ends(tmp_path: Path) -> None:
    rng, file = np.random.default_rng(0), tmp_path / "hand.jsonl"
    frames = [frame(i, float(x)) for i, x in enumerate(np.cumsum(rng.normal(0, 0.01, 50)))]
    first = positions(session_on(frames, record_to=file), 50)
    replay = TeleopSession(TeleopSessionConfig("test", graph(), SessionMode.REPLAY, devices=DeviceRecording.read(file)))
    assert not replay.ended
    again = positions(replay, 50)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert replay.ended
    with replay:
        assert not replay.ended
        for _ in range(50):
            replay.step(IDENTITY)
        with pytest.raises(StateError, match="ended after 50 frames"):
            replay.step(IDENTITY)


def test_what_the_graph_saw_is_what_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "hand.jsonl"
    with session_on([frame(0), frame(1)], record_to=file) as session:
        session.step(IDENTITY, execution_events=ExecutionEvents(True, ExecutionState.PAUSED))
        session.step(IDENTITY)
    read = DeviceRecording.read(file)
    assert [(f.state, f.reset) for f in read] == [("paused", True), ("running", False)]


def test_steps_outside_the_block_and_blocks_within_blocks_are_refused() -> None:
    session = session_on([frame(0)])
    with pytest.raises(StateError, match="not open"):
        session.step(IDENTITY)
    with session, pytest.raises(StateError, match="still open"), session:
        pass


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, r"external \(non-DeviceIO\) leaves that step\(\) must be given: world_T_anchor"),
        ({}, "Missing external inputs: world_T_anchor"),
        ({"world_T_anchor": {}}, "'world_T_anchor' was not fed value"),
        ({**IDENTITY, "controllers": {}}, "controllers is a device"),
    ],
)
def test_leaves_that_are_not_fed_or_fed_twice_are_refused(given: dict, said: str) -> None:
    with session_on([frame(0)]) as session, pytest.raises(InputError, match=said):
        session.step(given)


def test_graphs_whose_leaves_share_a_name_or_whose_control_must_be_fed_are_refused() -> None:
    devices = {"devices": lambda: frame(0)}
    twice = OutputCombiner(
        {
            "a": ControllersSource("controllers").output("controller_left"),
            "b": ControllersSource("controllers").output("controller_left"),
        }
    )
    with pytest.raises(InputError, match="two leaves are named 'controllers'"):
        TeleopSession(TeleopSessionConfig("test", twice, **devices))
    manager = DefaultTeleopStateManager("state")
    with pytest.raises(InputError, match="may only read devices, but the external-input leaf state"):
        TeleopSession(TeleopSessionConfig("test", graph(), teleop_control_pipeline=manager, **devices))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"joint_publisher": object()}, "joint_publisher draws the robot in an OpenXR headset"),
        ({"devices": lambda: frame(0), "mode": SessionMode.REPLAY}, "mode replay requires mcap_config"),
        ({"devices": DeviceRecording(frames=(), end_time_ns=0)}, "mode replay takes a DeviceRecording"),
        ({"teleop_control_pipeline": graph()}, "must output 'teleop_state'; it has pose"),
    ],
)
def test_configs_that_cannot_work_are_refused(options: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        TeleopSessionConfig("test", graph(), **options)


def test_a_graph_that_reads_devices_needs_them() -> None:
    session = TeleopSession(TeleopSessionConfig("test", graph()))
    with pytest.raises(StateError, match="there are no devices for ControllerTracker"):
        session.__enter__()
    with offer_devices(lambda: frame(0, 0.4)), session:
        assert np.allclose(session.step(IDENTITY)["pose"][0][:3], [0.22, 0.0, 0.12], atol=1e-7)
        assert session.oxr_session is not None
    assert session.oxr_session is None


def test_a_published_recording_is_made_and_played(tmp_path: Path) -> None:
    file = tmp_path / "hands.jsonl"
    frames = [frame(i, 0.1 * i) for i in range(5)]
    live = session_on(frames, mcap_config=McapRecordingConfig(file))
    first = positions(live, 5)
    replay = TeleopSession(TeleopSessionConfig("test", graph(), SessionMode.REPLAY, mcap_config=McapReplayConfig(file)))
    assert all(np.array_equal(a, b) for a, b in zip(first, positions(replay, 5), strict=True))
    (tmp_path / "other.mcap").write_bytes(b"\x89MCAP0\r\n")
    replay.config.mcap_config = McapReplayConfig(tmp_path / "other.mcap")
    with pytest.raises(FileError, match="MCAP files are not read here"):
        replay.__enter__()


def test_a_pipelined_session_gives_every_frame_one_later() -> None:
    frames = [frame(i, 0.1 * i) for i in range(6)]
    session = session_on(frames, retargeting_execution=RetargetingExecutionConfig("pipelined"))
    moved = []
    with session:
        for index in range(6):
            moved.append(session.step(IDENTITY)["pose"][0][0])
            assert session._async_runner is not None
            assert session._async_runner.wait_for_frame(index, timeout_s=10.0) is not None
            if index:
                assert session.last_step_info.returned_age_frames == 1
    alone = [p[0] for p in positions(session_on(frames), 6)]
    assert moved == pytest.approx([alone[0], *alone[:-1]])


def test_the_state_of_a_control_graph_must_be_one_hot() -> None:
    outputs = {
        "teleop_state": group_of(teleop_state_channel(), True, True, False),
        "reset_event": group_of(reset_event_channel(), False),
    }
    with pytest.raises(InputError, match="one-hot, got stopped, paused"):
        execution_events(outputs)
