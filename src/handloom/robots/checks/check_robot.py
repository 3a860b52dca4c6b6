"""Check a robot before planning with it."""

import mujoco
import numpy as np

from handloom.config import unused_keys
from handloom.errors import ConfigError, FileError
from handloom.robots.checks.gripper_checks import (
    check_grip,
    check_gripper_speed,
    check_opening,
    check_pads,
)
from handloom.robots.checks.robot_at_home import CheckReport, CheckRow, RobotAtHome, row
from handloom.robots.robot_description import Arm, RobotDescription
from handloom.spatial import make_pose, pose_error

LIGHTEST_KG, HEAVIEST_KG = 1e-3, 200.0
# Radius of gyration [m]: a robot link is neither a point nor larger than the robot.
SMALLEST_RADIUS_M, LARGEST_RADIUS_M = 1e-3, 1.0
HOLD_S = 1.0
# A held joint may drift this far in a second [rad or m]: a tenth of the 5 mm and 50 mrad planners allow.
LARGEST_DRIFT = 5e-3
# and must have come to rest [rad/s or m/s].
LARGEST_SPEED = 0.02
FRAME_TOLERANCE = 1e-5  # [m] and [rad]
# Published key points are up to 12 mm off the published tool centre.
KEYPOINT_TOLERANCE = 0.015


def check_dof_names(home: RobotAtHome) -> CheckRow:
    """Every name in dof_names is a joint of the model and occurs once; commanded joints are listed."""
    names = [home.robot.config.joint_aliases.get(name, name) for name in home.robot.config.dof_names]
    joints = {home.model.joint(i).name for i in range(home.model.njnt)}
    faults = [f"dof_names lists {name!r}, which is not a joint of the model" for name in names if name not in joints]
    faults += [f"dof_names lists {name!r} twice" for name in sorted({n for n in names if names.count(n) > 1})]
    faults += [f"dof_names lacks {name!r}" for name in home.commanded_joints if name not in names]
    inferred = len(home.robot.config.inferred_dof_names)
    note = f", {inferred} of them at inferred positions" if inferred else ""
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
    """The arms have joint speed limits; without them, only the expert's pace limits the speed."""
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
    model, faults, total = home.model, [], float(home.model.body_mass.sum())
    for i in range(1, model.nbody):
        body, mass = model.body(i), float(model.body_mass[model.body_weldid == i].sum())
        if model.body_dofnum[i] == 0:
            continue  # It moves with the body that it is fixed to and adds to its mass.
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
            faults.append(f"the actuator of {name!r} is not a position actuator with kp > 0 and kv >= 0")
        if not model.actuator_forcelimited[i]:
            faults.append(f"the actuator of {name!r} has no force limit")
        lower, upper = model.actuator_ctrlrange[i]
        if not model.actuator_ctrllimited[i] or not lower <= home.robot.home.get(name, lower) <= upper:
            faults.append(f"the control range of {name!r} does not contain its home")
    return row("actuators", faults, f"{len(home.commanded_joints)} position actuators with force limits")


