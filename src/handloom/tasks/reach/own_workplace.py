"""A workplace for a robot outside the library: its place, its work point and its cameras."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.robots import RobotDescription
from handloom.robots.checks.robot_at_home import place_at_home

SAMPLES = 2000
"""Random configurations for measuring the reach of an arm."""
WORKS_AT = 0.52
"""Best working distance of an arm, as a fraction of its reach, as in the workplaces of the library."""
FULL_SIZE = 0.94
"""Reach above which the camera across the table is at its largest distance [m]."""
AREA = [[-0.25, -0.12], [0.25, 0.12]]
"""Work area in the work frame [m]; regions are cut to the part that the arms reach."""
TABLE_TOP = 0.75
"""Height of the table of the arena [m]."""
DEEPEST = 0.42
"""Largest distance behind the middle of the table at which a robot stands on it [m]; the edge is 0.5 m behind."""
STANDS_ON_FLOOR = 0.35
"""Minimum height of the arms' bases above the robot's own base for a robot that stands on the floor [m]."""
BEFORE_TABLE = 0.16
"""Distance of such a robot's arm bases in front of the table's edge [m]."""
SHOULDERS_ABOVE = 0.12
"""Height of such a robot's arm bases above its table [m]."""
HEIGHTS = (0.5, 0.85)
"""Lowest and highest table of such a robot [m]."""
COMMON = 0.5
"""Arms whose tool directions from the base have less than this fraction in common face each other."""
CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
"""Of a cube (8, 3)."""
EDGE = 0.5
"""From the middle of the table to its edge [m]."""


@dataclass(frozen=True, kw_only=True)
class Stance:
    """Geometry of a robot's model, in the frame of its base at home."""

    yaw: float
    """Direction of its tools, in quarter turns [rad]."""
    opposed: bool
    """Whether its arms face each other, so that it works between them."""
    reach: float
    """Largest horizontal distance of a tool centre from the base of its arm [m]."""
    ahead: float
    """Distance of the arms' bases ahead of the robot's own base [m]."""
    high: float
    """Height of the arms' bases above the lowest point of the robot [m]."""
    lowest: float
    """Height of the robot's lowest point in the frame of its base [m]."""


def own_workplace(robot: RobotDescription, file: str) -> dict[str, Any]:
    """Return the workplace of a user's own robot, in the form of the library's workplace files.

    Small and medium arms are mounted on the table, facing it; a robot whose arms begin high above its base stands on
    the floor in front of a suitable table.

    Args:
        robot: The robot, with one arm or two.
        file: Its name in a task file.
    """
    stance = stance_of(robot)
    works_at = 0.0 if stance.opposed else WORKS_AT * stance.reach
    task: dict[str, Any] = {"arena_file": "arenas/table.yaml", "data": {"max_episode_length": 900}}
    if stance.high > STANDS_ON_FLOOR:
        top = float(np.clip(stance.high - SHOULDERS_ABOVE, *HEIGHTS))
        shoulder_y, z = -EDGE - BEFORE_TABLE, 0.0
        task["table_height"] = [round(top, 3)] * 2
    else:
        top, shoulder_y, z = TABLE_TOP, -min(DEEPEST, works_at), TABLE_TOP
    work_y, scale = round(shoulder_y + works_at, 3), min(1.0, stance.reach / FULL_SIZE)
    name = Path(file).stem if Path(file).suffix else Path(file).name
    task["robots"] = [
        {
            "name": name,
            "robot_config_file": file,
            "translation": [0.0, round(shoulder_y - stance.ahead, 3), round(z - stance.lowest, 4)],
            "euler": [0.0, 0.0, 90.0 - round(float(np.degrees(stance.yaw)))],
            "ignore_substring": ["floor", "wall"],
        }
    ]
    task["cameras"] = [_across(name, work_y, top, scale), *_mounted(robot, name)]
    task["work_point"], task["work_area"] = [0.0, work_y], AREA
    return task


