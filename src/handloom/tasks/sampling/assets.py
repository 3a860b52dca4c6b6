"""The asset of an object in this episode: a library object, an asset file, or a proxy for a missing file."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import ConfigError, FileError, HandloomError, InputError, NotFoundError
from handloom.objects import ObjectAsset, import_object, make_object, proxy_object
from handloom.objects.importers.asset_files import find_asset
from handloom.objects.importers.import_options import TASK_OPTIONS, demand_known
from handloom.objects.importers.proxy import category_of_path, clean_category
from handloom.objects.registry import CATEGORIES
from handloom.scene.assets import remember
from handloom.scene.object_config import ObjectConfig
from handloom.tasks.config.task import Task

FURNITURE = frozenset(
    (
        "barcode_scanner",
        "conveyor",
        "drawer_cabinet",
        "electric_cooker",
        "faucet",
        "hinged_cabinet",
        "knob",
        "laptop",
        "lidded_box",
        "microwave",
        "mug_tree",
        "oven",
        "place_mat",
        "pot",
        "safe",
        "shelf",
        "trash_can",
        "washing_machine",
    )
)
"""Categories of the library that are articulated or too large to be one object among others on a table."""


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
        rng: Generator of this entry; used only where something is drawn.
    """
    # A fixed look is that of generator 0, a randomized one is drawn anew in every episode.
    look = rng if entry.apply_randomization else np.random.default_rng(0)
    try:
        if entry.path or not entry.category:
            return _file_asset(task, entry, where, look)
        return ChosenAsset(remember(_library_asset(entry, look, rng)))
    except (InputError, NotFoundError, FileError) as error:
        raise ConfigError(f"{where}: {error}") from error


def small_categories() -> tuple[str, ...]:
    """Return the categories of the library that a hand can move, sorted."""
    return tuple(sorted(set(CATEGORIES) - FURNITURE))


def stands_as_table(task: Task, entry: ObjectConfig) -> bool:
    """Return whether an entry is a library table: by category, or as proxy for a missing file."""
    if not entry.path:
        return entry.category == "table"
    if not task.config.proxy_assets or "table" not in clean_category(entry.category or category_of_path(entry.path)):
        return False
    try:
        find_asset(entry.path, task.asset_folders)
    except FileError:
        return True
    return False


@lru_cache(maxsize=128)
def imported(
    file: Path,
    category: str,
    scale: float,
    info_name: str | None,
    folders: tuple[Path, ...],
    allow_outside: bool,
    options: tuple[tuple[str, Any], ...] = (),
) -> ObjectAsset:
    """Read an asset file; the same object again for the same file, since reading takes long."""
    more = {"allow_outside": allow_outside, **dict(options)}
    return import_object(file, category=category, scale=scale, info_name=info_name, folders=folders, **more).asset


def _library_asset(entry: ObjectConfig, look: np.random.Generator, rng: np.random.Generator) -> ObjectAsset:
    color = str(rng.choice(entry.colors)) if entry.colors else entry.color
    category, parameters = entry.category, dict(entry.parameters)
    if entry.apply_randomization and entry.randomization_scope != "category":
        scope = small_categories() if entry.randomization_scope == "full" else entry.randomization_scope
        category = str(scope[int(rng.integers(len(scope)))])
        parameters = parameters if category == entry.category else {}
    if entry.target_class == "ConveyorObject" and entry.linear_velocity:
        parameters["speed"] = float(entry.linear_velocity[0])
    return make_object(
        category,
        rng=look,
        scale=_uniform(entry) if entry.scale_mode == "keep" else 1.0,
        color=color if isinstance(color, str) else None,
        parameters=parameters,
    )


def _file_asset(task: Task, entry: ObjectConfig, where: str, look: np.random.Generator) -> ChosenAsset:
    name = entry.path or entry.art_cat or ""
    try:
        file, category = _pick_file(task, entry, look)
    except FileError as error:
        if not task.config.proxy_assets:
            raise ConfigError(f"{error}; --set proxy_assets=true puts a library object in its place") from error
        return ChosenAsset(_stand_in(entry, name, look), stands_in=True)
    task.inside(file, f"{where}.path")
    info = entry.info_name or (Path(entry.obj_info_path).parent.name if entry.obj_info_path else None)
    demand_known(entry.parameters, TASK_OPTIONS)
    options = tuple(sorted(entry.parameters.items()))
    allowed = task.config.allow_outside
    return ChosenAsset(imported(file, category, _uniform(entry), info, task.asset_folders, allowed, options))


def _stand_in(entry: ObjectConfig, name: str, look: np.random.Generator) -> ObjectAsset:
    speed = {"speed": float(entry.linear_velocity[0])} if entry.linear_velocity else {}
    if entry.target_class == "ConveyorObject":
        return make_object("conveyor", rng=look, parameters=dict(speed))
    try:
        return proxy_object(entry.category or name, rng=look)
    except HandloomError:
        if not entry.category or not name:
            raise
        return proxy_object(name, rng=look)


def _pick_file(task: Task, entry: ObjectConfig, look: np.random.Generator) -> tuple[Path, str]:
    """Return the asset file and its category: the one named, or another instance if the entry is randomized."""
    folders = task.asset_folders
    if entry.art_cat and (entry.apply_randomization or not entry.path):
        found = _instances(folders, Path(entry.art_cat), Path(entry.path).name or "instance.usd")
        if found:
            file = found[int(look.integers(len(found)))]
            return file, entry.category or category_of_path(file)
    file = find_asset(entry.path or f"{entry.art_cat}/instance.usd", folders)
    if not entry.apply_randomization:
        return file, entry.category or category_of_path(file)
    scope, library = entry.randomization_scope, file.parent.parent.parent
    wanted = [file.parent.parent.name] if scope == "category" else ["*"] if scope == "full" else list(scope)
    found = sorted({other for name in wanted for other in library.glob(f"{name}/*/{file.name}")})
    file = found[int(look.integers(len(found)))] if found else file
    same = scope == "category" and entry.category
    return file, entry.category if same else category_of_path(file)


def _instances(folders: tuple[Path, ...], category: Path, name: str) -> list[Path]:
    for folder in folders:
        found = sorted((folder / category).glob(f"*/{name}"))
        if found:
            return found
    return []


def _uniform(entry: ObjectConfig) -> float:
    if len(set(entry.scale)) > 1:
        raise InputError(f"scale must be the same in all axes, got {list(entry.scale)}")
    return entry.scale[0]
