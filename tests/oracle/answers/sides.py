"""The oracle's answers about sides, spots and headings: from sampled solids and the bodies' frames alone."""

from typing import TYPE_CHECKING

import numpy as np
from tests.oracle.answers.deed import Deed, Verdict

if TYPE_CHECKING:
    from tests.oracle.oracle import Oracle

WAYS = {"left_of": (-1.0, 0.0), "right_of": (1.0, 0.0), "in_front_of": (0.0, -1.0), "behind": (0.0, 1.0)}
"""Side > the way from the other thing to this one. Robots of these tasks look along +y."""
UNSURE = 0.012
"""How far from the gap that was asked for people would still disagree [m]."""
NEAR_SPOT, OFF_SPOT = 0.035, 0.05
"""Up to which distance along an axis a thing is at its spot, and from which it is not [m]."""
FACES, TURNED = 18.0, 25.0
"""Up to which angle a thing faces the way that was asked for, and from which it does not [deg]."""


def is_on_side(oracle: "Oracle", deed: Deed) -> Verdict:
    """On one side: on the same ground, along the way, with the gap that was asked for, and not farther aside."""
    if why := oracle.let_go(deed.obj) or oracle.stays(deed.obj):
        return Verdict(False, why)
    ground = {oracle.owner(body) for body in oracle.touched(deed.obj)}
    below = oracle.carriers(deed.target, deed.obj)
    if not {owner for owner in ground & below if owner.startswith(("table", "floor"))}:
        return Verdict(False, f"it is carried by {sorted(ground)}, the {deed.target} by {sorted(below)}")
    way = np.array(WAYS[deed.kind])
    across = np.array([-way[1], way[0]])
    own, other = oracle.solids(deed.obj).surface[:, :2], oracle.solids(deed.target).surface[:, :2]
    gap = float((own @ way).min() - (other @ way).max())
    low, high = deed.gap
    aside = abs(float(np.ptp([np.mean([(p @ across).min(), (p @ across).max()]) for p in (own, other)])))
    room = max(0.03, 0.5 * float(np.ptp(other @ across)))
    text = f"gap {1000 * gap:.0f} mm, {1000 * aside:.0f} mm aside"
    if gap < low - UNSURE or gap > high + UNSURE or aside > room + UNSURE:
        return Verdict(False, text)
    if gap < low - 0.006 or gap > high + 0.006 or aside > room:
        return Verdict(None, text)
    upright = oracle.standing(deed)
    return Verdict(upright.done, f"{text}; {upright.why}")


def is_at_spot(oracle: "Oracle", deed: Deed) -> Verdict:
    """At a spot: let go, at rest, and the middle of its outline is there."""
    if why := oracle.let_go(deed.obj) or oracle.stays(deed.obj):
        return Verdict(False, why)
    if not any(oracle.owner(body).startswith("table") for body in oracle.touched(deed.obj)):
        return Verdict(False, "it does not lie on the table")
    outline = oracle.solids(deed.obj).surface[:, :2]
    off = np.abs(0.5 * (outline.min(axis=0) + outline.max(axis=0)) - np.array(deed.spot))
    far = float(off.max())
    return Verdict(True if far <= NEAR_SPOT else False if far > OFF_SPOT else None, f"{1000 * far:.0f} mm off")


def faces(oracle: "Oracle", deed: Deed) -> Verdict:
    """Facing: the axis that was named points along the heading, seen from above."""
    R = oracle.later.xmat[oracle.bodies(deed.obj)[0]].reshape(3, 3)
    x, y, z = R @ np.array(deed.axis)
    if abs(z) > np.sin(np.deg2rad(65.0)):
        return Verdict(False, "what faces points up or down")
    turn = np.degrees(np.arctan2(y, x)) - deed.heading
    off = abs((turn + 180.0) % 360.0 - 180.0)
    return Verdict(True if off <= FACES else False if off > TURNED else None, f"turned by {off:.0f} degrees")
