"""Tasks: Task files as frozen configs, and the sampling of one scene from such a config."""

from handloom.tasks.config.loading import library, load_task
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import TaskConfig, TaskFile
from handloom.tasks.sampling.layouts.settling_world import SamplingError
from handloom.tasks.sampling.sample_task import sample_task
from handloom.tasks.sampling.wording import worded_skills

__all__ = ["SamplingError", "Task", "TaskConfig", "TaskFile", "library", "load_task", "sample_task", "worded_skills"]
