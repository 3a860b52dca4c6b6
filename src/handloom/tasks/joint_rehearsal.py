"""Check of whether a hand can move the joints of a task in a sampled scene; done without physics."""

from collections.abc import Sequence

import numpy as np

from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.skills import SkillConfig
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.articulated_objects.articulated import ArticulatedSkill
from handloom.skills.configs.articulated import ArticulatedSkillConfig, OpenConfig
from handloom.skills.registry import skill_class
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.standing_places import YAW, faces, handle_of, in_words, near_places
from handloom.tasks.work_area import reached_band

AWAY = 60.0
"""A front turned away from the robot by more than this faces away from it [deg]."""
NEAR = 0.03
"""A handle this near to the end of an arm's reach is not out of reach [m]."""


def tries_joint(config: SkillConfig) -> bool:
    """Return whether a skill moves a joint with the hand alone, by its object's own keypoints."""
    driven = isinstance(config, OpenConfig) and config.by_driving
    return isinstance(config, ArticulatedSkillConfig) and config.planner_setting is None and not driven


def planned_joint(scene: Scene, controller: ArmController, config: ArticulatedSkillConfig) -> ArticulatedSkill:
    """Return the skill after planning, as in an episode."""
    skill = skill_class(config.name)(scene, controller, config, np.random.default_rng(0))
    assert isinstance(skill, ArticulatedSkill)
    skill.simple_generate_manip_cmds()
    return skill


def imagine_moved(scene: Scene, skill: ArticulatedSkill, controllers: Sequence[ArmController]) -> None:
    """Move the joint to its position after a skill, and update the arms."""
    joint, position = skill.end
    scene.world.data.qpos[scene.world.model.joint(joint).qposadr[0]] = position
    scene.world.forward()
    for controller in controllers:
        controller.refresh()


def why_not(scene: Scene, skill: ArticulatedSkill, others: Sequence[ArmController]) -> str:
    """Return text, with distances, about why a hand cannot move a joint, and which other hand can.

    Args:
        scene: The scene.
        skill: The skill, which has planned and failed.
        others: The other arms of the robot.
    """
    config, arm = skill.config, skill.controller.arm
    name, asset = config.objects[0], scene.assets[config.objects[0]]
    link = asset.joints[asset.joint_index(config.joint)]
    handle = handle_of(scene, name, link)
    what = f"the handle of {link.name} of {name}"
    turn = float(np.rad2deg(faces(scene, name, link, arm.robot_name)))
    if link.kind == "slide" and abs(turn) > AWAY:
        return f"the front of {name} faces away from {arm.robot_name} by {abs(turn):.0f} degrees; give yaw_rotation"
    offset = handle - arm.T_world_base[:3, 3]
    distance = float(np.linalg.norm(offset[:2]))
    bands = [reached_band(skill.controller, offset[:2], float(handle[2]), way) for way in ("side", "down")]
    near, far = min(band[0] for band in bands if band[1] or not any(b[1] for b in bands)), max(b[1] for b in bands)
    helper = next((c.arm.name for c in others if planned_joint(scene, c, config).manip_list), "")
    instead = f"; the {helper} arm can: give arm: {helper}" if helper else ""
    if far == 0.0:
        base = f"{distance:.2f} m from its base and {offset[2]:+.2f} m above it"
        return f"{what} is out of reach of the {arm.name} arm of {arm.robot_name}: {base}{instead}"
    if distance > far + NEAR:
        return (
            f"{what} is {distance - far:.2f} m beyond the {arm.name} arm of {arm.robot_name}, which reaches "
            f"{far:.2f} m in that direction at that height{instead}"
        )
    if distance < near - NEAR:
        return f"{what} is {near - distance:.2f} m too near to the {arm.name} arm of {arm.robot_name}{instead}"
    failure = skill.failure.detail if skill.failure is not None else "no way was found"
    return (
        f"{what} is {distance:.2f} m from the {arm.name} arm of {arm.robot_name}, which reaches it, but cannot "
        f"{config.name} it from there: {failure}{instead}"
    )


def where_instead(task: Task, scene: Scene, robot: str, arm: str, config: ArticulatedSkillConfig) -> str:
    """Return text about where an object on a table can stand so that an arm can move its joint; empty if unknown."""
    name = config.objects[0]
    region = next((r for r in task.config.regions if r.object == name), None)
    if region is None or region.random_type != "A_on_B_region_sampler" or region.sub_tgt_prim is not None:
        return ""
    put = any(name in skill.objects[1:2] for _, skill in placed_skills(task.config))
    filled = put and config.name == "open"
    found = near_places(scene, (robot, arm), config, region.target, filled=filled)
    less = ""
    if found is None and filled:
        found, less = near_places(scene, (robot, arm), config, region.target), ", but no hand gets into it from above"
    if found is None:
        size = " x ".join(f"{side:.2f}" for side in np.ptp(world_box(scene, name), axis=0))
        smaller = "check without --fast also tries smaller ones; or use another robot"
        return f"; no place on {region.target} was found for it ({size} m): {smaller}"
    places, turn = found
    R = scene.object_pose(name)[:3, :3]
    # Straight towards the robot; half a turn is neither left nor right.
    yaw = float(np.rad2deg(np.arctan2(R[1, 0], R[0, 0]) + turn))
    yaw = (yaw + 180.0) % 360.0 - 180.0
    wide = float(np.rad2deg(YAW)) - 1.0
    turns = f"[{yaw - wide:.0f}, {yaw + wide:.0f}]"
    if region.within_reach and task.config.work_point is not None:
        return f"; it can stand at: {in_words(places - task.config.work_point)}, yaw: {turns}{less}"
    return f"; it can stand at pos_range: {in_words(places)}, yaw_rotation: {turns}{less}"
