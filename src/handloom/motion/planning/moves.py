"""Planner requests beyond a single goal: a chain of moves, and the constrained part of the tool's pose."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.kinematics import Chain, IkOptions, IkSolver, Orientation
from handloom.motion.kinematics.ik_kernels import IkProblem
from handloom.motion.kinematics.joint_tree import rotation_of_z_to
from handloom.motion.planning.arm_group import ArmGroup, no_arm
from handloom.motion.planning.trees.hold_kernels import HeldArms


@dataclass(frozen=True, kw_only=True, eq=False)
class Move:
    """The next goal of the tool, with one pose per candidate.

    A grasp is three stages: free to the pre-grasp, straight to the grasp with the object ignored, straight up.
    """

    T_base_tool: ArrayLike
    """Poses (n, 4, 4) in the arm's base, or one (4, 4) for all candidates; (n, arms, 4, 4) for several arms.
    Candidate i keeps index i through all stages."""
    straight: bool = False
    """Whether the tool moves on a straight line; otherwise any free path is allowed."""
    together: bool = False
    """Whether the tools of several arms move straight as one rigid body, which they carry together."""
    ignore: tuple[str, ...] = ()
    """Obstacles whose name contains one of these texts are ignored during this stage."""
    released: tuple[str, ...] = ()
    """Attached objects that were released before this stage; the hand leaves them behind."""

    def poses(self, arms: int) -> Array:
        """Return the poses as (n, arms, 4, 4)."""
        T = np.asarray(self.T_base_tool, float)
        if T.ndim == 2:
            T = T[None]
        if T.ndim == 3 and arms == 1:
            T = T[:, None]
        if T.ndim != 4 or T.shape[1:] != (arms, 4, 4):
            wanted = "(n, 4, 4)" if arms == 1 else f"(n, {arms}, 4, 4)"
            raise InputError(f"goal poses must have shape {wanted} here, got {np.shape(self.T_base_tool)}")
        return T


TRADED = 0.0013
"""Position error equivalent to a rotation of a kept axis by its tolerance [m]; close to the 1 mm bound."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PointAndAxis:
    """The part of a tool pose that an arm with five joints can meet: a point and an axis of the tool.

    The axis passes through the point. Such an arm cannot choose the rotation about it.
    """

    point: Array
    """Point in the tool frame (3,) [m]."""
    axis: Array
    """Axis in the tool frame (3,)."""
    angle: float = IkOptions.rotation_tolerance
    """Largest rotation of the axis [rad]."""

    def chain(self, chain: Chain) -> Chain:
        """Return the chain with its tool at the point."""
        arrays = chain.arrays
        positions = arrays.positions.copy()
        positions[-1] += arrays.rotations[-1] @ self.point
        return replace(chain, arrays=arrays._replace(positions=positions))

    def options(self, options: IkOptions) -> IkOptions:
        """Return settings in which no other part of a pose counts."""
        x, y, z = self.axis.tolist()
        return replace(
            options,
            orientation=Orientation.AXIS,
            tool_axis=(x, y, z),
            rotation_tolerance=self.angle,
            rotation_weight=min(IkOptions.rotation_weight, TRADED / self.angle),
        )

    def poses(self, T_base_tool: Array) -> Array:
        """Return tool poses (..., 4, 4) with the point as their origin."""
        T_base_point = T_base_tool.copy()
        T_base_point[..., :3, 3] += T_base_tool[..., :3, :3] @ self.point
        return T_base_point


