"""Drives a timed path in simulation, with any driver, and records the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.isaac.wheeled.paths.path_tracker import DrivePath, PathTracker
from handloom.isaac.wheeled.planar_odometry import PlanarOdometry, PlanarPose
from handloom.robots import DriveConfig, RobotDescription
from handloom.sim import World


class Driver(Protocol):
    """Drives a robot at body twists: ``BaseDriver`` on wheels, ``Walker`` on legs."""

    drive: DriveConfig
    """Of the robot's description."""

    @property
    def world(self) -> World:
        """The world that holds the robot."""
        ...

    @property
    def tracker(self) -> PathTracker:
        """A feedback law suitable for this base."""
        ...

    def command(self, twist: Sequence[float] | Array, dt: float) -> None:
        """Move at a body twist ``[vx, vy, w]`` [m/s, m/s, rad/s], for a control period [s]."""
        ...

    def advance(self, steps: int) -> None:
        """Step physics with the current command."""
        ...

    def aim(self, twist: Sequence[float] | Array) -> float:
        """Prepare for a body twist; return the time that this may take, at zero speed [s]."""
        ...

    def encoders(self) -> Any:
        """Return the current readings of the odometry sensors."""
        ...

    def mean_twist(self, before: Any, after: Any, dt: float) -> Array:
        """Return the mean body twist (3,) between two readings, assuming no slip."""
        ...

    def pose(self) -> PlanarPose:
        """Return the pose of the driven frame in world."""
        ...

    def place(self, pose: PlanarPose) -> None:
        """Place the driven frame at a pose, at rest."""
        ...


# Approximate control period [s]; the nearest whole number of physics steps is used.
CONTROL_PERIOD = 0.01
# A model whose lowest point is closer to zero than this already stands on the floor [m].
STANDING = 0.01
# Time for the robot to come to rest on its wheels before the clock starts [s].
SETTLE = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class LapRecord:
    """Reference, true and dead-reckoned poses of one lap, one row per sample; poses are x [m], y [m], yaw [rad]."""

    times: Array
    """(n,) [s]."""
    reference: Array
    """(n, 3)."""
    driven: Array
    """(n, 3), true pose of the base."""
    odometry: Array
    """(n, 3), pose according to its odometry."""
    qpos: Array
    """(n, nq), the full state of the world, for images."""

    @property
    def position_errors(self) -> Array:
        """Distance to the reference (n,) [m]."""
        return np.hypot(*(self.driven - self.reference)[:, :2].T)

    @property
    def heading_errors(self) -> Array:
        """Absolute heading error (n,) [rad]."""
        return np.abs(_wrapped(self.driven[:, 2] - self.reference[:, 2]))

    @property
    def drift(self) -> tuple[float, float]:
        """Final error of dead reckoning: distance [m], angle [rad]."""
        x, y, yaw = self.odometry[-1] - self.driven[-1]
        return float(np.hypot(x, y)), float(np.abs(_wrapped(yaw)))


def floor_spec(description: RobotDescription, *, friction: float = 1.0) -> mujoco.MjSpec:
    """Return a level floor and a light, with the physics options and time step of a robot but not the robot.

    Args:
        description: The robot.
        friction: Sliding friction of the floor, for contacts in which that of the robot does not take priority.
    """
    spec = mujoco.MjSpec()
    spec.modelname = description.name
    spec.option.timestep = description.spec().option.timestep
    _set_physics(spec, description)
    spec.visual.headlight.ambient = [0.4, 0.4, 0.4]
    spec.visual.headlight.diffuse = [0.15, 0.15, 0.15]
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[20.0, 20.0, 0.1],
        friction=[friction, 0.005, 0.0001],
        rgba=[0.80, 0.82, 0.84, 1.0],
    )
    spec.worldbody.add_light(
        name="sun",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[1.0, -1.5, 4.0],
        dir=[-0.4, 0.5, -1.0],
        diffuse=[0.6, 0.6, 0.6],
        castshadow=True,
    )
    return spec


