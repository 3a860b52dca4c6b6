"""The task benchmark counts successes and says what went wrong."""

import pytest

from handloom.bench import tasks
from handloom.errors import InputError, NotFoundError
from handloom.tasks import load_task


def test_a_row_has_the_figures_of_a_task() -> None:
    (row,) = tasks.run(["fr3_pick_cube"], seeds=2, workers=1).rows
    assert row["name"] == "fr3_pick_cube"
    assert row["attempts"] == 2
    assert row["success_percent"] == 100.0
    assert 0.0 < row["planning_percent"] < 100.0
    assert row["realtime_factor"] > 0.0
    assert row["failures"] == ""


def test_another_seed_is_another_run() -> None:
    first, same, other = (tasks.run(["fr3_pick_cube"], seeds=1, seed=seed, workers=1).rows[0] for seed in (0, 0, 7))
    assert first["episode_s"] == same["episode_s"] != other["episode_s"]


def test_failed_attempts_are_counted_by_reason(tmp_path) -> None:
    text = load_task("fr3_pick_cube").path.read_text()
    file = tmp_path / "impossible.yaml"
    file.write_text(text.replace("filter_z_dir: [downward, 140]", "filter_z_dir: [upward, 1]"))
    (row,) = tasks.run([str(file)], seeds=2, workers=1).rows
    assert row["success_percent"] == 0.0
    assert row["failures"] == "2 grasps_collide"


def test_wrong_questions_are_refused_before_anything_runs() -> None:
    with pytest.raises(InputError, match="at least 1 seed"):
        tasks.run(["fr3_pick_cube"], seeds=0)
    with pytest.raises(NotFoundError, match="fr3_pick_cube"):
        tasks.run(["fr3_pick_cub"], seeds=1)
