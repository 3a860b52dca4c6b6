"""Searches on a card: the processor's verdicts and the processor's paths, for many robots and worlds in one launch."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from handloom.bench.motion.planning_problems import arm_setup, planning_problems
from handloom.motion.collision import CollisionWorld, SphereChecker
from handloom.motion.planning.cuda.card_search import JOB, CardSearch, card_search
from handloom.motion.planning.cuda.problem_tables import checked_tables, tables_of, view_of, world_rows
from handloom.render.cuda.find_card import find_cards
from handloom.spatial import make_pose, matrix_from_rotvec, translation

sys.path.insert(0, str(Path(__file__).parent))
from plan_lanes import COMPILER, launch

lanes = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(params=[pytest.param("threads", marks=lanes), pytest.param("card", marks=pytest.mark.gpu)])
def search(request):
    """Return what runs the card's kernels."""
    if request.param == "card" and not find_cards().names:
        pytest.skip(find_cards().reason)
    return card_search() if request.param == "card" else CardSearch(np, launch)


@cache
def problems():
    """Two robots in different worlds."""
    return (*planning_problems(arm_setup("fr3"), 4, seed=123), *planning_problems(arm_setup("so101"), 2, seed=5))


def tables(robots, worlds):
    views, which = [], []
    for robot in robots:
        known = [k for k, (other, _) in enumerate(views) if other is robot]
        which.append(known[0] if known else len(views))
        if not known:
            views.append((robot, view_of(robot)))
    rows, numbers = world_rows(worlds), np.array(which)
    checked = checked_tables([view for _, view in views], numbers, rows)
    return rows, checked, tables_of([view for _, view in views], numbers, rows, checked)


def loaded(search, given):
    _, _, packed = tables([p.planner.robot for p in given], [list(p.planner.world) for p in given])
    return search.load(packed, [p.start for p in given], [p.goal[None] for p in given])


def jobs_of(count, **changes):
    jobs = np.zeros(count, JOB)
    jobs["problem"] = np.arange(count)
    settings = {"iterations": 200, "shortcuts": 20, "step": 2.0, "padding": 0.005, "per_unit": 32.0, "weight": 1}
    for name, value in (settings | changes).items():
        jobs[name] = value
    return jobs


def every_solid():
    """A world with each kind of obstacle around the arm."""
    world, rng = CollisionWorld(), np.random.default_rng(3)

    def anywhere():
        return make_pose(matrix_from_rotvec(rng.uniform(-2, 2, 3)), rng.uniform([0.2, -0.6, 0.1], [0.8, 0.6, 0.9]))

    world.add_box("box", (0.2, 0.1, 0.3), anywhere())
    world.add_sphere("ball", 0.1, (0.5, 0.4, 0.6))
    world.add_capsule("capsule", 0.04, 0.3, anywhere())
    world.add_cylinder("can", 0.06, 0.2, anywhere())
    world.add_plane("floor", translation([0, 0, -0.05]))
    world.add_convex("hull", rng.normal(size=(30, 3)) * 0.08, anywhere())
    world.add_height_field("ground", rng.uniform(0, 0.1, (6, 8)), (0.8, 0.6), translation([0.7, 0.0, 0.0]))
    world.add_box("off", (0.5, 0.5, 0.5), anywhere())
    world.enable("off", False)
    return world


def test_tables_of_a_batch_are_those_of_each_problem():
    given = problems()
    worlds = [*(list(p.planner.world) for p in given), list(every_solid())]
    robots = [*(p.planner.robot for p in given), given[0].planner.robot]
    rows, checked, packed = tables(robots, worlds)
    for p, (robot, world) in enumerate(zip(robots, worlds, strict=True)):
        one = SphereChecker(robot, world, padding=0.0).world
        a, b = rows.begin[p : p + 2]
        np.testing.assert_array_equal(rows.row[a:b], one.row)
        np.testing.assert_array_equal(rows.kind[a:b], one.kind)
        np.testing.assert_array_equal(checked.table(p), one.checked)
        begin = packed.problems["item"][p]
        items = packed.arrays[-1][begin : begin + packed.problems["items"][p]]
        table = np.zeros_like(one.checked)
        groups, columns, obstacles = items[:, 0] & 0xFF, items[:, 0] >> 8 & 0xF, items[:, 0] >> 12
        table[groups, obstacles] = columns
        np.testing.assert_array_equal(table, one.checked)
        radii = SphereChecker(robot, world, padding=0.0).robot.group[groups, columns]
        np.testing.assert_array_equal(np.ascontiguousarray(items[:, 1]).view(np.float32), radii)
        faces = rows.face[rows.face_begin[p] :][: len(one.face)]
        np.testing.assert_array_equal(faces, one.face)


