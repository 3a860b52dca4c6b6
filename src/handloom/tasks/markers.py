"""Markers that show a robot its goals; nobody has to list them among the objects."""

from handloom.scene.markers import marker_instance
from handloom.skills.configs.motions import TrackConfig
from handloom.tasks.task import Task
from handloom.values import ObjectInstance


def sample_markers(task: Task) -> tuple[ObjectInstance, ...]:
    """Return one hidden marker for every arm that tracks targets."""
    arms = {
        (robot, arm): None
        for stage in task.config.skills
        for robot, blocks in stage.items()
        for block in blocks
        for arm, skills in block.items()
        if any(isinstance(skill, TrackConfig) for skill in skills)
    }
    return tuple(marker_instance(robot, arm) for robot, arm in arms)
