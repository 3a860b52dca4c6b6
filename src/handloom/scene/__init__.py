"""Scenes: from a task instance over an MjSpec to a world with robots and objects bound by name."""

from handloom.scene.build import build_scene, scene_spec
from handloom.scene.scene import Scene, SceneArm, SceneRobot

__all__ = ["Scene", "SceneArm", "SceneRobot", "build_scene", "scene_spec"]
