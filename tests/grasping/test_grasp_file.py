"""Reading and writing the published layout."""

import pickle
import zipfile

import numpy as np
import pytest

from handloom.errors import FileError, HandloomError, InputError
from handloom.grasping import read_grasps, write_grasps
from handloom.spatial import random_rotations


def rows(n: int = 5) -> np.ndarray:
    rng = np.random.default_rng(0)
    table = np.full((n, 17), -1.0, np.float32)
    table[:, 0], table[:, 1], table[:, 2], table[:, 3] = 0.1, 0.04, 0.02, 0.01
    table[:, 4:13] = random_rotations(rng, n).reshape(n, 9)
    table[:, 13:16] = rng.uniform(-0.1, 0.1, size=(n, 3))
    return table


def test_what_is_written_is_read_bit_for_bit(tmp_path):
    written = rows()
    found = read_grasps(write_grasps(tmp_path / "deep" / "er" / "grasps.npy", written))
    assert found.dtype == np.float32
    assert found.tobytes() == written.tobytes()
    assert [p.name for p in (tmp_path / "deep" / "er").iterdir()] == ["grasps.npy"]


def test_sixteen_columns_and_doubles_are_read_too(tmp_path):
    np.save(tmp_path / "a.npy", rows()[:, :16].astype(float))
    np.testing.assert_array_equal(read_grasps(tmp_path / "a.npy"), rows())


def test_a_packed_archive_of_one_array_is_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", grasps=rows())
    np.testing.assert_array_equal(read_grasps(tmp_path / "a.npz"), rows())


def damaged(row: int, column: int, value: float) -> np.ndarray:
    table = rows()
    table[row, column] = value
    return table


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (damaged(3, 14, np.nan), "row 3, column 14 (y): nan is not a finite number"),
        (damaged(2, 1, -0.01), "row 2, column 1 (width): -0.01 must not be negative"),
        (damaged(1, 0, -1.0), "row 1, column 0 (score): -1 must not be negative"),
        (damaged(4, 4, 3.0), "row 4, columns 4 to 12"),
        (np.zeros((3, 15), np.float32), "got an array of shape (3, 15)"),
        (np.zeros(17, np.float32), "got an array of shape (17,)"),
        (np.array([["a"] * 17]), "got dtype <U1"),
        (np.zeros((2, 17), complex), "got dtype complex128"),
    ],
)
def test_bad_rows_are_refused_with_their_place(tmp_path, table, words):
    np.save(tmp_path / "bad.npy", table)
    with pytest.raises(InputError) as error:
        read_grasps(tmp_path / "bad.npy")
    assert words in str(error.value)
    assert "bad.npy" in str(error.value)


def test_a_mirrored_frame_is_no_rotation(tmp_path):
    table = rows()
    table[2, 4:13] = np.diag([1.0, 1.0, -1.0]).ravel()
    np.save(tmp_path / "bad.npy", table)
    with pytest.raises(InputError, match="row 2, columns 4 to 12"):
        read_grasps(tmp_path / "bad.npy")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("pickled content was run",))


def test_pickled_content_is_refused_and_not_run(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Trap()))
    for name in ("objects.npy", "plain.npy"):
        with pytest.raises(FileError, match="not a plain"):
            read_grasps(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00v\x00garbage", b"PK\x03\x04 no archive"])
def test_damaged_files_are_refused(tmp_path, content):
    (tmp_path / "bad.npy").write_bytes(content)
    with pytest.raises(HandloomError, match=r"bad\.npy"):
        read_grasps(tmp_path / "bad.npy")


def test_a_file_that_declares_or_unpacks_to_far_more_than_grasps_is_refused(tmp_path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999, 17), }"
    declared = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117) + b"\n"
    (tmp_path / "declared.npy").write_bytes(declared)
    with zipfile.ZipFile(tmp_path / "packed.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("grasps.npy", bytes(300_000_000))
    for name in ("declared.npy", "packed.npz"):
        with pytest.raises(FileError, match=name):
            read_grasps(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"none\.npy"):
        read_grasps(tmp_path / "none.npy")


def test_a_bad_table_is_not_written(tmp_path):
    with pytest.raises(InputError, match="row 0, column 1"):
        write_grasps(tmp_path / "a.npy", damaged(0, 1, -1.0))
    assert list(tmp_path.iterdir()) == []
