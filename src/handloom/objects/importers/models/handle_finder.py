"""Grasp and push points of a moving part, found from its shape and its joint."""

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.objects.geometry import vertices_of

OUT = 0.008
"""A piece that protrudes from the largest one by this much is a handle [m]."""
WIDEST = 0.09
"""Largest width of a piece that fingers can hold [m]."""
THICKEST = 0.06
"""Largest thickness of an edge that fingers can hold [m]."""
DEPTH = 0.010
"""Distance of the grasp of a rim from its edge [m]."""
INSET = 0.022
"""Distance of the push point from the free edge of a surface [m]."""
ASIDE = 0.02
"""Distance of the push point from a handle [m]."""
CENTRED = 0.15
"""A hinged part whose centre is nearer to its axis than this fraction of its size is a knob."""
ELONGATED = 1.3
"""Smallest ratio of sides for which a handle has a direction."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HandHold:
    """Points and directions of a moving part, in its own frame."""

    what: Literal["handle", "knob", "rim", "edge"]
    """Kind of the result; ``edge`` is the outermost point of a part without anything to grasp."""
    head: Array
    """Middle of the grasped piece (3,) [m]."""
    contact_axis: Array
    """Unit vector (3,) along that piece."""
    normal: Array
    """Unit vector (3,) in the opening direction of the part, or out of the face of a knob."""
    grip: Array | None = None
    """Unit vector (3,) towards the approaching hand; None: the normal."""
    push: Array | None = None
    """Point of the surface (3,) to push for closing [m]; None: there is none."""


def find_hold(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> HandHold:
    """Return the grasp and push points of the moving part of a hinge or slide joint.

    The largest solid piece is the panel. A piece that protrudes from it in the opening direction is its handle, the
    outermost first; without one, the rim of the panel is grasped from beyond its free edge, opposite the hinge, or at
    the top of a sliding part.

    Args:
        model: The object.
        data: Its kinematics, joints at zero.
        joint: Index of the joint.
    """
    body = int(model.jnt_bodyid[joint])
    pieces = _pieces(model, data, body)
    cloud = np.concatenate(pieces)
    axis, anchor = np.array(model.jnt_axis[joint], float), np.array(model.jnt_pos[joint], float)
    low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
    sign = 1.0 if abs(high) >= abs(low) else -1.0
    hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
    centre = (cloud.min(axis=0) + cloud.max(axis=0)) / 2.0
    arm = _across(centre - anchor, axis)
    if hinge and np.linalg.norm(arm) < CENTRED * np.ptp(cloud, axis=0).max():
        return _knob(pieces, axis * _away_from_parent(model, data, body, centre, axis), anchor)
    panel = max(pieces, key=lambda p: float(np.prod(np.ptp(p, axis=0))))
    normal = _facing(panel, sign * _cross(axis, _unit(arm)), axis) if hinge else sign * axis
    up = data.xmat[body].reshape(3, 3).T @ np.array([0.0, 0.0, 1.0])
    free = _unit(_across(arm, normal)) if hinge else _unit(_across(up, normal), fallback=_any_across(normal))
    along = _cross(normal, free)
    front = float((panel @ normal).max())
    others = [p for p in pieces if p is not panel and (p @ normal).max() > front + OUT]
    push = _pushed(panel, others, normal, free, along, hinge=hinge)
    for piece in sorted(others, key=lambda p: -float(_middle(p, normal))):
        line = _direction(piece, normal, along)
        if np.ptp(piece @ _cross(normal, line)) <= WIDEST:
            head = _centre(piece, normal, line)
            return HandHold(what="handle", head=head, contact_axis=line, normal=normal, push=push)
    edge = float((panel @ free).max())
    middle, level = _middle(panel, along), _middle(panel, normal)
    if np.ptp(panel @ normal) <= THICKEST:
        head = (edge - DEPTH) * free + middle * along + level * normal
        return HandHold(what="rim", head=head, contact_axis=along, normal=normal, grip=free, push=push)
    return HandHold(
        what="edge", head=edge * free + middle * along + front * normal, contact_axis=along, normal=normal, push=push
    )


def _facing(panel: Array, usual: Array, axis: Array) -> Array:
    """Return the unit vector (3,) out of a hinged panel's face, within 45 degrees of its usual opening direction.

    The panel is thinnest in that direction: a hinge lies beside the plane of its door.
    """
    side = _cross(axis, usual)

    def way(angle: float) -> Array:
        return np.cos(angle) * usual + np.sin(angle) * side

    def thickness(angle: float) -> float:
        return float(np.ptp(panel @ way(angle)))

    coarse = np.linspace(-np.pi / 4.0, np.pi / 4.0, 91)
    best = float(min(coarse, key=thickness))
    if thickness(best) > 0.5 * float(np.ptp(panel @ _cross(way(best), axis))):
        return usual
    step = float(coarse[1] - coarse[0])
    for _ in range(40):
        # The thickness has one kink at the face, decreasing on one side of it and increasing on the other.
        best = min((best - step, best, best + step), key=thickness)
        step *= 0.6
    return way(best)


def _knob(pieces: list[Array], out: Array, anchor: Array) -> HandHold:
    """Return the grasp point of a knob: the outermost piece that fits between the fingers."""
    for piece in sorted(pieces, key=lambda p: -float((p @ out).max())):
        line = _direction(piece, out, _any_across(out))
        if np.ptp(piece @ _cross(out, line)) <= WIDEST:
            return HandHold(what="knob", head=_centre(piece, out, line), contact_axis=line, normal=out)
    cloud = np.concatenate(pieces)
    line = _any_across(out)
    return HandHold(
        what="edge", head=anchor + (float((cloud @ out).max()) - anchor @ out) * out, contact_axis=line, normal=out
    )


def _pushed(
    panel: Array, others: list[Array], normal: Array, free: Array, along: Array, *, hinge: bool
) -> Array | None:
    """Return a point of the panel's front beside its handles: near the free edge of a hinged one."""
    front = float((panel @ normal).max())
    height, width = np.ptp(panel @ free), np.ptp(panel @ along)
    across, beside = _middle(panel, free), _middle(panel, along)
    far = [float((panel @ free).max()) - INSET] if hinge else [across, across + 0.3 * height, across - 0.3 * height]
    for v in far:
        for share in (0.0, 0.36, -0.36):
            at = v * free + (beside + share * width) * along + front * normal
            if not any(_covers(piece, at, free, along) for piece in others):
                return at
    return None


