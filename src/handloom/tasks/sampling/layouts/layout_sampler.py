"""Draw layouts from the regions of a task: places, distances seen from above, containers and their slots."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, NotFoundError
from handloom.scene.assets import asset_of, outline_of, robot_description
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.scene.regions import Placed, place_in_container, sample_region
from handloom.tasks.config.task import Task
from handloom.tasks.reach.within_reach import TaskReach, knows_reach
from handloom.tasks.sampling.layouts.cavity_places import IN_CAVITY, CavityRoom, cavity_room, lifted, place_in_cavity
from handloom.tasks.sampling.layouts.container_spots import ContainerSpots, gap_file
from handloom.tasks.sampling.layouts.on_stand_ins import lying_on, on_stand_in
from handloom.tasks.sampling.layouts.outlines import footprint, outline_distance
from handloom.tasks.sampling.layouts.reachable_cells import ReachableCells, cells_of
from handloom.tasks.sampling.layouts.settling_world import NoPlaceError, Overlap, SamplingError, SettlingWorld
from handloom.tasks.sampling.robots import lowest_point
from handloom.values import ObjectInstance, RobotInstance

OUT_OF_REACH = "was out of reach"
REACH_DRAWS = 600
"""The same for a region of which only the reachable part counts; unreachable spots cost almost nothing."""
MAX_DRAWS = 40
"""Draws of one object before the layout is given up."""
PATIENT_DRAWS = 100
"""The same in a patient layout."""
TOUCH = 0.0005
"""Overlap [m] that counts as touching."""


class LayoutSampler:
    """Draws layouts: regions in file order, supports before the objects on them, without penetration.

    Args:
        task: The task.
        props: Its objects and fixtures.
        robots: Its robots.
        scratch: World with all of them, for overlap checks.
    """

    def __init__(
        self, task: Task, props: Sequence[ObjectInstance], robots: Sequence[RobotInstance], scratch: SettlingWorld
    ) -> None:
        self.task = task
        self.scratch = scratch
        self.props = {obj.name: obj for obj in props}
        self.robots = {robot.name: robot for robot in robots}
        self.regions = ordered(task.config.regions)
        self.spread = {entry.name for entry in task.config.objects if entry.optimize_2d_layout}
        self._reach = self._reach_of(task, props)
        self._waiting: set[str] = set()
        self._clear: dict[str, float] = {}
        self._cells: dict[str, ReachableCells] = {}
        self._spots = {r.container: self._spots_of(r.container) for r in task.config.regions if r.container}
        self.rooms = {r.object: room for r in self.regions if (room := self._room_of(r)) is not None}

    @property
    def can_be_patient(self) -> bool:
        """Whether patient layouts differ from others: a region is limited to the reach of the hands."""
        return any(map(self._cut, self.regions))

    def draw(self, rng: np.random.Generator, *, patient: bool = False) -> dict[str, Placed]:
        """Return a place for every object and robot.

        Args:
            rng: Generator of places.
            patient: Place the largest objects first and draw only from where the hands reach, which finds more layouts
                in a crowded area; these are spread less evenly.

        Raises:
            NoPlaceError: An object found no free place; another layout may have one.
            SamplingError: The list that regions draw from is used up.
        """
        self.scratch.reset()
        places = self._start()
        waiting = {region.object for region in self.regions}
        self._waiting = set(waiting)
        self._clear = {}
        for name in self.scratch.loose:
            if name in waiting or name not in places:
                self.scratch.park(name)
            else:
                self.scratch.put(name, places[name].position, places[name].quat)
        used: set[int] = set()
        taken: dict[str, set[int]] = {name: set() for name in self._spots}
        outlines: dict[str, Array] = {}
        for region in self._largest_first(places) if patient else self.regions:
            ranges = self._ranges(region, used, rng)
            self._place(region, ranges, places, outlines, taken, rng, patient=patient)
            self._waiting.discard(region.object)
        return places

    def _largest_first(self, places: Mapping[str, Placed]) -> tuple[RegionConfig, ...]:
        """Return the regions with those that are limited to the reach last, the largest objects first among them."""
        size = {r.object: float(np.prod(np.ptp(places[r.object].box, axis=0)[:2])) for r in self.regions}
        return ordered(sorted(self.regions, key=lambda r: (self._cut(r), -size[r.object])))

    def _cells_of(
        self, region: RegionConfig, ranges: RandomConfig, places: dict[str, Placed], rng: np.random.Generator
    ) -> ReachableCells | None:
        """Return the reachable cells of a region; None if it is not limited to them, or nothing there is reachable."""
        if not self._cut(region) or ranges.pos_range is None:
            return None
        if region.object not in self._cells:
            assert self._reach is not None
            middles, size = cells_of(ranges)
            somewhere = {**places, region.object: self._drawn_at(region, ranges, None, places, rng)}
            free = self._reach.suits(region.object, middles, self._alone(region.object, somewhere))
            self._cells[region.object] = ReachableCells(ranges, middles[free], size)
        cells = self._cells[region.object]
        return cells if len(cells.middles) else None

    def _alone(self, name: str, places: Mapping[str, Placed]) -> dict[str, Placed]:
        """Return the places of an object and the fixtures only."""
        fixtures = {fixture.name for fixture in self.task.arena.fixtures}
        return {other: place for other, place in places.items() if other in fixtures or other == name}

    def _reach_of(self, task: Task, props: Sequence[ObjectInstance]) -> TaskReach | None:
        if not any(region.within_reach for region in task.config.regions) or not knows_reach(task):
            return None
        robot = next(iter(self.robots.values()))
        arms = [arm.name for arm in robot_description(robot.robot, robot.overrides).arms]
        return TaskReach(task, props, arms)

    def allows(self, overlap: Overlap) -> bool:
        """Return whether a region puts one of the two into the other, in which case it is pushed out."""
        pair = {overlap.name, overlap.other}
        return any(
            {r.object, r.container or r.target} == pair and (r.container or r.random_type == "A_in_B_region_sampler")
            for r in self.regions
            if r.object not in self.rooms
        )

    def _place(
        self,
        region: RegionConfig,
        ranges: RandomConfig,
        places: dict[str, Placed],
        outlines: dict[str, Array],
        taken: dict[str, set[int]],
        rng: np.random.Generator,
        *,
        patient: bool,
    ) -> None:
        """Draw until the object overlaps nothing that was placed before."""
        name, why, left, place = region.object, "found no place", MAX_DRAWS, places[region.object]
        cells, refusals = self._cells_of(region, ranges, places, rng) if patient else None, Counter[str]()
        left = left if cells is None else PATIENT_DRAWS
        for _ in range(MAX_DRAWS if not self._cut(region) else REACH_DRAWS if cells is None else PATIENT_DRAWS):
            spot = self._free_spot(region, taken, rng)
            here = ranges if cells is None else cells.drawn(rng)
            place, misfit = self._drawn(region, here, spot, places, rng)
            if self._cut(region) and not self._within_reach(name, place, places):
                why = OUT_OF_REACH
                continue
            if left == 0:
                break
            left -= 1
            if name not in self.scratch.loose:
                places[name] = place  # A robot, or an object that is only visible.
                return
            place, refusal = (place, misfit) if misfit else self._tried(region, place, outlines)
            if refusal is None:
                places[name] = place
                if self.spread or region.clear:
                    outlines[name] = footprint(place)
                    self._clear[name] = region.clear
                if region.container and spot is not None:
                    taken[region.container].add(spot)
                return
            why = refusal
            refusals[refusal] += 1
        if why == OUT_OF_REACH:
            self._refuse_region(region, ranges, {**places, name: place})
        # Where the hands reach, something else was in the way.
        raise NoPlaceError(name, refusals.most_common(1)[0][0] if refusals else why)

    def _cut(self, region: RegionConfig) -> bool:
        """Return whether only the reachable part of a region counts."""
        return region.within_reach and self._reach is not None

    def _within_reach(self, name: str, place: Placed, places: Mapping[str, Placed]) -> bool:
        """Return whether the hands reach an object, given those placed before it."""
        assert self._reach is not None
        known = {other: there for other, there in places.items() if other not in self._waiting}
        return self._reach.allows({**known, name: place})

    def _refuse_region(self, region: RegionConfig, ranges: RandomConfig, places: Mapping[str, Placed]) -> None:
        """Raise if no spot of a region is within reach, wherever the other objects are."""
        assert self._reach is not None
        if ranges.pos_range is None:
            return
        corners = np.array(ranges.pos_range)[:, :2]
        alone = self._alone(region.object, places)
        if self._reach.share(region.object, corners, alone) > 0.0:
            return
        self._cells.clear()
        if self._reach.loosen() and self._reach.share(region.object, corners, alone) > 0.0:
            return
        robot = self.task.config.robots[0]
        (x0, y0), (x1, y1) = map(self._reach.of_work_frame, corners)
        raise SamplingError(
            "out_of_reach",
            f"no arm of {robot.name} reaches {region.object} as its skills need, anywhere between x {x0:.2f} and "
            f"{x1:.2f}, y {y0:.2f} and {y1:.2f} m in the work frame (that of at); "
            f"{self._reach.in_words(region.object, corners, alone)}; "
            f"handloom robot show {robot.robot_config_file} --reach draws its reach",
            where=self.task.where("regions", self.task.config.regions.index(region)),
            near=(region.object, self._reach.spots_near(region.object, corners, alone)),
        )

    def _gap(self, region: RegionConfig, other: str) -> float | None:
        """Return the required distance between two objects, seen from above [m]; None if any will do."""
        if region.clear and self._clear.get(other):
            return min(region.clear, self._clear[other])
        return 0.0 if region.object in self.spread or other in self.spread else None

    def _tried(self, region: RegionConfig, place: Placed, outlines: dict[str, Array]) -> tuple[Placed, str | None]:
        """Return a place, further up in a cavity whose floor is not level there, and why it is refused, or None."""
        room, refusal = self.rooms.get(region.object), None
        for there in (place,) if room is None else lifted(room, place):
            refusal = self._refusal(region, there, outlines)
            if refusal is None or refusal != f"overlapped {region.target}":
                return there, refusal
        return place, refusal

    def _refusal(self, region: RegionConfig, place: Placed, outlines: dict[str, Array]) -> str | None:
        """Return why a place is refused, or None."""
        name = region.object
        near = {o: there for o, there in outlines.items() if self._gap(region, o) is not None}
        outline = footprint(place) if near else None
        for other, there in near.items():
            if outline is not None and outline_distance(outline, there) <= (self._gap(region, other) or 0.0):
                self.scratch.park(name)
                return f"overlapped {other} seen from above, or came too near"
        self.scratch.put(name, place.position, place.quat)
        for overlap in self.scratch.overlaps(name):
            if overlap.depth > TOUCH and not self.allows(overlap):
                self.scratch.park(name)
                return f"overlapped {overlap.other}"
        return None

    def _drawn(
        self,
        region: RegionConfig,
        ranges: RandomConfig,
        spot: int | None,
        places: dict[str, Placed],
        rng: np.random.Generator,
    ) -> tuple[Placed, str | None]:
        """Return a place, and why the object does not fit there; None if nothing is known against it yet."""
        if room := self.rooms.get(region.object):
            return place_in_cavity(room, ranges, places[region.object], places[region.target], rng)
        return self._drawn_at(region, ranges, spot, places, rng), None

    def _drawn_at(
        self,
        region: RegionConfig,
        ranges: RandomConfig,
        spot: int | None,
        places: dict[str, Placed],
        rng: np.random.Generator,
    ) -> Placed:
        a = places[region.object]
        if region.container:
            container = places[region.container]
            at = None if spot is None else self._spots[region.container].offset(spot, container.quat)
            obj = self.props.get(region.container)
            if obj is not None and self._stands_in(region.container) and (at is None or np.isnan(at[2])):
                return lying_on(region, a, container, obj, at, rng)
            return place_in_container(region, a, container, at, rng)
        if region.random_type == "A_in_B_region_sampler" and self._stands_in(region.target):
            ranges = on_stand_in(ranges, a, places[region.target], self.props[region.target])
        c = places[region.target2] if region.target2 else None
        return sample_region(region, ranges, a, self._target(region, places), rng, c=c)

    def _target(self, region: RegionConfig, places: dict[str, Placed]) -> Placed:
        """Return the target, or the part of it that the region names."""
        whole = places[region.target]
        if region.sub_tgt_prim is None or region.target not in self.props:
            return whole
        try:
            return Placed(whole.position, whole.quat, outline_of(self.props[region.target], region.sub_tgt_prim))
        except NotFoundError as error:
            if self._stands_in(region.target):  # The parts of a file mean nothing for its stand-in.
                return whole
            index = self.task.config.regions.index(region)
            raise ConfigError(f"{self.task.where('regions', index, 'sub_tgt_prim')}: {error}") from error

    def _room_of(self, region: RegionConfig) -> CavityRoom | None:
        """Return the cavity into which a region puts its object; None if it puts it elsewhere."""
        named = region.random_type == "A_in_B_region_sampler" and region.sub_tgt_prim is not None
        if region.container or not (named or region.random_type == IN_CAVITY):
            return None
        obj = self.props.get(region.target)
        if named and (obj is None or self._stands_in(region.target)):  # Its file's parts mean nothing for it.
            return None
        return cavity_room(self.task, region, obj)

    def _stands_in(self, name: str) -> bool:
        """Return whether an object of the library stands in for a file."""
        entries = (*self.task.arena.fixtures, *self.task.config.objects)
        entry = next((o for o in entries if o.name == name), None)
        return entry is not None and bool(entry.path) and "path" not in self.props[name].parameters

    def _free_spot(self, region: RegionConfig, taken: dict[str, set[int]], rng: np.random.Generator) -> int | None:
        if region.container is None or not len(self._spots[region.container].offsets):
            return None
        free = [i for i in range(len(self._spots[region.container].offsets)) if i not in taken[region.container]]
        if not free:
            raise SamplingError(
                "container_full",
                f"{region.object} goes into {region.container}, whose {len(taken[region.container])} places are taken; "
                "give the container more places with gap, or put fewer objects into it",
                where=self.task.where("regions", self.task.config.regions.index(region)),
            )
        return free[int(rng.integers(len(free)))]

    def _spots_of(self, container: str) -> ContainerSpots:
        """Return the places of a container: gap offsets, slots of a library object, or equal shares of its length."""
        obj = self.props.get(container)
        if obj is None:
            return ContainerSpots(np.zeros((0, 3)))
        entry = next((o for o in self.task.config.objects if o.name == container), None)
        gap = entry.gap if entry is not None and entry.gap else gap_file(obj)
        if gap:
            return ContainerSpots(np.array([[offset, 0.0, 0.0] for offset in gap]))
        asset = asset_of(obj)
        slots = [k.position for name, k in asset.keypoints.items() if name.startswith(("slot_", "peg_"))]
        if slots:
            return ContainerSpots(np.array(slots).reshape(-1, 3), turns=True)
        count = sum(region.container == container for region in self.task.config.regions)
        if count < 2:
            return ContainerSpots(np.zeros((0, 3)))
        shares = (np.arange(count) + 0.5) / count - 0.5
        return ContainerSpots(np.outer(shares * asset.extent[0], [1.0, 0.0, 0.0]), turns=True, level=True)

    def _ranges(self, region: RegionConfig, used: set[int], rng: np.random.Generator) -> RandomConfig:
        """Return the ranges of a region: its own, or one of the task's list, each used at most once."""
        if not region.draws_from_pool:
            return region.random_config or RandomConfig()
        pool = self.task.config.random_region_list
        left = [i for i in range(len(pool)) if i not in used]
        # As published: an index refers to the rest of the list, and counts from its end if negative.
        wanted = region.priority if isinstance(region.priority, tuple) and region.priority else range(len(left))
        free = [left[i] for i in wanted if -len(left) <= i < len(left)]
        if not free:
            raise SamplingError(
                "region_list_empty",
                f"{region.object} draws from random_region_list, which has no entry left for it",
                where=self.task.where("regions", self.task.config.regions.index(region)),
            )
        chosen = free[int(rng.integers(len(free)))]
        used.add(chosen)
        return pool[chosen]

    def _start(self) -> dict[str, Placed]:
        """Return the poses of the task file, before regions apply."""
        places = {o.name: Placed(np.array(o.position), np.array(o.quat), outline_of(o)) for o in self.props.values()}
        for robot in self.robots.values():
            lowest = np.array([[0.0, 0.0, lowest_point(robot)]])
            places[robot.name] = Placed(np.array(robot.position), np.array(robot.quat), lowest)
        return places


def ordered(regions: Sequence[RegionConfig]) -> tuple[RegionConfig, ...]:
    """Return the regions in file order, but each after those of the objects it refers to."""
    waiting, result = list(regions), []
    while waiting:
        for region in waiting:
            needs = {region.target, region.target2, region.container} - {region.object}
            if not any(other.object in needs for other in waiting if other is not region):
                break
        else:
            region = waiting[0]  # They refer to each other in a cycle; the file's order is kept.
        waiting.remove(region)
        result.append(region)
    return tuple(result)
