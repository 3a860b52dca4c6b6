"""Suction tools of the robots in a scene: prepared in the model, bound in the world."""

from collections.abc import Mapping

import mujoco

from handloom.robots import Arm, RobotDescription
from handloom.robots.drive_config import SuctionConfig
from handloom.scene.surface_gripper import (
    AttachmentPoint,
    SurfaceGripper,
    SurfaceGripperProperties,
    add_surface_gripper,
)
from handloom.sim import World
from handloom.values import TaskInstance


def add_suction(spec: mujoco.MjSpec, instance: TaskInstance, descriptions: Mapping[str, RobotDescription]) -> None:
    """Let the cups of all robots hold any object that is free to move."""
    loose = tuple(f"{thing.name}/" for thing in instance.objects if not thing.fixed)
    bodies = [body.name for body in spec.bodies if body.name.startswith(loose)]
    for robot, description in descriptions.items():
        for arm in description.arms:
            if arm.suction is not None:
                prefix = f"{robot}/"
                add_surface_gripper(spec, _name(prefix, arm), _points(prefix, arm.suction), bodies)


def bind_suction(world: World, prefix: str, arm: Arm) -> SurfaceGripper | None:
    """Return the suction cups of an arm, which follow its valve; None when it has fingers."""
    given = arm.suction
    if given is None:
        return None
    properties = SurfaceGripperProperties(
        max_grip_distance=given.max_grip_distance,
        coaxial_force_limit=given.coaxial_force_limit,
        shear_force_limit=given.shear_force_limit,
        retry_interval=given.retry_interval,
    )
    gripper = SurfaceGripper(world, _name(prefix, arm), _points(prefix, given), properties=properties)
    gripper.follow(prefix + arm.gripper_joint_names[0], above=float(arm.gripper_open[0] + arm.gripper_closed[0]) / 2.0)
    return gripper


def _name(prefix: str, arm: Arm) -> str:
    return f"{prefix}{arm.name}_suction"


def _points(prefix: str, given: SuctionConfig) -> tuple[AttachmentPoint, ...]:
    return tuple(
        AttachmentPoint(body=prefix + body, forward_axis=given.forward_axis, clearance_offset=given.clearance_offset)
        for body in given.points
    )
