"""Arrays of others: what a header promises is compared with what is there before any room is made for it."""

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handloom.dataset.episodes.archive import read_npz, write_npz
from handloom.errors import FileError


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def header(descr: str, shape: str, body: bytes = b"") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "array",
    [np.arange(12.0).reshape(3, 4), np.array(2.5), np.zeros((0, 5)), np.array(["a", "bc"]), np.ones(3, bool),
     np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(4, dtype=">i4"), np.arange(6, dtype=np.uint8)],
    ids=lambda array: f"{array.dtype}{array.shape}",
)  # fmt: skip
def test_numpy_and_this_read_the_same(tmp_path: Path, array: Any) -> None:
    path = archive(tmp_path / "a.npz", {"x.npy": npy(array)})
    got = read_npz(path)["x"]
    np.testing.assert_array_equal(got, np.load(path)["x"])
    assert (got.dtype, got.shape, got.flags.writeable) == (array.dtype, array.shape, True)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (header("'<f8'", "(1000000000000, 50)"), "does not match its size"),
        (header("'<f8'", "(2, 2)", b"\0" * 100), "does not match its size"),
        (header("'<f8'", "(-1, 4)", b"\0" * 32), "shape"),
        (header("'<f8'", "(1.5,)", b"\0" * 8), "shape"),
        (header("'|O'", "(1,)", b"\0" * 8), "array of object"),
        (header("'<c16'", "(1,)", b"\0" * 16), "array of complex128"),
        (header("[('a', '<f8')]", "(1,)", b"\0" * 8), "array of"),
        (header("__import__('os').abort()", "(1,)"), "malformed"),
        (b"hello", "magic"),
        (b"\x93NUMPY\x03\x00" + b"\0" * 50, "not 1.0"),
    ],
)
def test_an_array_that_is_none_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(FileError, match=words):
        read_npz(archive(tmp_path / "a.npz", {"x.npy": content}))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", {"x.npy": npy(np.zeros(4 * 10**7))})
    assert path.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(FileError, match="malicious"):
        read_npz(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10**6


def test_many_members_and_members_that_are_no_arrays_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="300 arrays"):
        read_npz(archive(tmp_path / "a.npz", {f"{i}.npy": npy(np.zeros(1)) for i in range(300)}))
    with pytest.raises(FileError, match=r"holds 'x\.txt', which is not an array"):
        read_npz(archive(tmp_path / "b.npz", {"x.txt": b"hello"}))


def test_a_container_with_wrong_bytes_is_refused(tmp_path: Path) -> None:
    whole = archive(tmp_path / "a.npz", {"x.npy": npy(np.arange(100.0))}).read_bytes()
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(300):
        raw = bytearray(whole)
        for place in rng.integers(len(raw), size=3):
            raw[place] ^= int(rng.integers(1, 256))
        (tmp_path / "a.npz").write_bytes(raw)
        try:
            read_npz(tmp_path / "a.npz")
        except FileError:
            refused += 1
    assert refused > 250  # The rest changed dates and other things that nobody reads.


def test_what_is_written_can_be_read_however_still_the_scene(tmp_path: Path) -> None:
    # States of a scene at rest repeat themselves; a thousandth of them changes.
    states = np.repeat(np.random.default_rng(0).normal(size=(1, 400)), 30_000, axis=0)
    states[:, 0] = np.arange(len(states)) / 30
    write_npz(tmp_path / "s.npz", {"integration": states})
    np.testing.assert_array_equal(read_npz(tmp_path / "s.npz")["integration"], states)
