"""Skills: one per file, the arm controller that carries them out, and the schedule of a task."""

from handloom.skills.schedule import Schedule
from handloom.skills.skill import Skill, register_skill
from handloom.skills.table import SKILLS, skill_class

__all__ = ["SKILLS", "Schedule", "Skill", "register_skill", "skill_class"]
