"""Configs of the skills that move doors, drawers, lids and knobs."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from handloom.config import Config, UnusedKey
from handloom.skills.configs.parts import SkillConfig, Triple

_INFORMATIONAL = "informational"


class KeypointConstraint(Config):
    """One term of the grasp on a handle."""

    name: Literal[
        "fingers_contact_with_link0",
        "hand_parallel_to_link0_edge",
        "hand_parallel_to_link0_move_axis",
        "hand_parallel_to_link0_edge_door",
        "hand_parallel_to_axis_computed_by_keypoints",
        "fingers_orthogonal_to_link0",
    ]
    type: str = ""
    tolerance: float = Field(gt=0)
    """[m] for points, [rad] for angles."""
    keypoint_name: str | None = None
    target_keypoint_name: str | None = None
    axis_from_keypoint_name: str | None = None
    axis_to_keypoint_name: str | None = None
    target_axis: str | Triple | None = None
    target_axis_frame: str | None = None
    target_axis_from_keypoint_name: str | None = None
    target_axis_to_keypoint_name: str | None = None
    cross_target_axis1_from_keypoint_name: str | None = None
    cross_target_axis1_to_keypoint_name: str | None = None
    target_inner_product: float | None = Field(default=None, ge=-1, le=1)
    """Cosine wanted."""


class RandomPose(Config):
    """Random turn [deg] and shift [m] of the goal, as ``x_min`` to ``z_max``."""

    orientation: dict[str, float] = Field(default_factory=dict)
    position: dict[str, float] = Field(default_factory=dict)


BASE_MOTIONS: dict[str, Triple] = {
    "move-up": (0.0, 0.0, 0.06),
    "move-down": (0.0, 0.0, -0.06),
    "move-left": (0.0, 0.08, 0.0),
    "move-right": (0.0, -0.08, 0.0),
    "move-forward": (0.1, 0.0, 0.0),
    "move-backward": (-0.1, 0.0, 0.0),
}
"""Published words > shift in the arm base [m]."""
Motion = (
    Literal["move-up", "move-down", "move-left", "move-right", "move-forward", "move-backward"]
    | tuple[Literal["translate_x", "translate_y", "translate_z", "approach", "rotate", "slide"], float]
)
"""``[translate_x, 0.04]`` in the hand [m], ``[rotate, -0.2]`` about the joint [rad], ``move-up`` and its like in the
base; ours are ``[approach, 0.04]``, along the hand's approach direction on every robot, and ``[slide, 0.1]`` along the
joint [m]."""


class PlannerSetting(Config):
    """Contact of the hand with the handle and its motions from there."""

    constraint_list: tuple[KeypointConstraint, ...] = Field(min_length=1)
    """Terms that the hand's pose at the contact must satisfy together."""
    contact_pose_index: int = Field(default=2, ge=1)
    """Key frame at which the hand touches: 0 is its current pose, followed by the motions before the goal, the goal,
    and the motions after it."""
    success_threshold: float
    """Minimum motion of the joint, or largest distance from closed [m or rad]."""
    success_mode: Literal["abs", "normal", "zero", "dis_to_init"] | None = None
    """Absent: ``abs`` when opening, ``zero`` when closing."""
    update_art_joint: Annotated[bool, UnusedKey("joints stay by their own friction; nothing drives an object")] = False
    pre_actuation_motions: tuple[Motion, ...] = ()
    """Motions that lead back from the goal to the start of the approach."""
    post_actuation_motions: tuple[Motion, ...] = ()
    """Motions after the goal, each from the end of the previous one."""
    keypose_random_range: RandomPose = RandomPose()
    """Random turn and shift of the goal in the hand."""
    modify_actuation_motion: Motion | None = None
    """One more motion of the goal itself."""
    task_name: Annotated[Any, UnusedKey(_INFORMATIONAL)] = None
    category_name: Annotated[Any, UnusedKey(_INFORMATIONAL)] = None
    tool_keypoint_name_list: Annotated[Any, UnusedKey(_INFORMATIONAL)] = None
    object_keypoint_name_list: Annotated[Any, UnusedKey(_INFORMATIONAL)] = None
    actuation_time: Annotated[Any, UnusedKey("motions run at the planner's speed")] = None
    pre_actuation_times: Annotated[Any, UnusedKey("motions run at the planner's speed")] = None
    post_actuation_times: Annotated[Any, UnusedKey("motions run at the planner's speed")] = None


class ArticulatedSkillConfig(SkillConfig):
    """Keys of open, close, rotate and artpreplan."""

    objects_needed: ClassVar[int] = 1
    planner_setting: PlannerSetting | None = None
    """Contact of the hand with the object; absent: found from the object's own keypoints (ours)."""
    joint: str | None = None
    """Moving part, such as ``drawer_0``; absent: the main one (ours)."""
    amount: float = Field(default=0.6, gt=0, le=1)
    """Fraction of the joint's range by which it is opened or turned, without ``planner_setting`` (ours)."""
    least_amount: float | None = Field(default=None, gt=0, le=1)
    """Smallest acceptable fraction if the arm cannot move the joint by ``amount``; success requires this fraction;
    absent: only ``amount`` (ours)."""
    by: float | None = Field(default=None, gt=0, le=3600)
    """Instead of ``amount``: motion of the joint when opened or turned, [deg] for a hinge, [m] for a slide; a turned
    hinge may go 15 degrees or 25 % further, not more (ours)."""
    grasp: bool | None = None
    """Whether the hand grasps the handle or pushes with closed fingers, without ``planner_setting``; absent: it pushes
    to close, unless the joint slides across its front, and grasps to open and turn (ours)."""
    hold: bool = False
    """Keep hold of the handle at the end, so that another arm can work; a later skill on the same joint continues from
    there (ours)."""
    momentary: bool = False
    """It is enough that the joint was there at some time, for parts that spring back: pedals, buttons, keys (ours)."""
    obj_info_path: str | None = None
    """Annotation file that replaces the object's keypoints."""
    collision_valid: bool = True
    """Success requires that only fingers touched the object, and only its moving part."""
    process_valid: bool = True
    """Success requires joints at rest at the end."""


class OpenConfig(ArticulatedSkillConfig):
    """Open a door, drawer or lid."""

    by_driving: bool = False
    """The hand grasps a drawer, and the base drives back with it while the arm holds still; for robots with a mobile
    base (ours)."""

    @model_validator(mode="after")
    def _drives_by_its_own_keypoints(self) -> "OpenConfig":
        if self.by_driving and (self.planner_setting is not None or self.grasp is False):
            raise ValueError("by_driving pulls by the handle, as the object's own keypoints have it")
        return self


class CloseConfig(ArticulatedSkillConfig):
    """Close a door, drawer or lid."""


class RotateConfig(ArticulatedSkillConfig):
    """Turn a knob."""


class ArtPreplanConfig(ArticulatedSkillConfig):
    """Test at the start of a long task that a later open or close is possible."""
