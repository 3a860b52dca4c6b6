"""What changes when an episode is drawn again: cameras, sizes, lights, textures; nothing that physics feels."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from handloom.config import Config, load_config
from handloom.engine.run_settings import RunSettings
from handloom.errors import InputError
from handloom.scene.camera_config import CameraConfig
from handloom.seeding import generator
from handloom.tasks.sampling.cameras import sample_cameras
from handloom.tasks.sampling.lights import sample_lights
from handloom.tasks.sampling.textures import LOOKS
from handloom.values import ObjectInstance, TaskInstance


class CameraList(Config):
    """A file of cameras, written as in a task."""

    cameras: tuple[CameraConfig, ...] = Field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class RenderOverrides:
    """How recorded episodes are drawn differently. Plain values, so that workers on other machines can have it."""

    cameras: tuple[dict[str, Any], ...] = ()
    """Cameras that replace the recorded ones, as a task file describes them; empty keeps those."""
    size: tuple[int, int] | None = None
    """Width and height of every camera [px]; None keeps them."""
    relight: int | None = None
    """Seed of new lights; None keeps the recorded ones."""
    retexture: int | None = None
    """Seed of new textures, of the same kinds; None keeps the recorded ones."""

    def __post_init__(self) -> None:
        """Refuse what could not be drawn."""
        if self.size is not None and min(self.size) < 1:
            raise InputError(f"size: a picture is at least 1 pixel wide and high, got {self.size}")
        for name, seed in (("relight", self.relight), ("retexture", self.retexture)):
            if seed is not None and seed < 0:
                raise InputError(f"{name}: a seed is 0 or more, got {seed}")

    def applied(self, instance: TaskInstance, settings: RunSettings) -> TaskInstance:
        """Return the instance with this look; the same for the same episode, whoever draws it."""
        if self.cameras:
            instance = replace(instance, cameras=self._sampled_cameras(instance, settings))
        if self.size is not None:
            instance = replace(instance, cameras=tuple(c.resized(*self.size) for c in instance.cameras))
        if self.relight is not None:
            env_map = settings.loaded_task().config.env_map.model_copy(update={"apply_randomization": True})
            rng = generator(self.relight, instance.episode, "relight")
            instance = replace(instance, lights=sample_lights(env_map, rng))
        if self.retexture is not None:
            rng = generator(self.retexture, instance.episode, "retexture")
            instance = replace(instance, objects=tuple(_retextured(obj, rng) for obj in instance.objects))
        return instance

    def _sampled_cameras(self, instance: TaskInstance, settings: RunSettings) -> Any:
        task = settings.loaded_task()
        entries = tuple(CameraConfig.model_validate(entry) for entry in self.cameras)
        # The user named the file of cameras on the command line, and what it names is only read as intrinsics.
        task = replace(task, config=task.config.model_copy(update={"cameras": entries, "allow_outside": True}))
        return sample_cameras(task, generator(settings.seed, instance.episode, "cameras", task=task.name))


def read_cameras(file: Path) -> tuple[dict[str, Any], ...]:
    """Read a file of cameras: a YAML file with the key ``cameras``, as in a task."""
    return tuple(camera.model_dump(mode="json") for camera in load_config(file, CameraList).cameras)


def _retextured(obj: ObjectInstance, rng: np.random.Generator) -> ObjectInstance:
    """Return an object with other seeds for the textures it has."""
    seed = int(rng.integers(LOOKS))  # Drawn for every object, so that one without texture changes nothing for others.
    changed = {
        name: {**values, "texture_seed": seed}
        for name, values in (("parameters", obj.parameters), ("look", obj.look))
        if values.get("texture")
    }
    return replace(obj, **changed)
