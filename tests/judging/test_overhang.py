"""On means that most of an object is over what carries it, as far as the object is not larger."""

import numpy as np
import pytest
from tests.judging.conftest import Make, put
from tests.judging.test_world_terms import is_on, over
from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import oracle_of

from handloom.judging.overhang import overhang
from handloom.scene import Scene
from handloom.scene.measures import local_box, world_box
from handloom.spatial import matrix_from_rotvec, quat_from_matrix

NARROW_BOOK = "category: book, parameters: {width: 0.09, height: 0.21}"


def lay(scene: Scene, name: str, target: str, *, yaw: float, shift: float = 0.0) -> None:
    """Lay an object on a target, its long side turned from world x, and let it come to rest.

    Args:
        scene: The scene.
        name: The object.
        target: What it is laid on.
        yaw: Turn of its long side [rad].
        shift: How far it is moved along its long side from the middle, as a share of its length.
    """
    sides = np.ptp(local_box(scene, name)[0], axis=0)
    now = scene.object_pose(name)[:3, :3]
    axis = now @ np.eye(3)[int(np.argmax(sides))]
    turn = matrix_from_rotvec(np.array([0.0, 0.0, yaw - np.arctan2(axis[1], axis[0])]))
    way = shift * sides.max() * np.array([np.cos(yaw), np.sin(yaw)])
    put(scene, name, over(scene, target, 0.05), quat_from_matrix(turn @ now))
    box = world_box(scene, name)
    at = over(scene, target, 0.002, way) - box.mean(axis=0) + scene.object_pose(name)[:3, 3]
    at[2] += box.mean(axis=0)[2] - box[0, 2]
    put(scene, name, at, quat_from_matrix(turn @ now), settle=1.0)


def oracle_says(scene: Scene, name: str, target: str) -> bool | None:
    return oracle_of(scene, scene.world.save_state()).judge([Deed(kind="on", obj=name, target=target)]).done


def test_a_toothbrush_across_a_narrow_book_hangs_over_it_and_along_it_does_not(table: Make):
    scene = table(brush="category: toothbrush", book=NARROW_BOOK)
    sides = np.ptp(world_box(scene, "book"), axis=0)[:2]
    long_side = 0.0 if sides[0] > sides[1] else np.pi / 2.0
    for turn, right in ((0.0, True), (np.pi / 2.0, False)):
        lay(scene, "brush", "book", yaw=long_side + turn)
        assert not scene.world.touching(scene.body_of("brush"), scene.body_of("table"))
        assert is_on(scene, "brush", "book") is right
        assert oracle_says(scene, "brush", "book") is right


@pytest.mark.parametrize(("shift", "right"), [(0.0, True), (0.2, False)])
def test_what_is_too_long_for_its_support_lies_on_it_when_it_is_in_the_middle(table: Make, shift: float, right: bool):
    scene = table(ruler="category: toothbrush", cube="category: cube, parameters: {edge: 0.06}")
    lay(scene, "ruler", "cube", yaw=0.0, shift=shift)
    assert is_on(scene, "ruler", "cube") is right


def test_a_plate_on_a_cup_is_on_it(table: Make):
    scene = table(plate="category: plate", cube="category: cube, parameters: {edge: 0.06}")
    put(scene, "plate", over(scene, "cube", 0.01), settle=1.0)
    assert is_on(scene, "plate", "cube")


def test_shares_follow_the_shape_and_not_its_box(table: Make):
    scene = table(cube="category: cube, parameters: {edge: 0.04}", plate="category: plate")
    box = world_box(scene, "plate")
    middle, radius = box.mean(axis=0), float(np.ptp(box, axis=0)[0]) / 2.0
    poses = np.tile(np.eye(4), (3, 1, 1))
    for T, far in zip(poses, (0.0, 0.9, 1.2), strict=True):
        T[:3, 3] = middle + np.array([1.0, 1.0, 0.0]) * far * radius / np.sqrt(2.0)
    found = overhang(scene, "cube", "plate", poses)
    assert found.most_over.tolist() == [True, True, False], "the corner of the box around a round plate carries nothing"
    assert np.allclose(found.to_middle[:, :2], middle[:2] - poses[:, :2, 3], atol=1e-3)
