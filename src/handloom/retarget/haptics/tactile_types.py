"""Types of ports for what is touched (simulation) and for what is felt (devices), by their published names."""

from enum import IntEnum

from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.graph.types import NDArrayType


class FingerIndex(IntEnum):
    """Order of the fingers of a glove."""

    THUMB = 0
    INDEX = 1
    MIDDLE = 2
    RING = 3
    PINKY = 4


class ControllerHapticPulseField(IntEnum):
    """Order of the numbers of a pulse."""

    AMPLITUDE = 0
    FREQUENCY_HZ = 1
    DURATION_S = 2


class EndEffectorForceAxis(IntEnum):
    """Order of the components of a force."""

    X = 0
    Y = 1
    Z = 2


NUM_HAPTIC_FINGERS = len(FingerIndex)
NUM_CONTROLLER_HAPTIC_FIELDS = len(ControllerHapticPulseField)
NUM_END_EFFECTOR_FORCE_AXES = len(EndEffectorForceAxis)


def TactileVector(num_taxels: int) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one value per taxel, or of a vector: float32 (num_taxels,)."""
    return TensorGroupType(f"tactile_vector_{num_taxels}", [NDArrayType("tactile_values", (num_taxels,))])


def TactileHeatmap(rows: int, cols: int, num_pads: int = 1) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of the pressures on pads: float32 (num_pads, rows, cols)."""
    return TensorGroupType(
        f"tactile_heatmap_{num_pads}x{rows}x{cols}", [NDArrayType("tactile_pressure", (num_pads, rows, cols))]
    )


def FingerPowerVector(num_fingers: int = NUM_HAPTIC_FINGERS) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of how strongly a glove vibrates at each finger, 0 to 1: float32 (num_fingers,)."""
    return TensorGroupType(f"finger_power_vector_{num_fingers}", [NDArrayType("finger_power", (num_fingers,))])


def ControllerHapticPulse() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a pulse: amplitude 0 to 1, frequency [Hz], duration [s], float32 (3,).

    An amplitude of 0 ends a pulse; a frequency of 0 is the device's own, a duration of 0 its shortest.
    """
    return TensorGroupType("controller_haptic_pulse", [NDArrayType("haptic_pulse", (NUM_CONTROLLER_HAPTIC_FIELDS,))])


def EndEffectorForce() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a force at a point, in the frame of the device [N]: float32 (3,)."""
    return TensorGroupType("end_effector_force", [NDArrayType("force", (NUM_END_EFFECTOR_FORCE_AXES,))])
