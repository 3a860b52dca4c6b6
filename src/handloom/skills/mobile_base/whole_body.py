"""Whole-body reach: where a robot must stand if its arm cannot reach, and the skill that drives it there.

If the goals of a skill are out of reach, the skill is planned virtually from places around its object, nearest first,
with the robot's hands and held objects unchanged. The robot drives to the first place from which the skill has a plan
and to which the base has a path; then the skill is planned for real.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any, ClassVar

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.scene.mobile_base import MobileBase
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.mobile_base.base_planner import BasePlanner
from handloom.skills.mobile_base.mobile import MobileSkill, base_of
from handloom.skills.skill import Skill
from handloom.spatial import make_pose, matrix_from_rotvec, pos_quat_from_pose, pose_from_pos_quat
from handloom.values import Check, FunnelStage

ORBITS = np.deg2rad([0.0, -20.0, 20.0, -40.0, 40.0])
"""How far a robot may move round the object of its skill, which it then sees from another side [rad]."""
AHEAD = (0.0, -0.12, 0.12, -0.24, 0.24, 0.36)
ASIDE = (0.0, -0.15, 0.15, -0.3, 0.3, -0.45, 0.45)
"""How far it may move towards the object, or back, and to the left [m]."""
TURN_COSTS = 0.3
"""Path length that counts as much as a rotation of one radian [m/rad]."""
FARTHEST = 0.7
"""Longest path to a place [m]: a task that needs more must contain a driving skill."""
TRIALS = 14
"""Maximum number of places from which a skill is planned; a failed plan takes up to three seconds of CPU time."""
APART = 0.2
"""Minimum distance of a place from those already tried, including rotations [m]."""
STAGES = frozenset({FunnelStage.REACH, FunnelStage.PLAN})
"""Stages in which a skill fails if the robot stands in the wrong place."""
REACHING = "reaching"
"""Value of a robot's key ``base`` that lets the expert drive the robot until a skill is within reach."""


class RepositionConfig(SkillConfig):
    """Drive to a place from which the next skill is within reach; inserted into the timeline by the expert."""

    name: str = "reposition"


class Reposition(MobileSkill[RepositionConfig]):
    """Drives along a path that was already found, with arms and held objects unchanged."""

    Config: ClassVar = RepositionConfig
    path: Array
    """Poses of the base (k, 3)."""
    held: tuple[str, ...] = ()
    """Objects in the robot's hands."""

    def base_path(self) -> Array:
        """Return the way."""
        return self.path

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the base is at its goal, and the robot touched only held objects."""
        arguments = {"robot": self.base.robot_name, "held": list(self.held)}
        return (*super().checks(), Check(name="base_clear", arguments=arguments, share=1.0))


def may_reposition(skill: Skill[Any]) -> bool:
    """Return whether a skill found no plan from the robot's current place, and the robot may drive elsewhere."""
    base = skill.scene.robot(skill.controller.arm.robot_name).base
    allowed = base is not None and base.description.config.base == REACHING
    return allowed and skill.failure is not None and skill.failure.stage in STAGES


def find_stance(
    skill: Skill[Any], prepared: Callable[[int], Skill[Any]], arms: Sequence[ArmController]
) -> tuple[Reposition | None, int]:
    """Return the drive to the nearest place found from which a skill can be done, and the number of that place.

    None and 0 mean that there is no such place.

    The scene and the arms are unchanged afterwards, to the last bit.

    Args:
        skill: The skill that has no plan from the current place.
        prepared: Makes the skill again, with the random draws of the place with this number.
        arms: All arms that planned before.
    """
    scene, base = skill.scene, base_of(skill)
    planner = BasePlanner(scene, base)
    about = [name for name in skill.config.objects if name not in planner.held]
    if not about:
        return None, 0
    here, tried = base.commanded_pose, list[Array]()
    for pose in places_around(here, world_box(scene, about[-1])[:, :2].mean(axis=0)):
        if len(tried) == TRIALS:
            break
        near = any(_way(pose, other) < APART for other in tried)
        if near or planner.blocked(np.stack([pose, pose])):
            continue
        tried.append(pose)
        with imagined_stance(scene, base, pose, planner.held):
            found = _has_plan(prepared(len(tried)), arms)
        if found and (path := way_to(planner, here, pose)) is not None:
            words = f"Drive to where the {about[-1]} is in reach."
            config = RepositionConfig(objects=(about[-1],), instruction=words)
            drive = Reposition(scene, skill.controller, config, skill.rng)
            drive.path, drive.held = path, planner.held
            return drive, len(tried)
    return None, 0


