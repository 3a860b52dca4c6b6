"""The six region samplers: pose of A relative to B, from their world boxes.

A box is an axis-aligned bounding box (2, 3) [m] in the world: lowest and highest corner.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.spatial import quat_from_rotvec, quat_multiply, quat_rotate

CLEARANCE = 0.001
"""Gap between A and the surface it is put on, closed by settling [m]; published value."""
SINK = 0.005
"""Depth of A inside B when it is placed in it [m]; published value."""


@dataclass(frozen=True, eq=False)
class Placed:
    """An object with a pose in the world."""

    position: Array
    """Origin (3,) [m]."""
    quat: Array
    """Orientation (4,), wxyz."""
    points: Array
    """Surface points (n, 3) in its own frame [m], whose extremes give the box."""

    @cached_property
    def box(self) -> Array:
        """World box (2, 3) [m]; read only, because it is computed once."""
        world = quat_rotate(self.quat, self.points) + self.position
        box = np.stack([world.min(axis=0), world.max(axis=0)])
        box.flags.writeable = False
        return box

    def at(self, position: Array, quat: Array) -> "Placed":
        """Return the same object at another pose."""
        return Placed(position, quat, self.points)


def sample_region(
    region: RegionConfig,
    ranges: RandomConfig,
    a: Placed,
    b: Placed,
    rng: np.random.Generator,
    *,
    c: Placed | None = None,
) -> Placed:
    """Sample a pose for ``a`` relative to ``b``.

    Yaw turns ``a`` about the world's z axis, after its own orientation; its box is that of the turned object.

    Args:
        region: Which sampler.
        ranges: Its ranges: the region's own or an entry of the task's list.
        a: Object to place.
        b: Object on, in or by which it is placed.
        rng: Generator of this choice.
        c: Second target of ``A_along_B_C``.
    """
    turned = a.at(a.position, _turned(a.quat, ranges, rng))
    if ranges.axes == "target":
        turned = turned.at(a.position, quat_multiply(quat_from_rotvec([0.0, 0.0, _yaw(b)]), turned.quat))
    return turned.at(SAMPLERS[region.random_type](ranges, turned, b, rng, c), turned.quat)


def place_in_container(
    region: RegionConfig, a: Placed, container: Placed, spot: Array | None, rng: np.random.Generator
) -> Placed:
    """Put ``a`` at one place of a container.

    Args:
        region: Its ``z_init`` is the height of A's origin above the container's; without one, A's lowest point goes to
            the height of the spot, or to the container's rim. A ``random_config`` with a yaw turns A.
        a: Object to place.
        container: Container in which it is placed.
        spot: Place (3,) from the container's origin, along the world's axes [m]; its height may be NaN. None takes the
            origin.
        rng: Generator of this choice.
    """
    turned = a.at(a.position, _turned(a.quat, region.random_config or RandomConfig(), rng))
    place = container.position if spot is None else container.position + spot
    if region.z_init is not None:
        height = container.position[2] + region.z_init
    elif spot is not None and np.isfinite(spot[2]):
        height = place[2] + _rise(turned) + CLEARANCE
    else:
        height = container.box[1, 2] + _rise(turned) - SINK
    return turned.at(np.array([place[0], place[1], height]), turned.quat)


def _on(ranges: RandomConfig, a: Placed, b: Placed, rng: np.random.Generator, _: Placed | None) -> Array:
    shift = rng.uniform(*_pos_range(ranges))
    if ranges.axes == "target":
        shift = quat_rotate(quat_from_rotvec([0.0, 0.0, _yaw(b)]), shift)
    xy = b.box.mean(axis=0)[:2] + shift[:2]
    return np.array([*xy, b.box[1, 2] + _rise(a) + CLEARANCE + shift[2]])


def _in(ranges: RandomConfig, a: Placed, b: Placed, _: np.random.Generator, __: Placed | None) -> Array:
    xy = b.position[:2] + np.array([ranges.x_bias, ranges.y_bias])
    return np.array([*xy, b.box[1, 2] + _rise(a) - SINK + ranges.z_bias])


def _by(ranges: RandomConfig, a: Placed, b: Placed, rng: np.random.Generator, _: Placed | None) -> Array:
    shift = rng.uniform(*_pos_range(ranges))
    return np.array([*(b.box.mean(axis=0)[:2] + shift[:2]), b.box[0, 2] + _rise(a)])


def _by_circle(ranges: RandomConfig, a: Placed, b: Placed, rng: np.random.Generator, _: Placed | None) -> Array:
    theta = np.deg2rad(rng.uniform(*_pair(ranges.theta_range, "theta_range")))
    return _polar(a, b, rng.uniform(*_pair(ranges.r_range, "r_range")), theta)


def _face(ranges: RandomConfig, a: Placed, b: Placed, rng: np.random.Generator, _: Placed | None) -> Array:
    return _polar(a, b, rng.uniform(*_pair(ranges.r_range, "r_range")), _yaw(b))


def _along(ranges: RandomConfig, a: Placed, b: Placed, rng: np.random.Generator, c: Placed | None) -> Array:
    if c is None:
        raise InputError("A_along_B_C_circle_sampler needs a second target")
    gap = float(np.linalg.norm(b.position - c.position))
    return _polar(a, b, rng.uniform(*_pair(ranges.r_range, "r_range")) + gap, _yaw(b))


SAMPLERS = {
    "A_on_B_region_sampler": _on,
    "A_in_B_region_sampler": _in,
    "A_by_B_region_sampler": _by,
    "A_by_B_circle_sampler": _by_circle,
    "A_face_B_circle_sampler": _face,
    "A_along_B_C_circle_sampler": _along,
}


def _polar(a: Placed, b: Placed, radius: float, theta: float) -> Array:
    """Return the place at a distance and direction from the middle of B, bottoms level."""
    xy = b.box.mean(axis=0)[:2] + radius * np.array([np.cos(theta), np.sin(theta)])
    return np.array([*xy, b.box[0, 2] + _rise(a)])


def _rise(a: Placed) -> float:
    """Return the height of A's origin above its lowest point [m]."""
    return float(a.position[2] - a.box[0, 2])


def _yaw(b: Placed) -> float:
    """Return the direction of B's x axis in the world's plane [rad]."""
    x = quat_rotate(b.quat, [1.0, 0.0, 0.0])
    return float(np.arctan2(x[1], x[0]))


def _turned(quat: Array, ranges: RandomConfig, rng: np.random.Generator) -> Array:
    if ranges.yaw_rotation is None:
        return quat
    yaw = np.deg2rad(rng.uniform(*ranges.yaw_rotation))
    return quat_multiply(quat_from_rotvec([0.0, 0.0, yaw]), quat)


def _pos_range(ranges: RandomConfig) -> tuple[Array, Array]:
    low, high = _pair(ranges.pos_range, "pos_range")
    return np.asarray(low, float), np.asarray(high, float)


def _pair(value: tuple[Any, Any] | None, key: str) -> tuple[Any, Any]:
    if value is None:
        raise InputError(f"this sampler needs {key}")
    return value
