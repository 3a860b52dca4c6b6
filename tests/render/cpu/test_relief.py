"""Reliefs of textures: a pixel's normal does not depend on which row of a tile it lies in."""

from dataclasses import replace

import mujoco
import numpy as np

from handloom.render import Renderer
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task


def test_a_picture_moved_by_one_row_has_the_same_normals():
    scene = build_scene(sample_task(load_task("fr3_pick_place"), 1, 0))
    model, data = scene.world.model, scene.world.data
    mujoco.mj_forward(model, data)
    camera = scene.instance.cameras[0].resized(160, 120)
    moved = replace(camera, name="moved", cy=camera.cy + 1)
    drawn = Renderer(model, looks=scene.looks).render(data, [camera, moved], ("normals", "segmentation"))
    here, there = drawn[camera.name], drawn["moved"]
    same = here["segmentation"][:-1] == there["segmentation"][1:]
    apart = np.abs(np.asarray(here["normals"][:-1], float) - there["normals"][1:]).max(axis=-1)
    assert apart[same].max() < 1e-6
