"""Containers that are thrown or dragged away with what was put into them."""

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.judging.judge import DISTURBED
from handloom.judging.lasting import BELTS
from handloom.scene import Scene
from handloom.spatial import invert_pose
from handloom.values import Failure, FunnelStage, SkillSpan

PUT_IN = "in_cavity"
"""The term of a skill that has put an object into a container."""


def container_moved(scene: Scene, timeline: Sequence[SkillSpan], states: Sequence[Array]) -> Failure | None:
    """Return the failure of a container that was moved after something had been put into it; None if there is none.

    A container that a skill handles, or that stands on something that one handles, is meant to move.

    Args:
        scene: The scene at the end.
        timeline: What was done when.
        states: State of the scene before each frame, and after the last.
    """
    if any(obj.category in BELTS for obj in scene.instance.objects):
        return None
    handled = {span.objects[0] for span in timeline if span.objects}
    for span, name, target in _put_in(scene, timeline):
        if target in handled:
            continue
        others = [other for other in handled if other != name and other in scene.assets]
        before, now = _poses(scene, [target, *others], states[span.end]), _poses(scene, [target, *others], states[-1])
        moved = float(np.linalg.norm(now[0][:3, 3] - before[0][:3, 3]))
        rides = (_apart(before[0], before[k]) - _apart(now[0], now[k]) for k in range(1, len(now)))
        if moved > DISTURBED and not any(np.linalg.norm(change) <= DISTURBED for change in rides):
            detail = f"{target} moved by {moved:.2f} m after {name} was put into it"
            return Failure(stage=FunnelStage.SUCCESS, reason="container_moved", detail=detail, skill=span.skill)
    return None


def _put_in(scene: Scene, timeline: Sequence[SkillSpan]) -> Iterator[tuple[SkillSpan, str, str]]:
    """Yield the skills that have put an object into a loose container, with the names of both."""
    loose = {obj.name for obj in scene.instance.objects if not obj.fixed and obj.solid}
    for span in timeline:
        for term in span.checks if span.success else ():
            if term.name == PUT_IN and term.arguments["target"] in loose:
                yield span, term.arguments["object"], term.arguments["target"]


def _poses(scene: Scene, names: Sequence[str], state: Array) -> list[Array]:
    """Return the poses (4, 4) of objects in a state."""
    model = scene.world.model
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_kinematics(model, data)
    poses = []
    for name in names:
        body, T = data.body(scene.body_of(name)), np.eye(4)
        T[:3, :3], T[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        poses.append(T)
    return poses


def _apart(T_world_container: Array, T_world_other: Array) -> Array:
    """Return the place of a container (3,) in the frame of another object [m]."""
    return (invert_pose(T_world_other) @ T_world_container)[:3, 3]
