"""Keys of ``robot.yaml``: all published keys, and the joint names and targets that Handloom adds."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from handloom.config import Config, UnusedKey
from handloom.errors import suggest
from handloom.robots.drive_config import DriveConfig, SuctionConfig

Triple = tuple[float, float, float]
Quad = tuple[float, float, float, float]
Axis = Literal["x", "y", "z"]

# Keys of the published schema that only mean something to USD, PhysX or cuRobo are accepted, kept and reported
# unused, so that a published file loads unchanged.
PHYSX_KEY = UnusedKey("only means something to PhysX; see 'physics' for MuJoCo's options")


class Keypoints(Config):
    """Three points of the gripper in the end-effector frame, homogeneous ``[x, y, z, 1]`` [m]."""

    tool_head: Quad
    """Middle between the fingertips."""
    tool_tail: Quad
    """Middle between the finger bases."""
    tool_side: Quad
    """The side of one fingertip at full opening."""


class PhysicsOptions(Config):
    """Solver options the grippers were tuned with; a scene must set them, since attaching a model drops its own."""

    cone: Literal["elliptic", "pyramidal"] = "elliptic"
    impratio: Annotated[float, Field(gt=0)] = 50.0
    """Ratio of frictional to normal constraint impedance; above 1 stops the slow creep of held objects."""
    integrator: Literal["implicitfast", "implicit", "Euler"] = "implicitfast"


class ExtraDepth(Config):
    """Extra depth of the fingertips at a given opening, for fingers that travel on an arc.

    The first entry is not used for interpolation, as published.
    """

    width: tuple[float, ...]
    """Opening of the gripper [m], ascending."""
    offset: tuple[float, ...]
    """Added to the grasp depth at that opening [m]."""

    @model_validator(mode="after")
    def _is_a_curve(self) -> Self:
        if len(self.width) != len(self.offset) or len(self.width) < 5:
            raise ValueError(
                f"width and offset need five or more entries each, got {len(self.width)}, {len(self.offset)}"
            )
        if any(b <= a for a, b in pairwise(self.width)):
            raise ValueError("width must ascend")
        return self


class CameraMount(Config):
    """Camera mount of the published configuration."""

    parent: str
    """Body (or published prim path) that carries the camera."""
    translation: Triple
    """Position in the parent [m]."""
    orientation: Quad
    """Quaternion wxyz in the parent."""
    camera_axes: Literal["usd", "ros"] = "usd"
    """usd: looks along -z, y up. ros: looks along +z, y down."""
    params: tuple[float, float, float, float]
    """fx, fy, cx, cy [px]."""
    resolution: tuple[int, int]
    """Width, height [px]."""


# Values of the required arm keys for a robot with a drive and no arm; they are not used.
NO_ARM: dict[str, Any] = {
    "gripper_max_width": 1.0,
    "tcp_offset": 0.0,
    "ee_axis": "z",
    "R_ee_graspnet": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "fl_ee_path": "",
    "fl_base_path": "",
    "fl_gripper_keypoints": dict.fromkeys(("tool_head", "tool_tail", "tool_side"), (0, 0, 0, 1)),
}


PER_JOINT = {
    "joint": ("home", "home_std", "speed_limit", "acceleration_limit"),
    "gripper": ("home", "open", "closed", "speed_limit"),
}
"""Keys of an arm and of its gripper that have one entry per joint, if given."""


class RobotConfig(Config):
    """One robot as data.

    Lists of joints are in chain order; the arm of a single-arm robot is the left arm. Index lists refer to
    ``dof_names``. Names take precedence: an index list that disagrees with the names is an error.
    """

    # Published keys.
    target_class: str
    """Published wrapper class; names the zoo folder when the file has no model of its own."""
    path: Annotated[str, UnusedKey("only means something to USD; the model is 'model'")] = ""
    robot_file: Annotated[
        tuple[str, ...] | str, UnusedKey("only means something to cuRobo; motion is planned from the model")
    ] = ()
    extra_depth_file: str = ""
    """JSON file beside the robot's USD file with the curve of ``extra_depth``; read when a task names the robot."""
    solver_position_iteration_count: Annotated[int | None, PHYSX_KEY] = None
    solver_velocity_iteration_count: Annotated[int | None, PHYSX_KEY] = None
    stabilization_threshold: Annotated[float | None, PHYSX_KEY] = None
    gripper_max_width: Annotated[float, Field(gt=0)]
    """Largest opening between the finger pads [m]."""
    gripper_min_width: Annotated[float, Field(ge=0)] = 0.0
    """Smallest opening [m]."""
    tcp_offset: Annotated[float, Field(ge=0)]
    """Distance from the end-effector frame to the tool centre along ``ee_axis`` [m]."""
    ee_axis: Axis
    """Axis of the end-effector frame that points to the tool centre."""
    R_ee_graspnet: tuple[Triple, Triple, Triple]
    """Rows of the rotation from GraspNet axes (x approach, y closing) to the end-effector frame."""
    left_joint_indices: tuple[int, ...] = ()
    right_joint_indices: tuple[int, ...] = ()
    left_gripper_indices: tuple[int, ...] = ()
    right_gripper_indices: tuple[int, ...] = ()
    lift_indices: tuple[int, ...] = ()
    body_indices: tuple[int, ...] = ()
    head_indices: tuple[int, ...] = ()
    fl_ee_path: str
    """Prim path or body name of the left end-effector frame."""
    fr_ee_path: str = ""
    fl_base_path: str
    """Prim path or body name of the left arm's base."""
    fr_base_path: str = ""
    fl_gripper_keypoints: Keypoints
    fr_gripper_keypoints: Keypoints | None = None
    fl_filter_paths: tuple[str, ...] = ()
    """Finger bodies: their contacts with the object are a grasp, not a collision."""
    fr_filter_paths: tuple[str, ...] = ()
    fl_forbid_collision_paths: tuple[str, ...] = ()
    """Arm bodies that must not touch anything."""
    fr_forbid_collision_paths: tuple[str, ...] = ()
    left_joint_home: tuple[float, ...] = ()
    """[rad]"""
    right_joint_home: tuple[float, ...] = ()
    left_joint_home_std: tuple[float, ...] = ()
    """Standard deviation of the noise on the home position [rad]."""
    right_joint_home_std: tuple[float, ...] = ()
    left_gripper_home: tuple[float, ...] = ()
    """Joint position of the gripper's drive joints at home [m or rad]."""
    right_gripper_home: tuple[float, ...] = ()
    lift_home: tuple[float, ...] = ()
    """[m]"""
    body_home: tuple[float, ...] = ()
    """[m or rad]"""
    head_home: tuple[float, ...] = ()
    """[rad]"""

    # Keys added by Handloom.
    model: str = "model.xml"
    """MJCF beside this file."""
    description: str = ""
    """One-line description."""
    dof_names: tuple[str, ...] = ()
    """All joints, in the order of the published indices."""
    inferred_dof_names: tuple[str, ...] = ()
    """Entries of ``dof_names`` whose position was inferred, not published."""
    left_joint_names: tuple[str, ...] = ()
    right_joint_names: tuple[str, ...] = ()
    left_gripper_names: tuple[str, ...] = ()
    """Drive joints of the left gripper, which receive the commands."""
    right_gripper_names: tuple[str, ...] = ()
    lift_names: tuple[str, ...] = ()
    body_names: tuple[str, ...] = ()
    head_names: tuple[str, ...] = ()
    mobile_base_names: tuple[str, ...] = ()
    """Planar joints of a mobile base: x, y, yaw."""
    left_gripper_open: tuple[float, ...] = ()
    """Actuator targets of the drive joints at full opening [m or rad]."""
    right_gripper_open: tuple[float, ...] = ()
    left_gripper_closed: tuple[float, ...] = ()
    """Actuator targets of the drive joints that close the gripper [m or rad]."""
    right_gripper_closed: tuple[float, ...] = ()
    fl_pad_geoms: tuple[str, ...] = ()
    """The two geoms between which the left gripper's opening is measured."""
    fr_pad_geoms: tuple[str, ...] = ()
    fl_tcp_site: str = "tcp"
    fr_tcp_site: str = ""
    fl_grasp_site: str = "grasp"
    """Site with GraspNet axes at the tool centre."""
    fr_grasp_site: str = ""
    fl_suction: SuctionConfig | None = None
    """Cups of the left gripper; None: it has fingers."""
    fr_suction: SuctionConfig | None = None
    left_joint_speed_limit: tuple[PositiveFloat, ...] = ()
    """Largest speed of each arm joint [rad/s]; empty if unknown."""
    right_joint_speed_limit: tuple[PositiveFloat, ...] = ()
    left_joint_acceleration_limit: tuple[PositiveFloat, ...] = ()
    """Largest acceleration of each arm joint [rad/s^2]; empty if unknown."""
    right_joint_acceleration_limit: tuple[PositiveFloat, ...] = ()
    left_gripper_speed_limit: tuple[PositiveFloat, ...] = ()
    """Largest speed of each drive joint of the gripper [m/s or rad/s]; empty if unknown."""
    right_gripper_speed_limit: tuple[PositiveFloat, ...] = ()
    other_joint_home: dict[str, float] = Field(default_factory=dict)
    """Home of joints in none of the lists above, such as gripper followers [m or rad]."""
    body_aliases: dict[str, str] = Field(default_factory=dict)
    """Published body name: name in the model."""
    joint_aliases: dict[str, str] = Field(default_factory=dict)
    """Published joint name: name in the model."""
    extra_depth: ExtraDepth | None = None
    drive: DriveConfig | None = None
    """Drive of the base; None: no drive."""
    base: Literal["held", "drivable", "reaching", "parked"] = "held"
    """``drivable``: skills and policies drive the base of a task's robot; ``held``: it stays in place. A task with a
    driving skill makes its robot drivable automatically. ``reaching``: drivable, and the expert drives it to positions
    from which a skill is in reach. ``parked``: held, in an episode of a task whose robot is ``reaching``."""
    physics: PhysicsOptions = PhysicsOptions()
    cameras: dict[str, CameraMount] = Field(default_factory=dict)
    camera_prims: dict[str, str] = Field(default_factory=dict)
    """End of a published prim path that is itself a camera > its name in ``cameras``. A camera that a task mounts on
    such a prim is posed in the camera's own frame, so without translation and rotation it coincides with that
    camera."""

    @model_validator(mode="before")
    @classmethod
    def _arm_keys_need_an_arm(cls, given: Any) -> Any:
        """Require the arm keys only for robots with an arm."""
        if isinstance(given, dict) and given.get("drive") and not given.get("left_joint_names"):
            return {**NO_ARM, **given}
        return given

    @model_validator(mode="after")
    def _only_planar_bases_drive(self) -> Self:
        if self.base != "held" and (self.drive is None or self.drive.kind != "planar"):
            kind = "no drive" if self.drive is None else f"a drive of kind {self.drive.kind}"
            raise ValueError(
                f"base: {self.base} needs a planar drive, and this robot has {kind}; lift2 and split_aloha have one"
            )
        return self

    @model_validator(mode="after")
    def _names_agree_with_indices(self) -> Self:
        for group in ("left_joint", "right_joint", "left_gripper", "right_gripper", "lift", "body", "head"):
            names: tuple[str, ...] = getattr(self, f"{group}_names")
            indices: tuple[int, ...] = getattr(self, f"{group}_indices")
            if not indices or not self.dof_names:
                continue
            outside = [i for i in indices if not 0 <= i < len(self.dof_names)]
            if outside:
                raise ValueError(
                    f"{group}_indices: {outside} outside dof_names, which has {len(self.dof_names)} entries"
                )
            found = tuple(self.dof_names[i] for i in indices)
            if found != names:
                raise ValueError(
                    f"{group}_indices {list(indices)} are {list(found)} in dof_names, "
                    f"but {group}_names is {list(names)}"
                )
        return self

    @model_validator(mode="after")
    def _camera_prims_are_cameras(self) -> Self:
        unknown = sorted(set(self.camera_prims.values()) - self.cameras.keys())
        if unknown:
            raise ValueError(f"camera_prims: no camera named {unknown[0]!r}; {suggest(unknown[0], self.cameras)}")
        return self

    @model_validator(mode="after")
    def _lengths_agree(self) -> Self:
        for side in ("left", "right"):
            for per, keys in PER_JOINT.items():
                self._same_length(f"{side}_{per}_names", *(f"{side}_{per}_{key}" for key in keys))
        for group in ("lift", "body", "head"):
            self._same_length(f"{group}_names", f"{group}_home")
        return self

    @property
    def drives(self) -> bool:
        """Whether the base moves by speeds that skills and policies command."""
        return self.base in ("drivable", "reaching")

    def _same_length(self, first: str, *others: str) -> None:
        expected = len(getattr(self, first))
        for key in others:
            given: tuple[Any, ...] = getattr(self, key)
            if given and len(given) != expected:
                raise ValueError(f"{key} has {len(given)} entries, {first} has {expected}")
