"""Configs of the skills that put an object somewhere."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from handloom.config import Config, Metres, UnusedKey
from handloom.skills.configs.parts import Approach, Filters, Hold, Range, SkillConfig, Tolerances, Triple

_PARSED_ONLY = "the reference system parses it and does nothing with it"


class PlaceConfig(Tolerances, Filters):
    """Put ``objects[0]``, which is held, on or by ``objects[1]``."""

    objects_needed: ClassVar[int] = 2
    place_part_prim_path: str | None = None
    """Part of the target whose box is used."""
    place_direction: Literal["vertical", "horizontal"] = "vertical"
    position_constraint: Literal["gripper", "object"] = "gripper"
    """The frame that is brought to the place: the hand, or the origin of the object."""
    x_ratio_range: Range = (0.4, 0.6)
    y_ratio_range: Range = (0.4, 0.6)
    z_ratio_range: Range = (0.4, 0.6)
    """Position in the target's box, as ratios; outside 0..1 is beside it."""
    at: tuple[Metres, Metres] | None = None
    """Spot on the target, x and y from its middle as in a ``pos_range`` [m], in place of the ratios; checked to within
    3 cm (ours)."""
    at_point: str | None = None
    """Named point of the target, such as ``burner_1``, in place of ``at`` (ours)."""
    at_frame: Literal["target", "work"] = "target"
    """``work``: ``at`` is in the frame of the workplace, x to the right of the robot and y away from it (ours)."""
    facing: Annotated[float, Field(ge=-360, le=360)] | Literal["left", "right", "away", "toward"] | None = None
    """Direction of the object's ``front``, or of its x axis if it has no front: a word as seen by the robot, or
    degrees, 0 to the right of the robot and 90 away from it; checked to within 15 degrees (ours)."""
    point_down: str | None = None
    """Named point of the held object, such as the tip of a pen, that points down, to within 15 degrees; checked to
    within 45 (ours)."""
    gap: tuple[Metres, Metres] | None = None
    """With a relation ``left_of``, ``right_of``, ``in_front_of`` or ``behind``: minimum and maximum gap between the two
    [m]; absent: 3 to 6 cm, checked up to 10 cm (ours)."""
    ratio_widest: Range | None = None
    """Ratios along x and y to use instead if the place is already occupied (ours)."""
    aim: Triple | None = None
    aim_body: str | None = None
    """Place at which the expert puts the origin of the object: a point in the frame of a body of the scene [m]. It
    replaces the ratios, is not checked, and is dropped if nothing can be put down there (ours; set by ``handloom
    retell``)."""
    pre_place_z_offset: float = 0.2
    place_z_offset: float = 0.1
    """Height above the target before and at the place [m]."""
    align_pick_obj_axis: Triple | None = None
    align_place_obj_axis: Triple | None = None
    align_obj_tol: float | None = None
    """Keep orientations that bring the first axis (object) within this angle of the second (target) [deg]."""
    level_obj_axis: Triple | None = None
    """Axis of the object, such as the long axis of a stick, that is level at the place to within ``align_obj_tol``, in
    any direction (ours)."""
    offset_place_obj_axis: Triple | None = None
    pre_place_align: float = 0.2
    pre_place_offset: float = 0.2
    place_align: float = 0.1
    place_offset: float = 0.1
    """Horizontal placing: shifts along the aligned axis and the offset axis of the target [m]."""
    pre_place_hold_vec_weight: Hold | None = None
    post_place_hold_vec_weight: Hold | None = None
    rest_on: Literal["target", "support"] | None = None
    """Heights are measured to the lowest point of the held object: above the top of the target, or above the target's
    own support (``support``, for places beside it); absent: to the object's origin, as published (ours)."""
    beside: Literal["left", "right"] | None = None
    """Put the object next to the target, in world -x or +x, with 3 to 6 cm between them (ours)."""
    keep_upright: float | None = Field(default=None, gt=0, le=90)
    """Put the object down in its held orientation, turned only about the vertical, to within this angle [deg]
    (ours)."""
    keep_upright_widest: float | None = Field(default=None, gt=0, le=180)
    """If no such place can be reached, ``keep_upright`` is widened in three steps up to this angle [deg] (ours)."""
    retreat: float | None = Field(default=None, gt=0, le=1)
    """Distance by which the hand draws back against its approach direction [m]: ``post_place_vector`` for every robot
    (ours)."""
    retreat_widest: float | None = Field(default=None, gt=0, le=1)
    """If the fingers would still reach over the object after ``retreat``, the hand draws back further, up to this
    distance [m], where it can (ours)."""
    rim: bool = False
    """Release of a rim: the fingers open only 20 mm until the hand has drawn back (ours)."""
    hold_obj_axis: Triple | None = None
    """Axis of the object that keeps its direction on the way, to carry objects upright (ours)."""
    target_held: bool = False
    """Another hand holds the target in the air (ours): the fingers open no further than the release needs, and success
    requires the target to be held, with nothing under it, in every frame of the skill."""
    until_contact: bool = False
    """Lower the object from the place until it touches something below, and only then release it (ours); a published
    place drops it from ``place_z_offset``."""
    gripper_change_steps: int = Field(default=10, ge=0)
    """Maximum number of frames for the gripper to open; it stops when the fingers do."""
    hesitate_steps: int = Field(default=0, ge=0)
    """Frames to wait at the place before opening."""
    post_place_vector: Triple | None = None
    """Retreat in the hand's frame [m]."""
    test_mode: Literal["forward", "ik"] = "forward"
    relation: Literal["in", "on", "stack_on", "beside", "left_of", "right_of", "in_front_of", "behind"] | None = None
    """The place in words, as in its short form (ours); it defines success (``success_mode: relation``) for any policy.
    ``in``: in a cavity of the target, of ``place_part_prim_path`` if that is given; ``on`` and ``stack_on``: carried
    by the target alone, with its middle above it; ``beside``: next to it; ``left_of`` and the like: straight on that
    side of it as the robot sees it, on the same level, ``gap`` away. Objects that stand, such as a mug or a can, must
    end upright, and are stood up if they lie."""
    upright: bool | Annotated[float, Field(gt=0, le=90)] | None = None
    """With ``relation``: false allows an object that stands, such as a mug, to end lying; true or an angle [deg]
    requires it of any object, and a lying one is stood up (ours)."""
    lean: bool = False
    """With ``relation: on``: lean the object against the target, with its up axis along the target's axis ``lean`` and
    its long side up the slope; checked to within 15 degrees (ours)."""
    success_mode: Literal[
        "3diou", "xybbox", "height", "left", "right", "flower", "cup", "resting", "inside", "beside", "relation"
    ] = "3diou"
    """Criterion of success; ours are ``resting``: over the target, touching it and released, ``inside``: ``success_th``
    of the object (0.5 if that is 0) lies inside the target, and it is released, and ``beside``: next to the target on
    its side, at rest and released."""
    success_th: float = 0.0
    """Overlap that must be exceeded, if the mode has one; fraction of the object for ``inside``."""
    success_tilt: float | None = Field(default=None, gt=0, le=45)
    """Largest angle [deg] between up and the nearest axis of the object: it lies flat, or stands (ours)."""
    success_upright: float | None = Field(default=None, gt=0, le=45)
    """Largest angle [deg] between up and the object's own z axis: it stands upright (ours)."""
    threshold: float = 0.03
    """Distance of the modes left and right [m]."""
    place_align_axis: Annotated[Any, UnusedKey(_PARSED_ONLY)] = None
    pick_align_axis: Annotated[Any, UnusedKey(_PARSED_ONLY)] = None
    constraint_gripper_x: Annotated[Any, UnusedKey(_PARSED_ONLY)] = None
    align_plane_x_axis: Annotated[Any, UnusedKey(_PARSED_ONLY)] = None
    align_plane_y_axis: Annotated[Any, UnusedKey(_PARSED_ONLY)] = None

    @model_validator(mode="after")
    def _holds_one_part(self) -> "PlaceConfig":
        if self.hold_obj_axis is not None and self.pre_place_hold_vec_weight is not None:
            raise ValueError("hold_obj_axis and pre_place_hold_vec_weight both constrain the path; give one of them")
        return self

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> "PlaceConfig":
        if self.keep_upright is not None and self.align_pick_obj_axis is not None:
            raise ValueError("keep_upright and align_pick_obj_axis both set the object's orientation; give one of them")
        if self.level_obj_axis is not None and (self.keep_upright is not None or self.align_pick_obj_axis is not None):
            raise ValueError(
                "level_obj_axis sets the object's orientation; give neither keep_upright nor align_pick_obj_axis"
            )
        if self.level_obj_axis is not None and not self.align_obj_tol:
            raise ValueError("level_obj_axis needs align_obj_tol, how far from level the axis may be [deg]")
        if self.retreat is not None and self.post_place_vector is not None:
            raise ValueError("retreat and post_place_vector both set how the hand draws back; give one of them")
        if self.rest_on is not None and self.position_constraint != "object":
            raise ValueError("rest_on measures the object; it needs position_constraint: object")
        if (self.beside is None) == (self.success_mode == "beside" or self.relation == "beside"):
            raise ValueError("beside: left or right and success_mode: beside belong together")
        if (self.success_mode == "relation") and self.relation is None:
            raise ValueError("success_mode: relation needs relation: in, on, stack_on, beside, left_of, ...")
        sided = self.relation in ("left_of", "right_of", "in_front_of", "behind")
        if self.gap is not None and (not sided or not 0.0 <= self.gap[0] <= self.gap[1]):
            raise ValueError(
                "gap needs left_of, right_of, in_front_of or behind, and a range from low to high [m], "
                f"e.g. [0.03, 0.1]; got {list(self.gap)} with {self.relation}"
            )
        if sided and (self.rest_on != "support" or self.at is not None or self.at_point is not None):
            raise ValueError(f"{self.relation} needs rest_on: support, and no at")
        if self.at is not None and self.at_point is not None:
            raise ValueError("at and at_point both name a spot; give one of them")
        if self.lean and (self.relation != "on" or self.facing is not None or self.upright is not None):
            raise ValueError("lean goes with on: TARGET, and with neither facing nor upright")
        return self

    @field_validator(
        "align_pick_obj_axis", "align_place_obj_axis", "offset_place_obj_axis", "hold_obj_axis", "level_obj_axis"
    )
    @classmethod
    def _has_a_direction(cls, axis: Triple | None) -> Triple | None:
        if axis is not None and not any(axis):
            raise ValueError("an axis needs a length above zero, got [0, 0, 0]")
        return axis


