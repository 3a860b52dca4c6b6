"""Which objects and fixtures an episode has, before they have a place."""

from pathlib import Path
from typing import Any

import numpy as np

from handloom.config.search import MAX_PARENTS
from handloom.errors import ConfigError, FileError
from handloom.objects import ObjectAsset, import_object, make_object, proxy_object
from handloom.render.textures import TEXTURES
from handloom.scene.object_config import ObjectConfig
from handloom.spatial import quat_from_euler_deg, quat_normalize, random_quats
from handloom.tasks.loading import Task
from handloom.values import ObjectInstance

PLANE_THICKNESS = 0.01
"""A sheet is a thin box [m]; its upper face is where the task says the plane is."""
LOOKS = 24
"""How many looks of each procedural texture are drawn from."""
PLAIN = (0.82, 0.80, 0.76)
"""Colour of surfaces without colour and texture, linear RGB."""


def sample_props(task: Task, rng: np.random.Generator) -> tuple[ObjectInstance, ...]:
    """Choose an asset for every fixture and object, with its orientation; positions come later.

    Every entry draws from a generator of its own, so that editing one object does not change the others.
    """
    entries = (*task.arena.fixtures, *task.config.objects)
    generators = rng.spawn(len(entries))
    return tuple(_sample(task, entry, child) for entry, child in zip(entries, generators, strict=True))


def _sample(task: Task, entry: ObjectConfig, rng: np.random.Generator) -> ObjectInstance:
    fixture = any(entry is other for other in task.arena.fixtures)
    if entry.target_class == "PlaneObject" or entry.category == "table":
        return _surface(task, entry, rng)
    asset = _asset(task, entry, rng)
    physics = task.config.physics
    movable = entry.target_class in ("RigidObject", "ArticulatedObject") and not entry.fix_base and not fixture
    return ObjectInstance(
        name=entry.name,
        category=asset.category,
        parameters=dict(asset.parameters),
        position=entry.translation or (0.0, 0.0, 0.0),
        quat=_orientation(entry, asset, rng),
        fixed=not movable,
        words=asset.name,
        mass_scale=float(rng.uniform(*physics.mass_scale)) if movable else 1.0,
        friction=float(rng.uniform(*physics.friction)) if movable and physics.friction else None,
    )


def _asset(task: Task, entry: ObjectConfig, rng: np.random.Generator) -> ObjectAsset:
    """Return the asset of an entry: a file, a library object, or a stand-in for a file that is not there."""
    # A fixed look is that of generator 0, a randomized one is drawn anew in every episode.
    look = rng if entry.apply_randomization else np.random.default_rng(0)
    if entry.path or not entry.category:
        return _file_asset(task, entry, look)
    color = str(rng.choice(entry.colors)) if entry.colors else entry.color
    if isinstance(color, tuple):
        where = f"{task.path}: objects: {entry.name!r}"
        raise ConfigError(f"{where}: a library object has a colour word, got {list(color)}")
    return make_object(entry.category, rng=look, color=color, parameters=entry.parameters)


def _file_asset(task: Task, entry: ObjectConfig, look: np.random.Generator) -> ObjectAsset:
    where = f"{task.path}: objects: {entry.name!r}"
    if len(set(entry.scale)) > 1:
        raise ConfigError(f"{where}: scale must be the same in all axes, got {list(entry.scale)}")
    name = entry.path or entry.art_cat or ""
    root = [Path(task.config.asset_root)] if task.config.asset_root else []
    folders = [task.path.parent, *list(task.path.resolve().parents)[:MAX_PARENTS], *root]
    try:
        return import_object(
            name,
            category=entry.category or None,
            scale=entry.scale[0],
            mass=entry.mass,
            info_name=entry.info_name,
            folders=folders,
        ).asset
    except FileError as error:
        if not task.config.proxy_assets:
            raise ConfigError(
                f"{where}: {error}; --set proxy_assets=true puts a library object in its place"
            ) from error
        return proxy_object(entry.category or name, rng=look)


def _surface(task: Task, entry: ObjectConfig, rng: np.random.Generator) -> ObjectInstance:
    size = tuple(entry.size or (1.2, 0.8, 0.75))
    plane = entry.target_class == "PlaneObject"
    size = (*size[:2], PLANE_THICKNESS) if plane else size
    if len(size) != 3:
        raise ConfigError(
            f"{task.path}: arena: {entry.name!r}: a table has a size of three numbers [m], got {list(size)}"
        )
    height = 0.0
    if not plane and task.config.table_height is not None:
        height = float(rng.uniform(*task.config.table_height)) - size[2]
        size = (size[0], size[1], size[2] + height)
    x, y, z = entry.translation or (0.0, 0.0, size[2] / 2)
    return ObjectInstance(
        name=entry.name,
        category="plane" if plane else "table",
        parameters={"size": [float(v) for v in size], **_surface_look(entry, rng)},
        position=(x, y, z - PLANE_THICKNESS / 2 if plane and entry.euler is None else z + height / 2),
        quat=_orientation(entry, None, rng),
        fixed=True,
        words=entry.name,
    )


def _surface_look(entry: ObjectConfig, rng: np.random.Generator) -> dict[str, Any]:
    """Return colour or texture of a fixture; a folder of pictures stands for the procedural texture in its name."""
    if isinstance(entry.color, tuple):
        return {"color": list(entry.color)}
    if entry.texture is None:
        return {"color": list(PLAIN)}
    name = next((known for known in TEXTURES if known in entry.texture.texture_lib), "plaster")
    seed = int(rng.integers(LOOKS)) if entry.texture.apply_randomization else entry.texture.texture_id
    repeat = [float(value) for value in (*entry.texture.texture_scale, *entry.texture.texture_scale)[:2]]
    return {"texture": name, "texture_seed": seed, "repeat": repeat}


def _orientation(
    entry: ObjectConfig, asset: ObjectAsset | None, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return the orientation of an entry, wxyz, before a region turns it."""
    stands_in = asset is not None and bool(entry.path) and "path" not in asset.parameters
    if asset is not None and (entry.orientation_mode == "suggested" or stands_in):
        # The angles of a file mean nothing for its stand-in, which may have another axis up.
        choices = asset.stable_quats
        quat = choices[int(rng.integers(len(choices))) if entry.orientation_mode == "suggested" else 0]
    elif asset is not None and entry.orientation_mode == "random":
        quat = random_quats(rng, 1)[0]
    elif entry.quaternion is not None:
        quat = quat_normalize(entry.quaternion)
    else:
        quat = quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    w, x, y, z = (float(value) for value in quat)
    return w, x, y, z
