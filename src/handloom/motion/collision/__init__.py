"""Collision: spheres for speed, MuJoCo for the truth."""

from handloom.motion.collision.collision_robot import CollisionRobot
from handloom.motion.collision.collision_world import CollisionWorld
from handloom.motion.collision.exact_checker import ExactChecker, PathCollision
from handloom.motion.collision.obstacle import Obstacle
from handloom.motion.collision.part import CollisionPart
from handloom.motion.collision.shape import Shape, ShapeKind, convex_hull
from handloom.motion.collision.sphere_checker import SphereChecker
from handloom.motion.collision.sphere_model import SphereModel
from handloom.motion.collision.touch import Touch

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