class AxisDirection(Config):
    """Half of ``camera_axis_filter``: either a direction, or the range of angles about it."""

    direction: Triple | None = None
    degree: Range | None = None
    """[deg]"""


class DexPlaceConfig(Tolerances):
    """Drop ``objects[0]`` into ``objects[1]``, reaching along the line of sight."""

    objects_needed: ClassVar[int] = 2
    camera_axis_filter: tuple[AxisDirection, AxisDirection] | None = None
    """Direction of the hand's z axis in the arm base, and the range of angles [deg] by which the hand tilts from the
    line of sight; absent: the current roll of the hand is kept."""
    place_part_prim_path: str | None = None
    gripper_change_steps: int = Field(default=10, ge=0)


class MoveConfig(SkillConfig):
    """Carry ``objects[0]``, which is held, to ``objects[1]`` without turning it."""

    objects_needed: ClassVar[int] = 2
    success_threshold: float = Field(gt=0)
    """[m]"""
    delta_trans: tuple[Triple, ...] = ((0.0, 0.0, 0.0),)
    """Waypoints relative to the goal [m]."""
    press: float | None = Field(default=None, ge=0, le=0.02)
    """Wipe: after the first waypoint, the held object is lowered onto the target and pressed by this much [m] at all
    others; absent: the height is kept (ours)."""
    press_part: str | None = None
    """With ``press``: the part of the held object, a body or a named point of it, that must touch the target, and move
    over it; absent: any (ours)."""
    contact_share: float = Field(default=0.3, gt=0, le=1)
    """With ``press``: fraction of the skill's frames in which the object must touch the target (ours)."""
    hold_vec_weight: Hold = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Parts of the hand's pose that change on the way no more than the goal requires."""
    invisible_object: str | tuple[str, ...] | None = None
    """Object that disappears once the move has succeeded, such as dirt; the first one of a list. It is only visible: it
    stays in place and collides with nothing."""

    @property
    def only_shifts(self) -> bool:
        """Whether the held object only moves by some distance from its current position."""
        return len(set(self.objects[:2])) == 1

    @property
    def vanishing(self) -> str | None:
        """Name of the object that disappears."""
        names = (self.invisible_object,) if isinstance(self.invisible_object, str) else self.invisible_object
        return names[0] if names else None


