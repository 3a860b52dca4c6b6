"""Skills, one per file; the arm controller that carries them out; and the schedule of a task."""

from handloom.skills.configs.parts import SkillConfig
from handloom.skills.registry import SKILLS, checked_config, skill_class
from handloom.skills.schedule import Schedule
from handloom.skills.skill import Skill, command_at, hand_check, register_skill

__all__ = [
    "SKILLS",
    "Schedule",
    "Skill",
    "SkillConfig",
    "checked_config",
    "command_at",
    "hand_check",
    "register_skill",
    "skill_class",
]
