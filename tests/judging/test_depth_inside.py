"""Long objects in containers: a pen stands in its cup, a carrot may stick out of its pan but not lie across it."""

import numpy as np
import pytest
from tests.judging.conftest import Make, put
from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import oracle_of

from handloom.judging.checks import holds
from handloom.judging.depth_inside import how_far_in, inside_from, sticks_out_of
from handloom.judging.relations import relation_terms
from handloom.scene import Scene
from handloom.scene.measures import local_box, world_box
from handloom.scene.named_points import point_of
from handloom.spatial import matrix_from_quat, quat_from_matrix
from handloom.values import Check

CARROT = "category: carrot, parameters: {length: 0.1618, width: 0.0282}"
PAN = "category: skillet, parameters: {radius: 0.0785, height: 0.0302, handle: 0.1153}"
BRUSH = "category: toothbrush, parameters: {length: 0.1767}"
CUP = "category: cup, parameters: {bottom_radius: 0.0263, height: 0.0856, flare: 0.0117}"


def put_in(scene: Scene, name: str, box: str, place, quat, settle: float = 1.0) -> None:
    """Put an object at a pose in the frame of its container."""
    T = scene.object_pose(box)
    turned = quat_from_matrix(T[:3, :3] @ matrix_from_quat(np.array(quat) / np.linalg.norm(quat)))
    put(scene, name, T[:3, :3] @ np.array(place) + T[:3, 3], turned, settle=settle)


def is_in(scene: Scene, name: str, box: str) -> bool:
    return holds(scene, Check(name="in_cavity", arguments={"object": name, "target": box, "part": None}))


def is_inserted(scene: Scene, name: str, box: str, point: str) -> bool:
    about = {"object": name, "target": box, "part": None, "point": point}
    return holds(scene, Check(name="inserted", arguments=about))


@pytest.mark.parametrize(
    ("place", "quat", "right", "share"),
    [
        ((-0.0483, 0.0282, 0.0092), (0.5299, 0.3699, 0.3171, 0.6941), True, "40%"),
        ((-0.0923, 0.0067, 0.014), (0.3169, -0.0386, 0.0006, -0.9477), False, "0%"),
    ],
    ids=["its tip on the wall inside", "across the rim"],
)
def test_a_carrot_longer_than_its_pan_is_in_it_with_a_third_of_its_length(table: Make, place, quat, right, share):
    scene = table(carrot=CARROT, pan=PAN)
    put_in(scene, "carrot", "pan", place, quat, settle=0.2)
    assert is_in(scene, "carrot", "pan") is right
    assert how_far_in(scene, "carrot", "pan") == f"{share} of its length is inside, 33% required"
    verdict = oracle_of(scene, scene.world.save_state()).judge([Deed(kind="in", obj="carrot", target="pan")])
    assert verdict.done is not (not right), verdict.why


def test_a_brush_on_the_floor_of_a_cup_is_inserted_however_far_it_sticks_out(table: Make):
    scene = table(brush=BRUSH, cup=CUP)
    put_in(scene, "brush", "cup", (-0.0294, -0.0063, 0.044), (0.5166, -0.2891, -0.6484, -0.4787))
    assert world_box(scene, "brush")[1, 2] > world_box(scene, "cup")[1, 2] + 0.07, "half of it sticks out"
    assert is_inserted(scene, "brush", "cup", "tail")
    assert is_in(scene, "brush", "cup")
    assert not is_inserted(scene, "brush", "cup", "head"), "the other end is above the rim"
    state = scene.world.save_state()
    for point, done in (("tail", True), ("head", False)):
        at = point_of(scene.assets["brush"], "brush", point).position
        deed = Deed(kind="insert", obj="brush", target="cup", axis=at)
        verdict = oracle_of(scene, state).judge([deed])
        assert verdict.done is done, verdict.why


def test_the_point_goes_at_least_half_way_down(table: Make):
    scene = table(brush=BRUSH, cup=CUP)
    low, high = local_box(scene, "brush")[0]
    axis = int(np.argmax(high - low))
    tail = np.asarray(point_of(scene.assets["brush"], "brush", "tail").position)
    down = np.zeros(3)
    down[axis] = np.sign(tail[axis])
    # A turn that takes the tail's direction to straight down.
    turn = np.cross(down, [0.0, 0.0, -1.0])
    quat = np.array([1.0 + down @ [0.0, 0.0, -1.0], *turn])
    depth = float(np.ptp(world_box(scene, "cup")[:, 2]))
    for above, deep in ((0.25 * depth, True), (0.75 * depth, False)):
        z = world_box(scene, "cup")[0, 2] + above + abs(tail[axis])
        put(scene, "brush", [*world_box(scene, "cup").mean(axis=0)[:2], z], quat)
        found = inside_from(scene, "brush", "cup", tail)
        assert found.deep is deep, found
        assert not is_inserted(scene, "brush", "cup", "tail"), "nothing carries it there"
        assert "cm below the rim" in how_far_in(scene, "brush", "cup", point="tail")


def test_an_inserted_object_is_judged_by_its_point(table: Make):
    scene = table(brush=BRUSH, cup=CUP)
    terms = relation_terms(scene, "brush", "in", "cup", point="tail", upright=False)
    assert [term.name for term in terms] == ["inserted", "let_go"]
    assert [term.name for term in relation_terms(scene, "brush", "in", "cup")] == ["in_cavity", "let_go"]


def test_a_brush_in_a_cup_that_has_fallen_over_does_not_stick_out_of_its_top(table: Make):
    scene = table(brush=BRUSH, cup=CUP)
    put(scene, "cup", (0.0, 0.3, 0.78), (0.70710678, 0.70710678, 0.0, 0.0), settle=0.5)
    low = float(world_box(scene, "cup")[0, 2])
    put(scene, "brush", (0.0, 0.3 - 0.055, low + 0.012), (0.70710678, 0.0, 0.0, -0.70710678), settle=0.5)
    found = inside_from(scene, "brush", "cup", np.asarray(point_of(scene.assets["brush"], "brush", "tail").position))
    assert found.share > 0.3, found
    assert found.roofed
    assert not sticks_out_of(scene, "brush", "cup")
