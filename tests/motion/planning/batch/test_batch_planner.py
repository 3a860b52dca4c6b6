"""Many problems in one call: the results of planning them one by one, wherever they are planned."""

import sys
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from handloom.bench.motion.planning_problems import arm_setup, is_free, planning_problems
from handloom.errors import MissingExtraError, NotFoundError
from handloom.motion.planning import ArmPlanner, BatchPlanner, PlannerOptions, PlanProblem, PlanStatus
from handloom.motion.planning.batch import card_batch
from handloom.motion.planning.batch.card_batch import CardBatch
from handloom.motion.planning.batch.processor_plans import ProcessorPlans
from handloom.motion.planning.cuda.card_search import CardSearch, card_search
from handloom.render.cuda.find_card import find_cards

sys.path.insert(0, str(Path(__file__).parents[1] / "cuda"))
from plan_lanes import COMPILER, launch

lanes = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(params=["cpu", pytest.param("threads", marks=lanes), pytest.param("card", marks=pytest.mark.gpu)])
def batch(request):
    """Return a planner of batches on the processor, on what stands in for a card, or on a card."""
    if request.param == "card" and not find_cards().names:
        pytest.skip(find_cards().reason)
    planner = BatchPlanner(workers=1)
    if request.param != "cpu":
        search = card_search() if request.param == "card" else CardSearch(np, launch)
        planner._card = CardBatch(search, workers=1)
    with planner:
        yield planner


def as_problem(given, **changes):
    return PlanProblem(**{"planner": given.planner, "q_start": given.start, "q_goal": given.goal} | changes)


def a_touching_configuration(planner):
    lower, upper = planner.robot.tree.sampling_box
    planner.scene.refresh()
    for q in lower + (upper - lower) * np.random.default_rng(1).random((500, planner.robot.tree.dof)):
        touches = planner.scene.exact.touches(q)
        if touches and touches[0].depth > 0.02:
            return q
    raise AssertionError("nothing touches")


def test_results_are_those_of_planning_one_by_one(batch):
    arm, other = planning_problems(arm_setup("fr3"), 4, seed=123), planning_problems(arm_setup("so101"), 2, seed=5)
    touching, roomy = a_touching_configuration(arm[0].planner), arm[0]
    outside = arm[1].goal.copy()
    outside[0] = 9.0
    given = [
        *(as_problem(one) for one in (*arm[:2], arm[3], *other)),
        as_problem(roomy, q_start=touching),
        as_problem(roomy, q_goal=touching),
        as_problem(arm[1], q_goal=outside),
        as_problem(arm[1], q_start=np.full(7, np.nan)),
        as_problem(arm[1], q_goal=arm[1].start),
        as_problem(arm[1], q_goal=np.stack([touching, arm[1].goal])),
    ]
    results = batch.plan(given)
    expected = [problem.plan() for problem in given]
    assert [result.status for result in results] == [result.status for result in expected]
    assert {result.status for result in results} == {
        PlanStatus.SUCCESS,
        PlanStatus.START_IN_COLLISION,
        PlanStatus.GOAL_IN_COLLISION,
        PlanStatus.GOAL_OUT_OF_LIMITS,
        PlanStatus.INVALID_REQUEST,
    }
    for problem, ours, theirs in zip(given, results, expected, strict=True):
        assert (ours.reason, ours.goal, ours.iterations) == (theirs.reason, theirs.goal, theirs.iterations)
        if ours.ok:
            np.testing.assert_allclose(ours.path, theirs.path, atol=2e-4)
            np.testing.assert_array_equal(ours.path[[0, -1]], theirs.path[[0, -1]])
            assert is_free(problem.planner, ours.path)
    assert batch.counts.given == len(given)


@lanes
def test_the_card_settles_what_has_room_and_counts_what_it_leaves():
    given = planning_problems(arm_setup("fr3"), 4, seed=123)
    touching = a_touching_configuration(given[0].planner)
    with BatchPlanner(workers=1) as batch:
        batch._card = CardBatch(CardSearch(np, launch), workers=1)
        results = batch.plan([as_problem(given[0]), as_problem(given[3]), as_problem(given[1], q_goal=touching)])
        assert (batch.counts.card, batch.counts.processor_ends, batch.counts.refused) == (2, 1, 0)
    assert [result.notes for result in results] == [(), (), ("planned on the processor",)]


