"""Windows and lamps around a scene: mirrored by what shines, kept in the model, dark without light."""

from dataclasses import replace

import mujoco
import numpy as np

from handloom.render import Renderer
from handloom.render.appearance.surroundings import ROOM, add_surroundings, pane, surroundings_of
from handloom.render.looks import Look
from handloom.render.materials import Finish
from handloom.values import CameraSpec
from handloom.values.instance import LitSurroundings

CAMERA = CameraSpec.looking_at("c", (0, 0, 0.1), eye=(0, -0.6, 0.5), width=96, height=96, focal=200)
INSIDE = slice(32, 64)
"""Rows and columns that show the ball alone."""
BRIGHT = LitSurroundings(panes=(pane(-90.0, 60.0, (0.35, 0.35), (20.0, 20.0, 20.0)),))


def _ball(material: str, surroundings: LitSurroundings | None, *, ambient: float = 0.3) -> np.ndarray:
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [ambient] * 3, [0.0] * 3
    spec.visual.headlight.specular = [0.0] * 3
    spec.worldbody.add_geom(name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], pos=[0, 0, 0.1])
    if surroundings is not None:
        add_surroundings(spec, surroundings)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    looks = [Look(body="world", hides=("ball",), finish=Finish(material=material, color=(0.5, 0.1, 0.1)))]
    images = Renderer(model, looks=looks).render(data, [CAMERA], ("rgb", "segmentation"))["c"]
    assert np.all(images["segmentation"][INSIDE, INSIDE].astype(int) >= 0)
    return images["rgb"][INSIDE, INSIDE].astype(int).max(axis=2)


def test_ceramic_mirrors_a_window_and_rubber_does_not() -> None:
    dark = replace(BRIGHT, panes=())
    assert _ball("ceramic", BRIGHT).max() - _ball("ceramic", dark).max() > 60
    assert _ball("rubber", BRIGHT).max() - _ball("rubber", dark).max() < 25


def test_the_mirror_image_of_a_window_has_sharp_edges_in_enamel_and_soft_ones_in_plastic() -> None:
    steepest = {name: np.abs(np.diff(_ball(name, BRIGHT), axis=0)).max() for name in ("enamel", "plastic")}
    assert steepest["enamel"] > 1.5 * steepest["plastic"]


def test_a_model_keeps_its_surroundings_and_others_stand_in_a_room() -> None:
    spec = mujoco.MjSpec()
    assert surroundings_of(spec.compile()) == ROOM
    add_surroundings(spec, BRIGHT)
    again = surroundings_of(mujoco.MjSpec.from_string(spec.to_xml()).compile())
    assert np.allclose(again.panes[0].direction, BRIGHT.panes[0].direction, atol=1e-5)
    assert again.panes[0].light == BRIGHT.panes[0].light


def test_windows_of_a_room_without_light_are_dark() -> None:
    assert _ball("chrome", BRIGHT, ambient=0.0).max() <= 2
