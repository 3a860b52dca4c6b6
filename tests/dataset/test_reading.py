"""Files that anybody may have made end as plain values or as one typed error, whatever is in them."""

import errno
import json
import math
import os
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from handloom.dataset.files.reading import check_shape, damage_named, parse_json, read_bytes, read_json
from handloom.dataset.files.shapes import Info, Timeline
from handloom.errors import FileError, InputError, NotAllowedError


def test_json_comes_back_as_it_was_written() -> None:
    rng = random.Random(0)
    floats = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(20_000)]
    value = {"f": [x for x in floats if math.isfinite(x)], "i": [2**63, -1], "t": "Würfel \U0001f9ca"}
    assert parse_json(json.dumps(value).encode(), source="x") == value
    assert list(parse_json(b'{"b":1,"a":2}', source="x")) == ["b", "a"]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"\xff", b"NaN", b"[Infinity]", b"1e999", b"-1e999", b'"\\ud800"', b'"\xed\xa0\x80"', b"[" * 100_000,
        b'{"a":' * 100_000, b"9" * 100_000, b"1" + b"0" * 400 + b".0", b"\xff\xfe[\x00]\x00", b"[1]x", b"'a'",
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused_by_name(raw: bytes) -> None:
    with pytest.raises(FileError, match=r"^a file(: top level: .*not JSON compliant| is not valid JSON)"):
        parse_json(raw, source="a file")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"features": []}, "features"), ({"features": {"a": 1}}, "features.a"), ({"fps": "30"}, "fps"),
        ({"fps": True}, "fps"), ({"total_frames": 10**30}, "total_frames"), ({"total_episodes": -1}, "total_episodes"),
        ({"features": {"a": {"dtype": "float32", "shape": [10**12], "names": None}}}, "features.a.shape.0"),
        ({"features": {"a": {"dtype": "float32", "shape": [-1], "names": None}}}, "features.a.shape.0"),
    ],
)  # fmt: skip
def test_a_value_of_another_shape_is_refused_with_its_place(change: dict[str, Any], place: str) -> None:
    info = {"codebase_version": "v3.0", "total_episodes": 1, "total_frames": 5, "fps": 30, "features": {}}
    check_shape(info, Info, source="info.json")
    with pytest.raises(FileError, match=rf"^info\.json: {place}: "):
        check_shape({**info, **change}, Info, source="info.json")


def test_spans_and_stretches_of_a_timeline_are_numbers_of_frames() -> None:
    timeline = {"model_hash": "", "spans": [], "failure": None}
    check_shape({**timeline, "left_out": [[0, 5]]}, Timeline, source="t")
    for wrong in ([[0]], [["a", "b"]], [[0, 2**60]], "xy", [[-1, 4]]):
        with pytest.raises(FileError, match="left_out"):
            check_shape({**timeline, "left_out": wrong}, Timeline, source="t")


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    with pytest.raises(FileError, match="does not exist"):
        read_json(file)
    os.mkfifo(file)
    with pytest.raises(FileError, match="not a regular file"):
        read_json(file)
    file.unlink()
    file.mkdir()
    with pytest.raises(FileError, match="not a regular file"):
        read_json(file)
    file.rmdir()
    file.write_bytes(b"[" + b"1," * 100 + b"1]")
    assert len(read_bytes(file, limit=203)) == 203
    with pytest.raises(FileError, match="has 203 bytes, at most 202 are read"):
        read_bytes(file, limit=202)
    os.truncate(file, 2**40)
    with pytest.raises(FileError, match="is mostly empty"):
        read_json(file)


@pytest.mark.parametrize(
    "error",
    [KeyError("a"), RecursionError(), MemoryError("much"), UnicodeError("x"), ZeroDivisionError(), OSError(5, "io")],
)
def test_whatever_malformed_contents_lead_to_names_the_file(error: Exception) -> None:
    with (
        pytest.raises(FileError, match=rf"^some file is damaged \({type(error).__name__}"),
        damage_named(Path("some file")),
    ):
        raise error


def test_errors_in_words_keep_them_and_refusals_pass() -> None:
    with (
        pytest.raises(FileError, match=r"^some file cannot be used: a mug has no lid"),
        damage_named(Path("some file")),
    ):
        raise InputError("a mug has no lid")
    with (
        pytest.raises(FileError, match=r"^some file cannot be used: a part is missing$"),
        damage_named(Path("some file")),
    ):
        raise FileError("a part is missing")
    with pytest.raises(FileError, match=r"^some file is missing$"), damage_named(Path("some file")):
        raise FileError("some file is missing")
    with pytest.raises(FileError, match="the disk is full") as full, damage_named(Path("some file")):
        raise FileError(errno.ENOSPC, "cannot write x: the disk is full")
    assert full.value.errno == errno.ENOSPC
    with pytest.raises(OSError, match="No space left") as plain, damage_named(Path("some file")):
        raise OSError(errno.ENOSPC, "No space left")
    assert not isinstance(plain.value, FileError)
    with pytest.raises(NotAllowedError), damage_named(Path("some file")):
        raise NotAllowedError("code")
