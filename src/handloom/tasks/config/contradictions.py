"""Keys of a task that are valid alone but contradict each other, and words without a meaning."""

import re
from collections.abc import Iterator, Sequence

from handloom.errors import unknown_name
from handloom.skills import SkillConfig
from handloom.skills.configs.places import PlaceConfig
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills

Keys = tuple[str | int, ...]
OVER_TARGET = ("xybbox", "resting", "flower")
"""Success modes of place that require the object to be above the target."""


def contradictions(task: Task, keys: Keys, skill: SkillConfig) -> Iterator[str]:
    """Yield a line, with file and line, for every requirement of a skill that no attempt can meet."""
    lift = getattr(skill, "post_grasp_offset_max", None)
    needed = getattr(skill, "lift_th", 0.0)
    if lift is not None and needed and needed >= lift:
        yield (
            f"{task.where(*keys, 'lift_th')}: {skill.name} must lift by more than {needed:g} m (lift_th) and "
            f"lifts it by at most {lift:g} m (post_grasp_offset_max); lower the one or raise the other"
        )
    if isinstance(skill, PlaceConfig):
        yield from _place(task, keys, skill)


def _place(task: Task, keys: Keys, skill: PlaceConfig) -> Iterator[str]:
    if skill.place_direction == "vertical" and skill.pre_place_z_offset < skill.place_z_offset:
        yield (
            f"{task.where(*keys, 'pre_place_z_offset')}: the hand comes down from pre_place_z_offset "
            f"{skill.pre_place_z_offset:g} m to place_z_offset {skill.place_z_offset:g} m; the first must be the larger"
        )
    over = skill.success_mode in OVER_TARGET or (skill.success_mode == "relation" and skill.relation != "beside")
    if over and skill.place_direction == "vertical":
        for key in ("x_ratio_range", "y_ratio_range"):
            low, high = sorted(getattr(skill, key))
            if high <= 0.0 or low >= 1.0:
                yield (
                    f"{task.where(*keys, key)}: {key} {[low, high]} is beside the target and success_mode "
                    f"{skill.success_mode} requires the object above it; keep it between 0 and 1, or use beside"
                )


def doubts(task: Task, keys: Keys, skill: SkillConfig) -> Iterator[str]:
    """Yield a line for every published default that rarely does what a reader would expect."""
    low, needed = getattr(skill, "post_grasp_offset_min", None), getattr(skill, "lift_th", 0.0)
    high = getattr(skill, "post_grasp_offset_max", None)
    if low is not None and high is not None and needed and low <= needed < high:
        yield (
            f"{task.where(*keys, 'lift_th')}: some lifts are too small: post_grasp_offset_min is {low:g} m "
            f"and lift_th is {needed:g} m"
        )
    if (
        isinstance(skill, PlaceConfig)
        and skill.position_constraint == "gripper"
        and skill.place_direction == "vertical"
    ):
        held, target = skill.objects[:2]
        yield (
            f"{task.where(*keys)}: the hand, not the {held}, is moved above the middle of the {target}, and opens "
            f"{skill.place_z_offset:g} m above it, as published; {{place: {held}, on: {target}}} lowers it to contact"
        )


def unknown_words(task: Task, keys: Keys, text: str, named: Sequence[str]) -> Iterator[str]:
    """Yield a line for every ``{name}`` in a sentence that is neither a task object nor ``named`` by a skill."""
    names = [obj.name for obj in (*task.arena.fixtures, *task.config.objects)]
    for name in re.findall(r"\{([^{}]*)\}", text):
        if name not in names and name not in named:
            yield f"{task.where(*keys)}: {{{name}}} stands for an object; {unknown_name('object', name, names)}"


def sameness(task: Task) -> Iterator[str]:
    """Yield a line for a task in which no object of the skills looks different from one episode to the next."""
    used = {name for _, skill in placed_skills(task.config) for name in skill.objects}
    drawn = [(i, obj) for i, obj in enumerate(task.config.objects) if obj.name in used and not obj.path]
    if not drawn or any(obj.apply_randomization or len(obj.colors) > 1 for _, obj in drawn):
        return
    names = [obj.name for _, obj in drawn]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    yield (
        f"{task.where('objects', drawn[0][0])}: every episode shows the same {listed}; apply_randomization: true in "
        "the line of an object varies its size, shape and colour"
    )
