"""Backends: what works is found without risk, and nothing is needed for the ray caster."""

import os
import subprocess
import sys

import numpy as np
import pytest

from handloom.child_process import run_trial
from handloom.errors import InputError, NotFoundError, StateError
from handloom.render import BACKENDS, Renderer, drivers, probe_backends, spec_of_mjcf_camera
from handloom.render.backends import LEFT_OUT, make_backend
from handloom.render.preset import CPU_PRESETS, FILAMENT_PRESETS, GL_PRESETS

DRAW = """
from handloom.graphics import drop_unusable_mujoco_gl
drop_unusable_mujoco_gl()
from handloom.render import Renderer
import mujoco
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><geom size='.1'/><camera name='c' pos='0 0 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
print(Renderer(model).render(data, ["c"])["c"]["rgb"].shape)
"""


@pytest.mark.parametrize("value", ["nonsense", "osmesa", "egl"])
def test_any_value_of_mujoco_gl_imports_and_draws(value):
    child = subprocess.run(
        [sys.executable, "-c", DRAW],
        env={**os.environ, "MUJOCO_GL": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.stdout.strip() == "(480, 640, 3)", child.stderr


def test_every_backend_is_probed_and_says_why():
    states = {state.name: state for state in probe_backends()}
    assert set(states) == set(BACKENDS) | set(LEFT_OUT)
    assert states["cpu"].works
    assert all(state.reason for state in states.values())


def test_every_backend_has_the_same_presets():
    assert set(CPU_PRESETS) == set(GL_PRESETS) == set(FILAMENT_PRESETS) == {"fast", "balanced", "quality"}


def test_an_unknown_backend_is_named(table):
    model, _ = table
    with pytest.raises(NotFoundError, match="no render backend named 'vulkan'; known: cpu, cuda, filament, gl"):
        make_backend("vulkan", model, "fast")


@pytest.mark.gl
@pytest.mark.parametrize("backend", ["gl", "filament"])
def test_backends_agree_with_the_ray_caster_on_what_is_where(table, backend):
    states = {state.name: state for state in probe_backends()}
    if not states[backend].works:
        pytest.skip(states[backend].reason)
    model, data = table
    camera = spec_of_mjcf_camera(model, "front", width=320, height=240)
    kinds = ("depth", "segmentation", "rgb")
    ours = Renderer(model).render(data, [camera], kinds)["front"]
    other = Renderer(model, backend=backend)
    theirs = other.render(data, [camera], kinds)["front"]
    same = ours["segmentation"] == theirs["segmentation"]
    assert same.mean() > 0.995
    near = same & (ours["depth"] < 5)
    error = np.abs(ours["depth"][near] - theirs["depth"][near])
    assert np.quantile(error, 0.99) < 1e-3
    assert theirs["rgb"].shape == (240, 320, 3)
    assert theirs["rgb"].std() > 10
    with pytest.raises(InputError, match=f"the {backend} backend cannot render normals"):
        other.render(data, [camera], ("normals",))


def test_a_broken_driver_is_found_out_in_a_child_process():
    trial = run_trial("import os; os.abort()")
    assert trial.error == "the trial ended with code -6"


def test_filament_says_what_is_missing_without_vulkan(monkeypatch, table):
    monkeypatch.setattr(drivers, "VULKAN_LIBRARY", "libvulkan_is_not_here.so.1")
    drivers.find_vulkan_device.cache_clear()
    try:
        with pytest.raises(StateError, match=r"libvulkan_is_not_here\.so\.1 is missing"):
            make_backend("filament", table[0], "fast")
    finally:
        drivers.find_vulkan_device.cache_clear()
