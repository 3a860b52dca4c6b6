"""One arm and the obstacles of every kind around it."""

import mujoco
import numpy as np
import pytest

from handloom.motion.collision import CollisionRobot, CollisionWorld
from handloom.motion.kinematics import JointTree, halton
from handloom.spatial import make_pose, random_rotations

ARM = tuple(f"joint{k}" for k in range(1, 8))
POINTS = np.random.default_rng(4).normal(size=(30, 3)) * 0.1


@pytest.fixture(scope="session")
def tree(fr3) -> JointTree:
    return JointTree.from_model(fr3, ARM)


@pytest.fixture(scope="session")
def robot(fr3, tree) -> CollisionRobot:
    return CollisionRobot.from_model(fr3, tree)


@pytest.fixture(scope="session")
def configurations(tree) -> np.ndarray:
    lower, upper = tree.sampling_box
    return lower + (upper - lower) * halton(400, tree.dof, seed=7)


def add_obstacle(world: CollisionWorld, kind: str, name: str, T: np.ndarray) -> None:
    """Add an obstacle of a kind at a pose."""
    if kind == "box":
        world.add_box(name, (0.2, 0.3, 0.1), T)
    elif kind == "sphere":
        world.add_sphere(name, 0.15, T[:3, 3])
    elif kind == "capsule":
        world.add_capsule(name, 0.08, 0.3, T)
    elif kind == "cylinder":
        world.add_cylinder(name, 0.12, 0.25, T)
    elif kind == "plane":
        world.add_plane(name, make_pose(T[:3, :3], T[:3, 3] - 0.5 * T[:3, 2]))
    elif kind == "convex":
        world.add_convex(name, POINTS, T)
    else:
        rows, columns = np.mgrid[0:20, 0:30]
        heights = 0.1 * np.sin(rows / 3) * np.cos(columns / 4) - 0.05
        world.add_height_field(name, heights, (1.2, 1.0), make_pose(np.eye(3), [0.3, 0.0, 0.1]))


@pytest.fixture
def fixed_parts(fr3, tree) -> CollisionWorld:
    """The robot's own base."""
    data = mujoco.MjData(fr3)
    mujoco.mj_kinematics(fr3, data)
    return CollisionWorld.from_model(fr3, data, exclude_bodies=np.flatnonzero(tree.body_link >= 0))


@pytest.fixture
def make_world(fixed_parts):
    """Build a world with some obstacles of one kind at random places."""

    def make(kind: str, count: int = 3) -> CollisionWorld:
        rng = np.random.default_rng(sum(map(ord, kind)))
        for i in range(1 if kind == "height field" else count):
            position = rng.uniform([0.2, -0.5, 0.1], [0.7, 0.5, 0.9])
            add_obstacle(fixed_parts, kind, f"{kind} {i}", make_pose(random_rotations(rng, 1)[0], position))
        return fixed_parts

    return make
