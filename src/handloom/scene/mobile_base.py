"""A mobile base: its setup in a model, its pose, and the commands of its joints and wheels.

The base moves on joints x, y and yaw, as published. In a held base they have position servos with a fixed target. In a
drivable base the same servos follow the integral of a velocity: a command is a speed, a base without a command holds
its position, and its final position is the integral of its commands, independent of friction. Its wheels have no
contacts: they are driven so that they roll as the base moves, and steered wheels are turned first.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.robots import DriveConfig, RobotDescription
from handloom.sim import World

REACH = 8.0
"""Largest distance of a base from its start along each axis [m]; planners search within it."""
TURNS = 2.0 * math.pi
"""Largest turn in either direction [rad]."""
WHEEL_STIFFNESS, WHEEL_DAMPING = 200.0, 8.0
SWIVEL_STIFFNESS, SWIVEL_DAMPING = 400.0, 12.0
"""Servos of wheels and their steering [N m/rad, N m s/rad]: they move only their own inertia, at most 0.05 kg m^2,
against friction of 0.5 N m, which leaves an error of 0.1 degrees."""
SWIVEL_SPEED = 3.0
"""Steering rate of wheels [rad/s]."""
ROUNDING = 1e-12
"""Shorter motions are ignored [m or rad]."""
STANDING = 1e-9
"""Below this hub speed a wheel's steering direction is undefined [m/s]."""


def free_base(spec: mujoco.MjSpec, description: RobotDescription) -> None:
    """Make the base of a robot's model drivable: speeds as commands, and servos for the wheels that turn with it."""
    drive = _drive_of(description)
    most = (drive.max_linear_speed, drive.max_linear_speed, drive.max_angular_speed)
    for name, speed, way in zip(drive.wheel_names, most, (REACH, REACH, TURNS), strict=True):
        joint = spec.joint(description.resolve_joint(name))
        joint.range = [-way, way]
        actuator = next(a for a in spec.actuators if a.target == joint.name)
        actuator.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
        actuator.ctrlrange = [-speed, speed] if speed else [-1.0, 1.0]
        actuator.actlimited, actuator.actrange = True, [-way, way]
    for name in drive.rolling_names:
        actuator = _servo(spec, description.resolve_joint(name), WHEEL_STIFFNESS, WHEEL_DAMPING)
        actuator.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
    for name in drive.swivel_names:
        _servo(spec, description.resolve_joint(name), SWIVEL_STIFFNESS, SWIVEL_DAMPING)


def _servo(spec: mujoco.MjSpec, joint: str, stiffness: float, damping: float) -> mujoco.MjsActuator:
    actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.gainprm = [stiffness, *[0.0] * 9]
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.biasprm = [0.0, -stiffness, -damping, *[0.0] * 7]
    return actuator


@dataclass(frozen=True, eq=False)
class Wheel:
    """A wheel that rolls as the base moves."""

    ctrl: int
    """Index of its speed in ``ctrl``."""
    hub: Array
    """Its centre in the base frame, seen from above (2,) [m]."""
    forward: Array
    """Direction in the base frame (2,) in which positive rotation drives it at steering angle zero."""
    swivel: int = -1
    """Index of its steering angle in ``ctrl``; -1: it has rollers instead."""
    swivel_sign: float = 1.0
    """1 when a positive angle turns it counterclockwise, seen from above."""
    swivel_range: tuple[float, float] = (0.0, 0.0)
    """[rad]"""


