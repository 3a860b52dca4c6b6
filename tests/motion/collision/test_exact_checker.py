"""The exact checker against MuJoCo on the original model, and its skipping along paths against brute force."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from handloom.motion.collision import (
    CollisionRobot,
    CollisionWorld,
    ExactChecker,
    Shape,
    ShapeKind,
    SphereChecker,
)
from handloom.motion.collision.exact_checker import place_of_sample, samples_along
from handloom.motion.kinematics import JointTree
from handloom.spatial import make_pose, translation

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


def brute_force_free(exact: ExactChecker, a: np.ndarray, b: np.ndarray, step: float) -> bool:
    count = int(np.ceil(np.abs(b - a).max() / step)) + 1
    return all(exact.is_free(a + f * (b - a)) for f in np.linspace(0, 1, count))


@pytest.fixture(scope="module")
def odd_scene(odd_arm):
    tree = JointTree.from_model(odd_arm, [odd_arm.joint(j).name for j in range(odd_arm.njnt)])
    return tree, CollisionRobot.from_model(odd_arm, tree)


@pytest.mark.parametrize("arm", ["fr3", "odd_arm"])
def test_contacts_are_those_mujoco_finds_on_the_original_model(arm, request):
    model = request.getfixturevalue(arm)
    joints = [model.joint(j).name for j in range(model.njnt) if "finger" not in model.joint(j).name]
    tree = JointTree.from_model(model, joints)
    robot = CollisionRobot.from_model(model, tree)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    fixed = CollisionWorld.from_model(model, data, exclude_bodies=np.flatnonzero(tree.body_link >= 0))
    exact = ExactChecker(tree, robot.parts, list(fixed), robot.ignored)
    rng, seen = np.random.default_rng(2), 0
    for _ in range(150):
        lower, upper = tree.sampling_box
        q = rng.uniform(lower, upper)
        data.qpos[tree.qpos_index] = q
        mujoco.mj_fwdPosition(model, data)
        expected = {}
        for contact in data.contact:
            bodies = [model.body(model.geom_bodyid[g]).name for g in contact.geom]
            pair = frozenset(bodies)
            if pair not in robot.ignored and contact.dist < 0:
                expected[pair] = min(contact.dist, expected.get(pair, 0.0))
        found = {frozenset((t.part, t.other.partition("/")[0])): t.distance for t in exact.touches(q)}
        assert found.keys() == expected.keys()
        for pair, distance in expected.items():
            assert found[pair] == pytest.approx(distance, abs=1e-6)
        seen += len(found)
    assert seen > 5


@pytest.mark.parametrize("kind", ["box", "capsule", "convex", "plane"])
def test_a_path_called_free_is_free_at_every_hundredth_of_a_radian(kind, robot, make_world, configurations):
    exact = ExactChecker(robot.tree, robot.parts, list(make_world(kind, 2)), robot.ignored)
    verdicts = []
    free = [q for q in configurations if exact.is_free(q)]
    for a, b in zip(free[:25], free[25:50], strict=True):
        hit = exact.first_collision(np.stack([a, a + 0.3 * (b - a)]))
        verdicts.append(hit is None)
        assert verdicts[-1] == brute_force_free(exact, a, a + 0.3 * (b - a), 0.01)
    assert any(verdicts)
    assert not all(verdicts)


def test_spheres_that_vouch_for_configurations_do_not_change_the_verdict(robot, make_world, configurations):
    world = make_world("cylinder", 3)
    exact = ExactChecker(robot.tree, robot.parts, list(world), robot.ignored)
    spheres = SphereChecker(robot, world, padding=0.0)
    free = [q for q in configurations if exact.is_free(q)]
    for a, b in zip(free[:30], free[30:60], strict=True):
        path = np.stack([a, a + 0.4 * (b - a)])
        plain, vouched = (
            exact.first_collision(path),
            exact.first_collision(path, surely_free=spheres.configurations_free),
        )
        assert (plain is None) == (vouched is None)
        if plain is not None and vouched is not None:
            assert vouched.touch == plain.touch


def test_samples_along_a_path_are_close_together_and_keep_the_waypoints():
    path = np.array([[0.0, 0.0], [0.1, 0.03], [0.1, 0.03], [-0.2, 0.0]])
    q, counts = samples_along(path, 0.01)
    assert len(q) == counts.sum() + 1
    assert np.abs(np.diff(q, axis=0)).max() <= 0.01 + 1e-12
    places = [place_of_sample(k, counts) for k in range(len(q))]
    for here, (segment, fraction) in zip(q, places, strict=True):
        np.testing.assert_allclose(here, path[segment] + fraction * (path[segment + 1] - path[segment]), atol=1e-15)
    for waypoint in path:
        assert np.abs(q - waypoint).max(axis=1).min() < 1e-15


def test_a_collision_is_reported_with_its_place_pair_and_depth(robot, fixed_parts):
    fixed_parts.add_box("wall", (0.02, 1.0, 1.0), translation([0.45, 0.0, 0.5]))
    exact = ExactChecker(robot.tree, robot.parts, list(fixed_parts), robot.ignored)
    goal = HOME + np.array([0, 0.9, 0, 0.6, 0, 0, 0])
    hit = exact.first_collision(np.stack([HOME - np.array([0, 0.4, 0, 0.4, 0, 0, 0]), goal]))
    assert hit is not None
    assert hit.touch.other == "wall"
    assert 0.0 < hit.touch.depth < 0.05
    assert hit.segment == 0
    assert 0.0 < hit.fraction < 1.0
    assert "overlaps wall by" in str(hit.touch)


def test_tolerated_contacts_are_tolerated_only_as_deep_as_allowed(robot, fixed_parts):
    fixed_parts.add_sphere("ball", 0.05, robot.tree.T_root_links(HOME)[6][:3, 3] + np.array([0.0, 0.0, -0.15]))
    exact = ExactChecker(robot.tree, robot.parts, list(fixed_parts), robot.ignored)
    touches = exact.touches(HOME)
    assert touches
    allowed = {frozenset((t.part, t.other)): t.depth + 1e-6 for t in touches}
    assert exact.first_collision(HOME[None]) is not None
    assert exact.first_collision(HOME[None], allowed=allowed) is None
    smaller = {pair: 0.5 * depth for pair, depth in allowed.items()}
    assert exact.first_collision(HOME[None], allowed=smaller) is not None


def test_distances_are_measured_up_to_the_horizon(robot, fixed_parts):
    tool = robot.tree.T_root_links(HOME)[6][:3, 3]
    fixed_parts.add_sphere("ball", 0.02, tool + np.array([0.0, 0.3, 0.0]))
    exact = ExactChecker(robot.tree, robot.parts, list(fixed_parts), robot.ignored)
    far = exact.clearance(HOME)
    fixed_parts.move("ball", translation(tool + np.array([0.0, 0.1, 0.0])))
    exact.place(fixed_parts)
    assert exact.clearance(HOME) < far
    fixed_parts.enable("ball", False)
    exact.place(fixed_parts)
    assert exact.clearance(HOME) == far


def test_an_attached_object_collides_and_lets_go(robot, fixed_parts):
    fixed_parts.add_box("shelf", (0.6, 0.6, 0.02), translation([0.45, 0.0, 0.25]))
    stick = Shape(kind=ShapeKind.CAPSULE, size=(0.01, 0.15, 0.0))
    holding = robot.attach(
        "stick", stick, "hand", make_pose(np.eye(3), [0, 0, 0.2]), may_touch=["leftfinger", "rightfinger"]
    )
    plain = ExactChecker(robot.tree, robot.parts, list(fixed_parts), robot.ignored)
    exact = ExactChecker(holding.tree, holding.parts, list(fixed_parts), holding.ignored)
    assert plain.is_free(HOME)
    assert [t.part for t in exact.touches(HOME)] == ["stick"]
    assert holding.detach("stick").bodies == robot.bodies


def test_an_object_left_behind_touches_nothing_until_it_counts_again(robot, fixed_parts):
    fixed_parts.add_box("shelf", (0.6, 0.6, 0.02), translation([0.45, 0.0, 0.25]))
    stick = Shape(kind=ShapeKind.CAPSULE, size=(0.01, 0.15, 0.0))
    holding = robot.attach("stick", stick, "hand", make_pose(np.eye(3), [0, 0, 0.2]))
    exact = ExactChecker(holding.tree, holding.parts, list(fixed_parts), holding.ignored)
    assert "stick" in [touch.part for touch in exact.touches(HOME)]
    exact.leave_behind(["stick"])
    assert "stick" not in [touch.part for touch in exact.touches(HOME)]
    exact.place(fixed_parts)
    assert "stick" not in [touch.part for touch in exact.touches(HOME)]
    exact.leave_behind(())
    assert "stick" in [touch.part for touch in exact.touches(HOME)]


def test_neighbours_and_bodies_that_always_overlap_may_touch(robot, odd_scene):
    assert frozenset(("link1", "link2")) in robot.ignored
    assert frozenset(("link0", "link1")) in robot.ignored
    assert frozenset(("hand", "leftfinger")) in robot.ignored
    assert frozenset(("link0", "hand")) not in robot.ignored
    assert frozenset(("a", "b")) in odd_scene[1].ignored


def test_a_joint_may_turn_inside_what_its_holder_is_welded_to():
    # A torso that a joint moves carries a fixed frame, and the shoulder turns in that frame, inside the torso.
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="base"><geom size="0.05"/>
        <body name="robot/torso" pos="0 0 0.5"><joint name="waist" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.1"/>
        <body name="robot/frame"><body name="robot/shoulder" pos="0.1 0 0">
        <joint name="shoulder" axis="1 0 0"/><geom type="capsule" size="0.05" fromto="-0.05 0 0 0.1 0 0"/>
        <body name="robot/upper" pos="0.1 0 0"><joint name="elbow" axis="0 1 0"/><geom size="0.04"/>
        </body></body></body></body></body></worldbody></mujoco>"""
    )
    robot = CollisionRobot.from_model(model, JointTree.from_model(model, ["shoulder", "elbow"]))
    assert frozenset(("robot/shoulder", "robot/torso")) in robot.ignored
    assert frozenset(("robot/upper", "robot/torso")) not in robot.ignored


def test_what_was_free_is_not_remembered_when_an_obstacle_has_moved_in(robot, fixed_parts):
    fixed_parts.add_box("wall", (0.1, 0.1, 0.1), translation([0.0, 0.0, 9.0]))
    exact = ExactChecker(robot.tree, robot.parts, list(fixed_parts), robot.ignored)
    assert exact.is_free(HOME)
    assert exact.is_free(HOME)
    wall = next(obstacle for obstacle in fixed_parts if obstacle.name == "wall")
    tool = exact._data.geom_xpos[~exact._fixed][-1]
    exact.place([replace(wall, T_world_obstacle=translation(tool))])
    assert not exact.is_free(HOME)
    exact.leave_behind([label for g, label in enumerate(exact._label) if not exact._fixed[g]])
    assert exact.is_free(HOME)
