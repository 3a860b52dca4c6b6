"""Find out how a gripper works by moving it: which way it opens, how far, where it holds."""

from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.robots.proposal.arm_chains import ArmChain

SETTLE_STEPS = 1500
# Pads come at least this close when the gripper is closed [m].
CLOSED_GAP = 0.005
# Long fingers hold near their tips: this far from them [m].
TIP_MARGIN = 0.015
# Shares of the range: where the tool frame is measured, and how far a single pivoting jaw opens.
AJAR, PIVOT_SHARE = 0.25, 0.6
SNAP_COSINE = np.cos(np.radians(10.0))


@dataclass(frozen=True, kw_only=True)
class GripperGuess:
    """How a gripper works, found by moving it."""

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


def guess_gripper(model: mujoco.MjModel, chain: ArmChain, drives: tuple[str, ...]) -> GripperGuess:
    """Drive a gripper to both ends and measure what happens.

    Args:
        model: Model whose drives have position actuators named like their joints.
        chain: The arm.
        drives: Driven joints of the gripper.
    """
    ends = np.array([model.joint(name).range for name in drives])
    groups, pivots = _finger_groups(model, chain)
    states = [_settled(model, drives, ends[:, k]) for k in (0, 1)]
    gaps = [_gaps(model, data, groups) for data in states]
    open_end = 0 if np.max(gaps[0] - gaps[1]) > np.max(gaps[1] - gaps[0]) else 1
    opened, closed = gaps[open_end], gaps[1 - open_end]
    # Pads travel far and then just touch; parts behind them stay apart, hubs overlap all the time.
    score = np.where(closed < CLOSED_GAP, opened - closed - 3.0 * np.abs(closed), -np.inf)
    a, b = np.unravel_index(int(np.argmax(score)), score.shape)
    if score[a, b] <= 0:
        raise ConfigError(f"the gripper of {chain.hand_body!r} does not close: no pair of its geoms comes together")
    pads = (groups[0][a], groups[1][b])
    shut, wide = ends[:, 1 - open_end], ends[:, open_end]
    # Pads of hinged fingers face each other when the gripper is a little open, not when it is wide open.
    ajar = _settled(model, drives, shut + AJAR * (wide - shut))
    T_hand_tool, offset = _tool(model, ajar, states[1 - open_end], chain, pads)
    if pivots:
        wide = shut + PIVOT_SHARE * (wide - shut)
        opened = _gaps(model, _settled(model, drives, wide), groups)
    return GripperGuess(
        drives=drives,
        open_targets=tuple(round(float(v), 5) for v in wide),
        closed_targets=tuple(float(v) for v in shut),
        max_width=round(float(opened[a, b]), 4),
        min_width=round(max(0.0, float(closed[a, b])), 4),
        pad_geoms=pads,
        T_hand_tool=T_hand_tool,
        tcp_offset=offset,
    )


def _settled(model: mujoco.MjModel, drives: tuple[str, ...], targets: Array) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for i in range(model.nu):
        data.ctrl[i] = data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]
    for name, target in zip(drives, targets, strict=True):
        data.actuator(name).ctrl = target
    mujoco.mj_step(model, data, SETTLE_STEPS)
    mujoco.mj_forward(model, data)
    return data


def _finger_groups(model: mujoco.MjModel, chain: ArmChain) -> tuple[tuple[list[int], list[int]], bool]:
    """Return the collision geoms of the two fingers, and whether only one moves, so that the hand is the other."""
    hand = model.body(chain.hand_body).id
    groups: dict[int, list[int]] = {}
    for g in range(model.ngeom):
        if not (model.geom_contype[g] or model.geom_conaffinity[g]):
            continue
        branch = _branch(model, int(model.geom_bodyid[g]), hand)
        if branch is not None:
            groups.setdefault(branch, []).append(g)
    palm = groups.pop(hand, [])
    fingers = sorted(groups.values(), key=len, reverse=True)
    if len(fingers) >= 2:
        return (fingers[0], fingers[1]), False
    if len(fingers) == 1 and palm:
        return (palm, fingers[0]), True
    raise ConfigError(f"the gripper of {chain.hand_body!r} has no two parts with collision geoms")


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


def _gaps(model: mujoco.MjModel, data: mujoco.MjData, groups: tuple[list[int], list[int]]) -> Array:
    return np.array([[mujoco.mj_geomDistance(model, data, a, b, 1.0, None) for b in groups[1]] for a in groups[0]])


def _tool(
    model: mujoco.MjModel, ajar: mujoco.MjData, closed: mujoco.MjData, chain: ArmChain, pads: tuple[int, int]
) -> tuple[Array, float]:
    """Return the tool frame in the hand and the distance of the tool centre along its z axis."""
    first, second = _in_hand(model, ajar, chain, pads)
    middle, closing = (first + second) / 2, second - first
    closing = _snapped(closing / np.linalg.norm(closing))
    approach = middle - closing * (middle @ closing)
    approach = _snapped(approach / np.linalg.norm(approach))
    closing -= approach * (approach @ closing)
    closing /= np.linalg.norm(closing)
    tip = max(_reach(model, closed, chain, pad, approach) for pad in pads)
    offset = max(float(middle @ approach), tip - TIP_MARGIN)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([np.cross(closing, approach), closing, approach])
    T[:3, 3] = middle - approach * (middle @ approach)
    return T, round(offset, 5)


def _in_hand(model: mujoco.MjModel, data: mujoco.MjData, chain: ArmChain, pads: tuple[int, int]) -> list[Array]:
    hand = data.body(chain.hand_body)
    R = hand.xmat.reshape(3, 3)
    return [R.T @ (_center(model, data, pad) - hand.xpos) for pad in pads]


def _center(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    return data.geom_xpos[geom] + data.geom_xmat[geom].reshape(3, 3) @ model.geom_aabb[geom, :3]


def _reach(model: mujoco.MjModel, data: mujoco.MjData, chain: ArmChain, geom: int, approach_hand: Array) -> float:
    """Return how far a geom's bounding box reaches along the approach axis, from the hand [m]."""
    hand = data.body(chain.hand_body)
    direction = hand.xmat.reshape(3, 3) @ approach_hand
    spread = np.abs(direction @ data.geom_xmat[geom].reshape(3, 3)) @ model.geom_aabb[geom, 3:]
    return float((_center(model, data, geom) - hand.xpos) @ direction + spread)


def _snapped(direction: Array) -> Array:
    """Return the nearest hand axis where it is within 10 degrees, else the direction itself."""
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) < SNAP_COSINE:
        return direction
    return np.sign(direction[k]) * np.eye(3)[k]
