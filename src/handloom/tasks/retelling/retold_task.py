"""A task for another robot that acts in recorded scenes: the robot's own workplace, the deeds of the task."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from handloom.config import Document, parse_config, read_document
from handloom.errors import InputError, unknown_name
from handloom.robots import load_robot
from handloom.safe_paths import below
from handloom.skills.configs import drives_base
from handloom.tasks.config.checking import check_task
from handloom.tasks.config.deed_form import workplaces
from handloom.tasks.config.loading import read_arena, shipped
from handloom.tasks.config.short_form.expand import expand_short_form
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import TaskConfig, placed_skills
from handloom.tasks.retelling.retold_scene import working_distance
from handloom.tasks.retelling.retold_skills import WorkPlace, flat_steps, objects_of_steps, renamed
from handloom.tasks.sampling.robots import described

KEPT = ("objects", "env_map", "neglect_collision_names", "fluid", "goal", "disturbance", "proxy_assets", "asset_root")
"""Keys of a task about the scene and the deed; robots, table and cameras come from the other workplace."""


def retold_task(source: Task, robot: str, *, run: Path, scenes: str, same_view: bool = False) -> Task:
    """Return the task in which another robot does the deeds of a task in its recorded scenes.

    Args:
        source: The task that was recorded.
        robot: The new robot, which must have its own workplace.
        run: Folder of the run, which holds the scenes.
        scenes: Hash over the scenes.
        same_view: Whether the cameras of the room are kept.

    Raises:
        InputError: The task needs something that the other robot or its workplace lacks; the message names it.
        NotFoundError: No such robot works at a table.
    """
    places = workplaces(shipped())
    if robot not in places:
        raise unknown_name("robot at a table", robot, places)
    config = source.config
    refusal = _refusal(config)
    if refusal:
        raise InputError(f"{source.name} cannot be retold with another robot: {refusal}")
    values: dict[str, Any] = deepcopy(read_document(places[robot], shipped=shipped()).values)
    entry = values["robots"][0]
    arms = tuple(arm.name for arm in load_robot(entry["robot_config_file"]).arms)
    given = config.model_dump(mode="json", exclude_unset=True, by_alias=True)
    values |= {key: given[key] for key in KEPT if key in given}
    values |= {
        "name": config.name,
        "retold": {"sha256": scenes, **({"same_view": True} if same_view else {})},
        "regions": [],
    }
    own_frames = values.get("data", {}).get("max_episode_length", 0)
    data = {**given.get("data", {}), "variant": "clean"}  # Variations were drawn when the scene was sampled.
    values["data"] = {**data, "max_episode_length": max(own_frames, config.data.max_episode_length)}
    try:
        values["skills"] = _skills(source, entry["name"], arms)
    except InputError as error:
        raise InputError(f"{source.name} cannot be retold with {robot}: {error}") from error
    document = Document(values, run / "run.yaml", {})
    expand_short_form(document, (), arms=arms)
    parsed = parse_config(document, TaskConfig)
    parsed = parsed.model_copy(update={"allow_outside": config.allow_outside})
    task = Task(
        name=source.name,
        config=parsed,
        arena=read_arena(below(shipped(), parsed.arena_file, what=str(places[robot]))),
        path=document.path,
    )
    _demand_objects(source, task)
    check_task(task)
    return task


def _refusal(config: TaskConfig) -> str:
    """Return what part of a task no other workplace supports; empty if there is none."""
    if config.room is not None:
        return "it is done in a room that is laid out for its robot, not at a table"
    if len(config.robots) > 1:
        return f"{len(config.robots)} robots share it"
    held = [entry.name for entry in config.objects if entry.init_parent is not None]
    if held:
        return f"{held[0]} is in the hand of its robot at the start"
    driving = [skill.name for _, skill in placed_skills(config) if drives_base(skill)]
    if driving:
        return f"{driving[0]} drives the base of its robot"
    if config.work_surface != "table":
        return f"it is done on {config.work_surface}, and other robots have a table"
    moving = [entry.name for entry in config.objects if entry.target_class == "ConveyorObject"]
    return f"{moving[0]} moves past its robot at a pace that was chosen for it" if moving else ""


def _skills(source: Task, name: str, arms: tuple[str, ...]) -> list[Any]:
    """Return the skills for a robot with these arms."""
    config = source.config
    before = list(described(source, config.robots[0]).arms)
    if len(before) > 1 and len(arms) > 1:
        return renamed(config, name)
    axis = "xyz"[int(np.argmax(np.abs(before[0].approach)))]
    return flat_steps(config, WorkPlace(work_point=_work_point(source), hand_axis=axis))


def _work_point(task: Task) -> tuple[float, float]:
    """Return the origin of a task's work frame, from the middle of its table, right and away [m]."""
    entry = task.config.robots[0]
    ahead = working_distance(entry.robot_config_file)
    if task.config.work_point is not None or ahead is None:
        return task.config.work_point or (0.0, 0.0)
    region = next((region for region in task.config.regions if region.object == entry.name), None)
    ranges = region.random_config if region is not None else None
    if ranges is not None and ranges.pos_range is not None:
        return 0.0, ahead + float(np.mean([corner[1] for corner in ranges.pos_range]))
    return 0.0, ahead + float(entry.translation[1])


def _demand_objects(source: Task, task: Task) -> None:
    """Refuse a task that uses a fixture missing from the other workplace."""
    known = {entry.name for entry in (*task.arena.fixtures, *task.config.objects)}
    for name in objects_of_steps(source.config):
        if name not in known:
            raise InputError(
                f"{source.name} cannot be retold with another robot: {name} belongs to its arena "
                f"({source.config.arena_file}), and the other workplace does not have it"
            )


def at_run(task: Task, run: Path) -> Task:
    """Return a task that reuses scenes, with its file in the folder of the run, where the scenes are."""
    return task if task.config.retold is None else replace(task, path=run / "run.yaml")
