"""Where a policy fails: outcomes by scene and the factors in which the scenes differ."""

from pathlib import Path

import pytest

from handloom.viewer.evaluation_api import factors_of


def test_an_evaluation_tells_every_scene_and_its_factors(asked, evaluations: tuple[Path, Path]) -> None:
    told = asked(*evaluations).json("/api/evaluations/d0")
    assert told["result"]["successes"] == 5
    assert [scene["success"] for scene in told["scenes"]] == [True] * 5 + [False] * 3
    assert [(scene["source"], scene["index"]) for scene in told["scenes"]][4:6] == [("d0", 4), ("d0f", 0)]
    factors = {factor["name"]: factor for factor in told["factors"]}
    assert factors["cube x [m]"]["values"] == pytest.approx([0.05 * index for index in range(8)])
    assert factors["cube words"]["values"] == ["red cube", "blue cube"] * 4
    assert factors["cube words"]["kind"] == "value"
    assert "cube y [m]" not in factors  # It is the same everywhere.


def test_a_dataset_without_its_run_has_no_scenes(asked, plain: Path) -> None:
    assert asked(plain)("/api/evaluations/d0").status == 400


def test_factors_of_scenes_with_other_objects_have_gaps_and_nonsense_is_left_out() -> None:
    instances = [
        {"objects": [{"name": "a", "position": [0.0, 1.0, 0.0], "fixed": False}]},
        {"objects": [{"name": "b", "position": [2.0, 1.0, 0.0]}, "nonsense", {"name": "a", "position": "x"}]},
        None,
        {"objects": [{"name": "b", "position": [3.0, 1.0, 0.0], "parameters": {"colour": "red", "deep": [1]}}]},
    ]
    factors = {factor["name"]: factor["values"] for factor in factors_of(instances)}
    assert factors["b x [m]"] == [None, 2.0, None, 3.0]
    assert factors["objects on the table"] == [1, 2, None, 1]
    assert "b colour" not in factors  # Only one scene says it.
