"""Every skill that can run: published name > ``module:Class``."""

from functools import cache

from handloom.config import import_named
from handloom.errors import NotFoundError, suggest
from handloom.skills.configs import SKILL_CONFIGS, OwnSkillConfig, skill_name
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.skill import Skill, register_skill

SKILLS = {
    "approach__rotate": "handloom.skills.approach_rotate:ApproachRotate",
    "dexpick": "handloom.skills.dex_pick:DexPick",
    "dexplace": "handloom.skills.dex_place:DexPlace",
    "fail_pick": "handloom.skills.fail_pick:FailPick",
    "flip": "handloom.skills.flip:Flip",
    "goto__pose": "handloom.skills.goto_pose:GotoPose",
    "gripper__action": "handloom.skills.gripper_action:GripperAction",
    "hang": "handloom.skills.hang:Hang",
    "heuristic__skill": "handloom.skills.heuristic_skill:HeuristicSkill",
    "home": "handloom.skills.home:Home",
    "joint__ctrl": "handloom.skills.joint_ctrl:JointCtrl",
    "manualpick": "handloom.skills.manual_pick:ManualPick",
    "move": "handloom.skills.move:MoveSkill",
    "pick": "handloom.skills.pick:Pick",
    "place": "handloom.skills.place:Place",
    "rotate__obj": "handloom.skills.rotate_obj:RotateObj",
    "scan": "handloom.skills.scan:Scan",
    "track": "handloom.skills.track:Track",
    "wait": "handloom.skills.wait:Wait",
}


@cache
def skill_class(name: str) -> type[Skill]:
    """Return the class of a skill by its published name, or of a user's own by ``my_module:MySkill``.

    Raises:
        NotFoundError: The skill is known but not built yet, or not known at all.
        NotAllowedError: It is a user's own, and that was not allowed.
        InputError: A user's own class cannot be imported or is not a skill.
    """
    published = skill_name(name)
    if ":" not in published and published not in SKILLS:
        if published in SKILL_CONFIGS:
            raise NotFoundError(f"skill {published!r} can be described but not run yet; {suggest(published, SKILLS)}")
        raise NotFoundError(f"no skill named {name!r}; {suggest(name, SKILL_CONFIGS)}")
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