TRACKING = 0.3
"""Fraction of the hold's tolerance for waypoints; the straight motions between them use the rest."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """One axis of the tool keeps its direction from the start; the tool may rotate about it.

    With a cup in the hand whose upward direction is the tool's -z, ``Hold(tool_axis=(0, 0, -1))`` keeps it upright. For
    two arms, the axis belongs to the first arm's tool, and the second tool keeps its pose relative to the first, so
    that two hands can carry a tray and keep it level.
    """

    tool_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis in the tool frame."""
    tolerance: float = 0.1
    """Largest angle between the axis and its direction at the start [rad]."""
    apart: float = 0.002
    """Largest position change of the second tool relative to the first [m]."""
    twist: float = 0.01
    """Largest rotation of the second tool relative to the first [rad]."""

    def __post_init__(self) -> None:
        """Reject holds that constrain nothing."""
        if not np.linalg.norm(self.tool_axis) > 1e-9:
            raise InputError("Hold.tool_axis has length zero")
        if not 0.0 < self.tolerance < np.pi / 2:
            raise InputError(f"Hold.tolerance must be between 0 and pi/2, got {self.tolerance}")
        if not (self.apart > 0.0 and self.twist > 0.0):
            raise InputError(f"Hold.apart and Hold.twist must be > 0, got {self.apart} and {self.twist}")

    @property
    def unit_axis(self) -> Array:
        """The axis (3,), normalised."""
        axis = np.array(self.tool_axis, float)
        return axis / np.linalg.norm(axis)

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


FOLLOWING = 0.1
"""Fraction of the hold's tolerances for the second tool at every waypoint."""


class KeptHold:
    """A hold evaluated at the start, with the values that must be kept from then on."""

    def __init__(self, hold: Hold, arms: ArmGroup, q_start: Array) -> None:
        T = arms.tools(q_start)
        self.hold, self._arms = hold, arms
        self._direction = T[0, :3, :3] @ hold.unit_axis
        self._T_tool_tools = arms.relative(T)

    def broken(self, T_base_tool: Array) -> tuple[str, float]:
        """Return how tool poses (arms, 4, 4) violate the hold, in words, and the excess [rad or m]; "" if not."""
        hold, tilt = self.hold, float(self._tilt(T_base_tool))
        if tilt > hold.tolerance:
            how = f"tilts the held axis by {tilt:.3f} rad, more than {hold.tolerance:.3f} rad"
            return how, tilt - hold.tolerance
        apart, twist = (float(value) for value in self._arms.shift(T_base_tool, self._T_tool_tools))
        if apart <= hold.apart and twist <= hold.twist:
            return "", 0.0
        how = f"moves the tools relative to one another by {1000 * apart:.1f} mm and {twist:.3f} rad"
        limits = f"more than {1000 * hold.apart:.1f} mm or {hold.twist:.3f} rad"
        return f"{how}, {limits}", max(apart - hold.apart, 0.0) or twist - hold.twist

    def keeps(self, T_base_tool: Array) -> NDArray[np.bool_]:
        """Return which tool poses (..., arms, 4, 4) keep the hold."""
        apart, twist = self._arms.shift(T_base_tool, self._T_tool_tools)
        return (
            (self._tilt(T_base_tool) <= self.hold.tolerance) & (apart <= self.hold.apart) & (twist <= self.hold.twist)
        )

    def path_keeps(self, path: Array) -> bool:
        """Return whether a path (m, n) keeps the hold, also halfway between waypoints."""
        dense = np.concatenate([path, 0.5 * (path[1:] + path[:-1])])
        return bool(np.all(self.keeps(self._arms.tools(dense))))

    def held_arms(self) -> HeldArms:
        """Return the arms and their constraints, for the kernels."""
        first, arms = self._arms.chains[0], self._arms
        problem, R = self.hold.problem(first), self.hold.reference(self._direction)
        if len(arms) == 1:
            return HeldArms(first.arrays, problem, R, first.arrays, no_arm(first), problem)
        hold = self.hold
        close = IkOptions(position_tolerance=hold.apart, rotation_tolerance=hold.twist, iterations=20)
        follow = IkSolver(arms.chains[1], close).problem(tighten=FOLLOWING)
        return HeldArms(first.arrays, problem, R, arms.guide(1, self._T_tool_tools), arms.chains[1].arrays, follow)

    def _tilt(self, T_base_tool: Array) -> Array:
        """Return the angle (...) [rad] of the axis at tool poses (..., arms, 4, 4) from its direction at the start."""
        now = T_base_tool[..., 0, :3, :3] @ self.hold.unit_axis
        sine = np.linalg.norm(np.cross(now, self._direction), axis=-1)
        return np.arctan2(sine, now @ self._direction)