@lanes
def test_paths_that_verification_refuses_are_searched_again_with_more_padding(monkeypatch):
    given = planning_problems(arm_setup("fr3"), 1, seed=123)[0]
    with BatchPlanner(workers=1) as batch:
        batch._card = card = CardBatch(CardSearch(np, launch), workers=1)
        judge, refused = card._judges.submit, []

        def refuse_twice(robot, paths):
            tasks = judge(robot, paths)
            if paths and len(refused) < 2:
                refused.append(paths[0].waypoints)
                tasks[0].result = [False]
            return tasks

        monkeypatch.setattr(card._judges, "submit", refuse_twice)
        (result,) = batch.plan([as_problem(given)])
    assert result.ok
    assert (batch.counts.card, batch.counts.refused) == (1, 2)
    assert not np.array_equal(refused[0], refused[1]) or not np.array_equal(refused[1], result.path)


@lanes
def test_a_path_through_a_wall_that_spheres_do_not_see_is_never_returned():
    given = planning_problems(arm_setup("fr3"), 1, seed=123)[0]

    def straight_through(build, name, blocks, *arguments):
        launch(build, name, blocks, *arguments)
        if name == "plan_all":
            found, paths = arguments[-2], arguments[-1]
            found[:, 0] = 2
            found[:, 2] = 0
            paths[:, 0, :7], paths[:, 1, :7] = given.start, given.goal

    with BatchPlanner(workers=1) as batch:
        batch._card = CardBatch(CardSearch(np, straight_through), workers=1)
        (result,) = batch.plan([as_problem(given)])
    assert not is_free(given.planner, np.stack([given.start, given.goal]))
    assert batch.counts.processor_verify == 1
    assert result.ok
    assert is_free(given.planner, result.path)


@lanes
def test_what_one_search_does_not_find_several_find_with_fewer_samples():
    given = planning_problems(arm_setup("fr3"), 3, seed=123)[2]
    few = PlannerOptions(iterations=1600)
    old = given.planner
    planner = ArmPlanner(old.model, old.chains, data=old.data, world=old.world, robot=old.robot, options=few)
    with BatchPlanner(workers=1) as batch:
        batch._card = CardBatch(CardSearch(np, launch), workers=1)
        (first,), counts = batch.plan([as_problem(given, planner=planner)]), batch.counts
        (again,) = batch.plan([as_problem(given, planner=planner)])
    assert counts.card == 1
    assert first.ok
    assert first.iterations > 200
    assert is_free(planner, first.path)
    np.testing.assert_array_equal(first.path, again.path)


def test_no_path_is_told_as_the_processor_tells_it(batch):
    given = planning_problems(arm_setup("fr3"), 3, seed=123)[2]
    few = PlannerOptions(iterations=10)
    old = given.planner
    planner = ArmPlanner(old.model, old.chains, data=old.data, world=old.world, robot=old.robot, options=few)
    (result,) = batch.plan([as_problem(given, planner=planner)])
    expected = planner.plan_to_joints(given.start, given.goal)
    assert result.status is expected.status is PlanStatus.NO_PATH
    assert result.reason == expected.reason


def test_processes_verify_as_this_one_does():
    pytest.importorskip("multiprocessing.shared_memory")
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    given = planning_problems(arm_setup("fr3"), 2, seed=123)
    with BatchPlanner(workers=1) as batch:
        batch._card = CardBatch(CardSearch(np, launch), workers=2)
        results = batch.plan([as_problem(one) for one in given])
        assert batch.counts.card == 2
    assert all(result.ok for result in results)


def test_a_device_that_does_not_exist_is_named_and_without_cupy_it_is_said(monkeypatch):
    with pytest.raises(NotFoundError, match=r"no device named 'cude'.*cuda"):
        BatchPlanner("cude")
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"handloom\[gpu\]"):
        BatchPlanner("cuda")


