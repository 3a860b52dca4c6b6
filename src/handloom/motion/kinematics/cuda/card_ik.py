"""Searches on a card what ``IkSolver`` searches on the processor: thousands of targets in one launch.

Every target is tried from its own seed first. Those left are tried from ever more of the shared starting points at a
time; of several that succeed the one with the lowest number counts, so that the answer is the one that trying them in
turn gives.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import ik_kernels
from handloom.motion.kinematics.chain import ChainArrays
from handloom.motion.kinematics.ik_kernels import IkFound, IkProblem, IkTargets
from handloom.motion.kinematics.ik_targets import SKEWED, no_rotation, not_finite
from handloom.render.cuda.find_card import cupy_and_cards

KERNEL = Path(__file__).parent / "ik.cu"
OPTIONS = ("--std=c++17",)
THREADS = 64
ROUNDS = (1, 2, 4, 8, 16, 33)
"""Starting points per target that are tried at once, round after round; more than these in rounds of the last size."""
COARSEST = 1e-5
"""Tolerances [m], [rad] down to which 32 bits are enough for the descent; its errors are a few millionths."""
SAME = 0.05
"""Solutions nearer to each other than this in every joint are one [rad or m]."""
CONSTANTS = ("DAMPING_START", "DAMPING_SMALLEST", "DAMPING_DOWN", "DAMPING_UP", "MOST_DAMPING_TRIES", "STALLED")

Launch = Callable[..., None]
"""Runs ``descend_all`` with the build's definitions, the number of threads, and the kernel's arguments."""


def source(joints: int, real: str, *, biased: bool) -> str:
    """Return the source of one build."""
    settings: dict[str, Any] = {name: getattr(ik_kernels, name) for name in CONSTANTS}
    settings |= {"JOINTS": joints, "REAL": real, "BIASED": int(biased)}
    return "".join(f"#define {name} {value}\n" for name, value in settings.items()) + KERNEL.read_text("utf-8")


class CardIk:
    """Searches on one machine.

    Args:
        arrays: NumPy, or CuPy for a card: what arrays are made with.
        launch: Runs the kernel.
    """

    def __init__(self, arrays: Any, launch: Launch) -> None:
        self._xp = arrays
        self._launch = launch

    def search(
        self, chain: ChainArrays, problem: IkProblem, targets: IkTargets, seeds: Array, found: IkFound, tighten: float
    ) -> None:
        """Fill ``found`` as ``solve_targets`` does.

        Args:
            chain: The chain.
            problem: The request.
            targets: The targets.
            seeds: Starting points that follow each target's own.
            found: What was found, updated.
            tighten: Part of the tolerances that the request is tightened to; errors count up to the whole.
        """
        xp, most, joints = self._xp, found.q.shape[1], targets.seed.shape[1]
        count = len(targets.p)
        real = "float" if min(problem.position_tolerance, problem.rotation_tolerance) >= COARSEST else "double"
        build = source(joints, real, biased=problem.seed_bias + problem.limit_bias > 0)
        poses = xp.asarray(np.concatenate([targets.R, targets.p[:, :, None]], axis=2))
        self._check(poses)
        own, shared = xp.asarray(targets.seed), xp.asarray(seeds if len(seeds) else targets.seed[:1])
        exactly = _told(chain, problem)
        told = xp.asarray(exactly.astype(np.float32) if real == "float" else exactly)
        request = (told, xp.asarray(exactly), poses, own, shared)
        limits = problem.position_tolerance / tighten, problem.rotation_tolerance / tighten
        state = _State(xp, found, limits, problem.rotation_weight)
        first, rounds = 0, list(ROUNDS)
        left = xp.arange(count, dtype=xp.int32)
        while first <= len(seeds) and len(left):
            tried = min(rounds.pop(0) if len(rounds) > 1 else rounds[0], len(seeds) + 1 - first)
            q = xp.empty((len(left), tried, joints))
            errors = xp.empty((len(left), tried, 2))
            self._launch(build, len(left) * tried, *request, left, tried, first, len(left), q, errors)
            state.take(left, q, errors, first, most)
            left, first = left[state.counts[left] < most], first + tried
        state.hand_over(found)

    def _check(self, poses: Any) -> None:
        """Refuse targets (m, 3, 4) that are no poses."""
        xp, (x, y, z) = self._xp, (poses[:, k, :3] for k in range(3))
        finite = xp.isfinite(poses).all(axis=(1, 2))
        if not finite.all():
            raise not_finite(int(xp.argmin(finite)), len(poses))
        products = ((x, x, 1), (y, y, 1), (z, z, 1), (x, y, 0), (y, z, 0), (z, x, 0))
        skewed = xp.zeros(len(x), bool)
        for a, b, wanted in products:
            skewed |= xp.abs((a * b).sum(axis=1) - wanted) > SKEWED
        if skewed.any() or ((xp.cross(x, y) * z).sum(axis=1) < 0).any():
            raise no_rotation()


class _State:
    """What is known of each target so far, where the kernel runs."""

    def __init__(self, xp: Any, found: IkFound, limits: tuple[float, float], weight: float) -> None:
        self._xp, self._limits, self._weight = xp, limits, weight
        self.q, self.errors = xp.asarray(found.q), xp.asarray(found.errors)
        self.counts, self.used = xp.asarray(found.counts), xp.asarray(found.used)

    def take(self, left: Any, q: Any, errors: Any, first: int, most: int) -> None:
        """Take the attempts (m, tried) of a round, in the order of their starting points."""
        xp = self._xp
        for k in range(q.shape[1]):
            distance, angle = errors[:, k, 0], errors[:, k, 1]
            count = self.counts[left]
            open_ = count < most
            solved = open_ & (distance <= self._limits[0]) & (angle <= self._limits[1])
            if most > 1:
                known = xp.arange(most)[None, :] < count[:, None]
                apart = xp.abs(self.q[left] - q[:, k, None]).max(axis=2) >= SAME
                solved &= (apart | ~known).all(axis=1)
            missed = distance + self._weight * angle
            worst = self.errors[left, 0] + self._weight * self.errors[left, 1]
            first_one = (solved & (count == 0)) | (open_ & (count == 0) & ~(missed >= worst))
            rows = left[first_one]
            self.errors[rows] = errors[first_one, k]
            self.q[rows, 0] = q[first_one, k]
            rows, places = left[solved], count[solved]
            self.q[rows, places] = q[solved, k]
            self.counts[rows] += 1
            self.used[left[open_]] = first + k + 1

    def hand_over(self, found: IkFound) -> None:
        """Copy what was found to the arrays of the caller."""
        for mine, theirs in ((self.q, found.q), (self.errors, found.errors), (self.counts, found.counts)):
            theirs[...] = _on_host(mine)
        found.used[...] = _on_host(self.used)


def _on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


def _told(chain: ChainArrays, problem: IkProblem) -> Array:
    """Return the request as the kernel's ``Problem`` has it."""
    parts = (
        *(problem.lower, problem.upper, problem.middle, chain.prismatic, chain.rotations, chain.positions),
        *(problem.tool_axis, problem.position_axes),
        *(problem.orientation, problem.partial, problem.position_tolerance, problem.rotation_tolerance),
        *(problem.rotation_weight, problem.iterations, problem.seed_bias, problem.limit_bias, problem.bias_steps),
    )
    return np.concatenate([np.asarray(part, float).ravel() for part in parts])


def card_ik() -> CardIk:
    """Return a search on the first card.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no card.
    """
    cupy = cupy_and_cards()
    kernels: dict[str, Any] = {}

    def launch(build: str, threads: int, *arguments: Any) -> None:
        if build not in kernels:
            kernels[build] = cupy.RawKernel(build, "descend_all", options=OPTIONS)
        types = (*(None,) * 6, np.int32, np.int32, np.int64, None, None)
        typed = tuple(kind(value) if kind else value for kind, value in zip(types, arguments, strict=True))
        kernels[build]((-(-threads // THREADS),), (THREADS,), typed)

    return CardIk(cupy, launch)
