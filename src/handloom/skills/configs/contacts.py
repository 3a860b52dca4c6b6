"""Configs of the skills that work by contact of the fingers or of a held object."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from handloom.config import Metres
from handloom.skills.configs.parts import Filters, Tolerances
from handloom.skills.configs.places import CarryConfig

Side = Literal["left_of", "right_of", "in_front_of", "behind"]


class PressConfig(Tolerances, Filters):
    """Press a named point of ``objects[0]`` with closed fingers: a bell, a key, a switch, the top of a stapler (ours).

    A movable part is pressed along its joint as far as ``amount`` says; a fixed point is pressed with a ``force``.
    """

    objects_needed: ClassVar[int] = 1
    point: str | None = None
    """The point that is pressed; absent: its ``button`` or ``top``, or the head of its main joint."""
    amount: float = Field(default=0.9, gt=0, le=1)
    """Fraction of the joint's remaining travel; two thirds of it count as pressed."""
    force: float = Field(default=1.0, gt=0, le=50)
    """Minimum force along the press on a point without a joint [N]."""
    depth: float = Field(default=0.006, ge=0, le=0.05)
    """How far beyond a surface without a joint the fingertips aim [m]."""
    tilt: float = Field(default=40.0, ge=0, le=80)
    """Largest tilt of the hand from the direction of the press [deg]."""
    pre_distance: float = Field(default=0.06, gt=0, le=0.5)
    """Distance in front of the point at which the straight path begins and ends [m]."""
    hold_steps: int = Field(default=6, ge=0)
    """Frames for which it is held down."""
    pace: float = Field(default=0.5, gt=0, le=1)
    """Fraction of the expert's pace while pressing."""


class ShakeConfig(Tolerances):
    """Shake ``objects[0]``, which is held, back and forth (ours)."""

    objects_needed: ClassVar[int] = 1
    times: int = Field(default=3, ge=1, le=20)
    """Number of strokes back and forth."""
    along: Literal["up", "side", "ahead"] = "up"
    """Direction: up and down, sideways, or away from the robot and back."""
    amplitude: float = Field(default=0.07, ge=0.03, le=0.4)
    """Length of each stroke [m]."""
    lift: float = Field(default=0.08, ge=0, le=0.5)
    """Height of the middle of the shake above the hand's start, if the arm can reach it [m]."""
    pace: float = Field(default=1.0, gt=0, le=1)
    """Fraction of the expert's pace."""


class UseConfig(Tolerances):
    """Bring a point of ``objects[0]``, which is held, onto ``objects[1]``: strike, touch, stamp, dab (ours)."""

    objects_needed: ClassVar[int] = 2
    point: str | None = None
    """Named point of the held object that touches, such as the ``head`` of a hammer; absent: its lowest part."""
    target_point: str | None = None
    """Named point of the target that is touched; absent: the middle of its top, judged anywhere on it."""
    times: int = Field(default=1, ge=1, le=20)
    """How often."""
    force: float = Field(default=0.0, ge=0, le=50)
    """Minimum force between the two [N]; 0 requires only a touch."""
    depth: float = Field(default=0.004, ge=0, le=0.05)
    """How far beyond the contact the hand aims [m]."""
    lift: float = Field(default=0.06, gt=0, le=0.5)
    """How far above the target a stroke begins and ends [m]."""
    hold_steps: int = Field(default=3, ge=0)
    """Frames for which the two stay in contact."""
    pace: float = Field(default=0.5, gt=0, le=1)
    """Fraction of the expert's pace on the way down."""
    tilt: float = Field(default=15.0, ge=0, le=90)
    """Largest tilt of the held object from its current orientation [deg], if the target cannot be reached otherwise."""


class LiftConfig(CarryConfig):
    """Lift ``objects[0]`` with both hands, level, and hold it there (ours)."""

    objects_needed: ClassVar[int] = 1
    hold_steps: int = Field(default=20, ge=0)
    """Frames for which it is held there."""
    tilt: float = Field(default=10.0, gt=0, le=45)
    """Largest angle [deg] between up and the object's own z axis at the end."""


class PushConfig(Tolerances):
    """Push ``objects[0]`` across its support with closed fingers, without lifting it (ours)."""

    objects_needed: ClassVar[int] = 1
    to: tuple[Metres, Metres] | None = None
    """Target of its middle, in the frame of the workplace [m]: to the right of the robot, and away from it."""
    relation: Literal["left_of", "right_of", "in_front_of", "behind"] | None = None
    """Target relative to ``objects[1]`` instead."""
    gap: tuple[Metres, Metres] | None = None
    """With a relation: minimum and maximum gap between the two [m]; absent: 3 to 6 cm, checked up to 10 cm."""
    by: tuple[Metres, Metres] | None = None
    """Displacement instead of a target [m]: to the right of the robot, and away from it."""
    within: float = Field(default=0.03, gt=0, le=1)
    """Tolerance of the final position, along x and y each [m]."""
    strokes: int = Field(default=4, ge=1, le=12)
    """Largest number of pushes, each planned from the current pose of the object."""
    height: float = Field(default=0.4, gt=0, lt=1)
    """Height of the fingertips above the support, as a fraction of the object's height; at most 3 cm."""
    pace: float = Field(default=0.35, gt=0, le=1)
    """Fraction of the expert's pace while pushing."""
    tilt: float = Field(default=45.0, ge=0, le=80)
    """Largest tilt of the hand from straight down [deg]."""
    lift: float = Field(default=0.08, gt=0, le=0.5)
    """Height above the object at which the hand arrives and leaves [m]."""

    @model_validator(mode="after")
    def _goes_somewhere(self) -> "PushConfig":
        given = [key for key in ("to", "relation", "by") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"push needs one of to: [x, y], a relation or by: [x, y]; got {given or 'none'}")
        if self.relation is not None and len(self.objects) < 2:
            raise ValueError(f"push: {self.relation} needs two objects")
        return self


class WipeConfig(Tolerances):
    """Wipe ``objects[1]`` with ``objects[0]``, which is held: press it down and move it back and forth (ours)."""

    objects_needed: ClassVar[int] = 2
    point: str | None = None
    """Named point of the held object that must rub, such as the ``head`` of a brush; absent: any part of it."""
    target_point: str | None = None
    """Named point of the target around which it is wiped; absent: its middle or, for furniture, near the hand."""
    times: int = Field(default=2, ge=1, le=20)
    """Number of strokes back and forth."""
    length: float = Field(default=0.08, gt=0, le=0.6)
    """Length of a stroke [m]; limited by the room on the target."""
    press: float = Field(default=0.004, ge=0, le=0.02)
    """How far the held object is pressed beyond the contact [m]."""
    lift: float = Field(default=0.05, gt=0, le=0.5)
    """Height above the target at which it arrives and leaves [m]."""
    pace: float = Field(default=0.6, gt=0, le=1)
    """Fraction of the expert's pace."""


class AimConfig(Tolerances):
    """Point ``objects[0]``, a held scanner, at ``objects[1]``, which may be in the other hand (ours).

    The scanner has a keypoint ``window`` and an axis ``view``.
    """

    objects_needed: ClassVar[int] = 2
    view_distance: tuple[float, float] = (0.07, 0.12)
    """Lowest and highest distance from the window to the middle of the object [m]."""
    hold_steps: int = Field(default=9, ge=1)
    """Frames that it looks."""
