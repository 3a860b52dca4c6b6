"""Backends show the same things in the same places: fifty random scenes, and a marker whose pixels are known."""

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from handloom.render import Renderer, camera_pose, probe_backends, project
from handloom.render.backends import BACKENDS
from handloom.spatial import quat_from_matrix, random_quats
from handloom.values import CameraSpec

SCENES = 50
KINDS = ("box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh")
WEDGE = '<mesh name="wedge" vertex="-.08 -.06 -.03 .08 -.06 -.03 .08 .06 -.03 -.08 .06 -.03 0 -.06 .05 0 .06 .05"/>'
MARKER = 0.012


def random_scene(rng: np.random.Generator) -> tuple[mujoco.MjModel, mujoco.MjData, CameraSpec]:
    """A dozen shapes above a floor, a small marker nearer to the camera, and a camera with an off-centre axis.

    Rasterisers cut round shapes into facets; here into fine ones, so that depths can be compared.
    """
    geoms = [f'<geom name="marker" type="sphere" size="{MARKER}" pos="0 0 .55" rgba="1 1 0 1"/>']
    for kind in rng.choice(KINDS, 12):
        pose = f'pos="{_text(rng.uniform([-0.5, -0.5, 0.1], 0.45))}" quat="{_text(random_quats(rng, 1)[0])}"'
        shape = 'mesh="wedge"' if kind == "mesh" else f'size="{_text(rng.uniform(0.03, 0.1, 3))}"'
        geoms.append(f'<geom type="{kind}" {shape} {pose} rgba="{_text(rng.uniform(0, 1, 3))} 1"/>')
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset>{WEDGE}</asset><statistic extent="2"/><visual>
        <map znear=".01" zfar="20"/><quality numslices="128" numstacks="64"/></visual>
        <worldbody><light pos="0 0 2"/><geom type="plane" size="3 3 1"/>{"".join(geoms)}</worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    position = np.array([*rng.uniform(-1, 1, 2), rng.uniform(0.9, 1.4)])
    z = np.array([*rng.uniform(-0.1, 0.1, 2), 0.4]) - position
    z /= np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    quat = quat_from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    intrinsics = {"width": 224, "height": 168, "fx": 200.0, "fy": 196.0, "cx": 118.5, "cy": 80.25}
    camera = CameraSpec(name="eye", position=tuple(position), quat=tuple(quat), **intrinsics)
    return model, data, camera


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(f"{v:.6f}" for v in values)


def away_from_edges(ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Pixels whose eight neighbours show the same geom."""
    inner = np.zeros(ids.shape, bool)
    h, w = ids.shape
    around = [ids[1 + dy : h - 1 + dy, 1 + dx : w - 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    inner[1:-1, 1:-1] = np.all([a == around[4] for a in around], axis=0)
    return inner


def marker_error(
    model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec, ids: NDArray[np.int32]
) -> float | None:
    """Distance between the projected centre of the marker and the middle of its pixels [px]; None when covered."""
    mask = ids == model.geom("marker").id
    pixels, depths = project(camera, camera_pose(model, data, camera), data.geom("marker").xpos[None])
    if mask.sum() < 0.8 * np.pi * (MARKER * camera.fx / depths[0]) ** 2:
        return None
    y, x = np.nonzero(mask)
    return float(np.hypot(x.mean() + 0.5 - pixels[0, 0], y.mean() + 0.5 - pixels[0, 1]))


@pytest.mark.slow
@pytest.mark.gl
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "cpu"])
def test_fifty_random_scenes_look_the_same_to_every_backend(backend):
    states = {state.name: state for state in probe_backends()}
    if not states[backend].works:
        pytest.skip(states[backend].reason)
    same, errors, markers = [], [], {"cpu": [], backend: []}
    for seed in range(SCENES):
        model, data, camera = random_scene(np.random.default_rng(seed))
        images = {
            name: Renderer(model, backend=name).render(data, [camera], ("depth", "segmentation"))["eye"]
            for name in ("cpu", backend)
        }
        ours, theirs = images["cpu"], images[backend]
        same.append((ours["segmentation"] == theirs["segmentation"]).mean())
        inner = away_from_edges(ours["segmentation"]) & away_from_edges(theirs["segmentation"])
        inner &= np.isfinite(ours["depth"]) & (ours["segmentation"] == theirs["segmentation"])
        errors.append(np.quantile(np.abs(ours["depth"][inner] - theirs["depth"][inner]), 0.999))
        for name, image in images.items():
            error = marker_error(model, data, camera, image["segmentation"])
            if error is not None:
                markers[name].append(error)
    figures = f"ids {np.mean(same):.5f} (least {np.min(same):.5f}), depth {np.max(errors) * 1e3:.3f} mm, markers "
    figures += ", ".join(f"{name} {max(values):.3f} px of {len(values)}" for name, values in markers.items())
    assert np.mean(same) > 0.995, figures
    assert np.max(errors) < 1e-3, figures
    assert all(len(values) > SCENES / 2 and max(values) < 0.5 for values in markers.values()), figures
