"""Procedural textures."""

import mujoco
import numpy as np
import pytest

from handloom.errors import NotFoundError
from handloom.render import Renderer
from handloom.render.textures import TEXTURES, add_texture, texture
from handloom.values import CameraSpec


@pytest.mark.parametrize("name", TEXTURES)
def test_a_texture_depends_on_its_generator_only(name):
    first, again, other = (texture(name, np.random.default_rng(seed), 64) for seed in (1, 1, 2))
    assert first.shape == (64, 64, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", ["cloth", "metal", "noise", "plaster", "stone", "wood"])
def test_a_texture_repeats_without_a_seam(name):
    image = texture(name, np.random.default_rng(0)).astype(float)
    for axis in (0, 1):
        inner = np.abs(np.diff(image, axis=axis)).mean(axis=(1 - axis, 2))
        seam = np.abs(np.take(image, 0, axis) - np.take(image, -1, axis)).mean()
        # Boards have seams of their own: the border may look like one of them.
        assert seam < max(2.0 * inner.mean() + 2.0, inner.max())


def test_an_unknown_texture_is_named():
    with pytest.raises(NotFoundError, match="no texture named 'wod'; did you mean 'wood'"):
        texture("wod", np.random.default_rng(0))


def test_an_added_texture_is_seen_upright_on_the_geom():
    image = np.zeros((64, 64, 3), np.uint8)
    image[:32, :, 0], image[32:, :, 2] = 255, 255
    image[:, :8] = (0, 255, 0)
    spec = mujoco.MjSpec()
    add_texture(spec, "flag", image, per_metre=False)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5, 0.5, 0.1], material="flag", rgba=[1, 1, 1, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = CameraSpec.centred("c", 64, 64, 64.0, position=(0.0, 0.0, 1.1), quat=(0.0, 1.0, 0.0, 0.0))
    albedo = Renderer(model).render(data, [camera], ("albedo",))["c"]["albedo"].astype(int)
    # Seen from above with x to the right and y up: the first row of the image is at the top, its start at the left.
    assert albedo[16, 40, 0] > 200 > albedo[16, 40, 2]
    assert albedo[48, 40, 2] > 200 > albedo[48, 40, 0]
    assert albedo[16, 3, 1] > 200
