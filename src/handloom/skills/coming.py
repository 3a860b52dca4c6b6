"""The skills that a schedule still has to do, and what they mean for the one that is next."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from handloom.skills.placing.company import company_of
from handloom.skills.placing.place_poses import PlacePoses
from handloom.skills.skill import Skill
from handloom.values import SkillSpan

Block = Mapping[str, Sequence[Any]]
"""Arm > skill configs."""


def coming_skills(
    given: Any,
    waiting: Iterable[tuple[str, str, Iterable[Any]]],
    blocks: Mapping[str, Iterable[Block]],
    stages: Iterable[Mapping[str, Iterable[Block]]],
) -> Iterator[tuple[str, str, Any]]:
    """Yield robot, arm and config of every skill after a given one, in order.

    Args:
        given: Config of the skill.
        waiting: Robot, arm and configs of the lanes of the current blocks.
        blocks: Robot > blocks of the current stage that have not begun.
        stages: The stages that have not begun.
    """
    lanes = [(robot, arm, config) for robot, arm, configs in waiting for config in configs]
    rest = [(robot, block) for part in (blocks, *stages) for robot, queue in part.items() for block in queue]
    later = [(robot, arm, config) for robot, block in rest for arm, skills in block.items() for config in skills]
    coming = [*lanes, *later]
    first = next((k for k, (_, _, config) in enumerate(coming) if config is given), -1)
    yield from coming[first + 1 :]


def told_of_others(skill: Skill, coming: Iterable[tuple[str, str, Any]], timeline: Sequence[SkillSpan]) -> Skill:
    """Return a skill; a place is told of the other objects that the task puts on or in its target.

    Args:
        skill: The skill, not yet begun.
        coming: Robot, arm and config of every skill after it.
        timeline: What has been done.
    """
    if isinstance(skill, PlacePoses):
        done = [(span.skill, span.objects) for span in timeline if span.success]
        skill.company = company_of(skill.scene, skill.config, coming, done)
    return skill
