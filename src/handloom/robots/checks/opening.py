"""Measure how far a gripper opens and closes, under physics."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.robots.arm import Arm
from handloom.robots.checks.robot_at_home import RobotAtHome
from handloom.robots.robot_description import RobotDescription

SETTLE_STEPS = 510  # 1 s of 1/510 s; the slowest gripper closes in 0.4 s.
FRAME_S, FRAMES = 1.0 / 30.0, 30


def measured_opening(robot: RobotDescription, arm: Arm, targets: Array) -> float:
    """Drive the gripper to actuator targets and return the gap between its pads [m].

    Negative when the pads overlap. All other joints are held at home.
    """
    home = RobotAtHome.build(robot)
    model, data = home.model, home.data
    for actuator, value in zip(arm.gripper_actuators, targets, strict=True):
        data.actuator(actuator).ctrl = value
    mujoco.mj_step(model, data, SETTLE_STEPS)
    return pad_gap(model, data, arm)


def measured_gripper_speed(home: RobotAtHome, arm: Arm) -> Array:
    """Open and close the gripper; return the largest speed of each drive joint (g,), averaged over a frame."""
    model, data = home.model, home.fresh_data()
    drives = [model.joint(joint).qposadr[0] for joint in arm.gripper_joint_names]
    steps, positions = round(FRAME_S / model.opt.timestep), []
    for targets in (arm.gripper_closed, arm.gripper_open):
        for actuator, value in zip(arm.gripper_actuators, targets, strict=True):
            data.actuator(actuator).ctrl = value
        for _ in range(FRAMES):
            mujoco.mj_step(model, data, steps)
            positions.append(data.qpos[drives])
    return np.abs(np.diff(positions, axis=0)).max(axis=0) / (steps * model.opt.timestep)


def pad_gap(model: mujoco.MjModel, data: mujoco.MjData, arm: Arm, *, prefix: str = "") -> float:
    """Return the smallest distance between the two pads of an arm [m], negative when they overlap."""
    first, second = (model.geom(prefix + name).id for name in arm.pad_geoms)
    return mujoco.mj_geomDistance(model, data, first, second, 1.0, None)
