"""Cameras of a task: one name each in the dataset, one meaning of every axis convention."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import ConfigError
from handloom.render import Renderer
from handloom.render.camera_files import camera_from_intrinsics
from handloom.render.labels import geoms_of_body
from handloom.retarget.so101.stack_cube import _mounted
from handloom.robots import load_robot
from handloom.robots.robot_config import CameraMount
from handloom.scene import build_scene
from handloom.spatial import matrix_from_quat
from handloom.tasks import load_task, sample_task
from handloom.tasks.sampling.cameras import camera_bodies, dataset_names

TASK = """
tasks:
  - name: two
    robots:
      - {{name: left, robot_config_file: so101, translation: [-0.3, 0, 0.75]}}
      - {{name: right, robot_config_file: so101, translation: [0.3, 0, 0.75]}}
    cameras: [{cameras}]
    skills:
      - left: [{{left: [{{name: home}}]}}]
"""
QUAT = (0.5, 0.1, -0.7, 0.4)
FORWARD_AND_UP = {"usd": ((0, 0, -1), (0, 1, 0)), "ros": ((0, 0, 1), (0, -1, 0)), "world": ((1, 0, 0), (0, 0, 1))}
"""Isaac Sim's ``camera_axes``: where the camera looks, and what is up in its picture."""


def task_with(folder: Path, *cameras: str):
    entries = ", ".join(f"{{{camera}, camera_file: realsense_d455}}" for camera in cameras)
    file = folder / "task.yaml"
    file.write_text(TASK.format(cameras=entries))
    return load_task(file)


def named(name: str) -> str:
    return f"name: {name}, translation: [0, 0, 1], orientation: [1, 0, 0, 0]"


def test_cameras_of_two_robots_that_would_have_one_name_keep_the_whole(tmp_path: Path) -> None:
    task = task_with(tmp_path, named("left_wrist"), named("right_wrist"), named("left_head"))
    assert dataset_names(task) == ("left_wrist", "right_wrist", "head")
    assert [camera.name for camera in sample_task(task, 0, 0).cameras] == ["left_wrist", "right_wrist", "head"]


@pytest.mark.parametrize("names", [("head", "head"), ("left_wrist", "right_wrist", "left_right_wrist")])
def test_cameras_that_still_have_one_name_are_refused_with_their_line(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=r"task.yaml:7: cameras.\d.name: .* would both be '\w+' in the dataset"):
        task_with(tmp_path, *map(named, names))


@pytest.mark.parametrize("axes", FORWARD_AND_UP)
def test_camera_axes_mean_the_same_in_tasks_robots_and_python(tmp_path: Path, axes: str) -> None:
    place = f"translation: [0, 0, 1], orientation: {list(QUAT)}, camera_axes: {axes}"
    found = [
        sample_task(task_with(tmp_path, f"name: head, {place}"), 0, 0).cameras[0].quat,
        camera_from_intrinsics("head", width=64, height=48, K=(50, 50, 32, 24), quat=QUAT, axes=axes).quat,
    ]
    if axes != "world":
        mount = CameraMount(
            parent="gripper", translation=(0, 0, 0), orientation=QUAT, camera_axes=axes, params=(50, 50, 32, 24),
            resolution=(64, 48),
        )  # fmt: skip
        found.append(_mounted("wrist", mount, load_robot("so101")).quat)
    R = matrix_from_quat(np.array(QUAT) / np.linalg.norm(QUAT))
    forward, up = FORWARD_AND_UP[axes]
    for quat in found:
        R_parent_opencv = matrix_from_quat(quat)
        assert np.allclose(R_parent_opencv[:, 2], R @ forward)
        assert np.allclose(-R_parent_opencv[:, 1], R @ up)


def test_a_camera_with_a_body_stands_behind_its_own_lens_and_changes_nothing_else() -> None:
    plain = sample_task(load_task("fr3_pick_cube"), 3, 0)
    solid = sample_task(load_task("fr3_pick_cube", overrides=["cameras.0.body=true"]), 3, 0)
    assert solid.objects[:-1] == plain.objects
    assert (solid.cameras, solid.robots, solid.instruction) == (plain.cameras, plain.robots, plain.instruction)
    camera, body = solid.cameras[0], solid.objects[-1]
    assert (body.name, body.fixed, body.solid, body.visible) == ("camera_head", True, True, True)
    half = np.array(body.parameters["size"]) / 2.0
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    in_world = corners @ matrix_from_quat(body.quat).T + body.position
    in_camera = (in_world - camera.position) @ matrix_from_quat(camera.quat)
    assert in_camera[:, 2].max() == pytest.approx(-0.001)
    assert np.ptp(in_camera, axis=0) == pytest.approx([0.124, 0.026, 0.029])


def test_a_camera_on_a_robot_has_no_body_of_its_own() -> None:
    with pytest.raises(ConfigError, match="a camera on a robot is part of the robot's shape"):
        load_task("fr3_pick_cube", overrides=["cameras.1.body=true"])


