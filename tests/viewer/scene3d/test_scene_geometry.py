"""The view is sent what the renderer draws: the same geoms, colours, textures and poses."""

import numpy as np
import pytest

from handloom.render.cpu.model.geom_table import drawn_geoms, geom_rgba
from handloom.render.cpu.model.look_rows import apply_looks
from handloom.render.looks import Turned
from handloom.render.pictures import linear_from_srgb
from handloom.scene import Scene, build_scene
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord
from handloom.viewer.scene3d.container import array_of, unpacked
from handloom.viewer.scene3d.scene_geometry import scene_geometry

Recorded = tuple[Scene, EpisodeRecord]


def test_exactly_the_drawn_geoms_are_sent_with_their_colours(picked: Recorded) -> None:
    scene = picked[0]
    model = scene.world.model
    kept, looks = apply_looks(model, drawn_geoms(model), scene.looks)
    header, _ = unpacked(scene_geometry(scene))
    assert list(dict.fromkeys(geom["id"] for geom in header["geoms"])) == kept.tolist()
    for geom in header["geoms"]:
        assert geom["body"] == model.geom_bodyid[geom["id"]]
        if geom["id"] not in looks:
            rgba = geom_rgba(model, geom["id"])
            assert geom["color"] == pytest.approx(linear_from_srgb(np.clip(rgba[:3], 0, 1)), abs=1e-6)
            assert geom["opacity"] == pytest.approx(rgba[3])


def test_looks_are_sent_in_place_of_what_collides() -> None:
    scene = build_scene(sample_task(load_task("fr3_stack_bowls"), 0, 0))
    header, content = unpacked(scene_geometry(scene))
    bowls = [look for look in scene.looks if isinstance(look.shape, Turned)]
    assert bowls
    for look in bowls:
        first, *others = (scene.world.model.geom(name).id for name in look.hides)
        sent = [geom for geom in header["geoms"] if geom["id"] == first]
        assert sent
        assert not any(geom["id"] in others for geom in header["geoms"])
        points = array_of(header["meshes"][sent[0]["mesh"]]["points"], content).reshape(-1, 3)
        assert isinstance(look.shape, Turned)
        radius = max(r for r, _ in look.shape.outer)
        assert np.hypot(points[:, 0], points[:, 1]).max() == pytest.approx(radius, abs=look.shape.edge + 1e-6)


def test_bodies_are_where_the_simulation_has_them(picked: Recorded) -> None:
    scene = picked[0]
    scene.world.restore_state(picked[1].states[40])
    header, content = unpacked(scene_geometry(scene))
    poses = array_of(header["poses"], content).reshape(-1, 7)
    assert header["quaternion"] == "wxyz"
    assert poses[:, :3] == pytest.approx(scene.world.data.xpos, abs=1e-6)
    assert poses[:, 3:] == pytest.approx(scene.world.data.xquat, abs=1e-6)


def test_meshes_are_within_the_boxes_that_the_model_gives_them() -> None:
    scene = build_scene(sample_task(load_task("fr3_stack_bowls"), 0, 0))
    model = scene.world.model
    header, content = unpacked(scene_geometry(scene))
    looks = apply_looks(model, drawn_geoms(model), scene.looks)[1]
    for geom in header["geoms"]:
        if geom["id"] in looks:
            continue
        mesh = header["meshes"][geom["mesh"]]
        points = array_of(mesh["points"], content).reshape(-1, 3)
        triangles = array_of(mesh["triangles"], content)
        assert triangles.max() < len(points)
        center, half = model.geom_aabb[geom["id"], :3], model.geom_aabb[geom["id"], 3:]
        if model.geom_type[geom["id"]] != 0:  # A plane has no box.
            assert points.min(axis=0) == pytest.approx(center - half, abs=2e-3)
            assert points.max(axis=0) == pytest.approx(center + half, abs=2e-3)
        if geom["texture"] >= 0:
            assert mesh["uv"]["count"] == 2 * len(points)


def test_equal_shapes_are_sent_once(picked: Recorded) -> None:
    header, _ = unpacked(scene_geometry(picked[0]))
    assert len(header["meshes"]) < len(header["geoms"])
    assert {geom["mesh"] for geom in header["geoms"]} == set(range(len(header["meshes"])))


def test_the_first_view_looks_at_the_robot_from_across_the_table(picked: Recorded) -> None:
    focus = unpacked(scene_geometry(picked[0]))[0]["focus"]
    base = next(iter(picked[0].robots.values())).arms[0].T_world_base[:3, 3]
    eye = np.array(focus["center"]) + focus["radius"] * np.array(focus["direction"])
    to_base, to_center = base - eye, np.array(focus["center"]) - eye
    assert eye[2] > focus["center"][2]
    assert np.linalg.norm(to_base[:2]) > np.linalg.norm(to_center[:2])
