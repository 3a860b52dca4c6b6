"""What drives a base over the floor, whatever it stands on."""

from collections.abc import Sequence
from typing import Any, Protocol

from handloom.arrays import Array
from handloom.isaac.wheeled.paths.path_tracker import PathTracker
from handloom.isaac.wheeled.planar_odometry import PlanarPose
from handloom.robots import DriveConfig
from handloom.sim import World


class Driver(Protocol):
    """Takes body twists for a robot: ``BaseDriver`` on wheels, ``Walker`` on legs."""

    drive: DriveConfig
    """Of the robot's description."""

    @property
    def world(self) -> World:
        """The world that holds the robot."""
        ...

    @property
    def tracker(self) -> PathTracker:
        """A feedback law that suits this base."""
        ...

    def command(self, twist: Sequence[float] | Array, dt: float) -> None:
        """Move at a body twist ``[vx, vy, w]`` [m/s, m/s, rad/s], for a control period [s]."""
        ...

    def advance(self, steps: int) -> None:
        """Step physics with the command in force."""
        ...

    def aim(self, twist: Sequence[float] | Array) -> float:
        """Make ready for a body twist; return how long that may take, at zero speed [s]."""
        ...

    def encoders(self) -> Any:
        """Return what the sensors for odometry read now."""
        ...

    def mean_twist(self, before: Any, after: Any, dt: float) -> Array:
        """Return the mean body twist (3,) between two readings, as if nothing slipped."""
        ...

    def pose(self) -> PlanarPose:
        """Return where the driven frame is in world."""
        ...

    def place(self, pose: PlanarPose) -> None:
        """Put the driven frame at a pose, at rest."""
        ...
