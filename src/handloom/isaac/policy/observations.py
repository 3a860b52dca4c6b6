"""Observations of policies: the terms an environment file can list, for one robot or a batch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

# Commands smaller than this count as zero: the gait clock stops and the robot stands [m/s, rad/s].
REST = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """State of a robot at one moment, as its policy needs it; leading axes hold many robots.

    Linear and angular velocities, gravity and command are in the frame of the base: x forward, z up.
    """

    lin_vel: Array
    """(..., 3) [m/s]."""
    ang_vel: Array
    """(..., 3) [rad/s]."""
    gravity: Array
    """(..., 3), unit vector of gravity."""
    command: Array
    """(..., 3): vx [m/s], vy [m/s], wz [rad/s]."""
    joint_pos: Array
    """(..., n), relative to the default positions [rad or m]."""
    joint_vel: Array
    """(..., n), relative to the default velocities [rad/s or m/s]."""
    last_action: Array
    """(..., n), last raw output of the network."""
    phase: Array
    """(...), completed fraction of the gait cycle, 0 to 1."""


def gait_phase(reading: Reading) -> Array:
    """Return sine and cosine (..., 2) of the phase of the gait; zeros while the command is zero."""
    angle, moving = 2.0 * np.pi * reading.phase, is_moving(reading.command)
    clock = np.empty((*np.shape(angle), 2))
    clock[..., 0], clock[..., 1] = np.sin(angle) * moving, np.cos(angle) * moving
    return clock


def is_moving(command: Array) -> NDArray[np.bool_]:
    """Return whether commands (..., 3) request motion (...)."""
    return (command * command).sum(axis=-1) > REST**2


def advance_phase(phase: Array, command: Array, params: Mapping[str, Any], dt: float) -> Array:
    """Return the phase of the gait after a control period; it restarts from zero with every walk.

    Args:
        phase: (...), 0 to 1.
        command: (..., 3).
        params: Of the term ``gait_phase``: ``frequency``: steps of one foot per second [Hz].
        dt: Control period [s].
    """
    return np.where(is_moving(command), np.mod(phase + params["frequency"] * dt, 1.0), 0.0)


# Function name in an environment file > the quantity it reads. All but gait_phase are published names.
TERMS: dict[str, Callable[[Reading], Array]] = {
    "base_lin_vel": lambda reading: reading.lin_vel,
    "base_ang_vel": lambda reading: reading.ang_vel,
    "projected_gravity": lambda reading: reading.gravity,
    "generated_commands": lambda reading: reading.command,
    "joint_pos_rel": lambda reading: reading.joint_pos,
    "joint_vel_rel": lambda reading: reading.joint_vel,
    "last_action": lambda reading: reading.last_action,
    "gait_phase": gait_phase,
}


def term_width(func: str, joints: int) -> int:
    """Return the size of a term for a robot with that many joints."""
    if func == "gait_phase":
        return 2
    return joints if func in {"joint_pos_rel", "joint_vel_rel", "last_action"} else 3
