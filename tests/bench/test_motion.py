"""The motion benchmarks run and report what they promise; the figures themselves are no test."""

import sys
from pathlib import Path

import numpy as np
import pytest

from handloom.bench.motion import collision, ik, plan, plan_card, trajectory
from handloom.bench.motion.planning_problems import KINDS, arm_setup, planning_problems
from handloom.errors import InputError
from handloom.motion.planning import BatchPlanner
from handloom.motion.planning.batch.card_batch import CardBatch
from handloom.motion.planning.cuda.card_search import CardSearch

sys.path.insert(0, str(Path(__file__).parents[1] / "motion" / "planning" / "cuda"))
from plan_lanes import COMPILER, launch


def test_inverse_kinematics_is_measured_beside_mink():
    result = ik.run(targets=100, peer_targets=2, robots=("fr3",))
    names = [row["name"] for row in result.rows]
    assert names == ["handloom fr3, 1 thread", "handloom fr3, all cores", "mink fr3, daqp"]
    assert result.rows[0]["solved_percent"] == 100.0
    assert result.rows[0]["times_mink"] > 0


def test_collision_checks_miss_nothing():
    result = collision.run(configurations=400, exact=100)
    assert result.rows[0]["missed_percent"] == 0.0
    assert "configurations_per_s" in result.rows[-1]


@pytest.mark.slow
def test_planning_reports_each_kind_and_verifies_every_path(monkeypatch):
    monkeypatch.delenv(plan.PROBLEMS_VARIABLE, raising=False)
    result = plan.run(problems=3)
    assert [row["name"] for row in result.rows] == [*(f"handloom fr3 {kind}" for kind in KINDS), "handloom fr3 all"]
    assert all(row["exact_free_percent"] == 100.0 for row in result.rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "robot",
    [
        "fr3",
        "franka_robotiq85",
        pytest.param("lift2", marks=pytest.mark.xfail(reason="solves 190 of 193: arms folded behind a shelf or cage")),
        "split_aloha",
        "genie1",
        "so101",
    ],
)
def test_every_arm_solves_its_feasible_problems_with_free_paths(robot, monkeypatch):
    monkeypatch.delenv(plan.PROBLEMS_VARIABLE, raising=False)
    row = plan.run(problems=200, names=(robot,)).rows[-1]
    assert row["problems"] == 200
    assert row["feasible"] >= 190
    assert row["solved_percent"] >= 99.0
    assert row["exact_free_percent"] == 100.0


@pytest.mark.slow
def test_timing_is_measured_beside_ruckig():
    result = trajectory.run(paths=3)
    assert "ruckig along each straight part" in [row["name"] for row in result.rows]
    assert all(row["velocity_violation_percent"] < 1.0 for row in result.rows)


@pytest.mark.slow
def test_problems_repeat_for_a_seed():
    setup = arm_setup("fr3")
    one, two = planning_problems(setup, 3, seed=4), planning_problems(setup, 3, seed=4)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.goal, b.goal)


def test_settings_of_batches_on_a_gpu_are_compared_in_all_combinations():
    assert plan_card._choices(()) == [{}]
    assert plan_card._choices(("parts=4,8", "workers=2")) == [
        {"parts": 4, "workers": 2},
        {"parts": 8, "workers": 2},
    ]
    for wrong in ("part=4", "parts=", "parts=4,x", "parts"):
        with pytest.raises(InputError, match=r"--set parts=N,N,\.\.\. or workers=N"):
            plan_card._choices((wrong,))
    with pytest.raises(InputError, match="only with --device cuda"):
        plan.run(overrides=("parts=4",))


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_a_batch_on_a_card_is_compared_with_all_cores_over_the_same_problems():
    with BatchPlanner(workers=2) as batch:
        batch._card = CardBatch(CardSearch(np, launch), workers=2)
        reference, row = plan_card.run(problems=3, planner=batch).rows
    assert reference["problems"] == row["problems"] == 3
    assert reference["exact_free_percent"] == row["exact_free_percent"] == 100.0
    names = ("solved_by_both", "solved_by_card_only", "solved_by_processor_only", "solved_by_neither")
    assert sum(row[name] for name in names) == 3
    assert row["same_bits_again"]
    assert row["times_processor"] == pytest.approx(row["problems_per_s"] / reference["problems_per_s"])
    assert {f"{stage}_ms" for stage in ("pack", "upload", "search", "take", "verify", "left")} <= set(row)
