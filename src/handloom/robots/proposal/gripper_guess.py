"""Determine opening direction, stroke and pads of a gripper by moving it."""

from copy import copy
from dataclasses import dataclass
from itertools import combinations, product

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.robots.proposal.arm_chains import ArmChain

SETTLE_STEPS = 1500
# Pads that overlap by more than this have no contact between them [m].
TOUCHING = 0.001
# Pads come at least this close when the gripper is closed, as a fraction of the opening; some never touch.
CLOSED_SHARE = 0.4
# Long fingers hold at this distance from their tips [m].
TIP_MARGIN = 0.015
# Fingers with pads closer to the hand's frame than this do not define the hand's direction [m].
SHORTEST_HAND = 0.02
# Fraction of the longest travel.
NEARLY = 0.7
# Fractions of the range: for measuring the tool frame, and for the opening of a single pivoting jaw.
AJAR, PIVOT_SHARE = 0.25, 0.6
# With more drives it is a hand, not a gripper; all drives then move to the same ends.
MOST_MIRRORED = 4
# Bisections of the stroke, to find where pads that can pass through each other just touch.
HALVINGS = 8
SNAP_COSINE = np.cos(np.radians(10.0))


@dataclass(frozen=True, kw_only=True)
class GripperGuess:
    """Properties of a gripper, found by moving it."""

    drives: tuple[str, ...]
    open_targets: tuple[float, ...]
    closed_targets: tuple[float, ...]
    max_width: float
    """[m]"""
    min_width: float
    """[m]"""
    pad_geoms: tuple[int, int]
    T_hand_tool: Array
    """Tool frame in the hand (4, 4): z approach, y closing; the tool centre lies on its z axis."""
    tcp_offset: float
    """Distance of the tool centre along that z axis [m]."""


def guess_gripper(
    model: mujoco.MjModel, chain: ArmChain, drives: tuple[str, ...], *, pads: tuple[str, str] | None = None
) -> GripperGuess:
    """Drive a gripper to both ends of its stroke and measure it.

    Args:
        model: Model whose drives have position actuators named like their joints.
        chain: The arm.
        drives: Driven joints of the gripper.
        pads: The geoms that hold, if known.
    """
    fingers, pivots = _fingers(model, chain)
    pairs = [(a, b) for first, second in combinations(fingers, 2) for a in first for b in second]
    if pads is not None:
        pairs = [(model.geom(pads[0]).id, model.geom(pads[1]).id)]
    stroke = _best_stroke(model, drives, pairs, wrist=chain.joints[-1] if pivots else None)
    shut, wide, closed, opened = stroke.shut, stroke.wide, stroke.closed, stroke.opened
    # Among the parts that travel nearly furthest, the pads touch first, face to face.
    best = int(np.argmax(np.where(stroke.score >= NEARLY * stroke.score.max(), stroke.score - opened, -np.inf)))
    if stroke.score[best] <= 0:
        raise ConfigError(
            f"the gripper of {chain.hand_body!r} does not close: no two of its geoms meet when "
            f"{', '.join(drives)} is driven from one end of its range to the other"
        )
    held = pairs[best]
    # Fingers that can pass through each other close where they touch; beyond that, a linkage has folded them back.
    if closed[best] < -TOUCHING:
        shut = _touching(model, drives, shut, wide, held)
        left = _gaps(model, settled(model, drives, shut), [held])[0]
        closed[best] = np.clip(left, 0.0, 2.0 * opened[best] / 2**HALVINGS)  # More: the linkage has not settled.
    # Pads of hinged fingers face each other when the gripper is slightly open, not when it is wide open.
    ajar = settled(model, drives, shut + AJAR * (wide - shut))
    T_hand_tool, offset = _tool(
        model,
        ajar,
        settled(model, drives, shut),
        chain,
        held,
        square=pads is not None,
        pivot=drives[0] if pivots else None,
    )
    if pivots:
        wide = shut + PIVOT_SHARE * (wide - shut)
        opened = _gaps(model, settled(model, drives, wide), pairs)
    return GripperGuess(
        drives=drives,
        open_targets=tuple(round(float(v), 5) for v in wide),
        closed_targets=tuple(float(v) for v in shut),
        max_width=round(float(opened[best]), 4),
        min_width=round(max(0.0, float(closed[best])), 4),
        pad_geoms=held,
        T_hand_tool=T_hand_tool,
        tcp_offset=offset,
    )


