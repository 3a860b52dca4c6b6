"""``handloom preview``: scenes before, and attempts at their end."""

from pathlib import Path

import pytest

from handloom.cli.main import main
from handloom.cli.verbs import task as verbs
from handloom.engine.front_door import run_episode
from handloom.tasks import SamplingError

TASK = """base: setups/fr3.yaml
objects: [{name: block, category: cube, parameters: {edge: 0.04}}]
regions: [{object: block, target: table, random_config: {pos_range: [[REACH], [REACH]]}}]
data: {max_episode_length: 250}
skills: [{pick: block}]
"""


@pytest.mark.parametrize(("place", "outcome"), [("0.1, 0.1", "succeeded"), ("-0.62, 0.42", "goal_unreachable")])
def test_the_end_of_an_attempt_is_drawn_failed_or_not(place, outcome, tmp_path, capsys):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("REACH", place))
    picture = tmp_path / "end.png"
    command = ["preview", str(file), "--episode", "2", "--last", "--preset", "fast", "-o", str(picture)]
    assert main(command) == 0
    assert f"attempt 2 of seed 0: {outcome}" in capsys.readouterr().out
    assert picture.stat().st_size > 1000


def test_an_attempt_without_a_layout_is_a_blank_tile_and_the_others_are_drawn(tmp_path, capsys, monkeypatch):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("REACH", "0.1, 0.1"))
    simulated = verbs.simulate

    def simulate(task, seed, episode, *rest):
        if episode == 0:
            raise SamplingError("no_layout", "block had no free or stable place in 60 of 60 layouts")
        return simulated(task, seed, episode, *rest)

    monkeypatch.setattr(verbs, "simulate", simulate)
    picture = tmp_path / "end.png"
    command = ["preview", str(file), "--episodes", "2", "--last", "--preset", "fast", "-o", str(picture)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "attempt 0 of seed 0: no_layout: block had no free" in said
    assert "attempt 1 of seed 0: succeeded" in said
    assert picture.stat().st_size > 1000


def test_the_first_scene_can_be_chosen(tmp_path):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("REACH", "0.1, 0.1"))
    first, second, both = (tmp_path / name for name in ("a.png", "b.png", "c.png"))
    common = ["preview", str(file), "--preset", "fast", "-o"]
    assert main([*common, str(first), "--episodes", "1"]) == 0
    assert main([*common, str(second), "--episodes", "1", "--episode", "1"]) == 0
    assert first.read_bytes() != second.read_bytes()
    assert main([*common, str(both), "--episode", "-1"]) == 2


def test_one_episode_of_a_scene_that_cannot_be_sampled_raises_with_the_reason_that_a_run_records(tmp_path: Path):
    (file := tmp_path / "task.yaml").write_text(TASK.replace("REACH", "-2.5, 0.1"))
    with pytest.raises(SamplingError) as caught:
        run_episode(file)
    assert caught.value.failure.reason == "no_layout"
    assert "block had no free or stable place" in caught.value.failure.detail
