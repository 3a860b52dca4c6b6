"""NumPy archives with wrong headers, bombs and pickles in them."""

import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from hostile_datasets.kinds import KINDS, NPZ_FILES, kind


def npy(descr: str, shape: str, body: bytes = b"", *, version: bytes = b"\x01\x00") -> bytes:
    """Return a .npy file with any header."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + body


def rewritten(run: Path, rng: Random, change: Callable[[dict[str, bytes]], dict[str, bytes] | None]) -> None:
    """Change the members of an archive, as bytes by name."""
    file = run / rng.choice(NPZ_FILES)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members = change(members) or members
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npz(content: Callable[[Random], bytes], name: str) -> None:
    def mutation(run: Path, rng: Random) -> None:
        rewritten(run, rng, lambda members: {**members, rng.choice(sorted(members)): content(rng)})

    KINDS[f"npz_{name}"] = mutation


class Payload:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch ran_by_pickle",)


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


for npz_name, npz_content in {
    "huge_shape": lambda rng: npy("'<f8'", rng.choice(["(1000000000000, 50)", "(10000000000,)", "(2, 999999999999)"])),
    "negative_shape": lambda _: npy("'<f8'", "(-1, 5)", b"\0" * 40),
    "odd_shape": lambda rng: npy("'<f8'", rng.choice(["'x'", "(1.5,)", "None", "5", "(True, [])"]), b"\0" * 80),
    "short": lambda _: npy("'<f8'", "(17, 50)", b"\0" * 100),
    "long": lambda _: npy("'<f8'", "(2, 2)", b"\0" * 10_000),
    "pickle": lambda _: saved(np.array([Payload()], dtype=object)),
    "bare_pickle": lambda _: pickle.dumps(Payload()),
    "object_header": lambda _: npy("'|O'", "(1,)", pickle.dumps([Payload()])),
    "text": lambda _: saved(np.array(["a", "b" * 1000])),
    "structured": lambda _: saved(np.zeros(3, dtype=[("a", "f8"), ("b", "O")][:1])),
    "complex": lambda _: saved(np.zeros((17, 50), complex)),
    "nan": lambda _: saved(np.full((17, 50), np.nan)),
    "no_dimension": lambda _: saved(np.float64(3.0)),
    "four_dimensions": lambda _: saved(np.zeros((2, 2, 2, 2))),
    "integers": lambda _: saved(np.zeros((17, 50), np.int8)),
    "huge_numbers": lambda _: saved(np.full((18, 50), 1e300)),
    "no_rows": lambda _: saved(np.zeros((0, 50))),
    "no_columns": lambda _: saved(np.zeros((17, 0))),
    "version": lambda _: npy("'<f8'", "(1,)", b"\0" * 8, version=b"\x09\x09"),
    "long_header": lambda _: npy("'<f8'", "(" + "1," * 20_000 + ")"),
    "not_an_array": lambda _: b"hello",
    "code_in_header": lambda _: npy("__import__('os').system('touch ran_by_header')", "(1,)"),
    "zip_bomb": lambda rng: saved(np.zeros(rng.choice([10**8, 2 * 10**7]))),
    "many_frames": lambda _: saved(np.zeros((10**6, 5))),
}.items():
    npz(npz_content, npz_name)


@kind
def npz_members(run: Path, rng: Random) -> None:
    def change(members: dict[str, bytes]) -> dict[str, bytes]:
        first = sorted(members)[0]
        deed = rng.randrange(4)
        if deed == 0:
            del members[first]
        elif deed == 1:
            members = {**members, **{f"../../x{i}.npy": members[first] for i in range(20)}}
        elif deed == 2:
            members = {**members, **{f"m{i}.npy": members[first] for i in range(30_000)}}
        else:
            members = {name.removesuffix(".npy"): content for name, content in members.items()}
        return members

    rewritten(run, rng, change)


@kind
def npz_zip(run: Path, rng: Random) -> None:
    """Something wrong with the container."""
    file = run / rng.choice(NPZ_FILES)
    raw = bytearray(file.read_bytes())
    deed = rng.randrange(5)
    if deed == 0:
        raw = raw[: rng.randrange(len(raw))]
    elif deed == 1:
        raw[6] |= 1  # "encrypted"
        raw[raw.rindex(b"PK\x01\x02") + 8] |= 1
    elif deed == 2:
        place = raw.rindex(b"PK\x01\x02") + 24  # the uncompressed size
        raw[place : place + 4] = struct.pack("<I", 2**32 - 2)
    elif deed == 3:
        place = raw.rindex(b"PK\x01\x02") + 10  # the method
        raw[place : place + 2] = struct.pack("<H", rng.choice([12, 14, 99, 95]))
    else:
        raw = bytearray(b"PK\x05\x06" + b"\xff" * 18)
    file.write_bytes(raw)
