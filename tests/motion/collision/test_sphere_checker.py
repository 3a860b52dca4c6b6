"""The lane kernels against plain NumPy, and against MuJoCo's exact answer."""

from functools import cache

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.motion.collision import ExactChecker, Shape, SphereChecker
from handloom.motion.collision.collision_arrays import PADDED, supporting_planes
from handloom.motion.collision.lane_kernels import configurations_free
from handloom.motion.collision.shape import ShapeKind
from handloom.motion.collision.sphere_group import GUARD

KINDS = ("box", "sphere", "capsule", "cylinder", "plane", "convex", "height field")


@cache
def planes_of(shape: Shape) -> np.ndarray:
    return supporting_planes(shape)


def numpy_distance(obstacle, points: np.ndarray) -> np.ndarray:
    """Distance of points (n, 3) to an obstacle as the kernels define it."""
    R, t = obstacle.T_world_obstacle[:3, :3], obstacle.T_world_obstacle[:3, 3]
    local, shape = (points - t) @ R, obstacle.shape
    x, y, _ = shape.size
    if shape.kind == ShapeKind.BOX:
        return np.linalg.norm(np.maximum(np.abs(local) - np.array(shape.size), 0.0), axis=1)
    if shape.kind == ShapeKind.SPHERE:
        return np.linalg.norm(local, axis=1) - x
    if shape.kind == ShapeKind.CAPSULE:
        axis = np.zeros_like(local)
        axis[:, 2] = np.clip(local[:, 2], -y, y)
        return np.linalg.norm(local - axis, axis=1) - x
    if shape.kind == ShapeKind.CYLINDER:
        side = np.maximum(np.hypot(local[:, 0], local[:, 1]) - x, 0.0)
        return np.hypot(side, np.maximum(np.abs(local[:, 2]) - y, 0.0))
    if shape.kind == ShapeKind.PLANE:
        return local[:, 2]
    planes = planes_of(shape)
    far = np.linalg.norm(local, axis=1) - shape.bounding_radius
    return np.maximum((local @ planes[:, :3].T - planes[:, 3]).max(axis=1), far)


def numpy_free(checker: SphereChecker, robot, world, q: np.ndarray) -> bool:
    """The whole check for one configuration, without a margin for rounding."""
    T = robot.tree.T_root_links(q)
    placed = [g.centre @ T[g.link, :3, :3].T + T[g.link, :3, 3] for g in robot.groups]
    checked, gap = robot.checked(list(world)), np.inf
    for i, group in enumerate(robot.groups):
        for j, obstacle in enumerate(world):
            if checked[i, j]:
                padding = 0.0 if obstacle.body == "link0" else 0.005
                gap = min(gap, (numpy_distance(obstacle, placed[i]) - group.radius - padding).min())
    for a, b in checker.robot.pair:
        apart = np.linalg.norm(placed[a][:, None] - placed[b], axis=2)
        gap = min(gap, (apart - robot.groups[a].radius[:, None] - robot.groups[b].radius).min())
    return gap


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "height field"])
def test_configurations_agree_with_numpy(kind, robot, make_world, configurations):
    world = make_world(kind)
    checker = SphereChecker(robot, world)
    free = checker.configurations_free(configurations[:60])
    gaps = np.array([numpy_free(checker, robot, world, q) for q in configurations[:60]])
    clear = np.abs(gaps) > 3 * GUARD
    np.testing.assert_array_equal(free[clear], gaps[clear] >= 0.0)
    assert 0.05 < free.mean() < 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_what_collides_exactly_is_never_called_free(kind, robot, make_world, configurations):
    world = make_world(kind)
    checker = SphereChecker(robot, world, padding=0.0)
    exact = ExactChecker(robot.tree, robot.parts, list(world), robot.ignored)
    free = checker.configurations_free(configurations)
    truth = np.array([exact.is_free(q) for q in configurations])
    assert not np.any(free & ~truth)
    # What is refused although free is close to something: both bodies of a pair may be a tolerance larger, and a
    # height field counts with the highest corner of its cells.
    closest = max(exact.clearance(q) for q in configurations[truth & ~free])
    assert closest < (0.06 if kind == "height field" else 2 * robot.tolerance)


def test_an_edge_is_free_exactly_when_its_configurations_are(robot, make_world, configurations):
    checker = SphereChecker(robot, make_world("box"), per_unit=20.0)
    start, end = configurations[:100], configurations[100:200]
    free = checker.edges_free(start, end)
    for a, b, answer in zip(start, end, free, strict=True):
        rounds = max(1, int(np.ceil(np.linalg.norm(b - a) * 20.0 / 16)))
        fractions = np.arange(1, 16 * rounds + 1)[:, None] / (16 * rounds)
        assert answer == checker.configurations_free(a + fractions * (b - a)).all()
    assert 0 < free.sum() < 100


def test_answers_do_not_depend_on_the_batch_or_the_threads(robot, make_world, configurations):
    checker = SphereChecker(robot, make_world("capsule"))
    many = np.tile(configurations, (20, 1))
    one = checker.configurations_free(many, threads=1)
    np.testing.assert_array_equal(one, checker.configurations_free(many, threads=3))
    alone = np.array([checker.configurations_free(q)[0] for q in configurations[:50]])
    np.testing.assert_array_equal(one[:50], alone)


def test_more_padding_never_frees_a_configuration(robot, make_world, configurations):
    world = make_world("cylinder")
    tight = SphereChecker(robot, world, padding=0.0).configurations_free(configurations)
    wide = SphereChecker(robot, world, padding=0.03).configurations_free(configurations)
    assert not np.any(wide & ~tight)
    assert wide.sum() < tight.sum()


def test_a_switched_off_obstacle_does_not_count(robot, make_world, configurations):
    world = make_world("box")
    before = SphereChecker(robot, world).configurations_free(configurations)
    world.set_ignored(["box"])
    after = SphereChecker(robot, world).configurations_free(configurations)
    assert after.sum() > before.sum()


def test_obstacles_out_of_reach_of_a_group_are_left_out_without_changing_any_answer(robot, make_world, configurations):
    world = make_world("box", 6)
    checker = SphereChecker(robot, world)
    assert not checker.world.checked.all()
    everything = checker.world._replace(checked=np.full_like(checker.world.checked, PADDED))
    own = [j for j, obstacle in enumerate(world) if obstacle.body == "link0"]
    everything.checked[:, own] = checker.world.checked[:, own]
    free = np.empty(len(configurations), np.bool_)
    configurations_free(configurations, checker.robot, everything, free)
    np.testing.assert_array_equal(checker.configurations_free(configurations), free)


def test_wrong_shapes_are_refused(robot, fixed_parts):
    checker = SphereChecker(robot, fixed_parts)
    with pytest.raises(InputError, match=r"\(m, 7\)"):
        checker.configurations_free(np.zeros((3, 6)))
    with pytest.raises(InputError, match="as many starts as ends"):
        checker.edges_free(np.zeros((3, 7)), np.zeros((2, 7)))
    with pytest.raises(InputError, match=r"padding must be between 0 and 0\.1"):
        SphereChecker(robot, fixed_parts, padding=-1.0)
