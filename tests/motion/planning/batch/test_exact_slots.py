"""Exact checks in slots: the same contacts as a model compiled for the scene."""

import numpy as np

from handloom.bench.motion.planning_problems import arm_setup, planning_problems
from handloom.motion.collision import CollisionWorld, ExactChecker
from handloom.motion.planning.batch.exact_slots import ExactSlots, SlotKinds, placed
from handloom.spatial import make_pose, matrix_from_rotvec, translation


def put(slots, kinds, world):
    shown = [o for o in world if o.enabled]
    T = np.stack([o.T_world_obstacle for o in shown])
    size = np.array([o.shape.size for o in shown])
    where = placed(T, np.array([int(o.shape.kind) for o in shown]), size)
    needed = [kinds.of(o) for o in shown]
    return slots.put(needed, where, dict(zip(needed, shown, strict=True)))


def random_world(seed):
    world, rng = CollisionWorld(), np.random.default_rng(seed)
    for k in range(int(rng.integers(1, 4))):
        T = make_pose(matrix_from_rotvec(rng.uniform(-2, 2, 3)), rng.uniform([0.2, -0.6, 0.1], [0.8, 0.6, 0.9]))
        world.add_box(f"box {k}", rng.uniform(0.05, 0.4, 3), T)
        world.add_cylinder(f"can {k}", rng.uniform(0.02, 0.2), rng.uniform(0.1, 0.5), T @ translation([0, 0.3, 0]))
        world.add_capsule(f"bar {k}", rng.uniform(0.02, 0.1), rng.uniform(0.1, 0.5), T @ translation([0.2, 0, 0]))
        world.add_sphere(f"ball {k}", rng.uniform(0.02, 0.2), T[:3, 3] + 0.3)
    world.add_plane("floor", translation([0, 0, -0.02 * seed]))
    if seed % 2:
        world.add_convex(
            "hull", np.random.default_rng(1).normal(size=(20, 3)) * 0.1, translation([0.5, 0.1 * seed, 0.3])
        )
    return world


def test_contacts_are_those_of_a_model_made_for_the_scene():
    robot = planning_problems(arm_setup("fr3"), 1, seed=1)[0].planner.robot
    slots, kinds = ExactSlots(robot), SlotKinds(robot)
    lower, upper = robot.tree.sampling_box
    touching = 0
    for seed in range(8):
        world = list(random_world(seed % 5))
        checker, reference = put(slots, kinds, world), ExactChecker(robot.tree, robot.parts, world, robot.ignored)
        for q in lower + (upper - lower) * np.random.default_rng(seed).random((60, robot.tree.dof)):
            expected = reference.touches(q, within=0.02)
            found = checker.touches(q, within=0.02)
            assert sorted(t.part for t in found) == sorted(t.part for t in expected)
            np.testing.assert_allclose([t.distance for t in found], [t.distance for t in expected], atol=1e-7)
            assert checker.is_free(q) == reference.is_free(q)
            touching += bool(expected)
    assert touching > 100
    assert slots.compiled < 8


def test_scenes_that_fit_compile_nothing():
    given = planning_problems(arm_setup("fr3"), 6, seed=4)
    robot = given[0].planner.robot
    slots, kinds = ExactSlots(robot), SlotKinds(robot)
    for _ in range(2):
        for problem in given:
            put(slots, kinds, problem.planner.world)
    before = slots.compiled
    for problem in given:
        put(slots, kinds, problem.planner.world)
    assert slots.compiled == before <= 3


def test_what_a_body_may_touch_stays_allowed():
    planner = planning_problems(arm_setup("fr3"), 1, seed=4)[0].planner
    planner.let_touch(("fr3_leftfinger", "fr3_rightfinger", "fr3_hand"), "thing 0")
    robot, world = planner.robot, list(planner.world)
    checker = put(ExactSlots(robot), SlotKinds(robot), world)
    reference = ExactChecker(robot.tree, robot.parts, world, robot.ignored)
    lower, upper = robot.tree.sampling_box
    for q in lower + (upper - lower) * np.random.default_rng(0).random((200, robot.tree.dof)):
        assert checker.is_free(q) == reference.is_free(q)
