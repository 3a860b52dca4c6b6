"""Which objects and fixtures an episode has, before they have a place."""

from typing import Any

import numpy as np

from handloom.errors import ConfigError
from handloom.objects import make_object, object_categories
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
    category, parameters, words = _library_object(task, entry, rng)
    physics = task.config.physics
    movable = entry.target_class in ("RigidObject", "ArticulatedObject") and not entry.fix_base and not fixture
    return ObjectInstance(
        name=entry.name,
        category=category,
        parameters=parameters,
        position=entry.translation or (0.0, 0.0, 0.0),
        quat=_orientation(entry, category, parameters, rng),
        fixed=not movable,
        words=words,
        mass_scale=float(rng.uniform(*physics.mass_scale)) if movable else 1.0,
        friction=float(rng.uniform(*physics.friction)) if movable and physics.friction else None,
    )


def _library_object(task: Task, entry: ObjectConfig, rng: np.random.Generator) -> tuple[str, dict[str, Any], str]:
    if entry.path:
        raise ConfigError(
            f"{task.path}: objects: {entry.name!r} names the asset file {entry.path!r}; asset files are not read yet, "
            f"leave out path and give a category of the library: {', '.join(object_categories())}"
        )
    color = str(rng.choice(entry.colors)) if entry.colors else entry.color
    if isinstance(color, tuple):
        raise ConfigError(
            f"{task.path}: objects: {entry.name!r}: a library object has a colour word, got {list(color)}"
        )
    # A fixed look is that of seed 0 of this task, a randomized one is drawn anew in every episode.
    look = rng if entry.apply_randomization else np.random.default_rng(0)
    asset = make_object(entry.category, rng=look, color=color, parameters=entry.parameters)
    return entry.category, dict(asset.parameters), asset.name


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
        quat=_orientation(entry, "", {}, rng),
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
    entry: ObjectConfig, category: str, parameters: dict[str, Any], rng: np.random.Generator
) -> tuple[float, float, float, float]:
    if entry.quaternion is not None:
        quat = quat_normalize(entry.quaternion)
    else:
        quat = quat_from_euler_deg(entry.euler or (0.0, 0.0, 0.0))
    if category and entry.orientation_mode == "suggested":
        choices = make_object(category, parameters=parameters).stable_quats
        quat = choices[int(rng.integers(len(choices)))]
    elif category and entry.orientation_mode == "random":
        quat = random_quats(rng, 1)[0]
    w, x, y, z = (float(value) for value in quat)
    return w, x, y, z