@dataclass(frozen=True, eq=False)
class MobileBase:
    """The drivable base of one robot inside a world. Poses are x, y [m], yaw [rad] of its body in the world."""

    world: World
    robot_name: str
    description: RobotDescription
    origin: Array
    """Pose of the base when its joints are zero (3,)."""
    fps: int
    """Commands per second; each holds for a frame."""

    @cached_property
    def drive(self) -> DriveConfig:
        """The robot's drive configuration."""
        return _drive_of(self.description)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Joints x, y and yaw, as named in the world."""
        return tuple(f"{self.robot_name}/{self.description.resolve_joint(name)}" for name in self.drive.wheel_names)

    @cached_property
    def body(self) -> str:
        """Root body of the base, which moves over the floor."""
        return f"{self.robot_name}/{self.description.resolve_body(self.drive.base_path)}"

    @cached_property
    def qpos_index(self) -> NDArray[np.intp]:
        """Indices of the joints in ``qpos``."""
        return np.array([self.world.qpos_index(name) for name in self.joint_names])

    @cached_property
    def dof_index(self) -> NDArray[np.intp]:
        """Indices of the joints in ``qvel``."""
        return np.array([self.world.dof_index(name) for name in self.joint_names])

    @cached_property
    def ctrl_index(self) -> NDArray[np.intp]:
        """Indices of the joints' speeds in ``ctrl``."""
        return self.world.model.actuator_ctrladr[self._actuators].astype(np.intp)

    @cached_property
    def act_index(self) -> NDArray[np.intp]:
        """Indices of the joints' targets in ``act``."""
        return self.world.model.actuator_actadr[self._actuators].astype(np.intp)

    @cached_property
    def _actuators(self) -> list[int]:
        return [_actuator_of(self.world, name) for name in self.joint_names]

    @cached_property
    def wheels(self) -> tuple[Wheel, ...]:
        """Wheels that turn with the base, measured in the model with all joints at zero."""
        description, model = self.description, self.description.model
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        base = model.body(description.resolve_body(self.drive.base_path)).id
        R = data.xmat[base].reshape(3, 3)
        swivels = self.drive.swivel_names or (None,) * len(self.drive.rolling_names)
        wheels = []
        for rolling, swivel in zip(self.drive.rolling_names, swivels, strict=True):
            name = description.resolve_joint(rolling)
            joint = model.joint(name).id
            hub = R.T @ (data.xipos[model.jnt_bodyid[joint]] - data.xpos[base])
            axle = R.T @ data.xaxis[joint]
            forward = np.cross(axle, [0.0, 0.0, 1.0])[:2]
            wheel = Wheel(self._ctrl(name), hub[:2].copy(), forward / np.linalg.norm(forward))
            wheels.append(wheel if swivel is None else self._steering(wheel, description.resolve_joint(swivel), data))
        return tuple(wheels)

    def _steering(self, wheel: Wheel, name: str, data: mujoco.MjData) -> Wheel:
        """Return a wheel with the joint that steers it."""
        model = self.description.model
        joint = model.joint(name).id
        low, high = model.jnt_range[joint].tolist() if model.jnt_limited[joint] else (-math.pi, math.pi)
        sign = math.copysign(1.0, float(data.xaxis[joint, 2]))
        return replace(wheel, swivel=self._ctrl(name), swivel_sign=sign, swivel_range=(low, high))

    def _ctrl(self, joint: str) -> int:
        actuator = _actuator_of(self.world, f"{self.robot_name}/{joint}")
        return int(self.world.model.actuator_ctrladr[actuator])

    @property
    def pose(self) -> Array:
        """Measured pose of the base (3,)."""
        return self.poses(self.world.data.qpos[self.qpos_index])

    @property
    def commanded_pose(self) -> Array:
        """Commanded pose of the base (3,)."""
        return self.poses(self.world.data.act[self.act_index])

    @property
    def velocity(self) -> Array:
        """Measured speed forward and to the left [m/s] and yaw rate [rad/s] (3,)."""
        joints = self.world.data.qpos[self.qpos_index]
        return body_twist(self.world.data.qvel[self.dof_index], joints[2])

    def poses(self, joints: ArrayLike) -> Array:
        """Return the poses (..., 3) of the base at joints (..., 3)."""
        q = np.asarray(joints, float)
        return np.concatenate(
            [self.origin[:2] + q[..., :2] @ _rotation(self.origin[2]).T, q[..., 2:] + self.origin[2]], -1
        )

    def joints_at(self, poses: ArrayLike) -> Array:
        """Return the joints (..., 3) that put the base at poses (..., 3); yaw is not wrapped."""
        p = np.asarray(poses, float)
        return np.concatenate(
            [(p[..., :2] - self.origin[:2]) @ _rotation(self.origin[2]), p[..., 2:] - self.origin[2]], -1
        )

    def hold(self) -> None:
        """Make the base hold its current pose."""
        data = self.world.data
        data.act[self.act_index] = data.qpos[self.qpos_index]
        data.ctrl[self.ctrl_index] = 0.0

    def go(self, targets: Array, pose: ArrayLike) -> None:
        """Write the speeds that bring the base to a pose (3,) within this frame into actuator targets (controls,)."""
        way = self.joints_at(pose) - self.world.data.act[self.act_index]
        # Rounding must not leave a residual speed.
        self._command(targets, np.where(np.abs(way) < ROUNDING, 0.0, way * self.fps))

    def drive_at(self, targets: Array, twist: ArrayLike) -> None:
        """Write a body twist (3,) [m/s, m/s, rad/s] into actuator targets (controls,); it holds for a frame."""
        yaw = float(self.world.data.qpos[self.qpos_index[2]])
        self._command(targets, joint_speeds(twist, yaw))

    def aim(self, targets: Array, twist: ArrayLike) -> None:
        """Write targets (controls,) that keep the base in place and steer its wheels for a body twist (3,)."""
        targets[self.ctrl_index] = 0.0
        for wheel in self.wheels:
            targets[wheel.ctrl] = 0.0
            if wheel.swivel >= 0:
                targets[wheel.swivel] = self._steered(wheel, _hub_velocity(wheel, np.asarray(twist, float)))

    def _command(self, targets: Array, asked: Array) -> None:
        low, high = self.world.model.actuator_ctrlrange[self._actuators].T
        speeds = np.clip(asked, low, high)
        targets[self.ctrl_index] = speeds
        yaw = float(self.world.data.act[self.act_index[2]])
        # Evaluated at the middle of the frame: the wheels then roll the right distance when the base turns while it
        # drives.
        twist = body_twist(speeds, yaw + 0.5 * speeds[2] / self.fps)
        for wheel in self.wheels:
            self._roll(targets, wheel, twist)

    def _roll(self, targets: Array, wheel: Wheel, twist: Array) -> None:
        """Write the speed and steering angle of a wheel while the base moves at a body twist (3,)."""
        moving, forward = _hub_velocity(wheel, twist), wheel.forward
        if wheel.swivel >= 0:
            angle = self._steered(wheel, moving)
            targets[wheel.swivel] = angle
            forward = _rotation(wheel.swivel_sign * angle) @ forward
        targets[wheel.ctrl] = float(moving @ forward) / self.drive.wheel_radius

    def _steered(self, wheel: Wheel, moving: Array) -> float:
        """Return the steering angle [rad] of a wheel in this frame, along its hub's velocity or opposite to it."""
        present = float(self.world.data.ctrl[wheel.swivel])
        wanted = self.steering(wheel, moving)
        most = SWIVEL_SPEED / self.fps
        return present + min(most, max(-most, wanted - present))

    def steering(self, wheel: Wheel, moving: Array) -> float:
        """Return the angle [rad], nearest to the present one, at which a wheel rolls with its hub's velocity (2,)."""
        present = float(self.world.data.ctrl[wheel.swivel])
        if float(np.hypot(*moving)) < STANDING:
            return present
        heading = math.atan2(moving[1], moving[0]) - math.atan2(wheel.forward[1], wheel.forward[0])
        low, high = wheel.swivel_range
        ways = [wheel.swivel_sign * heading + k * math.pi for k in range(-3, 4)]
        return min((a for a in ways if low <= a <= high), key=lambda a: abs(a - present))

    def aiming_frames(self, twist: ArrayLike) -> int:
        """Return the number of frames needed to steer the wheels for a body twist (3,); 0 without steered wheels."""
        v, ctrl = np.asarray(twist, float), self.world.data.ctrl
        steered = [wheel for wheel in self.wheels if wheel.swivel >= 0]
        off = [abs(self.steering(wheel, _hub_velocity(wheel, v)) - float(ctrl[wheel.swivel])) for wheel in steered]
        return math.ceil(max(off, default=0.0) / SWIVEL_SPEED * self.fps - 1e-9)


