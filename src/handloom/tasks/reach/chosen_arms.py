"""Choice of arms: a task may leave a skill to the nearest arm, which is known once a scene has been sampled.

A hand continues with its held object; otherwise the nearest free arm that reaches everything it needs is chosen.
The choices are part of the sampled instance, so that expert, judge, replay, gym and evaluation see the same arms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.scene.assets import outline_of, robot_description
from handloom.scene.regions import Placed
from handloom.skills.configs.parts import SkillConfig
from handloom.tasks.config.arm_words import CHOSEN
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import Block, TaskConfig, placed_skills
from handloom.tasks.reach.arm_groups import HandGroup, blocks_of, groups_of, shared_out
from handloom.tasks.reach.within_reach import TaskReach, knows_reach
from handloom.tasks.sampling.robots import body_pose
from handloom.values import ObjectInstance, RobotInstance, TaskInstance


def leaves_arms_open(config: TaskConfig) -> bool:
    """Return whether a task leaves a choice of arm to the scene."""
    return any(arm in CHOSEN for _, block in blocks_of(config) for arm in block)


def choose_arms(task: Task, objects: Sequence[ObjectInstance], robots: Sequence[RobotInstance]) -> tuple[str, ...]:
    """Return an arm for every block of a task with an open choice of arm, in order; a pure function of the scene.

    Args:
        task: The task.
        objects: Its objects at their places.
        robots: Its robots at their places.
    """
    if not leaves_arms_open(task.config):
        return ()
    shoulders = {robot.name: _shoulders(robot) for robot in robots}
    groups, lanes = groups_of(task.config, {name: tuple(arms) for name, arms in shoulders.items()})
    places = {obj.name: Placed(np.array(obj.position), np.array(obj.quat), outline_of(obj)) for obj in objects}
    ways: list[tuple[str, ...]] = []
    if knows_reach(task):
        reach = TaskReach(task, objects, tuple(shoulders[robots[0].name]))
        ways = [*reach.ways(places)]
        if not ways and reach.loosen():
            ways = [*reach.ways(places)]
    ways = ways or [*shared_out(groups)] or [tuple(group.arms[0] for group in groups)]
    far = [[_distance(group, arm, shoulders[group.robot], places) for arm in group.arms] for group in groups]
    best = min(ways, key=lambda arms: [far[k][groups[k].arms.index(arm)] for k, arm in enumerate(arms)])
    words = [word for _, block in blocks_of(task.config) for word in block]
    return tuple(best[group] for word, group in zip(words, lanes, strict=True) if word in CHOSEN)


def with_arms(task: Task, instance: TaskInstance) -> Task:
    """Return a task whose skills are listed under the arms chosen for a scene."""
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


def _by_arm(skill: Any, arm: str) -> Any:
    """Return a skill with its keys for this arm."""
    own = {str(side): keys for side, keys in skill.by_arm.items()} if isinstance(skill, SkillConfig) else {}
    keys = own.get(arm, {})
    if not keys:
        return skill
    given = skill.model_dump(exclude_unset=True, by_alias=True)
    return type(skill).model_validate({**given, **keys, "by_arm": {}})


def _shoulders(robot: RobotInstance) -> dict[str, Array]:
    """Return the position (3,) of each arm's first joint, in the world [m]; both may be attached to one body."""
    description = robot_description(robot.robot, robot.overrides)
    model = description.model
    bodies = {arm.name: model.body(model.jnt_bodyid[model.joint(arm.joint_names[0]).id]) for arm in description.arms}
    return {name: body_pose(robot, body.name)[0] for name, body in bodies.items()}


def _distance(group: HandGroup, arm: str, shoulders: Mapping[str, Array], places: Mapping[str, Placed]) -> float:
    """Return the horizontal distance from an arm to the first object of a group [m]."""
    points = (places[need.object].box.mean(axis=0) for need in group.needs if need.object in places)
    first = next(points, None)
    return 0.0 if first is None else round(float(np.linalg.norm((first - shoulders[arm])[:2])), 6)
