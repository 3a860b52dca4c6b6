"""Surface appearance: a colour, an image from a folder, or a procedural texture."""

from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import ConfigError
from handloom.objects.materials import rgb
from handloom.render.textures import TEXTURES
from handloom.scene.object_config import ObjectConfig, TextureConfig
from handloom.tasks.config.task import Task

LOOKS = 24
"""How many looks of each procedural texture are drawn from."""
PLAIN = (0.82, 0.80, 0.76)
"""Colour of surfaces without colour and texture, linear RGB."""
FALLBACK = "plaster"
"""Texture used for a missing image folder whose name contains no procedural texture."""
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")


def sample_look(task: Task, entry: ObjectConfig, where: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return the look of an entry as parameters of a surface."""
    if isinstance(entry.color, tuple):
        return {"color": list(entry.color)}
    texture = entry.texture
    if texture is None:
        return {"color": list(rgb(entry.color) if entry.color else PLAIN)}
    repeat = [float(value) for value in (*texture.texture_scale, *texture.texture_scale)[:2]]
    pictures = _pictures(task, texture, f"{where}.texture.texture_lib")
    if pictures:
        index = int(rng.integers(len(pictures))) if texture.apply_randomization else texture.texture_id
        if index >= len(pictures):
            found = f"{texture.texture_lib} has {len(pictures)} pictures"
            raise ConfigError(f"{where}: texture_id: {found}, there is none with number {index}")
        return {"picture": str(task.inside(pictures[index], where)), "repeat": repeat}
    seed = int(rng.integers(LOOKS)) if texture.apply_randomization else texture.texture_id
    return {"texture": _procedural(texture) or FALLBACK, "texture_seed": seed, "repeat": repeat}


def look_notices(task: Task) -> tuple[str, ...]:
    """Return one line for every texture whose image folder is missing and that a procedural texture replaces."""
    entries = [(f"objects.{i}", entry) for i, entry in enumerate(task.config.objects)]
    entries += [(f"arena.fixtures.{i}", entry) for i, entry in enumerate(task.arena.fixtures)]
    textures = [(f"{key}.texture.texture_lib", entry.texture) for key, entry in entries if entry.texture is not None]
    return tuple(
        f"{key}: there is no folder {texture.texture_lib}; our {FALLBACK} stands in"
        for key, texture in textures
        if not _procedural(texture) and not _pictures(task, texture, f"{task.path}: {key}")
    )


def _procedural(texture: TextureConfig) -> str | None:
    return next((known for known in TEXTURES if known in texture.texture_lib), None)


def _pictures(task: Task, texture: TextureConfig, where: str) -> list[Path]:
    """Return the pictures of the folder a texture names, sorted; none when it names a procedural texture."""
    if texture.texture_lib in TEXTURES:
        return []
    for folder in task.asset_folders:
        place = folder / texture.texture_lib
        if place.is_dir():
            task.inside(place, where)
            return sorted(file for file in place.iterdir() if file.suffix.lower() in PICTURES)
    return []
