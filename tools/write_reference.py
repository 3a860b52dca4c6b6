"""Write the reference pages of the docs from the config models; a test checks that they are up to date."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any, get_args, get_origin

from handloom.config import Config, UnusedKey, field_docs
from handloom.robots import RobotConfig
from handloom.scene.camera_config import CameraConfig, CameraFile
from handloom.scene.object_config import ArenaConfig, ObjectConfig, TextureConfig
from handloom.scene.region_config import DistractorsConfig, RandomConfig, RegionConfig
from handloom.skills.configs import SKILL_CONFIGS
from handloom.skills.registry import SKILLS
from handloom.tasks.config.task_config import (
    DataConfig,
    EnvMapConfig,
    FluidConfig,
    PhysicsNoise,
    RobotEntry,
    TaskConfig,
)

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs" / "reference", ROOT / "examples" / "skills"
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
    """Return the text of every reference page, by file name."""
    task = "\n\n".join(section(model) for model in TASK_MODELS)
    made = "Made by `tools/write_reference.py` from the models; do not edit."
    return {
        "task.md": f"# Task files\n\n{made}\n\nA file holds a list `tasks:`, or one task at its top level.\n\n{task}\n",
        "skills.md": skill_index(made),
        **{f"skills/{name}.md": skill_page(name, made) for name in SKILL_CONFIGS},
        "robot.md": f"# robot.yaml\n\n{made}\n\n{section(RobotConfig)}\n",
    }


def skill_index(made: str) -> str:
    """Return the page that lists all skills."""
    rows = []
    for name, model in SKILL_CONFIGS.items():
        rows.append(f"| [{name}](skills/{name}.md) | {_sentence(model)} |")
    own = (
        "Names may also be written with one underscore. [Your own](../guides/write_a_skill.md) are named "
        "`module:Class`."
    )
    return f"# Skills\n\n{made}\n\n{own}\n\n| skill | what it does |\n|---|---|\n" + "\n".join(rows) + "\n"


def skill_page(name: str, made: str) -> str:
    """Return the page of one skill: what it does, five frames of a run, an example, its keys."""
    plain = re.sub("_+", "_", name)
    example, strip = EXAMPLES / f"{plain}.yaml", DOCS.parent / "images" / "skills" / f"{plain}.jpg"
    parts = [f"# {name}", _sentence(SKILL_CONFIGS[name])]
    module, _, cls = SKILLS[name].partition(":")
    parts.append(_plain_text(getattr(importlib.import_module(module), cls).__doc__ or ""))
    if strip.is_file():
        parts.append(f"!![five frames of {name}](../../images/skills/{plain}.jpg)")
    if example.is_file():
        parts.append(f"```yaml\n{example.read_text().strip()}\n```")
        parts.append(
            f"Save it as `{plain}.yaml` anywhere, then: `handloom generate {plain}.yaml -n 1`. The setup that it names "
            f"as `base` comes with Handloom; in the sources, the file is `examples/skills/{plain}.yaml`."
        )
    parts.append(f"## Keys\n\n{key_table(SKILL_CONFIGS[name])}")
    parts.append(made)
    return "\n\n".join(parts) + "\n"


def _sentence(model: type[Config]) -> str:
    return _plain_text(model.__doc__ or "")


def _plain_text(docstring: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))


def key_table(model: type[Config]) -> str:
    """Return the keys of a model as a table."""
    rows = [_row(name, field, field_docs(model).get(name, "")) for name, field in model.model_fields.items()]
    return "| key | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows)


def section(model: type[Config]) -> str:
    """Return the heading, description and key table of a model."""
    text = " ".join((model.__doc__ or "").split())
    return "\n\n".join([f"## {model.__name__}", text, key_table(model)])


def _row(name: str, field: Any, doc: str) -> str:
    default = "required" if field.is_required() else _plain(field.get_default(call_default_factory=True))
    unused = [m.why for m in field.metadata if isinstance(m, UnusedKey)]
    meaning = f"No effect here: {unused[0]}." if unused else " ".join(doc.split())
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
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(text)
        sys.stdout.write(f"{DOCS / name}\n")
