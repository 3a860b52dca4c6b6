"""Malicious runs, and runs damaged beyond use; each follows from a seed."""

import shutil
from pathlib import Path
from random import Random

from hostile_datasets import arrays, folders, instances, json_files, runs, tables, videos
from hostile_datasets.kinds import KINDS
from hostile_datasets.signing import sign_archives, sign_files

__all__ = ["HONEST_DATASET", "KINDS", "hostile_run"]

MODULES = (json_files, instances, arrays, tables, videos, folders, runs)
"""Imported for the kinds they add to the table."""

HONEST_DATASET = ("journal_", "yaml_", "finished_", "folder_", "link_to_write", "link_to_run")
"""How the names of kinds begin that leave the dataset alone."""


def hostile_run(base: Path, out: Path, seed: int) -> str:
    """Copy an honest run and do something to it; return what, in a word.

    In three of five cases all hashes are written anew.
    """
    rng = Random(seed)
    name = list(KINDS)[seed % len(KINDS)]
    shutil.copytree(base, out, symlinks=True)
    KINDS[name](out, rng)
    listing = "dataset/meta/files.json"
    sign = rng.random() < 0.6 and (out / listing).is_file() and same(out / listing, base / listing)
    if sign:
        sign_archives(out / "dataset")
        sign_files(out / "dataset")
    return f"{name}{'-signed' if sign else ''}"


def same(file: Path, other: Path) -> bool:
    """Return whether two files have the same contents; the first may be enormous."""
    return file.stat().st_size == other.stat().st_size and file.read_bytes() == other.read_bytes()
