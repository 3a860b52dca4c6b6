"""The published stacking scene: an SO-101 at a table with a blue, a red and a green cube."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.so101.so101_action import SO101ActionController
from handloom.robots import RobotDescription, load_robot
from handloom.robots.robot_config import CameraMount
from handloom.scene import Scene
from handloom.scene.measures import stacked
from handloom.seeding import generator
from handloom.spatial import matrix_from_quat, pos_quat_from_pose, quat_from_matrix
from handloom.values import CameraSpec, Check, ObjectInstance, RobotInstance, TaskInstance
from handloom.values.camera import R_GIVEN_OPENCV

Vector = tuple[float, float, float]

ROBOT = "arm"
"""Name of the robot in the scene."""
CUBES = ("cube_1", "cube_2", "cube_3")
"""Names of the cubes, from the bottom of the stack to its top."""
COLORS = ("blue", "red", "green")
TABLE_SIZE = (1.0, 1.0, 1.05)
"""Length, width and height of the table [m]; the ground is 1.05 m below its top."""


@dataclass(frozen=True, kw_only=True)
class StackCubeConfig:
    """The parameters of the scene; the defaults are the published ones, in a world whose z = 0 is the table top."""

    robot: str = "so101"
    """Robot of the zoo."""
    base_position: Vector = (-0.016, 0.0, 0.002)
    """Position of the base [m]. The published base frame is at another place on the same robot; here the base stands on
    the table, and at the same joints the tool of our model coincides with the published one."""
    joints: tuple[float, ...] = (0.0, -0.6, 0.8, 0.6, 0.0)
    """Initial positions of the arm joints, base to wrist [rad]."""
    joint_noise: float = 0.02
    """Standard deviation of the noise on the initial arm joints [rad]."""
    jaw: float = 0.0
    """Initial position of the jaw [rad]."""
    edge: float = 0.0406
    """Edge of a cube [m]: twice the published height of a cube's centre."""
    x_range: tuple[float, float] = (0.15, 0.30)
    """Where cubes may lie [m]."""
    y_range: tuple[float, float] = (-0.10, 0.10)
    """Where cubes may lie [m]."""
    yaw_range: tuple[float, float] = (-1.0, 1.0)
    """Range of the cubes' yaw [rad]."""
    min_separation: float = 0.06
    """Smallest distance between centres of cubes [m]."""
    tries: int = 5000
    """Number of draws after which a scene counts as impossible; the published version then accepts any draw."""
    fps: int = 20
    """Control rate [1/s]."""
    substeps: int = 25
    """Physics steps per frame, 2 ms each."""
    seconds: float = 30.0
    """Length of an episode [s]."""
    image_size: tuple[int, int] = (224, 224)
    """Width and height of the camera images [px]."""


def stack_cube_instance(seed: int, episode: int, config: StackCubeConfig | None = None) -> TaskInstance:
    """Draw one scene; it depends only on (seed, episode, config).

    Raises:
        InputError: The cubes do not fit into their region at the requested distance.
    """
    config = config or StackCubeConfig()
    rng = generator(seed, episode, "stack_cube")
    robot = load_robot(config.robot)
    cubes = tuple(
        ObjectInstance(
            name=name,
            category="cube",
            parameters={"edge": config.edge, "style": "plain", "color": color},
            position=(x, y, config.edge / 2),
            quat=(math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)),
            words=f"{color} cube",
        )
        for name, color, (x, y, yaw) in zip(CUBES, COLORS, _places(rng, config), strict=True)
    )
    return TaskInstance(
        task="so101_stack_cube",
        seed=seed,
        episode=episode,
        instruction="Stack the red cube on the blue cube, then the green cube on the red cube.",
        robots=(_robot(rng, config, robot),),
        objects=(*_surroundings(), *cubes),
        cameras=_cameras(config, robot),
        fps=config.fps,
        substeps=config.substeps,
        max_frames=round(config.seconds * config.fps),
    )


def _places(rng: np.random.Generator, config: StackCubeConfig) -> list[tuple[float, float, float]]:
    """Return x, y [m] and yaw [rad] of each cube, no two closer than ``min_separation``."""
    for _ in range(config.tries):
        places = [
            (
                float(rng.uniform(*config.x_range)),
                float(rng.uniform(*config.y_range)),
                float(rng.uniform(*config.yaw_range)),
            )
            for _ in CUBES
        ]
        distances = [math.dist(a[:2], b[:2]) for i, a in enumerate(places) for b in places[:i]]
        if min(distances) >= config.min_separation:
            return places
    raise InputError(
        f"{len(CUBES)} cubes at {config.min_separation} m from each other could not be placed in {config.tries} draws "
        f"of x {config.x_range}, y {config.y_range}; widen the region or lower min_separation"
    )


def _robot(rng: np.random.Generator, config: StackCubeConfig, robot: RobotDescription) -> RobotInstance:
    arm = robot.arms[0]
    if len(config.joints) != len(arm.joint_names):
        raise InputError(
            f"robot {config.robot!r} has {len(arm.joint_names)} arm joints, got {len(config.joints)} starts"
        )
    noisy = np.array(config.joints) + config.joint_noise * rng.standard_normal(len(config.joints))
    joints = dict(zip(arm.joint_names, noisy.tolist(), strict=True))
    joints.update(dict.fromkeys(arm.gripper_joint_names, config.jaw))
    return RobotInstance(
        name=ROBOT, robot=config.robot, position=config.base_position, quat=(1.0, 0.0, 0.0, 0.0), joints=joints
    )


