"""Tasks: YAML to a frozen config, and the sampling of one scene from it."""

from handloom.tasks.loading import library, load_task
from handloom.tasks.sampling import sample_task
from handloom.tasks.sampling_error import SamplingError
from handloom.tasks.skill_words import worded_skills
from handloom.tasks.task import Task
from handloom.tasks.task_config import TaskConfig, TaskFile

__all__ = ["SamplingError", "Task", "TaskConfig", "TaskFile", "library", "load_task", "sample_task", "worded_skills"]
