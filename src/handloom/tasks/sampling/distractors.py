"""Distractors: objects that are not part of the task, and free places for them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from handloom.arrays import Array
from handloom.config.search import searched
from handloom.errors import ConfigError
from handloom.objects import ObjectAsset, make_object
from handloom.objects.importers.proxy import category_of_path, clean_category
from handloom.objects.registry import CATEGORIES
from handloom.scene.assets import outline_of, remember
from handloom.scene.region_config import DistractorsConfig
from handloom.scene.regions import CLEARANCE, Placed
from handloom.spatial import quat_from_rotvec
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.assets import imported, small_categories
from handloom.tasks.sampling.layouts.outlines import convex_outline, footprint, outline_distance
from handloom.tasks.sampling.layouts.settling_world import SettlingWorld, at_place
from handloom.tasks.sampling.robots import in_boxes, robot_boxes
from handloom.values import ROLLING_RESISTANCE, ObjectInstance, RobotInstance

LOOKS = 16
"""Number of variants per category, so that a run builds each of them once."""
MAX_SIZE = 0.25
"""Longest side of a distractor [m]; larger objects are in the way."""
ROBOT_ROOM = 0.02
"""Free space between a distractor and the boxes around a robot's parts [m]."""
ROLL_TIME = 2.0
"""Duration for which the path of a rolling object is kept free [s]; hands meet it within that time."""
REDRAWS = 4
"""Objects drawn for each one missing from the minimum, and further attempts to place each of them."""
LEAST_ROOM = 0.001
"""Minimum clearance, even if the task sets none [m]."""
ASSET_FILES = ("Aligned_obj.usd", "Aligned_obj.usda", "Aligned_obj.usdc", "Aligned_obj.obj", "model.xml")
"""File names tried in an instance folder, in this order."""


def sample_distractors(
    task: Task, props: Sequence[ObjectInstance], rng: np.random.Generator
) -> tuple[ObjectInstance, ...]:
    """Return the distractors of an episode, upright and without a place."""
    config = task.config.distractors
    if config is None:
        return ()
    count = int(rng.integers(config.min_num, config.max_num + 1))
    taken = {clean_category(o.category) for o in (*props, *task.config.objects) if o.category}
    choices = [c for c in _choices(task, config) if not _excluded(c, config, taken)]
    if count and not choices:
        raise ConfigError(f"{task.where('distractors')}: the exclusions leave no category to draw from")
    assets = [_drawn_asset(task, config, choices, child) for child in rng.spawn(count)]
    assets = [asset for asset in assets if asset.extent.max() <= MAX_SIZE]
    for child in rng.spawn(REDRAWS * (config.min_num - len(assets))) if len(assets) < config.min_num else ():
        asset = _drawn_asset(task, config, choices, child)
        assets += [asset] if asset.extent.max() <= MAX_SIZE and len(assets) < config.min_num else []
    return tuple(
        ObjectInstance(
            name=name,
            category=asset.category,
            parameters=dict(asset.parameters),
            words=asset.name,
            rolling_resistance=ROLLING_RESISTANCE,
        )
        for name, asset in zip(_free_names(task), assets, strict=False)
    )


def _drawn_asset(
    task: Task, config: DistractorsConfig, choices: Sequence[str | Path], rng: np.random.Generator
) -> ObjectAsset:
    return _asset(task, config, choices[int(rng.integers(len(choices)))], rng)


def _free_names(task: Task) -> Iterator[str]:
    """Yield names for distractors; published tasks also use ``distractor_0`` for their own objects."""
    taken = {entry.name for entry in (*task.config.objects, *task.config.robots)}
    return (name for name in map("distractor_{}".format, itertools.count()) if name not in taken)


def library_stands_in(task: Task) -> bool:
    """Return whether library objects stand in for a folder of distractors without assets."""
    config = task.config.distractors
    return config is not None and bool(config.path) and task.config.proxy_assets and not _files(task, config)


def _choices(task: Task, config: DistractorsConfig) -> list[str | Path]:
    """Return categories of the library, or instance files of the asset folder, sorted."""
    files = _files(task, config) if config.path else []
    if files:
        return list(files)
    if not config.path or task.config.proxy_assets:
        return list(small_categories())
    where = searched(task.path.parent, task.asset_root, allow_outside=task.config.allow_outside)
    raise ConfigError(
        f"{task.where('distractors', 'path')}: {config.path} has no assets <category>/<instance>/Aligned_obj.usd; "
        f"{where}; --set proxy_assets=true takes library objects instead"
    )


def _files(task: Task, config: DistractorsConfig) -> list[Path]:
    """Return the instance files of the first folder of that name, sorted."""
    folder = task.folder(config.path)
    files = [
        next((instance / name for name in ASSET_FILES if (instance / name).is_file()), None)
        for instance in (sorted(folder.glob("*/*")) if folder is not None else ())
    ]
    return [file for file in files if file is not None]


