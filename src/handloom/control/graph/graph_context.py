"""What nodes may know of the world while they compute."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from handloom.arrays import Array
from handloom.articulation import SingleArticulation
from handloom.errors import InputError, unknown_name
from handloom.sim import World


@dataclass(frozen=True, kw_only=True)
class GraphContext:
    """Time and robots, as they are at one evaluation."""

    robots: Mapping[str, SingleArticulation] = field(default_factory=dict)
    """Path or name a graph uses > initialised robot."""
    world: World | None = None
    """The world, for ports that name a body."""
    time: float = 0.0
    """Simulated time [s]."""
    delta_seconds: float = 0.0
    """Time since the last evaluation of this kind [s]."""
    frame: int = 0
    """Count of ticks since play."""
    playing: bool = True
    """Whether the timeline runs."""

    def robot(self, path: str, prim: str | None) -> SingleArticulation:
        """Return the robot of a node: its path wins over its target.

        Raises:
            InputError: Neither is given.
            NotFoundError: No robot of that name.
        """
        name = path or prim
        if not name:
            raise InputError("neither robotPath nor targetPrim names a robot")
        if name not in self.robots:
            raise unknown_name("robot in this graph", name, self.robots)
        return self.robots[name]

    def pose(self, prim: str) -> Array:
        """Return T_world_prim (4, 4) of a robot's base or of a body."""
        if prim in self.robots:
            return self.robots[prim].root.pose()
        if self.world is None or prim not in self.world.bodies:
            raise unknown_name("robot or body", prim, [*self.robots, *(self.world.bodies if self.world else ())])
        return self.world.body_pose(prim)

    def velocity(self, prim: str) -> Array:
        """Return linear [m/s], then angular [rad/s] velocity in world (6,) of a robot's base or of a body."""
        if prim in self.robots:
            return self.robots[prim].get_world_velocity()
        if self.world is None:
            raise unknown_name("robot or body", prim, self.robots)
        return self.world.body_velocity(prim)
