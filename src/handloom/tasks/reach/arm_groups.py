"""Groups of skills for one hand, with the places it must reach: blocks of a task connected by a held object."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from handloom.tasks.config.arm_words import NEAREST, OTHER, SIDES
from handloom.tasks.config.task_config import Block, TaskConfig

LETS_GO = frozenset({"place", "dexplace", "carry", "hang", "flip"})
"""Skills after which a hand no longer holds their first object."""
MOST = 4096
"""Maximum number of assignments of groups to arms that are considered."""


@dataclass(frozen=True)
class Need:
    """An object that a hand must reach at its start place."""

    object: str
    skill: Any
    """The config of that skill."""
    role: int
    """Index among the skill's objects."""


@dataclass
class HandGroup:
    """Skills that one arm does."""

    robot: str
    arms: tuple[str, ...]
    """Arms that may do it."""
    apart: tuple[int, ...] = ()
    """Groups that another arm must do, as this one holds an object meanwhile."""
    needs: list[Need] = field(default_factory=list)


def blocks_of(config: TaskConfig) -> Iterator[tuple[str, Block]]:
    """Yield every block with its robot, in the order of the file."""
    for stage in config.skills:
        for robot, blocks in stage.items():
            for block in blocks:
                yield robot, block


def groups_of(config: TaskConfig, arms: Mapping[str, Sequence[str]]) -> tuple[list[HandGroup], list[int]]:
    """Return the groups of a task, and the group of every list of skills in its blocks, in the order of the file.

    Args:
        config: The task.
        arms: Robot > its arms.
    """
    walk = _Walk({robot: tuple(names) for robot, names in arms.items()})
    for robot, block in blocks_of(config):
        for word, skills in block.items():
            walk.add(robot, word, skills)
    return walk.groups, walk.lanes


def shared_out(groups: Sequence[HandGroup]) -> Iterator[tuple[str, ...]]:
    """Yield the assignments of groups to arms: one arm per group, different arms where required."""
    for count, arms in enumerate(product(*(group.arms for group in groups))):
        if count >= MOST:
            return
        if all(arms[k] != arms[other] for k, group in enumerate(groups) for other in group.apart):
            yield arms


@dataclass
class _Walk:
    """Goes through the blocks of a task in order."""

    arms: Mapping[str, tuple[str, ...]]
    groups: list[HandGroup] = field(default_factory=list)
    lanes: list[int] = field(default_factory=list)
    holds: dict[str, int] = field(default_factory=dict)
    """Object > group that holds it."""
    moved: dict[str, Need | None] = field(default_factory=dict)
    """Moved objects > what they were put on or beside; None if unknown."""

    def add(self, robot: str, word: str, skills: Sequence[Any]) -> None:
        """Add the skills of one arm of a block."""
        group = self._group(robot, word, skills)
        self.lanes.append(group)
        for skill in skills:
            for role, name in enumerate(skill.objects):
                need = self.moved.get(name, Need(name, skill, role))
                if need is not None and not skill.both_arms and self.holds.get(name) != group:
                    self.groups[group].needs.append(need)
            self._note(skill, group)

    def _group(self, robot: str, word: str, skills: Sequence[Any]) -> int:
        own = self.arms[robot]
        names = [skill.objects[0] for skill in skills if skill.objects]  # The other objects may be in the other hand.
        held = next((self.holds[name] for name in names if name in self.holds), None)
        if word in SIDES or len(own) == 1:
            arm = word if word in own or word in SIDES else own[0]
            if held is not None and arm in self.groups[held].arms:
                self.groups[held].arms = (arm,)
                return held
            return self._new(HandGroup(robot, (arm,)))
        if word == NEAREST and held is not None:
            return held
        if word == NEAREST and not names and self.lanes:
            return self.lanes[-1]
        if word == OTHER and self.lanes:
            return self._new(HandGroup(robot, own, (self.lanes[-1],)))
        busy = tuple(dict.fromkeys(self.holds.values()))
        return self._new(HandGroup(robot, own, busy if len(busy) < len(own) else ()))

    def _new(self, group: HandGroup) -> int:
        self.groups.append(group)
        return len(self.groups) - 1

    def _note(self, skill: Any, group: int) -> None:
        """Record what a hand holds, and what was moved, after a skill."""
        name = skill.objects[0] if skill.objects else ""
        if str(skill.name).endswith("pick"):
            self.moved[name] = None
        elif skill.name in LETS_GO and len(skill.objects) > 1:
            target = skill.objects[1]
            self.moved[name] = self.moved.get(target, Need(target, skill, 1))
        if str(skill.name).endswith("pick") or getattr(skill, "hold", None) is True:
            self.holds[name] = group
        elif skill.name in LETS_GO or getattr(skill, "hold", None) is False:
            self.holds.pop(name, None)
