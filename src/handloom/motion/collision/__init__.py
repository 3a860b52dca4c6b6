"""Collision checking: spheres for speed, MuJoCo for exact results."""

import importlib
from typing import Any

from handloom.motion.collision.collision_robot import CollisionRobot
from handloom.motion.collision.collision_world import CollisionWorld
from handloom.motion.collision.exact_checker import ExactChecker, PathCollision, Touch
from handloom.motion.collision.obstacle import CollisionPart, Obstacle
from handloom.motion.collision.shape import Shape, ShapeKind, hull_shape
from handloom.motion.collision.sphere_checker import SphereChecker
from handloom.motion.collision.sphere_model import SphereModel

__all__ = [
    "CollisionPart",
    "CollisionRobot",
    "CollisionWorld",
    "ExactChecker",
    "Obstacle",
    "PathCollision",
    "Shape",
    "ShapeKind",
    "SphereChecker",
    "SphereModel",
    "Touch",
    "hull_shape",
]


def __getattr__(name: str) -> Any:
    """Return a name that this module used to contain."""
    return importlib.import_module("handloom.compat.moved").moved_name(__name__, name)
