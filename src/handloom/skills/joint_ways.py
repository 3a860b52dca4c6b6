"""The way of a hand along a joint, as joint paths: to the contact, along the joint's own path, and back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import PointAndAxis
from handloom.skills.actuation import KeyFrames
from handloom.skills.arm_controller import ArmController
from handloom.skills.arm_motion import POSE
from handloom.skills.joint_manners import Manner
from handloom.spatial import translation

RETREATS = (0.08, 0.05, 0.03)
"""How far the hand draws back after it has let go, as far as the arm can [m]."""
LEANING = 0.3
"""How far fingers that push may lean from where they began, on an arm of five joints [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointWay:
    """One way to move a joint, from the first pose near it to the end."""

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
    """Distance of the first configuration from the present one, and length of the way [rad]."""


def joint_way(controller: ArmController, name: str, manner: Manner, q: Array, frames: KeyFrames) -> JointWay | str:
    """Return the way through all frames from joints (n,) at the first one, or why there is none.

    Args:
        controller: The arm.
        name: The object.
        manner: How the hand moves the joint.
        q: Joints at the first frame.
        frames: Where the hand goes.
    """
    way: JointWay | str = "there is none"
    for kept in _kept_parts(controller, manner):
        way = _way(controller, name, manner, q, frames, kept)
        if isinstance(way, JointWay):
            break
    return way


def _kept_parts(controller: ArmController, manner: Manner) -> Iterator[PointAndAxis | None]:
    """Yield what the hand keeps of its poses along the joint, first choice first; None: all of them.

    The hand of an arm with five joints keeps its contact and turns about one line through it: the one on which fingers
    close, so that they press on the same two places, or the one across it, so that a bar turns between them. Fingers
    that push may lean.
    """
    if controller.chain.dof >= POSE:
        yield None
        return
    _, closing, across = controller.arm.spec.R_ee_graspnet.T
    yield PointAndAxis(point=manner.contact, axis=closing)
    if manner.grips:
        yield PointAndAxis(point=manner.contact, axis=across)
    else:
        yield PointAndAxis(point=manner.contact, axis=closing, angle=LEANING)


def _way(
    controller: ArmController, name: str, manner: Manner, q: Array, frames: KeyFrames, kept: PointAndAxis | None
) -> JointWay | str:
    itself, paths = controller.obstacles_of(name), []
    for poses, ignore, part in (
        (frames.approach[1:], () if manner.grips else itself, None),
        (frames.actuation, itself, kept),
    ):
        if not poses:
            paths.append(q[None])
            continue
        ignored = (*controller.ignored, *ignore)
        result = controller.planner.plan_through(q, np.array(poses), ignore=ignored, keeping=part)
        if not result.ok:
            return result.reason
        paths.append(result.path)
        q = result.path[-1]
    if kept is not None and frames.actuation:
        frames = replace(frames, actuation=[controller.chain.T_base_tool(q)])
    end = (frames.actuation or frames.approach)[-1]
    for length in RETREATS:
        back = end @ translation(-length * controller.arm.spec.approach)
        result = controller.planner.plan_through(q, back, ignore=(*controller.ignored, *itself))
        if result.ok:
            break
    else:
        return f"the hand cannot draw back: {result.reason}"
    moved = sum(float(np.abs(np.diff(path, axis=0)).sum()) for path in paths)
    return JointWay(
        frames=frames,
        approach=paths[0],
        actuation=paths[1],
        back=back,
        retreat=result.path,
        cost=moved + float(np.abs(paths[0][0] - controller.target).sum()),
    )
