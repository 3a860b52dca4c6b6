"""Devices of a session are read once per step; pulses, commands and joint states go through the same link."""

import logging

import numpy as np
import pytest

from handloom.retarget import (
    ControllersSource,
    DeviceFrame,
    DeviceLink,
    JointStateSource,
    OutputCombiner,
    TeleopSession,
    TeleopSessionConfig,
    ValueInput,
    group_of,
    offer_devices,
)
from handloom.retarget.haptics.haptic_device import (
    ControllerHapticDevice,
    ControllerHapticPulse,
    FingerPowerVector,
    haptic_glove_device,
)
from handloom.retarget.haptics.haptic_sink import HapticSink


class Page(DeviceLink):
    """A page with a gamepad that rumbles, a leader arm and a glove."""

    def __init__(self) -> None:
        self.said: list[tuple] = []
        self.time = 0

    def frame(self) -> DeviceFrame:
        self.time += 1
        return DeviceFrame(time_ns=self.time)

    def joints(self) -> dict[str, dict[str, float]]:
        return {"leader": {"elbow": 0.5}}

    def pulse(self, *given) -> None:
        self.said.append(("pulse", *given))

    def push(self, *given) -> None:
        self.said.append(("push", *given))


def graph_and_sinks() -> tuple[OutputCombiner, list]:
    controllers = ControllersSource("controllers")
    pulse = ValueInput("pulse", ControllerHapticPulse())
    powers = ValueInput("powers", FingerPowerVector())
    rumble = HapticSink("rumble", ControllerHapticDevice(controllers.get_tracker()))
    glove = HapticSink("glove", haptic_glove_device("glove_stream", endpoints=("left",)))
    leader = JointStateSource("leader_arm", "leader", ["elbow"])
    graph = OutputCombiner({"joints": leader.output("joints"), "hand": controllers.output("controller_left")})
    return graph, [
        rumble.connect({"right": pulse.output("value")}),
        glove.connect({"left": powers.output("value")}),
    ]


GIVEN = {
    "pulse": {"value": group_of(ControllerHapticPulse(), np.array([0.5, 0.0, 0.25], np.float32))},
    "powers": {"value": group_of(FingerPowerVector(), np.full(5, 0.5, np.float32))},
}


@pytest.mark.parametrize("offered", [False, True])
def test_contact_is_felt_through_the_link_that_samples_come_from(offered: bool) -> None:
    page, (graph, sinks) = Page(), graph_and_sinks()
    config = TeleopSessionConfig("test", graph, sinks=sinks, devices=None if offered else page)
    with offer_devices(page if offered else Page()), TeleopSession(config) as session:
        assert session.step(GIVEN)["joints"][0] == 0.5
        session.step(GIVEN)
    assert page.time == 2
    once = [("pulse", "right", 0.5, 0.0, 0.25), ("push", "glove_stream", "haptic_command", "left", (0.5,) * 5)]
    assert page.said == once * 2


def test_devices_that_cannot_be_felt_say_so_once_and_the_session_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    graph, sinks = graph_and_sinks()
    ticks = iter(range(100))
    config = TeleopSessionConfig("test", graph, sinks=sinks, devices=lambda: DeviceFrame(time_ns=next(ticks)))
    with caplog.at_level(logging.WARNING), TeleopSession(config) as session:
        for _ in range(3):
            session.step(GIVEN)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "ControllerHapticDevice: haptic feedback of right failed" in said[0]
    assert "these devices take no pulses" in said[0]
    assert "these devices have no stream 'glove_stream'" in said[1]
