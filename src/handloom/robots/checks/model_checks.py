"""Checks of the bodies, joints and actuators of a model."""

import mujoco
import numpy as np

from handloom.robots.checks.check_report import CheckRow, row
from handloom.robots.checks.robot_at_home import RobotAtHome

LIGHTEST_KG, HEAVIEST_KG = 1e-3, 200.0
# Radius of gyration [m]: a robot link is neither a point nor larger than the robot.
SMALLEST_RADIUS_M, LARGEST_RADIUS_M = 1e-3, 1.0
HOLD_S = 1.0
# A held joint may drift this far in a second [rad or m]: a tenth of the 5 mm and 50 mrad planners allow.
LARGEST_DRIFT = 5e-3
# and must have come to rest [rad/s or m/s].
LARGEST_SPEED = 0.02


def check_dof_names(home: RobotAtHome) -> CheckRow:
    """Every name of dof_names is a joint of the model, once; commanded joints are in it."""
    names = [home.robot.config.joint_aliases.get(name, name) for name in home.robot.config.dof_names]
    joints = {home.model.joint(i).name for i in range(home.model.njnt)}
    faults = [f"dof_names lists {name!r}, which is no joint of the model" for name in names if name not in joints]
    faults += [f"dof_names lists {name!r} twice" for name in sorted({n for n in names if names.count(n) > 1})]
    faults += [f"dof_names lacks {name!r}" for name in home.commanded_joints if name not in names]
    inferred = len(home.robot.config.inferred_dof_names)
    note = f", {inferred} of them in an inferred place" if inferred else ""
    return row("dof names", faults, f"{len(names)} joints in the published order{note}")


def check_limits(home: RobotAtHome) -> CheckRow:
    """Commanded joints have limits, and home lies inside them."""
    faults = []
    for name in home.commanded_joints:
        joint = home.model.joint(name)
        lower, upper = joint.range
        if not home.model.jnt_limited[joint.id]:
            faults.append(f"joint {name!r} has no limits")
        elif not lower < upper:
            faults.append(f"joint {name!r} has limits {lower:g} to {upper:g}, which leave no room")
        elif name in home.robot.home and not lower - 1e-9 <= home.robot.home[name] <= upper + 1e-9:
            faults.append(f"home of {name!r} is {home.robot.home[name]:g}, outside {lower:g} to {upper:g}")
    return row("limits", faults, f"{len(home.commanded_joints)} joints limited, home inside")


def check_speed_limits(home: RobotAtHome) -> CheckRow:
    """The arms say how fast their joints may be; where they do not, only the pace of the expert holds them."""
    found = []
    for arm in home.robot.arms:
        known = np.isfinite(arm.speed_limit).all()
        slowest = (
            f"{arm.speed_limit.min():g} rad/s and faster" if known else f"not given ({arm.name}_joint_speed_limit)"
        )
        found.append(f"{arm.name} {slowest}")
    return row("speed limits", [], "; ".join(found) or "no arm")


def check_inertias(home: RobotAtHome) -> CheckRow:
    """Every moving body has a plausible mass and inertia."""
    model, faults, total = home.model, [], 0.0
    for i in range(1, model.nbody):
        body, mass = model.body(i), float(model.body_mass[i])
        total += mass
        if model.body_weldid[i] == 0 or (mass == 0 and model.body_dofnum[i] == 0):
            continue
        if not LIGHTEST_KG <= mass <= HEAVIEST_KG:
            faults.append(f"body {body.name!r} has a mass of {mass:g} kg")
            continue
        smallest, middle, largest = np.sort(model.body_inertia[i])
        radius = np.sqrt(model.body_inertia[i] / mass)
        if largest > (smallest + middle) * (1 + 1e-6):
            faults.append(f"the inertia of {body.name!r} breaks the triangle inequality")
        elif radius.max() > LARGEST_RADIUS_M or radius.max() < SMALLEST_RADIUS_M:
            faults.append(f"the inertia of {body.name!r} is that of a body of {radius.max():.2g} m radius")
    return row("inertias", faults, f"{model.nbody - 1} bodies, {total:.2f} kg together")