def stance_of(robot: RobotDescription) -> Stance:
    """Measure a robot's model: its direction, its reach, the bases of its arms."""
    model = robot.spec().compile()
    data = mujoco.MjData(model)
    place_at_home(model, data, robot)
    mujoco.mj_kinematics(model, data)
    tools = np.array([data.site(arm.tcp_site).xpos for arm in robot.arms])
    bases = np.array([data.body(arm.base_body).xpos for arm in robot.arms])
    # Arms that face each other have no common direction: x of the base is ahead then.
    forward = (tools - bases)[:, :2]
    opposed = bool(np.linalg.norm(forward.mean(axis=0)) < COMMON * np.linalg.norm(forward, axis=1).mean())
    turn = 0.0 if opposed else np.arctan2(*forward.mean(axis=0)[::-1])
    yaw = float(0.5 * np.pi * np.round(turn / (0.5 * np.pi)))
    middle = bases.mean(axis=0)
    lowest = _lowest(model, data)
    return Stance(
        yaw=yaw,
        opposed=opposed,
        reach=max(_reach(model, data, robot, index) for index in range(len(robot.arms))),
        ahead=float(middle[:2] @ [np.cos(yaw), np.sin(yaw)]),
        high=float(middle[2]) - lowest,
        lowest=lowest,
    )


def _lowest(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Return the height of the lowest point of the robot; shapes other than meshes count as boxes [m]."""
    lowest = np.inf
    for g in range(model.ngeom):
        if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.geom_dataid[g]
            start = model.mesh_vertadr[mesh]
            corners = model.mesh_vert[start : start + model.mesh_vertnum[mesh]]
        else:
            corners = model.geom_aabb[g, :3] + CORNERS * model.geom_aabb[g, 3:]
        up = data.geom_xmat[g].reshape(3, 3)[2]
        lowest = min(lowest, float((corners @ up).min() + data.geom_xpos[g, 2]))
    return lowest


def _reach(model: mujoco.MjModel, data: mujoco.MjData, robot: RobotDescription, index: int) -> float:
    """Return the largest horizontal distance of an arm's tool centre from the arm's base in random poses [m]."""
    arm, rng = robot.arms[index], np.random.default_rng(0)
    addresses = [int(model.joint(name).qposadr[0]) for name in arm.joint_names]
    lower, upper = np.clip([model.joint(name).range for name in arm.joint_names], -np.pi, np.pi).T
    home, far = data.qpos.copy(), 0.0
    for q in rng.uniform(lower, upper, (SAMPLES, len(addresses))):
        data.qpos[addresses] = q
        mujoco.mj_kinematics(model, data)
        offset = data.site(arm.tcp_site).xpos - data.body(arm.base_body).xpos
        far = max(far, float(np.linalg.norm(offset[:2])))
    data.qpos[:] = home
    return far


def _across(name: str, work_y: float, top: float, scale: float) -> dict[str, Any]:
    """Return a camera that looks at the work point from across the table, nearer for a small robot."""
    return {
        "name": f"{name}_front",
        "parent": "",
        "translation": [round(-0.2 * scale, 3), round(work_y + 0.6 * scale, 3), round(top + 0.5 * scale, 3)],
        "look_at": [0.0, work_y, round(top + 0.03, 3)],
        "camera_file": "realsense_d455_v3",
        "size": [224, 224],
        "apply_randomization": True,
        "max_translation_noise": 0.02,
        "max_orientation_noise": 1.5,
    }


def _mounted(robot: RobotDescription, name: str) -> list[dict[str, Any]]:
    """Return the cameras that the robot's own file mounts on it."""
    return [
        {
            "name": f"{name}_{mount}",
            "parent": f"{name}/{robot.resolve_body(camera.parent)}",
            "translation": list(camera.translation),
            "orientation": list(camera.orientation),
            "camera_axes": camera.camera_axes,
            "camera_file": "realsense_d435i",
            "size": [224, 224],
        }
        for mount, camera in robot.config.cameras.items()
    ]
