"""Whole-body reach: where a robot whose arm does not reach should stand, and the skill that drives it there.

A skill whose goals are out of reach from where the robot stands is planned again, in imagination, from places around
the object it works on: nearest first, the robot's hands and what they hold as they are. The first place from which the
skill has a plan, and to which the base has a way, is driven to; then the skill is planned for real.
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
"""How far a robot may go round the object of its skill, which it then sees from another side [rad]."""
AHEAD = (0.0, -0.12, 0.12, -0.24, 0.24, 0.36)
ASIDE = (0.0, -0.15, 0.15, -0.3, 0.3, -0.45, 0.45)
"""How far it may step towards the object, or back, and to the left [m]."""
TURN_COSTS = 0.3
"""Way that counts as much as a turn of one radian [m/rad]."""
FARTHEST = 0.7
"""Longest way to a place [m]: a task that needs more is one of driving, and says so."""
TRIALS = 14
"""Places from which a skill is planned, at most; a plan that fails takes up to three seconds of processor time."""
APART = 0.2
"""Places that were tried and the next one are at least so far apart, turns counted [m]."""
STAGES = frozenset({FunnelStage.REACH, FunnelStage.PLAN})
"""Stages in which a skill fails for want of a place to stand."""
REACHING = "reaching"
"""Value of a robot's key ``base`` that lets the expert drive it to where a skill is in reach."""


class RepositionConfig(SkillConfig):
    """Drive to where the next skill is in reach; the expert puts it into the timeline by itself."""

    name: str = "reposition"


class Reposition(MobileSkill[RepositionConfig]):
    """Drives a way that was found already, the arms and what they hold as they are."""

    Config: ClassVar = RepositionConfig
    path: Array
    """Poses of the base (k, 3)."""
    held: tuple[str, ...] = ()
    """Objects in the robot's hands."""

    def base_path(self) -> Array:
        """Return the way."""
        return self.path

    def checks(self) -> tuple[Check, ...]:
        """Return: the base is at its goal, and the robot touched nothing but what it holds."""
        arguments = {"robot": self.base.robot_name, "held": list(self.held)}
        return (*super().checks(), Check(name="base_clear", arguments=arguments, share=1.0))


def may_reposition(skill: Skill[Any]) -> bool:
    """Return whether a skill found no plan from where its robot stands, and the robot may drive elsewhere."""
    base = skill.scene.robot(skill.controller.arm.robot_name).base
    allowed = base is not None and base.description.config.base == REACHING
    return allowed and skill.failure is not None and skill.failure.stage in STAGES


def find_stance(
    skill: Skill[Any], prepared: Callable[[int], Skill[Any]], arms: Sequence[ArmController]
) -> tuple[Reposition | None, int]:
    """Return the drive to the nearest place found from which a skill can be done, and the number of that place.

    None and 0 say that there is no such place.

    The scene and the arms are the same afterwards, to the last bit.

    Args:
        skill: The skill that has no plan from here.
        prepared: Makes it anew, with the draws of a place, which has this number.
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
    """Return whether a skill has a plan in the scene as it is; what it sets in the arms is set back."""
    kept = [(arm, dict(vars(arm))) for arm in arms]
    skill.simple_generate_manip_cmds()
    for arm, values in kept:
        vars(arm).update(values)
    return skill.failure is None and bool(skill.manip_list or not skill.is_ready())


def _way(pose: Array, other: Array) -> float:
    """Return how far two poses of a base are from each other [m], turns counted."""
    return math.hypot(pose[0] - other[0], pose[1] - other[1]) + TURN_COSTS * abs(pose[2] - other[2])


def way_to(planner: BasePlanner, here: Array, pose: Array) -> Array | None:
    """Return poses (k, 3) from here to a place: straight where nothing is in the way, else planned; None if blocked."""
    straight = np.stack([here, pose])
    if not planner.blocked(straight):
        return straight
    result = planner.plan(here, pose)
    return planner.poses(result.path) if result.ok else None


def places_around(here: Array, point: Array) -> list[Array]:
    """Return poses of the base (3,) round a point (2,) that it works on, by the way to them, the present one left out.

    Going round the point keeps its distance and shows it from another side; steps are along the new heading.
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
    """Show the scene, for a while, with a robot at a pose (3,) of its base, and what its hands hold with it."""
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
