"""Searches for many problems in one launch: one block per search."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.planning.cuda.plan_source import CONFIGS, LANES, OPTIONS, PATH, Sizes, source
from handloom.motion.planning.cuda.problem_tables import Tables
from handloom.render.cuda.find_card import cupy_and_cards

_JOB_FIELDS = {"seed": np.uint64, "problem": np.int32, "number": np.int32, "iterations": np.int32}
_JOB_FIELDS |= {"shortcuts": np.int32, "step": np.float32, "padding": np.float32, "per_unit": np.float32}
_JOB_FIELDS |= {"most": np.int32, "weight": np.int32, "unused": np.int32, "node": np.uint64, "parent": np.uint64}
JOB = np.dtype(list(_JOB_FIELDS.items()))
"""The kernels' ``Job``: the settings of one block's search."""
_FOUND_FIELDS = ("count", "iterations", "goal", "blocked")
FOUND = np.dtype([(name, np.int32) for name in _FOUND_FIELDS])
"""The kernels' ``Found``."""
NOTHING = 1 << 30
ALIGNMENT = 256
"""Arrays in the memory of a batch begin at multiples of this [bytes]."""
MOST_BYTES = 4 << 30
"""Memory for the trees of one launch; more jobs than fit are split over several launches."""
NODES_PER_SAMPLE, FEWEST_NODES = 4, 2048
"""Tree capacity per sample, and its minimum; never more than the option allows."""

Launch = Callable[..., None]
"""Runs a kernel: the source of the build, the kernel's name, the number of blocks and the kernel's arguments."""


class FoundPath(NamedTuple):
    """What one job found."""

    waypoints: Array
    """(m, n), as 64-bit numbers."""
    goal: int
    iterations: int
    """Samples drawn by this job."""
    padding: float
    """Distance kept from obstacles, measured with spheres [m]."""


class CardSearch:
    """Runs the kernels on one machine.

    Args:
        arrays: Array library: NumPy, or CuPy for a GPU.
        launch: Runs a kernel.
    """

    def __init__(self, arrays: Any, launch: Launch) -> None:
        self._xp, self._launch = arrays, launch
        self._spare: list[Any] = []

    def load(self, tables: Tables, starts: Sequence[Array], goals: Sequence[Array]) -> "LoadedBatch":
        """Copy a batch to the device: its tables, and the start (n,) and goals (g, n) of each problem."""
        stream = self._spare.pop() if self._spare else self._new_stream()
        return LoadedBatch(self._xp, self._launch, stream, tables, starts, goals)

    def release(self, batch: "LoadedBatch") -> None:
        """Use the stream of a finished batch for others.

        CuPy keeps freed memory for each stream: a new stream would allocate all of it again, which stops the GPU.
        """
        self._spare.append(batch.stream)

    def _new_stream(self) -> Any:
        return nullcontext() if self._xp is np else self._xp.cuda.Stream(non_blocking=True)


