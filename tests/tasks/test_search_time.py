"""The search for regions ends after its time and tells how far it is; what nobody can see is not reported."""

from collections.abc import Callable
from pathlib import Path

import pytest

from handloom.cli.verbs import task as verbs
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task
from handloom.tasks.camera_rehearsal import hidden
from handloom.tasks.region_proposals import proposals
from handloom.tasks.search_time import EVERY, SearchOverError, SearchTime

DRAWER = """robot: fr3
objects:
  - {name: cabinet, category: drawer_cabinet, parameters: {drawers: 2}}
  - {name: soap, category: soap}
  - {name: tray, category: tray}
regions: [{object: soap, in: cabinet.drawer_1}]
skills: [{open: {cabinet: drawer_1}}, {pick: soap}, {place: soap, on: tray}]
"""


def ticking(seconds: float) -> Callable[[], float]:
    """Return a clock that goes on by some seconds with every look."""
    now = [0.0]

    def clock() -> float:
        now[0] += seconds
        return now[0]

    return clock


def written(folder: Path) -> Path:
    (file := folder / "drawer.yaml").write_text(DRAWER)
    return file


def test_a_search_tells_of_its_steps_and_ends_when_its_time_is_over() -> None:
    lines: list[str] = []
    search = SearchTime(60.0, lines.append, clock=ticking(EVERY / 2))
    for _ in range(8):
        search.step("places for cabinet")
    with pytest.raises(SearchOverError, match="after 60 s and 9 trials"):
        search.step("places for cabinet")
    assert lines == [f"places for cabinet: {n} tried in {n * EVERY / 2:.0f} of at most 60 s" for n in (3, 6)]


def test_the_search_for_places_asks_for_time_in_every_trial(tmp_path: Path) -> None:
    steps: list[str] = []

    def few(what: str) -> None:
        steps.append(what)
        if len(steps) == 3:
            raise SearchOverError("over")

    with pytest.raises(SearchOverError, match="over"):
        next(proposals(load_task(written(tmp_path)), few))
    assert len(steps) == 3
    assert {"places for cabinet"} <= {*steps} <= {"places for cabinet", "regions"}


def test_check_says_that_its_time_was_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs, "SEARCH_SECONDS", -1.0)
    (line,) = verbs._regions_that_do(load_task(written(tmp_path)), 1)
    assert line.startswith("no regions were found in which the expert succeeds: the search ended after")


def test_no_camera_is_blamed_for_what_starts_in_a_shut_drawer(tmp_path: Path) -> None:
    task = load_task(written(tmp_path))
    scenes = [build_scene(sample_task(task, 0, episode)) for episode in range(3)]
    assert all(name != "soap" for scene in scenes for _, name, _ in hidden(task, scene))
