"""Controller groups for tests."""

import math

import numpy as np

from handloom.retarget import ComputeContext, ControllerInput, ControllerSnapshot, ExecutionState, TensorGroup, group_of


def controller(position=(0.0, 0.0, 0.0), quat=(0.0, 0.0, 0.0, 1.0), *, valid=True, **fields) -> TensorGroup:
    """Return a present controller with grip and aim at one pose (quaternion xyzw)."""
    sample = ControllerSnapshot(
        grip_position=position,
        grip_orientation=quat,
        grip_is_valid=valid,
        aim_position=position,
        aim_orientation=quat,
        aim_is_valid=valid,
        **fields,
    )
    return group_of(ControllerInput(), *sample.slots())


def about(axis, angle: float) -> np.ndarray:
    """Return the quaternion xyzw of a rotation about an axis [rad]."""
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.array([*(unit * math.sin(angle / 2)), math.cos(angle / 2)])


def product(a, b) -> np.ndarray:
    """Return the quaternion product a b, both xyzw."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def running(frame: int = 0, *, reset: bool = False, state=ExecutionState.RUNNING) -> ComputeContext:
    """Return the context of a frame at 60 Hz."""
    return ComputeContext.at(round(frame * 1e9 / 60), state=state, reset=reset)
