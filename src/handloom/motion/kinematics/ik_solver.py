"""Batched inverse kinematics of a chain: options, solver and results."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.motion.kinematics.chain import Chain
from handloom.motion.kinematics.ik_kernels import IkFound, IkProblem, IkTargets, solve_targets
from handloom.motion.kinematics.ik_targets import SKEWED, no_rotation, not_finite
from handloom.motion.kinematics.low_discrepancy import halton
from handloom.motion.threads import for_slices

if TYPE_CHECKING:
    from handloom.motion.kinematics.cuda.card_ik import CardIk


class Orientation(IntEnum):
    """The part of the target's orientation that counts; the values are read by the kernels."""

    FREE = 0
    """Position only."""
    FULL = 1
    """All three angles."""
    AXIS = 2
    """One axis of the tool must have the same direction as in the target; the tool may rotate about it."""


@dataclass(frozen=True, kw_only=True)
class IkOptions:
    """Settings of :class:`IkSolver`."""

    position_tolerance: float = 1e-3
    """Largest accepted distance from the target [m]."""
    rotation_tolerance: float = float(np.deg2rad(0.5))
    """Largest accepted angle from the target [rad]."""
    orientation: Orientation = Orientation.FULL
    """Which part of the orientation counts."""
    tool_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis in the tool frame whose direction must match the target if ``orientation`` is AXIS."""
    position_axes: tuple[bool, bool, bool] = (True, True, True)
    """Which axes of the target's frame fix the position; a free axis may be missed by any distance."""
    max_seeds: int = 64
    """Number of starting points to try per target before giving up."""
    iterations: int = 40
    """Number of descent steps per starting point."""
    rotation_weight: float = 0.15
    """Position error equivalent to one radian [m]. Of 0.1 to 0.5 m, this value needed the fewest starting points on a
    7-joint arm of 0.85 m reach."""
    tighten: float = 0.5
    """A solution is refined until its errors are below this fraction of the tolerances, to leave room for rounding."""
    limit_margin: float = 0.0
    """Distance to keep from every joint limit [rad or m]."""
    seed_bias: float = 0.0
    """Fraction of the distance to the seed that redundant joints move per refinement step, 0 to 1."""
    limit_bias: float = 0.0
    """Fraction of the distance to the middle of their range that redundant joints move per refinement step, 0 to 1."""
    bias_steps: int = 15
    """Number of refinement steps if a bias is set."""
    threads: int | None = None
    """Maximum number of threads for a batch; None uses every core. The result does not depend on it."""

    def __post_init__(self) -> None:
        """Reject settings that cannot be met."""
        positive = ("position_tolerance", "rotation_tolerance", "rotation_weight", "max_seeds", "iterations")
        for name in positive:
            if not getattr(self, name) > 0:
                raise InputError(f"IkOptions.{name} must be > 0, got {getattr(self, name)}")
        if not 0.0 < self.tighten <= 1.0:
            raise InputError(f"IkOptions.tighten must be in (0, 1], got {self.tighten}")
        if self.limit_margin < 0.0:
            raise InputError(f"IkOptions.limit_margin must be >= 0, got {self.limit_margin}")
        if not (self.seed_bias >= 0.0 and self.limit_bias >= 0.0 and self.seed_bias + self.limit_bias <= 1.0):
            raise InputError("IkOptions.seed_bias and limit_bias must be >= 0 and add up to at most 1")
        if not np.linalg.norm(self.tool_axis) > 1e-9:
            raise InputError("IkOptions.tool_axis has length zero")
        if self.orientation == Orientation.FREE and not any(self.position_axes):
            raise InputError("IkOptions fixes neither position nor orientation, so every configuration is a solution")


@dataclass(frozen=True, kw_only=True)
class IkResult:
    """One solution per target."""

    q: Array
    """Configurations (n, dof); if ``solved`` is False, the closest one found."""
    solved: NDArray[np.bool_]
    """True where the target is met within tolerance and limits (n,)."""
    position_error: Array
    """Distance from each target over the axes that count (n,) [m]."""
    rotation_error: Array
    """Angle from each target over the part that counts (n,) [rad]."""
    seeds_used: NDArray[np.int64]
    """Number of starting points tried for each target (n,)."""


@dataclass(frozen=True, kw_only=True)
class IkBranches:
    """Several distinct solutions per target."""

    q: Array
    """Configurations (n, most, dof); only the first ``count`` of a row are valid, in the order they were found."""
    count: NDArray[np.int64]
    """Number of distinct solutions found for each target (n,)."""


DEVICES = ("cpu", "cuda")
SMALLEST_SLICE = 32
"""A target takes about 25 us, so a thread pays off from about a millisecond of work."""


