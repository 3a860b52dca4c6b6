"""Typed failure reasons of skills."""

from collections.abc import Mapping

import numpy as np

from handloom.judging.checks import CALM, TUMBLE
from handloom.judging.wording.measured import unmet
from handloom.judging.wording.words import in_words
from handloom.scene import Scene
from handloom.skills.arms.traffic import moving_bodies
from handloom.skills.skill import Skill, plan_failure
from handloom.values import Check, Failure, FunnelStage

BLOCKED = "blocked_by_hand"
"""Reason given if the fingers closed on the robot's other hand."""


def planning_failure(skill: Skill) -> Failure:
    """Return why the last plan of a skill failed."""
    last = skill.controller.last_failure
    return plan_failure(last) if last else Failure(stage=FunnelStage.PLAN, reason="no_plan")


def no_commands(skill: Skill) -> Failure:
    """Return the failure of a skill that has nothing to do."""
    return Failure(stage=FunnelStage.PLAN, reason="no_commands", detail=f"{skill.config.name} made no commands")


def unsuccessful(skill: Skill) -> Failure:
    """Return the failure of success terms that do not hold at the end of a skill."""
    broken = [check for check in skill.checks() if not skill.fulfilled(check)]
    words = "; ".join(_words(skill.scene, check, skill.loosened_by) for check in broken)
    reason = f"not_{broken[0].name}" if broken else "not_successful"
    if reason == "not_grasped" and (hand := hand_in_the_way(skill)):
        reason, words = BLOCKED, f"{words} ({hand})"
    detail = f"at the end of the skill this did not hold: {words}"
    return Failure(stage=FunnelStage.EXECUTE, reason=reason, detail=detail)


def _words(scene: Scene, check: Check, loosened: Mapping[str, str]) -> str:
    if check.name == "calm":
        return f"{in_words(check, scene)} ({unrest(scene, check.arguments['object'])})"
    # Of a term that must hold during the skill, the value at its end says nothing.
    return during(check, scene, loosened) if check.share else unmet(scene, check)


def during(check: Check, scene: Scene, loosened: Mapping[str, str]) -> str:
    """Return a term that must hold during a skill in words, with the key that loosens it.

    Args:
        check: The term.
        scene: Its scene.
        loosened: Name of a term > the key of the skill that loosens it, in words.
    """
    when = "throughout" if check.share >= 1.0 else f"in at least {100.0 * check.share:.0f} % of the skill's frames"
    hint = f" ({loosened[check.name]})" if check.name in loosened else ""
    return f"{in_words(check, scene)}, {when}{hint}"


def hand_in_the_way(skill: Skill) -> str:
    """Return text about the other hand that the fingers of a skill's arm touch; empty if they touch none."""
    arm, world = skill.controller.arm, skill.scene.world
    for robot in skill.scene.robots.values():
        for other in robot.arms:
            if other is not arm and world.touching(arm.finger_bodies, moving_bodies(skill.scene, other)):
                return f"blocked by the {other.name} hand"
    return ""


def unrest(scene: Scene, object: str) -> str:
    """Return text about what moves too fast when ``calm`` does not hold."""
    world = scene.world
    speeds = np.abs(world.data.qvel[scene.robot_dofs])
    moving = np.abs(world.body_velocity(scene.body_of(object)))
    slide, turn = moving[:3].max(), moving[3:].max()
    words = [f"{object} moves at {slide:.2f} m/s, {CALM:g} is allowed"] if slide >= CALM else []
    words += [f"{object} turns at {turn:.1f} rad/s, {TUMBLE:g} is allowed"] if turn >= TUMBLE else []
    if speeds.max(initial=0.0) >= CALM:
        fastest = world.model.dof_jntid[scene.robot_dofs[int(np.argmax(speeds))]]
        words.append(f"joint {world.model.joint(int(fastest)).name} moves at {speeds.max():.1f}, {CALM:g} is allowed")
    return "; ".join(words)
