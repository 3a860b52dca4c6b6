"""A loaded and validated robot: its configuration, its folder and its arms."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.config.search import demand_inside, enclosing_folders, is_inside
from handloom.errors import ConfigError, FileError, NotAllowedError, NotFoundError, suggest
from handloom.robots.drive_config import SuctionConfig
from handloom.robots.robot_config import Axis, CameraMount, ExtraDepth, Keypoints, RobotConfig
from handloom.sim.model_file import MODEL_PARENTS, rehearse_model

AXES: dict[Axis, tuple[float, float, float]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Arm:
    """An arm, its gripper and its tool frames. Body, joint, actuator and site names are those of the model."""

    name: str
    """"left" or "right"; the arm of a single-arm robot is "left"."""
    joint_names: tuple[str, ...]
    """Joints from base to wrist."""
    gripper_joint_names: tuple[str, ...]
    """Drive joints of the gripper."""
    gripper_actuators: tuple[str, ...]
    """Actuators of the drive joints, in the same order."""
    base_body: str
    tool_body: str
    """Body of the end-effector frame, to which grasp poses are converted."""
    tcp_site: str
    """Site at the tool centre, with the axes of the end-effector frame."""
    grasp_site: str
    """Site at the tool centre, with GraspNet axes (x approach, y closing)."""
    ee_axis: Axis
    """Axis of the end-effector frame that points to the tool centre."""
    tcp_offset: float
    """Distance from the end-effector frame to the tool centre along ``ee_axis`` [m]."""
    R_ee_graspnet: Array
    """Rotation (3, 3) from GraspNet axes to the end-effector frame."""
    home: Array
    """Joint positions at home, one per joint [rad]."""
    home_std: Array
    """Standard deviation of the noise on ``home`` [rad]."""
    speed_limit: Array
    """Largest speed of each joint [rad/s]; infinite if unknown."""
    acceleration_limit: Array
    """Largest acceleration of each joint [rad/s^2]; infinite if unknown."""
    gripper_speed_limit: Array
    """Largest speed of each drive joint of the gripper [m/s or rad/s]; infinite if unknown."""
    gripper_home: Array
    """Positions of the drive joints at home [m or rad]."""
    gripper_open: Array
    """Actuator targets that open the gripper fully [m or rad]."""
    gripper_closed: Array
    """Actuator targets that close the gripper [m or rad]."""
    gripper_min_width: float
    """[m]"""
    gripper_max_width: float
    """[m]"""
    pad_geoms: tuple[str, ...]
    """The two geoms between which the opening is measured."""
    finger_bodies: tuple[str, ...]
    """Bodies whose contact with an object counts as a grasp."""
    forbidden_bodies: tuple[str, ...]
    """Bodies that must not touch anything."""
    keypoints: Keypoints
    """Gripper points in the end-effector frame [m]."""
    extra_depth: ExtraDepth | None = None
    suction: SuctionConfig | None = None
    """The cups of a suction gripper, with the model's body names; None: it has fingers."""

    @property
    def approach(self) -> Array:
        """Unit vector (3,) of ``ee_axis`` in the end-effector frame."""
        return np.array(AXES[self.ee_axis])

    @property
    def T_tool_tcp(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the tool centre in the end-effector frame."""
        T = np.eye(4)
        T[:3, 3] = self.approach * self.tcp_offset
        return T


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotDescription:
    """A robot as data. Nothing is simulated here; build a scene from :meth:`spec`."""

    name: str
    """Name it was loaded by: a zoo name, or the folder's name."""
    config: RobotConfig
    folder: Path
    """Folder of the model file."""
    config_file: Path
    """The ``robot.yaml`` that was read."""

    @property
    def model_file(self) -> Path:
        """The MJCF entry file."""
        return self.folder / self.config.model

    def spec(self) -> mujoco.MjSpec:
        """Read the model again; the caller owns the result and may change it.

        Raises:
            NotAllowedError: It includes files elsewhere; ``handloom robot add`` copies the files of a trusted model.
        """
        if not self.model_file.is_file():
            raise FileError(f"{self.config_file}: model: there is no file {self.model_file}")
        _rehearse_once(self.model_file, self.folder, self.model_file.stat().st_mtime_ns)
        try:
            return mujoco.MjSpec.from_file(str(self.model_file))
        except ValueError as error:
            raise ConfigError(f"{self.model_file}: MuJoCo cannot read this model: {error}") from error

    def compile(self) -> mujoco.MjModel:
        """Compile the robot alone, with the options of its own model file."""
        try:
            return self.spec().compile()
        except ValueError as error:
            raise ConfigError(f"{self.model_file}: MuJoCo cannot compile this model: {error}") from error

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The robot compiled alone; do not modify it."""
        return self.compile()

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms, left first; empty for a robot that only drives."""
        if not self.config.left_joint_names:
            return ()
        left = self._arm("left", "fl")
        return (left,) if not self.config.right_joint_names else (left, self._arm("right", "fr"))

    def arm(self, name: str) -> Arm:
        """Return the arm called ``name`` ("left" or "right")."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise NotFoundError(f"robot {self.name!r} has no arm {name!r}; {suggest(name, [a.name for a in self.arms])}")

    def resolve_body(self, path: str) -> str:
        """Return the model's name of a body given by name, alias or published prim path.

        The longest tail of the path that names a body wins: ``lift2/lift2/fl/link6`` is ``fl/link6``.
        """
        parts = path.strip("/").split("/")
        for start in range(len(parts)):
            tail = "/".join(parts[start:])
            name = self.config.body_aliases.get(tail, tail)
            if name in self._bodies:
                return name
        raise ConfigError(
            f"{self.config_file}: {path!r} names no body of {self.model_file.name}; {suggest(parts[-1], self._bodies)}"
        )

    def camera_prim(self, path: str) -> CameraMount | None:
        """Return the mount of the camera that a published prim path names; None if it names a body."""
        ends = self.config.camera_prims.items()
        return next((self.config.cameras[name] for end, name in ends if f"/{path}".endswith(f"/{end}")), None)

    def resolve_joint(self, name: str) -> str:
        """Return the model's name of a joint given by name or published alias."""
        found = self.config.joint_aliases.get(name, name)
        if found not in self._joints:
            raise ConfigError(
                f"{self.config_file}: {name!r} names no joint of {self.model_file.name}; {suggest(name, self._joints)}"
            )
        return found

    @cached_property
    def home(self) -> dict[str, float]:
        """Home position of every joint that has one in the configuration [m or rad]."""
        config = self.config
        home = dict(config.other_joint_home)
        for names, values in (
            (config.left_joint_names, config.left_joint_home),
            (config.right_joint_names, config.right_joint_home),
            (config.left_gripper_names, config.left_gripper_home),
            (config.right_gripper_names, config.right_gripper_home),
            (config.lift_names, config.lift_home),
            (config.body_names, config.body_home),
            (config.head_names, config.head_home),
        ):
            home.update(zip(names, values, strict=False))
        return home

    @cached_property
    def _bodies(self) -> frozenset[str]:
        return frozenset(self.model.body(i).name for i in range(self.model.nbody))

    @cached_property
    def _joints(self) -> frozenset[str]:
        return frozenset(self.model.joint(i).name for i in range(self.model.njnt))

    def _arm(self, side: str, prefix: str) -> Arm:
        config = self.config
        joints = self._resolved(f"{side}_joint_names")
        drives = self._resolved(f"{side}_gripper_names")
        std = getattr(config, f"{side}_joint_home_std") or (0.0,) * len(joints)
        return Arm(
            name=side,
            joint_names=joints,
            gripper_joint_names=drives,
            gripper_actuators=tuple(self._actuator_of(joint) for joint in drives),
            base_body=self.resolve_body(getattr(config, f"{prefix}_base_path")),
            tool_body=self.resolve_body(getattr(config, f"{prefix}_ee_path")),
            tcp_site=self._site(getattr(config, f"{prefix}_tcp_site"), f"{prefix}_tcp_site"),
            grasp_site=self._site(getattr(config, f"{prefix}_grasp_site"), f"{prefix}_grasp_site"),
            ee_axis=config.ee_axis,
            tcp_offset=config.tcp_offset,
            R_ee_graspnet=_frozen(config.R_ee_graspnet),
            home=_frozen(getattr(config, f"{side}_joint_home")),
            home_std=_frozen(std),
            speed_limit=self._limit(f"{side}_joint_speed_limit", joints),
            acceleration_limit=self._limit(f"{side}_joint_acceleration_limit", joints),
            gripper_speed_limit=self._limit(f"{side}_gripper_speed_limit", drives),
            gripper_home=_frozen(getattr(config, f"{side}_gripper_home")),
            gripper_open=_frozen(getattr(config, f"{side}_gripper_open")),
            gripper_closed=_frozen(getattr(config, f"{side}_gripper_closed")),
            gripper_min_width=config.gripper_min_width,
            gripper_max_width=config.gripper_max_width,
            pad_geoms=self._pads(prefix),
            finger_bodies=tuple(map(self.resolve_body, getattr(config, f"{prefix}_filter_paths"))),
            forbidden_bodies=tuple(map(self.resolve_body, getattr(config, f"{prefix}_forbid_collision_paths"))),
            keypoints=getattr(config, f"{prefix}_gripper_keypoints") or config.fl_gripper_keypoints,
            extra_depth=config.extra_depth,
            suction=self._suction(getattr(config, f"{prefix}_suction")),
        )

    def _suction(self, given: SuctionConfig | None) -> SuctionConfig | None:
        """Return the cups with the model's own names of their bodies."""
        return given and given.model_copy(update={"points": tuple(map(self.resolve_body, given.points))})

    def _resolved(self, key: str) -> tuple[str, ...]:
        names: tuple[str, ...] = getattr(self.config, key)
        return tuple(self.resolve_joint(name) for name in names)

    def _limit(self, key: str, joints: tuple[str, ...]) -> np.ndarray:
        """Return a limit per joint (n,), infinite if the configuration gives none."""
        given: tuple[float, ...] = getattr(self.config, key)
        return _frozen(given or (np.inf,) * len(joints))

    def _site(self, name: str, key: str) -> str:
        sites = [self.model.site(i).name for i in range(self.model.nsite)]
        if name not in sites:
            raise ConfigError(f"{self.config_file}: {key}: no site {name!r} in the model; {suggest(name, sites)}")
        return name

    def _pads(self, prefix: str) -> tuple[str, ...]:
        names: tuple[str, ...] = getattr(self.config, f"{prefix}_pad_geoms")
        geoms = [self.model.geom(i).name for i in range(self.model.ngeom)]
        for name in names:
            if name not in geoms:
                raise ConfigError(
                    f"{self.config_file}: {prefix}_pad_geoms: no geom {name!r} in the model; {suggest(name, geoms)}"
                )
        return names

    def _actuator_of(self, joint: str) -> str:
        model = self.model
        index = model.joint(joint).id
        for i in range(model.nu):
            if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT and model.actuator_trnid[i, 0] == index:
                return model.actuator(i).name
        raise ConfigError(f"{self.model_file}: gripper joint {joint!r} has no actuator")


@lru_cache(maxsize=64)
def _rehearse_once(model_file: Path, folder: Path, _changed: int) -> None:
    """Let a child process read a third-party model first; its files are in its folder or nearby."""
    if is_inside(model_file, ()):
        return
    around = enclosing_folders(folder, most=MODEL_PARENTS)
    try:
        demand_inside(model_file, around, what=str(folder))
        rehearse_model(model_file, around)
    except NotAllowedError as error:
        raise NotAllowedError(f"{error} of handloom robot add, which copies what the model needs") from error


def _frozen(values: Iterable[object]) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
