"""Where an object is instead of its place, and who took it away from there, for messages."""

from collections.abc import Sequence

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.judging.bearers import bearers_of
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.values import SkillSpan

ROOF = 0.01
"""Distance below the highest point of an object within which something lies on top of it [m]."""
NEAR, JUMP = 0.015, 0.001
"""Distance of a hand that has just struck an object, and least motion of that object within a frame [m]."""
LIFTED, MOVED = 0.02, 0.01
"""Smallest rise and motion of an object that are worth a word [m]."""
FALLEN = float(np.cos(np.deg2rad(45.0)))
"""Cosine between its up direction before and now below which it was knocked over."""


def whereabouts(scene: Scene, name: str, target: str) -> str:
    """Return where an object is that is not in or on its target: ``it lies on table, 12 cm from safe``.

    Args:
        scene: The scene.
        name: The object.
        target: Where it should be.
    """
    hands = {bearer.body for bearer in bearers_of(scene, name, steep=True) if bearer.owner in scene.robots}
    arms = [arm for robot in scene.robots.values() for arm in robot.arms if hands & {*arm.finger_bodies}]
    if arms:
        return f"{arms[0].robot_name}/{arms[0].name} still touches it"
    box, room, bearers = world_box(scene, name), world_box(scene, target), [*bearers_of(scene, name)]
    if not bearers:
        return "nothing carries it"
    lowest = max(bearers, key=lambda bearer: bearer.force)
    if lowest.owner == target:
        on_top = lowest.at[2] > room[1, 2] - ROOF
        return f"it lies on top of {target}" if on_top else f"it lies on the edge of {target}"
    gap = np.maximum(np.maximum(box[0, :2] - room[1, :2], room[0, :2] - box[1, :2]), 0.0)
    return f"it lies on {lowest.owner}, {100.0 * float(np.hypot(*gap)):.0f} cm from {target}"


def taken_away(scene: Scene, name: str, span: SkillSpan, timeline: Sequence[SkillSpan], states: Sequence[Array]) -> str:
    """Return which hand moved an object after a skill had put it in place; empty if none touched it.

    Args:
        scene: The scene, in the last state; it is in that state again at the end.
        name: The object.
        span: The skill after which it was in place.
        timeline: All skills.
        states: Integration states, one per frame, the first one before the first frame.
    """
    world = scene.world
    arms = [arm for robot in scene.robots.values() for arm in robot.arms]
    solids = world.subtree(scene.body_of(name))
    parts = {(arm.robot_name, arm.name): _bodies(scene, arm.joint_names[0]) for arm in arms}
    world.restore_state(states[span.end])
    before, first, rise = scene.object_pose(name).copy(), None, 0.0
    last = before
    for frame in range(span.end + 1, len(states)):
        world.restore_state(states[frame])
        pose = scene.object_pose(name).copy()
        # A blow is often over within a frame, so that what is near an object that moves has touched it.
        jumps, last = float(np.linalg.norm(pose[:3, 3] - last[:3, 3])) > JUMP, pose
        touching = next(
            (
                arm
                for arm, bodies in parts.items()
                if world.touching(bodies, solids) or (jumps and _is_near(scene, bodies, solids))
            ),
            None,
        )
        if touching is not None:
            first = first or (frame, touching)
            rise = max(rise, float(scene.object_pose(name)[2, 3] - before[2, 3]))
    world.restore_state(states[-1])
    if first is None:
        return ""
    frame, (robot, arm) = first
    now = scene.object_pose(name)
    moved, upright = float(np.linalg.norm(now[:3, 3] - before[:3, 3])), float(now[:3, 2] @ before[:3, 2])
    done = "touched"
    if upright < FALLEN:
        done = "knocked over"
    elif moved > MOVED:
        done = f"moved by {100.0 * moved:.0f} cm"
    done = f"lifted by {100.0 * rise:.0f} cm and then {done}" if rise > LIFTED else done
    during = [one.skill for one in timeline if (one.robot, one.arm) == (robot, arm) and one.start < frame <= one.end]
    when = f"during {during[0]}" if during else "after its last skill"
    return f"{name} was {done} by {robot}/{arm} {when}, {frame / scene.instance.fps:.1f} s after the start"


def _is_near(scene: Scene, bodies: Sequence[str], solids: Sequence[str]) -> bool:
    """Return whether solids of two groups of bodies are near each other."""
    world, model = scene.world, scene.world.model
    own, others = (
        np.flatnonzero(
            np.isin(model.geom_bodyid, [world.body_index(body) for body in group])
            & ((model.geom_contype != 0) | (model.geom_conaffinity != 0))
        )
        for group in (bodies, solids)
    )
    gaps = np.linalg.norm(world.data.geom_xpos[own, None] - world.data.geom_xpos[None, others], axis=2)
    near = np.argwhere(gaps < model.geom_rbound[own, None] + model.geom_rbound[None, others] + NEAR)
    pairs = ((int(own[i]), int(others[j])) for i, j in near)
    return any(mujoco.mj_geomDistance(model, world.data, *pair, 2.0 * NEAR, None) < NEAR for pair in pairs)


def _bodies(scene: Scene, joint: str) -> tuple[str, ...]:
    """Return the bodies that an arm moves, given its first joint."""
    model = scene.world.model
    return scene.world.subtree(model.body(int(model.jnt_bodyid[scene.world.joint_index(joint)])).name)
