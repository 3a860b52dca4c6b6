"""Every skill that can run: published name > ``module:Class``."""

from functools import cache

from handloom.config import import_named
from handloom.errors import NotFoundError, suggest
from handloom.skills.configs import OwnSkillConfig, skill_name
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.skill import Skill, register_skill

SKILLS = {
    "approach__rotate": "handloom.skills.rotate_held:ApproachRotate",
    "artpreplan": "handloom.skills.art_preplan:ArtPreplan",
    "carry": "handloom.skills.carry:Carry",
    "close": "handloom.skills.articulated:Close",
    "dexpick": "handloom.skills.dexterous:DexPick",
    "dexplace": "handloom.skills.dexterous:DexPlace",
    "dynamicpick": "handloom.skills.dynamic_pick:DynamicPick",
    "fail_pick": "handloom.skills.pick_variants:FailPick",
    "flip": "handloom.skills.flip_and_scan:Flip",
    "goto__pose": "handloom.skills.tool_motions:GotoPose",
    "gripper__action": "handloom.skills.joint_skills:GripperAction",
    "hang": "handloom.skills.hang:Hang",
    "heuristic__skill": "handloom.skills.joint_skills:HeuristicSkill",
    "home": "handloom.skills.joint_skills:Home",
    "joint__ctrl": "handloom.skills.joint_skills:JointCtrl",
    "manualpick": "handloom.skills.pick_variants:ManualPick",
    "mobile__rotate": "handloom.skills.mobile:MobileRotate",
    "mobile__translate": "handloom.skills.mobile:MobileTranslate",
    "move": "handloom.skills.tool_motions:MoveSkill",
    "navigate": "handloom.skills.mobile:Navigate",
    "open": "handloom.skills.mobile_open:Open",
    "pick": "handloom.skills.pick:Pick",
    "place": "handloom.skills.place:Place",
    "pour": "handloom.skills.pour:Pour",
    "pour__water__succ": "handloom.skills.pour:PourWaterSucc",
    "rotate": "handloom.skills.articulated:Rotate",
    "rotate__obj": "handloom.skills.rotate_held:RotateObj",
    "scan": "handloom.skills.flip_and_scan:Scan",
    "track": "handloom.skills.track:Track",
    "wait": "handloom.skills.joint_skills:Wait",
}


@cache
def skill_class(name: str) -> type[Skill]:
    """Return the class of a skill by its published name, or of a user's own by ``my_module:MySkill``.

    Raises:
        NotFoundError: There is no such skill.
        NotAllowedError: It is a user's own, and that was not allowed.
        InputError: A user's own class cannot be imported or is not a skill.
    """
    published = skill_name(name)
    if ":" not in published and published not in SKILLS:
        raise NotFoundError(f"no skill named {name!r}; {suggest(name, SKILLS)}")
    return register_skill(import_named("skill", published, SKILLS, own="my_module:MySkill"))


def checked_config(config: SkillConfig) -> SkillConfig:
    """Return the config of a skill; that of a user's own is checked by the ``Config`` of the class it names.

    Raises:
        ValidationError: A key is wrong, missing or unknown.
        InputError: The class cannot be imported or is not a skill.
    """
    if not isinstance(config, OwnSkillConfig):
        return config
    return skill_class(config.name).Config.model_validate(config.model_dump(exclude_unset=True))
