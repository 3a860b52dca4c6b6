"""Tasks by name or path: YAML to a checked config with its arena."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from handloom.config import apply_overrides, find_file, load_config, parse_config, read_document, unused_keys
from handloom.errors import ConfigError, InputError, unknown_name
from handloom.scene.object_config import ArenaConfig
from handloom.tasks.task_config import TaskConfig, TaskFile


@dataclass(frozen=True)
class Task:
    """A task that was read and checked."""

    name: str
    """File stem, e.g. ``fr3_pick_cube``."""
    config: TaskConfig
    arena: ArenaConfig
    path: Path
    """The file it came from; relative paths in it start here."""

    @property
    def notices(self) -> tuple[str, ...]:
        """One line for every key that is accepted and has no effect."""
        return unused_keys(self.config)


def library() -> dict[str, Path]:
    """Return the tasks that ship with Handloom, by name."""
    folder = Path(str(resources.files("handloom.tasks") / "library"))
    return {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def load_task(name_or_path: str | Path, *, overrides: Sequence[str] = (), index: int = 0) -> Task:
    """Read a task and check everything in it that can be checked without building a scene.

    Args:
        name_or_path: A task of the library, or a YAML file.
        overrides: ``a.b.c=value`` texts; paths start inside the task, e.g. ``data.max_episode_length=500``.
        index: Which entry of the file's ``tasks`` list.

    Raises:
        ConfigError: One line per mistake, with file and line.
        NotFoundError: No such task in the library and no such file.
    """
    path = _find(name_or_path)
    document = read_document(path)
    if isinstance(document.values, dict) and isinstance(document.values.get("tasks"), list):
        root: tuple[str | int, ...] = ("tasks", index)
        count = len(document.values["tasks"])
        if index >= count:
            raise InputError(f"{path}: has {count} task(s); index {index} does not exist")
    else:
        root = ()
    apply_overrides(document, overrides, root=root)
    config = parse_config(document, TaskFile).tasks[index] if root else parse_config(document, TaskConfig)
    task = Task(name=path.stem, config=config, arena=_arena(config, path), path=path)
    _check_names(task)
    return task


def _find(name_or_path: str | Path) -> Path:
    tasks = library()
    if str(name_or_path) in tasks:
        return tasks[str(name_or_path)]
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"} or path.exists():
        return path
    raise unknown_name("task", str(name_or_path), tasks)


def _arena(config: TaskConfig, path: Path) -> ArenaConfig:
    """Read the arena beside the task, in its parents or the asset root; ours ship with the library."""
    root = Path(config.asset_root) if config.asset_root else None
    shipped = Path(str(resources.files("handloom.tasks") / "library"))
    try:
        file = find_file(config.arena_file, near=path.parent, asset_root=root, what=f"{path}: arena_file")
    except ConfigError:
        if (shipped / config.arena_file).is_file():
            file = shipped / config.arena_file
        elif config.proxy_assets:
            file = shipped / "arenas" / "table.yaml"
        else:
            raise
    return load_config(file, ArenaConfig)


def _check_names(task: Task) -> None:
    """Check that regions and skills name things that exist."""
    config = task.config
    objects = [o.name for o in (*task.arena.fixtures, *config.objects)]
    placeable = [*objects, *(r.name for r in config.robots)]
    for i, region in enumerate(config.regions):
        for key, name in (("object", region.object), ("target", region.target), ("target2", region.target2)):
            if name is not None and name not in placeable:
                raise ConfigError(f"{task.path}: regions.{i}.{key}: {unknown_name('object or robot', name, placeable)}")
    for stage in config.skills:
        for robot, blocks in stage.items():
            for skill in (s for block in blocks for skills in block.values() for s in skills):
                for name in skill.objects:
                    if name not in objects:
                        where = f"{task.path}: skills.{robot}: {skill.name}.objects"
                        raise ConfigError(f"{where}: {unknown_name('object', name, objects)}")