def _surroundings() -> tuple[ObjectInstance, ...]:
    depth, width, height = TABLE_SIZE
    return (
        ObjectInstance(
            name="table",
            category="table",
            parameters={"size": [depth, width, height], "color": [0.62, 0.56, 0.48]},
            position=(0.3, 0.0, -height / 2),
            fixed=True,
        ),
        ObjectInstance(
            name="floor",
            category="plane",
            parameters={"size": [6.0, 6.0, 0.02], "color": [0.45, 0.46, 0.48]},
            position=(0.0, 0.0, -height - 0.01),
            fixed=True,
        ),
    )


def _cameras(config: StackCubeConfig, robot: RobotDescription) -> tuple[CameraSpec, ...]:
    """Return a camera in front of the table, and the robot's own cameras."""
    width, height = config.image_size
    front = CameraSpec.looking_at(
        "front", (0.18, 0.0, 0.06), eye=(0.62, -0.34, 0.42), width=width, height=height, focal=1.1 * height
    )
    mounts = robot.config.cameras.items()
    return (front, *(_mounted(name, mount, robot).resized(width, height) for name, mount in mounts))


def _mounted(name: str, mount: CameraMount, robot: RobotDescription) -> CameraSpec:
    R = matrix_from_quat(mount.orientation) @ R_GIVEN_OPENCV[mount.camera_axes]
    fx, fy, cx, cy = mount.params
    return CameraSpec(
        name=name,
        width=mount.resolution[0],
        height=mount.resolution[1],
        fx=fx,
        fy=fy,
        cx=cx,
        cy=cy,
        parent=f"{ROBOT}/{robot.resolve_body(mount.parent)}",
        position=mount.translation,
        quat=_quat(R),
    )


def _quat(R: Array) -> tuple[float, float, float, float]:
    w, x, y, z = quat_from_matrix(R).tolist()
    return w, x, y, z


FALLEN = -0.05
"""A cube below this height has left the table [m]."""
GRASP_DISTANCE = 0.06
"""A grasped cube is nearer to the tool than this [m]."""
GRASP_JAW = 0.2
"""A grasping jaw is farther from open than this [rad]."""


def stack_cube_checks(config: StackCubeConfig | None = None) -> tuple[Check, ...]:
    """Return the success terms as data: 2 on 1, 3 on 2, the jaw open, every cube slower than 0.05 m/s."""
    edge = (config or StackCubeConfig()).edge
    return (
        *(Check(name="stacked", arguments={"lower": a, "upper": b, "gap": edge}) for a, b in pairwise(CUBES)),
        Check(name="gripper_open", arguments={"robot": ROBOT, "arm": "left"}),
        Check(name="lying_still", arguments={"objects": list(CUBES)}),
    )


def stack_cube_subtasks(
    scene: Scene, controller: SO101ActionController, config: StackCubeConfig | None = None
) -> dict[str, bool]:
    """Return which of ``grasp_1`` (cube 2), ``stack_1`` (2 on 1) and ``grasp_2`` (cube 3) hold now."""
    edge = (config or StackCubeConfig()).edge
    return {
        "grasp_1": _near_and_closed(scene, controller, CUBES[1]),
        "stack_1": stacked(scene, lower=CUBES[0], upper=CUBES[1], gap=edge),
        "grasp_2": _near_and_closed(scene, controller, CUBES[2]),
    }


def fallen_cubes(scene: Scene) -> tuple[str, ...]:
    """Return the cubes that have left the table."""
    return tuple(name for name in CUBES if scene.object_pose(name)[2, 3] < FALLEN)


def stack_cube_observations(scene: Scene, controller: SO101ActionController, *, last_action: Array) -> dict[str, Array]:
    """Return the published observations; positions are in the world [m], quaternions wxyz.

    ``joint_pos`` and ``joint_vel`` are arm and jaw, positions relative to the start of the episode. ``object``
    (39,) is position and quaternion of each cube, tool to each cube, and cube to cube (1-2, 2-3, 1-3).
    """
    world, arm = scene.world, controller.arm
    index = np.concatenate([arm.qpos_index, arm.gripper_qpos_index])
    names = (*arm.joint_names, *(arm.prefix + name for name in arm.spec.gripper_joint_names))
    start = scene.instance.robots[0].joints
    first = np.array([start[name.removeprefix(arm.prefix)] for name in names])
    poses = [pos_quat_from_pose(scene.object_pose(name)) for name in CUBES]
    tool, tool_quat = pos_quat_from_pose(controller.T_world_tool)
    places = [position for position, _ in poses]
    between = [places[b] - places[a] for a, b in ((0, 1), (1, 2), (0, 2))]
    return {
        "actions": np.asarray(last_action, float),
        "joint_pos": world.data.qpos[index] - first,
        "joint_vel": np.array([world.joint_velocity(name) for name in names]),
        "object": np.concatenate([*(np.concatenate(pose) for pose in poses), *(p - tool for p in places), *between]),
        "cube_positions": np.concatenate(places),
        "cube_orientations": np.concatenate([quat for _, quat in poses]),
        "eef_pos": tool,
        "eef_quat": tool_quat,
        "gripper_pos": world.data.qpos[arm.gripper_qpos_index],
    }


def _near_and_closed(scene: Scene, controller: SO101ActionController, cube: str) -> bool:
    distance = np.linalg.norm(scene.object_pose(cube)[:3, 3] - controller.T_world_tool[:3, 3])
    jaw = scene.world.data.qpos[controller.arm.gripper_qpos_index[0]]
    return bool(distance < GRASP_DISTANCE and abs(jaw - controller.jaw.open) > GRASP_JAW)
