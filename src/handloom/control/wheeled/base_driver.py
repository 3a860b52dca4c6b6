"""Drive the base of a robot at a body twist, whatever its wheels are."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from handloom.control.wheeled.ackermann_controller import AckermannController
from handloom.control.wheeled.angles import yaw_from_quat
from handloom.control.wheeled.arguments import finite_vector, positive_number
from handloom.control.wheeled.differential_controller import DifferentialController
from handloom.control.wheeled.holonomic_controller import HolonomicController
from handloom.control.wheeled.holonomic_robot_setup import HolonomicRobotSetup
from handloom.control.wheeled.planar_odometry import PlanarPose
from handloom.control.wheeled.wheeled_robot import WheeledRobot
from handloom.errors import InputError
from handloom.robots import DriveConfig, RobotDescription
from handloom.sim import World
from handloom.values import ArticulationAction

Array = NDArray[np.float64]

# Below this speed [m/s] the steering angle of a car says nothing about its turn; the wheels stay as they are.
STEERING_SPEED = 0.02


class Wheels(Protocol):
    """One kind of drive between a body twist and the wheels."""

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        ...

    def aim(self, twist: Array, /) -> float:
        """Choose the steering of a body twist for the next commands; return how long it takes at most [s]."""
        ...

    def twist(self, speeds: Array, angles: Array, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds [rad/s] and steering angles [rad]."""
        ...


class Encoders(NamedTuple):
    """Angles of the wheels and of the joints that steer them."""

    wheels: Array
    """(k,) [rad]."""
    steering: Array
    """(m,) [rad]; empty when nothing steers."""


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
        self._wheels = WHEELS[drive.kind](drive, world, prefix)

    @property
    def slides(self) -> bool:
        """Whether the base moves sideways."""
        return self.drive.kind == "holonomic"

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

    def aim(self, twist: Sequence[float] | Array) -> float:
        """Turn the steered wheels for a body twist that is about to be commanded; a standing car can do that first.

        Returns:
            How long the wheels may take, at zero speed [s]; 0 when nothing steers.
        """
        return self._wheels.aim(finite_vector(twist, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "twist"))

    def wheel_twist(self) -> Array:
        """Return the body twist (3,) that the wheels report now, as if none slipped."""
        return self._wheels.twist(self.robot.get_wheel_velocities(), self.robot.get_steering_positions())

    def encoders(self) -> Encoders:
        """Return what the wheel and steering encoders read now."""
        return Encoders(wheels=self.robot.get_wheel_positions(), steering=self.robot.get_steering_positions())

    def mean_twist(self, before: Encoders, after: Encoders, dt: float) -> Array:
        """Return the mean body twist (3,) between two encoder readings, as if no wheel slipped."""
        speeds = (after.wheels - before.wheels) / positive_number(dt, "dt")
        return self._wheels.twist(speeds, 0.5 * (before.steering + after.steering))

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
        position, _ = self.robot.get_world_pose()
        offset = self.drive.axle_offset
        x, y = pose.x - offset * math.cos(pose.yaw), pose.y - offset * math.sin(pose.yaw)
        half = pose.yaw / 2.0
        self.robot.set_world_pose([x, y, position[2]], [math.cos(half), 0.0, 0.0, math.sin(half)])


class _Differential:
    def __init__(self, drive: DriveConfig, world: World, prefix: str) -> None:
        self._controller = DifferentialController(
            "wheels",
            drive.wheel_radius,
            drive.track_width,
            drive.max_linear_speed or math.inf,
            drive.max_angular_speed or math.inf,
            drive.max_wheel_speed or math.inf,
            keep_heading=True,
        )

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        return self._controller.forward(twist[[0, 2]])

    def aim(self, twist: Array, /) -> float:
        return 0.0

    def twist(self, speeds: Array, angles: Array, /) -> Array:
        return self._controller.body_twist(speeds)


class _Holonomic:
    def __init__(self, drive: DriveConfig, world: World, prefix: str) -> None:
        setup = HolonomicRobotSetup(world, prefix, drive.base_path)
        order = [setup.get_articulation_controller_params().index(name) for name in drive.wheel_names]
        params = setup.get_holonomic_controller_params()
        self._controller = HolonomicController(
            "wheels",
            params.wheel_radius[order],
            params.wheel_positions[order],
            params.wheel_orientations[order],
            params.mecanum_angles[order],
            params.wheel_axis,
            params.up_axis,
            drive.max_linear_speed or math.inf,
            drive.max_angular_speed or math.inf,
            drive.max_wheel_speed or math.inf,
            kinematics="rigid_body",
            keep_heading=True,
        )

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        return self._controller.forward(twist)

    def aim(self, twist: Array, /) -> float:
        return 0.0

    def twist(self, speeds: Array, angles: Array, /) -> Array:
        return self._controller.body_twist(speeds)


class _Ackermann:
    def __init__(self, drive: DriveConfig, world: World, prefix: str) -> None:
        self._drive = drive
        self._steer = 0.0
        self._controller = AckermannController(
            "wheels",
            drive.wheel_base,
            drive.track_width,
            drive.wheel_radius,
            drive.rear_wheel_radius,
            max_wheel_velocity=drive.max_wheel_speed,
            invert_steering=drive.invert_steering,
            max_wheel_rotation_angle=drive.max_steering_angle or math.pi / 2.0,
            max_acceleration=drive.max_acceleration,
            max_steering_angle_velocity=drive.max_steering_speed,
            kinematics="rigid_body",
            keep_heading=True,
        )

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        drive = self._drive
        speed, turn = float(twist[0]), float(twist[2])
        if drive.max_linear_speed:
            speed = max(-drive.max_linear_speed, min(drive.max_linear_speed, speed))
        if abs(speed) > STEERING_SPEED:
            self._steer = math.atan(drive.wheel_base * turn / speed)
        return self._controller.forward([self._steer, drive.max_steering_speed, speed, drive.max_acceleration, dt])

    def aim(self, twist: Array, /) -> float:
        speed, turn = float(twist[0]), float(twist[2])
        self._steer = math.atan(self._drive.wheel_base * turn / speed) if speed else 0.0
        return 2.0 * abs(self._steer) / (self._drive.max_steering_speed or math.inf)

    def twist(self, speeds: Array, angles: Array, /) -> Array:
        return self._controller.body_twist(angles, speeds)


# Kind of drive in robot.yaml > what turns twists into wheel commands.
WHEELS: dict[str, type[_Differential] | type[_Holonomic] | type[_Ackermann]] = {
    "differential": _Differential,
    "holonomic": _Holonomic,
    "ackermann": _Ackermann,
}
