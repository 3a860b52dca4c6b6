"""What is asked of a planner beyond a goal: a chain of moves, and a hold of part of the tool's orientation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.kinematics import Chain, IkOptions, IkSolver, Orientation
from handloom.motion.kinematics.ik_kernels import IkProblem
from handloom.motion.kinematics.joint_tree import rotation_of_z_to


@dataclass(frozen=True, kw_only=True, eq=False)
class Move:
    """Where the tool goes next, with one pose per candidate.

    A grasp is three stages: free to the pre-grasp, straight to the grasp with the object ignored, straight up.
    """

    T_base_tool: ArrayLike
    """Poses (n, 4, 4) in the arm's base, or one (4, 4) for all candidates; (n, arms, 4, 4) for several arms.
    Candidate i keeps index i through all stages."""
    straight: bool = False
    """Whether the tool moves on a straight line; otherwise any free path will do."""
    ignore: tuple[str, ...] = ()
    """Obstacles whose name contains one of these texts do not count during this stage."""
    released: tuple[str, ...] = ()
    """Attached objects that were let go before this stage: the hand leaves them behind."""

    def poses(self, arms: int) -> Array:
        """Return the poses as (n, arms, 4, 4)."""
        T = np.asarray(self.T_base_tool, float)
        if T.ndim == 2:
            T = T[None]
        if T.ndim == 3 and arms == 1:
            T = T[:, None]
        if T.ndim != 4 or T.shape[1:] != (arms, 4, 4):
            wanted = "(n, 4, 4)" if arms == 1 else f"(n, {arms}, 4, 4)"
            raise InputError(f"goal poses have shape {wanted} here, got {np.shape(self.T_base_tool)}")
        return T


TRACKING = 0.3
"""Waypoints keep the hold to this fraction of its tolerance; the straight motions between them use the rest."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """One axis of the tool keeps the direction it has at the start; the tool may turn about it.

    With a cup in the hand whose up is the tool's -z, ``Hold(tool_axis=(0, 0, -1))`` keeps it upright.
    """

    tool_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis in the tool frame."""
    tolerance: float = 0.1
    """Largest angle between the axis and its direction at the start [rad]."""

    def __post_init__(self) -> None:
        """Refuse holds that hold nothing."""
        if not np.linalg.norm(self.tool_axis) > 1e-9:
            raise InputError("Hold.tool_axis has length zero")
        if not 0.0 < self.tolerance < np.pi / 2:
            raise InputError(f"Hold.tolerance must be between 0 and pi/2, got {self.tolerance}")

    @property
    def unit_axis(self) -> Array:
        """The axis (3,) with length one."""
        axis = np.array(self.tool_axis, float)
        return axis / np.linalg.norm(axis)

    def tilt(self, chain: Chain, q: Array, direction: Array) -> Array:
        """Return the angle (...) [rad] between the axis at configurations (..., n) and a direction (3,) of the base."""
        now = chain.T_base_tool(q)[..., :3, :3] @ self.unit_axis
        sine = np.linalg.norm(np.cross(now, direction), axis=-1)
        return np.arctan2(sine, now @ direction)

    def problem(self, chain: Chain) -> IkProblem:
        """Return the request that projects a configuration onto the hold, for the kernels."""
        options = IkOptions(
            orientation=Orientation.AXIS,
            tool_axis=self.tool_axis,
            position_axes=(False, False, False),
            rotation_tolerance=TRACKING * self.tolerance,
            rotation_weight=1.0,
            iterations=20,
            tighten=1.0,
        )
        return IkSolver(chain, options).problem()

    def reference(self, direction: Array) -> Array:
        """Return a tool rotation (3, 3) that has the axis along a direction (3,) of the base."""
        return rotation_of_z_to(direction) @ rotation_of_z_to(self.unit_axis).T
