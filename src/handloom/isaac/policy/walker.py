"""Walk at a commanded body twist, with odometry from the legs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError, InputError, suggest
from handloom.isaac.policy.policy_controller import PolicyController
from handloom.isaac.wheeled.laps.base_driver import BaseDriver
from handloom.isaac.wheeled.laps.lap import Driver
from handloom.isaac.wheeled.paths.path_tracker import PathTracker
from handloom.isaac.wheeled.planar_odometry import PlanarPose, yaw_from_quat
from handloom.robots import DriveConfig, RobotDescription, load_robot
from handloom.sim import World

# Files in the folder ``policy`` of a robot.
WEIGHTS, ENVIRONMENT = "policy.onnx", "env.yaml"


class FlatTerrainPolicy(PolicyController):
    """A robot that walks on level ground: ``initialize`` once, then ``forward(dt, command)`` before every step.

    Args:
        world: The world that holds the robot.
        prefix: Name prefix of its bodies, joints and actuators.
        name: Name of the robot, for messages.
        position: Position of the base in world (3,) [m].
        orientation: Orientation of the base in world, wxyz (4,).
        description: The robot; by default that of the zoo.
    """

    ROBOT: ClassVar[str] = ""
    """Name in the zoo."""

    def __init__(
        self,
        world: World,
        prefix: str = "",
        name: str = "",
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        *,
        description: RobotDescription | None = None,
    ) -> None:
        robot = description or load_robot(self.ROBOT)
        super().__init__(name or robot.name, world, prefix, position, orientation, dof_names=robot.config.dof_names)
        self.load_policy(robot.folder / "policy" / WEIGHTS, robot.folder / "policy" / ENVIRONMENT)


class Go2FlatTerrainPolicy(FlatTerrainPolicy):
    """The quadruped ``go2``, walking."""

    ROBOT = "go2"


class H1FlatTerrainPolicy(FlatTerrainPolicy):
    """The humanoid ``h1``, walking."""

    ROBOT = "h1"


# A foot that carries more than this fraction of the weight counts as standing on the floor.
STANDING_SHARE = 0.05
# Time that a robot may take to stand still after it is placed [s].
SETTLE = 0.7


@dataclass(frozen=True, kw_only=True, eq=False)
class LegReading:
    """Readings of joint encoders, foot sensors and the gyroscope at one moment."""

    feet: Array
    """Positions of the feet in a level frame under the base (n, 2) [m], minus the distance that they rolled."""
    standing: NDArray[np.bool_]
    """Whether each foot carries weight (n,)."""
    yaw_rate: float
    """[rad/s]"""


class Walker:
    """Drives a robot with a ``legged`` drive at body twists, as ``BaseDriver`` does for wheels.

    Args:
        description: The robot; its ``drive`` names its policy and its feet.
        world: The world that holds it.
        prefix: Name prefix of its parts in that world.
    """

    slides = True

    def __init__(self, description: RobotDescription, world: World, *, prefix: str = "") -> None:
        drive = description.config.drive
        if drive is None or drive.kind != "legged":
            raise InputError(f"robot {description.name!r} does not walk: its robot.yaml has no 'drive' of kind legged")
        self.drive: DriveConfig = drive
        self.policy = FlatTerrainPolicy(world, prefix, description=description)
        self.policy.initialize()
        self.robot = self.policy.robot
        self._command = np.zeros(3)
        self._ranges = self.policy.env.command_ranges()
        self._sites, self._sensors = _feet(world, drive, prefix)
        weight = float(np.sum(world.model.body_mass[self.robot.root.bodies])) * 9.81
        self._standing_force = STANDING_SHARE * weight
        self._last_twist = np.zeros(3)
        self.place(PlanarPose(x=0.0, y=0.0, yaw=0.0))

    @property
    def world(self) -> World:
        """The world that holds the robot."""
        return self.robot.world

    @property
    def tracker(self) -> PathTracker:
        """A feedback law for legs: gentler than for wheels, since the base sways with every step."""
        return PathTracker(slides=True, along=1.5, turn=2.0)

    @property
    def fallen(self) -> bool:
        """Whether the base is tilted by more than 60 degrees or lower than half its height."""
        T_world_base = self.robot.root.pose()
        return bool(T_world_base[2, 2] < 0.5 or T_world_base[2, 3] < 0.5 * self.policy.env.spawn_height)

    def command(self, twist: Sequence[float] | Array, dt: float) -> None:
        """Walk at a body twist ``[vx, vy, w]`` [m/s, m/s, rad/s], each clipped to the policy's trained range."""
        del dt  # Legs need no ramp: the policy was trained on sudden commands.
        asked = np.asarray(twist, dtype=np.float64)
        if asked.shape != (3,) or not np.isfinite(asked).all():
            raise InputError(f"twist must be three finite numbers [vx, vy, w], got {twist!r}")
        self._command = np.clip(asked, *self._ranges.T)

    def advance(self, steps: int) -> None:
        """Step physics with the current command; the policy runs when it is due."""
        for _ in range(steps):
            self.policy.forward(self.world.timestep, self._command)
            self.world.step()

    def aim(self, twist: Sequence[float] | Array) -> float:
        """Return the time that the robot may need to settle before it starts [s]."""
        del twist
        return SETTLE

    def encoders(self) -> LegReading:
        """Return the current readings of the leg sensors."""
        data, root = self.world.data, self.robot.root
        T_world_base = root.pose()
        cos, sin = T_world_base[:2, 0] / max(float(np.hypot(*T_world_base[:2, 0])), 1e-9)
        R_level = np.array([[cos, -sin], [sin, cos]])
        feet = (data.site_xpos[self._sites, :2] - T_world_base[:2, 3]) @ R_level
        # A spherical foot that rolls on the floor moves the robot by its radius times the angle.
        upward = data.site_xmat[self._sites].reshape(-1, 3, 3)[:, :, 2]
        feet -= self.drive.wheel_radius * np.arctan2(upward[:, :2] @ R_level, upward[:, 2:])
        standing = data.sensordata[self._sensors] > self._standing_force
        return LegReading(feet=feet, standing=standing, yaw_rate=float(root.velocity()[5]))

    def mean_twist(self, before: LegReading, after: LegReading, dt: float) -> Array:
        """Return the mean body twist (3,) between two readings, assuming that no stance foot has slipped.

        The rotation comes from the gyroscope, the translation from the stance feet moving back under the base. While
        all feet are in the air, the last twist is kept.
        """
        turned = 0.5 * (before.yaw_rate + after.yaw_rate) * dt
        both = before.standing & after.standing
        if both.any():
            cos, sin = np.cos(turned), np.sin(turned)
            way = np.mean(before.feet[both] - after.feet[both] @ np.array([[cos, sin], [-sin, cos]]), axis=0)
            self._last_twist = np.array([*(way / dt), turned / dt])
        return self._last_twist

    def pose(self) -> PlanarPose:
        """Return the planar pose of the base in world."""
        position, quat = self.robot.get_world_pose()
        return PlanarPose(x=float(position[0]), y=float(position[1]), yaw=yaw_from_quat(quat))

    def place(self, pose: PlanarPose) -> None:
        """Place the robot on its feet at a pose, at rest."""
        half = pose.yaw / 2.0
        self.policy.post_reset()
        self.robot.set_world_pose(
            [pose.x, pose.y, self.policy.env.spawn_height], [np.cos(half), 0.0, 0.0, np.sin(half)]
        )
        self._command, self._last_twist = np.zeros(3), np.zeros(3)


def driver_for(description: RobotDescription, world: World, *, prefix: str = "") -> Driver:
    """Return the driver of a robot, which takes body twists: for wheels or for legs.

    Raises:
        InputError: The robot has neither.
    """
    drive = description.config.drive
    kind = Walker if drive is not None and drive.kind == "legged" else BaseDriver
    return kind(description, world, prefix=prefix)


def _feet(world: World, drive: DriveConfig, prefix: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sites and ``sensordata`` indices of the touch sensors under the feet."""
    model, sites, sensors = world.model, [], []
    touch = {model.sensor(i).name: i for i in range(model.nsensor)}
    for name in drive.feet:
        index = touch.get(prefix + name, -1)
        if index < 0 or model.sensor_type[index] != mujoco.mjtSensor.mjSENS_TOUCH:
            raise ConfigError(f"drive.feet: no touch sensor {name!r} in the model; {suggest(prefix + name, touch)}")
        sites.append(int(model.sensor_objid[index]))
        sensors.append(int(model.sensor_adr[index]))
    return np.array(sites), np.array(sensors)