def check_actuators(home: RobotAtHome) -> CheckRow:
    """Every commanded joint has one position actuator with force and control limits that reach its home."""
    model, faults = home.model, []
    for name in home.commanded_joints:
        actuators = home.actuator_of_joint[name]
        if len(actuators) != 1:
            faults.append(f"joint {name!r} has {len(actuators)} actuators, one is needed")
            continue
        i = actuators[0]
        kp, kv = model.actuator_gainprm[i, 0], -model.actuator_biasprm[i, 2]
        if not (kp > 0 and model.actuator_biasprm[i, 1] == -kp and kv >= 0):
            faults.append(f"the actuator of {name!r} is no position actuator with kp > 0 and kv >= 0")
        if not model.actuator_forcelimited[i]:
            faults.append(f"the actuator of {name!r} has no force limit")
        lower, upper = model.actuator_ctrlrange[i]
        if not model.actuator_ctrllimited[i] or not lower <= home.robot.home.get(name, lower) <= upper:
            faults.append(f"the control range of {name!r} does not contain its home")
    return row("actuators", faults, f"{len(home.commanded_joints)} position actuators with force limits")


def check_shapes(home: RobotAtHome) -> CheckRow:
    """Every arm link that moves can collide and can be seen."""
    model, faults = home.model, []
    collides = {home.body_name(g) for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]}
    visible = {home.body_name(g) for g in range(model.ngeom) if model.geom_group[g] <= 2}
    for arm in home.robot.arms:
        for joint in arm.joint_names:
            body = model.body(model.jnt_bodyid[model.joint(joint).id]).name
            faults += [f"body {body!r} has no collision geom"] if body not in collides else []
            faults += [f"body {body!r} has nothing to see (no geom in groups 0 to 2)"] if body not in visible else []
        faults += [f"finger {body!r} has no collision geom" for body in arm.finger_bodies if body not in collides]
    return row("shapes", faults, f"{len(collides)} bodies collide, {len(visible)} are visible")


def check_self_collision(home: RobotAtHome) -> CheckRow:
    """Nothing touches anything at home."""
    faults = []
    for contact in home.data.contact:
        first, second = (home.body_name(g) for g in contact.geom)
        if contact.dist < 0:
            faults.append(f"{first!r} and {second!r} overlap by {-contact.dist * 1000:.1f} mm at home")
    return row("self-collision", sorted(set(faults)), "no contact at home")


def check_holding(home: RobotAtHome) -> CheckRow:
    """Under physics the robot stays at home: gains are stable and gravity is carried."""
    model, data, faults = home.model, home.fresh_data(), []
    steps = round(HOLD_S / model.opt.timestep)
    start, worst, joint = data.qpos.copy(), 0.0, ""
    for _ in range(10):
        mujoco.mj_step(model, data, steps // 10)
        if data.warning.number.any() or not np.isfinite(data.qpos).all():
            return row("holding", ["the simulation becomes unstable within a second at home"], "")
    for name in home.commanded_joints:
        address = model.joint(name).qposadr[0]
        drift = abs(float(data.qpos[address] - start[address]))
        worst, joint = max((worst, joint), (drift, name))
        if drift > LARGEST_DRIFT:
            faults.append(f"joint {name!r} drifts {drift:.3g} (rad or m) from home in {HOLD_S:g} s")
        speed = abs(float(data.qvel[model.joint(name).dofadr[0]]))
        if speed > LARGEST_SPEED:
            faults.append(
                f"joint {name!r} still moves at {speed:.3g} (rad/s or m/s) after {HOLD_S:g} s: its gains jitter"
            )
    return row("holding", faults, f"stays at home; largest drift {worst * 1000:.2f} mrad or mm ({joint})")
