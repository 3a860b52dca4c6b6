"""The table of what can be done to a run, and what the kinds of it share."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

EPISODE = "dataset/extras/episode_000000"
JSON_FILES = (
    "dataset/meta/info.json", "dataset/meta/stats.json", "dataset/meta/files.json", "dataset/meta/merge.json",
    f"{EPISODE}/episode.json", f"{EPISODE}/instance.json", f"{EPISODE}/timeline.json", f"{EPISODE}/certificate.json",
    "finished.json",
)  # fmt: skip
DATA = "dataset/data/chunk-000/file-000.parquet"
EPISODES = "dataset/meta/episodes/chunk-000/file-000.parquet"
TASKS = "dataset/meta/tasks.parquet"
NPZ_FILES = (f"{EPISODE}/states.npz", f"{EPISODE}/commands.npz")
WEIRD: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**63, 10**30, -(10**18), 1e308, -1e308, 0.5, "", "x", "\x00", "\x1b[2J\x07", "../../..",
    "/etc/passwd", "a/b", "nan", [], {}, [[[]]], {"": {}}, [None], ["x"] * 1000, "y" * 100_000, [1e300] * 3,
)  # fmt: skip

Mutation = Callable[[Path, Random], None]
KINDS: dict[str, Mutation] = {}
"""Name > what it does to the run in a folder."""


def kind(mutation: Mutation) -> Mutation:
    """Put a mutation into the table."""
    KINDS[mutation.__name__] = mutation
    return mutation


def edit_json(file: Path, change: Callable[[Any], Any]) -> None:
    """Change the values of a JSON file in place, or put what is returned in their place."""
    value = json.loads(file.read_text())
    changed = change(value)
    file.write_text(json.dumps(value if changed is None else changed, indent=1))


def changed_somewhere(value: Any, rng: Random) -> Any:
    """Replace, remove or add one thing somewhere in a tree."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.12:
        return rng.choice(WEIRD)
    key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    deed = rng.random()
    if deed < 0.1:
        del value[key]
    elif deed < 0.15 and isinstance(value, dict):
        value[rng.choice(["", "../x", "\x00", "a/b", "z" * 5000])] = value[key]
    else:
        value[key] = changed_somewhere(value[key], rng)
    return value