def test_an_arm_goes_around_a_camera_that_stands_in_its_way() -> None:
    _, record = simulate(load_task("fr3_pick_cube"), 3, 0, Stopwatch())
    scene = build_scene(record.instance)
    scene.world.restore_state(record.states[record.frames // 3])
    (arm,) = scene.robots["franka"].arms
    x, y, z = scene.world.body_pose(arm.tool_body)[:3, 3]
    there = [f"cameras.0.translation=[{x}, {y}, {z}]", "cameras.0.apply_randomization=false"]
    assert nearest(load_task("fr3_pick_cube", overrides=there), body=False) < -0.01
    assert nearest(load_task("fr3_pick_cube", overrides=[*there, "cameras.0.body=true"]), body=True) > 0.0


def nearest(task, *, body: bool) -> float:
    """Return the smallest distance [m] in an episode between the robot and where the camera's body is, or would be."""
    _, record = simulate(task, 3, 0, Stopwatch())
    assert record.success, record.failure
    entries = tuple(camera.model_copy(update={"body": not camera.parent}) for camera in task.config.cameras)
    solid = replace(task, config=task.config.model_copy(update={"cameras": entries}))
    bodies = () if body else camera_bodies(solid, record.instance.cameras)
    world = build_scene(replace(record.instance, objects=(*record.instance.objects, *bodies))).world
    (camera,) = geoms_of_body(world.model, "camera_head/object")
    robot = [g for g in geoms_of_body(world.model, "franka/fr3_link0") if world.model.geom_contype[g]]
    smallest = np.inf
    for state in record.states:
        world.data.qpos[:] = state[1 : 1 + world.model.nq]
        mujoco.mj_kinematics(world.model, world.data)
        gaps = [mujoco.mj_geomDistance(world.model, world.data, g, camera, 0.3, None) for g in robot]
        smallest = min(smallest, *gaps)
    return smallest


def test_a_camera_can_look_at_a_robot(tmp_path):
    task = task_with(tmp_path, "name: front, look_at: left", "name: both, look_at: [left, right]")
    scene = sample_task(task, 0, 0)
    for camera, x in zip(scene.cameras, (-0.3, 0.0), strict=True):
        way = matrix_from_quat(camera.quat)[:, 2]
        eye = np.asarray(camera.position)
        beside = np.cross(way, np.array([x, 0.0, 0.85]) - eye)
        assert np.linalg.norm(beside) < 0.15, "the robot is in the middle of the picture"


PRIM = """
arena_file: arenas/table.yaml
robots: [{name: arm, robot_config_file: franka_robotiq85, euler: [0, 0, 90]}]
objects: [{name: cube, target_class: RigidObject, category: cube}]
regions:
  - {object: arm, target: table, random_config: {pos_range: [[0, -0.42, 0], [0, -0.42, 0]], yaw_rotation: [0, 0]}}
  - {object: cube, target: table, random_config: {pos_range: [[-0.1, 0, 0], [0.1, 0.1, 0]], yaw_rotation: [0, 0]}}
cameras:
  - {name: arm_hand, parent: arm/panda_link7/camera_mount/camera, translation: TRANSLATION, orientation: [1, 0, 0, 0],
     camera_axes: usd, camera_file: realsense_d435i}
data: {language_instruction: Rest.}
skills: [{arm: [{left: [{name: wait, wait_steps: 6, success_threshold: 0.02}]}]}]
"""


def test_what_hangs_on_the_camera_of_a_published_robot_stands_in_that_cameras_frame(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(PRIM.replace("TRANSLATION", "[0, 0, 0]"))
    (camera,) = sample_task(load_task(file), 0, 0).cameras
    mount = load_robot("franka_robotiq85").config.cameras["hand"]
    assert camera.parent == "arm/camera_mount"
    assert camera.position == pytest.approx(mount.translation)
    assert matrix_from_quat(camera.quat)[:, 2] == pytest.approx([0, 0, 1]), "it looks along the approach of the hand"
    file.write_text(PRIM.replace("TRANSLATION", "[0, 0, -0.1]"))
    (ahead,) = sample_task(load_task(file), 0, 0).cameras
    assert np.subtract(ahead.position, camera.position) == pytest.approx([0, 0, 0.1]), "a camera of USD looks along -z"


def test_the_picture_of_a_camera_on_such_a_prim_is_not_the_inside_of_the_hand(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(PRIM.replace("TRANSLATION", "[0, 0, 0]"))
    instance = sample_task(load_task(file, overrides=["cameras.0.size=[64, 48]"]), 0, 0)
    scene = build_scene(instance)
    pictures = Renderer(scene.world.model, "fast", looks=scene.looks).render(scene.world.data, instance.cameras)
    dark = (pictures["hand"]["rgb"].mean(axis=-1) < 25).mean()
    assert dark < 0.3, "all of it was"
