"""Every success mode of place against a plain computation from vertices."""

import numpy as np
import pytest

from handloom.judging.checks import holds
from handloom.scene import Scene, build_scene
from handloom.skills.skill_failures import unrest
from handloom.spatial import make_pose, random_rotations, transform_points
from handloom.tasks import load_task, sample_task
from handloom.values import Check, TaskInstance

POINT = np.array([0.0, 0.03, 0.05])
"""A point beside the cube, in its frame [m]."""


def vertex_box(scene: Scene, name: str) -> np.ndarray:
    vertices, _ = scene.assets[name].collision_triangles()
    world = transform_points(scene.object_pose(name), vertices)
    return np.stack([world.min(axis=0), world.max(axis=0)])


def expected(scene: Scene) -> dict[str, bool]:
    p, a, b = scene.object_pose("cube")[:3, 3], vertex_box(scene, "cube"), vertex_box(scene, "plate")
    sides = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
    common = np.prod(sides) if np.all(sides > 0) else 0.0
    overlap = common / (np.prod(a[1] - a[0]) + np.prod(b[1] - b[0]) - common)
    base = scene.robot("franka").arm("left").T_world_base
    base_z = base[2, 3]
    R = scene.object_pose("cube")[:3, :3]
    away = np.linalg.norm(p + R @ POINT - b.mean(axis=0))
    return {
        "overlapping": bool(overlap > 0.02),
        "over_box": bool(np.all(p[:2] > b[0, :2] + 0.015) and np.all(p[:2] < b[1, :2] - 0.015)),
        "left_of": bool(p[0] < b[0, 0] - 0.03),
        "right_of": bool(p[0] > b[1, 0] + 0.03),
        "raised_above": bool(a[0, 2] > b[0, 2] + 0.01),
        "lower_than": bool(p[2] - base_z < 0.02),
        "above_bottom": bool(p[2] >= b[0, 2]),
        "points_up": bool(np.rad2deg(np.arccos(np.clip(R[2, 1], -1.0, 1.0))) < 60.0),
        "point_at": bool(away < 0.12),
        "ahead": bool(0.5 < (p - base[:3, 3]) @ base[:3, 0] < 0.55),
    }


