"""Look a robot over before anyone plans with it."""

from handloom.config import unused_keys
from handloom.errors import ConfigError, FileError
from handloom.robots.checks.gripper_checks import (
    check_grip,
    check_gripper_speed,
    check_opening,
    check_pads,
)
from handloom.robots.checks.model_checks import (
    check_actuators,
    check_cameras,
    check_dof_names,
    check_holding,
    check_inertias,
    check_keypoints,
    check_limits,
    check_self_collision,
    check_shapes,
    check_speed_limits,
    check_tool_frames,
)
from handloom.robots.checks.robot_at_home import CheckReport, CheckRow, RobotAtHome
from handloom.robots.robot_description import RobotDescription

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
# These step the physics, which needs a sound model and one actuator per joint.
PHYSICS_CHECKS = (check_holding, check_opening, check_gripper_speed, check_grip)


def check_robot(robot: RobotDescription) -> CheckReport:
    """Check names, limits, inertias, actuators, shapes, frames, gripper and grip of a robot.

    Checks that need physics are left out, with a row that says so, when the model or its actuators are faulty.
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
