"""Drive the base of a robot at a body twist, whatever its wheels are."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.wheeled.arguments import finite_vector, positive_number
from handloom.isaac.wheeled.laps.drives import (
    AckermannDrive,
    DifferentialDrive,
    Encoders,
    HolonomicDrive,
    PlanarDrive,
    WheelDrive,
)
from handloom.isaac.wheeled.paths.path_tracker import PathTracker
from handloom.isaac.wheeled.planar_odometry import PlanarPose, yaw_from_quat
from handloom.isaac.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig, RobotDescription
from handloom.sim import World

# Kind of drive in robot.yaml > what turns twists into wheel commands.
DRIVES: dict[str, Callable[[DriveConfig, WheeledRobot], WheelDrive]] = {
    "differential": DifferentialDrive,
    "holonomic": HolonomicDrive,
    "ackermann": AckermannDrive,
    "planar": PlanarDrive,
}


class BaseDriver:
    """Takes body twists for a robot with a ``drive`` in its description, and reports what the wheels do.

    The frame driven is that of the base, for a car that of the axle that does not steer.

    Args:
        description: The robot; its ``drive`` says which joints are wheels.
        world: The world that holds it.
        prefix: What the names of its parts start with in that world.

    Raises:
        InputError: The robot has no drive.
    """

    def __init__(self, description: RobotDescription, world: World, *, prefix: str = "") -> None:
        drive = description.config.drive
        if drive is None:
            raise InputError(f"robot {description.name!r} does not drive: its robot.yaml has no 'drive'")
        self.drive: DriveConfig = drive
        self.robot = WheeledRobot(
            world,
            prefix,
            description.name,
            wheel_dof_names=drive.wheel_names,
            steering_dof_names=drive.steering_names,
            dof_names=description.config.dof_names or None,
        )
        self.robot.initialize()
        self._wheels = DRIVES[drive.kind](drive, self.robot)

    @property
    def world(self) -> World:
        """The world that holds the robot."""
        return self.robot.world

    @property
    def tracker(self) -> PathTracker:
        """A feedback law that suits this base."""
        return PathTracker(slides=self.slides)

    @property
    def slides(self) -> bool:
        """Whether the base moves sideways."""
        return self.drive.kind in {"holonomic", "planar"}

    def command(self, twist: Sequence[float] | Array, dt: float) -> None:
        """Give the wheels the speeds of a body twist, for a control period.

        Args:
            twist: ``[vx, vy, w]`` [m/s, m/s, rad/s]; limits of the drive apply, and keep the heading.
            dt: Control period [s], for the ramps of a car.

        Raises:
            InputError: Values that are not finite, or a sideways speed asked of a base that cannot slide.
        """
        asked = finite_vector(twist, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "twist")
        if not self.slides and asked[1] != 0.0:
            raise InputError(f"a {self.drive.kind} drive cannot move sideways, vy was {asked[1]} m/s")
        self.robot.apply_wheel_actions(self._wheels.action(asked, positive_number(dt, "dt")))

    def advance(self, steps: int) -> None:
        """Step physics with the command in force."""
        self.world.step(steps)

    def aim(self, twist: Sequence[float] | Array) -> float:
        """Turn the steered wheels for a body twist that is about to be commanded; a standing car can do that first.

        Returns:
            How long the wheels may take, at zero speed [s]; 0 when nothing steers.
        """
        return self._wheels.aim(finite_vector(twist, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "twist"))

    def wheel_twist(self) -> Array:
        """Return the body twist (3,) that the wheels report now, as if none slipped."""
        return self._wheels.twist(self.robot.get_wheel_velocities(), self.encoders())

    def encoders(self) -> Encoders:
        """Return what the wheel and steering encoders read now."""
        return Encoders(wheels=self.robot.get_wheel_positions(), steering=self.robot.get_steering_positions())

    def mean_twist(self, before: Encoders, after: Encoders, dt: float) -> Array:
        """Return the mean body twist (3,) between two encoder readings, as if no wheel slipped."""
        speeds = (after.wheels - before.wheels) / positive_number(dt, "dt")
        middle = Encoders(
            wheels=0.5 * (before.wheels + after.wheels), steering=0.5 * (before.steering + after.steering)
        )
        return self._wheels.twist(speeds, middle)

    def pose(self) -> PlanarPose:
        """Return where the driven frame is in world."""
        position, quat = self.robot.get_world_pose()
        yaw = yaw_from_quat(quat)
        offset = self.drive.axle_offset
        return PlanarPose(
            x=float(position[0]) + offset * math.cos(yaw), y=float(position[1]) + offset * math.sin(yaw), yaw=yaw
        )

    def place(self, pose: PlanarPose) -> None:
        """Put the driven frame at a pose, at rest; the height of the base stays."""
        if isinstance(self._wheels, PlanarDrive):
            self.robot.set_wheel_positions(self._wheels.joints_at(pose))
            self.robot.set_wheel_velocities(np.zeros(3))
            return
        position, _ = self.robot.get_world_pose()
        offset = self.drive.axle_offset
        x, y = pose.x - offset * math.cos(pose.yaw), pose.y - offset * math.sin(pose.yaw)
        half = pose.yaw / 2.0
        self.robot.set_world_pose([x, y, position[2]], [math.cos(half), 0.0, 0.0, math.sin(half)])
