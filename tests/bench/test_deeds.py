"""The benchmark of deeds: refusals are no attempts, a record is gone on with, and ``list tasks`` reads it."""

import json

import pytest

from handloom.bench.library import deeds as deeds_bench
from handloom.bench.library.deeds import run
from handloom.errors import InputError, NotFoundError
from handloom.tasks.config.deed_form import workplaces
from handloom.tasks.config.deed_rates import DeedRates, deed_rates
from handloom.tasks.config.loading import deeds, shipped


def test_a_robot_of_one_arm_is_not_given_what_takes_two(tmp_path):
    record = tmp_path / "deeds.json"
    result = run(["handover"], robot="fr3", attempts=1, processes=1, record=record)
    assert result.rows[0]["attempts"] == 0
    assert "has one" in result.rows[0]["failures"]
    assert deed_rates(record).word("handover", "fr3") == "one arm"


@pytest.mark.slow
def test_attempts_are_recorded_and_not_made_again(tmp_path):
    record = tmp_path / "deeds.json"
    first = run(["pick_cube"], robot="fr3", attempts=1, seed=5, processes=1, record=record)
    assert first.rows[0]["success_percent"] == 100.0
    values = json.loads(record.read_text())
    values["cells"]["pick_cube fr3"]["0"] = "planted"
    record.write_text(json.dumps(values))
    again = run(["pick_cube"], robot="fr3", attempts=1, seed=5, processes=1, record=record)
    assert again.rows[0]["failures"] == "1 planted", "what the record has is not attempted again"
    assert again.rows[-1]["failures"].endswith("; 0 attempts in another layout")
    with pytest.raises(InputError, match="its seed is 5"):
        run(["pick_cube"], robot="fr3", attempts=1, seed=6, processes=1, record=record)


def test_cells_out_of_reach_have_no_rate():
    cells = {"a x": {"0": "out_of_reach", "1": "out_of_reach"}, "a y": {"0": "", "1": "no_grasp"}}
    rates = DeedRates(seed=1, cells=cells)
    assert rates.rate("a", "x") is None
    assert rates.word("a", "x") == "out of reach"
    assert rates.word("a", "y") == "1/2"
    assert rates.word("a", "z") == "?"


def test_unknown_deeds_are_named_with_those_that_exist():
    with pytest.raises(NotFoundError, match="no deed named 'pick_cubes'; did you mean 'pick_cube'"):
        run(["pick_cubes"])


def test_the_rates_that_ship_say_how_few_attempts_they_are_of():
    rates = deed_rates()
    assert all(
        f"{name} {robot}" in {*rates.cells, *rates.refused} for name in deeds() for robot in workplaces(shipped())
    )
    assert f"seed {rates.seed}" in rates.note()
    few = DeedRates(seed=1, cells={"a x": {"0": ""}, "a y": {"0": "", "1": "no_grasp"}})
    assert few.note().startswith("2 of 3 attempts, 1 to 2 per cell, seed 1; too few for a rate")
    assert "ok or fail: one attempt" in few.note()
    assert [few.word("a", "x"), few.word("a", "y")] == ["ok", "1/2"]
    assert DeedRates(seed=1, cells={"a x": {"0": "no_grasp"}}).word("a", "x") == "fail"


def test_attempts_that_took_another_layout_are_recorded_and_counted(tmp_path, monkeypatch):
    record = tmp_path / "deeds.json"
    monkeypatch.setattr(deeds_bench, "warm_up", lambda: None)
    monkeypatch.setattr(deeds_bench, "run_trial", lambda trial: ("", trial.episode))
    for attempts in (2, 3):
        result = run(["pick_cube"], robot="fr3", attempts=attempts, seed=5, processes=1, record=record)
        assert result.rows[-1]["failures"].endswith(f"; {attempts - 1} attempts in another layout")
    assert json.loads(record.read_text())["redrawn"] == {"pick_cube fr3": {"1": 1, "2": 2}}
