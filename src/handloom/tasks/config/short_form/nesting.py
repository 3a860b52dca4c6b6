"""A flat list of skills, nested by stage, robot, block and arm as the published form is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handloom.config import Document
from handloom.config.parsing import KeyPath, Mark
from handloom.errors import ConfigError
from handloom.tasks.config.arm_words import NEAREST, OTHER, all_arms, arm_of_step, same_hand
from handloom.tasks.config.short_form.deeds import unfolded
from handloom.tasks.config.short_form.holding import from_holder, holders, in_the_other_hand
from handloom.tasks.config.short_form.skills import VERBS, assets_of, library_objects, unknown_verb
from handloom.tasks.config.short_form.verbs import handover

ARMS = ("left", "right")


def unfold(document: Document, task: dict[str, Any], where: KeyPath, *, shared: bool) -> None:
    """Expand steps that need several skills, such as ``{stack: [a, b, c]}``, into these, all with its line in the file.

    If arms share the work, each clears the place before the next object is brought there.
    """
    steps, marks = [], {}
    for i, item in enumerate(task["skills"]):
        old = (*where, i)
        own = {path[len(old) :]: mark for path, mark in document.marks.items() if path[: len(old)] == old}
        what = f"{document.mark(old)}: skills.{i}"
        for step in unfolded(item, assets_of(library_objects(task)), what, shared=shared):
            marks |= {(*where, len(steps), *path): mark for path, mark in own.items()}
            document.written[*where, len(steps)] = old
            steps.append(step)
    if len(steps) != len(task["skills"]):
        for path in [path for path in document.marks if path[: len(where)] == where and path != where]:
            del document.marks[path]
        document.marks |= marks
    task["skills"] = steps


def lanes(stages: list[Any], where: KeyPath) -> Iterator[tuple[KeyPath, list[Any]]]:
    """Yield the list of skills of every arm with its path, as far as a file has the published nesting."""
    for s, stage in enumerate(stages):
        for robot, blocks in stage.items() if isinstance(stage, dict) else []:
            for b, block in enumerate(blocks if isinstance(blocks, list) else []):
                for arm, lane in block.items() if isinstance(block, dict) else []:
                    if isinstance(lane, list):
                        yield (*where, s, robot, b, arm), lane


def is_step(item: Any, robots: Sequence[str]) -> bool:
    """Return whether an entry of ``skills`` is a skill or a block of arms, rather than a stage of robots."""
    if not isinstance(item, dict):
        return item == "home"
    return bool({"name", *VERBS, *ARMS} & item.keys()) and not any(name in item for name in robots)


def is_stage(item: Any) -> bool:
    """Return whether an entry of ``skills`` has the published nesting, even with a wrong robot name."""
    return isinstance(item, dict) and bool(item) and all(isinstance(blocks, list) for blocks in item.values())


def nest(
    document: Document, task: dict[str, Any], where: KeyPath, robots: Sequence[str], arms: Sequence[str] | None
) -> None:
    """Nest a flat list of skills: consecutive skills of one arm share a block."""
    stages: list[dict[str, Any]] = []
    lines = {path: mark for path, mark in document.marks.items() if path[: len(where)] == where and path != where}
    for path in lines:
        del document.marks[path]
    for i, item in enumerate(task["skills"]):
        mark = lines.get((*where, i), document.mark(where))
        if not is_step(item, robots):
            raise ConfigError(f"{mark}: skills.{i}: {unknown_verb(item)}")
        step = dict(item) if isinstance(item, dict) else item
        block = isinstance(step, dict) and bool(set(ARMS) & step.keys())
        robot = step.pop("robot", None) if isinstance(step, dict) else None
        arm = step.pop("arm", None) if isinstance(step, dict) else None
        arm, step = arm_of_step(step, arm, arms, f"{mark}: skills.{i}")
        block |= isinstance(step, dict) and bool(set(ARMS) & step.keys())
        step = _in_hands(task, stages, step, arm, robot or next(iter(robots), ""), f"{mark}: skills.{i}", arms)
        block |= isinstance(step, list)
        if robot is None:
            if len(robots) != 1:
                known = ", ".join(robots)
                raise ConfigError(f"{mark}: skills.{i}: say which robot does this: add robot: NAME, one of {known}")
            robot = robots[0]
        if not stages or robot not in stages[-1]:
            stages.append({robot: []})
        blocks = stages[-1][robot]
        if isinstance(step, list):
            blocks += step
        elif block:
            blocks.append({side: skills if isinstance(skills, list) else [skills] for side, skills in step.items()})
        elif blocks and list(blocks[-1]) == [arm] and (arm in ARMS or same_hand(blocks[-1][arm], step)):
            blocks[-1][arm].append(step)
        else:
            blocks.append({arm: [step]})
        here = _entries_of(step, (*where, len(stages) - 1, robot), blocks, None if block else arm)
        for place in (path for one in here for path in all_arms(one)):
            _note_origin(document, place, (*where, i), lines)
    for i in range(len(task["skills"])):
        document.written.pop((*where, i), None)
    task["skills"] = stages


def _entries_of(step: Any, stage: KeyPath, blocks: Sequence[Mapping[str, Any]], arm: str | None) -> list[KeyPath]:
    """Return the paths of the last entries of a stage, which a step became.

    Args:
        step: The step, or the blocks of a handover, in which nothing was written by the user.
        stage: Path of the blocks.
        blocks: All blocks of the stage.
        arm: The arm that does the step; None for a step that is a block of its own.
    """
    if isinstance(step, list):
        numbered = range(len(blocks) - len(step), len(blocks))
        return [(*stage, b, side, k) for b in numbered for side, lane in blocks[b].items() for k in range(len(lane))]
    last = (*stage, len(blocks) - 1)
    return [last if arm is None else (*last, arm, len(blocks[-1][arm]) - 1)]


def _note_origin(document: Document, place: KeyPath, old: KeyPath, lines: Mapping[KeyPath, Mark]) -> None:
    """Note the lines of an entry in the published form, and what it was in the file.

    Args:
        document: The task file.
        place: Path of the entry in the published form.
        old: Path of the entry of the flat list that stands for it.
        lines: Marks of the flat list.
    """
    document.marks |= {(*place, *path[len(old) :]): line for path, line in lines.items() if path[: len(old)] == old}
    document.written[place] = document.written.get(old, old)


def _in_hands(
    task: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
    step: Any,
    arm: str,
    robot: str,
    what: str,
    arms: Sequence[str] | None,
) -> Any:
    """Return a step that fits what the hands hold before it; for a handover, its blocks."""
    if isinstance(step, dict) and "handover" in step:
        return _handed_over(task, stages, step, robot, what, arms)
    if isinstance(step, dict) and arm in ARMS and arms is not None:  # Else a missing arm is the mistake to name.
        in_the_other_hand(step, arm, holders(stages, robot), what)
    return step


def _handed_over(
    task: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
    step: dict[str, Any],
    robot: str,
    what: str,
    arms: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """Return the blocks of a handover; a hand that has picked up the object before begins by holding it out."""
    if arms is not None and len(arms) < len(ARMS):
        raise ConfigError(f"{what}: a handover takes both arms, and the robot has one; use a robot with two arms")
    name, asset = step["handover"], assets_of(library_objects(task))
    held = holders(stages, robot).get(name) if isinstance(name, str) else None
    if held is not None:
        step = from_holder(step, held.arm, what)
        held.leave_room(asset(name))
    elif arms is not None and not {"from", "to"} & step.keys():
        step = {**step, "from": NEAREST, "to": OTHER}
    return handover(dict(step), asset, what, held=held is not None)
