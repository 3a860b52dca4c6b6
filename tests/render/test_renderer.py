"""The public face of rendering."""

import hashlib
import subprocess
import sys
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.render import Renderer, spec_of_mjcf_camera
from handloom.values import CameraSpec

VIEW = {"width": 96, "height": 72, "fx": 90.0, "fy": 90.0, "cx": 48.0, "cy": 36.0}
DOWN = CameraSpec(name="down", position=(0.0, 0.0, 2.0), quat=(0.0, 1.0, 0.0, 0.0), **VIEW)


def test_every_kind_has_its_shape_type_and_background(table):
    model, data = table
    camera = CameraSpec(name="sky", position=(0.0, 0.0, 2.0), quat=(0.9, 0.436, 0.0, 0.0), **VIEW)
    kinds = ("rgb", "depth", "segmentation", "normals", "albedo")
    images = Renderer(model).render(data, [camera], kinds)["sky"]
    assert {kind: (image.shape, image.dtype.name) for kind, image in images.items()} == {
        "rgb": ((72, 96, 3), "uint8"),
        "depth": ((72, 96), "float32"),
        "segmentation": ((72, 96), "int32"),
        "normals": ((72, 96, 3), "float32"),
        "albedo": ((72, 96, 3), "uint8"),
    }
    empty = images["segmentation"] == -1
    assert empty.any()
    assert np.all(np.isinf(images["depth"][empty]))
    assert np.all(images["normals"][empty] == 0)


@pytest.mark.parametrize("name", ["front", "wrist"])
def test_ids_and_depths_equal_those_of_mujocos_ray_casting(table, cast_reference, name):
    model, data = table
    camera = spec_of_mjcf_camera(model, name, width=200, height=150)
    images = Renderer(model).render(data, [camera], ("depth", "segmentation"))[name]
    ids, depth = cast_reference(model, data, camera)
    same = images["segmentation"] == ids
    assert same.mean() >= 0.9999
    hit = same & (ids >= 0)
    assert np.abs(images["depth"] - depth)[hit].max() < 1e-4


def test_groups_of_collision_geoms_are_hidden(table):
    model, data = table
    ids = Renderer(model).render(data, [DOWN], ("segmentation",))["down"]["segmentation"]
    assert model.geom("hidden").id not in ids
    assert model.geom("top").id in ids


def test_normals_are_unit_vectors_that_face_the_camera(table):
    model, data = table
    images = Renderer(model).render(data, [DOWN], ("normals", "segmentation"))["down"]
    hit = images["segmentation"] >= 0
    normals = images["normals"][hit]
    assert np.abs(np.linalg.norm(normals, axis=-1) - 1).max() < 1e-5
    top = images["segmentation"] == model.geom("top").id
    assert np.allclose(images["normals"][top], [0, 0, 1], atol=1e-6)


def test_a_shadow_falls_on_the_side_away_from_the_light():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><visual><headlight active="0"/></visual><worldbody>
        <light pos="2 0 2" dir="-1 0 -1" cutoff="80"/><geom name="floor" type="plane" size="5 5 1"/>
        <geom type="sphere" size=".2" pos="0 0 .3"/></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    images = Renderer(model).render(data, [DOWN], ("rgb", "segmentation"))["down"]
    floor = np.where(images["segmentation"] == model.geom("floor").id, images["rgb"].mean(axis=-1), np.nan)
    # The camera looks down with x to the right: light comes from the right, the shadow lies to the left.
    left, right = floor[36, 22:28], floor[36, 68:74]
    assert np.nanmean(left) < 0.5 * np.nanmean(right)


HASH = """
import hashlib, sys, mujoco
from handloom.render import Renderer
model = mujoco.MjModel.from_binary_path(sys.argv[1])
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
images = Renderer(model).render(data, ["front"], ("rgb", "depth", "segmentation"))["front"]
print(hashlib.sha256(b"".join(image.tobytes() for image in images.values())).hexdigest())
"""


def test_images_are_the_same_bits_in_another_process(table, tmp_path):
    model, data = table
    mujoco.mj_saveModel(model, str(tmp_path / "table.mjb"), None)
    images = Renderer(model).render(data, ["front"], ("rgb", "depth", "segmentation"))["front"]
    here = hashlib.sha256(b"".join(image.tobytes() for image in images.values())).hexdigest()
    there = subprocess.run(
        [sys.executable, "-c", HASH, str(tmp_path / "table.mjb")], check=True, capture_output=True, text=True
    )
    assert there.stdout.strip() == here


def test_an_image_depends_on_the_state_only_not_on_what_was_drawn_before(table):
    model, data = table
    renderer = Renderer(model)
    first = renderer.render(data, ["front"])["front"]["rgb"].copy()
    data.joint("swing").qpos[0] = 0.7
    mujoco.mj_forward(model, data)
    moved = renderer.render(data, ["front", "wrist"])["front"]["rgb"]
    assert np.any(moved != first)
    data.joint("swing").qpos[0] = 0.0
    mujoco.mj_forward(model, data)
    assert np.array_equal(renderer.render(data, ["front"])["front"]["rgb"], first)
    assert np.array_equal(Renderer(model).render(data, ["front"])["front"]["rgb"], first)


@pytest.mark.parametrize("preset", ["fast", "balanced", "quality"])
def test_presets_agree_away_from_edges_on_what_is_seen(table, preset):
    model, data = table
    kinds = ("rgb", "depth", "segmentation")
    images = Renderer(model, preset).render(data, [DOWN], kinds)["down"]
    other = Renderer(model).render(data, [DOWN], kinds)["down"]
    assert np.array_equal(images["segmentation"], other["segmentation"])
    assert np.array_equal(images["depth"], other["depth"])
    assert np.abs(images["rgb"].astype(int) - other["rgb"]).mean() < 12


def test_mistakes_are_named_with_what_exists(table):
    model, data = table
    renderer = Renderer(model)
    with pytest.raises(NotFoundError, match="no image kind named 'rbg'; did you mean 'rgb'"):
        renderer.render(data, [DOWN], ("rbg",))
    with pytest.raises(NotFoundError, match="no camera named 'frnt'; did you mean 'front'"):
        renderer.render(data, ["frnt"])
    with pytest.raises(NotFoundError, match="no render preset named 'best'"):
        Renderer(model, "best")
    with pytest.raises(InputError, match="camera names must differ"):
        renderer.render(data, [DOWN, DOWN])


def test_an_image_that_is_still_held_is_never_drawn_over(table):
    model, data = table
    renderer = Renderer(model)
    held = renderer.render(data, ["front"])["front"]["rgb"]
    row = renderer.render(data, ["wrist"])["wrist"]["rgb"][10]
    copies = held.copy(), row.copy()
    data.joint("swing").qpos[0] = 1.0
    mujoco.mj_forward(model, data)
    for _ in range(3):
        renderer.render(data, ["front", "wrist"])
    assert np.array_equal(held, copies[0])
    assert np.array_equal(row, copies[1])


def test_a_picture_that_would_fill_the_memory_is_refused(table, monkeypatch):
    model, data = table
    with pytest.raises(InputError, match=r"camera 'down': an image of 8192 x 8192 has more than 16777216 pixels"):
        Renderer(model).render(data, [replace(DOWN, width=8192, height=8192)])
    monkeypatch.setenv("HANDLOOM_MAX_PIXELS", "6911")
    with pytest.raises(InputError, match=r"96 x 72 has more than 6911 pixels; .* HANDLOOM_MAX_PIXELS"):
        Renderer(model).render(data, [DOWN])
