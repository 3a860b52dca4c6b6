"""The asset of an object in this episode: a library object, an asset file, or a proxy for a missing file."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import ConfigError, FileError, InputError, NotFoundError
from handloom.objects import ObjectAsset, import_object, make_object
from handloom.objects.importers.asset_files import find_asset
from handloom.objects.importers.import_options import TASK_OPTIONS, demand_known
from handloom.objects.importers.proxy import StandIn, category_of_path, clean_category, stand_in_for
from handloom.objects.keypoints import annotated_scale
from handloom.objects.registry import CATEGORIES, ROOM_CATEGORIES, SUITE_CATEGORIES
from handloom.scene.assets import remember
from handloom.scene.object_config import ObjectConfig
from handloom.skills.configs.motions import PourWaterSuccConfig
from handloom.spatial import quat_conjugate, quat_from_euler_deg, quat_normalize, quat_rotate
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import TaskConfig, placed_skills
from handloom.tasks.sampling.fitting import (
    as_wide_as,
    fitting_a_holder,
    fitting_stand_in,
    named_axis,
    stood_in_holders,
    within_a_hand,
)
from handloom.tasks.sampling.fluid import poured_into, vessel_width
from handloom.tasks.sampling.robots import described

FURNITURE = frozenset(
    (
        "barcode_scanner",
        "conveyor",
        "double_conveyor",
        "turntable",
        "drawer_cabinet",
        "electric_cooker",
        "faucet",
        "fridge",
        "hinged_cabinet",
        "knob",
        "laptop",
        "lidded_box",
        "low_basket",
        "microwave",
        "mug_tree",
        "oven",
        "place_mat",
        "pot",
        "safe",
        "shelf",
        "sliding_cabinet",
        "tool_chest",
        "trash_can",
        "valve",
        "washing_machine",
        *ROOM_CATEGORIES,
    )
)
"""Categories of the library that are articulated, too large for a table with other objects, or part of a room."""


@dataclass(frozen=True, eq=False)
class ChosenAsset:
    """An asset, and whether it is a proxy for a missing file."""

    asset: ObjectAsset
    stands_in: bool = False


def choose_asset(task: Task, entry: ObjectConfig, where: str, rng: np.random.Generator) -> ChosenAsset:
    """Return the asset of an entry.

    Args:
        task: The task.
        entry: The object or fixture.
        where: Start of error messages: file, line and key of the entry.
        rng: Random generator of this entry; used only if something is drawn.
    """
    # A fixed variant is drawn by generator 0, a randomized one again in every episode.
    look = rng if entry.apply_randomization else np.random.default_rng(0)
    try:
        if entry.path or not entry.category:
            return _file_asset(task, entry, where, look)
        return ChosenAsset(remember(_library_asset(entry, look, rng)))
    except (InputError, NotFoundError, FileError) as error:
        raise ConfigError(f"{where}: {error}") from error


NO_CLUTTER = frozenset({"carafe", "potted_plant", "watering_can"})
"""Objects of pouring tasks; as clutter, they would change the draws of all existing seeds."""


def small_categories() -> tuple[str, ...]:
    """Return the categories of the library that a hand can move, sorted."""
    return tuple(sorted(set(CATEGORIES) - FURNITURE - NO_CLUTTER - set(SUITE_CATEGORIES)))


def stands_as_table(task: Task, entry: ObjectConfig) -> bool:
    """Return whether an entry is a library table: by category, or as proxy for a missing file."""
    if not entry.path:
        return entry.category == "table"
    words = (clean_category(name) for name in (entry.category, category_of_path(entry.path), entry.name) if name)
    return any(word.split("_")[-1].removesuffix("s") == "table" for word in words) and is_missing(task, entry)


def stands_as_floor(task: Task, entry: ObjectConfig) -> bool:
    """Return whether a fixture is a room or another unknown asset, which a floor replaces."""
    if not entry.path or entry.target_class == "ConveyorObject" or not is_missing(task, entry):
        return False
    return not stand_in_for(entry.path, entry.name, entry.category).word


def is_missing(task: Task, entry: ObjectConfig) -> bool:
    """Return whether a library object stands in for an entry, since its asset file is missing."""
    if not task.config.proxy_assets or not (entry.path or entry.art_cat):
        return False
    return not _files(task, entry)


@lru_cache(maxsize=128)
def imported(
    file: Path,
    category: str,
    scale: float | tuple[float, float, float],
    info_name: str | None,
    folders: tuple[Path, ...],
    allow_outside: bool,
    options: tuple[tuple[str, Any], ...] = (),
) -> ObjectAsset:
    """Read an asset file; cached per file, as reading is slow."""
    more = {"allow_outside": allow_outside, **dict(options)}
    return import_object(file, category=category, scale=scale, info_name=info_name, folders=folders, **more).asset


def _library_asset(entry: ObjectConfig, look: np.random.Generator, rng: np.random.Generator) -> ObjectAsset:
    color = str(rng.choice(entry.colors)) if entry.colors else entry.color
    category, parameters = entry.category, dict(entry.parameters)
    if entry.apply_randomization and entry.randomization_scope != "category":
        scope = small_categories() if entry.randomization_scope == "full" else entry.randomization_scope
        category = str(scope[int(rng.integers(len(scope)))])
        parameters = parameters if category == entry.category else {}
    if entry.target_class == "ConveyorObject":
        parameters |= _belt_speed(entry, rng)
    return make_object(
        category,
        rng=look,
        scale=_factors(entry) if entry.scale_mode == "keep" else 1.0,
        color=color if isinstance(color, str) else None,
        parameters=parameters,
    )


def _belt_speed(entry: ObjectConfig, rng: np.random.Generator) -> dict[str, float]:
    """Return the parameter of a belt's speed [m/s or rad/s], drawn if the task gives ranges."""
    if entry.velocity_ranges:
        low, high = entry.velocity_ranges[int(rng.integers(len(entry.velocity_ranges)))]
        return {"speed": float(rng.uniform(low, high))}
    given = entry.angular_velocity if entry.category == "turntable" else entry.linear_velocity
    return {"speed": float(given[0])} if given else {}


