"""Surface appearance: a colour, an image from a folder, a procedural texture, or a material of the renderer."""

from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import ConfigError
from handloom.objects.materials import rgb
from handloom.render.materials import MATERIALS
from handloom.render.textures import TEXTURES
from handloom.scene.object_config import ObjectConfig, TextureConfig
from handloom.tasks.config.task import Task

LOOKS = 24
"""Number of variants of each procedural texture."""
PLAIN = (0.82, 0.80, 0.76)
"""Colour of surfaces without colour and texture, linear RGB."""
FALLBACKS = {"table": "wood", "floor": "stone", "": "plaster"}
"""Word in the name of a missing image folder > texture used for it if the name contains none of ours."""
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")


def sample_look(task: Task, entry: ObjectConfig, where: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return the look of an entry as parameters of a surface."""
    if isinstance(entry.color, tuple):
        return {"color": list(entry.color)}
    texture = entry.texture
    if texture is None:
        return {"color": list(rgb(entry.color) if entry.color else PLAIN)}
    # The coordinates of a published texture are meant for millimetres.
    metre = 1000.0 if entry.path else 1.0
    repeat = [metre * float(value) for value in (*texture.texture_scale, *texture.texture_scale)[:2]]
    pictures = _pictures(task, texture, f"{where}.texture.texture_lib")
    if pictures:
        index = int(rng.integers(len(pictures))) if texture.apply_randomization else texture.texture_id
        if index >= len(pictures):
            found = f"{texture.texture_lib} has {len(pictures)} pictures"
            raise ConfigError(f"{where}: texture_id: {found}, there is none with number {index}")
        return {"picture": str(task.inside(pictures[index], where)), "repeat": repeat}
    seed = int(rng.integers(LOOKS)) if texture.apply_randomization else texture.texture_id
    if _is_material(texture.texture_lib):
        own = np.array(MATERIALS[texture.texture_lib].color)
        if texture.apply_randomization:
            # Another brightness, and a little warmer or colder.
            own = own * rng.uniform(0.75, 1.1) * (1.0 + rng.uniform(-0.06, 0.06) * np.array([1.0, 0.0, -1.0]))
        color = [round(float(value), 4) for value in np.clip(own, 0.02, 0.98)]
        return {"material": texture.texture_lib, "texture_seed": seed, "color": color}
    return {"texture": _procedural(texture), "texture_seed": seed, "repeat": repeat}


def texture_stand_ins(task: Task) -> tuple[str, ...]:
    """Return one line for every missing folder of images and the procedural texture that stands in for it."""
    textures = [entry.texture for entry in (*task.config.objects, *task.arena.fixtures) if entry.texture is not None]
    by_name = {texture.texture_lib: texture for texture in textures if not _known(texture.texture_lib)}
    return tuple(
        f"texture_lib: there is no folder {name} with images; our {_procedural(texture)} stands in"
        for name, texture in by_name.items()
        if not _pictures(task, texture, f"{task.path}: texture_lib")
    )


def _known(name: str) -> bool:
    return name in TEXTURES or name in MATERIALS


def _is_material(name: str) -> bool:
    """Return whether a name is a material of the renderer rather than a texture."""
    return name in MATERIALS and name not in TEXTURES


def _procedural(texture: TextureConfig) -> str:
    """Return our texture whose name is part of a name, or that stands in for it."""
    given = texture.texture_lib
    alike = next(ours for word, ours in FALLBACKS.items() if word in given)
    return next((known for known in TEXTURES if known in given), alike)


def _pictures(task: Task, texture: TextureConfig, where: str) -> list[Path]:
    """Return the images of the folder that a texture names, sorted; none for a procedural texture."""
    if texture.texture_lib in TEXTURES or _is_material(texture.texture_lib):
        return []
    place = task.folder(texture.texture_lib)
    if place is None:
        return []
    task.inside(place, where)
    return sorted(file for file in place.iterdir() if file.suffix.lower() in PICTURES)
