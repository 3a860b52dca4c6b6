"""Check of whether the hands of a task reach everything in a layout, by the reach map of its robot."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import NotFoundError
from handloom.scene.assets import asset_of
from handloom.scene.regions import Placed
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.spatial import quat_rotate
from handloom.tasks.config.task import Task
from handloom.tasks.reach.arm_groups import HandGroup, Need, groups_of, shared_out
from handloom.tasks.reach.reach_map import APPROACHES, ReachMap, reach_map
from handloom.tasks.work_area import Approach
from handloom.values import ObjectInstance

GRASP_BELOW = 0.04
"""Grasp depth of the fingertips below the top of an object [m], never nearer to the table than ``LOWEST``."""
LOWEST = 0.03
LIFT = 0.08
"""Extra height of the hand before and after a grasp or a place [m]."""
BESIDE = 0.10
"""Distance, added to the half width of an object, at which another one is put beside it [m]."""
SIDES = {"left_of": (-1.0, 0.0), "right_of": (1.0, 0.0), "in_front_of": (0.0, -1.0), "behind": (0.0, 1.0)}
SPARE = 0.05
"""Spare reach of an arm beyond an object, and for a handle also on the near side [m]: few hand poses are possible at
the limits of its reach."""
SHOWN, APART = 3, 0.1
"""Number of reachable spots in a message, and their least distance from each other [m]."""
NOWHERE = "there is no such spot on the whole table"
LEVEL: tuple[Approach, ...] = ("side",)
FROM_ABOVE: tuple[Approach, ...] = ("slanted",)


def knows_reach(task: Task) -> bool:
    """Return whether there is a reach map for a task: it has one robot with arms, at the table of a workplace."""
    config = task.config
    fixtures = {fixture.name for fixture in task.arena.fixtures}
    return config.work_point is not None and config.room is None and config.work_surface in fixtures


def outside(spot: tuple[float, float], corners: Array) -> float:
    """Return how far a spot (2,) is outside a rectangle (2, 2) [m]."""
    return float(np.linalg.norm(np.clip(spot, corners[0], corners[1]) - spot))


def spread_out(spots: Sequence[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """Return the first spots (2,) that keep a distance from each other [m], at most a number of them."""
    kept: list[tuple[float, float]] = []
    for spot in spots:
        if len(kept) < most and all(np.hypot(spot[0] - x, spot[1] - y) >= APART for x, y in kept):
            kept.append(spot)
    return kept


class FingertipAim(NamedTuple):
    """A place that fingertips must reach: a spot from the middle of the table, between two heights above it [m]."""

    x: float
    y: float
    low: float
    high: float
    approaches: tuple[Approach, ...] = APPROACHES


class TaskReach:
    """Places that the hands of a task must reach, with a check of whether they can.

    Args:
        task: A task of one robot at a table.
        props: Its objects and fixtures.
        arms: The arms of its robot.
    """

    def __init__(self, task: Task, props: Sequence[ObjectInstance], arms: Sequence[str]) -> None:
        self.task = task
        self.props = {obj.name: obj for obj in props}
        self.map: ReachMap = reach_map(task)
        self.groups, self.lanes = groups_of(task.config, {robot.name: tuple(arms) for robot in task.config.robots})
        self._asked: dict[tuple[str, FingertipAim], bool] = {}
        self._own_handles: dict[tuple[str, int], list[tuple[Array, tuple[Approach, ...]]]] = {}
        self._loose = False

    def loosen(self) -> bool:
        """Also count spots at the ends of the reach from now on; return whether they did not count before.

        Maps are coarse and hands need some room, so spots near the ends are left out as long as others remain.
        """
        changed, self._loose = not self._loose, True
        self._asked.clear()
        return changed

    def allows(self, places: Mapping[str, Placed]) -> bool:
        """Return whether the arms can share the work, as far as objects are placed."""
        return next(self.ways(places), None) is not None

    def ways(self, places: Mapping[str, Placed]) -> Iterator[tuple[str, ...]]:
        """Yield the assignments of groups to arms in which every hand reaches everything it needs."""
        aims = [[*self._aims(group, places)] for group in self.groups]
        for arms in shared_out(self.groups):
            if all(self._gets_to(arm, aim) for arm, own in zip(arms, aims, strict=True) for aim in own):
                yield arms

    def missed(self, places: Mapping[str, Placed]) -> int:
        """Return the number of unreachable spots in the best assignment of the work to the arms."""
        aims = [[*self._aims(group, places)] for group in self.groups]
        counts = [
            sum(not self._gets_to(arm, aim) for arm, own in zip(arms, aims, strict=True) for aim in own)
            for arms in shared_out(self.groups)
        ]
        return min(counts, default=sum(map(len, aims)))

    def share(self, name: str, corners: Array, places: Mapping[str, Placed]) -> float:
        """Return the fraction of a rectangle (2, 2) on the table, from its middle, that suits an object."""
        x, y = self.map.spots()
        inside = [(a, b) for a in x for b in y if np.all(corners[0] <= (a, b)) and np.all(corners[1] >= (a, b))]
        return float(np.mean(self.suits(name, np.array(inside or [corners.mean(axis=0)]), places)))

    def suits(self, name: str, spots: Array, places: Mapping[str, Placed]) -> NDArray[np.bool_]:
        """Return which spots (n, 2) on the table, from its middle, suit an object."""
        middle, here = self._middle(places), places[name]
        shifts = [np.array([*(middle + spot), here.position[2]]) for spot in spots]
        return np.array([self.allows({**places, name: here.at(at, here.quat)}) for at in shifts])

    def spots_near(self, name: str, corners: Array, places: Mapping[str, Placed]) -> list[tuple[float, float]]:
        """Return the spots from the middle of the table where the hands reach an object, nearest first [m].

        Args:
            name: The object.
            corners: Its region (2, 2), from the middle of the table [m].
            places: Where the fixtures and the object are.
        """
        x, y = self.map.spots()
        here, middle, good = places[name], self._middle(places), list[tuple[float, float]]()
        for spot in ((float(a), float(b)) for a in x for b in y):
            at = np.array([*(middle + spot), here.position[2]])
            if self.allows({**places, name: here.at(at, here.quat)}):
                good.append(spot)
        return sorted(good, key=lambda spot: outside(spot, corners))

    def in_words(self, name: str, corners: Array, places: Mapping[str, Placed]) -> str:
        """Return text about the spots nearest to a region (2, 2) where the hands would reach an object."""
        good = self.spots_near(name, corners, places)
        if not good:
            return f"{NOWHERE}: {self._obstacle(name, places)}"
        near = ", ".join("[{:.2f}, {:.2f}]".format(*self.of_work_frame(spot)) for spot in spread_out(good, SHOWN))
        return f"the nearest of {len(good)} spots where it does: {near}, {outside(good[0], corners):.2f} m from there"

    def of_work_frame(self, spot: ArrayLike) -> tuple[float, float]:
        """Return a spot (2,) relative to the middle of the table in the frame of ``at`` in deed files [m]."""
        x, y = (np.asarray(spot, float) - (self.task.config.work_point or (0.0, 0.0))).tolist()
        return x, y

    def _obstacle(self, name: str, places: Mapping[str, Placed]) -> str:
        """Return text about the skill without a reachable spot of an object, or that no spot suits all skills."""
        x, y = self.map.spots()
        here, middle = places[name], self._middle(places)
        spots = [np.array([a + middle[0], b + middle[1], here.position[2]]) for a in x for b in y]
        for need in (need for group in self.groups for need in group.needs if need.object == name):
            tried = [aim for at in spots for aim in self._aims_of(need, {**places, name: here.at(at, here.quat)})]
            if not any(self._gets_to(arm, aim) for arm in self.map.arms for aim in tried):
                return (
                    f"no arm gets its fingertips where {need.skill.name} needs them, {100.0 * tried[0].low:.0f} cm "
                    "above the table; use a lower or higher one, or another robot"
                )
        known = [need.skill for group in self.groups for need in group.needs if need.object == name]
        jointed = any(isinstance(skill, ArticulatedSkillConfig) for skill in known)
        # What is opened and filled is worked on at two ends, which are nearer together on a smaller one.
        remedy = "use a smaller one" if jointed else "let another arm do one of them, with a handover between"
        return f"every skill finds a spot for it, but no spot suits all of them; {remedy}, or use another robot"

    def _gets_to(self, arm: str, aim: FingertipAim) -> bool:
        if (arm, aim) not in self._asked:
            x, y, low, high, approaches = aim
            spot = np.array([x, y])
            outward = spot - [0.0, self.map.table[0, 1]]  # Robots stand at the near edge of the table.
            spare = (0.0 if self._loose else SPARE) * outward / max(float(np.linalg.norm(outward)), 1e-9)
            around = (spot, spot + spare, spot - spare) if approaches == LEVEL else (spot, spot + spare)
            self._asked[arm, aim] = all(
                self.map.gets_to(arm, place, low, high, approaches=approaches, loosely=self._loose) for place in around
            )
        return self._asked[arm, aim]

    def _middle(self, places: Mapping[str, Placed]) -> Array:
        return places[self.task.config.work_surface].box.mean(axis=0)[:2]

    def _aims(self, group: HandGroup, places: Mapping[str, Placed]) -> Iterator[FingertipAim]:
        """Yield the places that the hand of a group must reach; nothing for objects without a place yet."""
        for need in group.needs:
            if need.object == self.task.config.work_surface:
                yield from self._spot(need.skill)
            elif need.object in places and need.object in self.props:
                yield from self._aims_of(need, places)

    def _aims_of(self, need: Need, places: Mapping[str, Placed]) -> Iterator[FingertipAim]:
        """Yield the places that the hand must reach for a skill's use of a placed object."""
        middle, top = self._middle(places), float(places[self.task.config.work_surface].box[1, 2])
        for point, low, high, ways in self._points(need, places[need.object]):
            x, y = np.round(point - middle, 4).tolist()
            yield FingertipAim(x, y, low - top, high - top, ways)

    def _spot(self, skill: Any) -> Iterator[FingertipAim]:
        """Yield a spot of the table that a place names."""
        at = getattr(skill, "at", None)
        if at is None:
            return
        origin = self.task.config.work_point or (0.0, 0.0)
        if getattr(skill, "at_frame", "target") != "work":
            origin = (0.0, 0.0)
        yield FingertipAim(at[0] + origin[0], at[1] + origin[1], LOWEST, LOWEST + LIFT)

    def _points(self, need: Need, place: Placed) -> Iterator[tuple[Array, float, float, tuple[Approach, ...]]]:
        """Yield spots in the world (2,) and the range of heights that the fingertips must reach there."""
        (_, _, bottom), (_, _, top) = place.box.tolist()
        spot, skill = place.box.mean(axis=0)[:2], need.skill
        if hasattr(skill, "joint") and need.role == 0:
            for handle, ways in self._handles(need, place):
                yield handle[:2], float(handle[2]), float(handle[2]), ways
            return
        side = SIDES.get(str(getattr(skill, "relation", None)))
        if need.role == 1 and (side is not None or getattr(skill, "relation", None) == "beside"):
            away = np.asarray(side if side is not None else (0.0, 0.0))
            half = np.ptp(place.box, axis=0)[:2] / 2
            yield spot + away * (half + BESIDE), bottom + LOWEST, bottom + LOWEST + LIFT, APPROACHES
            return
        low = max(bottom + LOWEST, top - GRASP_BELOW) if need.role == 0 else max(top, bottom + LOWEST)
        yield spot, low, low + LIFT, FROM_ABOVE if top - bottom < LIFT else APPROACHES

    def _handles(self, need: Need, place: Placed) -> list[tuple[Array, tuple[Approach, ...]]]:
        """Return the first and last positions (3,) of a joint's handle, and the approaches of the hand."""
        key = (need.object, id(need.skill))
        if key not in self._own_handles:
            self._own_handles[key] = self._handles_of(need)
        handles = self._own_handles[key]
        return [(quat_rotate(place.quat, point) + place.position, ways) for point, ways in handles] or [
            (place.box.mean(axis=0), APPROACHES)
        ]

    def _handles_of(self, need: Need) -> list[tuple[Array, tuple[Approach, ...]]]:
        """Return the same in the axes of the object; nothing for an object without that joint."""
        obj, skill = self.props[need.object], need.skill
        asset = asset_of(obj)
        try:
            link = asset.joints[asset.joint_index(skill.joint)]
        except (IndexError, NotFoundError):
            return []
        low, high = link.range
        start = obj.joints.get(link.joint, min(max(0.0, low), high))
        by = 0.0 if skill.name == "close" else (skill.least_amount or skill.amount) * (high - low)
        end = (
            min(max(0.0, low), high) if skill.name == "close" else start + by * (1.0 if abs(high) >= abs(low) else -1.0)
        )
        data = mujoco.MjData(asset.model)
        handles = []
        for value in (start, float(np.clip(end, low, high))):
            data.joint(link.joint).qpos[0] = value
            mujoco.mj_kinematics(asset.model, data)
            body = data.body(link.name)
            touched = link.push if skill.name == "close" and link.push is not None else link.head
            point = body.xpos + body.xmat.reshape(3, 3) @ np.asarray(touched)
            normal = body.xmat.reshape(3, 3) @ np.asarray(link.normal)
            handles.append((point, LEVEL if abs(normal[2]) < 0.5 else APPROACHES))
        return handles
