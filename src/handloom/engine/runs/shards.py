"""Parts of a run made by machines that share only a URL, each as a separate dataset."""

import re
from collections.abc import Sequence
from dataclasses import replace

from handloom.dataset.files.storage import Storage
from handloom.dataset.lerobot.file_list import FILE_LIST
from handloom.dataset.merging.merge_shards import upload_dataset
from handloom.engine.runs.goal import Goal
from handloom.engine.runs.run_directory import RunDirectory
from handloom.errors import FileError, InputError

_SHARD = re.compile(r"shard-(\d{5})-of-(\d{5})")
EMPTY = "empty.json"
"""File left by a shard without a success."""


def shard_goal(goal: Goal, shard: tuple[int, int]) -> Goal:
    """Return the attempts of a shard: the i-th of n equal ranges.

    Raises:
        InputError: The goal is a number of successes, but no shard knows how many the others have.
    """
    number, count = shard
    if goal.attempts is None or count < 2:
        raise InputError("--upload needs --attempts N and --shard I/N: separate shards cannot count successes together")
    first, end = (goal.attempts * part // count for part in (number, number + 1))
    if first == end:
        raise InputError(f"{goal.attempts} attempts are fewer than {count} shards; use fewer shards")
    return replace(goal, attempts=end, first=first)


def shard_place(url: str, shard: tuple[int, int]) -> str:
    """Return the URL of a shard below that of the run."""
    return f"{url.rstrip('/')}/shard-{shard[0]:05d}-of-{shard[1]:05d}"


def is_uploaded(place: str) -> bool:
    """Return whether a shard is complete."""
    storage = Storage(place)
    return storage.holds(FILE_LIST) or storage.holds(EMPTY)


def upload_shard(run: RunDirectory, place: str) -> None:
    """Upload the dataset of a finished shard; one without a success leaves a marker file."""
    if (run.dataset / FILE_LIST).is_file():
        upload_dataset(run.dataset, place)
    else:
        Storage(place).write(EMPTY, b"{}\n")


def shard_urls(urls: Sequence[str]) -> list[str]:
    """Return the URLs of datasets: the given ones, or all shards of a run whose URL was given.

    Raises:
        FileError: A shard is missing.
    """
    found: list[str] = []
    for url in urls:
        storage = Storage(url)
        shards = sorted(name for name in storage.folders() if _SHARD.fullmatch(name))
        if not shards:
            found.append(url)
            continue
        totals = {int(name[-5:]) for name in shards}
        if len(totals) > 1:
            raise FileError(f"{url} holds shards of different runs: of {sorted(totals)}; use a URL for each")
        missing = [n for n in range(totals.pop()) if not is_uploaded(shard_place(url, (n, int(shards[0][-5:]))))]
        if missing:
            listed = ", ".join(map(str, missing[:10]))
            raise FileError(f"{url} lacks {len(missing)} shards, {listed} first; make them with --shard, then merge")
        found += [f"{url.rstrip('/')}/{name}" for name in shards if Storage(f"{url}/{name}").holds(FILE_LIST)]
    return found
