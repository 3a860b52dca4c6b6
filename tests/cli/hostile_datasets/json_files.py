"""JSON that is none, or that says what cannot be."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from hostile_datasets.kinds import JSON_FILES, KINDS, changed_somewhere, edit_json, kind


def tree(name: str) -> None:
    def mutation(run: Path, rng: Random) -> None:
        for _ in range(rng.choice([1, 1, 1, 3])):
            edit_json(run / name, lambda value: changed_somewhere(value, rng))

    KINDS[f"{'' if '/' in name else 'finished_'}tree_{Path(name).stem}"] = mutation


SYNTAX: dict[str, Callable[[bytes], bytes]] = {
    "nested": lambda _: b"[" * 100_000 + b"]" * 100_000,
    "nested_objects": lambda _: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nan": lambda raw: raw.replace(b":", b':NaN,"q":', 1),
    "infinite": lambda raw: raw.replace(b":", b':1e999,"q":', 1),
    "surrogate": lambda raw: raw.replace(b'"', b'"\\ud800', 1),
    "raw_surrogate": lambda raw: raw.replace(b'"', b'"\xed\xa0\x80', 1),
    "empty": lambda _: b"",
    "half": lambda raw: raw[: len(raw) // 2],
    "digits": lambda raw: raw.replace(b":", b":" + b"9" * 100_000 + b',"q":', 1),
    "utf16": lambda raw: raw.decode().encode("utf-16"),
    "wide": lambda _: b"[" + b"[]," * 10_000_000 + b"[]]",
    "noise": lambda _: np.random.default_rng(0).bytes(5000),
    "list": lambda raw: b"[" + raw + b"]",
    "null": lambda _: b"null",
}  # fmt: skip


def syntax(name: str) -> None:
    def mutation(run: Path, rng: Random) -> None:
        file = run / rng.choice(JSON_FILES[:-1])
        file.write_bytes(SYNTAX[name](file.read_bytes()))

    KINDS[f"json_{name}"] = mutation


for syntax_name in SYNTAX:
    syntax(syntax_name)
for json_file in (*JSON_FILES, *JSON_FILES[4:7], JSON_FILES[0]):
    tree(json_file)


@kind
def sparse_json(run: Path, rng: Random) -> None:
    """A terabyte that takes no room on the disk."""
    os.truncate(run / rng.choice(JSON_FILES[:-1]), 2**40)


@kind
def info_counts(run: Path, rng: Random) -> None:
    def change(info: Any) -> None:
        for key in ("total_episodes", "total_frames", "total_tasks", "chunks_size", "fps"):
            info[key] = rng.choice([0, -1, 10**9, 10**18, 10**40, 1e300, "30", None, True])

    edit_json(run / JSON_FILES[0], change)


@kind
def info_features(run: Path, rng: Random) -> None:
    edit_json(run / JSON_FILES[0], lambda info: info.update(features=rng.choice([[], None, "x", 5, {}, {"a": 1}])))


@kind
def info_shapes(run: Path, rng: Random) -> None:
    def change(info: Any) -> None:
        feature = info["features"][rng.choice(list(info["features"]))]
        sizes = [[10**12], [-1], [0], [10**6, 10**6, 3], [2, 2], [], "8", [8.5], [None], [[8]], [2**31]]
        feature["shape"] = rng.choice(sizes)

    edit_json(run / JSON_FILES[0], change)


@kind
def feature_names(run: Path, rng: Random) -> None:
    """Features named for places outside the dataset, in the description and in the sheet."""
    new = rng.choice(["..", "../../x", "\x00", "a" * 300, ".", "", "x\ny", "\x1b[31m"])

    def in_info(info: Any) -> None:
        old = next(name for name, described in info["features"].items() if described["dtype"] == "video")
        info["features"] = {new if name == old else name: value for name, value in info["features"].items()}

    def in_sheet(sheet: Any) -> None:
        video = next(feature for feature in sheet["table"]["features"] if feature["dtype"] == "video")
        video["name"] = new

    edit_json(run / JSON_FILES[0], in_info)
    edit_json(run / JSON_FILES[4], in_sheet)


@kind
def sheet_length(run: Path, rng: Random) -> None:
    edit_json(run / JSON_FILES[4], lambda sheet: sheet.update(length=rng.choice([10**9, 10**15, 0, -5, 1, "17", 2.5])))


@kind
def sheet_segments(run: Path, rng: Random) -> None:
    stop = rng.choice([10**9, 10**13, -1, "9"])
    edit_json(
        run / JSON_FILES[4],
        lambda sheet: sheet["outcome"].update(segments=[{"label": "x", "start": 0, "stop": stop}]),
    )


@kind
def sheet_files(run: Path, rng: Random) -> None:
    """A sheet that lists files elsewhere."""
    name = rng.choice(["../../../../../../etc/passwd", "/etc/passwd", "/dev/zero", "../../meta/info.json", "\x00"])
    edit_json(run / JSON_FILES[4], lambda sheet: sheet["files"].update({name: {"bytes": 1, "sha256": "0" * 64}}))


@kind
def list_files(run: Path, rng: Random) -> None:
    """A list of files that names files elsewhere."""
    name = rng.choice(["../../../../../../etc/passwd", "/etc/passwd", "/dev/zero", "..", "", "x" * 1000, "\x00"])
    entry = rng.choice([{"bytes": 1, "sha256": "0" * 64}, None, 5, {"bytes": "many"}, []])
    edit_json(run / JSON_FILES[2], lambda listing: listing.update({name: entry}))
