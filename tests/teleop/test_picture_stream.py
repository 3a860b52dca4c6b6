"""Live pictures: the newest state, every view, and an operator's view in which left is left."""

import io
import threading

import numpy as np
import pytest
from PIL import Image

from handloom.errors import NotFoundError
from handloom.scene import Scene, build_scene
from handloom.spatial import invert_pose, matrix_from_quat
from handloom.tasks import load_task, sample_task
from handloom.teleop.serving.picture_stream import (
    OPERATOR,
    RIGHT_EYE,
    PictureStream,
    check_views,
    fitted,
    operator_view,
)


def scene_of(task: str) -> Scene:
    return build_scene(sample_task(load_task(task), 0, 0))


def test_every_view_is_drawn_in_order_within_the_size_and_again_for_a_newer_state() -> None:
    scene, sets, drawn = scene_of("fr3_pick_place"), [], threading.Semaphore(0)
    stream = PictureStream(lambda pictures: (sets.append(pictures), drawn.release()), size=(64, 48))
    try:
        stream.show(scene)
        assert drawn.acquire(timeout=60)
        scene.world.data.ctrl[0] += 0.5
        scene.world.step(200)
        stream.offer(scene.world.save_state())
        assert drawn.acquire(timeout=60)
    finally:
        stream.close()
    assert [camera.name for camera in stream.cameras_of(scene)] == [OPERATOR, "head", "hand"]
    sizes = [Image.open(io.BytesIO(picture)).size for picture in sets[-1]]
    assert sizes == [(64, 48), (24, 24), (24, 24)]  # The large one, and two that are shown small.
    stream.show_large("hand", 40, 1000)
    assert [(c.width, c.height) for c in stream.cameras_of(scene)] == [(32, 24), (24, 24), (40, 40)]
    stream.show_large("nowhere", 4000, 4000)  # Never larger than allowed, whatever a page says.
    assert [(c.width, c.height) for c in stream.cameras_of(scene)] == [(64, 48), (24, 24), (24, 24)]
    assert sets[0][0] != sets[-1][0]


def test_a_headset_gets_the_operators_view_for_both_eyes() -> None:
    scene, sets, drawn = scene_of("fr3_pick_place"), [], threading.Semaphore(0)
    stream = PictureStream(
        lambda pictures: (sets.append(pictures), drawn.release()), size=(64, 48), cameras=(OPERATOR,)
    )
    try:
        stream.show(scene)
        assert drawn.acquire(timeout=60)
        stream.see_with(0.064)  # No newer state comes while time stands still.
        assert drawn.acquire(timeout=60)
        left, right = stream.cameras_of(scene)
    finally:
        stream.close()
    assert [len(pictures) for pictures in sets] == [1, 2]
    assert sets[0][0] == sets[1][0] != sets[1][1]
    assert (left.name, right.name, left.quat) == (OPERATOR, RIGHT_EYE, right.quat)
    assert np.linalg.norm(np.subtract(right.position, left.position)) == pytest.approx(0.064)
    # A point lies further left in the picture of the right eye: by f * distance / depth.
    point = scene.object_pose("cube")[:3, 3]
    seen = [invert_pose(camera.T_parent_camera) @ [*point, 1.0] for camera in (left, right)]
    pixels = [camera.fx * p[0] / p[2] for camera, p in zip((left, right), seen, strict=True)]
    assert pixels[0] - pixels[1] == pytest.approx(left.fx * 0.064 / seen[0][2])


def test_a_view_that_does_not_exist_is_refused_with_those_that_do() -> None:
    stream = PictureStream(lambda pictures: None, cameras=("opertor",))
    try:
        with pytest.raises(NotFoundError, match="did you mean 'operator'"):
            stream.cameras_of(scene_of("fr3_pick_place"))
    finally:
        stream.close()


@pytest.mark.parametrize("task", ["fr3_pick_place", "so101_stack_cubes", "lift2_handover", "genie1_two_plates"])
def test_in_the_operators_view_left_is_left_and_away_is_up(task: str) -> None:
    scene = scene_of(task)
    camera = operator_view(scene, (320, 240))
    robot = scene.instance.robots[0]
    R = matrix_from_quat(np.array(robot.quat))
    R_camera = matrix_from_quat(np.array(camera.quat))  # OpenCV: x right, y down, z ahead.
    assert (R_camera.T @ R @ [0.0, 1.0, 0.0])[0] < -0.5
    assert (R_camera.T @ R @ [1.0, 0.0, 0.0])[1] < -0.3


def test_the_operators_view_rides_on_a_base_that_drives() -> None:
    scene = scene_of("lift2_fetch_carton")
    base = scene.robot(scene.instance.robots[0].name).base
    camera = operator_view(scene, (64, 48))
    assert camera.parent == base.body
    T_world_camera = scene.world.body_pose(base.body) @ camera.T_parent_camera
    carton = next(obj.name for obj in scene.instance.objects if not obj.fixed)
    seen = invert_pose(T_world_camera) @ [*scene.object_pose(carton)[:3, 3], 1.0]
    assert seen[2] > 0.0
    assert np.abs(camera.fx * seen[:2] / seen[2]).max() < 0.5 * camera.width


def test_a_camera_keeps_its_shape_when_it_is_fitted() -> None:
    camera = scene_of("lift2_handover").instance.cameras[0]
    assert (camera.width, camera.height) == (320, 160)
    small = fitted(camera, 100, 100)
    assert (small.width, small.height) == (100, 50)


def test_views_that_do_not_exist_are_refused_before_anything_is_served() -> None:
    task = load_task("fr3_pick_place")
    check_views(task, 0, ())
    check_views(task, 0, (OPERATOR, "hand"))
    with pytest.raises(NotFoundError, match="hand"):
        check_views(task, 0, ("hnad",))
