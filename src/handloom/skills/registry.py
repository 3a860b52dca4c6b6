"""Every skill that can run: published name > ``module:Class``."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from handloom.config import import_named
from handloom.errors import ConfigError, NotFoundError, suggest
from handloom.scene import Scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs import OwnSkillConfig, skill_name
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.skill import Skill, register_skill

SKILLS = {
    "aim": "handloom.skills.contacts.aim:Aim",
    "approach__rotate": "handloom.skills.held_objects.rotate_held:ApproachRotate",
    "artpreplan": "handloom.skills.articulated_objects.art_preplan:ArtPreplan",
    "carry": "handloom.skills.held_objects.carry:Carry",
    "close": "handloom.skills.articulated_objects.articulated:Close",
    "dexpick": "handloom.skills.picking.dexterous:DexPick",
    "dexplace": "handloom.skills.picking.dexterous:DexPlace",
    "dynamicpick": "handloom.skills.picking.dynamic_pick:DynamicPick",
    "fail_pick": "handloom.skills.picking.pick_variants:FailPick",
    "flip": "handloom.skills.held_objects.flip_and_scan:Flip",
    "goto__pose": "handloom.skills.motions.tool_motions:GotoPose",
    "gripper__action": "handloom.skills.motions.joint_skills:GripperAction",
    "hang": "handloom.skills.placing.hang:Hang",
    "heuristic__skill": "handloom.skills.motions.joint_skills:HeuristicSkill",
    "home": "handloom.skills.motions.joint_skills:Home",
    "joint__ctrl": "handloom.skills.motions.joint_skills:JointCtrl",
    "lift": "handloom.skills.held_objects.lift_together:LiftTogether",
    "manualpick": "handloom.skills.picking.pick_variants:ManualPick",
    "mobile__rotate": "handloom.skills.mobile_base.mobile:MobileRotate",
    "mobile__translate": "handloom.skills.mobile_base.mobile:MobileTranslate",
    "move": "handloom.skills.motions.tool_motions:MoveSkill",
    "navigate": "handloom.skills.mobile_base.mobile:Navigate",
    "open": "handloom.skills.articulated_objects.mobile_open:Open",
    "pick": "handloom.skills.picking.pick:Pick",
    "place": "handloom.skills.placing.place:Place",
    "pour": "handloom.skills.held_objects.pour:Pour",
    "pour__water__succ": "handloom.skills.held_objects.pour:PourWaterSucc",
    "press": "handloom.skills.contacts.press:PressPoint",
    "push": "handloom.skills.contacts.push:Push",
    "rotate": "handloom.skills.articulated_objects.articulated:Rotate",
    "rotate__obj": "handloom.skills.held_objects.rotate_held:RotateObj",
    "scan": "handloom.skills.held_objects.flip_and_scan:Scan",
    "shake": "handloom.skills.held_objects.shake:Shake",
    "track": "handloom.skills.motions.track:Track",
    "use": "handloom.skills.contacts.use:Use",
    "wait": "handloom.skills.motions.joint_skills:Wait",
    "wipe": "handloom.skills.contacts.wipe:Wipe",
}


@cache
def skill_class(name: str) -> type[Skill]:
    """Return the class of a skill by its published name, or of a user's own skill by ``my_module:MySkill``.

    Raises:
        NotFoundError: There is no such skill.
        NotAllowedError: It is a user's own skill, and that was not allowed.
        InputError: A user's own class cannot be imported or is not a skill.
    """
    published = skill_name(name)
    if ":" not in published and published not in SKILLS:
        raise NotFoundError(f"no skill named {name!r}; {suggest(name, SKILLS)}")
    return register_skill(import_named("skill", published, SKILLS, own="my_module:MySkill"))


def checked_config(config: SkillConfig) -> SkillConfig:
    """Return the config of a skill; that of a user's own skill is checked by the ``Config`` of its class.

    Raises:
        ValidationError: A key is wrong, missing or unknown.
        InputError: The class cannot be imported or is not a skill.
    """
    if not isinstance(config, OwnSkillConfig):
        return config
    return skill_class(config.name).Config.model_validate(config.model_dump(exclude_unset=True))


def make_skill(
    scene: Scene,
    robot: str,
    arm: str,
    given: Any,
    rng: np.random.Generator,
    controller: Callable[[str, str], ArmController],
) -> Skill:
    """Return a skill of an arm, not yet begun; one that takes both arms also gets the other one.

    Args:
        scene: The scene.
        robot: Name of the robot.
        arm: The arm under which the task file lists it.
        given: Its config.
        rng: Random generator of its choices.
        controller: Returns the controller of an arm by the names of robot and arm.
    """
    config = checked_config(given)
    skill = skill_class(config.name)(scene, controller(robot, arm), config, rng)
    if config.both_arms:
        others = [other.name for other in scene.robot(robot).arms if other.name != skill.controller.arm.name]
        if not others:
            raise ConfigError(f"{config.name} takes both arms, and {robot} has one; use a robot with two arms")
        skill.partner = controller(robot, others[0])
    return skill