@lanes
@pytest.mark.parametrize("workers", [1, 2])
def test_what_no_search_on_the_card_finds_is_planned_as_the_processor_does_to_the_bit(workers):
    given = planning_problems(arm_setup("fr3"), 9, seed=123)
    problems = []
    for k, iterations in ((2, 160), (5, 40), (2, 20), (0, 8000)):
        old, few = given[k].planner, PlannerOptions(iterations=iterations)
        planner = ArmPlanner(old.model, old.chains, data=old.data, world=old.world, robot=old.robot, options=few)
        problems.append(as_problem(given[k], planner=planner))
    with BatchPlanner(workers=1) as batch:
        batch._card = CardBatch(CardSearch(np, launch), workers=workers)
        for _ in range(2):
            results = batch.plan(problems)
            assert (batch.counts.card, batch.counts.processor_search) == (1, 3)
            for result, problem in zip(results[:3], problems, strict=False):
                expected = problem.plan()
                assert result.notes == (*expected.notes, "planned on the processor")
                assert (result.status, result.reason) == (expected.status, expected.reason)
                assert (result.goal, result.iterations) == (expected.goal, expected.iterations)
                np.testing.assert_array_equal(result.path, expected.path)
    assert [result.ok for result in results] == [True, True, False, True]


@lanes
def test_the_longest_round_begins_when_the_first_search_fails_and_is_forgotten_when_the_next_ones_succeed(monkeypatch):
    given = planning_problems(arm_setup("fr3"), 9, seed=123)
    problems = []
    for k, iterations in ((8, 160), (2, 20)):
        old, few = given[k].planner, PlannerOptions(iterations=iterations)
        planner = ArmPlanner(old.model, old.chains, data=old.data, world=old.world, robot=old.robot, options=few)
        problems.append(as_problem(given[k], planner=planner))
    asked, launches = [], []

    def counted(build, name, blocks, *arguments):
        launches.append(len(asked))
        launch(build, name, blocks, *arguments)

    with BatchPlanner(workers=1) as batch:
        batch._card = card = CardBatch(CardSearch(np, counted), workers=2)
        run_rounds = card._judges.run_rounds

        def remember(robot, some, *, urgent):
            tasks = run_rounds(robot, some, urgent=urgent)
            asked.extend((one.problem, number, task) for one, (number, task) in zip(some, tasks.items(), strict=True))
            return tasks

        monkeypatch.setattr(card._judges, "run_rounds", remember)
        results = batch.plan(problems)
    assert [result.ok for result in results] == [True, False]
    # Nothing before the first launch and between the two; both problems have begun before the second is waited for.
    assert launches == [0, 2]
    assert [(number, task.cancelled) for _, number, task in asked[:2]] == [(5, True), (5, True)]
    rounds = {p: sorted(number for q, number, _ in asked if q == p) for p, _, _ in asked}
    assert sorted(rounds.values()) == [[0, 1, 2, 3, 4, 5], [5]]


@lanes
def test_the_parts_of_a_batch_do_not_decide_its_results(monkeypatch):
    given = [as_problem(one) for one in planning_problems(arm_setup("fr3"), 6, seed=123)]
    monkeypatch.setattr(card_batch, "SMALLEST_PART", 1)
    found = []
    for parts in (1, 4):
        with BatchPlanner(workers=1) as batch:
            batch._card = card = CardBatch(CardSearch(np, launch), workers=1, parts=parts)
            around = [one.planner.look_around() for one in given]
            sizes = [[len(around[k]) for k in some] for some in card._split(around)]
            assert len(sizes) == parts
            assert [size for some in sizes for size in some] == sorted(map(len, around), reverse=True)
            found.append(batch.plan(given))
            assert {"pack", "upload", "search", "take", "verify", "left"} == set(batch.timings)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.path, other.path)


def test_problems_that_share_a_planner_are_planned_one_after_the_other():
    class Planner:
        def __init__(self):
            self.busy = self.most = 0

    class Problem:
        def __init__(self, planner, both):
            self.planner, self.both = planner, both

        def plan(self):
            self.planner.busy += 1
            self.planner.most = max(self.planner.most, self.planner.busy)
            if self.both is not None:
                # Two planners work at the same time, or this ends in an error.
                self.both.wait(timeout=20.0)
            self.planner.busy -= 1
            return id(self.planner)

    first, second, both = Planner(), Planner(), Barrier(2)
    problems = [Problem(first, both), Problem(first, None), Problem(second, both), Problem(first, None)]
    with ProcessorPlans(problems, 3) as plans:
        for k in (0, 2, 1, 3):
            plans.begin(k)
        results = plans.results()
    assert results == {k: id(problem.planner) for k, problem in enumerate(problems)}
    assert first.most == second.most == 1
