"""The settings of a run: everything that determines its data, fixed in ``run.yaml`` when the run starts."""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from handloom.config import Config, load_config, read_document
from handloom.dataset.robot_columns import DETAILED, INTERVENTION, STYLES
from handloom.dataset.video.video_codec import CODECS
from handloom.engine.sources import EXPERT, source_factory
from handloom.errors import ConfigError, InputError, unknown_name
from handloom.labels.kinds import chosen_kinds
from handloom.render.preset import CPU_PRESETS
from handloom.safe_paths import below
from handloom.scene.object_config import ArenaConfig
from handloom.tasks import Task, TaskConfig
from handloom.tasks.config.checking import demand_code
from handloom.version import VERSION

MANIFEST_VERSION = 1
LEROBOT_FEATURES = ("depth", "segmentation", "language")
RenderWhen = Literal["now", "later", "none"]


class RunSettings(Config):
    """The manifest of a run. Two runs with equal manifests write equal data."""

    manifest_version: Literal[1] = MANIFEST_VERSION
    handloom_version: str = VERSION
    task_name: str
    task_path: str
    """File that the task was read from; relative paths in the task start there."""
    task: dict[str, Any]
    """The task, with base files, references and overrides resolved."""
    arena: dict[str, Any]
    """The arena, resolved."""
    stand_ins: tuple[str, ...] = ()
    """Library substitutes for missing assets of the task, one line each."""
    seed: int = Field(ge=0)
    source: str = EXPERT
    """Source of the commands: ``expert``, ``teleop`` for a person, or ``my_module:MySource``."""
    unit_size: int = Field(default=4, ge=1)
    """Attempts per work unit."""
    render: RenderWhen = "now"
    preset: str = "balanced"
    backend: Literal["cpu", "cuda"] = "cpu"
    """Renderer; the images have the same bits, but a dataset still never mixes both."""
    codec: str = "h264"
    columns: tuple[str, ...] = ("canonical",)
    """Naming of the columns: ``canonical``, ``reference`` or both."""
    lerobot_features: tuple[str, ...] = ()
    """Optional features: ``depth`` and ``segmentation`` streams, ``language`` columns."""
    keep_failures: bool = False
    balanced: bool = False
    """Keep as many failures as successes, the lowest-numbered of both."""
    labels: tuple[str, ...] = ()
    """Kinds of labels written beside the archives."""

    @model_validator(mode="after")
    def _known_words(self) -> "RunSettings":
        """Refuse a preset, codec or column style before anything is written."""
        if self.preset not in CPU_PRESETS:
            raise unknown_name("render preset", self.preset, CPU_PRESETS)
        if self.codec not in CODECS:
            raise unknown_name("video codec", self.codec, CODECS)
        for style in self.columns:
            if style not in (*STYLES, DETAILED, INTERVENTION):
                raise unknown_name("column style", style, (*STYLES, DETAILED, INTERVENTION))
        if not self.columns:
            raise InputError(f"a dataset needs columns; choose from {', '.join(STYLES)}")
        for feature in self.lerobot_features:
            if feature not in LEROBOT_FEATURES:
                raise unknown_name("optional feature", feature, LEROBOT_FEATURES)
        chosen_kinds(self.labels)
        return self

    @classmethod
    def of_task(cls, task: Task, **options: Any) -> "RunSettings":
        """Return the manifest of a new run of a task.

        Raises:
            HandloomError: An option has a wrong value, or names something that does not exist.
            NotAllowedError: The task or the source needs code that the user did not allow.
        """
        demand_code(task)
        try:
            settings = cls(
                task_name=task.name,
                task_path=str(task.path.resolve()),
                task=_plain(task.config),
                arena=_plain(task.arena),
                stand_ins=task.stand_ins,
                **options,
            )
        except ValidationError as error:
            raise InputError("; ".join(map(_mistake, error.errors(include_url=False)))) from error
        source_factory(
            settings.source
        )  # Only here, so that a run can be read on machines without the module of its source.
        return settings

    def loaded_task(self) -> Task:
        """Return the task from the start of the run, even if its file has changed since."""
        try:
            config, arena = TaskConfig.model_validate(self.task), ArenaConfig.model_validate(self.arena)
        except ValidationError as error:
            raise ConfigError(
                f"the manifest of the run does not contain a valid task: {str(error).splitlines()[-2]}"
            ) from error
        return Task(name=self.task_name, config=config, arena=arena, path=Path(self.task_path))

    def fingerprint(self) -> str:
        """Return a hash of everything that determines the data; the task file's path and the unit size do not."""
        # Newer keys are omitted if unused, so that older runs keep their fingerprints.
        left_out = {"task_path", "unit_size"} | {
            name for name in ("stand_ins", "labels", "balanced") if not getattr(self, name)
        }
        left_out |= {"backend"} if self.backend == "cpu" else set()
        values = self.model_dump(mode="json", exclude=left_out)
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def to_yaml(self) -> str:
        """Return the text of ``run.yaml``."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)

    @classmethod
    def read(cls, file: Path) -> "RunSettings":
        """Read a manifest; a link to one elsewhere is refused."""
        below(file.parent, file.name, what=str(file.parent))
        values = read_document(file).values
        version = values.get("manifest_version") if isinstance(values, dict) else None
        if version != MANIFEST_VERSION:
            writer = values.get("handloom_version", "unknown") if isinstance(values, dict) else "unknown"
            raise ConfigError(
                f"{file}: this is not a run manifest of version {MANIFEST_VERSION}: it has version {version!r} and was "
                f"written by Handloom {writer}; continue with that Handloom, or choose another folder with -o"
            )
        return load_config(file, cls)


def _mistake(item: Any) -> str:
    """Write one pydantic error for the user, e.g. ``seed: input should be ... equal to 0, got -1``."""
    what = item["msg"].removeprefix("Value error, ")
    name = ".".join(map(str, item["loc"]))
    return f"{name}: {what[0].lower()}{what[1:]}, got {item['input']!r}" if name else what


def _plain(config: Config) -> dict[str, Any]:
    return config.model_dump(mode="json", exclude_unset=True, by_alias=True)