class LoadedBatch:
    """A batch in the memory of the kernels."""

    def __init__(
        self, xp: Any, launch: Launch, stream: Any, tables: Tables, starts: Sequence[Array], goals: Sequence[Array]
    ) -> None:
        self._xp, self._launch, self.stream = xp, launch, stream
        problems = tables.problems.copy()
        joints, groups = int(problems["joints"].max()), int(problems["groups"].max())
        self._joints, self._build = joints, source(Sizes(joints, groups))
        counts = np.array([len(one) for one in goals])
        problems["goals"] = counts
        problems["goal"] = np.cumsum(np.concatenate([[0], counts * problems["joints"]]))[:-1]
        rows = np.zeros((len(starts), joints), np.float32)
        for row, start in zip(rows, starts, strict=True):
            row[: len(start)] = start
        flat = np.concatenate([np.asarray(one, np.float32).ravel() for one in goals])
        self._dof = problems["joints"].astype(np.int64)
        arrays = [*tables.arrays, problems.view(np.int32), rows, flat]
        with self.stream:
            # Kept alive: the kernels receive addresses.
            self._memory, begins = _copied(xp, arrays)
            base = _address(xp, self._memory)
            self._tables = xp.asarray(np.array([base + begin for begin in begins[:-3]], np.uint64))
            self._problems, self._starts, self._goals = (self._memory[begin:] for begin in begins[-3:])

    def touched(self, which: NDArray[np.int64], q: Array, padding: float) -> NDArray[np.bool_]:
        """Return which configurations are in collision.

        Args:
            which: Problem of each block of 32 configurations (m / 32,).
            q: Configurations (m, n).
            padding: Distance to keep from obstacles [m].
        """
        xp, rows = self._xp, np.zeros((len(q), self._joints), np.float32)
        rows[:, : q.shape[1]] = q
        with self.stream:
            out = xp.empty(len(q), np.int32)
            asked = xp.asarray(which.astype(np.int32)), xp.asarray(rows), np.int32(len(q)), np.float32(padding), out
            blocks = -(-len(q) // CONFIGS)
            self._launch(self._build, "check_all", blocks, self._tables, self._problems, *asked)
            return self._host(out).astype(bool)

    def run(self, jobs: NDArray[Any], tree_size: int) -> tuple[list[FoundPath | None], NDArray[Any]]:
        """Run jobs and wait for them; see :meth:`start`."""
        return self.start(jobs, tree_size).wait()

    def start(self, jobs: NDArray[Any], tree_size: int) -> "RunningJobs":
        """Start jobs, each in its own block.

        Of several jobs of one problem, the successful one with the fewest weighted samples is used, the first one on
        ties. The others may stop without a path once the GPU has detected this.

        Args:
            jobs: Rows of ``JOB``; the tree capacity is filled in here.
            tree_size: Maximum number of nodes of a tree.
        """
        xp, jobs = self._xp, jobs.copy()
        jobs["most"] = np.minimum(np.maximum(NODES_PER_SAMPLE * jobs["iterations"], FEWEST_NODES), tree_size)
        dof = self._dof[jobs["problem"]]
        rows = 2 * jobs["most"].astype(np.int64)
        numbers = rows * dof
        launches, first = [], 0
        with self.stream:
            done = xp.full(len(self._dof), NOTHING, np.int32)
            while first < len(jobs):
                fits = int(np.searchsorted(np.cumsum(numbers[first:]), MOST_BYTES // 8, side="right"))
                some = slice(first, first + max(1, fits))
                part, first = jobs[some], some.stop
                part["node"] = np.cumsum(numbers[some]) - numbers[some]
                part["parent"] = np.cumsum(rows[some]) - rows[some]
                nodes = xp.empty(int(numbers[some].sum()), np.float32)
                parents = xp.empty(int(rows[some].sum()), np.int32)
                found = xp.zeros((len(part), len(_FOUND_FIELDS)), np.int32)
                paths = xp.zeros((len(part), PATH, self._joints), np.float32)
                told = xp.asarray(part.view(np.uint8))
                arguments = (self._starts, self._goals, told, done, nodes, parents, found, paths)
                self._launch(self._build, "plan_all", len(part), self._tables, self._problems, *arguments)
                # Arrays that a kernel still writes to are kept alive.
                launches.append((found, paths, (told, nodes, parents, done)))
        return RunningJobs(jobs["padding"], dof, launches, self.stream, self._host)

    def _host(self, array: Any) -> Any:
        return array if self._xp is np else array.get()


class RunningJobs:
    """Jobs on their way."""

    def __init__(
        self,
        padding: NDArray[Any],
        dof: NDArray[np.int64],
        launches: Sequence[Any],
        stream: Any,
        host: Callable[[Any], Any],
    ) -> None:
        self._padding, self._dof, self._launches, self._stream, self._host = padding, dof, launches, stream, host

    @property
    def done(self) -> bool:
        """Whether :meth:`wait` returns at once."""
        return bool(getattr(self._stream, "done", True))

    def wait(self) -> tuple[list[FoundPath | None], NDArray[Any]]:
        """Return the path of each job, None if it has none, and rows of ``FOUND``."""
        with self._stream:
            brought = [(self._host(found), self._host(paths)) for found, paths, _ in self._launches]
        found = np.concatenate([one for one, _ in brought]).view(FOUND)[:, 0]
        rows = np.concatenate([rows for _, rows in brought])
        facts = zip(found["count"].tolist(), found["goal"].tolist(), found["iterations"].tolist(), strict=True)
        paths: list[FoundPath | None] = []
        for row, n, padding, (count, goal, drawn) in zip(
            rows, self._dof.tolist(), self._padding.tolist(), facts, strict=True
        ):
            paths.append(FoundPath(row[:count, :n].astype(float), goal, drawn, padding) if count else None)
        return paths, found


def _copied(xp: Any, arrays: Sequence[NDArray[Any]]) -> tuple[Any, list[int]]:
    """Copy arrays to the device at once; return the memory (bytes) and where each begins."""
    sizes = [-(-max(array.nbytes, 1) // ALIGNMENT) * ALIGNMENT for array in arrays]
    begins = np.cumsum([0, *sizes])
    host = np.empty(int(begins[-1]), np.uint8)
    for array, begin in zip(arrays, begins.tolist(), strict=False):
        host[begin : begin + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return xp.asarray(host), begins[:-1].tolist()


def _address(xp: Any, array: Any) -> int:
    return array.ctypes.data if xp is np else array.data.ptr


def card_search() -> CardSearch:
    """Return searches on the first GPU.

    Raises:
        MissingExtraError: CuPy is not installed.
        StateError: There is no card.
    """
    cupy = cupy_and_cards()
    modules: dict[str, Any] = {}

    def launch(build: str, name: str, blocks: int, *arguments: Any) -> None:
        if build not in modules:
            modules[build] = cupy.RawModule(code=build, options=OPTIONS)
        modules[build].get_function(name)((blocks,), (LANES,), arguments)

    return CardSearch(cupy, launch)
