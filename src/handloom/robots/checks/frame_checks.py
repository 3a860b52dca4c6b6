"""Checks of end-effector, tool and camera frames."""

import numpy as np

from handloom.errors import ConfigError
from handloom.robots.arm import Arm
from handloom.robots.checks.check_report import CheckRow, row
from handloom.robots.checks.robot_at_home import RobotAtHome
from handloom.spatial import make_pose, pose_error

FRAME_TOLERANCE = 1e-5  # [m] and [rad]
# Published key points are up to 12 mm off the published tool centre.
KEYPOINT_TOLERANCE = 0.015


def check_tool_frames(home: RobotAtHome) -> CheckRow:
    """The tool sites stand where tcp_offset, ee_axis and R_ee_graspnet say."""
    faults = []
    for arm in home.robot.arms:
        R = arm.R_ee_graspnet
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
            faults.append(f"R_ee_graspnet of the {arm.name} arm is no rotation")
            continue
        if not np.allclose(R[:, 0], arm.approach, atol=1e-6):
            faults.append(f"R_ee_graspnet sends GraspNet's approach to {R[:, 0].tolist()}, ee_axis is {arm.ee_axis}")
        for site, expected in (
            (arm.tcp_site, arm.T_tool_tcp),
            (arm.grasp_site, make_pose(R, arm.T_tool_tcp[:3, 3])),
        ):
            distance, angle = pose_error(expected, home.site_in_body(site, arm.tool_body))
            if distance > FRAME_TOLERANCE or angle > FRAME_TOLERANCE:
                faults.append(
                    f"site {site!r} is {distance * 1000:.2f} mm and {np.degrees(angle):.2f} deg from where tcp_offset, "
                    "ee_axis and R_ee_graspnet put it"
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
    # The side of a cup is its lip, whatever its valve opens.
    half = arm.gripper_max_width / 2 if arm.suction is None else arm.suction.cup_radius
    if abs(abs((side - head) @ closing) - half) > KEYPOINT_TOLERANCE / 3:
        faults.append(f"tool_side of the {arm.name} arm is not at half the opening along the closing axis")
    return faults


def check_cameras(home: RobotAtHome) -> CheckRow:
    """Cameras hang on bodies that exist and have unit quaternions."""
    faults = []
    for name, mount in home.robot.config.cameras.items():
        try:
            home.robot.resolve_body(mount.parent)
        except ConfigError as error:
            faults.append(f"camera {name!r}: {error}")
        norm = np.linalg.norm(mount.orientation)
        if abs(norm - 1) > 0.02:
            faults.append(f"the orientation of camera {name!r} has length {norm:.3f}, a quaternion has 1")
    count = len(home.robot.config.cameras)
    return row("cameras", faults, f"{count} mount{'s' if count != 1 else ''} on existing bodies")
