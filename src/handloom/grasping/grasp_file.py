"""Grasp annotation files: the published ``.npy`` layout, validated on reading, written atomically."""

import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.errors import FileError, InputError
from handloom.grasping.convex_parts import Array

SCORE, WIDTH, HEIGHT, DEPTH = 0, 1, 2, 3
ROTATION, CENTRE, OBJECT = slice(4, 13), slice(13, 16), 16
"""Columns of a row."""
FINGER_HEIGHT = 0.02
"""Finger height in every row [m], as in published annotations; it is not used."""
Rows = NDArray[np.float32]
COLUMNS = (
    "score", "width", "height", "depth",
    "r11", "r12", "r13", "r21", "r22", "r23", "r31", "r32", "r33",
    "x", "y", "z", "object id",
)  # fmt: skip
MAX_BYTES = 200_000_000
"""Largest file: three million rows."""
ORTHONORMAL = 1e-2
"""Largest entry of R'R - 1: published files are rounded, but a mirrored or scaled matrix is far off."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraspSet:
    """Grasps of one object by one gripper, best score first."""

    rows: NDArray[np.float32]
    """(n, 17): score (lower is better), width, height, depth [m], rotation (9, row-major; columns x approach,
    y closing, z), centre (3) [m], object id -1; all in the object frame."""
    contacts: Array
    """(n, 2, 3) contact points of the two fingers [m], the one on the negative closing side first."""
    normals: Array
    """(n, 2, 3) outward surface normals there."""
    hands: Array
    """(n, 4, 4) T_object_hand: the end effector's origin with GraspNet axes."""
    funnel: Mapping[str, int]
    """Number left after each stage, in order."""

    def __len__(self) -> int:
        """Return the number of grasps."""
        return len(self.rows)

    def take(self, indices: NDArray[np.int64]) -> "GraspSet":
        """Return the grasps at ``indices``, in that order."""
        arrays = {name: getattr(self, name)[indices] for name in ("rows", "contacts", "normals", "hands")}
        return GraspSet(**arrays, funnel=self.funnel)


def read_grasps(path: Path | str) -> Rows:
    """Read grasp rows; rows of 16 columns get the object id -1.

    Args:
        path: A ``.npy`` file, or an ``.npz`` file with one array.

    Returns:
        Rows (n, 17) float32.

    Raises:
        FileError: The file cannot be read, or contains pickled objects, which are never loaded.
        InputError: A row is invalid; the message names file, row and column.
    """
    path = Path(path)
    try:
        _demand_small(path)
        with path.open("rb") as stream:
            content = np.load(stream, allow_pickle=False)
            if isinstance(content, np.lib.npyio.NpzFile):
                if len(content.files) != 1:
                    raise InputError(f"{path}: an .npz of grasps contains one array, this one contains {content.files}")
                content = content[content.files[0]]
    except OSError as error:
        raise FileError(f"{path}: cannot read grasps: {error.strerror or error}") from error
    except (ValueError, TypeError, SyntaxError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise FileError(f"{path}: this is not a plain .npy array: {error}") from error
    return checked_rows(content, str(path))


def _demand_small(path: Path) -> None:
    """Refuse a file that is larger, packed or unpacked, than any list of grasps."""
    size = path.stat().st_size
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
    if size > MAX_BYTES:
        raise ValueError(f"{size / 1e6:.0f} MB is too large; the limit is {MAX_BYTES / 1e6:.0f} MB")


def write_grasps(path: Path | str, rows: ArrayLike) -> Path:
    """Write rows (n, 16 or 17) as float32 ``.npy``; a reader sees either the old file or the complete new one."""
    path = Path(path)
    table = checked_rows(np.asarray(rows), str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                np.save(stream, table, allow_pickle=False)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path}: cannot write grasps: {error.strerror or error}") from error
    return path


def checked_rows(rows: NDArray[np.generic], source: str) -> Rows:
    """Return rows as (n, 17) float32; an error names the wrong row and column.

    Args:
        rows: Any array.
        source: Origin of the rows, for the message.
    """
    if rows.dtype.kind not in "fiu":
        raise InputError(f"{source}: grasp rows are numbers (float32), got dtype {rows.dtype}")
    if rows.ndim != 2 or rows.shape[1] not in (16, 17):
        raise InputError(
            f"{source}: grasp rows have 16 or 17 columns ({', '.join(COLUMNS[:4])}, rotation 9, centre 3, object id), "
            f"got an array of shape {rows.shape}"
        )
    table = np.full((len(rows), 17), -1.0, np.float32)
    with np.errstate(over="ignore"):
        table[:, : rows.shape[1]] = rows
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        raise _wrong(source, bad[0], table, "is not a finite number")
    for column in (SCORE, WIDTH):
        low = np.flatnonzero(table[:, column] < 0.0)
        if len(low):
            raise _wrong(source, (low[0], column), table, "must not be negative")
    R = table[:, ROTATION].astype(float).reshape(-1, 3, 3)
    error = np.abs(R.transpose(0, 2, 1) @ R - np.eye(3)).max(axis=(1, 2))
    skewed = np.flatnonzero((error > ORTHONORMAL) | (np.linalg.det(R) < 0.0))
    if len(skewed):
        row = int(skewed[0])
        raise InputError(
            f"{source}: row {row}, columns 4 to 12: {np.round(R[row], 3).tolist()} is not a rotation "
            f"(largest entry of R'R - 1 is {error[row]:.2g}, determinant {np.linalg.det(R[row]):.2g})"
        )
    return table


def _wrong(source: str, at: ArrayLike, table: Rows, fault: str) -> InputError:
    row, column = (int(i) for i in np.asarray(at))
    return InputError(f"{source}: row {row}, column {column} ({COLUMNS[column]}): {table[row, column]:g} {fault}")
