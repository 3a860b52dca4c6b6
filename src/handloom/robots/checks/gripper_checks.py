"""Checks of grippers in simulation."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.robots.checks.grip_trial import GripTrial
from handloom.robots.checks.robot_at_home import CheckRow, RobotAtHome, row
from handloom.robots.robot_description import Arm, RobotDescription

SETTLE_STEPS = 510  # 1 s at 1/510 s per step; the slowest gripper closes in 0.4 s.
FRAME_S, FRAMES = 1.0 / 30.0, 30
# Fraction of the published width. Makers round: the G1 is specified with 100 mm and its linkage opens to 102.6 mm.
OPENING_TOLERANCE = 0.03
CLOSED_TOLERANCE_M = 1e-3
LARGEST_SLIP_M = 2e-3
# Factor on the limit: followers that catch up with the drive jerk it for a few milliseconds.
SPEED_TOLERANCE = 1.1


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


# A cube that fits the gripper and is light enough for a desktop arm.
CUBE_SHARE, CUBE_LARGEST_M, CUBE_MASS_KG = 0.6, 0.04, 0.1
RISE_M, SMALLEST_RISE_M, HOLD_S = 0.05, 0.02, 1.0


def check_opening(home: RobotAtHome) -> CheckRow:
    """The gripper opens to gripper_max_width and closes to gripper_min_width."""
    faults, found = [], []
    for arm in home.robot.arms:
        if arm.suction is not None:
            found.append(f"{arm.name} holds by suction")
            continue
        if len(arm.pad_geoms) != 2:
            faults.append(f"the {arm.name} arm needs two pad geoms for its opening (fl_pad_geoms, fr_pad_geoms)")
            continue
        opened = measured_opening(home.robot, arm, arm.gripper_open)
        closed = measured_opening(home.robot, arm, arm.gripper_closed)
        found.append(f"{arm.name} {closed * 1000:.1f} to {opened * 1000:.1f} mm")
        if abs(opened - arm.gripper_max_width) > OPENING_TOLERANCE * arm.gripper_max_width:
            faults.append(
                f"the {arm.name} gripper opens to {opened * 1000:.1f} mm, "
                f"gripper_max_width is {arm.gripper_max_width * 1000:.1f} mm"
            )
        if abs(closed - arm.gripper_min_width) > CLOSED_TOLERANCE_M:
            faults.append(
                f"the {arm.name} gripper closes to {closed * 1000:.1f} mm, "
                f"gripper_min_width is {arm.gripper_min_width * 1000:.1f} mm"
            )
    return row("gripper opening", faults, "; ".join(found))


def check_gripper_speed(home: RobotAtHome) -> CheckRow:
    """Grippers keep their speed limits when opening and closing: a faster one hits objects before it can hold them."""
    faults, found = [], []
    for arm in home.robot.arms:
        if not np.isfinite(arm.gripper_speed_limit).all():
            found.append(f"{arm.name} not limited ({arm.name}_gripper_speed_limit)")
            continue
        speed = measured_gripper_speed(home, arm)
        found.append(f"{arm.name} {speed.max():.3g}")
        for joint, fastest, limit in zip(arm.gripper_joint_names, speed, arm.gripper_speed_limit, strict=True):
            if fastest > SPEED_TOLERANCE * limit:
                faults.append(f"drive joint {joint!r} moves at {fastest:.3g} (m/s or rad/s), its limit is {limit:g}")
    return row("gripper speed", faults, "; ".join(found) + " (m/s or rad/s)" if found else "no gripper")


def check_grip(home: RobotAtHome) -> CheckRow:
    """The gripper lifts and holds a small cube without slipping."""
    faults, found = [], []
    for arm in home.robot.arms:
        if arm.suction is not None:
            found.append(f"{arm.name} holds by suction, up to {arm.suction.coaxial_force_limit:g} N a cup")
            continue
        edge = min(CUBE_LARGEST_M, CUBE_SHARE * arm.gripper_max_width)
        trial = GripTrial(home.robot, arm.name, cube_edge=edge, cube_mass=CUBE_MASS_KG)
        result = trial.run(rise=RISE_M, hold_s=HOLD_S)
        cube = f"holds a {CUBE_MASS_KG:g} kg cube"
        found.append(f"{arm.name} {cube}, which slips {result.slip * 1000:.2f} mm in {HOLD_S:g} s")
        if result.lift < SMALLEST_RISE_M:
            faults.append(
                f"from home, the {arm.name} arm can raise its tool by only {result.lift * 1000:.0f} mm; "
                f"choose another {arm.name}_joint_home"
            )
        elif result.rise < 0.9 * result.lift or not np.isfinite(result.slip):
            faults.append(f"the {arm.name} gripper drops a {CUBE_MASS_KG:g} kg cube of {edge * 1000:.0f} mm")
        elif result.slip > LARGEST_SLIP_M:
            faults.append(f"a cube slips {result.slip * 1000:.1f} mm in the {arm.name} gripper in {HOLD_S:g} s")
    return row("grip", faults, "; ".join(found))


def check_pads(home: RobotAtHome) -> CheckRow:
    """The pads have enough friction to hold, and the tool centre lies between them."""
    faults = []
    for arm in home.robot.arms:
        for name in arm.pad_geoms:
            geom = home.model.geom(name)
            if home.model.geom_condim[geom.id] < 4:
                faults.append(f"pad {name!r} has condim {home.model.geom_condim[geom.id]}; held objects would spin")
            if geom.friction[0] < 0.5:
                faults.append(f"pad {name!r} has a friction of {geom.friction[0]:g}, too little to hold objects")
    options = home.robot.config.physics
    if options.cone != "elliptic":
        faults.append("physics.cone is not elliptic; held objects would creep")
    integrator = mujoco.mjtIntegrator(home.model.opt.integrator).name.removeprefix("mjINT_").lower()
    return row(
        "pads", faults, f"friction and torsion on, {options.cone} cone, impratio {options.impratio:g}, {integrator}"
    )