def _excluded(choice: str | Path, config: DistractorsConfig, taken: set[str]) -> bool:
    category = choice if isinstance(choice, str) else category_of_path(choice)
    given = category if isinstance(choice, str) else choice.parent.parent.name
    wanted = {clean_category(name) for name in config.exclude_categories}
    family = CATEGORIES.get(category, "").partition(":")[0].rpartition(".")[2]  # For a hammer, this is tools.
    named = any(
        word in category or word in given or (family and word.removesuffix("s") == family.removesuffix("s"))
        for word in config.exclude_keywords
    )
    return category in taken or category in wanted or named


def _asset(task: Task, config: DistractorsConfig, choice: str | Path, rng: np.random.Generator) -> ObjectAsset:
    if isinstance(choice, str):
        return remember(make_object(choice, rng=np.random.default_rng(int(rng.integers(LOOKS)))))
    task.inside(choice, task.where("distractors", "path"))
    allowed = task.config.allow_outside
    return imported(choice, category_of_path(choice), config.scale[0], None, task.asset_folders, allowed)


class Clutter:
    """The distractors of one layout.

    Args:
        task: The task.
        objs: Distractors without a place.
        scratch: World with everything in it.
    """

    def __init__(self, task: Task, objs: Sequence[ObjectInstance], scratch: SettlingWorld) -> None:
        self.config = task.config.distractors
        self.objs = {obj.name: obj for obj in objs}
        self.scratch = scratch
        self.placed: dict[str, Placed] = {}
        self._task_objects = [entry.name for entry in task.config.objects]

    def place(self, places: Mapping[str, Placed], robots: Sequence[RobotInstance], rng: np.random.Generator) -> None:
        """Place each distractor inside the rectangle, away from the task's objects, each other and the robots."""
        for name in self.objs:
            self.scratch.park(name)
        if self.config is None or not self.objs:
            return
        config, target = self.config, places[self.config.target].box
        neighbours = [
            (self._way_of(name, places[name]), config.min_object_distance)
            for name in self._task_objects
            if name in places and name in self.scratch.objects and name != config.target
        ]
        parts = [box for robot in robots for box in robot_boxes(robot)]
        for round_ in range(1 + REDRAWS):
            for name, obj in self.objs.items():
                if name in self.placed or (round_ and len(self.placed) >= config.min_num):
                    continue
                for _ in range(config.max_attempts):
                    place = self._drawn(config, obj, target, rng)
                    if self._free(place, target, neighbours, parts) and self._put(name, place):
                        self.placed[name] = place
                        neighbours.append((footprint(place), config.distractor_buffer))
                        break

    @property
    def enough(self) -> bool:
        """Whether at least the required number have been placed."""
        return self.config is None or len(self.placed) >= self.config.min_num

    def remove(self, name: str) -> None:
        """Remove a distractor that failed to come to rest."""
        del self.placed[name]
        self.scratch.park(name)

    def instances(self) -> tuple[ObjectInstance, ...]:
        """Return the distractors that have a place."""
        return tuple(at_place(self.objs[name], place) for name, place in self.placed.items())

    def _way_of(self, name: str, place: Placed) -> Array:
        """Return the outline (n, 2) of an object and of its initial rolling path [m]."""
        outline, velocity = footprint(place), np.array(self.scratch.objects[name].rolling[:2])
        return convex_outline(np.concatenate([outline, outline + ROLL_TIME * velocity])) if velocity.any() else outline

    def _put(self, name: str, place: Placed) -> bool:
        """Place a distractor and return whether it penetrates no object or fixture; park it again otherwise."""
        self.scratch.put(name, place.position, place.quat)
        free = all(overlap.depth < LEAST_ROOM / 2 for overlap in self.scratch.overlaps(name))
        if not free:
            self.scratch.park(name)
        return free

    @staticmethod
    def _drawn(config: DistractorsConfig, obj: ObjectInstance, target: Array, rng: np.random.Generator) -> Placed:
        low, high = (np.asarray(corner[:2], float) for corner in config.pos_range)
        xy = target.mean(axis=0)[:2] + rng.uniform(low, high)
        quat = quat_from_rotvec([0.0, 0.0, rng.uniform(-np.pi, np.pi)])
        flat = Placed(np.zeros(3), quat, outline_of(obj))
        return flat.at(np.array([*xy, target[1, 2] - flat.box[0, 2] + CLEARANCE]), quat)

    @staticmethod
    def _free(place: Placed, target: Array, neighbours: list[tuple[Array, float]], parts: list[Array]) -> bool:
        """Return whether a place lies on the target, far enough from its neighbours and outside a robot's parts."""
        outline = footprint(place)
        if np.any(outline.min(axis=0) < target[0, :2]) or np.any(outline.max(axis=0) > target[1, :2]):
            return False
        if any(outline_distance(outline, other) < max(room, LEAST_ROOM) for other, room in neighbours):
            return False
        return not in_boxes(place, parts, ROBOT_ROOM)
