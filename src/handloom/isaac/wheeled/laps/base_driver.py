"""Drives the base of a robot at a body twist: differential, holonomic, Ackermann and planar drives."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.wheeled.arguments import finite_vector, positive_number
from handloom.isaac.wheeled.controllers.ackermann_controller import AckermannController
from handloom.isaac.wheeled.controllers.differential_controller import DifferentialController
from handloom.isaac.wheeled.controllers.holonomic_controller import HolonomicController
from handloom.isaac.wheeled.controllers.holonomic_robot_setup import HolonomicRobotSetup
from handloom.isaac.wheeled.paths.path_tracker import PathTracker
from handloom.isaac.wheeled.planar_odometry import PlanarPose, yaw_from_quat
from handloom.isaac.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig, RobotDescription
from handloom.sim import World
from handloom.values import ArticulationAction


class Encoders(NamedTuple):
    """Angles of the wheels and of the joints that steer them."""

    wheels: Array
    """(k,) [rad]."""
    steering: Array
    """(m,) [rad]; empty when nothing steers."""


class WheelDrive(Protocol):
    """A drive type, which converts between body twists and wheel motion."""

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        ...

    def aim(self, twist: Array, /) -> float:
        """Set the steering for a body twist ahead of the next commands; return the longest time that takes [s]."""
        ...

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) for wheel speeds [rad/s] and encoder readings."""
        ...


class DifferentialDrive:
    """Two driven wheels on one axle."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
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
        """Return the wheel commands for a body twist (3,)."""
        return self._controller.forward(twist[[0, 2]])

    def aim(self, twist: Array, /) -> float:
        """Set the steering for the next commands; return the longest time that takes [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) for wheel speeds and encoder readings."""
        return self._controller.body_twist(speeds)


class HolonomicDrive:
    """Wheels with rollers, as described by the model."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        setup = HolonomicRobotSetup(robot.world, robot.prefix, drive.base_path)
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
        """Return the wheel commands for a body twist (3,)."""
        return self._controller.forward(twist)

    def aim(self, twist: Array, /) -> float:
        """Set the steering for the next commands; return the longest time that takes [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) for wheel speeds and encoder readings."""
        return self._controller.body_twist(speeds)


# Below this speed [m/s] the steering angle of a car does not determine its turn; the wheels keep their angles.
STEERING_SPEED = 0.02


class AckermannDrive:
    """A steered car, which turns by its steering angle."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
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
        """Return the wheel commands for a body twist (3,)."""
        drive = self._drive
        speed, turn = float(twist[0]), float(twist[2])
        if abs(speed) > STEERING_SPEED:
            self._steer = math.atan(drive.wheel_base * turn / speed)
        # The steering follows the requested twist, so that a speed limit does not change the circle.
        if drive.max_linear_speed:
            speed = max(-drive.max_linear_speed, min(drive.max_linear_speed, speed))
        return self._controller.forward([self._steer, drive.max_steering_speed, speed, drive.max_acceleration, dt])

    def aim(self, twist: Array, /) -> float:
        """Set the steering for the next commands; return the longest time that takes [s]."""
        speed, turn = float(twist[0]), float(twist[2])
        self._steer = math.atan(self._drive.wheel_base * turn / speed) if speed else 0.0
        return 2.0 * abs(self._steer) / (self._drive.max_steering_speed or math.inf)

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) for wheel speeds and encoder readings."""
        return self._controller.body_twist(encoders.steering, speeds)