def check_shapes(home: RobotAtHome) -> CheckRow:
    """Every moving arm link has collision geoms and visible geoms, of its own or of parts fixed to it."""
    model, faults = home.model, []

    def names(geom: int) -> set[str]:
        """Return the names of a geom's body and of the link that this body is fixed to."""
        body = int(model.geom_bodyid[geom])
        return {model.body(body).name, model.body(model.body_weldid[body]).name}

    solid = [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    shown = [g for g in range(model.ngeom) if model.geom_group[g] <= 2]
    collides, visible = (set().union(*map(names, geoms)) for geoms in (solid, shown))
    for arm in home.robot.arms:
        for joint in arm.joint_names:
            body = model.body(model.jnt_bodyid[model.joint(joint).id]).name
            faults += [f"body {body!r} has no collision geom"] if body not in collides else []
            faults += [f"body {body!r} has no visible geom (none in groups 0 to 2)"] if body not in visible else []
        faults += [f"finger {body!r} has no collision geom" for body in arm.finger_bodies if body not in collides]
    counts = [len({home.body_name(g) for g in geoms}) for geoms in (solid, shown)]
    return row("shapes", faults, f"{counts[0]} bodies collide, {counts[1]} are visible")


def check_self_collision(home: RobotAtHome) -> CheckRow:
    """There are no contacts at home."""
    faults = []
    for contact in home.data.contact:
        first, second = (home.body_name(g) for g in contact.geom)
        if contact.dist < 0:
            faults.append(f"{first!r} and {second!r} overlap by {-contact.dist * 1000:.1f} mm at home")
    return row("self-collision", sorted(set(faults)), "no contact at home")


def check_holding(home: RobotAtHome) -> CheckRow:
    """The robot stays at home in simulation: gains are stable and gravity is compensated."""
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


def check_tool_frames(home: RobotAtHome) -> CheckRow:
    """The tool sites agree with tcp_offset, ee_axis and R_ee_graspnet."""
    faults = []
    for arm in home.robot.arms:
        R = arm.R_ee_graspnet
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
            faults.append(f"R_ee_graspnet of the {arm.name} arm is not a rotation")
            continue
        if not np.allclose(R[:, 0], arm.approach, atol=1e-6):
            faults.append(f"R_ee_graspnet maps GraspNet's approach to {R[:, 0].tolist()}, ee_axis is {arm.ee_axis}")
        for site, expected in (
            (arm.tcp_site, arm.T_tool_tcp),
            (arm.grasp_site, make_pose(R, arm.T_tool_tcp[:3, 3])),
        ):
            distance, angle = pose_error(expected, home.site_in_body(site, arm.tool_body))
            if distance > FRAME_TOLERANCE or angle > FRAME_TOLERANCE:
                faults.append(
                    f"site {site!r} is {distance * 1000:.2f} mm and {np.degrees(angle):.2f} deg from its pose by "
                    "tcp_offset, ee_axis and R_ee_graspnet"
                )
    offsets = ", ".join(f"{arm.name} {arm.tcp_offset * 1000:.1f} mm along {arm.ee_axis}" for arm in home.robot.arms)
    return row("tool frames", faults, f"tool centre and GraspNet axes agree ({offsets})")


def check_keypoints(home: RobotAtHome) -> CheckRow:
    """Key points lie on the approach axis, head near the tool centre, side at half the opening."""
    faults = []
    for arm in home.robot.arms:
        faults += _keypoint_faults(arm)
    return row("keypoints", faults, "head, tail and side agree with tool centre and opening")


def _keypoint_faults(arm: Arm) -> list[str]:
    head, tail, side = (
        np.array(p[:3]) for p in (arm.keypoints.tool_head, arm.keypoints.tool_tail, arm.keypoints.tool_side)
    )
    closing = arm.R_ee_graspnet[:, 1]
    faults = []
    if np.linalg.norm(head - arm.T_tool_tcp[:3, 3]) > KEYPOINT_TOLERANCE:
        faults.append(
            f"tool_head of the {arm.name} arm is more than {KEYPOINT_TOLERANCE * 1000:g} mm off its tool centre"
        )
    if not 0 <= tail @ arm.approach < head @ arm.approach:
        faults.append(f"tool_tail of the {arm.name} arm does not lie between end effector and tool_head")
    # The side of a suction cup is its lip, regardless of the valve's opening.
    half = arm.gripper_max_width / 2 if arm.suction is None else arm.suction.cup_radius
    if abs(abs((side - head) @ closing) - half) > KEYPOINT_TOLERANCE / 3:
        faults.append(f"tool_side of the {arm.name} arm is not at half the opening along the closing axis")
    return faults


def check_cameras(home: RobotAtHome) -> CheckRow:
    """Cameras are mounted on existing bodies and have unit quaternions."""
    faults = []
    for name, mount in home.robot.config.cameras.items():
        try:
            home.robot.resolve_body(mount.parent)
        except ConfigError as error:
            faults.append(f"camera {name!r}: {error}")
        norm = np.linalg.norm(mount.orientation)
        if abs(norm - 1) > 0.02:
            faults.append(f"the orientation of camera {name!r} has length {norm:.3f}, it must be 1")
    count = len(home.robot.config.cameras)
    return row("cameras", faults, f"{count} mount{'s' if count != 1 else ''} on existing bodies")


CHECKS = (
    check_dof_names,
    check_limits,
    check_speed_limits,
    check_inertias,
    check_shapes,
    check_self_collision,
    check_tool_frames,
    check_keypoints,
    check_cameras,
    check_pads,
)
# These run physics, which needs a valid model and one actuator per joint.
PHYSICS_CHECKS = (check_holding, check_opening, check_gripper_speed, check_grip)


def check_robot(robot: RobotDescription) -> CheckReport:
    """Check names, limits, inertias, actuators, shapes, frames, gripper and grip of a robot.

    Checks that need physics are skipped, and reported as such, if the model or its actuators are faulty.
    """
    try:
        home = RobotAtHome.build(robot)
        arms = robot.arms
    except (ConfigError, FileError) as error:
        return CheckReport(robot=robot.name, rows=(CheckRow(name="model", ok=False, sentence=str(error)),))
    found = f"{len(arms)} arm{'s' if len(arms) > 1 else ''}, {home.model.njnt} joints, {home.model.ngeom} geoms"
    rows = [CheckRow(name="model", ok=True, sentence=f"compiles; {found}")]
    unused = ", ".join(line.split()[0] for line in unused_keys(robot.config))
    rows.append(CheckRow(name="keys", ok=True, sentence=f"accepted but without effect here: {unused or 'none'}"))
    rows += [check(home) for check in CHECKS]
    actuators = check_actuators(home)
    rows.append(actuators)
    if actuators.ok:
        rows += [check(home) for check in PHYSICS_CHECKS]
    else:
        rows.append(CheckRow(name="physics", ok=False, sentence="not tried: actuators are missing or wrong"))
    return CheckReport(robot=robot.name, rows=tuple(rows))