def attach_robot(
    spec: mujoco.MjSpec,
    robot: mujoco.MjSpec,
    description: RobotDescription,
    *,
    prefix: str,
    position: Sequence[float] = (0.0, 0.0, 0.0),
    quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
) -> None:
    """Place a robot on a floor of :func:`floor_spec`.

    Args:
        spec: The floor.
        robot: The robot's model, ``description.spec()`` or a changed copy of it.
        description: The robot.
        prefix: Prefix for the names of its parts.
        position: Where (3,) [m].
        quat: Orientation (4,), wxyz.
    """
    # robot.yaml takes precedence; a different value in the model file would be a conflict.
    _set_physics(robot, description)
    spec.attach(robot, prefix=prefix, frame=spec.worldbody.add_frame(pos=position, quat=quat))


def _set_physics(spec: mujoco.MjSpec, description: RobotDescription) -> None:
    physics = description.config.physics
    spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{physics.cone.upper()}")
    spec.option.impratio = physics.impratio
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{physics.integrator.upper()}")


def standing_height(description: RobotDescription) -> float:
    """Return the height by which a model must be raised so that no part of it is below the floor [m]."""
    model = description.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    center, half = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]
    down = data.geom_xmat.reshape(-1, 3, 3)[:, 2, :]
    lowest = data.geom_xpos[:, 2] + np.sum(down * center, axis=1) - np.sum(np.abs(down) * half, axis=1)
    # Corners of bounding boxes are below round wheels only by rounding; a robot modelled to stand at zero stays there.
    return max(0.0, -float(np.min(lowest))) if np.min(lowest) < -STANDING else 0.0


def floor_world(description: RobotDescription, *, prefix: str = "robot/", friction: float = 1.0) -> World:
    """Place a robot alone on a level floor.

    Args:
        description: The robot.
        prefix: Prefix for the names of its parts.
        friction: Sliding friction of the floor, for contacts in which that of the robot does not take priority.
    """
    spec = floor_spec(description, friction=friction)
    height = standing_height(description)
    attach_robot(spec, description.spec(), description, prefix=prefix, position=(0.0, 0.0, height))
    return World.from_spec(spec)


def drive_lap(
    driver: Driver,
    path: DrivePath,
    tracker: PathTracker,
    *,
    feedback: Literal["pose", "odometry", "none"] = "pose",
    place: bool = True,
) -> LapRecord:
    """Drive a path once, from rest.

    Args:
        driver: The base.
        path: The path.
        tracker: The feedback law.
        feedback: Pose given to the tracker: the true one, that of dead reckoning, or the reference itself (open loop).
        place: Place the base at the start of the path first; otherwise it continues from its current pose.
    """
    world = driver.world
    start = PlanarPose(x=float(path.poses[0, 0]), y=float(path.poses[0, 1]), yaw=float(path.poses[0, 2]))
    if place:
        driver.place(start)
    steps = max(1, round(CONTROL_PERIOD / world.timestep))
    dt = steps * world.timestep
    for _ in range(round((SETTLE + driver.aim(path.twists[1])) / dt)):
        driver.command([0.0, 0.0, 0.0], dt)
        driver.advance(steps)
    odometry = PlanarOdometry(driver.pose())
    rows, states = [], []
    for tick in range(int(np.ceil(path.duration / dt)) + 1):
        time = tick * dt
        target, _ = path.at(time)
        here = driver.pose()
        rows.append([time, *target, *_row(here), *_row(odometry.pose)])
        states.append(world.data.qpos.copy())
        seen = {"pose": here, "odometry": odometry.pose, "none": PlanarPose(x=target[0], y=target[1], yaw=target[2])}
        driver.command(tracker.twist(seen[feedback], path, time), dt)
        before = driver.encoders()
        driver.advance(steps)
        odometry.update(driver.mean_twist(before, driver.encoders(), dt), dt)
    table = np.array(rows)
    reference, driven, odometry = table[:, 1:4], table[:, 4:7], table[:, 7:10]
    return LapRecord(times=table[:, 0], reference=reference, driven=driven, odometry=odometry, qpos=np.array(states))


def _row(pose: PlanarPose) -> tuple[float, float, float]:
    return pose.x, pose.y, pose.yaw


def _wrapped(angles: Array) -> Array:
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi
