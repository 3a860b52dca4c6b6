"""Collision: spheres for speed, MuJoCo for the truth."""

from handloom.motion.collision.collision_robot import CollisionRobot
from handloom.motion.collision.collision_world import CollisionWorld
from handloom.motion.collision.exact_checker import ExactChecker, PathCollision, Touch
from handloom.motion.collision.obstacle import CollisionPart, Obstacle
from handloom.motion.collision.shape import Shape, ShapeKind, convex_hull
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
    "convex_hull",
]
