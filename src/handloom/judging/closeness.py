"""How close a scene is to the goal of a step: a smooth value for rewards; success is decided elsewhere."""

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import holds
from handloom.judging.judge import Judge, Step
from handloom.scene import Scene
from handloom.values import Check

NEAR = 0.1
"""Distance at which half of the closeness is left [m]."""


def potential(scene: Scene, judge: Judge) -> float:
    """Return the progress of a task, 0 to 1: the steps done, and the closeness of each arm to its next one."""
    if not judge.steps:
        return 1.0 if judge.achieved else 0.0
    return float(np.mean(steps_closeness(scene, judge)))


def steps_closeness(scene: Scene, judge: Judge) -> Array:
    """Return the closeness of each step of a task (n,), 0 to 1: 1 if it was done, 0 before its turn."""
    coming = {id(step) for step in judge.coming}
    values = [1.0 if done else closeness(scene, step) if id(step) in coming else 0.0 for step, done in judge.steps_done]
    return np.array(values)


def closeness(scene: Scene, step: Step) -> float:
    """Return the closeness of a scene to completing a step, 0 to 1: the mean over its terms."""
    return float(np.mean([1.0 if holds(scene, term) else _near(scene, step, term) for term in step.terms]))


def _near(scene: Scene, step: Step, term: Check) -> float:
    """Return the closeness of a scene to a term that does not hold yet, below 1.

    The hand's distance counts if it must touch something, the object's if it must move somewhere; a term about neither,
    such as a heading, counts only once it holds.
    """
    about = term.arguments
    if "joint" in about:
        return _joint(scene, step, term)
    if term.name in ("in_hand", "grasped", "lifted"):
        return 0.9 * _half(_from_hand(scene, step, scene.body_of(about["object"])))
    if isinstance(about.get("target"), str):
        away = scene.object_pose(about["object"])[:3, 3] - scene.object_pose(about["target"])[:3, 3]
        return 0.9 * _half(float(np.linalg.norm(away)))
    if "low" in about and "high" in about:
        middle = (np.asarray(about["low"]) + np.asarray(about["high"])) / 2
        return 0.9 * _half(float(np.linalg.norm(scene.object_pose(about["object"])[: len(middle), 3] - middle)))
    return 0.0


def _joint(scene: Scene, step: Step, term: Check) -> float:
    """Return the closeness of a joint to its goal; until it moves, that of the hand to the moving part."""
    about = term.arguments
    q, start = scene.world.joint_position(f"{about['object']}/{about['joint']}"), about.get("start", 0.0)
    if about.get("mode") == "zero":
        share = 1.0 - abs(q) / max(abs(start), abs(q), 1e-9)
    else:
        share = abs(q - start) / max(abs(about.get("threshold", 1.0)), 1e-9)
    moved = scene.body_of(about["object"]).rsplit("/", 1)[0] + "/" + about["joint"].removesuffix("_joint")
    body = moved if moved in scene.world.bodies else scene.body_of(about["object"])
    return 0.3 * _half(_from_hand(scene, step, body)) + 0.6 * float(np.clip(share, 0.0, 1.0))


def _from_hand(scene: Scene, step: Step, body: str) -> float:
    """Return the distance of a body from the tool centre of the arm that does a step [m]."""
    arm = scene.robot(step.robot).arm(step.arm)
    tool = (scene.world.body_pose(arm.tool_body) @ arm.spec.T_tool_tcp)[:3, 3]
    return float(np.linalg.norm(scene.world.body_pose(body)[:3, 3] - tool))


def _half(distance: float) -> float:
    """Return 1 at zero distance, a half at ``NEAR``, decreasing towards 0."""
    return NEAR / (NEAR + distance)
