"""Arm paths for moving an object's joint: to the contact, along the joint's own path, and back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import PointAndAxis
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.arm_motion import POSE, planned_state
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.articulated_objects.actuation import KeyFrames
from handloom.skills.articulated_objects.joint_strategies import Strategy
from handloom.spatial import translation

RETREATS = (0.08, 0.05, 0.03)
"""How far the hand draws back after the release, if the arm can [m]."""
LEANING = 0.3
"""Largest tilt of pushing fingers from their initial direction, on an arm of five joints [rad]."""

PALM_GAP = 0.003
"""Distance that the palm keeps from the part pushed by closed fingers [m]: its drives follow within about two
millimetres."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointPath:
    """One way to move a joint, from the first pose near it to the last."""

    frames: KeyFrames
    approach: Array
    """Joint path (m, n) from the first frame to the contact."""
    actuation: Array
    """Joint path (k, n) along the joint."""
    back: Array
    """Pose (4, 4) the hand draws back to."""
    retreat: Array
    """Joint path (l, n) to it."""
    cost: float
    """Distance of the first configuration from the current one, plus the path length [rad]."""


def joint_path(
    controller: ArmController,
    name: str,
    strategy: Strategy,
    q: Array,
    layouts: Iterable[KeyFrames],
    blocked: Callable[[Array], str],
    itself: Sequence[str],
) -> JointPath | list[str]:
    """Return the path from joints (n,) through all frames of the first feasible layout, or why there is none.

    Args:
        controller: The arm.
        name: The object.
        strategy: Strategy that moves the joint.
        q: Joints at the first frame.
        layouts: Frames of the hand, first choice first; they mostly differ only along the joint.
        blocked: Returns what stops the joint while the arm follows a path (k, n); empty if nothing does.
        itself: Obstacles of the object that the hand may touch while it moves the joint and draws back.
    """
    why, approach, poses = list[str](), np.empty(0), list[Array]()
    for frames in layouts:
        if not _same(poses, frames.approach):
            poses, approach = frames.approach, np.empty(0)
            ignore = () if strategy.grips else itself
            reached = _through(controller, q, poses[1:], ignore, None)
            if isinstance(reached, str):
                why.append(reached)
                continue
            if not strategy.grips and _palm_touches(controller, name, reached[-1]):
                why.append("the palm would touch it beside the fingers")
                continue
            approach = reached
        elif not len(approach):
            continue
        for kept in _kept_parts(controller, strategy):
            way = _way(controller, itself, frames, approach, kept)
            stopped = blocked(way.actuation) if isinstance(way, JointPath) and frames.actuation else ""
            way = stopped or way
            if isinstance(way, JointPath):
                return way
            why.append(way)
    return why or ["no hand pose can be approached"]


def _palm_touches(controller: ArmController, name: str, q: Array) -> bool:
    """Return whether a link of the hand touches an object that it should not, with the arm at joints (n,)."""
    arm, scene = controller.arm, controller.scene
    palm = solid_geoms_of(scene, [arm.prefix + body for body in arm.spec.forbidden_bodies])
    solids = solid_geoms_of(scene, scene.world.subtree(scene.body_of(name)))
    model, data = scene.world.model, planned_state(scene, dict(zip(arm.joint_names, q.tolist(), strict=True)))
    return any(mujoco.mj_geomDistance(model, data, a, b, 2 * PALM_GAP, None) < PALM_GAP for a in palm for b in solids)


def _same(a: list[Array], b: list[Array]) -> bool:
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def _kept_parts(controller: ArmController, strategy: Strategy) -> Iterator[PointAndAxis | None]:
    """Yield the constraints of the hand's poses along the joint, first choice first; None keeps the full poses.

    The hand of an arm with five joints keeps its contact and turns about one line through it: the closing line of the
    fingers, so that they press on the same two places, or the line across it, so that a bar turns between them. Pushing
    fingers may tilt.
    """
    if controller.chain.dof >= POSE:
        yield None
        return
    _, closing, across = controller.arm.spec.R_ee_graspnet.T
    yield PointAndAxis(point=strategy.contact, axis=closing)
    if strategy.grips:
        yield PointAndAxis(point=strategy.contact, axis=across)
    else:
        yield PointAndAxis(point=strategy.contact, axis=closing, angle=LEANING)


def _through(
    controller: ArmController, q: Array, poses: list[Array], ignore: Sequence[str], kept: PointAndAxis | None
) -> Array | str:
    """Return the joint path (m, n) from joints (n,) through poses, or why there is none."""
    if not poses:
        return q[None]
    ignored = (*controller.ignored, *ignore)
    result = controller.planner.plan_through(q, np.array(poses), ignore=ignored, keeping=kept)
    return result.path if result.ok else result.reason


def _way(
    controller: ArmController, itself: Sequence[str], frames: KeyFrames, approach: Array, kept: PointAndAxis | None
) -> JointPath | str:
    """Return the path from the contact, at the end of an approach (m, n), or why there is none."""
    actuation = _through(controller, approach[-1], frames.actuation, itself, kept)
    if isinstance(actuation, str):
        return actuation
    q = actuation[-1]
    if kept is not None and frames.actuation:
        frames = replace(frames, actuation=[controller.chain.T_base_tool(q)])
    end = (frames.actuation or frames.approach)[-1]
    back, retreat = end, "there is no room"
    for length in RETREATS:
        back = end @ translation(-length * controller.arm.spec.approach)
        retreat = _through(controller, q, [back], itself, None)
        if not isinstance(retreat, str):
            break
    if isinstance(retreat, str):
        return f"the hand cannot draw back: {retreat}"
    moved = sum(float(np.abs(np.diff(path, axis=0)).sum()) for path in (approach, actuation))
    return JointPath(
        frames=frames,
        approach=approach,
        actuation=actuation,
        back=back,
        retreat=retreat,
        cost=moved + float(np.abs(approach[0] - controller.target).sum()),
    )