class CarryConfig(Tolerances, Filters):
    """Take ``objects[0]`` with both hands, carry it level to ``objects[1]`` and put it down there (ours)."""

    objects_needed: ClassVar[int] = 2
    both_arms: ClassVar[bool] = True
    approach: Approach | None = ("down", 30.0)
    """Where the hands point."""
    pre_grasp_offset: float = Field(default=0.07, gt=0)
    """Distance in front of the grasps at which the straight approach starts [m]."""
    gripper_change_steps: int = Field(default=20, ge=1)
    """Maximum number of frames for the grippers to close and to open; they stop when the fingers do."""
    lift: float = Field(default=0.1, gt=0, le=1)
    """How high above both places the object is carried [m]."""
    pace: float = Field(default=0.7, gt=0, le=1)
    """Fraction of the expert's pace while both hands hold the object."""
    x_ratio_range: Range = (0.45, 0.55)
    y_ratio_range: Range = (0.45, 0.55)
    """Final position of the object's middle in the target's box, as ratios."""
    retreat: float = Field(default=0.08, gt=0, le=1)
    """How far the hands draw back at the end [m]."""
    points: tuple[str, ...] = Field(default=(), max_length=2)
    """Named points at which the hands grasp it, such as ``[left_handle, right_handle]``; absent: opposite sides."""
    tilt: float = Field(default=5.0, gt=0, le=45)
    """Largest angle [deg] between up and the object's own z axis, in every frame of the skill."""


