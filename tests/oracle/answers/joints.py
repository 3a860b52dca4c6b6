"""The oracle's answers about doors, drawers, lids and knobs: from joint positions, now and four seconds later."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from tests.oracle.answers.deed import Deed, Verdict

if TYPE_CHECKING:
    from tests.oracle.oracle import Oracle


def _joint(oracle: "Oracle", deed: Deed) -> tuple[float, float, float]:
    """Return the shares of a joint's range at the start, at the end, and four seconds later."""
    name = f"{deed.obj}/{deed.part}_joint"
    joint = oracle.model.joint(name).id
    low, high = oracle.model.jnt_range[joint]
    at = oracle.model.jnt_qposadr[joint]
    q = (oracle.start.get(name, low), float(oracle.data.qpos[at]), float(oracle.later.qpos[at]))
    return tuple((value - low) / (high - low) for value in q)  # pyright: ignore[reportReturnType]


def is_open(oracle: "Oracle", deed: Deed) -> Verdict:
    """Open: by most of the share that was asked for, and it stays so."""
    _, now, later = _joint(oracle, deed)
    share = min(now, later) / deed.amount
    return Verdict(True if share >= 0.75 else False if share < 0.5 else None, f"open {now:.0%}, then {later:.0%}")


def is_closed(oracle: "Oracle", deed: Deed) -> Verdict:
    """Closed: within a twentieth of the range, and it stays so."""
    _, now, later = _joint(oracle, deed)
    gap = max(now, later)
    return Verdict(True if gap <= 0.05 else False if gap > 0.1 else None, f"open {now:.0%}, then {later:.0%}")


def is_turned(oracle: "Oracle", deed: Deed) -> Verdict:
    """Turned: by most of the share that was asked for, either way."""
    start, now, later = _joint(oracle, deed)
    if deed.by:
        return _is_turned_by(oracle, deed)
    share = min(abs(now - start), abs(later - start)) / deed.amount
    return Verdict(True if share >= 0.75 else False if share < 0.5 else None, f"turned {share:.0%} of the way")


def _is_turned_by(oracle: "Oracle", deed: Deed) -> Verdict:
    """Turned by an angle: by most of it, and by no more than about a third above."""
    name = f"{deed.obj}/{deed.part}_joint"
    at = oracle.model.jnt_qposadr[oracle.model.joint(name).id]
    turned = [
        abs(np.degrees(float(data.qpos[at]) - oracle.start.get(name, 0.0))) for data in (oracle.data, oracle.later)
    ]
    text = f"turned {turned[0]:.0f}, then {turned[1]:.0f} of {deed.by:.0f} degrees"
    if min(turned) >= 0.8 * deed.by and max(turned) <= max(1.2 * deed.by, deed.by + 12.0):
        return Verdict(True, text)
    wrong = min(turned) < 0.65 * deed.by or max(turned) > max(1.35 * deed.by, deed.by + 20.0)
    return Verdict(False if wrong else None, text)


def left_alone(oracle: "Oracle", deeds: Iterable[Deed]) -> Verdict:
    """Return whether the parts beside those that deeds open, close or turn are as they were."""
    deeds = [deed for deed in deeds if deed.kind in ("open", "close", "turn")]
    meant = {f"{deed.obj}/{deed.part}_joint" for deed in deeds}
    tied = {int(j) for j in (*oracle.model.eq_obj1id, *oracle.model.eq_obj2id)}
    answer = Verdict(True)
    for joint in range(oracle.model.njnt):
        name, kind = oracle.model.joint(joint).name, oracle.model.jnt_type[joint]
        turns = kind == mujoco.mjtJoint.mjJNT_HINGE
        ours = name.partition("/")[0] in {deed.obj for deed in deeds} and name not in meant and joint not in tied
        if not ours or not (turns or kind == mujoco.mjtJoint.mjJNT_SLIDE) or name not in oracle.start:
            continue
        moved = abs(float(oracle.data.qpos[oracle.model.jnt_qposadr[joint]]) - oracle.start[name])
        share = moved / float(np.ptp(oracle.model.jnt_range[joint]))
        knob = turns and "knob" in name.partition("/")[2]
        if share > 0.35 or (knob and moved > np.radians(20.0)):
            return Verdict(False, f"{name} was moved by {share:.0%} of its range")
        if share > 0.2 or (knob and moved > np.radians(10.0)):
            answer = Verdict(None, f"{name} was nudged by {share:.0%} of its range")
    return answer
