"""Configs of the skills that work by contact of the fingers or of a held thing."""

from typing import ClassVar, Literal

from pydantic import Field

from handloom.skills.configs.parts import Filters, Tolerances

Side = Literal["left_of", "right_of", "in_front_of", "behind"]


class PressConfig(Tolerances, Filters):
    """Press a named point of ``objects[0]`` with closed fingers: a bell, a key, a switch, the top of a stapler (ours).

    What moves is pressed along its joint as far as ``amount`` says; what does not move, with a ``force``.
    """

    objects_needed: ClassVar[int] = 1
    point: str | None = None
    """The point that is pressed; absent: its ``button`` or ``top``, or the head of its main joint."""
    amount: float = Field(default=0.9, gt=0, le=1)
    """Share of the way that is left to the joint; two thirds of it count as pressed."""
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
    """Share of the expert's pace while it presses."""
