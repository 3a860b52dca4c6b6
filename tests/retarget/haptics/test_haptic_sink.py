"""What the graph computes is felt once per frame, and a device that fails ends nothing."""

import logging
from typing import Any

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.retarget import TeleopSession, TeleopSessionConfig, ValueInput, group_of
from handloom.retarget.haptics.haptic_device import (
    ControllerHapticDevice,
    ControllerHapticPulse,
    FingerPowerVector,
    PulseDevice,
    TactileHeatmap,
)
from handloom.retarget.haptics.haptic_sink import HapticSink


def pulse(*numbers: float) -> dict[str, Any]:
    return {"pulse": {ValueInput.VALUE: group_of(ControllerHapticPulse(), np.array(numbers, np.float32))}}


def felt(device: PulseDevice) -> TeleopSession:
    """Return a session whose pulse goes to the right hand and to nothing else."""
    value = ValueInput("pulse", ControllerHapticPulse())
    sink = HapticSink("haptics", device).connect({"right": value.output(ValueInput.VALUE)})
    return TeleopSession(TeleopSessionConfig("test", value, sinks=[sink]))


def test_a_pulse_is_sent_once_per_step_to_the_endpoint_that_is_wired() -> None:
    sent: list[tuple] = []
    with felt(PulseDevice(lambda *given: sent.append(given))) as session:
        assert session.has_external_inputs()
        assert list(session.get_external_input_specs()) == ["pulse"]
        session.step(pulse(0.5, 120.0, 0.1))
        session.step(pulse(np.nan, 0.0, 0.0))
        session.step(pulse(0.0, 0.0, 0.0))
        info = session.last_step_info
        assert (info.returned_frame_id, info.returned_age_frames, info.ran_synchronously) == (2, 0, True)
        assert 0.0 <= session.get_elapsed_time() < 60.0
    assert sent == [("right", 0.5, 120.0, pytest.approx(0.1)), ("right", 0.0, 0.0, 0.0)]


def test_a_device_that_fails_is_named_once_and_the_session_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: Any) -> None:
        raise OSError("unplugged")

    with caplog.at_level(logging.WARNING), felt(PulseDevice(broken)) as session:
        for _ in range(3):
            session.step(pulse(1.0, 0.0, 0.1))
    assert [record.getMessage() for record in caplog.records if "unplugged" in record.getMessage()] == [
        "PulseDevice: haptic feedback of right failed; further failures are not logged: unplugged"
    ]


def test_the_controllers_of_a_tracker_take_the_session_and_the_pulse() -> None:
    class Tracker:
        def __init__(self) -> None:
            self.said: list[tuple] = []

        def apply_left_haptic_feedback(self, *given: Any) -> None:
            self.said.append(("left", *given))

    tracker = Tracker()
    device = ControllerHapticDevice(tracker, ("left",))
    device.apply("left", [1.0, 0.0, 0.0])
    device.apply("left", [0.25, 50.0, 0.5])
    device.flush("session")
    device.flush("session")
    assert tracker.said == [("left", "session", 0.25, 50.0, 0.5)]
    assert device.get_tracker() is tracker
    with pytest.raises(InputError, match="must be a vector"):
        device.apply("left", [1.0])
    with pytest.raises(ValueError, match="only supports 'left'/'right' endpoints"):
        ControllerHapticDevice(tracker, ("left", "tail"))


def test_wrong_wiring_and_wrong_sinks_are_refused() -> None:
    fingers = ValueInput("fingers", FingerPowerVector())
    with pytest.raises(InputError, match="mismatch"):
        HapticSink("haptics", PulseDevice(print)).connect({"left": fingers.output(ValueInput.VALUE)})
    with pytest.raises(ValueError, match="sinks of a session must be an IDeviceIOSink"):
        TeleopSessionConfig("test", fingers, sinks=[fingers])


def test_tactile_types_have_the_published_shapes() -> None:
    assert TactileHeatmap(4, 6, 5).types[0].shape == (5, 4, 6)
    assert FingerPowerVector().types[0].shape == (5,)