def _covers(piece: Array, at: Array, free: Array, along: Array) -> bool:
    return all(
        float((piece @ way).min()) - ASIDE <= float(at @ way) <= float((piece @ way).max()) + ASIDE
        for way in (free, along)
    )


def _pieces(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> list[Array]:
    """Return the corners (n, 3) of the solid pieces fixed to a body, in its frame; of all pieces if none is solid."""
    fixed = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == model.body_weldid[body]]
    solid = [g for g in fixed if model.geom_contype[g] or model.geom_conaffinity[g]]
    rotation, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
    found = [(vertices_of(model, data, g) - origin) @ rotation for g in solid or fixed]
    return found or [np.array([[0.05, 0.0, 0.0], [0.0, 0.0, 0.0]])]


def _away_from_parent(model: mujoco.MjModel, data: mujoco.MjData, body: int, centre: Array, axis: Array) -> float:
    """Return 1 or -1: the direction along the axis that leads away from the middle of the parent body."""
    parent = int(model.body_parentid[body])
    rotation = data.xmat[body].reshape(3, 3)
    pieces = (_pieces(model, data, parent) if model.body_geomnum[parent] else []) or [np.zeros((1, 3))]
    corners = np.concatenate(pieces) @ data.xmat[parent].reshape(3, 3).T + data.xpos[parent]
    middle = ((corners.min(axis=0) + corners.max(axis=0)) / 2.0 - data.xpos[body]) @ rotation
    return 1.0 if (centre - middle) @ axis >= 0.0 else -1.0


def _direction(piece: Array, normal: Array, usual: Array) -> Array:
    """Return the unit vector (3,), at right angles to the normal along which a piece is longest, or a default."""
    side = _cross(normal, usual)
    flat = np.stack([piece @ usual, piece @ side], axis=1)
    angles = np.deg2rad(np.arange(0.0, 180.0, 1.0))
    reach = np.ptp(flat @ np.stack([np.cos(angles), np.sin(angles)]), axis=0)
    best = int(np.argmax(reach))
    # The corners of a box reach furthest along its diagonal: its width across is what counts.
    narrow = angles[(np.argmin(reach) + 90) % 180]
    if reach[best] < ELONGATED * reach.min():
        return usual
    return np.cos(narrow) * usual + np.sin(narrow) * side


def _centre(piece: Array, normal: Array, line: Array) -> Array:
    """Return the middle (3,) of a piece's box along three directions."""
    ways = np.stack([normal, line, _cross(normal, line)])
    return np.array([_middle(piece, way) for way in ways]) @ ways


def _middle(points: Array, way: Array) -> float:
    along = points @ way
    return float(along.min() + along.max()) / 2.0


def _across(vector: Array, axis: Array) -> Array:
    return vector - (vector @ axis) * axis


def _any_across(axis: Array) -> Array:
    return _unit(_cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(np.cross(a, b), float)


def _unit(vector: Array, fallback: Array | None = None) -> Array:
    length = float(np.linalg.norm(vector))
    if fallback is not None and length < 1e-3:
        return fallback
    return vector / length
