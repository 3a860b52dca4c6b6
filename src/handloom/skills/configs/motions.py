"""Configs of the skills that move the arm or the gripper without an object."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from handloom.config import Config, Quaternion, UnusedKey
from handloom.skills.configs.parts import Filters, SkillConfig, Triple

GripperState = Literal[1, -1]


class GotoPoseConfig(SkillConfig, Filters):
    """Move the hand to a pose in the arm base."""

    position: Triple
    """[m]"""
    over: str = ""
    """Object from whose highest point ``position`` is measured, instead of from the arm base (ours)."""
    between_arms: bool = False
    """``position`` and ``align_ref_axis`` are in the robot's frame (x ahead, y left, origin midway between the bases of
    its arms) instead of the arm base, so that they mean the same for every robot (ours)."""
    room_behind: float = Field(default=0.0, ge=0, le=1)
    """How far the hand must be able to draw back from there against its approach direction [m]; this is only checked
    (ours)."""
    spread: Triple = (0.0, 0.0, 0.0)
    """With ``align_obj_axis``: positions up to this far from ``position`` along each axis are also tried [m] (ours)."""
    quaternion: Quaternion | None = None
    """wxyz; without a quaternion or euler angles, the held object's axis is aligned."""
    euler: Triple | None = None
    """Extrinsic xyz [deg]."""
    max_noise_m: float = Field(default=0.0, ge=0)
    max_noise_deg: float = Field(default=0.0, ge=0)
    gripper_state: GripperState = 1
    interp_nums: int = Field(default=1, ge=1)
    """Intermediate waypoints."""
    align_obj_axis: Triple | None = None
    align_ref_axis: Triple | None = None
    align_obj_tol: float | None = None
    """[deg]"""
    position_constraint: Literal["gripper", "object"] = "gripper"
    keep_orientation: bool = False
    """Move there without turning the hand, instead of aligning an axis (ours)."""
    pace: float | None = Field(default=None, gt=0, le=1)
    """Fraction of the expert's pace (ours); the other hand can meet a slow one, see ``dynamicpick``."""
    test_mode: Literal["forward", "ik"] = "forward"
    frame: Annotated[Any, UnusedKey("poses are in the arm base")] = None


class GripperActionConfig(SkillConfig):
    """Open or close the gripper without moving the hand."""

    gripper_state: GripperState
    wait_steps: int = Field(default=10, ge=1)
    """Frames."""
    vel: Annotated[Any, UnusedKey("the reference system does not read it either")] = None
    post_action: Annotated[Any, UnusedKey("the reference system does not read it either")] = None
    post_action_offset: Annotated[Any, UnusedKey("the reference system does not read it either")] = None


class HeuristicSkillConfig(SkillConfig):
    """Move the joints on a straight line in joint space."""

    mode: Literal["home", "abs_qpos", "rel_qpos", "rel_ee", "back"] = "home"
    """Target: home, given joints, joints or a pose relative to the current one; ``back``, against its pointing
    direction (ours)."""
    value: Any = None
    """Joint vector [rad], a 4x4 pose for rel_ee, a distance for back [m]."""
    gripper_state: GripperState | None = None
    """Absent: the gripper is unchanged."""
    move_steps: int = Field(default=50, ge=1)
    t_eps: float = Field(default=0.088, gt=0)
    """[rad]"""


class HomeConfig(SkillConfig):
    """Move to the home position."""

    gripper_state: GripperState | None = None
    move_steps: int = Field(default=50, ge=1)
    t_eps: float = Field(default=0.088, gt=0)


class JointCtrlConfig(SkillConfig):
    """Set single joints."""

    ctrl_list: tuple[tuple[int, float, Literal["abs", "delta"]], ...] = Field(min_length=1)
    """Joint index, angle [deg], absolute or relative."""
    num_steps: int = Field(default=10, ge=1)
    gripper_state: GripperState = 1
    success_threshold_js: float = Field(default=5e-3, gt=0)
    """[rad]"""


class WaitConfig(SkillConfig):
    """Stand still."""

    wait_steps: int = Field(default=50, ge=1)
    gripper_state: GripperState | None = -1
    """Nothing: the gripper is unchanged (ours)."""
    success_threshold: float = Field(gt=0)
    """Largest drift of the hand [m]."""


Row = tuple[float, float, float, float]


class WayPointRange(Config):
    """Box of way points."""

    min: Triple
    max: Triple


TABLE = "table"
"""Fixture that replaces a target name without an object: published tasks name goals that do not exist."""


