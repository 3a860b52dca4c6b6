"""What supports an object: its contacts, and the upward force at each."""

from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene

BEARING = 0.3
"""Minimum upward component of the force direction with which something supports an object."""

DEEPEST = 0.004
"""Depth of a contact from which on an object is stuck in what it touches [m]; what rests on it sinks in by 1 mm."""


class Bearer(NamedTuple):
    """A support of an object at one contact."""

    owner: str
    """Object or robot."""
    body: str
    at: Array
    """Position in the world (3,) [m]."""
    force: float
    """Upward force on the object [N]."""


def bearers_of(scene: Scene, name: str, *, steep: bool = False) -> Iterator[Bearer]:
    """Yield the supports of an object.

    Args:
        scene: The scene.
        name: The object.
        steep: Yield everything that touches it, also walls that hold it by friction alone.
    """
    world = scene.world
    world.refresh()
    contact, model = world.data.contact, world.model
    own, force = [world.body_index(body) for body in world.subtree(scene.body_of(name))], np.empty(6)
    bodies = model.geom_bodyid[contact.geom]
    first, second = np.isin(bodies[:, 0], own), np.isin(bodies[:, 1], own)
    # A normal points from the first geom to the second.
    lifts = np.where(second, 1.0, -1.0) * contact.frame[:, 2] > (-np.inf if steep else BEARING)
    for k in np.flatnonzero((first != second) & lifts & (contact.efc_address >= 0)):
        other = model.body(int(bodies[k, 0] if second[k] else bodies[k, 1])).name
        mujoco.mj_contactForce(model, world.data, int(k), force)
        up = float(contact.frame[k].reshape(3, 3)[:, 2] @ force[:3]) * (1.0 if second[k] else -1.0)
        yield Bearer(other.partition("/")[0], other, contact.pos[k], up)


def is_stuck_in(scene: Scene, name: str, target: str) -> bool:
    """Return whether solid parts of an object are in those of a target: it was dropped through a thin floor."""
    world = scene.world
    world.refresh()
    contact, bodies = world.data.contact, world.model.geom_bodyid[world.data.contact.geom]
    own, others = (
        np.isin(bodies, [world.body_index(body) for body in world.subtree(scene.body_of(each))])
        for each in (name, target)
    )
    between = (own[:, 0] & others[:, 1]) | (own[:, 1] & others[:, 0])
    return bool(np.any(between & (contact.dist < -DEEPEST)))


def is_fixed(scene: Scene, name: str) -> bool:
    """Return whether an object of the scene is fixed in place."""
    return any(obj.name == name and obj.fixed for obj in scene.instance.objects)