PAIR = {"object": "cube", "target": "plate"}
ARGUMENTS = {
    "overlapping": {**PAIR, "above": 0.02},
    "over_box": {**PAIR, "margin": 0.015},
    "left_of": {**PAIR, "distance": 0.03},
    "right_of": {**PAIR, "distance": 0.03},
    "raised_above": {**PAIR, "by": 0.01},
    "lower_than": {"object": "cube", "robot": "franka", "arm": "left", "height": 0.02},
    "above_bottom": PAIR,
    "points_up": {"object": "cube", "axis": [0.0, 2.0, 0.0], "angle": np.deg2rad(60.0)},
    "point_at": {"object": "cube", "point": POINT.tolist(), "distance": 0.12},
    "ahead": {"object": "cube", "robot": "franka", "arm": "left", "low": 0.5, "high": 0.55},
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_success_term_says_what_the_vertices_say(plate_instance: TaskInstance, name: str) -> None:
    scene, rng = build_scene(plate_instance), np.random.default_rng(5)
    plate = scene.object_pose("plate")[:3, 3]
    answers = set()
    for _ in range(60):
        position = plate + rng.uniform([-0.2, -0.12, -0.03], [0.2, 0.12, 0.05])
        scene.world.set_body_pose("cube/object", make_pose(random_rotations(rng, 1)[0], position))
        scene.world.refresh()
        answer, arguments = expected(scene)[name], dict(ARGUMENTS[name])
        if name == "point_at":
            arguments["position"] = vertex_box(scene, "plate").mean(axis=0).tolist()
        assert holds(scene, Check(name=name, arguments=arguments)) == answer
        answers.add(answer)
    assert answers == {True, False}


def test_only_the_robots_and_the_object_itself_must_be_calm(plate_instance: TaskInstance) -> None:
    scene = build_scene(plate_instance)
    world, calm = scene.world, Check(name="calm", arguments={"object": "cube"})
    spin = {name: world.dof_index(f"{name}/free") + 4 for name in ("cube", "plate")}
    world.data.qvel[spin["plate"]] = 9.0
    assert holds(scene, calm)
    world.data.qvel[spin["cube"]] = 9.0
    world.forward()
    assert not holds(scene, calm)
    world.data.qvel[:] = 0.0
    world.forward()
    assert len(scene.robot_dofs) == 9  # seven joints and two fingers
    for dof in scene.robot_dofs:
        world.data.qvel[dof] = -9.0
        assert not holds(scene, calm)
        world.data.qvel[dof] = 0.0


def test_an_arm_that_does_something_of_its_own_does_not_make_another_restless() -> None:
    scene = build_scene(sample_task(load_task("lift2_dual_pick_place"), 0, 0))
    left, right = scene.robot("lift2").arms
    assert not set(left.dofs) & set(right.dofs)
    assert set(left.dofs) | set(right.dofs) <= set(scene.robot_dofs.tolist())
    name = next(obj.name for obj in scene.instance.objects if not obj.fixed)
    scene.world.data.qvel[right.dofs[-1]] = 5.0
    scene.world.forward()
    asked = {arm.name: {"object": name, "robot": "lift2", "arm": arm.name} for arm in (left, right)}
    assert not holds(scene, Check(name="calm", arguments={"object": name}))
    assert holds(scene, Check(name="calm", arguments=asked[left.name]))
    assert not holds(scene, Check(name="calm", arguments=asked[right.name]))


def placed(instance: TaskInstance, offset: tuple[float, float, float], R: np.ndarray) -> Scene:
    """Return the scene with its cube at an offset [m] from the plate."""
    scene = build_scene(instance)
    scene.world.set_body_pose("cube/object", make_pose(R, scene.object_pose("plate")[:3, 3] + np.array(offset)))
    return scene


def test_inside_asks_for_depth_and_not_for_a_touch(plate_instance: TaskInstance) -> None:
    deep, shallow = ({**PAIR, "share": share} for share in (0.5, 0.05))
    height = float(np.ptp(vertex_box(build_scene(plate_instance), "plate")[:, 2]))
    for z, answers in ((0.0, (True, True)), (0.9 * (height / 2 + 0.025), (False, True)), (0.2, (False, False))):
        scene = placed(plate_instance, (0.0, 0.0, z), np.eye(3))
        edge = 0.05
        share = np.clip((min(z + edge / 2, height / 2) - max(z - edge / 2, -height / 2)) / edge, 0.0, 1.0)
        found = [holds(scene, Check(name="inside", arguments=arguments)) for arguments in (deep, shallow)]
        assert found == [share > 0.5, share > 0.05], (z, share, answers)


def test_an_object_that_leans_is_not_level(plate_instance: TaskInstance) -> None:
    for degrees, level in ((0.0, True), (8.0, True), (20.0, False), (45.0, False), (90.0, True)):
        a = np.deg2rad(degrees)
        R = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(a), -np.sin(a)], [0.0, np.sin(a), np.cos(a)]])
        scene = placed(plate_instance, (0.0, 0.0, 0.1), R)
        arguments = {"object": "cube", "angle": float(np.deg2rad(12.0))}
        assert holds(scene, Check(name="level", arguments=arguments)) is level


def test_a_flung_object_is_not_calm(plate_instance: TaskInstance) -> None:
    scene = build_scene(plate_instance)
    dof = scene.world.dof_index("cube/free")
    for speed, calm in ((0.0, True), (0.9, True), (1.1, False)):
        scene.world.data.qvel[dof] = speed
        scene.world.forward()
        assert holds(scene, Check(name="calm", arguments={"object": "cube"})) is calm
    scene.world.data.qvel[scene.robot_dofs[2]] = 3.0
    said = unrest(scene, "cube")
    assert "joint3 moves at 3.0, 1 is allowed" in said
    assert "cube moves at 1.10 m/s, 1 is allowed" in said
    assert "turns" not in said, "what is slow enough is not named"
