"""Configs of the skills that move doors, drawers, lids and knobs."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

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


Motion = str | tuple[str, float]
"""``[translate_x, 0.04]`` in the hand, ``[rotate, -0.2]`` about the joint, or ``move-up`` and its like in the base."""


class PlannerSetting(Config):
    """How the hand meets the handle and what it does then."""

    constraint_list: tuple[KeypointConstraint, ...] = Field(min_length=1)
    contact_pose_index: int = Field(default=2, ge=0)
    """Key frame at which the hand touches."""
    success_threshold: float
    """[m or rad]"""
    success_mode: Literal["abs", "normal", "zero", "dis_to_init"] | None = None
    """Absent: ``abs`` when opening, ``zero`` when closing."""
    update_art_joint: bool = False
    pre_actuation_motions: tuple[Motion, ...] = ()
    post_actuation_motions: tuple[Motion, ...] = ()
    keypose_random_range: RandomPose = RandomPose()
    modify_actuation_motion: Motion | None = None
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
    planner_setting: PlannerSetting
    obj_info_path: str | None = None
    collision_valid: bool = True
    """Success needs that only the fingers touched the moving part."""
    process_valid: bool = True


class OpenConfig(ArticulatedSkillConfig):
    """Open a door, drawer or lid."""


class CloseConfig(ArticulatedSkillConfig):
    """Close a door, drawer or lid."""


class RotateConfig(ArticulatedSkillConfig):
    """Turn a knob."""


class ArtPreplanConfig(ArticulatedSkillConfig):
    """Test at the start of a long task that a later open or close is possible."""