class RotationGoal(Config):
    """How ``approach__rotate`` turns the object."""

    type: Literal["random", "towards"] = "random"
    """``random`` draws from ``rotate_obj_euler``; ``towards`` stands upright and faces the other object."""
    rotate_obj_euler: tuple[Triple, Triple] | None = None
    """Lowest and highest world Euler angles [deg]."""
    success_threshold: float = Field(gt=0)
    """[rad]"""
    objects: tuple[str, ...] = ()
    """Object to face; the other object if empty."""


class DummyForward(Config):
    """Joint moves added at the end of a skill."""

    num_steps: int = Field(default=10, ge=1)
    gripper_state: Literal[1, -1] = -1
    ctrl_list: tuple[tuple[int, float, Literal["abs", "delta"]], ...] = ()
    """Joint, angle [deg], absolute or relative."""


class ApproachRotateConfig(SkillConfig):
    """Bring ``objects[0]``, which is held, next to ``objects[1]`` and turn it."""

    objects_needed: ClassVar[int] = 2
    success_threshold: float = Field(gt=0)
    """[m]"""
    rotate: RotationGoal | None = None
    """How the object is turned; absent: its orientation is kept."""
    approach_axis: Literal["+x", "-x", "+y", "-y"] = "+x"
    """World direction from the other object to this one."""
    obj_yaw_offset: float = 0.0
    """Turns that direction about the vertical [deg]."""
    distance: float = 0.1
    """Distance from the other object [m]."""
    obj_axis_offset: tuple[tuple[Literal["x", "y", "z"], float], ...] = ()
    """Shifts of the object's reference point along its own axes [m]."""
    z_offset: float = 0.0
    """Added to the current height [m]."""
    hold_vec_weight: Hold | None = None
    """Parts of the hand's pose that change on the way no more than the goal requires."""
    dummy_forward: DummyForward | None = None
    """Joint move at the end."""


