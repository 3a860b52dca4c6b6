"""What ``check`` says about doors and drawers: distances, the other arm, and places where they can stand."""

import re
from pathlib import Path

import numpy as np
import pytest

from handloom.cli.main import main
from handloom.engine.attempt import Stopwatch, simulate
from handloom.tasks import load_task
from handloom.tasks.rehearsal import rehearse

TASK = """base: setups/{setup}.yaml
objects:
  - {{name: cabinet, target_class: ArticulatedObject, category: drawer_cabinet, fix_base: true,
     parameters: {{drawers: 2{size}}}}}
regions:
  - {{object: cabinet, target: table, random_config: {{pos_range: {place}, yaw_rotation: {yaw}}}}}
cameras: []
skills:
  - {{open: cabinet}}
  - {{close: cabinet}}
"""
DESK = ", width: 0.16, depth: 0.14, drawer_height: 0.065"


def written(folder: Path, setup: str, place: str, yaw: str = "[0, 0]", size: str = "") -> Path:
    (file := folder / "task.yaml").write_text(TASK.format(setup=setup, place=place, yaw=yaw, size=size))
    return file


def test_a_handle_out_of_reach_is_told_with_its_distance_and_the_place_proposed_works(tmp_path):
    far = written(tmp_path, "so101", "[[0.1, 0.36], [0.1, 0.36]]", size=DESK)
    (line,) = rehearse(load_task(far), scenes=1).mistakes
    assert re.search(
        r"task\.yaml:9: .*the handle of drawer_1 of cabinet is 0\.\d\d m beyond the left arm of so101", line
    )
    place, yaw = re.search(r"pos_range: (\[\[.*?\]\]), yaw_rotation: (\[.*?\])", line).groups()
    near = load_task(written(tmp_path, "so101", place, yaw, DESK))
    assert rehearse(near, scenes=1).mistakes == ()
    _, record = simulate(near, 0, 0, Stopwatch())
    assert record.success, record.failure


def test_the_other_arm_is_named_when_it_gets_there(tmp_path):
    right = written(tmp_path, "lift2", "[[0.3, 0.1], [0.3, 0.1]]")
    (line,) = rehearse(load_task(right), scenes=1).mistakes
    assert "the right arm can: give arm: right" in line, line


def test_a_front_that_faces_away_is_told_with_a_turn_that_faces_the_robot(tmp_path):
    away = written(tmp_path, "so101", "[[0, 0.2], [0, 0.2]]", yaw="[180, 180]", size=DESK)
    (line,) = rehearse(load_task(away), scenes=1).mistakes
    assert "faces away from so101 by 180 degrees" in line, line
    low, high = map(int, re.search(r"yaw_rotation: \[(-?\d+), (-?\d+)\]", line).groups())
    assert low <= 0 <= high, line


def test_what_can_be_opened_and_closed_is_noted(tmp_path):
    near = written(tmp_path, "so101", "[[0, 0.2], [0, 0.2]]", size=DESK)
    found = rehearse(load_task(near), scenes=1)
    assert found.mistakes == ()
    assert found.notes == (
        "1 of 1 sampled scenes: the hands reach everything that is opened, closed, turned, grasped and placed",
    )


@pytest.mark.slow
def test_the_map_of_a_robot_has_things_and_cabinets(tmp_path, capsys):
    assert main(["robot", "show", "so101", "--reach", "-o", str(tmp_path / "reach.png")]) == 0
    shown = capsys.readouterr().out
    assert (tmp_path / "reach.png").is_file()
    assert re.search(r"a desk cabinet of .*: its middle at x -?\d.*places tried work", shown), shown
    rows = [line.split()[2:] for line in shown.splitlines() if re.match(r"\s+y [+-]", line)]
    counts = {mark: int(np.sum([row.count(mark) for row in rows])) for mark in "oC"}
    assert counts["o"] > 20
    assert counts["C"] >= 2