def _file_asset(task: Task, entry: ObjectConfig, where: str, look: np.random.Generator) -> ChosenAsset:
    files = _files(task, entry)
    if not files:
        if task.config.proxy_assets:
            return ChosenAsset(remember(_stand_in(task, entry, look)), stands_in=True)
        try:
            find_asset(entry.path or f"{entry.art_cat}/instance.usd", task.asset_folders)
        except FileError as error:
            raise ConfigError(f"{error}; --set proxy_assets=true puts a library object in its place") from error
    file = files[int(look.integers(len(files)))] if entry.apply_randomization else files[0]
    task.inside(file, f"{where}.path")
    info = entry.info_name or (Path(entry.obj_info_path).parent.name if entry.obj_info_path else None)
    demand_known(entry.parameters, TASK_OPTIONS)
    options = tuple(sorted(entry.parameters.items()))
    same = not entry.apply_randomization or entry.randomization_scope == "category"
    category = entry.category if same and entry.category else category_of_path(file)
    # An annotation's scale is that of the asset in a scene: it replaces the entry's, it does not multiply it.
    told = info is not None and annotated_scale(file, info) is not None
    scale = 1.0 if told else _factors(entry)
    asset = imported(file, category, scale, info, task.asset_folders, task.config.allow_outside, options)
    if asset.extent.max() < SMALLEST:
        x, y, z = (1000 * asset.extent).tolist()
        raise InputError(
            f"{file} is {x:.2g} x {y:.2g} x {z:.2g} mm with scale {list(entry.scale)}, too small to be handled (its "
            f"longest side must be {1000 * SMALLEST:g} mm or more); give a larger scale, or its parameters a unit"
        )
    return ChosenAsset(asset)


SMALLEST = 0.005
"""Smallest allowed length of the longest side of an asset file in a task [m]."""
OPEN = {
    "basket": "low_basket",
    "cardboard_box": "cardboard_tray",
    "cereal_box": "cardboard_tray",
    "lidded_box": "cardboard_tray",
    "milk_carton": "cardboard_tray",
    "pot": "bowl",
    "snack_box": "tray",
    "tissue_box": "cardboard_tray",
    "trash_can": "bin",
}
"""Category > open stand-in for objects that receive others; handles and lids are in the way from above."""