class IkSolver:
    """Finds configurations that bring the tool of a chain to target poses.

    Every target is first tried from the given seed and then from the same evenly spread starting points, so the result
    for a target does not depend on its batch, on the thread count or on earlier calls.

    Args:
        chain: The joints.
        options: Tolerances and budgets.
        device: ``cpu``, or ``cuda`` for an NVIDIA GPU (extra gpu): the same search, worthwhile for thousands of
            targets. Its results are as good, and differ from those of the CPU in the last digits.

    Raises:
        InputError: The options leave no range for a joint, or there is no such device.
        StateError: There is no GPU.
    """

    def __init__(self, chain: Chain, options: IkOptions | None = None, *, device: str = "cpu") -> None:
        if device not in DEVICES:
            raise unknown_name("device", device, DEVICES)
        self.device = device
        self._card: CardIk | None = None
        if device == "cuda":
            # Imported here: the GPU code needs types of neighbouring modules and is rarely needed.
            from handloom.motion.kinematics.cuda.card_ik import card_ik

            self._card = card_ik()
        self.chain = chain
        self.options = options or IkOptions()
        margin = self.options.limit_margin
        self._lower, self._upper = chain.lower + margin, chain.upper - margin
        self._last_seeds: tuple[int, Array] | None = None
        if np.any(self._lower > self._upper):
            narrow = [n for n, bad in zip(chain.joint_names, self._lower > self._upper, strict=True) if bad]
            raise InputError(f"limit_margin {margin} leaves no range for {', '.join(narrow)}")

    def solve(
        self, T_base_target: ArrayLike, seed: ArrayLike | None = None, rng_seed: int = 0, *, are_poses: bool = False
    ) -> IkResult:
        """Return one configuration per target.

        Args:
            T_base_target: Target poses of the tool (n, 4, 4), or one (4, 4), in the chain's base frame.
            seed: Configuration to start from, (dof,) for all targets or (n, dof); None means the middle of the ranges.
            rng_seed: Seed of the further starting points.
            are_poses: Skip the check that the targets are poses.
        """
        T = self._targets(T_base_target, are_poses=are_poses)
        found = self._search(T, seed, rng_seed, most=1)
        return IkResult(
            q=found.q[:, 0],
            solved=found.counts > 0,
            position_error=found.errors[:, 0],
            rotation_error=found.errors[:, 1],
            seeds_used=found.used,
        )

    def branches(
        self, T_base_target: ArrayLike, most: int, seed: ArrayLike | None = None, rng_seed: int = 0
    ) -> IkBranches:
        """Return up to ``most`` distinct configurations per target, the one found from the seed first."""
        if most < 1:
            raise InputError(f"branches needs most >= 1, got {most}")
        found = self._search(self._targets(T_base_target), seed, rng_seed, most=most)
        return IkBranches(q=found.q, count=found.counts)

    def _search(self, T: Array, seed: ArrayLike | None, rng_seed: int, most: int) -> IkFound:
        """Run the kernel over all targets."""
        n, problem, seeds = len(T), self._own_problem, self._seeds(rng_seed)
        if self._card is not None and n:
            own = self._first_seed(seed, 1 if seed is None or np.ndim(seed) < 2 else n)
            return self._card.search(self.chain.arrays, problem, T, own, seeds, most, self.options.tighten)
        first_seed = self._first_seed(seed, n)
        targets = IkTargets(np.ascontiguousarray(T[:, :3, :3]), np.ascontiguousarray(T[:, :3, 3]), first_seed)
        found = IkFound(
            np.repeat(first_seed[:, None, :], most, axis=1),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
            np.full((n, 2), np.inf),
        )

        def work(begin: int, end: int) -> None:
            solve_targets(self.chain.arrays, problem, targets.part(begin, end), seeds, found.part(begin, end))

        for_slices(n, work, threads=self.options.threads, smallest=SMALLEST_SLICE)
        return found

    @cached_property
    def _own_problem(self) -> IkProblem:
        return self.problem()

    def problem(self, *, tighten: float | None = None) -> IkProblem:
        """Return the request in the kernels' layout; ``tighten`` overrides the option of that name."""
        options = self.options
        tight = options.tighten if tighten is None else tighten
        axis = np.array(options.tool_axis, float)
        return IkProblem(
            self._lower,
            self._upper,
            self.chain.middle,
            int(options.orientation),
            axis / np.linalg.norm(axis),
            np.array(options.position_axes, float),
            not all(options.position_axes),
            tight * options.position_tolerance,
            tight * options.rotation_tolerance,
            options.rotation_weight,
            options.iterations,
            options.seed_bias,
            options.limit_bias,
            options.bias_steps,
        )

    def _targets(self, T_base_target: ArrayLike, *, are_poses: bool = False) -> Array:
        T = np.asarray(T_base_target, float)
        T = T[None] if T.ndim == 2 else T
        if T.ndim != 3 or T.shape[1:] != (4, 4):
            raise InputError(f"targets must have shape (n, 4, 4) or (4, 4), got {np.shape(T_base_target)}")
        if self._card is None and not are_poses:
            _check_poses(T)
        return T

    def _first_seed(self, seed: ArrayLike | None, count: int) -> Array:
        if seed is None:
            return np.tile(np.clip(self.chain.middle, self._lower, self._upper), (count, 1))
        q = np.asarray(seed, float)
        if q.shape not in {(self.chain.dof,), (count, self.chain.dof)} or not np.all(np.isfinite(q)):
            raise InputError(
                f"a seed must be finite, with shape ({self.chain.dof},) or ({count}, {self.chain.dof}), got {q.shape}"
            )
        return np.array(np.broadcast_to(q, (count, self.chain.dof)), order="C")  # Always writable, as for the chain.

    def _seeds(self, rng_seed: int) -> Array:
        if self._last_seeds is None or self._last_seeds[0] != rng_seed:
            lower, upper = self.chain.sampling_box
            points = halton(self.options.max_seeds - 1, self.chain.dof, seed=rng_seed)
            self._last_seeds = rng_seed, np.clip(lower + points * (upper - lower), self._lower, self._upper)
        return self._last_seeds[1]


def _check_poses(T: Array) -> None:
    """Reject targets that are not poses; the GPU checks its own, see ``CardIk``."""
    if not np.all(np.isfinite(T)):
        raise not_finite(int(np.flatnonzero(~np.isfinite(T).all(axis=(1, 2)))[0]), len(T))
    R = T[:, :3, :3]
    skewed = np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max(axis=(1, 2)) > SKEWED
    if np.any(skewed) or np.any(np.linalg.det(R) < 0):
        raise no_rotation()
