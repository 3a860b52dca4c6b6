"""Backends: what works is found without risk, and nothing is needed for the ray caster."""

import os
import subprocess
import sys

import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.render import BACKENDS, Renderer, probe_backends, spec_of_mjcf_camera
from handloom.render.backends import make_backend
from handloom.render.preset import CPU_PRESETS, GL_PRESETS

DRAW = """
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
    assert set(states) == set(BACKENDS)
    assert states["cpu"].works
    assert all(state.reason for state in states.values())


def test_every_backend_has_the_same_presets():
    assert set(CPU_PRESETS) == set(GL_PRESETS) == {"fast", "balanced", "quality"}


def test_an_unknown_backend_is_named(table):
    model, _ = table
    with pytest.raises(NotFoundError, match="no render backend named 'vulkan'; known: cpu, gl"):
        make_backend("vulkan", model, "fast")


@pytest.mark.gl
def test_gl_and_cpu_agree_on_what_is_where(table):
    model, data = table
    camera = spec_of_mjcf_camera(model, "front", width=320, height=240)
    kinds = ("depth", "segmentation", "rgb")
    ours = Renderer(model).render(data, [camera], kinds)["front"]
    classic = Renderer(model, backend="gl").render(data, [camera], kinds)["front"]
    same = ours["segmentation"] == classic["segmentation"]
    assert same.mean() > 0.995
    near = same & (ours["depth"] < 5)
    error = np.abs(ours["depth"][near] - classic["depth"][near])
    assert np.quantile(error, 0.99) < 1e-3
    assert classic["rgb"].shape == (240, 320, 3)
    with pytest.raises(InputError, match="the gl backend cannot draw normals"):
        Renderer(model, backend="gl").render(data, [camera], ("normals",))
