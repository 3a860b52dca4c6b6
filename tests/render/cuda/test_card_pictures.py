"""Pictures of a card are the bits of the processor's; kernels run lane by lane where there is no card."""

import itertools
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.bench.render import build_scene, front_camera, hand_camera, move
from handloom.render import KINDS, Renderer, spec_of_mjcf_camera
from handloom.render.cpu.layout import G_TYPE, TURNED
from handloom.render.cuda.batch_layout import EYE, MODEL, VIEW, WORLD
from handloom.render.cuda.card import Card
from handloom.render.cuda.card_drawer import CardDrawer
from handloom.render.cuda.find_card import find_cards
from handloom.render.cuda.moment_reader import MomentReader
from handloom.render.preset import cpu_preset
from handloom.scene import build_scene as scene_of
from handloom.tasks import load_task, sample_task
from spread import every

sys.path.insert(0, str(Path(__file__).parent))
from lanes import COMPILER, Lanes, sizes_of_rows

PRESETS = ("fast", "balanced", "quality")
GLASS = """
<mujoco>
  <asset>
    <material name="mirror" rgba=".6 .6 .7 1" reflectance=".5"/>
    <material name="lacquer" rgba=".6 .3 .7 1" reflectance=".3"/>
    <hfield name="hill" nrow="3" ncol="3" size=".2 .2 .1 .02" elevation="0 .2 .1 .4 1 .3 .1 .2 0"/>
  </asset>
  <worldbody>
    <light pos="0 0 2" dir="0 0 -1"/>
    <light pos="1 1 2" dir="-.5 -.5 -1" type="directional" specular=".4 .4 .4"/>
    <geom type="plane" size="0 0 1" material="mirror"/>
    <geom type="box" size=".2 .2 .1" pos=".5 0 .1" material="lacquer"/>
    <geom type="sphere" size=".1" pos="0 0 .2" rgba=".9 .1 .1 .4"/>
    <geom type="box" size=".05 .3 .2" pos=".2 0 .2" rgba=".1 .9 .1 .5"/>
    <geom type="cylinder" size=".1 .2" pos="-.2 .3 .2" rgba=".1 .1 .9 .6"/>
    <geom type="hfield" hfield="hill" pos="-.1 -.5 .02" rgba=".5 .6 .3 1"/>
    {balls}
    <camera name="front" pos="1.2 -1 .9" xyaxes=".64 .76 0 -.4 .3 .82" fovy="50"/>
  </worldbody>
</mujoco>
"""
BALL = '<body pos="{} {} {}"><freejoint/><geom type="sphere" size=".02" rgba=".8 .8 .1 1"/></body>'

lanes = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
card = pytest.mark.gpu


@pytest.fixture(params=[pytest.param("lanes", marks=lanes), pytest.param("card", marks=card)])
def machine(request):
    """What stands in for a card, and a card where there is one."""
    if request.param == "lanes":
        return Lanes()
    if not find_cards().names:
        pytest.skip(find_cards().reason)
    return Card(pytest.importorskip("cupy"))


def glass_and_mirrors():
    """Mirrors, three transparent solids, a height field, and beads."""
    places = itertools.product(range(4), range(4), range(3))
    balls = "".join(BALL.format(-0.4 + 0.05 * i, -0.2 + 0.05 * j, 0.03 + 0.05 * k) for i, j, k in places)
    model = mujoco.MjModel.from_xml_string(GLASS.format(balls=balls))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data, [spec_of_mjcf_camera(model, "front", width=100, height=76)]


def arm_over_table():
    """Every simple kind, polytopes and textures; a camera inside the hand's housing."""
    model, data = build_scene()
    move(model, data, 20)
    return model, data, [front_camera(96, 72), hand_camera(64, 56)]


def meshes():
    """Meshes of ten thousand triangles with textures laid out over them."""
    model, data = build_scene(objects=4, meshes=True)
    return model, data, [front_camera(96, 72)]


SCENES = {"glass and mirrors": glass_and_mirrors, "arm over table": arm_over_table, "meshes": meshes}


def drawn_by(machine, preset, reads, looks=()):
    """Draw one moment of each model on a machine."""
    moments = []
    for model, data, cameras in reads:
        reader = MomentReader(model, mirrors=cpu_preset(preset).mirrors, looks=looks)
        reader.read(data, cameras)
        moments.append(reader.take(cameras))
    return CardDrawer(machine, cpu_preset(preset)).draw_many(moments, KINDS)


def assert_same(frames, model, data, cameras, preset, looks=()):
    expected = Renderer(model, preset, looks=looks).render(data, cameras, KINDS)
    for camera, frame in zip(cameras, frames, strict=True):
        for kind in KINDS:
            np.testing.assert_array_equal(getattr(frame, kind)[0], expected[camera.name][kind], err_msg=kind)


@pytest.mark.parametrize(("scene", "preset"), every(itertools.product(SCENES, PRESETS), len(PRESETS) + 1))
def test_every_kind_of_image_is_the_bits_of_the_processor(machine, scene, preset):
    model, data, cameras = SCENES[scene]()
    (frames,) = drawn_by(machine, preset, [(model, data, cameras)])
    assert_same(frames, model, data, cameras, preset)


def test_worlds_of_different_models_and_sizes_are_drawn_at_once(machine, monkeypatch):
    monkeypatch.setattr("handloom.render.cuda.card_drawer.PIXELS_AT_ONCE", 12_000)  # Several batches.
    reads = [SCENES[name]() for name in ("arm over table", "glass and mirrors")]
    for frames, (model, data, cameras) in zip(drawn_by(machine, "balanced", reads), reads, strict=True):
        assert_same(frames, model, data, cameras, "balanced")


@pytest.mark.parametrize(("task", "seed"), [("fr3_pour_cup_bowl", 3), ("fr3_pick_place", 1)])
def test_tasks_with_their_looks_are_the_bits_of_the_processor(machine, task, seed):
    """Beads and surfaces of revolution; reliefs and rounded edges."""
    scene = scene_of(sample_task(load_task(task), seed, 0))
    model, data, looks = scene.world.model, scene.world.data, scene.looks
    cameras = [camera.resized(80, 60) for camera in scene.instance.cameras]
    mujoco.mj_forward(model, data)
    (frames,) = drawn_by(machine, "balanced", [(model, data, cameras)], looks)
    assert TURNED in MomentReader(model, mirrors=True, looks=looks).drawn.geoms[:, G_TYPE]
    assert_same(frames, model, data, cameras, "balanced", looks)


@lanes
def test_rows_of_the_tables_are_as_long_as_the_kernels_structures():
    assert sizes_of_rows() == {
        "Model": MODEL.itemsize,
        "World": WORLD.itemsize,
        "Eye": EYE.itemsize,
        "View": VIEW.itemsize,
    }


def test_moments_of_many_states_are_drawn_in_their_order(machine):
    model, data = build_scene()
    cameras, reader, expected = [front_camera(48, 40)], MomentReader(model, mirrors=True), []
    for frame in (0, 30, 60):
        move(model, data, frame)
        reader.read(data, cameras)
        expected.append(np.array(Renderer(model).render(data, cameras)["front"]["rgb"]))
    (frames,) = CardDrawer(machine, cpu_preset("balanced")).draw_many([reader.take(cameras)], ("rgb",))
    np.testing.assert_array_equal(frames[0].rgb, expected)
    assert frames[0].depth.size == 0