class PlanarDrive:
    """Joints x, y and yaw between the floor and the base, without slip."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        self._drive = drive
        self._robot = robot
        # Pose of the base when its joints are at zero: the frame in which x and y are measured.
        x, y, yaw = robot.get_wheel_positions()
        position, quat = robot.get_world_pose()
        self._yaw_zero = yaw_from_quat(quat) - float(yaw)
        self._zero = position[:2] - _rotation(self._yaw_zero) @ [x, y]

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        drive = self._drive
        speed = float(np.hypot(twist[0], twist[1]))
        share = min(
            1.0,
            (drive.max_linear_speed or math.inf) / max(speed, 1e-12),
            (drive.max_angular_speed or math.inf) / max(abs(float(twist[2])), 1e-12),
        )
        yaw = float(self._robot.get_wheel_positions()[2])
        moving = _rotation(yaw) @ twist[:2]
        return ArticulationAction(joint_velocities=share * np.array([*moving, twist[2]]))

    def aim(self, twist: Array, /) -> float:
        """Set the steering for the next commands; return the longest time that takes [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) for wheel speeds and encoder readings."""
        return np.array([*(_rotation(float(encoders.wheels[2])).T @ speeds[:2]), speeds[2]])

    def joints_at(self, pose: PlanarPose) -> Array:
        """Return the joint positions (3,) that place the base at a pose in world."""
        x, y = _rotation(self._yaw_zero).T @ (np.array([pose.x, pose.y]) - self._zero)
        return np.array([x, y, pose.yaw - self._yaw_zero])


def _rotation(angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


# Drive type in robot.yaml > class that turns twists into wheel commands.
DRIVES: dict[str, Callable[[DriveConfig, WheeledRobot], WheelDrive]] = {
    "differential": DifferentialDrive,
    "holonomic": HolonomicDrive,
    "ackermann": AckermannDrive,
    "planar": PlanarDrive,
}


class BaseDriver:
    """Drives a robot with a ``drive`` in its description at body twists, and reports wheel odometry.

    The driven frame is that of the base, or for a car that of the fixed axle.

    Args:
        description: The robot; its ``drive`` names the wheel joints.
        world: The world that holds it.
        prefix: Name prefix of its parts in that world.

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
        """A feedback law suitable for this base."""
        return PathTracker(slides=self.slides)

    @property
    def slides(self) -> bool:
        """Whether the base moves sideways."""
        return self.drive.kind in {"holonomic", "planar"}

    def command(self, twist: Sequence[float] | Array, dt: float) -> None:
        """Command the wheel speeds of a body twist, for a control period.

        Args:
            twist: ``[vx, vy, w]`` [m/s, m/s, rad/s]; limits of the drive apply and preserve the heading.
            dt: Control period [s], for the ramps of a car.

        Raises:
            InputError: A value is not finite, or the speed is sideways and the base cannot move sideways.
        """
        asked = finite_vector(twist, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "twist")
        if not self.slides and asked[1] != 0.0:
            raise InputError(f"a {self.drive.kind} drive cannot move sideways, vy was {asked[1]} m/s")
        self.robot.apply_wheel_actions(self._wheels.action(asked, positive_number(dt, "dt")))

    def advance(self, steps: int) -> None:
        """Step physics with the current command."""
        self.world.step(steps)

    def aim(self, twist: Sequence[float] | Array) -> float:
        """Turn the steered wheels for a body twist that is about to be commanded; possible while the car stands still.

        Returns:
            Time that the wheels may take, at zero speed [s]; 0 if nothing steers.
        """
        return self._wheels.aim(finite_vector(twist, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "twist"))

    def wheel_twist(self) -> Array:
        """Return the body twist (3,) that the wheels currently report, assuming no slip."""
        return self._wheels.twist(self.robot.get_wheel_velocities(), self.encoders())

    def encoders(self) -> Encoders:
        """Return the current readings of the wheel and steering encoders."""
        return Encoders(wheels=self.robot.get_wheel_positions(), steering=self.robot.get_steering_positions())

    def mean_twist(self, before: Encoders, after: Encoders, dt: float) -> Array:
        """Return the mean body twist (3,) between two encoder readings, assuming no slip."""
        speeds = (after.wheels - before.wheels) / positive_number(dt, "dt")
        middle = Encoders(
            wheels=0.5 * (before.wheels + after.wheels), steering=0.5 * (before.steering + after.steering)
        )
        return self._wheels.twist(speeds, middle)

    def pose(self) -> PlanarPose:
        """Return the pose of the driven frame in world."""
        position, quat = self.robot.get_world_pose()
        yaw = yaw_from_quat(quat)
        offset = self.drive.axle_offset
        return PlanarPose(
            x=float(position[0]) + offset * math.cos(yaw), y=float(position[1]) + offset * math.sin(yaw), yaw=yaw
        )

    def place(self, pose: PlanarPose) -> None:
        """Place the driven frame at a pose, at rest; the height of the base stays."""
        if isinstance(self._wheels, PlanarDrive):
            self.robot.set_wheel_positions(self._wheels.joints_at(pose))
            self.robot.set_wheel_velocities(np.zeros(3))
            return
        position, _ = self.robot.get_world_pose()
        offset = self.drive.axle_offset
        x, y = pose.x - offset * math.cos(pose.yaw), pose.y - offset * math.sin(pose.yaw)
        half = pose.yaw / 2.0
        self.robot.set_world_pose([x, y, position[2]], [math.cos(half), 0.0, 0.0, math.sin(half)])
