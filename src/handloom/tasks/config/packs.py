"""Packs: suites of tasks that ship with Handloom, one folder each, named ``PACK/TASK`` wherever a task is named."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from pydantic import Field, model_validator

from handloom.config import Config, load_config, read_document
from handloom.errors import ConfigError, unknown_name

ABOUT = "pack.yaml"
"""File that describes a pack; all others are tasks."""


class PublishedRates(Config):
    """Success rates published by others, kept for comparison."""

    by: str = Field(min_length=1)
    """Source and method of the rates, e.g. ``the suite's own scripted generator``."""
    date: str = ""
    """Date of publication, e.g. ``June 2025``."""
    robots: tuple[str, ...] = ()
    """Published names of the robots, in the order of ``rates``; empty if the rates do not distinguish robots."""
    compared_with: dict[str, str] = Field(default_factory=dict)
    """Our robot > the published robot most similar to it."""
    rates: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """Task > rate of every robot [%]."""
    mean: tuple[float, ...] = ()
    """Mean over all tasks of every robot [%]."""

    @model_validator(mode="after")
    def _one_rate_per_robot(self) -> "PublishedRates":
        count = max(1, len(self.robots))
        for name, rates in [*self.rates.items(), *([("mean", self.mean)] if self.mean else [])]:
            if len(rates) != count or not all(0 <= rate <= 100 for rate in rates):
                raise ValueError(f"{name}: {count} rates from 0 to 100 % are needed, got {list(rates)}")
        for robot in self.compared_with.values():
            if robot not in self.robots:
                raise unknown_name("published robot", robot, self.robots)
        return self


class PackConfig(Config):
    """Description of a pack: its suite, its robots and published rates."""

    title: str = Field(min_length=1)
    """Name of the suite."""
    about: str = ""
    """Our description in one or two sentences."""
    robots: tuple[str, ...] = Field(min_length=1)
    """Robots on which the pack is measured, the default first."""
    groups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Named parts of the suite > their tasks."""
    published: PublishedRates | None = None
    """What others reach."""


@dataclass(frozen=True, kw_only=True)
class PackTask:
    """Place of a task of a pack."""

    file: Path
    index: int | None
    """Index in the ``tasks`` list of the file; None: the file is one task."""


@dataclass(frozen=True, kw_only=True)
class Pack:
    """A folder of tasks."""

    name: str
    folder: Path
    config: PackConfig
    tasks: Mapping[str, PackTask]
    """Task name without the pack's name > place of the task."""

    def published(self, task: str, robot: str) -> float | None:
        """Return the published success rate of a task on the robot most similar to one of ours [%]."""
        facts = self.config.published
        if facts is None or task not in facts.rates:
            return None
        if not facts.robots:
            return facts.rates[task][0]
        theirs = facts.compared_with.get(robot)
        return None if theirs is None else facts.rates[task][facts.robots.index(theirs)]


def pack_names() -> list[str]:
    """Return the packs that ship with Handloom."""
    return list(_folders())


@cache
def load_pack(name: str) -> Pack:
    """Return a pack and the places of its tasks.

    Raises:
        NotFoundError: There is no pack of that name.
        ConfigError: Two of its files have a task of the same name, or a list entry has no name.
    """
    if name not in pack_names():
        raise unknown_name("pack", name, pack_names())
    folder = _folders()[name]
    config = load_config(folder / ABOUT, PackConfig)
    tasks: dict[str, PackTask] = {}
    for file in sorted(folder.glob("*.yaml")):
        for task, index in [] if file.name == ABOUT else _tasks_of(file):
            if task in tasks:
                raise ConfigError(f"{file}: {task} is written in {tasks[task].file.name} already")
            tasks[task] = PackTask(file=file, index=index)
    return Pack(name=name, folder=folder, config=config, tasks=tasks)


def find_pack_task(name: str) -> PackTask | None:
    """Return the place of ``PACK/TASK``; None for a name that does not begin with a pack.

    Raises:
        NotFoundError: The pack has no such task.
    """
    pack, slash, task = name.partition("/")
    if not slash or pack not in pack_names():
        return None
    tasks = load_pack(pack).tasks
    if task not in tasks:
        raise unknown_name(f"task of the pack {pack}", task, tasks)
    return tasks[task]


def pack_of(file: Path) -> str | None:
    """Return the pack to which a task file belongs."""
    folder = file.resolve().parent
    return next((name for name, other in _folders().items() if other.resolve() == folder), None)


@cache
def _folders() -> dict[str, Path]:
    """Return the folder of every pack."""
    packs = Path(str(resources.files("handloom.tasks") / "packs"))
    return {file.parent.name: file.parent for file in sorted(packs.glob(f"*/{ABOUT}"))}


def _tasks_of(file: Path) -> list[tuple[str, int | None]]:
    """Return the tasks of a file and their indices in its list; a file without a list is one task of its name."""
    values = read_document(file, inherit=False).values
    if not isinstance(values, dict) or not isinstance(values.get("tasks"), list):
        return [(file.stem, None)]
    entries = [entry.get("name") if isinstance(entry, dict) else None for entry in values["tasks"]]
    if not all(isinstance(entry, str) for entry in entries):
        raise ConfigError(f"{file}: tasks.{entries.index(None)}: a task of a pack needs a name")
    return [(str(entry), i) for i, entry in enumerate(entries)]
