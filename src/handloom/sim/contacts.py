"""Contacts: one contact point, and contact queries between two groups of bodies, bound once for all steps."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from handloom.sim.name_table import NameTable
    from handloom.sim.world import World


@dataclass(frozen=True, kw_only=True, eq=False)
class Contact:
    """A contact point between a geom of ``body_a`` and a geom of ``body_b``."""

    body_a: str
    """Body of the first geom."""
    body_b: str
    """Body of the second geom."""
    geom_a: str
    """First geom; ``#index`` when it has no name."""
    geom_b: str
    """Second geom; ``#index`` when it has no name."""
    distance: float
    """Distance between the surfaces [m]; negative when they overlap."""
    position: Array
    """Point half-way between the surfaces, in world (3,) [m]."""
    normal: Array
    """Unit normal from a to b, in world (3,)."""
    force: Array
    """Force that a exerts on b, in world (3,) [N]; zero when the point lies within the margin but does not press."""


class ContactPair:
    """Contacts between two groups of bodies: whether they touch, and the contact force.

    Binding creates two masks over the geoms, which the world caches, so that a query is a few array operations over the
    contact list and decodes only forces of points that belong to the pair.

    Args:
        world: World with these bodies.
        bodies_a: First group of bodies.
        bodies_b: Second group of bodies; None means every body outside the first group.
    """

    def __init__(
        self, world: "World", bodies_a: "str | Iterable[str]", bodies_b: "str | Iterable[str] | None" = None
    ) -> None:
        self._world = world
        self._geom_in_a, self._geom_in_b = world.contact_masks(bodies_a, bodies_b)

    def _points(self) -> tuple[NDArray[np.int64], Array]:
        """Return the pressing contact points of the pair (n,) and +1 where geom 0 belongs to a, -1 where to b (n,)."""
        self._world.refresh()
        contact = self._world.data.contact
        geom = contact.geom
        forward = self._geom_in_a[geom[:, 0]] & self._geom_in_b[geom[:, 1]]
        backward = self._geom_in_b[geom[:, 0]] & self._geom_in_a[geom[:, 1]] & ~forward
        points = np.flatnonzero((forward | backward) & (contact.efc_address >= 0))
        return points, np.where(forward[points], 1.0, -1.0)

    def touching(self) -> bool:
        """Return whether any contact point of the pair is active."""
        return self._points()[0].size > 0

    def count(self) -> int:
        """Return the number of active contact points of the pair."""
        return int(self._points()[0].size)

    def force(self) -> Array:
        """Return the total force that a exerts on b, in world (3,) [N]."""
        points, signs = self._points()
        total = np.zeros(3)
        wrench = np.zeros(6)
        frames = self._world.data.contact.frame
        for point, sign in zip(points, signs, strict=True):
            mujoco.mj_contactForce(self._world.model, self._world.data, int(point), wrench)
            total += sign * (wrench[:3] @ frames[point].reshape(3, 3))
        return total

    def normal_force(self) -> float:
        """Return the sum of the normal forces over the contact points of the pair [N]."""
        wrench = np.zeros(6)
        total = 0.0
        for point in self._points()[0]:
            mujoco.mj_contactForce(self._world.model, self._world.data, int(point), wrench)
            total += float(wrench[0])
        return total


def all_contacts(world: "World") -> tuple[Contact, ...]:
    """Return every contact point between geoms of a world whose contacts are up to date."""
    contact, wrench = world.data.contact, np.zeros(6)
    found: list[Contact] = []
    for index in range(world.data.ncon):
        geom_a, geom_b = (int(geom) for geom in contact.geom[index])
        if geom_a < 0 or geom_b < 0:
            continue
        mujoco.mj_contactForce(world.model, world.data, index, wrench)
        frame = contact.frame[index].reshape(3, 3)
        found.append(
            Contact(
                body_a=world.bodies.label(int(world.model.geom_bodyid[geom_a])),
                body_b=world.bodies.label(int(world.model.geom_bodyid[geom_b])),
                geom_a=world.geoms.label(geom_a),
                geom_b=world.geoms.label(geom_b),
                distance=float(contact.dist[index]),
                position=contact.pos[index].copy(),
                normal=frame[0].copy(),
                force=wrench[:3] @ frame,
            )
        )
    return tuple(found)


def contact_masks(
    model: mujoco.MjModel, names: "NameTable", bodies_a: "Iterable[str]", bodies_b: "Iterable[str] | None"
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which geoms belong to each of two groups of bodies (ngeom + 1,); None means all outside the first.

    The last entry, False, is for index -1, which marks the flex side of a flex contact.
    """
    in_a = np.zeros(model.nbody, dtype=bool)
    in_a[names.indices(bodies_a)] = True
    in_b = ~in_a
    if bodies_b is not None:
        in_b = np.zeros(model.nbody, dtype=bool)
        in_b[names.indices(bodies_b)] = True
    return np.append(in_a[model.geom_bodyid], False), np.append(in_b[model.geom_bodyid], False)
