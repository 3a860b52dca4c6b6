"""Driving through furnished rooms: nothing is touched, goals are met, wheels roll; a blind robot is caught."""

from pathlib import Path

import pytest

from handloom.bench.worlds import rooms
from handloom.errors import HandloomError
from handloom.tasks import load_task
from spread import every


def _holds(row: dict[str, object]) -> None:
    assert row["touching_steps"] == 0, row["touched"]
    assert float(str(row["off_mm"])) < 10.0
    assert float(str(row["off_deg"])) < 1.0
    assert float(str(row["slip_mm"])) < 10.0, "over ways of several metres"


@pytest.mark.parametrize(("robot", "count"), every([("lift2", 2), ("split_aloha", 1)], 2, 1))
def test_a_robot_fetches_through_furnished_rooms_and_touches_nothing(robot: str, count: int) -> None:
    (row,) = rooms.run([robot], seeds=count, seed=5).rows
    _holds(row)
    assert row["ways_driven"] == 2 * count


@pytest.mark.slow
@pytest.mark.parametrize("robot", rooms.TASKS)
def test_in_fifty_rooms_nothing_is_touched_and_most_tables_are_reached(robot: str) -> None:
    (row,) = rooms.run([robot], seeds=50, seed=777).rows
    _holds(row)
    assert int(str(row["rooms_without_way"])) <= 5, "furniture may close the only way"
    assert int(str(row["ways_driven"])) >= 90, "a pick that fails leaves out the second way"
    assert "base" not in str(row["other_failures"]), "no way that was begun fails"


BLIND = """
base: lift2_fetch_carton.yaml
skills:
  - lift2:
      - left:
          - {name: navigate, objects: [carton, table], stand_off: 0.34, sideways: 0.2, ignore_substring: [table, piece]}
"""


def test_a_robot_that_does_not_see_furniture_is_found_to_touch_it(tmp_path: Path) -> None:
    file = tmp_path / "blind.yaml"
    file.write_text(BLIND)
    task = load_task(file)
    drive = rooms.drive_through(task, rooms.furnished_room(task, 5, 2))
    assert drive.touching > 0
    assert drive.touched == ("table",)


def test_robots_that_do_not_fetch_are_refused_by_name() -> None:
    with pytest.raises(HandloomError, match=r"fr3.*lift2"):
        rooms.run(["fr3"])
