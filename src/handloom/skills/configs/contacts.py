"""Configs of the skills that work by contact of the fingers or of a held thing."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from handloom.config import Metres
from handloom.skills.configs.parts import Filters, Tolerances
from handloom.skills.configs.places import CarryConfig

Side = Literal["left_of", "right_of", "in_front_of", "behind"]


class PressConfig(Tolerances, Filters):
    """Press a named point of ``objects[0]`` with closed fingers: a bell, a key, a switch, the top of a stapler (ours).

    What moves is pressed along its joint as far as ``amount`` says; what does not move, with a ``force``.
    """

    objects_needed: ClassVar[int] = 1
    point: str | None = None
    """The point that is pressed; absent: its ``button`` or ``top``, or the head of its main joint."""
    amount: float = Field(default=0.9, gt=0, le=1)
    """Fraction of the way that is left to the joint; two thirds of it count as pressed."""
    force: float = Field(default=1.0, gt=0, le=50)
    """Least force along the press on what has no joint [N]."""
    depth: float = Field(default=0.006, ge=0, le=0.05)
    """How far beyond the surface of what has no joint the fingertips aim [m]."""
    tilt: float = Field(default=40.0, ge=0, le=80)
    """How far the hand may lean away from the way of the press [deg]."""
    pre_distance: float = Field(default=0.06, gt=0, le=0.5)
    """How far before the point the straight way begins and ends [m]."""
    hold_steps: int = Field(default=6, ge=0)
    """Frames that it is held down."""
    pace: float = Field(default=0.5, gt=0, le=1)
    """Fraction of the expert's pace while it presses."""


class ShakeConfig(Tolerances):
    """Shake ``objects[0]``, which is held, back and forth (ours)."""

    objects_needed: ClassVar[int] = 1
    times: int = Field(default=3, ge=1, le=20)
    """How often it is moved back and forth."""
    along: Literal["up", "side", "ahead"] = "up"
    """Along what: up and down, to the side or away from the robot and back."""
    amplitude: float = Field(default=0.07, ge=0.03, le=0.4)
    """How far each stroke goes [m]."""
    lift: float = Field(default=0.08, ge=0, le=0.5)
    """How far above where the hand is the middle of the shake is, if the arm gets there [m]."""
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
    """Least force between the two [N]; 0 asks for a touch."""
    depth: float = Field(default=0.004, ge=0, le=0.05)
    """How far beyond the contact the hand aims [m]."""
    lift: float = Field(default=0.06, gt=0, le=0.5)
    """How far above the target a stroke begins and ends [m]."""
    hold_steps: int = Field(default=3, ge=0)
    """Frames that the two stay in touch."""
    pace: float = Field(default=0.5, gt=0, le=1)
    """Fraction of the expert's pace on the way down."""
    tilt: float = Field(default=15.0, ge=0, le=90)
    """How far the held object may lean from how it is held [deg], where it does not reach otherwise."""


class LiftConfig(CarryConfig):
    """Lift ``objects[0]`` with both hands, level, and hold it there (ours)."""

    objects_needed: ClassVar[int] = 1
    points: tuple[str, ...] = Field(default=(), max_length=2)
    """Named points at which the hands take it, such as ``[left_handle, right_handle]``; absent: opposite sides."""
    hold_steps: int = Field(default=20, ge=0)
    """Frames that it is held there."""
    tilt: float = Field(default=10.0, gt=0, le=45)
    """Largest angle [deg] between up and the object's own z axis at the end."""


class PushConfig(Tolerances):
    """Push ``objects[0]`` over what it stands on with closed fingers, without lifting it (ours)."""

    objects_needed: ClassVar[int] = 1
    to: tuple[Metres, Metres] | None = None
    """Where its middle goes, in the frame of the work place [m]: to the right of the robot, and away from it."""
    relation: Literal["left_of", "right_of", "in_front_of", "behind"] | None = None
    """Where it goes instead, seen from ``objects[1]``."""
    gap: tuple[Metres, Metres] | None = None
    """With a relation: least and largest gap between the two [m]; absent: 3 to 6 cm, judged to 10 cm."""
    by: tuple[Metres, Metres] | None = None
    """How far it goes instead [m]: to the right of the robot, and away from it."""
    within: float = Field(default=0.03, gt=0, le=1)
    """How near to the spot it must come, along x and y each [m]."""
    strokes: int = Field(default=4, ge=1, le=12)
    """How often at most the hand pushes, each time after looking where the object is."""
    height: float = Field(default=0.4, gt=0, lt=1)
    """How high above the ground the fingertips are, as a fraction of the object's height; at most 3 cm."""
    pace: float = Field(default=0.35, gt=0, le=1)
    """Fraction of the expert's pace while it pushes."""
    tilt: float = Field(default=45.0, ge=0, le=80)
    """How far the hand may lean from straight down [deg]."""
    lift: float = Field(default=0.08, gt=0, le=0.5)
    """How far above the object the hand comes and goes [m]."""

    @model_validator(mode="after")
    def _goes_somewhere(self) -> "PushConfig":
        given = [key for key in ("to", "relation", "by") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"push says where with one of to: [x, y], a relation or by: [x, y]; got {given or 'none'}")
        if self.relation is not None and len(self.objects) < 2:
            raise ValueError(f"push: {self.relation} of what? give two objects")
        return self


class WipeConfig(Tolerances):
    """Wipe ``objects[1]`` with ``objects[0]``, which is held: press it on and move it back and forth (ours)."""

    objects_needed: ClassVar[int] = 2
    point: str | None = None
    """Named point of the held object that must rub, such as the ``head`` of a brush; absent: any part of it."""
    target_point: str | None = None
    """Named point of the target around which it is wiped; absent: its middle, or on furniture near the hand."""
    times: int = Field(default=2, ge=1, le=20)
    """How often back and forth."""
    length: float = Field(default=0.08, gt=0, le=0.6)
    """Length of a stroke [m]; no longer than the target leaves room for."""
    press: float = Field(default=0.004, ge=0, le=0.02)
    """How far beyond the contact the held object is pressed [m]."""
    lift: float = Field(default=0.05, gt=0, le=0.5)
    """How far above the target it comes and goes [m]."""
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
