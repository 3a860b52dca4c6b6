"""Configs of the skills that grasp an object."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from handloom.config import Quaternion, UnusedKey
from handloom.skills.configs.parts import Filters, Hold, Range, Tolerances, Triple

TestMode = Literal["forward", "ik"]


class GraspAnnotation(Tolerances):
    """Annotated grasps of the object, and the offset of the hand at a grasp."""

    npy_name: str = "Aligned_grasp_sparse.npy"
    """Grasp annotation beside the asset."""
    grasp_scale: float = Field(default=1.0, gt=0)
    """Factor on the grasp positions of that file; the object's scale."""
    tcp_offset: float | None = None
    """Distance of the hand's frame behind the fingertips at the grasp [m]; absent: the robot's value."""
    constraints: tuple[Literal["x", "y", "z"], float, float] | None = None
    """Keep grasps in this part of the object along an axis, as ratios 0..1."""


class PickConfig(GraspAnnotation, Filters):
    """Grasp ``objects[0]`` with an annotated grasp and lift it."""

    objects_needed: ClassVar[int] = 1
    approach_widest: float | None = Field(default=None, gt=0, le=180)
    """If no grasp within ``approach`` can be reached, the angle is widened in three steps up to this one [deg]
    (ours)."""
    rim: bool = False
    """Grasp a rim or an edge, with the fingers open only 20 mm on approach: one finger goes under the rim of a plate,
    where a fully open one would hit the table (ours)."""
    largest_lever: float | None = Field(default=None, gt=0)
    """Keep grasps in which the object does not turn under its weight: largest horizontal distance of its centre of mass
    from the closing line of the fingers [m] (ours)."""
    final_gripper_state: Literal[1, -1] = -1
    """1 ends with an open gripper: approach only."""
    fixed_orientation: Quaternion | None = None
    """wxyz in the arm base, instead of the grasp's."""
    direction_to_obj: Literal["left", "right"] | None = None
    """Keep grasps on this side of the object."""
    pre_grasp_offset: float = Field(default=0.1, ge=0)
    """Distance in front of the grasp at which the approach starts [m]."""
    pre_grasp_hold_vec_weight: Hold | None = None
    gripper_change_steps: int = Field(default=40, ge=0)
    """Frames for the gripper to close."""
    post_grasp_offset_min: float = 0.05
    post_grasp_offset_max: float = 0.05
    """Lift after the grasp, uniform between the two [m]."""
    return_to_pregrasp: bool = False
    lift_th: float = 0.0
    """Success requires the object to be lifted by more than this [m]; 0 disables the check."""
    handed: bool = False
    """The object is taken from the other hand: both must have held it at once, and one of them alone at the end
    (ours)."""
    test_mode: TestMode = "forward"
    """Test of candidates: a whole plan, or inverse kinematics only."""
    close_wait_steps: Annotated[Any, UnusedKey("the reference system does not read it either")] = None


class DexPickConfig(Tolerances):
    """Grasp with a hand-annotated end-effector pose."""

    objects_needed: ClassVar[int] = 1
    pick_pose_idx: int = Field(default=0, ge=0)
    """Row of ``dexpick_pose.yaml`` beside the asset."""
    pick_poses: tuple[tuple[float, float, float, float, float, float, float], ...] = ()
    """Poses of the hand in the object, x, y, z [m] and a quaternion wxyz, in place of that file (ours)."""
    pre_grasp_offset: float = Field(default=0.1, ge=0)
    gripper_change_steps: int = Field(default=40, ge=0)
    post_grasp_offset_min: float = 0.05
    post_grasp_offset_max: float = 0.05
    lift_th: float = 0.0
    post_grasp_offset: Annotated[Any, UnusedKey("not read by the reference system; use _min and _max")] = None


class ManualPickConfig(PickConfig):
    """A pick whose hand orientation is tuned further."""

    hold_vec_weight: Hold | None = None
    start_lr_skill: bool = False
    adjust_ori: tuple[Literal["x", "y", "z"], Literal["x", "y", "z"], Literal["min", "max"]] | None = None
    """End-effector axis, base axis, min or max: turn each grasp until that component is smallest or largest."""
    adjust_rotate_axis: Literal["x", "y", "z"] = "x"
    adjust_angle_list_cfg: tuple[float, float, int] = (-15.0, 15.0, 7)
    """Lowest and highest turn [deg] and the number of turns tried."""
    manual_adjust_ori: tuple[tuple[Literal["x", "y", "z"], float], ...] = ()
    """Further turns about the hand's own axes [deg]."""
    adjust_trans_offset: Triple = (0.0, 0.0, 0.0)
    """Shift in the arm base [m]."""
    pre_grasp_offset_manual: Triple = (0.0, 0.0, 0.0)
    """Added to the pre-grasp position [m]."""
    update_pose_cost_metric_none: Annotated[Any, UnusedKey("the reference system does not read it either")] = None


class DynamicPickConfig(GraspAnnotation, Filters):
    """Grasp an object that moves on a conveyor, rolls, or is carried past by another hand."""

    objects_needed: ClassVar[int] = 1
    pick_range: Range
    """Meeting point, relative to the hand's start in world x [m]."""
    time_bias: float = 0.0
    """[s]"""
    pick_bias: float = 0.0
    """[m]"""
    pre_grasp_offset: float = Field(default=0.1, ge=0)
    pivot_angle_z: Range | None = None
    """Random turn of each candidate about its own z [deg]."""
    pos_adjust_z: float | Range = 0.0
    """Shift of each candidate in base z [m]."""
    gripper_change_steps: int = Field(default=40, ge=0)
    post_grasp_offset_min: float = 0.05
    post_grasp_offset_max: float = 0.05
    lift_th: float = 0.0
    test_mode: TestMode = "forward"
    """Test of candidates: a plan of the whole meeting, or inverse kinematics only, followed by a plan for the first
    that passes."""


class FailPickConfig(Tolerances, Filters):
    """Miss the object on purpose, for recovery demonstrations."""

    objects_needed: ClassVar[int] = 1
    grasp_x_offset_min: float = 0.05
    grasp_x_offset_max: float = 0.1
    grasp_y_offset_min: float = 0.05
    grasp_y_offset_max: float = 0.1
    """Sideways distance from the object at which the hand closes, uniform with random sign [m]."""
    gripper_change_steps: int = Field(default=10, ge=0)
    post_grasp_offset_min: float = 0.05
    post_grasp_offset_max: float = 0.05
    test_mode: TestMode = "forward"
