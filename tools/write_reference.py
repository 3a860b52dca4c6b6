"""Write the reference pages of the docs from the config models; a test holds that they are up to date."""

import re
import sys
from pathlib import Path
from typing import Any, get_args, get_origin

from handloom.config import Config, UnusedKey
from handloom.robots import RobotConfig
from handloom.scene.camera_config import CameraConfig, CameraFile
from handloom.scene.object_config import ArenaConfig, ObjectConfig, TextureConfig
from handloom.scene.region_config import DistractorsConfig, RandomConfig, RegionConfig
from handloom.skills.configs import SKILL_CONFIGS
from handloom.skills.table import SKILLS
from handloom.tasks.robot_entry import RobotEntry
from handloom.tasks.task_config import DataConfig, EnvMapConfig, FluidConfig, PhysicsNoise, TaskConfig

DOCS = Path(__file__).parents[1] / "docs" / "reference"
TASK_MODELS: tuple[type[Config], ...] = (
    TaskConfig,
    RobotEntry,
    ObjectConfig,
    TextureConfig,
    RegionConfig,
    RandomConfig,
    DistractorsConfig,
    CameraConfig,
    CameraFile,
    DataConfig,
    EnvMapConfig,
    FluidConfig,
    PhysicsNoise,
    ArenaConfig,
)


def pages() -> dict[str, str]:
    """Return file name > text of every reference page."""
    task = "\n\n".join(section(model) for model in TASK_MODELS)
    skills = "\n\n".join(
        section(model, name, "" if name in SKILLS else "*Described and checked, not run yet.*")
        for name, model in SKILL_CONFIGS.items()
    )
    made = "Made by `tools/write_reference.py` from the models; do not edit."
    return {
        "task.md": f"# Task files\n\n{made}\n\nA file holds a list `tasks:`, or one task at its top level.\n\n{task}\n",
        "skills.md": f"# Skills\n\n{made}\n\n{skills}\n",
        "robot.md": f"# robot.yaml\n\n{made}\n\n{section(RobotConfig)}\n",
    }


def section(model: type[Config], title: str = "", note: str = "") -> str:
    """Return heading, description and key table of a model."""
    rows = [_row(name, field) for name, field in model.model_fields.items()]
    text = " ".join((model.__doc__ or "").split())
    parts = [
        f"## {title or model.__name__}",
        text,
        note,
        "| key | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows),
    ]
    return "\n\n".join(part for part in parts if part)


def _row(name: str, field: Any) -> str:
    default = "required" if field.is_required() else _plain(field.get_default(call_default_factory=True))
    unused = [m.why for m in field.metadata if isinstance(m, UnusedKey)]
    meaning = f"No effect here: {unused[0]}." if unused else " ".join((field.description or "").split())
    cells = (f"`{field.alias or name}`", _type(field.annotation), default, meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None:
        return getattr(annotation, "__name__", str(annotation)).replace("NoneType", "nothing")
    names = [
        repr(a) if not isinstance(a, type) and get_origin(a) is None and a is not Ellipsis else _type(a)
        for a in arguments
        if a is not Ellipsis
    ]
    label = getattr(origin, "__name__", str(origin))
    if label == "Literal":
        return " or ".join(names)
    if label in ("UnionType", "Union"):
        return " or ".join(dict.fromkeys(names))
    if label == "Annotated":
        return _type(arguments[0])
    if label == "tuple":
        return f"list of {names[0]}" if Ellipsis in arguments else f"[{', '.join(names)}]"
    return f"mapping {names[0]} to {names[1]}" if label == "dict" else label


def _plain(value: Any) -> str:
    if isinstance(value, Config):
        return "see there"
    return re.sub(r"\s+", " ", repr(list(value) if isinstance(value, tuple) else value))


if __name__ == "__main__":
    DOCS.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (DOCS / name).write_text(text)
        sys.stdout.write(f"{DOCS / name}\n")
