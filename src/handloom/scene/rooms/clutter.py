"""Clutter of a room: each object placed relative to a fixture, such as a dish rack beside the sink.

Rules are tried in order; objects that do not fit are left out. Free places on top of a fixture are searched in plan
view, away from objects already there and from the work area.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.objects import ObjectAsset, make_object
from handloom.scene.assets import remember
from handloom.scene.rooms.clutter_rules import RULES, Rule
from handloom.scene.rooms.furnish import Room, Standing, planar, yaw_of
from handloom.spatial import invert_pose, quat_from_matrix

GAP = 0.015
"""Minimum distance between two objects, and from an edge [m]."""
TRIES = 24
"""Number of positions tried for one object."""
REACHED = 1.15
"""Clutter nearer to the work area than this [m] can be touched by the robot and moves freely; the rest is fixed."""
WORK = (-0.60, 0.60, -0.80, 0.40)
"""Limits in x and y of the space kept free at the workplace [m]."""
DROP = 0.001
"""Gap below an object that moves freely; settling closes it [m]."""


SHARES = {"none": 0.0, "some": 0.65, "much": 1.0}
"""Amount of clutter > factor on the frequency of each object."""


@dataclass(frozen=True, kw_only=True)
class Stray:
    """A clutter object in a room."""

    name: str
    asset: ObjectAsset
    T_world_object: Array
    """Pose (4, 4)."""
    free: bool
    """Whether it moves."""


@dataclass(frozen=True, eq=False)
class _Spot:
    """An occupied rectangle, in the frame of its fixture: middle (2,), half size (2,)."""

    middle: Array
    half: Array


class ClutterPlacer:
    """Places clutter in a room.

    Args:
        room: The room.
        amount: Key of ``SHARES``.
        taken: Names of fixtures that the task uses; nothing else may stand on, in or in front of them.
        without: Categories used by the task; a second object of these would make its instruction ambiguous.
    """

    def __init__(self, room: Room, amount: str, *, taken: Collection[str] = (), without: Collection[str] = ()) -> None:
        self.room, self.share = room, SHARES[amount]
        self.taken, self.without = set(taken), set(without)
        self._spots: dict[tuple[str, int], list[_Spot]] = {}
        self._strays: list[Stray] = []
        self._names: dict[str, int] = {}

    def place(self, rng: np.random.Generator) -> tuple[Stray, ...]:
        """Return all clutter objects."""
        rules = RULES[self.room.kind]
        for rule, child in zip(rules, rng.spawn(len(rules)), strict=True):
            for _ in range(rule.count):
                if float(child.uniform()) < rule.share * self.share:
                    self._put(rule, child)
        return tuple(self._strays)

    def _put(self, rule: Rule, rng: np.random.Generator) -> None:
        categories = [word for word in rule.what if word not in self.without]
        surfaces = self._surfaces(rule)
        if not categories or not surfaces:
            return
        category = categories[int(rng.integers(len(categories)))]
        asset = remember(make_object(category, rng=rng, parameters=dict(rule.parameters)))
        for surface in surfaces:
            if self._put_on(surface, rule, asset, rng):
                return

    def _surfaces(self, rule: Rule) -> list[Standing]:
        """Return the fixtures on which an object may stand, nearest to its related fixture first."""
        found = [
            standing
            for name in rule.where
            for standing in self.room.standing
            if re.fullmatch(rf"{name}(_\d+)?", standing.entry.name)
            if rule.level in standing.asset.keypoints or rule.level == "top"
        ]
        found = [s for s in found if not (s.entry.name in self.taken and s.fixture.name != self.room.at)]
        if not rule.beside:
            return found
        other = self.room.find(rule.beside)
        if other is None:
            return []
        at = other.T_world_object[:2, 3]
        return sorted(found, key=lambda s: _distance(s, at))

    def _put_on(self, surface: Standing, rule: Rule, asset: ObjectAsset, rng: np.random.Generator) -> bool:
        level = rule.level if rule.level in surface.asset.keypoints else "top"
        point = np.asarray(surface.asset.keypoints[level].position)
        key = (surface.entry.name, round(100.0 * float(point[2])))
        spots = self._spots.setdefault(key, self._fixtures_on(surface))
        box = surface.asset.aabb[:, :2]
        for _ in range(TRIES):
            yaw = np.deg2rad(float(rng.uniform(-rule.turn, rule.turn)))
            half = _footprint(asset, yaw)
            middle = self._drawn(rule, surface, box, point, half, rng)
            if middle is None or not _free(middle, half, spots):
                continue
            T_world_object = surface.T_world_object @ planar(
                float(middle[0]), float(middle[1]), float(point[2] - asset.aabb[0, 2]), yaw
            )
            if self._in_the_way(T_world_object, half, surface):
                continue
            spots.append(_Spot(middle, half))
            self._add(asset, T_world_object, rule, rng)
            return True
        return False

    def _drawn(
        self, rule: Rule, surface: Standing, box: Array, point: Array, half: Array, rng: np.random.Generator
    ) -> Array | None:
        """Draw a place on a surface, in its frame (2,) [m]; None if it does not fit."""
        low, high = box[0] + half + GAP, box[1] - half - GAP
        if rule.level.startswith("burner"):
            return point[:2].copy()
        if np.any(low > high):
            return None
        x = float(rng.uniform(low[0], high[0]))
        if rule.beside and (other := self.room.find(rule.beside)) is not None:
            at = invert_pose(surface.T_world_object) @ other.T_world_object[:, 3]
            x = float(np.clip(at[0] + rng.uniform(-0.55, 0.55), low[0], high[0]))
        rows = {"back": (0.86, 1.0), "front": (0.0, 0.3), "middle": (0.35, 0.65), "any": (0.0, 1.0)}[rule.row]
        y = float(low[1] + (high[1] - low[1]) * rng.uniform(*rows))
        return np.array([x, y])

    def _fixtures_on(self, surface: Standing) -> list[_Spot]:
        """Return areas taken by fixtures that stand on a surface or reach through it, with room in front of doors."""
        spots = []
        edge, top = float(surface.asset.aabb[0, 1]), float(surface.T_world_object[2, 3] + surface.asset.aabb[1, 2])
        for other in self.room.standing:
            low, high = other.T_world_object[2, 3] + other.asset.aabb[:, 2]
            T = invert_pose(surface.T_world_object) @ other.T_world_object
            middle, half = T[:2, 3], _footprint(other.asset, np.deg2rad(yaw_of(T)))
            if other is surface or not low < top + 0.003 < high or low < top - 0.3:
                continue
            if np.any(np.abs(middle) > surface.asset.aabb[1, :2] + half):
                continue
            rear = float(middle[1] + half[1])
            near = edge - 0.02 if other.asset.holds and other.asset.articulated else float(middle[1] - half[1])
            half = np.array([half[0] + 0.03, (rear - near) / 2])
            spots.append(_Spot(np.array([middle[0], (rear + near) / 2]), half))
        return spots

    def _in_the_way(self, T_world_object: Array, half: Array, surface: Standing) -> bool:
        """Return whether an object would stand in the work area of the task, or in front of a fixture that it uses."""
        at, reach = T_world_object[:2, 3], float(np.hypot(*half))
        x0, x1, y0, y1 = WORK
        # Objects that the task puts on this fixture may also stand at its back.
        deep = np.inf if surface.entry.name in self.taken else y1 + half[1]
        if x0 - reach < at[0] < x1 + reach and y0 - reach < at[1] < deep:
            return True
        for name in self.taken:
            used = self.room.find(name)
            if used is None or used is surface:
                continue
            local = invert_pose(used.T_world_object) @ T_world_object[:, 3]
            box = used.asset.aabb
            wide = max(abs(box[0, 0]), box[1, 0]) + 0.12 + reach
            if abs(local[0]) < wide and box[0, 1] - 0.6 - reach < local[1] < box[1, 1] + reach:
                return True
        return False

    def _add(self, asset: ObjectAsset, T_world_object: Array, rule: Rule, rng: np.random.Generator) -> None:
        still_life = bool(rule.holds)
        free = not still_life and float(np.hypot(*T_world_object[:2, 3])) < REACHED
        T = T_world_object.copy()
        T[2, 3] += DROP if free else 0.0
        self._strays.append(Stray(name=self._name(asset.category), asset=asset, T_world_object=T, free=free))
        if rule.holds:
            words = [word for word in rule.holds if word not in self.without]
            self._fill(asset, T, words, rng)

    def _fill(self, holder: ObjectAsset, T_world_holder: Array, words: Sequence[str], rng: np.random.Generator) -> None:
        """Put a few objects into a holder, fixed in place."""
        if not words:
            return
        slots = [k.position for name, k in holder.keypoints.items() if name.startswith("slot_")]
        if slots:
            for slot in slots:
                if rng.uniform() < 0.6:
                    plate = remember(make_object(words[0], rng=rng))
                    # On edge in its slot: the plate's axis lies along the rack.
                    T = np.eye(4)
                    T[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
                    T[:3, 3] = np.add(slot, (0.0, 0.0, float(plate.aabb[1, 0]) + 0.002))
                    self._still(plate, T_world_holder @ T)
            return
        turn, fruits = float(rng.uniform(0.0, 2.0 * np.pi)), []
        for k in range(3):
            fruit = remember(make_object(words[int(rng.integers(len(words)))], rng=rng))
            away, a = 0.5 * float(fruit.extent[:2].max()) / np.cos(np.pi / 6) + 0.002, turn + 2.0 * np.pi / 3 * k
            fruits.append((fruit, planar(away * np.cos(a), away * np.sin(a), 0.0, a)))
        for (fruit, T), height in zip(fruits, lowered(holder, fruits), strict=True):
            T[2, 3] = height
            self._still(fruit, T_world_holder @ T)

    def _still(self, asset: ObjectAsset, T_world_object: Array) -> None:
        self._strays.append(
            Stray(name=self._name(asset.category), asset=asset, T_world_object=T_world_object, free=False)
        )

    def _name(self, category: str) -> str:
        self._names[category] = self._names.get(category, 0) + 1
        count = self._names[category]
        return f"clutter_{category}" if count == 1 else f"clutter_{category}_{count}"


def lowered(holder: ObjectAsset, objects: Sequence[tuple[ObjectAsset, Array]]) -> list[float]:
    """Return the heights of objects [m], in the frame of a holder, at which each just touches it from above.

    Args:
        holder: A bowl or tray.
        objects: Assets with their poses (4, 4) in its frame; heights are ignored.
    """
    spec = mujoco.MjSpec()
    spec.attach(holder.spec(), prefix="holder/", frame=spec.worldbody.add_frame())
    for k, (asset, T) in enumerate(objects):
        frame = spec.worldbody.add_frame(pos=[T[0, 3], T[1, 3], 0.0], quat=list(quat_from_matrix(T[:3, :3])))
        child = asset.spec()
        child.body("object").add_joint(name="down", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0])
        spec.attach(child, prefix=f"object_{k}/", frame=frame)
    model = spec.compile()
    data = mujoco.MjData(model)
    owner = [model.body(b).name.partition("/")[0] for b in model.geom_bodyid]
    low = np.full(len(objects), float(holder.aabb[0, 2]))
    high = np.array([float(holder.aabb[1, 2] - asset.aabb[0, 2]) for asset, _ in objects])
    for _ in range(10):
        data.qpos[:] = middle = (low + high) / 2
        mujoco.mj_fwdPosition(model, data)
        pairs = {frozenset((owner[a], owner[b])) for a, b in data.contact.geom.tolist()}
        touching = np.array([frozenset(("holder", f"object_{k}")) in pairs for k in range(len(objects))])
        low, high = np.where(touching, middle, low), np.where(touching, high, middle)
    return high.tolist()


def _distance(standing: Standing, at: Array) -> float:
    """Return the distance of a point (2,) from a fixture seen from above [m]."""
    local = (invert_pose(standing.T_world_object) @ np.array([at[0], at[1], 0.0, 1.0]))[:2]
    box = standing.asset.aabb[:, :2]
    return float(np.linalg.norm(local - np.clip(local, box[0], box[1])))


def _footprint(asset: ObjectAsset, yaw: float) -> Array:
    """Return half the sides (2,) [m] of the box around an object that is turned about z [rad]."""
    half = 0.5 * asset.extent[:2]
    c, s = abs(np.cos(yaw)), abs(np.sin(yaw))
    return np.array([c * half[0] + s * half[1], s * half[0] + c * half[1]])


def _free(middle: Array, half: Array, spots: Sequence[_Spot]) -> bool:
    return all(bool(np.any(np.abs(middle - spot.middle) >= half + spot.half + GAP)) for spot in spots)
