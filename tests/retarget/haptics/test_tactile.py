"""What a robot's skin measures becomes what an operator feels, by the published rule and types."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.retarget import BaseRetargeter, ComputeContext, group_of
from handloom.retarget.haptics.forces import MagnitudeReducer, Vector3FrameTransform, WorldForceAccumulator
from handloom.retarget.haptics.tactile import (
    FingerPowerToControllerPulse,
    TactileHeatmapToControllerPulse,
    TactileHeatmapToFingerPower,
    TactileHeatmapToWristPulse,
    TactileVectorToControllerPulse,
    TactileVectorToFingerPower,
)


def run(node: BaseRetargeter, reset: bool = False, **given) -> np.ndarray:
    types = node.input_spec()
    inputs = {port: group_of(types[port], np.array(value, np.float32)) for port, value in given.items()}
    outputs = node(inputs, ComputeContext.at(0, reset=reset))
    assert len(outputs) == 1
    return next(iter(outputs.values()))[0]


def test_forces_are_turned_but_not_moved_added_with_weights_and_measured() -> None:
    T = np.eye(4)
    T[:2, :2], T[:3, 3] = [[0, -1], [1, 0]], 7.0
    assert run(Vector3FrameTransform("turn"), vec=[1, 0, 2], transform=T) == pytest.approx([0, 1, 2])
    assert run(WorldForceAccumulator("sum", 2), in_0=[1, 2, 3], in_1=[1, 1, 1]) == pytest.approx([2, 3, 4])
    weighed = WorldForceAccumulator("sum", 2, weights=[0.5, 2])
    assert run(weighed, in_0=[4, 0, 0], in_1=[1, 0, 0]) == pytest.approx([4, 0, 0])
    state = weighed.get_parameter_state()
    assert state is not None
    state.set({"weights": np.zeros(2, np.float32)})
    assert run(weighed, in_0=[4, 0, 0], in_1=[1, 0, 0]) == pytest.approx([0, 0, 0])
    assert run(MagnitudeReducer("size"), vec=[3, -4, 0]) == pytest.approx([5])
    assert run(MagnitudeReducer("size", "axis_y"), vec=[3, -4, 0]) == pytest.approx([4])


@pytest.mark.parametrize(
    ("settings", "powers"),
    [
        ({}, [0.1, 0.2, 0.3, 0.4, 0.9]),
        ({"deadband": 0.3}, [0, 0, 0, 0.1, 0.6]),
        ({"gain": 10.0, "saturation": 0.7}, [0.7] * 5),
    ],
)
def test_strength_is_gain_times_what_exceeds_the_deadband_up_to_saturation(settings: dict, powers: list) -> None:
    node = TactileVectorToFingerPower("felt", 5, **settings)
    assert run(node, tactile=[0.1, 0.2, 0.3, 0.4, 0.9]) == pytest.approx(powers, abs=1e-6)


def test_taxels_and_pads_are_reduced_per_finger_or_as_a_whole() -> None:
    pairs = [[0, 1], [2], []]
    node = TactileVectorToFingerPower("felt", 3, finger_groups=pairs, num_fingers=3, reduction="mean")
    assert run(node, tactile=[0.2, 0.4, 0.9]) == pytest.approx([0.3, 0.9, 0.0])
    pads = np.arange(8).reshape(2, 2, 2) / 10.0
    assert run(TactileHeatmapToFingerPower("felt", 2, 2, 2), heatmap=pads) == pytest.approx([0.3, 0.7])
    assert run(TactileHeatmapToWristPulse("felt", 2, 2, 2, "sum"), heatmap=pads) == pytest.approx([1.0])
    pulse = run(TactileHeatmapToControllerPulse("felt", 2, 2, 2, frequency_hz=120.0, duration_s=0.1), heatmap=pads)
    assert pulse == pytest.approx([0.7, 120.0, 0.1])
    assert run(TactileVectorToControllerPulse("felt", 2), tactile=[0.1, 0.5]) == pytest.approx([0.5, 0, 0])
    assert run(FingerPowerToControllerPulse("felt", 2, "sum"), powers=[0.1, 0.2]) == pytest.approx([0.3, 0, 0])


def test_smoothing_is_a_running_mean_that_a_reset_forgets() -> None:
    node = TactileVectorToFingerPower("felt", 1, num_fingers=1, smoothing=0.25)
    assert run(node, tactile=[1.0]) == pytest.approx([1.0])
    assert run(node, tactile=[0.0]) == pytest.approx([0.75])
    assert run(node, reset=True, tactile=[0.5]) == pytest.approx([0.5])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: WorldForceAccumulator("x", 0), "num_inputs must be at least 1"),
        (lambda: WorldForceAccumulator("x", 2, [1.0]), "weights length 1 is not 2"),
        (lambda: MagnitudeReducer("x", "norms"), "unknown mode 'norms'; did you mean 'norm'"),
        (lambda: TactileVectorToFingerPower("x", 5, reduction="least"), "unknown reduction 'least'"),
        (lambda: TactileVectorToFingerPower("x", 3), "finger_groups is required"),
        (lambda: TactileVectorToFingerPower("x", 3, [[0], [5]], 2), r"taxels \[5\] outside 0 to 2"),
        (lambda: TactileHeatmapToWristPulse("x", 0, 1), "rows must be at least 1"),
    ],
)
def test_what_cannot_work_is_refused(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
