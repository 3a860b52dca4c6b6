"""Many equal balls are drawn as one geom, and look as if each were drawn by itself."""

import mujoco
import numpy as np
import pytest

from handloom.render import Renderer
from handloom.render.cpu import cpu_renderer
from handloom.render.cpu.model.geom_table import LEAST_BEADS, drawn_geoms, split_beads
from handloom.values import CameraSpec

CAMERA = CameraSpec.looking_at("front", (0, 0, 0.05), eye=(0.25, -0.3, 0.3), width=96, height=80, focal=110)
KINDS = ("rgb", "depth", "segmentation", "normals")


def _heap(count: int, alpha: float = 1.0) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a heap of balls between two posts, over a mirror, under a lamp."""
    spec = mujoco.MjSpec()
    spec.worldbody.add_light(pos=[0.2, -0.1, 0.8], dir=[-0.2, 0.1, -1.0], bulbradius=0.03)
    spec.add_material(name="floor", rgba=[0.7, 0.7, 0.7, 1], reflectance=0.3)
    spec.add_material(name="grain", rgba=[0.2, 0.4, 0.9, alpha])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1], material="floor")
    for x in (-0.06, 0.06):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01, 0.02, 0.05], pos=[x, 0, 0.05])
    places = np.random.default_rng(3).uniform([-0.08, -0.05, 0.006], [0.08, 0.05, 0.1], (count, 3))
    for k, place in enumerate(places):
        body = spec.worldbody.add_body(name=f"grain/{k}", pos=place)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.005, 0, 0], material="grain")
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def _drawn_one_by_one(model, data, monkeypatch, preset):
    """Return the pictures with a row for every ball."""
    with monkeypatch.context() as patch:
        patch.setattr(cpu_renderer, "split_beads", lambda _, ids: (ids, ids[:0]))
        return Renderer(model, preset).render(data, [CAMERA], KINDS)["front"]


@pytest.mark.parametrize("count", [200, 600])
def test_beads_have_the_ids_depths_normals_and_shadows_of_separate_spheres(count, monkeypatch):
    model, data = _heap(count)
    # The preset without ambient occlusion, in which beads take no part.
    mine = Renderer(model, "fast").render(data, [CAMERA], KINDS)["front"]
    single = _drawn_one_by_one(model, data, monkeypatch, "fast")
    assert len(np.unique(mine["segmentation"])) > 60
    assert np.mean(mine["segmentation"] != single["segmentation"]) < 1e-3
    same = mine["segmentation"] == single["segmentation"]
    np.testing.assert_allclose(mine["depth"][same], single["depth"][same], rtol=0, atol=2e-5)
    assert np.abs(mine["normals"] - single["normals"])[same].max() < 2e-2
    assert np.mean(np.abs(mine["rgb"].astype(int) - single["rgb"]).max(axis=2) > 6) < 5e-3


@pytest.mark.parametrize("alpha", [1.0, 0.6])
def test_smooth_and_mirrored_pictures_of_beads_come_close_to_those_of_separate_spheres(alpha, monkeypatch):
    model, data = _heap(150, alpha)
    mine = Renderer(model, "quality").render(data, [CAMERA], KINDS)["front"]
    single = _drawn_one_by_one(model, data, monkeypatch, "quality")
    assert np.mean(mine["segmentation"] != single["segmentation"]) < 1e-3
    # Ambient occlusion between beads is left out.
    assert np.mean(np.abs(mine["rgb"].astype(int) - single["rgb"])) < 3


@pytest.mark.parametrize("preset", ["fast", "balanced", "quality"])
def test_pictures_of_moving_beads_are_those_that_a_new_renderer_draws(preset):
    model, data = _heap(80)
    renderer, rng = Renderer(model, preset), np.random.default_rng(1)
    kinds = ("rgb", "depth", "segmentation")
    for _ in range(8):
        movers = rng.choice(80, rng.integers(0, 3), replace=False)
        data.qpos[movers] += rng.choice([1e-6, 0.01, 0.05], len(movers))
        mujoco.mj_forward(model, data)
        kept = renderer.render(data, [CAMERA], kinds)["front"]
        fresh = Renderer(model, preset).render(data, [CAMERA], kinds)["front"]
        assert all(kept[kind].tobytes() == fresh[kind].tobytes() for kind in kinds)


def test_only_many_balls_that_differ_in_place_alone_are_beads():
    model, _ = _heap(LEAST_BEADS - 1)
    assert len(split_beads(model, drawn_geoms(model))[1]) == 0
    model, _ = _heap(LEAST_BEADS + 4)
    model.geom_rgba[-2] = (1, 0, 0, 1)
    model.geom_size[-1] = 0.004
    plain, beads = split_beads(model, drawn_geoms(model))
    assert len(beads) == LEAST_BEADS + 2
    assert sorted([*plain, *beads]) == list(range(model.ngeom))
    assert {model.ngeom - 1, model.ngeom - 2} <= set(plain.tolist())
