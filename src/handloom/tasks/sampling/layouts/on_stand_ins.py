"""Objects on library stand-ins for files: the depth of insertion is only known for the missing file."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene.assets import asset_of
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.scene.regions import Placed, sample_region
from handloom.spatial import quat_conjugate, quat_rotate
from handloom.values import ObjectInstance

ON_TOP = 0.006
"""Shift of ``A_in_B`` that puts an object on top [m]."""
RIM = 0.02
"""Largest rim of a stand-in, as part of its half width [m]."""


def lying_on(
    region: RegionConfig, a: Placed, b: Placed, obj: ObjectInstance, at: Array | None, rng: np.random.Generator
) -> Placed:
    """Return an object on the surface of a stand-in, whose height is unrelated to that of the missing file.

    Args:
        region: Its region; ``z_init`` does not count.
        a: What is placed.
        b: The stand-in.
        obj: The same.
        at: Place from its origin, along the world's axes (3,) [m], without a height; None: the origin.
        rng: Generator of this choice.
    """
    x, y = (0.0, 0.0) if at is None else at[:2].tolist()
    ranges = on_stand_in(RandomConfig(x_bias=x, y_bias=y), a, b, obj)
    inside = region.model_copy(update={"random_type": "A_in_B_region_sampler"})
    return sample_region(inside, ranges, a, b, rng)


def on_stand_in(ranges: RandomConfig, a: Placed, b: Placed, obj: ObjectInstance) -> RandomConfig:
    """Return the shift that puts an object on the surface of a stand-in, as far off its middle as there is room.

    The depth of insertion is only known for the missing file.

    Args:
        ranges: The shift that the task gives.
        a: What is placed.
        b: The stand-in.
        obj: The same.
    """
    half = np.ptp(a.box, axis=0)[:2] / 2
    room = np.maximum(np.ptp(b.box, axis=0)[:2] / 2 - half - RIM, 0.0)
    x, y = np.clip([ranges.x_bias, ranges.y_bias], -room, room).tolist()
    corners = np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]]) * half
    model, top = asset_of(obj).model, float(b.box[1, 2])
    data, hit, inverse = mujoco.MjData(model), np.array([-1], np.int32), quat_conjugate(b.quat)
    mujoco.mj_kinematics(model, data)
    down = quat_rotate(inverse, [0.0, 0.0, -1.0])
    level = corners + np.array([x, y]) + b.position[:2]
    starts = quat_rotate(inverse, np.column_stack([level, np.full(len(level), top)]) - b.position)
    drops = [mujoco.mj_ray(model, data, start, down, None, 1, -1, hit, None) for start in starts]
    drop = min((drop for drop in drops if drop >= 0.0), default=0.0)
    return ranges.model_copy(update={"x_bias": x, "y_bias": y, "z_bias": ON_TOP - drop})
