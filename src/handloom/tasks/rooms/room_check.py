"""Check that the furniture of a room fits: nothing overlaps, and every door and drawer opens freely."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.tasks.sampling.layouts.settling_world import Overlap, SettlingWorld
from handloom.values import ObjectInstance

TOUCH = 0.0005
"""Overlap that counts as touching [m]."""
STEPS = 12
"""Number of positions at which a joint is checked."""


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """A joint that moves a part into another object."""

    joint: str
    """``<object>/<joint>``."""
    other: str
    value: float
    """First position at which they touch [m or rad]."""


class RoomCheck:
    """All objects of a room in one model, as if each could move, so that overlaps of fixed ones are also found.

    Args:
        objects: The objects at their places.
        resting: Names of objects whose own joints do not count, such as the lid of a pot.
    """

    def __init__(self, objects: Sequence[ObjectInstance], *, resting: Iterable[str] = ()) -> None:
        self._world = SettlingWorld(objects, loose=[obj.name for obj in objects])
        self._resting = set(resting)
        model = self._world.model
        self._owner = [model.body(b).name.partition("/")[0] for b in model.geom_bodyid]

    def overlaps(self) -> list[Overlap]:
        """Return the pairs of objects that overlap with all joints at their start, each once."""
        found: dict[frozenset[str], Overlap] = {}
        for overlap in self._world.overlaps():
            if overlap.depth > TOUCH:
                found.setdefault(frozenset((overlap.name, overlap.other)), overlap)
        return list(found.values())

    def blocked(self) -> list[Blocked]:
        """Return every joint that touches another object on its way from end to end while the others stay closed."""
        model, data = self._world.model, self._world.data
        found: list[Blocked] = []
        for joint in range(model.njnt):
            name = model.joint(joint).name
            if name.endswith("/free") or name.partition("/")[0] in self._resting:
                continue
            moved, address = self._carried(int(model.jnt_bodyid[joint])), int(model.jnt_qposadr[joint])
            start = float(data.qpos[address])
            low, high = model.jnt_range[joint].tolist()
            for value in np.linspace(low, high, STEPS).tolist():
                data.qpos[address] = value
                mujoco.mj_fwdPosition(model, data)
                if other := self._touched(moved):
                    found.append(Blocked(joint=name, other=other, value=value))
                    break
            data.qpos[address] = start
        return found

    def _carried(self, body: int) -> set[int]:
        model, carried = self._world.model, {body}
        for child in range(body + 1, model.nbody):  # A body's number is above its parent's.
            if int(model.body_parentid[child]) in carried:
                carried.add(child)
        return carried

    def _touched(self, moved: set[int]) -> str:
        """Return the other object that a moving part touches, or nothing."""
        model, contact = self._world.model, self._world.data.contact
        for (a, b), distance in zip(contact.geom.tolist(), contact.dist.tolist(), strict=True):
            if distance < -TOUCH and self._owner[a] != self._owner[b]:
                if int(model.geom_bodyid[a]) in moved:
                    return self._owner[b]
                if int(model.geom_bodyid[b]) in moved:
                    return self._owner[a]
        return ""