@dataclass(frozen=True, kw_only=True)
class _Stroke:
    """The two ends of a gripper's motion."""

    shut: Array
    """Drive targets (drives,) [m or rad]."""
    wide: Array
    closed: Array
    """Gaps between all pairs of geoms (n,) [m] when it is closed."""
    opened: Array
    score: Array
    """Score of each pair as pads (n,) [m]."""


def _best_stroke(
    model: mujoco.MjModel, drives: tuple[str, ...], pairs: list[tuple[int, int]], *, wrist: str | None
) -> _Stroke:
    """Return the motion between the ends of the drives' ranges that opens and closes a gripper best.

    Fingers with their own drives may be mirrored, so that one closes at the other end of its range. A single jaw, for
    which the ``wrist`` joint is given, holds with geoms far from the wrist; wide open it may also touch the hand.
    """
    ends = np.array([np.asarray(model.actuator(name).ctrlrange) for name in drives])
    few = len(drives) <= MOST_MIRRORED
    tried = []
    for mirror in product((0, 1), repeat=len(drives) - 1) if few else [(0,) * (len(drives) - 1)]:
        side = np.array([0, *mirror])
        targets = [np.where(side == k, ends[:, 0], ends[:, 1]) for k in (0, 1)]
        states = [settled(model, drives, target) for target in targets]
        gaps = [_gaps(model, data, pairs) for data in states]
        middles = [_centers(model, data) for data in states]
        uneven = _unevenness(middles[0], middles[1], pairs) if wrist is None else None
        for k in (0, 1):
            closed, opened = gaps[k], gaps[1 - k]
            # Pads travel far, equally and facing each other, until they touch; hubs overlap all the time.
            worse = -_reaches(middles[k], pairs, states[k].joint(wrist).xanchor) if uneven is None else uneven
            score = np.where((closed < CLOSED_SHARE * opened) & (opened > 0), opened - closed - worse, -np.inf)
            tried.append(_Stroke(shut=targets[k], wide=targets[1 - k], closed=closed, opened=opened, score=score))
    return max(tried, key=lambda stroke: float(stroke.score.max()))


def _reaches(middles: Array, pairs: list[tuple[int, int]], wrist: Array) -> Array:
    """Return the distances (n,) [m] from the middles of pairs of geoms to the wrist."""
    a, b = np.array(pairs).T
    return np.linalg.norm((middles[a] + middles[b]) / 2 - wrist, axis=1)


def _unevenness(first: Array, second: Array, pairs: list[tuple[int, int]]) -> Array:
    """Return the differences in travel of the geoms of each pair, and their offsets from facing each other (n,) [m].

    Args:
        first: Middles of all geoms (ngeom, 3) at one end of the stroke [m].
        second: The same at the other end.
        pairs: Pairs of geoms.
    """
    a, b = np.array(pairs).T
    travel = second - first
    lengths = np.linalg.norm(travel, axis=1)
    apart, closing = first[b] - first[a], travel[b] - travel[a]
    closing = closing / np.maximum(np.linalg.norm(closing, axis=1, keepdims=True), 1e-9)
    aside = apart - closing * np.sum(apart * closing, axis=1, keepdims=True)
    return np.abs(lengths[a] - lengths[b]) + np.linalg.norm(aside, axis=1)