TAKEN = {"place_mat": "sponge"}
"""Category > stand-in for objects that a hand grasps: no finger gets under a flat cloth."""
ROUND, SLICED = frozenset(("apple", "ball", "lemon", "orange", "tomato")), "sandwich"
"""Rolling category > stand-in on its own rack or plate: food is sliced there."""
ARTICULATED = frozenset(
    (
        *("drawer_cabinet", "electric_cooker", "faucet", "hinged_cabinet", "knob", "laptop", "lidded_box"),
        *("microwave", "oven", "pot", "safe", "trash_can", "washing_machine"),
    )
)
"""Categories of the library that have a joint."""
FALLING = frozenset(("electric_cooker", "pot", "trash_can"))
"""Categories whose lid falls shut when nothing holds it; published lids stay open, and a hand closes them."""
POURED_FROM = "carafe"
"""Stand-in for any source of a fluid."""
BY_ANNOTATION = {"push": "drawer_cabinet", "pull": "drawer_cabinet", "v": "hinged_cabinet", "down": "oven"}
"""Word in an annotation's name > category with such a joint; anything else is a lid."""
WIDTHS = {"laptop": 0.265, "microwave": 0.305, "oven": 0.288}
"""Category > width of published assets of its kind [m], which determines the robot's distance in tasks."""
VOLUMES = {"laptop": 0.01}
"""Category > largest volume of the box around it [m3]: that of published assets of its kind."""
ROOMY = 0.02
"""Largest volume of the box around any other articulated one [m3]: published ovens and microwaves have this."""
PICKS = frozenset(("pick", "manualpick", "dexpick", "dynamicpick", "fail_pick"))
"""Skills that close a hand on their first object."""
SPANNED = 0.7
"""Largest thinnest side of a stand-in that a hand must grasp, as a fraction of the gripper's opening."""
LYING = 0.8
"""The same fraction for the width of an object that lies flat on a rack or a plate and is grasped from above."""
SLENDER = 2.0
"""Minimum ratio of length to width of an object whose own axis must be its length."""
TABLETOP = 0.2
"""Longest side of a stand-in for a shelf on a table [m]."""
FLOOR_HEIGHT, FLOOR_WIDTH = 0.4, 0.36
"""Size of an open container that stands on the floor [m]; objects put into it must fall by ``HEIGHT_DROP``."""
RIM = 0.1
"""Distance below the table top of the rim of a container on the floor beside it [m]."""
BELOW = 0.3
"""A region this far below the top of its target is the floor beside it [m]."""


def place_targets(config: TaskConfig) -> set[str]:
    """Return the objects on or into which skills put others."""
    return {name for _, skill in placed_skills(config) if skill.name != "move" for name in skill.objects[1:]}


def supports(task: Task) -> set[str]:
    """Return the objects that receive others by regions, skills or as grains; they stand upright."""
    config = task.config
    names = {name for region in config.regions for name in (region.target, region.container) if name}
    return names | place_targets(config) | ({config.fluid.container_name} if config.fluid is not None else set())


def stand_in_of(task: Task, entry: ObjectConfig) -> StandIn:
    """Return the library object that stands in for the missing file of an entry."""
    if entry.target_class == "ConveyorObject":
        speed = {"speed": float(entry.linear_velocity[0])} if entry.linear_velocity else {}
        return StandIn(category="double_conveyor", word="conveyor", parameters=speed)
    stand_in = stand_in_for(entry.path or entry.art_cat or "", entry.name, entry.category)
    moves = entry.target_class == "ArticulatedObject"
    if moves and stand_in.category not in ARTICULATED:
        words = (entry.info_name or "").split("_")
        stand_in = replace(
            stand_in, category=next((BY_ANNOTATION[w] for w in words if w in BY_ANNOTATION), "lidded_box")
        )
    if stand_in.category in OPEN and not moves and entry.name in place_targets(task.config):
        stand_in = replace(stand_in, category=OPEN[stand_in.category])
        if stand_in.category == "bin" and _on_floor(task, entry.name):
            height = max(FLOOR_HEIGHT, _depth(task, entry.name) - RIM)
            size = {"length": FLOOR_WIDTH, "width": FLOOR_WIDTH, "height": height}
            stand_in = replace(stand_in, parameters={**stand_in.parameters, **size})
    stand_in = fitting_stand_in(stand_in, entry.name, task.config)
    if stand_in.category in ROUND and entry.name in in_containers(task.config):
        stand_in = StandIn(category=SLICED, word=stand_in.word)
    if stand_in.category in TAKEN and entry.name in _picked(task.config):
        stand_in = StandIn(category=TAKEN[stand_in.category], word=stand_in.word)
    if task.config.fluid is not None and entry.name == task.config.fluid.container_name:
        stand_in = replace(stand_in, category=POURED_FROM)  # Whatever its name, grains must fit in and come out.
    shut = {skill.objects[0] for _, skill in placed_skills(task.config) if skill.name == "close"}
    if stand_in.category in FALLING and entry.name in shut:
        stand_in = replace(stand_in, parameters={**stand_in.parameters, "balanced": True})
    usd = not entry.path or Path(entry.path).suffix.startswith(".usd")
    return replace(stand_in, parameters={**stand_in.parameters, **({"up": _up_axis(task, entry)} if usd else {})})


def _up_axis(task: Task, entry: ObjectConfig) -> str:
    """Return the axis of a missing file that is up when it stands; angles and axes in a task refer to its frame.

    Most published assets have y up. For objects that must stand, the task's axes or angles are more reliable.
    """
    for _, skill in placed_skills(task.config):
        if isinstance(skill, PourWaterSuccConfig):
            for name, axis, _ in skill.container_up:
                if name == entry.name:
                    return "z" if axis in ("z", 2) else "y"
    if entry.orientation_mode != "keep" or entry.name not in supports(task):
        return "y"
    quat = quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0)) if entry.quaternion is None else entry.quaternion
    return "z" if quat_rotate(quat_conjugate(quat_normalize(quat)), [0.0, 0.0, 1.0])[2] > np.sqrt(0.5) else "y"


