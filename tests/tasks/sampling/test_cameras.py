"""Cameras of a task: one name each in the dataset, one meaning of every axis convention."""

from pathlib import Path

import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.render.camera_files import camera_from_intrinsics
from handloom.retarget.so101.stack_cube import _mounted
from handloom.robots import load_robot
from handloom.robots.robot_config import CameraMount
from handloom.spatial import matrix_from_quat
from handloom.tasks import load_task, sample_task
from handloom.tasks.sampling.cameras import dataset_names

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