def _touching(model: mujoco.MjModel, drives: tuple[str, ...], shut: Array, wide: Array, pads: tuple[int, int]) -> Array:
    """Return the drive targets at which pads that can pass through each other just touch."""
    inside, outside = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        touches = _gaps(model, settled(model, drives, shut + middle * (wide - shut)), [pads])[0] < 0
        inside, outside = (middle, outside) if touches else (inside, middle)
    return np.round(shut + outside * (wide - shut), 5)


def linkage_overlaps(model: mujoco.MjModel, chain: ArmChain, drives: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the pairs of bodies of a gripper that overlap while it is open or half closed: neighbours in a linkage.

    Contacts are disabled, so that the joints alone determine the motion of the parts.
    """
    free = copy(model)
    free.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    fingers, pivots = _fingers(free, chain)
    pairs = [
        (a, b) for first, second in combinations([*fingers, branches(free, chain)[1]], 2) for a in first for b in second
    ]
    pairs += [(a, b) for finger in fingers for a, b in combinations(finger, 2)]
    stroke = _best_stroke(free, drives, pairs, wrist=chain.joints[-1] if pivots else None)
    found = set()
    for share in (0.5, 1.0):
        gaps = _gaps(free, settled(free, drives, stroke.shut + share * (stroke.wide - stroke.shut)), pairs)
        for (a, b), gap in zip(pairs, gaps, strict=True):
            bodies = sorted((int(free.geom_bodyid[a]), int(free.geom_bodyid[b])))
            if gap < 0 and bodies[0] != bodies[1]:
                found.add((free.body(bodies[0]).name, free.body(bodies[1]).name))
    return sorted(found)


def settled(model: mujoco.MjModel, drives: tuple[str, ...], targets: Array) -> mujoco.MjData:
    """Return the state in which a gripper settles for the given drive targets."""
    data = mujoco.MjData(model)
    for i in range(model.nu):
        data.ctrl[i] = data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]
    for name, target in zip(drives, targets, strict=True):
        data.actuator(name).ctrl = target
    mujoco.mj_step(model, data, SETTLE_STEPS)
    mujoco.mj_forward(model, data)
    return data


def single_jaw(model: mujoco.MjModel, chain: ArmChain) -> bool:
    """Return whether a gripper has a single moving part, which closes against the hand."""
    return len(branches(model, chain)[0]) == 1


def _fingers(model: mujoco.MjModel, chain: ArmChain) -> tuple[list[list[int]], bool]:
    """Return the collision geoms of each moving part, and whether there is only one that closes on the hand."""
    fingers, palm = branches(model, chain)
    if len(fingers) >= 2:
        return fingers, False
    if len(fingers) == 1 and palm:
        return [palm, fingers[0]], True
    raise ConfigError(f"the gripper of {chain.hand_body!r} does not have two parts with collision geoms")


def branches(model: mujoco.MjModel, chain: ArmChain) -> tuple[list[list[int]], list[int]]:
    """Return the collision geoms of each branch of joints at a hand, and those of the hand itself."""
    hand = model.body(chain.hand_body).id
    groups: dict[int, list[int]] = {}
    for g in range(model.ngeom):
        if not (model.geom_contype[g] or model.geom_conaffinity[g]):
            continue
        branch = _branch(model, int(model.geom_bodyid[g]), hand)
        if branch is not None:
            groups.setdefault(branch, []).append(g)
    palm = groups.pop(hand, [])
    return list(groups.values()), palm


def _branch(model: mujoco.MjModel, body: int, hand: int) -> int | None:
    """Return the first body with joints between the hand and a body; the hand if there is none; None outside it."""
    first = hand
    while body > 0:
        if body == hand:
            return first
        if model.body_jntnum[body] > 0:
            first = body
        body = int(model.body_parentid[body])
    return None


def _gaps(model: mujoco.MjModel, data: mujoco.MjData, pairs: list[tuple[int, int]]) -> Array:
    return np.array([mujoco.mj_geomDistance(model, data, a, b, 1.0, None) for a, b in pairs])


def _tool(
    model: mujoco.MjModel,
    ajar: mujoco.MjData,
    closed: mujoco.MjData,
    chain: ArmChain,
    pads: tuple[int, int],
    *,
    square: bool,
    pivot: str | None,
) -> tuple[Array, float]:
    """Return the tool frame in the hand and the distance of the tool centre along its z axis.

    Pads that are ``square`` to the line between their middles define the closing axis; other pads define it roughly,
    and a jaw that turns about a ``pivot`` closes across that axis, in the middle of its own width.
    """
    first, second = _in_hand(model, ajar, chain, pads)
    middle, closing = (first + second) / 2, second - first
    if pivot is not None and not square:
        axis = ajar.body(chain.hand_body).xmat.reshape(3, 3).T @ ajar.joint(pivot).xaxis
        closing -= axis * (axis @ closing)
        middle += axis * (_middle_along(model, ajar, chain, pads[1], axis) - axis @ middle)
    closing /= np.linalg.norm(closing)
    closing = closing if square else _snapped(closing)
    origin = np.zeros(3)
    approach = middle - closing * (middle @ closing)
    if np.linalg.norm(approach) < SHORTEST_HAND:  # The hand's frame is at the fingers: they point away from the wrist.
        wrist = ajar.joint(chain.joints[-1]).xanchor - ajar.body(chain.hand_body).xpos
        origin = ajar.body(chain.hand_body).xmat.reshape(3, 3).T @ wrist
        approach = (middle - origin) - closing * ((middle - origin) @ closing)
    approach = _snapped(approach / np.linalg.norm(approach))
    if square:
        approach -= closing * (closing @ approach)
        approach /= np.linalg.norm(approach)
    else:
        closing -= approach * (approach @ closing)
        closing /= np.linalg.norm(closing)
    tip = max(_reach(model, closed, chain, pad, approach) for pad in pads) - float(origin @ approach)
    offset = max(float((middle - origin) @ approach), tip - TIP_MARGIN)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([np.cross(closing, approach), closing, approach])
    T[:3, 3] = middle - approach * ((middle - origin) @ approach)
    return T, round(offset, 5)


def _middle_along(model: mujoco.MjModel, data: mujoco.MjData, chain: ArmChain, geom: int, axis: Array) -> float:
    """Return the position of the middle of a geom's body along an axis of the hand [m]."""
    body = model.geom_bodyid[geom]
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body]
    ends = [_reach(model, data, chain, g, sign * axis) * sign for g in geoms for sign in (-1.0, 1.0)]
    return (min(ends) + max(ends)) / 2


