"""Recorded scenes for tests: sampled, with an end that was put there instead of a demonstration."""

from pathlib import Path

from handloom.scene import build_scene
from handloom.tasks import Task, load_task, sample_task
from handloom.tasks.retelling.retold_task import retold_task
from handloom.tasks.retelling.told_scenes import ToldScene, scenes_hash, write_scenes
from handloom.values import TaskInstance

SEED = 5


def scene_of(name: str, episode: int = 0) -> TaskInstance:
    return sample_task(load_task(name), SEED, episode)


def retold(folder: Path, robot: str, *instances: TaskInstance, source: Task | None = None) -> Task:
    """Return the task of a run that tells scenes again, whose objects stay where they lie."""
    scenes = [ToldScene(instance=i, last_state=build_scene(i).world.save_state()) for i in instances]
    rows = [scene.row() for scene in scenes]
    write_scenes(folder / "scenes.parquet", rows)
    told = load_task(instances[0].task) if source is None else source
    return retold_task(told, robot, run=folder, scenes=scenes_hash(row["sha256"] for row in rows))
