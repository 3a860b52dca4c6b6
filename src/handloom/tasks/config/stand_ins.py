"""Library substitutes for missing assets, in words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import ConfigError
from handloom.scene.assets import asset_of
from handloom.scene.camera_config import CAMERAS
from handloom.scene.object_config import ObjectConfig
from handloom.skills.configs.motions import JointCtrlConfig, PourConfig, WaitConfig
from handloom.skills.configs.places import ApproachRotateConfig, PlaceConfig, RotateObjConfig
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import TaskConfig, placed_skills
from handloom.tasks.sampling.assets import PICKS, is_missing, stand_in_of, stands_as_floor, stands_as_table
from handloom.tasks.sampling.distractors import library_stands_in
from handloom.tasks.sampling.robots import robot_source
from handloom.tasks.sampling.textures import texture_stand_ins
from handloom.values import FluidInstance, ObjectInstance

SKILLS = "skills: "
"""Start of a line about skills."""
TUNED = (ApproachRotateConfig, RotateObjConfig, JointCtrlConfig, WaitConfig)
"""Motions of a held vessel with lengths and angles tuned to one vessel and one grasp."""
TILT = 105.0
"""Tilt of a stand-in vessel [deg]; published vessels are tilted by 90 to 120."""
POURED, SPILLED = 0.5, 0.3
"""Minimum fraction of the grains that a pour with stand-ins brings into the target, and largest that it spills; the
task's own check then decides whether that is enough."""

ENTERING: dict[str, Any] = {
    "relation": "in",
    "place_direction": "vertical",
    "position_constraint": "object",
    "rest_on": "target",
    "until_contact": True,
    "upright": False,
    **dict.fromkeys(("align_pick_obj_axis", "align_place_obj_axis", "align_obj_tol", "offset_place_obj_axis")),
    **dict.fromkeys(("filter_x_dir", "filter_y_dir", "filter_z_dir")),
}
"""Keys of a place through the front of a stand-in; the rest follows from the cavity."""


def with_own_pours(task: Task) -> tuple[Task, tuple[str, ...]]:
    """Return a task in which the motions that empty a missing vessel become one ``pour`` of its stand-in.

    The second value holds a line about it, if it applies.

    Distances and tilts were tuned to the missing file and its grasp; another vessel misses the target with them. The
    check of the pour stays that of the task.
    """
    fluid = task.config.fluid
    vessel = next((o for o in task.config.objects if fluid is not None and o.name == fluid.container_name), None)
    if vessel is None or not is_missing(task, vessel):
        return task, ()
    approaches = (s for _, s in placed_skills(task.config) if isinstance(s, ApproachRotateConfig))
    target = next((s.objects[1] for s in approaches if s.objects[0] == vessel.name), None)
    if target is None:
        return task, ()
    skills = tuple(
        {
            robot: tuple({arm: _poured(lane, vessel.name, target) for arm, lane in block.items()} for block in blocks)
            for robot, blocks in stage.items()
        }
        for stage in task.config.skills
    )
    line = (
        f"{SKILLS}our pour stands in for the motions tuned to the missing {vessel.name}; the task's own check applies"
    )
    return replace(task, config=task.config.model_copy(update={"skills": skills})), (line,)


def _poured(lane: Sequence[Any], vessel: str, target: str) -> tuple[Any, ...]:
    """Return the skills of one arm with its motions of a held vessel merged into one."""
    done, held = list[Any](), False
    for skill in lane:
        held = held or (skill.name in PICKS and skill.objects[0] == vessel)
        if not held or not isinstance(skill, TUNED) or skill.objects[:1] != (vessel,):
            done.append(skill)
        elif not any(isinstance(other, PourConfig) for other in done):
            done.append(PourConfig(name="pour", objects=(vessel, target), poured=POURED, spilled=SPILLED, tilt=TILT))
    return tuple(done)


def with_own_entries(task: Task) -> tuple[Task, tuple[str, ...]]:
    """Return a task whose places into missing assets from the side go through the openings of their stand-ins.

    The second value is a list of messages about these replacements. Axes, ratios and lengths of such a place belong to
    the missing file: its front, and the width and height of its room. The check of the place stays that of the task.
    """
    missing = {entry.name for entry in task.config.objects if is_missing(task, entry)}
    entered = list[str]()

    def entering(skill: Any) -> Any:
        if not isinstance(skill, PlaceConfig) or skill.place_direction != "horizontal" or skill.success_mode == "cup":
            return skill
        target = skill.objects[1]
        if target not in missing or skill.relation is not None:
            return skill
        entered.append(target)
        around = tuple(word for word in skill.ignore_substring if word not in target)
        return skill.model_copy(update={**ENTERING, "ignore_substring": around})

    skills = _each_skill(task.config, entering)
    lines = tuple(
        f"skills: objects put into the missing {name} go through the front of its stand-in; the task's check applies"
        for name in dict.fromkeys(entered)
    )
    return (replace(task, config=task.config.model_copy(update={"skills": skills})) if entered else task), lines