def _in_hand(model: mujoco.MjModel, data: mujoco.MjData, chain: ArmChain, pads: tuple[int, int]) -> list[Array]:
    hand = data.body(chain.hand_body)
    R = hand.xmat.reshape(3, 3)
    return [R.T @ (_center(model, data, pad) - hand.xpos) for pad in pads]


def _center(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    return _centers(model, data)[geom]


def _centers(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return the middles of all geoms (ngeom, 3) in the world [m]."""
    return data.geom_xpos + np.einsum("gij,gj->gi", data.geom_xmat.reshape(-1, 3, 3), model.geom_aabb[:, :3])


def _reach(model: mujoco.MjModel, data: mujoco.MjData, chain: ArmChain, geom: int, approach_hand: Array) -> float:
    """Return the extent of a geom's bounding box along the approach axis, from the hand [m]."""
    hand = data.body(chain.hand_body)
    direction = hand.xmat.reshape(3, 3) @ approach_hand
    spread = np.abs(direction @ data.geom_xmat[geom].reshape(3, 3)) @ model.geom_aabb[geom, 3:]
    return float((_center(model, data, geom) - hand.xpos) @ direction + spread)


def _snapped(direction: Array) -> Array:
    """Return the nearest hand axis if it is within 10 degrees, else the direction itself."""
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) < SNAP_COSINE:
        return direction
    return np.sign(direction[k]) * np.eye(3)[k]
