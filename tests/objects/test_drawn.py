"""What is drawn is smooth and closed, and it is not what collides."""

import math

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from handloom.objects.object_asset import ObjectAsset
from handloom.objects.registry import make_object
from handloom.render import Renderer
from handloom.render.cameras import unproject
from handloom.render.looks import Turned
from handloom.seeding import generator
from handloom.values import CameraSpec

LAMPS = ((0.9, -0.5, 1.6), (-0.7, 0.9, 1.2), (0.2, 0.3, 2.0))
"""Where the lamp hangs [m], for objects of hand size."""
BULB = 0.03


def _thing(category: str) -> ObjectAsset:
    return make_object(category, rng=generator(5, 0, category))


def _stage(asset: ObjectAsset, lamp: NDArray[np.float64] | None) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Put an object on a white floor under one lamp, or under none."""
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.2] * 3, [0.0] * 3
    spec.visual.headlight.specular = [0.0] * 3
    floor = float(asset.aabb[0, 2])
    spec.worldbody.add_geom(name="floor", size=[0, 0, 1], type=mujoco.mjtGeom.mjGEOM_PLANE, pos=[0, 0, floor])
    if lamp is not None:
        light = spec.worldbody.add_light(pos=lamp, dir=-lamp)
        light.type, light.cutoff, light.bulbradius = mujoco.mjtLightType.mjLIGHT_SPOT, 60, BULB
    spec.attach(asset.spec(), prefix="it/", frame=spec.worldbody.add_frame())
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def _looks(asset: ObjectAsset) -> list:
    return [look.under("it/") for look in asset.looks]


def _round_view(category: str) -> tuple[ObjectAsset, Turned, CameraSpec, dict]:
    """Look at an object from straight above at 640 x 480."""
    asset = _thing(category)
    shape = max((look.shape for look in asset.looks if isinstance(look.shape, Turned)), key=_radius)
    model, data = _stage(asset, np.array(LAMPS[0]))
    top = float(asset.aabb[1, 2])
    eye = np.array([0.0, 1e-5, top + 8 * _radius(shape)])
    camera = CameraSpec.looking_at("top", (0.0, 0.0, top), eye=eye, width=640, height=480, focal=1500)
    images = Renderer(model, "quality", looks=_looks(asset)).render(data, [camera], ("segmentation", "normals"))["top"]
    return asset, shape, camera, images


def _radius(shape: Turned) -> float:
    return max(r for r, _ in shape.outer)


@pytest.mark.parametrize("category", ["bowl", "cup", "glass", "plate"])
def test_round_outlines_are_circles_to_half_a_pixel(category: str) -> None:
    _, _, _, images = _round_view(category)
    seen = images["segmentation"] > 0
    columns, rows = np.nonzero(seen.T)
    middle = np.array([columns.min() + columns.max(), rows.min() + rows.max()]) / 2
    padded = np.pad(seen, 1)
    inner = padded[2:, 1:-1] & padded[:-2, 1:-1] & padded[1:-1, 2:] & padded[1:-1, :-2]
    y, x = np.nonzero(seen & ~inner)
    radii = np.hypot(x - middle[0], y - middle[1])
    # A pixel on the edge has its centre up to 0.71 px inside the circle.
    assert radii.max() - radii.min() < 0.5 + math.sqrt(0.5)
    area = math.sqrt(seen.sum() / math.pi)
    assert abs(area - (radii.max() + 0.35)) < 0.5


@pytest.mark.parametrize("category", ["bowl", "cup", "glass", "plate", "vase"])
def test_normals_turn_smoothly_around_an_object(category: str) -> None:
    asset = _thing(category)
    model, data = _stage(asset, np.array(LAMPS[0]))
    size = float(np.linalg.norm(asset.extent))
    camera = CameraSpec.looking_at(
        "side", (0.0, 0.0, 0.0), eye=(1.3 * size, 0.0, 0.9 * size), width=640, height=480, focal=700
    )
    kinds = ("segmentation", "normals", "depth")
    images = Renderer(model, "fast", looks=_looks(asset)).render(data, [camera], kinds)["side"]
    low, high = asset.aabb[:, 2]
    height = unproject(camera, camera.T_parent_camera, images["depth"].astype(np.float32))[..., 2]
    wall = (height > low + 0.2 * (high - low)) & (height < low + 0.8 * (high - low))
    normals, ids = images["normals"].astype(float), images["segmentation"].astype(int)
    # Between neighbours in a row, on one part; at the very edge one pixel is many degrees of a circle.
    facing = wall & (np.abs(normals @ np.array(camera.T_parent_camera[:3, 2])) > 0.35)
    same = (ids[:, 1:] == ids[:, :-1]) & (ids[:, 1:] > 0) & facing[:, 1:] & facing[:, :-1]
    cosine = np.clip(np.sum(normals[:, 1:] * normals[:, :-1], axis=2), -1, 1)
    angle = np.rad2deg(np.arccos(cosine))[same]
    assert len(angle) > 2000
    # The rest are the few pixels where the wall in front ends and the one behind it begins.
    assert np.percentile(angle, 99) < 5.0
