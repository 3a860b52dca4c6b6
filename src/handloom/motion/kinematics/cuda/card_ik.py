"""The search of ``IkSolver`` on a GPU: thousands of targets in one launch.

Every target is first tried from its own seed. The remaining ones are tried from a growing number of the shared starting
points at a time; of several successes the one with the lowest number is taken, so that the result is the same as when
trying them in turn.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import ik_kernels
from handloom.motion.kinematics.chain import ChainArrays
from handloom.motion.kinematics.ik_kernels import IkFound, IkProblem
from handloom.motion.kinematics.ik_targets import SKEWED, no_rotation, not_finite
from handloom.render.cuda.find_card import cupy_and_cards

KERNEL = Path(__file__).parent / "ik.cu"
OPTIONS = ("--std=c++17",)
THREADS = 128
ROUNDS = (1, 1, 1, 2, 4, 8, 16, 31)
"""Starting points per target that are tried at once, per round; further rounds have the last size."""
COARSEST = 1e-5
"""Tolerances [m], [rad] down to which 32 bits suffice for the descent; its errors are a few millionths."""
SAME = 0.05
"""Solutions closer to each other than this in every joint count as one [rad or m]."""
CONSTANTS = ("DAMPING_START", "DAMPING_SMALLEST", "DAMPING_DOWN", "DAMPING_UP", "MOST_DAMPING_TRIES", "STALLED")

Launch = Callable[..., None]
"""Runs ``descend_all``: the source of the build, the request with its own and with 64 bits, the number of threads, and
the kernel's arguments."""


def source(joints: int, real: str, *, biased: bool) -> str:
    """Return the source of one build."""
    settings: dict[str, Any] = {name: getattr(ik_kernels, name) for name in CONSTANTS}
    settings |= {"JOINTS": joints, "REAL": real, "BIASED": int(biased)}
    return "".join(f"#define {name} {value}\n" for name, value in settings.items()) + KERNEL.read_text("utf-8")


class CardIk:
    """Searches on one machine.

    Args:
        arrays: Array library: NumPy, or CuPy for a GPU.
        launch: Runs the kernel.
    """

    def __init__(self, arrays: Any, launch: Launch) -> None:
        self._xp = arrays
        self._launch = launch

    def search(
        self, chain: ChainArrays, problem: IkProblem, T: Array, own: Array, seeds: Array, most: int, tighten: float
    ) -> IkFound:
        """Return what ``solve_targets`` finds.

        Args:
            chain: The chain.
            problem: The request.
            T: Target poses (m, 4, 4) in the base.
            own: Starting point number 0, of each target (m, n) or of all of them (1, n).
            seeds: Further starting points (s, n).
            most: Number of distinct solutions to search for.
            tighten: Fraction of the tolerances to which the request is tightened; errors up to the full tolerances are
                accepted.
        """
        xp, joints = self._xp, own.shape[1]
        real = "float" if min(problem.position_tolerance, problem.rotation_tolerance) >= COARSEST else "double"
        build = source(joints, real, biased=problem.seed_bias + problem.limit_bias > 0)
        told = _told(chain, problem)
        request = (build, told.astype(np.float32) if real == "float" else told, told)
        poses, start = xp.asarray(np.ascontiguousarray(T)), xp.asarray(own)
        self._check(poses[:, :3])
        shared = xp.asarray(seeds) if len(seeds) else start
        limits = problem.position_tolerance / tighten, problem.rotation_tolerance / tighten
        state = _State(xp, len(T), most, start, limits, problem.rotation_weight)
        first, rounds = 0, list(ROUNDS)
        left = xp.arange(len(T), dtype=xp.int32)
        while first <= len(seeds) and len(left):
            tried = min(rounds.pop(0) if len(rounds) > 1 else rounds[0], len(seeds) + 1 - first)
            q = xp.empty((len(left), tried, joints))
            errors = xp.empty((len(left), tried, 2))
            arguments = (poses, start, joints if len(own) > 1 else 0, shared, left, tried, first, len(left), q, errors)
            self._launch(*request, len(left) * tried, *arguments)
            state.take(left, q, errors, first)
            left, first = left[state.counts[left] < most], first + tried
        return state.found()

    def _check(self, poses: Any) -> None:
        """Reject targets (m, 3, 4) that are not poses."""
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
    """Current result of each target, in the memory of the kernel."""

    def __init__(self, xp: Any, count: int, most: int, own: Any, limits: tuple[float, float], weight: float) -> None:
        self._xp, self._limits, self._weight, self._most = xp, limits, weight, most
        self.q = xp.empty((count, most, own.shape[1]))
        self.q[...] = own[:, None, :]
        self.errors = xp.full((count, 2), xp.inf)
        self.counts, self.used = xp.zeros(count, xp.int64), xp.zeros(count, xp.int64)

    def take(self, left: Any, q: Any, errors: Any, first: int) -> None:
        """Store the attempts (m, tried) of a round, in the order of their starting points."""
        xp, most = self._xp, self._most
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
            if most > 1:
                self.q[left[solved], count[solved]] = q[solved, k]
            self.counts[left[solved]] += 1
            self.used[left[open_]] = first + k + 1

    def found(self) -> IkFound:
        """Return the results in host memory."""
        return IkFound(*(_on_host(self._xp, array) for array in (self.q, self.counts, self.used, self.errors)))


def _on_host(xp: Any, array: Any) -> Any:
    """Return a host array, in pinned memory if the search runs on a GPU."""
    if xp is np:
        return array
    pinned = xp.cuda.alloc_pinned_memory(max(array.nbytes, 1))
    host = np.frombuffer(pinned, array.dtype, array.size).reshape(array.shape)
    return array.get(out=host)


def _told(chain: ChainArrays, problem: IkProblem) -> Array:
    """Return the request in the layout of the kernel's ``Problem``."""
    parts = (
        *(problem.lower, problem.upper, problem.middle, chain.prismatic, chain.rotations, chain.positions),
        *(problem.tool_axis, problem.position_axes),
        *(problem.orientation, problem.partial, problem.position_tolerance, problem.rotation_tolerance),
        *(problem.rotation_weight, problem.iterations, problem.seed_bias, problem.limit_bias, problem.bias_steps),
    )
    return np.concatenate([np.asarray(part, float).ravel() for part in parts])


def card_ik() -> CardIk:
    """Return a search on the first GPU.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no card.
    """
    cupy = cupy_and_cards()
    modules: dict[str, Any] = {}

    def launch(build: str, told: Array, exactly: Array, threads: int, *arguments: Any) -> None:
        if build not in modules:
            modules[build] = cupy.RawModule(code=build, options=OPTIONS)
        module = modules[build]
        for name, content in (("request", told), ("exact_request", exactly)):
            module.get_global(name).copy_from_host(content.ctypes.data_as(ctypes.c_void_p), content.nbytes)
        types = (None, None, np.int32, None, None, np.int32, np.int32, np.int64, None, None)
        typed = tuple(kind(value) if kind else value for kind, value in zip(types, arguments, strict=True))
        module.get_function("descend_all")((-(-threads // THREADS),), (THREADS,), typed)

    return CardIk(cupy, launch)