class RotateObjConfig(SkillConfig):
    """Tilt ``objects[0]``, which is held, about its own origin."""

    objects_needed: ClassVar[int] = 1
    rotate_obj_euler_delta: tuple[Triple, Triple]
    """Lowest and highest intrinsic XYZ angles in the object frame [deg]."""
    success_threshold_move: float = Field(gt=0)
    """[m]"""
    success_threshold_rotate: float = Field(gt=0)
    """[rad]"""
    obj_axis_offset: tuple[tuple[Literal["x", "y", "z"], float], ...] = ()
    """Shifts of the centre of rotation, along the object's own axes [m]."""
    trans_offset: Triple = (0.0, 0.0, 0.0)
    """Shift of that point in the world [m]."""
    first_motion: Literal["move", "rotate"] | None = None
    """Move and then turn, turn and then move, or both at once."""
    move_offset: Triple | None = None
    """With ``first_motion: move``, added to the position at which it turns [m]."""
    rotate_offset: Triple | None = None
    """With ``first_motion: rotate``, shift while it turns [m]."""
    rotate_only: bool = False
    """Turn in place; only the rotation is checked."""
    gripper_state: Literal[1, -1] = -1
    dummy_forward: DummyForward | None = None
    """Joint move at the end."""
    ctrl_list: tuple[tuple[int, float, Literal["abs", "delta"]], ...] = ()
    """The joints of that move, in the spelling of published task files."""


class FlipConfig(Tolerances):
    """Turn a flat object over."""

    objects_needed: ClassVar[int] = 1
    gripper_axis: Triple | None = None
    """Final direction of the hand's approach: right, ahead, or up, seen from the arm."""
    ee_axis: Triple | None = None
    """The same key in the spelling of published task files."""
    up_axis: Triple = (0.0, 1.0, 0.0)
    """Axis of the object that must point up at the end; y as published (ours)."""
    lower: float = 0.0
    """How far below its start the hand releases the object [m]; published: at the same height (ours)."""
    open_wait_steps: int = Field(default=20, ge=0)


class HangConfig(Tolerances):
    """Hang ``objects[0]``, which is held, on a peg of ``objects[1]`` (ours)."""

    objects_needed: ClassVar[int] = 2
    peg: str | None = None
    """Keypoint at the tip of the peg, such as ``peg_0``; absent: any peg."""
    share: Range = (0.55, 0.68)
    """Release point along the peg, from its root at 0 to its tip at 1."""
    drop: float = Field(default=0.003, ge=0)
    """Distance of the middle of the handle's hole below the axis of the peg at the release [m]."""
    roll: Range = (0.8, 1.0)
    """Rotation of the object about the peg before the release: 0 upright, 1 as it will hang."""
    pre_distance: float = Field(default=0.03, ge=0)
    """Distance in front of the tip at which the straight path onto the peg begins [m]."""
    approach_only: bool = False
    """Only bring the object in front of the peg. A second ``hang`` then starts from the object's pose in the hand after
    the long move, during which it may have turned."""
    rim: bool = False
    """Release of a rim: the fingers open only 20 mm until the hand has drawn back."""
    gripper_change_steps: int = Field(default=10, ge=0)
    retreat: float = Field(default=0.08, gt=0)
    """How far the hand draws back [m]."""
    settle_steps: int = Field(default=60, ge=0)
    """Frames for the object to stop swinging."""


class ScanConfig(Tolerances):
    """Show a held object to a scanner.

    The scanner is a second object with a keypoint ``window`` and an axis ``view`` (ours). Without one, as published,
    the held object is brought forward and down.
    """

    view_distance: tuple[float, float] = (0.08, 0.12)
    """Lowest and highest distance from the scanner's window to the middle of the object [m] (ours)."""

    objects_needed: ClassVar[int] = 1
