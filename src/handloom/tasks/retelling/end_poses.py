"""Final places of a demonstration's objects, and an expert that puts them there again."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from handloom.scene import Scene, build_scene
from handloom.skills.configs.places import PlaceConfig
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.retelling.told_scenes import ToldScene
from handloom.values import EndPose, TaskInstance


def end_poses(told: ToldScene, task: Task) -> dict[str, EndPose]:
    """Return the final places of a task's placed objects after another robot had done it.

    Objects put on the table have a spot named by the task, and are left out.

    Args:
        told: The scene and its last state.
        task: What is done.
    """
    skills = [skill for _, skill in placed_skills(task.config) if isinstance(skill, PlaceConfig)]
    last = {skill.objects[0]: skill.objects[1] for skill in skills}
    places = {name: target for name, target in last.items() if target != task.config.work_surface}
    if not places:
        return {}
    scene = build_scene(told.instance)
    scene.world.restore_state(told.last_state)
    scene.world.forward()
    return {name: _end_pose(scene, name, target) for name, target in places.items()}


def aimed(skills: Sequence[Any], instance: TaskInstance) -> dict[int, dict[str, Any]]:
    """Return the keys that aim each object's last place at its final place, by index in the list.

    Args:
        skills: All skills of a task, in order.
        instance: The scene.
    """
    if instance.retold is None:
        return {}
    ends = instance.retold.ends
    last = {skill.objects[0]: k for k, skill in enumerate(skills) if isinstance(skill, PlaceConfig)}
    return {k: {"aim": ends[name].point, "aim_body": ends[name].body} for name, k in last.items() if name in ends}


def _end_pose(scene: Scene, name: str, target: str) -> EndPose:
    """Return the position of an object in the frame of the part of its target that it touches most."""
    touched: Counter[str] = Counter()
    for contact in scene.world.contacts():
        pair = (contact.body_a, contact.body_b)
        for one, other in (pair, pair[::-1]):
            if one.partition("/")[0] == name and other.partition("/")[0] == target:
                touched[other] += 1
    body = touched.most_common(1)[0][0] if touched else scene.body_of(target)
    T_world_body = scene.world.body_pose(body)
    offset = scene.object_pose(name)[:3, 3] - T_world_body[:3, 3]
    x, y, z = (np.round(T_world_body[:3, :3].T @ offset, 9)).tolist()
    return EndPose(body=body, point=(x, y, z))
