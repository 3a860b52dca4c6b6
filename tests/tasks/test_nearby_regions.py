"""Regions near those of a file: where the hands reach what is out of reach, and where tries succeeded."""

from pathlib import Path

import numpy as np
import pytest

from handloom.tasks import SamplingError, Task, load_task, sample_task
from handloom.tasks.nearby_regions import _span, nearby_proposals, regions_of_tries
from handloom.tasks.reach.within_reach import outside, spread_out

DRAWERS = """robot: fr3
objects: [{name: drawers, category: drawer_cabinet}]
regions: [{object: drawers, at: [[0.08, 0.08], [0.12, 0.12]], yaw: 0}]
skills: [{open: drawers}]
"""
LEMON = """robot: fr3
objects: [{name: lemon, category: lemon}, {name: bowl, category: bowl}]
regions: [{object: lemon, at: [0.1, 0.0]}]
skills: [{pick: lemon}, {place: lemon, in: bowl}]
"""


def task_of(folder: Path, text: str) -> Task:
    (file := folder / "task.yaml").write_text(text)
    return load_task(file)


def test_the_message_about_what_is_out_of_reach_names_the_nearest_spots(tmp_path: Path):
    task = task_of(tmp_path, DRAWERS)
    with pytest.raises(SamplingError, match=r"the nearest of \d+ spots where it does: \[.*\], 0\.\d\d m from") as error:
        sample_task(task, 0, 0)
    name, spots = error.value.near
    assert name == "drawers"
    point = np.asarray(task.config.work_point)
    corners = np.array([[0.08, 0.08], [0.12, 0.12]]) + point
    far = [outside(spot, corners) for spot in spots]
    assert far == sorted(far)
    x, y = np.asarray(spots[0]) - point
    assert f"[{x:.2f}, {y:.2f}]" in str(error.value)


def test_a_region_out_of_reach_is_first_moved_to_the_nearest_spots(tmp_path: Path):
    task = task_of(tmp_path, DRAWERS)
    proposals = [*nearby_proposals(task)]
    assert proposals
    moved = [sample_task(proposal.of(task), 0, 0) for proposal in proposals]
    places = [next(np.asarray(obj.position[:2]) for obj in one.objects if obj.name == "drawers") for one in moved]
    assert len({tuple(place) for place in places}) == len(places)
    assert not [*nearby_proposals(proposals[0].of(task))], "nothing is out of reach there"


def test_regions_of_successful_tries_are_given_for_what_the_file_leaves_open(tmp_path: Path):
    task = task_of(tmp_path, LEMON)
    scenes = [sample_task(task, 0, episode) for episode in range(3)]
    (line,) = regions_of_tries(task, scenes[:2], scenes[2:])
    assert line.startswith("- {object: bowl, at: [[")
    written = LEMON.replace(
        "regions: [{object: lemon, at: [0.1, 0.0]}]", f"regions:\n  - {{object: lemon, at: [0.1, 0.0]}}\n  {line}"
    )
    again = task_of(tmp_path, written)
    assert sample_task(again, 0, 0)
    assert regions_of_tries(again, scenes[:2], scenes[2:]) == [], "the file gives them"


def test_the_box_around_successes_holds_no_failure():
    good = [np.array([[x, 0.0]]) for x in (0.0, 0.1, 0.2, 0.6)]
    low, high = _span(good, [np.array([[0.4, 0.0]])])
    assert (low[0, 0], high[0, 0]) == (0.0, 0.2)
    assert (low[0, 1], high[0, 1]) == (-0.02, 0.02)


def test_spots_of_a_message_are_apart():
    assert spread_out([(0.0, 0.0), (0.02, 0.0), (0.2, 0.0), (0.5, 0.0)], 2) == [(0.0, 0.0), (0.2, 0.0)]
