"""The model of a scene as text is the scene, without any other file."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.scene import build_scene
from handloom.scene.build import model_xml
from handloom.tasks import library, load_task, sample_task
from handloom.values import TaskInstance

WEDGE = "v 0 0 0\nv .05 0 0\nv 0 .04 0\nv 0 0 .03\nv .05 0 .03\nf 1 3 2\nf 1 2 5\nf 1 5 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\n"
OBJECT = """<mujoco><asset><mesh name="wedge" file="wedge.obj" scale="1 1 1.2"/></asset><worldbody><body name="wedge">
<geom type="mesh" mesh="wedge" mass=".1" pos=".01 0 0" quat=".9 .1 .2 0"/></body></worldbody></mujoco>"""


def with_a_mesh_file(folder: Path) -> TaskInstance:
    """Return a scene with an object whose mesh lies in a file."""
    (folder / "wedge.obj").write_text(WEDGE)
    (folder / "wedge.xml").write_text(OBJECT)
    text = library()["fr3_pick_cube"].read_text()
    (folder / "task.yaml").write_text(text.replace("category: cube, parameters: {edge: 0.04},", "path: wedge.xml,"))
    return sample_task(load_task(folder / "task.yaml"), 0, 0)


@pytest.mark.parametrize("task", ["fr3_hang_mug", "genie1_pick_place", "lift2_handover", "a mesh file"])
def test_the_text_compiles_to_the_model_within_six_digits(task: str, tmp_path: Path) -> None:
    instance = with_a_mesh_file(tmp_path) if task == "a mesh file" else sample_task(load_task(task), 3, 0)
    text = model_xml(instance)
    assert "file=" not in text
    read, model = mujoco.MjModel.from_xml_string(text), build_scene(instance).world.model
    for name in ("body_mass", "body_inertia", "body_pos", "geom_pos", "geom_size", "geom_friction", "jnt_range"):
        np.testing.assert_allclose(getattr(read, name), getattr(model, name), rtol=1e-5, atol=1e-5, err_msg=name)
    names = [[m.body(body).name for body in range(m.nbody)] for m in (read, model)]
    assert names[0] == names[1]
