"""Scenes are built in time, nothing is in anything else, and what lies stays."""

import pytest

from handloom.bench.worlds.scenes import crowded_task, run, scene_row
from handloom.tasks import library, load_task
from spread import every


@pytest.mark.parametrize("name", every(library(), 3, 1))
def test_scenes_of_the_library_are_free_of_overlap_and_at_rest(name) -> None:
    row = scene_row(load_task(name), 1)  # Twenty of each: the slow test below.
    assert row["deepest_overlap_mm"] <= 0.5
    assert row["drift_in_2_s_mm"] <= 5.0


@pytest.mark.slow
def test_twenty_scenes_of_every_task_and_of_a_crowded_one() -> None:
    rows = run(episodes=20, files=1000).rows
    for row in rows[:-1]:
        assert row["deepest_overlap_mm"] <= 0.5, row
        assert row["drift_in_2_s_mm"] <= 5.0, row
        assert row["build_ms"] > 0
    assert rows[-1]["cpu_s"] > 0


def test_a_crowded_scene_is_free_of_overlap_and_at_rest(tmp_path) -> None:
    import yaml

    file = tmp_path / "crowd.yaml"
    file.write_text(yaml.safe_dump(crowded_task(12)))
    row = scene_row(load_task(file), 1)
    assert row["deepest_overlap_mm"] <= 0.5
    assert row["drift_in_2_s_mm"] <= 5.0
