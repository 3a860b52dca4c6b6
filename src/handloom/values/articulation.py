"""Commands to the joints of a robot, and their measured state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError

JointValues = Sequence[float | None] | NDArray[Any] | None
"""One number per joint, None or NaN for no command; None when the channel is not used at all."""


def _asked(values: JointValues, index: int) -> float | None:
    """Return an entry of a channel; None if the current target stays: no channel, None or NaN."""
    value = None if values is None else values[index]
    return None if value is None or np.isnan(value) else float(value)


@dataclass(eq=False)
class ArticulationAction:
    """Targets for some or all joints of a robot, in three independent channels; its fields can be set, as published.

    None or NaN, for a whole channel or one joint, keeps the current target; zero is a target like any other.
    Nothing is checked here: the controller that applies the action knows the joints, and rejects mismatched arrays
    without writing anything.
    """

    joint_positions: JointValues = None
    """Position targets (k,) [rad or m]."""
    joint_velocities: JointValues = None
    """Velocity targets (k,) [rad/s or m/s]."""
    joint_efforts: JointValues = None
    """Efforts added to the drives (k,) [N m or N]."""
    joint_indices: Sequence[int] | NDArray[Any] | None = None
    """Joints that the entries belong to (k,); None means all, in the robot's order."""

    def get_dof_action(self, index: int) -> dict[str, float]:
        """Return the command of entry ``index``: its effort alone, or else its velocity and position."""
        effort = _asked(self.joint_efforts, index)
        if effort is not None:
            return {"effort": effort}
        channels = {"velocity": self.joint_velocities, "position": self.joint_positions}
        asked = {name: _asked(values, index) for name, values in channels.items()}
        return {name: value for name, value in asked.items() if value is not None}

    def get_dict(self) -> dict[str, list[float | None] | None]:
        """Return the three channels as lists, for writing to a file."""
        return {
            name: None if values is None else np.asarray(values, dtype=object).tolist()
            for name, values in (
                ("joint_positions", self.joint_positions),
                ("joint_velocities", self.joint_velocities),
                ("joint_efforts", self.joint_efforts),
            )
        }

    def get_length(self) -> int | None:
        """Return the length of the longest channel, or None when no channel is used."""
        channels = (self.joint_positions, self.joint_velocities, self.joint_efforts)
        return max((len(values) for values in channels if values is not None), default=None)

    def __str__(self) -> str:
        return str(self.get_dict())


@dataclass(eq=False)
class ArticulationActions:
    """Targets for several robots of one kind at once; each channel has shape (m, k)."""

    joint_positions: Array | None = None
    """Position targets (m, k) [rad or m]."""
    joint_velocities: Array | None = None
    """Velocity targets (m, k) [rad/s or m/s]."""
    joint_efforts: Array | None = None
    """Efforts added to the drives (m, k) [N m or N]."""
    joint_indices: Sequence[int] | NDArray[Any] | None = None
    """Joints that the columns belong to (k,); None means all."""
    joint_names: Sequence[str] | None = None
    """Names of those joints (k,), instead of their indices."""

    def __post_init__(self) -> None:
        """Refuse joints given both by index and by name."""
        if self.joint_indices is not None and self.joint_names is not None:
            raise InputError("joint indices and joint names can't be both specified")


@dataclass(frozen=True, eq=False)
class JointsState:
    """Positions, velocities and efforts of the joints of a robot, one entry per joint."""

    positions: Array
    """Positions (n,) [rad or m]."""
    velocities: Array
    """Velocities (n,) [rad/s or m/s]."""
    efforts: Array
    """Efforts (n,) [N m or N]."""


@dataclass(frozen=True)
class DOFInfo:
    """Location of a robot's joint; the fields keep their published names."""

    prim_path: str
    """Full name of the joint in the model, e.g. ``fr3/fr3_joint1``."""
    handle: int
    """Index of the joint's degree of freedom in the model."""
    prim: str
    """Name of the joint without the robot's prefix."""
    index: int
    """Index of the joint in the robot's order."""