class TrackConfig(SkillConfig):
    """Reach random poses shown as axis triads."""

    target: str = TABLE
    """Object from whose top the waypoints are measured; the table if no object has this name."""
    way_points_num: int = Field(default=1, ge=1)
    way_points_trans: WayPointRange
    """Relative to the middle of the table top, in base axes [m]."""
    way_points_ori: Triple | Quaternion
    """Orientation of the hand in the arm base: extrinsic xyz [deg], or a quaternion wxyz."""
    max_noise_deg: float = Field(default=5.0, ge=0)
    """Largest random rotation of each waypoint [deg]."""
    T_tcp_2_ee: Triple | tuple[Row, Row, Row, Row] | None = None
    """Position of the triad in the hand: a shift [m] or a pose (4, 4); absent: between the fingertips."""


class MobileRotateConfig(SkillConfig):
    """Turn the mobile base in place."""

    target: float = Field(default=0.785, ge=-12.6, le=12.6)
    """Angle, counterclockwise [rad]."""


class MobileTranslateConfig(SkillConfig):
    """Move the mobile base in a straight line, without turning it."""

    target: tuple[float, float] = (0.0, 0.0)
    """Distances [m] along the base's joints x and y: forward and to the left in the frame of its start, as
    published."""
    frame: Literal["start", "base"] = "start"
    """``base``: forward and to the left in its current frame (ours)."""


class NavigateConfig(SkillConfig):
    """Drive to an object or a place around obstacles, and face it (ours)."""

    objects: tuple[str, ...] = Field(default=(), max_length=2)
    """The object to go to and face and, if different, the furniture to stand at: ``[cup, table]``."""
    position: tuple[float, float] | None = None
    """A place in the world to go to instead of an object [m]."""
    yaw: float | None = Field(default=None, ge=-360.0, le=360.0)
    """Final heading in the world [deg]; absent: the direction of travel for a position; at furniture, facing it from
    the free side nearest to the object or, without another object, to the robot."""
    stand_off: float = Field(default=0.6, ge=0.0, le=5.0)
    """Distance between the middle of the base and the edge of the furniture [m]."""
    sideways: float = Field(default=0.0, ge=-2.0, le=2.0)
    """Final offset of the object to the left of the robot's middle [m]: in front of the arm that reaches it."""
    hand_above: float | None = Field(default=None, ge=0.0, le=0.5)
    """Height above the faced object at which the hand, or the object it holds, arrives together with the base [m]. Base
    and arm are then solved, planned and moved as one chain; the base stands 0.03 to 0.27 m further back, up to 0.12 m
    to the side, and is turned by up to 15 degrees. An empty hand points ahead and down; a held object stays upright.
    Absent: the arm does not move."""

    @model_validator(mode="after")
    def _goes_somewhere(self) -> "NavigateConfig":
        if bool(self.objects) == (self.position is not None):
            given = "both" if self.objects else "neither"
            raise ValueError(
                f"navigate goes to objects, [what to face, furniture], or to a position [x, y]; got {given}"
            )
        if self.hand_above is not None and not self.objects:
            raise ValueError("hand_above is a height over an object; give navigate objects, not a position")
        return self


class PourMotion(SkillConfig):
    """How a held container is emptied into another (ours)."""

    tilt: float = Field(default=115.0, gt=0, le=170)
    """How far the container is tilted about its lip [deg]."""
    height: float = Field(default=0.025, ge=0)
    """Minimum height of the lip above the rim of the target [m]."""
    aim: float = Field(default=0.35, ge=0, lt=1)
    """Distance of the lip from the middle of the target, towards the container, as a fraction of the target's inner
    radius."""
    pace: float = Field(default=0.5, gt=0, le=1)
    """Speed of the tilt, as a fraction of the arm's usual speed; half of it while grains may flow."""
    drain_steps: int = Field(default=90, ge=1)
    """Maximum number of frames for which the container stays tilted; it turns back as soon as nothing flows."""


class PourConfig(PourMotion):
    """Pour the grains in ``objects[0]``, which is held, into ``objects[1]`` (ours)."""

    objects_needed: ClassVar[int] = 2
    poured: float = Field(default=0.7, gt=0, le=1)
    """Minimum fraction of all grains that must be in the target."""
    spilled: float = Field(default=0.1, ge=0, le=1)
    """Largest fraction of all grains that may be in neither of the two."""


class PourWaterSuccConfig(PourMotion):
    """Judge a pour by the grains in the container; with ``objects`` also pour, as ``pour`` does (ours)."""

    container_name: str = "cup"
    """The container that must be filled."""
    container_radius: float = Field(default=0.025, gt=0)
    """Grains count as in the container if, seen from above, they are nearer to its middle than this [m]."""
    particle_num_th_min: int = 50
    """There must be more grains than this."""
    particle_num_th_max: int = 300
    """There must be fewer grains than this."""
    container_up: tuple[tuple[str, Literal[0, 1, 2, "x", "y", "z"], float], ...] = ()
    """Object, one of its own axes, and the smallest cosine of the angle between this axis and up."""
    gripper_state: GripperState = -1
    """Gripper while it waits."""
    gripper: Annotated[Any, UnusedKey("the reference system does not read it either")] = None
    objects_needed: ClassVar[int] = 0