def test_a_card_calls_the_very_configurations_free_that_the_processor_does(search):
    given, world = problems(), list(every_solid())
    robots = [given[0].planner.robot, given[4].planner.robot, given[0].planner.robot]
    worlds = [list(given[0].planner.world), list(given[4].planner.world), world]
    _, _, packed = tables(robots, worlds)
    batch = search.load(packed, [given[k].start for k in (0, 4, 0)], [given[k].goal[None] for k in (0, 4, 0)])
    count = 1024
    for p, robot in enumerate(robots):
        lower, upper = robot.tree.sampling_box
        q = lower + (upper - lower) * np.random.default_rng(p).random((count, robot.tree.dof))
        for padding in (0.0, 0.005):
            ours = batch.touched(np.full(count // 32, p), q, padding)
            theirs = ~SphereChecker(robot, worlds[p], padding=0.0).with_more_padding(padding).configurations_free(q)
            assert 0.02 < theirs.mean() < 0.98
            np.testing.assert_array_equal(ours, theirs)


def test_a_card_finds_the_paths_that_the_processor_finds(search):
    given = problems()
    paths, found = loaded(search, given).run(jobs_of(len(given)), 20000)
    assert sum(path is not None for path in paths) >= 4
    for problem, path, row in zip(given, paths, found, strict=True):
        expected = problem.planner.plan_to_joints(problem.start, problem.goal)
        if path is None:
            assert row["iterations"] == 200
            assert expected.iterations > 200
            continue
        assert path.iterations == expected.iterations
        assert path.waypoints.shape == expected.path.shape
        np.testing.assert_allclose(path.waypoints, expected.path, atol=2e-4)


def test_the_same_jobs_give_the_same_bits_in_any_company(search):
    given = problems()
    batch = loaded(search, given)
    (whole, _), (again, _) = (batch.run(jobs_of(len(given)), 20000) for _ in range(2))
    alone, _ = loaded(search, given[2:5]).run(jobs_of(3), 20000)
    for a, b in [*zip(whole, again, strict=True), *zip(whole[2:5], alone, strict=True)]:
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            np.testing.assert_array_equal(a.waypoints, b.waypoints)


def test_of_several_searches_of_a_problem_the_one_that_takes_the_least_is_the_same_in_any_order(search):
    given = problems()[1:2]
    jobs = jobs_of(4, weight=1)
    jobs["problem"], jobs["seed"], jobs["step"] = 0, (0, 101, 202, 303), (2.0, 1.0, 2.0, 0.5)
    paths, _ = loaded(search, given).run(jobs, 20000)
    alone = [loaded(search, given).run(jobs[k : k + 1], 20000)[0][0] for k in range(4)]
    least = min(path.iterations for path in alone if path is not None)
    winners = [k for k, path in enumerate(alone) if path is not None and path.iterations == least]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        paths, _ = loaded(search, given).run(jobs[order], 20000)
        taken = [path.iterations for path in paths if path is not None]
        assert min(taken) == least
        for k in winners:
            np.testing.assert_array_equal(paths[order.index(k)].waypoints, alone[k].waypoints)


def test_ends_without_room_are_told_apart(search):
    given = problems()[:1]
    robot, worlds = given[0].planner.robot, [list(given[0].planner.world)]
    lower, upper = robot.tree.sampling_box
    q = lower + (upper - lower) * np.random.default_rng(0).random((500, robot.tree.dof))
    hit = q[~SphereChecker(robot, worlds[0], padding=0.005).configurations_free(q)][0]
    _, _, packed = tables([robot], worlds)
    for start, goals, bits in (
        (hit, given[0].goal[None], 1 | 2),
        (given[0].start, np.stack([given[0].goal, hit]), 1 | 8),
    ):
        paths, found = search.load(packed, [start], [goals]).run(jobs_of(1), 20000)
        assert paths == [None]
        assert found["blocked"].tolist() == [bits]
