"""Nothing a task file may say is ignored in silence: each key is read somewhere, or marked as having no effect."""

import re
from pathlib import Path

import pytest

import handloom
from handloom.config import UnusedKey
from handloom.scene.camera_config import CameraConfig, CameraFile
from handloom.scene.object_config import ArenaConfig, ObjectConfig, StrictInit, TextureConfig
from handloom.scene.region_config import DistractorsConfig, RandomConfig, RegionConfig
from handloom.tasks import load_task
from handloom.tasks.config.task_config import (
    DataConfig,
    EnvMapConfig,
    FluidConfig,
    PhysicsNoise,
    RobotEntry,
    TaskConfig,
)

MODELS = [
    ArenaConfig,
    CameraConfig,
    CameraFile,
    DataConfig,
    DistractorsConfig,
    EnvMapConfig,
    FluidConfig,
    ObjectConfig,
    PhysicsNoise,
    RandomConfig,
    RegionConfig,
    RobotEntry,
    StrictInit,
    TaskConfig,
    TextureConfig,
]
DEFINED = {"task_config.py", "object_config.py", "region_config.py", "camera_config.py", "robot_entry.py"}
SOURCE = "\n".join(
    file.read_text()
    for folder in ("tasks", "scene", "episode", "engine", "skills")
    for file in sorted((Path(handloom.__file__).parent / folder).rglob("*.py"))
    if file.name not in DEFINED
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_is_read_or_marked(model):
    unread = [
        name
        for name, field in model.model_fields.items()
        if not any(isinstance(mark, UnusedKey) for mark in field.metadata)
        and not re.search(rf"\.{name}\b|\"{name}\"", SOURCE)
    ]
    assert unread in ([], ["name"])  # An arena's name is a name.


def test_a_key_without_effect_gives_one_line_with_its_reason(write):
    file = write(
        objects=[{"name": "a", "target_class": "RigidObject", "category": "cube", "dataset": "x"}],
        data={"task_dir": "somewhere"},
    )
    assert load_task(file).notices == (
        "objects.0.dataset has no effect here: informational",
        "data.task_dir has no effect here: the output folder is chosen on the command line",
    )
