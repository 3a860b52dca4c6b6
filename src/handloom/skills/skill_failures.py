"""Typed failure reasons of skills."""

import numpy as np

from handloom.judging.checks import CALM, TUMBLE
from handloom.judging.depth_inside import measured_inside
from handloom.scene import Scene
from handloom.skills.skill import Skill, plan_failure
from handloom.values import Failure, FunnelStage


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
    names = ", ".join(f"{check.name}({', '.join(f'{k}={v}' for k, v in check.arguments.items())})" for check in broken)
    reason = f"not_{broken[0].name}" if broken else "not_successful"
    names += "".join(measured_inside(skill.scene, check) for check in broken)
    if reason == "not_calm":
        names = f"{names}: {unrest(skill.scene, broken[0].arguments['object'])}"
    return Failure(
        stage=FunnelStage.EXECUTE, reason=reason, detail=f"success check failed at the end of the skill: {names}"
    )


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
