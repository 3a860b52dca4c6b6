"""Which arm does what: a task may leave it to the nearest arm, which is known once a scene has been sampled.

A choice is made per block of skills, in the order of the task: what a hand holds, that hand continues with; else the
nearest free arm that gets to everything the block names. The choices are part of the sampled instance, so that expert,
judge, replay, gym and evaluation see the same arms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene.assets import asset_of, robot_description
from handloom.skills.configs.parts import SkillConfig
from handloom.spatial import matrix_from_quat
from handloom.tasks.config.arm_words import CHOSEN, OTHER, SIDES
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import Block, TaskConfig, placed_skills
from handloom.tasks.sampling.robots import body_pose
from handloom.values import ObjectInstance, RobotInstance, TaskInstance

LETS_GO = frozenset({"place", "dexplace", "carry", "hang", "flip"})
"""Skills after which a hand has their first object no longer."""


def leaves_arms_open(config: TaskConfig) -> bool:
    """Return whether a task leaves it to the scene which arm does something."""
    return any(arm in CHOSEN for _, _, block in _blocks(config) for arm in block)


def choose_arms(task: Task, objects: Sequence[ObjectInstance], robots: Sequence[RobotInstance]) -> tuple[str, ...]:
    """Return an arm for every block of a task that leaves its arm open, in order; a pure function of the scene.

    Args:
        task: The task.
        objects: Its objects where they lie.
        robots: Its robots where they stand.
    """
    if not leaves_arms_open(task.config):
        return ()
    places = {obj.name: obj for obj in objects}
    hands = {robot.name: _Hands(robot) for robot in robots}
    chosen: list[str] = []
    for _, robot, block in _blocks(task.config):
        for word, skills in block.items():
            arm = hands[robot].arm_for(word, skills, places)
            chosen += [arm] if word in CHOSEN else []
            hands[robot].did(arm, skills)
    return tuple(chosen)


def with_arms(task: Task, instance: TaskInstance) -> Task:
    """Return a task whose skills stand under the arms that were chosen for a scene."""
    if not leaves_arms_open(task.config):
        return task
    chosen = iter(instance.arms)

    def resolved(block: Block) -> Block:
        arms = {word: next(chosen) if word in CHOSEN else word for word in block}
        return {arms[word]: tuple(_by_arm(skill, arms[word]) for skill in skills) for word, skills in block.items()}

    stages = tuple(
        {robot: tuple(map(resolved, blocks)) for robot, blocks in stage.items()} for stage in task.config.skills
    )
    return replace(task, config=task.config.model_copy(update={"skills": stages}))


def arms_of_skills(task: Task, instance: TaskInstance) -> dict[tuple[str | int, ...], str]:
    """Return the arm that does each skill in a scene, by the keys that lead to the skill in the task."""
    own, resolved = placed_skills(task.config), placed_skills(with_arms(task, instance).config)
    return {keys: str(there[4]) for (keys, _), (there, _) in zip(own, resolved, strict=True)}


def _blocks(config: TaskConfig) -> Iterator[tuple[int, str, Block]]:
    """Yield every block with its stage and robot, in the order of the file."""
    for s, stage in enumerate(config.skills):
        for robot, blocks in stage.items():
            for block in blocks:
                yield s, robot, block


def _by_arm(skill: Any, arm: str) -> Any:
    """Return a skill with the keys that it has if this arm does it."""
    own = {str(side): keys for side, keys in skill.by_arm.items()} if isinstance(skill, SkillConfig) else {}
    keys = own.get(arm, {})
    if not keys:
        return skill
    given = skill.model_dump(exclude_unset=True, by_alias=True)
    return type(skill).model_validate({**given, **keys, "by_arm": {}})


@dataclass
class _Hands:
    """The arms of a robot while its skills are gone through, and what they hold."""

    robot: RobotInstance
    holds: dict[str, str] = field(default_factory=dict)
    """Object > arm that has it."""
    last: str = SIDES[0]
    """The arm that did the last thing."""

    def __post_init__(self) -> None:
        description = robot_description(self.robot.robot, self.robot.overrides)
        # Both arms may hang on one body; the first joint is where an arm begins.
        model = description.model
        bodies = {
            arm.name: model.body(model.jnt_bodyid[model.joint(arm.joint_names[0]).id]) for arm in description.arms
        }
        self.shoulders = {name: body_pose(self.robot, body.name)[0] for name, body in bodies.items()}

    def arm_for(self, word: str, skills: Sequence[Any], places: Mapping[str, ObjectInstance]) -> str:
        """Return the arm of a block; ``word`` is an arm, ``nearest`` or ``other``."""
        if word in SIDES or len(self.shoulders) == 1:
            return word if word in SIDES else next(iter(self.shoulders))
        if word == OTHER:
            return next(arm for arm in self.shoulders if arm != self.last)
        names = [skill.objects[0] for skill in skills if skill.objects]  # The other objects may be in the other hand.
        holding = next((self.holds[name] for name in names if name in self.holds), None)
        if holding is not None:
            return holding
        points = [_where(places[name], skill) for skill in skills for name in skill.objects if name in places]
        if not points:
            return self.last
        busy = set(self.holds.values())
        free = [arm for arm in self.shoulders if arm not in busy] or list(self.shoulders)
        return min(free, key=lambda arm: (round(self._distance(arm, points), 6), arm))

    def _distance(self, arm: str, points: Sequence[Array]) -> float:
        """Return how far an arm has to reach for the first of some points, level [m]."""
        return float(np.linalg.norm((points[0] - self.shoulders[arm])[:2]))

    def did(self, arm: str, skills: Sequence[Any]) -> None:
        """Note what an arm holds after some skills."""
        self.last = arm
        for skill in skills:
            name = skill.objects[0] if skill.objects else ""
            if str(skill.name).endswith("pick") or getattr(skill, "hold", None) is True:
                self.holds[name] = arm
            elif skill.name in LETS_GO or getattr(skill, "hold", None) is False:
                self.holds.pop(name, None)


def _where(obj: ObjectInstance, skill: Any) -> Array:
    """Return the point of an object (3,) in the world that a hand goes to: its middle, or the handle of a joint."""
    position, asset = np.array(obj.position), asset_of(obj)
    joint = getattr(skill, "joint", None)
    if not asset.articulated or not hasattr(skill, "joint"):
        return position
    link = asset.joints[asset.joint_index(joint)]
    data = mujoco.MjData(asset.model)
    mujoco.mj_kinematics(asset.model, data)
    body = data.body(link.name)
    handle = body.xpos + body.xmat.reshape(3, 3) @ np.asarray(link.head)
    return position + matrix_from_quat(np.array(obj.quat)) @ handle