def _has_plan(skill: Skill[Any], arms: Sequence[ArmController]) -> bool:
    """Return whether a skill has a plan in the current scene; its changes to the arms are undone."""
    kept = [(arm, dict(vars(arm))) for arm in arms]
    skill.simple_generate_manip_cmds()
    for arm, values in kept:
        vars(arm).update(values)
    return skill.failure is None and bool(skill.manip_list or not skill.is_ready())


def _way(pose: Array, other: Array) -> float:
    """Return the distance between two poses of a base [m], including rotation."""
    return math.hypot(pose[0] - other[0], pose[1] - other[1]) + TURN_COSTS * abs(pose[2] - other[2])


def way_to(planner: BasePlanner, here: Array, pose: Array) -> Array | None:
    """Return poses (k, 3) from here to a place: straight if nothing is in the way, else planned; None if blocked."""
    straight = np.stack([here, pose])
    if not planner.blocked(straight):
        return straight
    result = planner.plan(here, pose)
    return planner.poses(result.path) if result.ok else None


def places_around(here: Array, point: Array) -> list[Array]:
    """Return poses of the base (3,) round its work point (2,), shortest path first, without the current one.

    Moving round the point keeps its distance and shows it from another side; steps are along the new heading.
    """
    found: list[Array] = []
    for orbit, ahead, aside in product(ORBITS, AHEAD, ASIDE):
        yaw = here[2] + orbit
        cos, sin = math.cos(orbit), math.sin(orbit)
        x, y = point + np.array([[cos, -sin], [sin, cos]]) @ (here[:2] - point)
        x += ahead * math.cos(yaw) - aside * math.sin(yaw)
        y += ahead * math.sin(yaw) + aside * math.cos(yaw)
        if 0.0 < math.hypot(x - here[0], y - here[1]) <= FARTHEST:
            found.append(np.array([x, y, yaw]))
    return sorted(found, key=lambda pose: _way(pose, here))


@contextmanager
def imagined_stance(scene: Scene, base: MobileBase, pose: Array, held: tuple[str, ...]) -> Iterator[None]:
    """Temporarily show the scene with a robot, and its held objects, moved to a pose (3,) of its base."""
    model, data = scene.world.model, scene.world.data
    present = mujoco.MjData(model)
    mujoco.mj_copyData(present, model, data)
    moved = _planar(pose) @ np.linalg.inv(_planar(base.pose))
    data.qpos[base.qpos_index] = base.joints_at(pose)
    data.act[base.act_index] = data.qpos[base.qpos_index]
    for name in held:
        start = int(model.jnt_qposadr[model.body_jntadr[scene.world.body_index(scene.body_of(name))]])
        T = moved @ pose_from_pos_quat(data.qpos[start : start + 3], data.qpos[start + 3 : start + 7])
        data.qpos[start : start + 7] = np.concatenate(pos_quat_from_pose(T))
    mujoco.mj_kinematics(model, data)
    try:
        yield
    finally:
        mujoco.mj_copyData(data, model, present)


def _planar(pose: Array) -> Array:
    return make_pose(matrix_from_rotvec(np.array([0.0, 0.0, pose[2]])), np.array([pose[0], pose[1], 0.0]))
