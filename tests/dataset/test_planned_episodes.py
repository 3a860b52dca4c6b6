"""The plan of a dataset takes little memory, and its episodes are those that were added."""

import tracemalloc
from pathlib import Path

import pytest

from handloom.dataset.lerobot.planned_episodes import FilePlace, PlannedEpisode, PlannedEpisodes
from handloom.errors import InputError


def episode(number: int, *, first: int = 0, sheet: int | None = None) -> PlannedEpisode:
    return PlannedEpisode(
        folder=Path(f"runs/{number % 3}/episode_{number:06d}"),
        sheet_sha256=(number if sheet is None else sheet).to_bytes(32, "big"),
        extra_bytes=(20_000 + number, number % 2),
        episode_index=first + number,
        length=5 + number % 4,
        first_frame=7 * number,
        task_index=number % 2,
        data=FilePlace(chunk=number // 4, file=number % 4),
        videos={"head": (FilePlace(chunk=0, file=number // 2), 9 * number), "wrist": (FilePlace(chunk=1, file=3), 0)},
    )


def planned(*episodes: PlannedEpisode, first: int = 0) -> PlannedEpisodes:
    found = PlannedEpisodes(first=first, cameras=["head", "wrist"])
    for one in episodes:
        found.append(one)
    return found


def test_episodes_come_back_as_they_were_added():
    added = [episode(number, first=100) for number in range(9)]
    found = planned(*added, first=100)
    assert list(found) == added
    assert len(found) == 9
    assert (found[0], found[-1], found[8]) == (added[0], added[-1], added[8])
    assert found[2:5] == added[2:5]
    with pytest.raises(IndexError):
        found[9]


def test_a_million_episodes_take_less_than_a_quarter_of_a_gigabyte():
    count = 5000
    cameras = PlannedEpisodes(first=0, cameras=["head", "wrist"])
    tracemalloc.start()
    for number in range(count):
        cameras.append(episode(number))
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken / count < 280  # [bytes], of which 48 for the two cameras.


def test_equal_sheets_are_refused_and_the_first_pair_is_named():
    told = [episode(number) for number in range(8)]
    planned(*told).refuse_duplicates()
    told[6], told[4] = episode(6, sheet=1), episode(4, sheet=3)
    with pytest.raises(InputError, match=r"episode_000003 and .*episode_000004 are the same episode"):
        planned(*told).refuse_duplicates()
    planned().refuse_duplicates()
    planned(told[0]).refuse_duplicates()
