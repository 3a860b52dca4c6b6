"""Named points and axes of objects, and left and right as the robot sees them."""

from pathlib import Path

import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.objects import make_object
from handloom.scene import Scene, build_scene
from handloom.scene.named_points import (
    front_axis,
    heading,
    known_points,
    named_axis,
    named_point,
    reference,
    way_to,
    work_spot,
)
from handloom.tasks import load_task, sample_task
from handloom.values import TaskInstance

TASK = """
base: setups/fr3.yaml
cameras: []
robots: [{{name: franka, euler: [0, 0, {yaw}]}}]
objects:
  - {{name: block, category: cube, points: {{corner: [0.02, 0.02, 0.02]}}, axes: {{front: [0, 2, 0]}}}}
  - {{name: cabinet, category: drawer_cabinet, target_class: ArticulatedObject, fix_base: true}}
regions:
  - {{object: block, target: table, random_config: {{pos_range: [[0.1, 0.1], [0.1, 0.1]], yaw_rotation: [90, 90]}}}}
  - {{object: cabinet, target: table, random_config: {{pos_range: [[-0.2, 0.3], [-0.2, 0.3]]}}}}
skills: [home]
"""


def scene_of(folder: Path, yaw: float = 90.0) -> Scene:
    (file := folder / "task.yaml").write_text(TASK.format(yaw=yaw))
    return build_scene(sample_task(load_task(file), 0, 0))


def test_a_reference_is_an_object_or_a_point_of_one():
    assert reference("stapler") == ("stapler", None)
    assert reference("stapler.top") == ("stapler", "top")


def test_every_object_has_the_middles_of_its_box_and_faces():
    cube = make_object("cube", rng=np.random.default_rng(0))
    low, high = cube.aabb
    points = known_points(cube)
    assert points["top"].position == pytest.approx((*(0.5 * (low + high))[:2], high[2]), abs=1e-3)
    assert {"center", "bottom", "left", "right", "front", "back"} <= set(points)
    cabinet = make_object("drawer_cabinet", rng=np.random.default_rng(0))
    assert known_points(cabinet)["handle"].body == cabinet.joints[0].name


def test_points_and_axes_of_a_task_move_with_the_object_and_survive_an_archive(tmp_path: Path):
    scene = scene_of(tmp_path)
    T = scene.object_pose("block")
    assert named_point(scene, "block", "corner") == pytest.approx(T[:3, :3] @ [0.02, 0.02, 0.02] + T[:3, 3])
    assert named_axis(scene, "block", "front") == pytest.approx([-1.0, 0.0, 0.0], abs=1e-3)
    again = build_scene(TaskInstance.from_json(scene.instance.to_json()))
    assert named_point(again, "block", "corner") == pytest.approx(named_point(scene, "block", "corner"))


def test_a_point_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path):
    scene = scene_of(tmp_path)
    with pytest.raises(ConfigError, match=r"block .* has no point 'tpo'; did you mean 'top'\?"):
        named_point(scene, "block", "tpo")
    with pytest.raises(ConfigError, match="has no axis 'screen'"):
        named_axis(scene, "block", "screen")


def test_what_has_no_front_faces_with_its_x_axis(tmp_path: Path):
    scene = scene_of(tmp_path)
    assert front_axis(scene.assets["block"]) == pytest.approx([0.0, 1.0, 0.0])
    assert front_axis(make_object("lemon", rng=np.random.default_rng(0))) == pytest.approx([1.0, 0.0, 0.0])


@pytest.mark.parametrize(("yaw", "right", "away"), [(90, (1, 0), (0, 1)), (0, (0, -1), (1, 0)), (95, (1, 0), (0, 1))])
def test_right_and_away_are_as_the_robot_sees_them(tmp_path: Path, yaw: float, right, away):
    scene = scene_of(tmp_path, yaw)
    assert way_to(scene, "right_of") == pytest.approx(right)
    assert way_to(scene, "behind") == pytest.approx(away)
    assert way_to(scene, "in_front_of") == pytest.approx(np.negative(away))
    turn = heading(scene, "left")
    assert (np.cos(turn), np.sin(turn)) == pytest.approx(np.negative(right), abs=1e-9)
    spot = work_spot(scene, (0.1, 0.2)) - work_spot(scene, (0.0, 0.0))
    assert spot == pytest.approx(0.1 * np.array(right) + 0.2 * np.array(away))


def test_axes_without_a_length_are_refused(tmp_path: Path):
    text = TASK.format(yaw=90).replace("front: [0, 2, 0]", "front: [0, 0, 0]")
    (file := tmp_path / "task.yaml").write_text(text)
    with pytest.raises(ConfigError, match="an axis needs a length above zero"):
        load_task(file)