def bind_base(world: World, name: str, description: RobotDescription, *, fps: int) -> MobileBase | None:
    """Return the drivable base of a robot in a world at its start; None when the base is held."""
    return base_in(world, name, description, fps=fps) if description.config.drives else None


def base_in(world: World, name: str, description: RobotDescription, *, fps: int) -> MobileBase:
    """Return the base of a robot with a planar drive; a held base can be measured but not commanded."""
    drive = _drive_of(description)
    joints = [f"{name}/{description.resolve_joint(joint)}" for joint in drive.wheel_names]
    x, y, yaw = (world.joint_position(joint) for joint in joints)
    world.update_poses()
    T = world.body_pose(f"{name}/{description.resolve_body(drive.base_path)}")
    yaw_zero = math.atan2(T[1, 0], T[0, 0]) - yaw
    origin = np.array([*(T[:2, 3] - _rotation(yaw_zero) @ [x, y]), yaw_zero])
    return MobileBase(world=world, robot_name=name, description=description, origin=origin, fps=fps)


def body_twist(speeds: ArrayLike, yaw: ArrayLike) -> Array:
    """Return speeds (..., 3) along and about the joints x, y, yaw as seen from a base turned by ``yaw`` (...) [rad]."""
    v = np.asarray(speeds, float)
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.stack([cos * v[..., 0] + sin * v[..., 1], cos * v[..., 1] - sin * v[..., 0], v[..., 2]], axis=-1)


def joint_speeds(twist: ArrayLike, yaw: ArrayLike) -> Array:
    """Return the speeds (..., 3) of the joints x, y, yaw of body twists (..., 3): the inverse of ``body_twist``."""
    return body_twist(twist, -np.asarray(yaw, float))


def _hub_velocity(wheel: Wheel, twist: Array) -> Array:
    """Return the velocity (2,) of a wheel's centre in the base frame at a body twist (3,)."""
    x, y = wheel.hub.tolist()
    return twist[:2] + twist[2] * np.array([-y, x])


def _drive_of(description: RobotDescription) -> DriveConfig:
    drive = description.config.drive
    assert drive is not None, f"{description.name} has no drive"  # The config of a drivable base ensures it.
    return drive


def _actuator_of(world: World, joint: str) -> int:
    index, model = world.joint_index(joint), world.model
    return next(a for a in range(model.nactuator) if model.actuator_trnid[a, 0] == index)


def _rotation(angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])
