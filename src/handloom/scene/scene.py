"""A built scene: the world, its robots and its objects, by the names of the task."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.objects import ObjectAsset
from handloom.scene.scene_robot import SceneRobot
from handloom.sim import World
from handloom.values import TaskInstance


@dataclass(frozen=True, eq=False)
class Scene:
    """One episode's world at its start."""

    instance: TaskInstance
    world: World
    robots: Mapping[str, SceneRobot]
    assets: Mapping[str, ObjectAsset]
    """What each object and fixture is made of."""

    def robot(self, name: str) -> SceneRobot:
        """Return a robot by its name in the task."""
        if name not in self.robots:
            raise unknown_name("robot", name, self.robots)
        return self.robots[name]

    def body_of(self, name: str) -> str:
        """Return the root body of an object or fixture."""
        if name not in self.assets:
            raise unknown_name("object", name, self.assets)
        return f"{name}/object"

    def object_pose(self, name: str) -> Array:
        """Return T_world_object (4, 4)."""
        return self.world.body_pose(self.body_of(name))

    @cached_property
    def robot_dofs(self) -> NDArray[np.intp]:
        """Places in ``qvel`` of every joint of the robots: arms, grippers with their followers, lifts and bases."""
        model, robots = self.world.model, tuple(f"{name}/" for name in self.robots)
        owner = [model.body(int(body)).name for body in model.dof_bodyid]
        return np.array([dof for dof, body in enumerate(owner) if body.startswith(robots)], dtype=np.intp)

    def grain_positions(self) -> Array:
        """Return the centre (n, 3) [m] of every grain of the fluid; none when the task has no fluid."""
        count = 0 if self.instance.fluid is None else len(self.instance.fluid.positions)
        first = self.world.body_index("fluid/0") if count else 0
        return self.world.data.xpos[first : first + count].copy()
