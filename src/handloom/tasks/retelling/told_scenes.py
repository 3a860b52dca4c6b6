"""The scenes that a run reuses: one Parquet file beside its manifest, read one row group at a time."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from handloom.arrays import Array
from handloom.dataset.files.durable import atomic_write
from handloom.errors import FileError, InputError
from handloom.tasks.config.task import Task
from handloom.values import TaskInstance

SCENES = "scenes.parquet"
"""File of the scenes, beside the manifest of a run."""
ROWS = 64
"""Number of scenes per row group."""
SCHEMA = pa.schema(
    [("pair_id", pa.string()), ("instance", pa.string()), ("last_state", pa.binary()), ("sha256", pa.string())]
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ToldScene:
    """A scene at the start and end of another robot's attempt."""

    instance: TaskInstance
    last_state: Array
    """Final integration state (n,)."""

    def row(self) -> dict[str, Any]:
        """Return the row of the file."""
        text, state = self.instance.to_json(), np.ascontiguousarray(self.last_state, "<f8").tobytes()
        return {
            "pair_id": self.instance.pair_id,
            "instance": text,
            "last_state": state,
            "sha256": _row_hash(text, state),
        }


def write_scenes(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the rows of scenes atomically."""
    with atomic_write(file) as partial:
        pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), partial, row_group_size=ROWS, compression="zstd")


def scenes_hash(hashes: Iterable[str]) -> str:
    """Return the hash over the hashes of scenes, in order."""
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def told_scene(task: Task, index: int) -> ToldScene:
    """Return one of the scenes that a task reuses.

    Raises:
        FileError: The file is missing or damaged, or its scenes differ from those at the start of the run.
        InputError: There are fewer scenes.
    """
    opened = _opened(task)
    if not 0 <= index < opened.count:
        raise InputError(f"{task.name} reuses {opened.count} recorded scenes; there is no attempt {index}")
    row = opened.row(index)
    if _row_hash(row["instance"], row["last_state"]) != row["sha256"]:
        raise FileError(f"{opened.file}: scene {index} was changed")
    return ToldScene(
        instance=TaskInstance.from_json(row["instance"]), last_state=np.frombuffer(row["last_state"], "<f8")
    )


def pair_ids(task: Task) -> list[str]:
    """Return the names of the scenes that a task reuses, in order."""
    return _opened(task).column("pair_id")


class _ScenesFile:
    """The file of a run, with the last row group read."""

    def __init__(self, file: Path, expected: str) -> None:
        self.file = file
        try:
            self._parquet = pq.ParquetFile(file)
            hashes = self.column("sha256")
        except (OSError, pa.ArrowException, KeyError) as error:
            raise FileError(f"{file}: the recorded scenes of the run cannot be read: {error}") from error
        if scenes_hash(hashes) != expected:
            raise FileError(f"{file}: these are not the scenes that the run began with")
        self.count = len(hashes)
        self._group: tuple[int, list[dict[str, Any]]] = (-1, [])

    def column(self, name: str) -> list[str]:
        """Return a column of strings."""
        return self._parquet.read(columns=[name])[name].to_pylist()

    def row(self, index: int) -> dict[str, Any]:
        """Return a row."""
        group, place = divmod(index, ROWS)
        if self._group[0] != group:
            try:
                self._group = group, self._parquet.read_row_group(group).to_pylist()
            except (OSError, pa.ArrowException) as error:
                raise FileError(f"{self.file}: scene {index} cannot be read: {error}") from error
        return self._group[1][place]


def _opened(task: Task) -> _ScenesFile:
    told = task.config.retold
    if told is None:
        raise InputError(f"{task.name} samples its scenes; it reuses none")
    file = task.path.parent / SCENES
    try:
        facts = file.stat()
    except OSError as error:
        raise FileError(f"{file}: the recorded scenes of the run are missing") from error
    return _open(file, facts.st_mtime_ns, facts.st_size, told.sha256)


@lru_cache(maxsize=4)
def _open(file: Path, _changed: int, _size: int, expected: str) -> _ScenesFile:
    return _ScenesFile(file, expected)


def _row_hash(text: str, state: bytes) -> str:
    return hashlib.sha256(text.encode() + b"\0" + state).hexdigest()