def _each_skill(config: TaskConfig, change: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return the skills of a task, each replaced by the result of a function."""
    return tuple(
        {
            robot: tuple({arm: tuple(map(change, lane)) for arm, lane in block.items()} for block in blocks)
            for robot, blocks in stage.items()
        }
        for stage in config.skills
    )


def stand_ins(task: Task, missing_arena: str = "") -> tuple[str, ...]:
    """Return one line per missing asset, with the library object that replaces it.

    Args:
        task: The task.
        missing_arena: The arena file, if it is missing.
    """
    lines = [f"arena_file: {missing_arena} is missing; our arenas/table.yaml stands in"] if missing_arena else []
    lines += [source.stand_in for entry in task.config.robots if (source := robot_source(task, entry)).stand_in]
    lines += _cameras(task)
    for i, entry in enumerate(task.config.objects):
        lines += _object(task, f"objects.{i} ({entry.name})", entry, fixture=False)
    for entry in task.arena.fixtures:
        lines += _object(task, f"arena ({entry.name})", entry, fixture=True)
    if library_stands_in(task):
        lines.append("distractors.path: no assets there; small objects of our library stand in")
    return (*lines, *texture_stand_ins(task))


def episode_stand_ins(task: Task, objects: Sequence[ObjectInstance], fluid: FluidInstance | None) -> dict[str, str]:
    """Return the stand-ins for missing files in one episode, by name, and their differences from the originals.

    Args:
        task: The task.
        objects: The objects of the episode.
        fluid: Its grains.
    """
    found = dict[str, str]()
    files = {entry.name: entry.path or entry.art_cat or "" for entry in task.config.objects if is_missing(task, entry)}
    for obj in objects:
        if obj.name not in files:
            continue
        asset = asset_of(obj)
        size = " x ".join(f"{1000 * length:.0f}" for length in asset.extent)
        text = f"our {asset.category} of {size} mm stands in for {files[obj.name]}"
        scale = np.unique(np.round(obj.parameters.get("scale", 1.0), 3))
        if (scale != 1.0).any():
            text += f", scaled by {' and '.join(f'{s:g}' for s in scale if s != 1.0)} to suit hand and task"
        found[obj.name] = text
    given = task.config.fluid
    if fluid is not None and given is not None and given.container_name in files:
        count = given.numParticlesX * given.numParticlesY * given.numParticlesZ
        found["fluid"] = (
            f"{len(fluid.positions)} grains of {1000 * fluid.radius:.1f} mm radius stand in for {count} particles of "
            f"{1000 * given.particleContactOffset:.1f} mm contact offset"
        )
        found |= dict(line.split(": ", 1) for line in task.stand_ins if line.startswith(SKILLS))
    return found


def _cameras(task: Task) -> Iterator[str]:
    for i, entry in enumerate(task.config.cameras):
        if entry.camera_file not in CAMERAS:
            try:
                task.find(entry.camera_file, what="")
            except ConfigError:
                stem = Path(entry.camera_file).stem
                yield f"cameras.{i}: {entry.camera_file} is missing; our {stem} stands in"


def _object(task: Task, where: str, entry: ObjectConfig, *, fixture: bool) -> Iterator[str]:
    if entry.target_class == "PlaneObject" or not is_missing(task, entry):
        return
    given = entry.path or entry.art_cat or ""
    if stands_as_table(task, entry):
        yield f"{where}: {given} is missing; our table stands in"
    elif fixture and stands_as_floor(task, entry):
        yield f"{where}: {given} is missing; a floor stands in"
    elif entry.apply_randomization and isinstance(entry.randomization_scope, tuple):
        count = len(entry.randomization_scope)
        yield f"{where}: {given} is missing; our objects that are like its {count} categories stand in"
    else:
        chosen = stand_in_of(task, entry)
        why = f"by the word {chosen.word!r}" if chosen.word else "since its category is unknown"
        yield f"{where}: {given} is missing; our {chosen.category} stands in, {why}"