def _stand_in(task: Task, entry: ObjectConfig, look: np.random.Generator) -> ObjectAsset:
    scope = entry.randomization_scope
    if entry.apply_randomization and isinstance(scope, tuple) and scope:
        folder = scope[int(look.integers(len(scope)))]
        entry = entry.model_copy(update={"path": f"{folder}/instance/{Path(entry.path).name}"})
    chosen = stand_in_of(task, entry)
    asset = make_object(chosen.category, rng=look, parameters=dict(chosen.parameters))
    if asset.articulated:
        most = VOLUMES.get(asset.category, ROOMY)
        factor = (most / float(np.prod(asset.extent))) ** (1 / 3)
        factor = min(factor, WIDTHS.get(asset.category, np.inf) / float(asset.extent[0]))
        return asset if factor >= 1.0 else make_object(asset.category, parameters={**asset.parameters, "scale": factor})
    if asset.category == "shelf" and not _on_floor(task, entry.name) and asset.extent.max() > TABLETOP:
        asset = make_object(asset.category, parameters={**asset.parameters, "scale": TABLETOP / asset.extent.max()})
    for judged in poured_into(task.config, entry.name):
        asset = as_wide_as(asset, vessel_width(asset, judged))
    thin = float(asset.extent.min())
    if entry.name in _picked(task.config) and thin > (widest := SPANNED * _narrowest_gripper(task)):
        asset = make_object(asset.category, parameters={**asset.parameters, "scale": widest / thin})
    if entry.name in _picked(task.config) & in_containers(task.config):
        asset = within_a_hand(asset, LYING * _narrowest_gripper(task))
    axis, overlap = named_axis(task.config, entry.name), stood_in_holders(task.config).get(entry.name)
    if axis is not None and overlap is not None:
        return fitting_a_holder(asset, axis, overlap)
    long, wide = np.sort(asset.extent)[:0:-1]
    if axis is None or long < SLENDER * wide:
        return asset
    return make_object(asset.category, parameters={**asset.parameters, "long_axis": axis})


def in_containers(config: TaskConfig) -> set[str]:
    """Return the objects that regions put on a rack, a plate or a tray; their stand-ins lie flat there."""
    return {region.object for region in config.regions if region.container}


def _picked(config: TaskConfig) -> set[str]:
    """Return the objects that a hand grasps."""
    return {skill.objects[0] for _, skill in placed_skills(config) if skill.name in PICKS}


def _narrowest_gripper(task: Task) -> float:
    """Return the opening of the narrowest gripper of a task [m]."""
    return min(described(task, entry).config.gripper_max_width for entry in task.config.robots)


def _on_floor(task: Task, name: str) -> bool:
    """Return whether a region puts an object on the floor."""
    on_it = any(region.target == "floor" for region in task.config.regions if region.object == name)
    return on_it or _depth(task, name) > BELOW


def _depth(task: Task, name: str) -> float:
    """Return how far below the top of its regions' targets an object may stand [m]; 0 if they put it on top."""
    regions = [region for region in task.config.regions if region.object == name]
    low = [r.random_config.pos_range[0][2] for r in regions if r.random_config and r.random_config.pos_range]
    return -min(low, default=0.0)


def _files(task: Task, entry: ObjectConfig) -> list[Path]:
    """Return all asset files that an entry may use, sorted; only the named one if it is not randomized.

    The instance named by a randomized entry need not exist: those beside it count.
    """
    named = Path(entry.path or f"{entry.art_cat}/instance.usd")
    folders = [Path(entry.art_cat)] if entry.art_cat and (entry.apply_randomization or not entry.path) else []
    if entry.apply_randomization and len(named.parts) > 2:
        category, scope = named.parent.parent, entry.randomization_scope
        folders += [category] if isinstance(scope, str) else [category.parent / name for name in scope]
    found = {file for folder in folders for file in _instances(task, folder, entry, named.name)}
    if found:
        return sorted(found)
    file = task.file(named)
    return [file] if file is not None else []


def _instances(task: Task, category: Path, entry: ObjectConfig, name: str) -> list[Path]:
    """Return the files of a name in the instances of a category, or of all categories beside it."""
    folder = task.folder(category)
    if folder is None:
        return []
    task.inside(folder, task.where("objects"))  # Before it is listed.
    everything = entry.apply_randomization and entry.randomization_scope == "full"
    return list(folder.parent.glob(f"*/*/{name}") if everything else folder.glob(f"*/{name}"))


def _factors(entry: ObjectConfig) -> float | tuple[float, float, float]:
    return entry.scale[0] if len(set(entry.scale)) == 1 else entry.scale
