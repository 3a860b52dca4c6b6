"""Objects as people refer to them, and the relations that hold in one frame: on, in, left of, open and so on.

Left, right, in front and behind are those of the first robot: x ahead, y left. Every relation is a rule over recorded
poses and contacts, so only true sentences are generated.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.labels.entities import Entities
from handloom.labels.motion import EpisodeMotion
from handloom.labels.touches import TOUCHING
from handloom.objects.materials import SPOKEN
from handloom.spatial import invert_pose
from handloom.values import ObjectInstance

SUPPORTS = ("table", "shelf", "counter", "conveyor", "pallet", "stand", "turntable")
"""Supporting surfaces: objects can be on them, but not left or right of them."""
APART = 0.03
"""Minimum distance for one object to be left of, or in front of, another [m]."""
UPWARDS = 0.7
"""Minimum vertical component of a contact normal if one object lies on another."""
OPEN, CLOSED = 0.15, 0.05
"""Fraction of its travel beyond which a part is open, and below which it is closed; in between it is neither."""
SIDES = ("left of", "right of", "behind", "in front of")


@dataclass(frozen=True, kw_only=True, eq=False)
class Thing:
    """An object in one frame."""

    name: str
    """Name in the task."""
    nouns: tuple[str, ...]
    """Possible nouns for it, the usual one first."""
    color: str
    """Colour word; empty if none fits."""
    center: Array
    """Middle of its box in the robot's base (3,) [m]."""
    size: float
    """Diagonal of its box [m]."""
    support: bool
    """Whether it is a supporting surface of the scene."""
    movable: bool

    @property
    def noun(self) -> str:
        """The usual noun."""
        return self.nouns[0]

    @property
    def plain(self) -> str:
        """Colour and noun, e.g. ``red cube``."""
        return f"{self.color} {self.noun}" if self.color else self.noun


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A fact that is true in a frame: ``subject relation object``, or ``subject relation``."""

    subject: str
    relation: str
    object: str = ""


class SceneFacts:
    """Objects and facts of one frame.

    Args:
        motion: The motion, with contacts.
        entities: Its entities.
        frame: Frame index.
    """

    def __init__(self, motion: EpisodeMotion, entities: Entities, frame: int) -> None:
        self.motion, self.entities, self.frame = motion, entities, frame
        self._boxes = {}
        T_base_world = invert_pose(motion.T_world_base[frame])
        instances = {obj.name: obj for obj in motion.record.instance.objects}
        things = []
        for entity in entities.objects:
            if entity.part:
                continue
            low, high = (corner[frame] for corner in entities.own_box(entity))
            T = motion.T_world_body[frame, entity.body]
            self._boxes[entity.owner] = low, high, T
            center = T_base_world @ T @ np.append((low + high) / 2, 1.0)
            things.append(self._thing(instances[entity.owner], center[:3], float(np.linalg.norm(high - low))))
        self.things = tuple(things)
        self._pairs = self._touching()

    def _thing(self, obj: ObjectInstance, center: Array, size: float) -> Thing:
        asset = self.motion.scene.assets[obj.name]
        color = "" if obj.look or not asset.color else SPOKEN.get(asset.color, asset.color)
        nouns = tuple(noun.replace("_", " ") for noun in asset.synonyms) or (obj.words or obj.name.replace("_", " "),)
        return Thing(
            name=obj.name,
            nouns=nouns,
            color=color,
            center=center,
            size=size,
            support=asset.category in SUPPORTS,
            movable=not obj.fixed,
        )

    def thing(self, name: str) -> Thing:
        """Return an object by its name in the task."""
        return next(thing for thing in self.things if thing.name == name)

    def has(self, name: str) -> bool:
        """Return whether cameras can see the object of that name."""
        return any(thing.name == name for thing in self.things)

    def _touching(self) -> dict[tuple[str, str], float]:
        """Return the support of each object by another: the largest z component of a normal from b to a."""
        found, model = self.motion.contacts, self.motion.scene.world.model
        pairs: dict[tuple[str, str], float] = {}
        for k in np.flatnonzero((found.frame == self.frame) & (found.distance <= TOUCHING)):
            first, second = (model.body(int(model.geom_bodyid[g])).name.partition("/")[0] for g in found.geoms[k])
            up = float(found.normal[k, 2])  # From the first to the second.
            pairs[second, first] = max(up, pairs.get((second, first), -1.0))
            pairs[first, second] = max(-up, pairs.get((first, second), -1.0))
        return pairs

    def is_on(self, a: str, b: str) -> bool:
        """Return whether a lies on b: b supports it from below, and a is not inside b."""
        return self._pairs.get((a, b), 0.0) >= UPWARDS and not self.is_in(a, b)

    def is_in(self, a: str, b: str) -> bool:
        """Return whether the middle of a is in the box of b, and b is a container."""
        if a == b or not (self.motion.scene.assets[b].holds > 0.0 or self.motion.scene.assets[b].articulated):
            return False
        low, high, T = self._boxes[a]
        middle = T[:3, :3] @ ((low + high) / 2) + T[:3, 3]
        low, high, T = self._boxes[b]
        local = (middle - T[:3, 3]) @ T[:3, :3]
        return bool(np.all(local > low) and np.all(local < high))

    def side(self, a: str, b: str) -> str:
        """Return the side of b that a is on, or an empty string if that is ambiguous or sounds unnatural."""
        first, second = self.thing(a), self.thing(b)
        if a == b or first.support or second.support or self.is_in(a, b) or self.is_in(b, a):
            return ""
        if self.is_on(a, b) or self.is_on(b, a):
            return ""
        dx, dy = (first.center - second.center)[:2]
        if max(abs(dx), abs(dy)) <= APART:
            return ""
        if abs(dy) >= abs(dx):
            return SIDES[0] if dy > 0 else SIDES[1]
        return SIDES[2] if dx > 0 else SIDES[3]

    def holds(self, a: str, relation: str, b: str) -> bool:
        """Return whether a relation holds between two objects."""
        if relation == "on":
            return self.is_on(a, b)
        if relation == "in":
            return self.is_in(a, b)
        return self.side(a, b) == relation

    def opening(self, name: str, part: str) -> str:
        """Return ``open``, ``closed`` or, in between, an empty string."""
        for entity in self.entities.objects:
            if (entity.owner, entity.part) == (name, part):
                share = float(self.entities.opening(entity)[1][self.frame])
                return "open" if share >= OPEN else "closed" if share <= CLOSED else ""
        return ""

    def part_center(self, name: str, part: str) -> Array:
        """Return the middle of a part's box in the robot's base (3,) [m]."""
        entity = next(e for e in self.entities.objects if (e.owner, e.part) == (name, part))
        low, high = (corner[self.frame] for corner in self.entities.own_box(entity))
        T = invert_pose(self.motion.T_world_base[self.frame]) @ self.motion.T_world_body[self.frame, entity.body]
        return T[:3, :3] @ ((low + high) / 2) + T[:3, 3]

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield the parts that open and close, with their objects."""
        for entity in self.entities.objects:
            if entity.part:
                yield entity.owner, entity.part

    def facts(self) -> Iterator[Fact]:
        """Yield every true relation between objects."""
        for a in self.things:
            for b in self.things:
                if a.name != b.name:
                    for relation in ("on", "in"):
                        if self.holds(a.name, relation, b.name):
                            yield Fact(subject=a.name, relation=relation, object=b.name)
                    if side := self.side(a.name, b.name):
                        yield Fact(subject=a.name, relation=side, object=b.name)
        for name, part in self.parts():
            if state := self.opening(name, part):
                yield Fact(subject=f"{name}/{part}", relation=state)
