"""Edges of doors and lids lie on the parts they belong to; what is too thick or has no such edge has none."""

import numpy as np
import pytest
from tests.skills.conftest import table_instance, thing

from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.articulated_objects.door_edges import INSET, upper_edge
from handloom.skills.articulated_objects.lid_presses import lid_edge


def scene_with(folder, category, start):
    keys = {"target_class": "ArticulatedObject", "fix_base": True, "joint_position_range": [start, start]}
    return build_scene(table_instance(folder, thing("box", category, (0.0, 0.3), **keys)))


def in_world(scene, body, position):
    T = scene.world.body_pose(body)
    return T[:3, :3] @ np.asarray(position) + T[:3, 3]


@pytest.mark.parametrize("start", [0.0, 0.4, 1.0])
def test_the_upper_edge_of_a_door_is_at_its_top_and_beside_its_free_end(tmp_path, start):
    scene = scene_with(tmp_path, "microwave", start)
    link = scene.assets["box"].joints[0]
    edge = upper_edge(scene, f"box/{link.name}", link)
    assert edge is not None
    place = in_world(scene, f"box/{link.name}", edge.place)
    assert place[2] == pytest.approx(world_box(scene, "box", link.name)[1, 2], abs=0.02)
    hinge = in_world(scene, f"box/{link.name}", link.anchor)
    assert float(np.hypot(*(place - hinge)[:2])) == pytest.approx(edge.width, abs=0.01)
    moved = in_world(scene, f"box/{link.name}", np.add(edge.place, (INSET + 0.001) * np.asarray(edge.free)))
    assert float(np.hypot(*(moved - hinge)[:2])) > 0.9 * float(np.ptp(world_box(scene, "box", link.name)[:, :2]) / 2)
    assert lid_edge(scene, f"box/{link.name}", link, -start) is None, "a door has no lid's edge"


def test_the_free_edge_of_a_lid_is_the_highest_of_an_open_one_and_lies_in_front_when_it_is_shut(tmp_path):
    scene = scene_with(tmp_path, "lidded_box", 0.8)
    link = scene.assets["box"].joints[0]
    body = f"box/{link.name}"
    edge = lid_edge(scene, body, link, -0.8)
    assert edge is not None
    assert upper_edge(scene, body, link) is None, "a lid has no upper edge"
    place = in_world(scene, body, edge.place)
    assert place[2] == pytest.approx(world_box(scene, "box", link.name)[1, 2], abs=0.02)
    R = scene.world.body_pose(body)[:3, :3]
    np.testing.assert_allclose(R @ edge.up, [0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(R @ edge.front, [0.0, -1.0, 0.0], atol=1e-6)
