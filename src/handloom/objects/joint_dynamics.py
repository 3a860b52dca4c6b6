"""Dynamics of the joints of doors, drawers, lids and knobs, per kind: friction, springs, catches, end stops."""

from dataclasses import dataclass
from typing import Final, TypedDict

import numpy as np

from handloom.objects.choices import Choices
from handloom.objects.parts import Link, Point, point
from handloom.spatial import matrix_from_rotvec

Range = tuple[float, float]


class Feel(TypedDict, total=False):
    """Resistance of a joint to the hand that moves it; keys of a ``Link``."""

    frictionloss: float
    """Dry friction [N or N m], which a hand must overcome, and which holds the joint where it is left."""
    damping: float
    """Viscous friction [N s/m or N m s/rad]: keeps a push from slamming the joint into its stop."""
    stiffness: float
    """Spring towards closed [N/m or N m/rad]."""
    latch: float
    """Pull at the handle [N] that overcomes the catch at the closed end."""
    stop: float
    """Time in which an end stop catches the joint [s]: rubber is slower than metal."""


@dataclass(frozen=True)
class Kind:
    """Ranges from which the dynamics of one kind of joint are drawn; None means absent."""

    friction: Range
    """Dry friction [N or N m]."""
    damping: Range
    """Viscous friction [N s/m or N m s/rad]."""
    latch: Range | None = None
    """Pull at the handle that overcomes the catch [N]."""
    spring: Range | None = None
    """Spring towards closed [N/m or N m/rad]."""
    stop: float = 0.02
    """Time constant of the end stops [s]."""


RANGES: Final[dict[str, Kind]] = {
    "drawer": Kind((1.0, 3.0), (4.0, 10.0), latch=(1.0, 3.0)),
    "roller drawer": Kind((0.6, 1.6), (2.0, 5.0), latch=(1.0, 2.5)),
    "sliding door": Kind((1.0, 2.5), (4.0, 10.0)),
    "door": Kind((0.08, 0.25), (0.20, 0.50), latch=(1.0, 3.0)),
    "appliance door": Kind((0.10, 0.30), (0.20, 0.50), latch=(2.0, 5.0)),
    "fridge door": Kind((0.10, 0.25), (0.30, 0.60), latch=(3.0, 6.0), stop=0.03),
    "folding door": Kind((0.25, 0.45), (0.40, 0.80)),
    "safe door": Kind((0.15, 0.40), (0.40, 0.90), stop=0.01),
    "box lid": Kind((0.06, 0.12), (0.02, 0.06)),
    "clipped lid": Kind((0.08, 0.16), (0.03, 0.08), latch=(1.5, 3.0)),
    "sprung lid": Kind((0.005, 0.015), (0.02, 0.04), spring=(0.05, 0.15)),
    "pot lid": Kind((0.01, 0.03), (0.02, 0.05)),
    "laptop": Kind((0.25, 0.40), (0.05, 0.12), latch=(0.3, 0.8)),
    "tap": Kind((0.05, 0.15), (0.01, 0.04)),
    "valve": Kind((0.10, 0.30), (0.02, 0.06), stop=0.01),
    "knob": Kind((0.03, 0.08), (0.005, 0.02)),
}
"""A drawer needs 1 to 3 N, one on roller slides half of that, a cupboard door 0.1 to 0.3 N m at the hinge and 1 to 3 N
at its roller catch; the magnets around a fridge's door need more; a laptop's hinge carries its screen."""


def joint_dynamics(c: Choices, kind: str) -> Feel:
    """Choose the dynamics of a joint. Drawn after an object's shape, so that shapes stay unchanged."""
    ranges = RANGES[kind]
    feel: Feel = {
        "frictionloss": c.number("joint_friction", *ranges.friction),
        "damping": c.number("joint_damping", *ranges.damping),
        "stop": ranges.stop,
    }
    if ranges.spring is not None:
        feel["stiffness"] = c.number("joint_spring", *ranges.spring)
    if ranges.latch is not None:
        feel["latch"] = c.number("joint_latch", *ranges.latch)
    return feel


CATCH = 0.004
"""Travel of a catch's moving nose from closed to the ridge, and distance between the noses there [m]."""
PRELOAD = 1.6
"""Disengagement point of the noses beyond the ridge, in units of ``CATCH``; before it they press the joint shut."""
_HOLD = 0.3825
"""Largest force along the travel in units of stiffness times ``CATCH``: max of (sqrt(1 + P^2) - sqrt(1 + s^2)) s /
sqrt(1 + s^2) over 0 < s < 1, with P = ``PRELOAD``."""


@dataclass(frozen=True, kw_only=True)
class Catch:
    """A roller catch: a spring presses two noses apart, one on each body, while the joint carries one past the other.

    Closed, the moving nose lies before the ridge and is pressed towards the stop; a pull of ``Link.latch`` carries it
    over, and from there it is pushed away until the noses separate; on the way back it snaps shut. It is only a passive
    spring between two points, so that a replay is identical.
    """

    on_link: Point
    """Nose on the moving body, in its frame [m]."""
    on_parent: Point
    """Nose on its parent, in that frame [m]."""
    reach: float
    """Distance of the noses below which the spring presses them apart [m]."""
    stiffness: float
    """Of the spring [N/m]."""


def catch_of(link: Link) -> Catch | None:
    """Return the catch of a link in the library, at its head, or None."""
    if link.latch <= 0.0:
        return None
    axis, head, anchor = (np.asarray(v, float) for v in (link.axis, link.head, link.anchor))
    if link.kind == "slide":
        aside = np.asarray(link.contact_axis)
        ridge = head + CATCH * axis
    else:
        aside, arm = axis, head - anchor
        radius = float(np.linalg.norm(arm - axis * (axis @ arm)))
        ridge = anchor + matrix_from_rotvec(2.0 * np.arcsin(0.5 * CATCH / radius) * axis) @ arm
    return Catch(
        on_link=link.head,
        on_parent=link.in_parent(point(ridge + CATCH * aside)),
        reach=CATCH * float(np.hypot(1.0, PRELOAD)),
        stiffness=link.latch / (_HOLD * CATCH),
    )
