"""A hand that moves as the scripted expert moves the tools: what controllers would have said."""

import numpy as np

from handloom.engine.attempt import Stopwatch, simulate
from handloom.motion.kinematics import Chain
from handloom.retarget import ControllerSnapshot, DeviceFrame, DeviceRecording
from handloom.retarget.nodes.gripper import DEAD_ZONE
from handloom.scene import build_scene
from handloom.spatial import invert_pose, make_pose, pos_quat_from_pose, quat_xyzw_from_wxyz
from handloom.tasks import Task
from handloom.teleop.control.robot_teleop import RobotTeleop
from handloom.values import EpisodeRecord

TICKS = 2


def expert_record(task: Task, seed: int, episode: int) -> EpisodeRecord:
    """Return the expert's episode."""
    return simulate(task, seed, episode, Stopwatch())[1]


def hand_recording(record: EpisodeRecord) -> DeviceRecording:
    """Return what the controllers say while hands lead the tools along the way of an episode.

    In the base of an arm the hand is where the tool is, so that a clutch of scale 1 passes it on as it is.
    """
    scene = build_scene(record.instance)
    robot, world = RobotTeleop(scene), scene.world
    T_anchor_world = invert_pose(robot.T_world_anchor)
    hands: dict[str, list[ControllerSnapshot]] = {}
    for driven in robot.arms:
        arm = driven.arm
        chain = Chain.from_model(
            world.model, arm.prefix + arm.spec.tcp_site, arm.base_body, arm.joint_names, qpos=world.data.qpos
        )
        T = T_anchor_world @ arm.T_world_base @ chain.T_base_tool(record.applied[:, arm.ctrl_index])
        open_, closed = arm.spec.gripper_open[0], arm.spec.gripper_closed[0]
        jaw = np.clip((record.applied[:, arm.gripper_ctrl_index[0]] - open_) / (closed - open_), 0.0, 1.0)
        roll = record.applied[:, arm.ctrl_index[-1]] if driven.follows_positions else None
        hands[driven.device] = [
            _controller(pose, jaw[k], None if roll is None else roll[k]) for k, pose in enumerate(T)
        ]
    frames = []
    for k in range(record.frames):
        for tick in range(TICKS):
            time_ns = round((TICKS * k + tick) * 1e9 / (TICKS * record.instance.fps))
            frames.append(DeviceFrame(time_ns=time_ns, **{device: way[k] for device, way in hands.items()}))
    # A person waits a moment at the end to see that it is good.
    last = frames[-1]
    for tick in range(len(frames), len(frames) + 60 * TICKS):
        time_ns = round(tick * 1e9 / (TICKS * record.instance.fps))
        frames.append(
            DeviceFrame(time_ns=time_ns, controller_left=last.controller_left, controller_right=last.controller_right)
        )
    facts = {"task": record.instance.task, "seed": record.instance.seed, "episode": record.instance.episode}
    return DeviceRecording(frames=tuple(frames), end_time_ns=frames[-1].time_ns + 1, facts=facts)


def _controller(T: np.ndarray, closedness: float, roll: float | None) -> ControllerSnapshot:
    if roll is not None:  # The wrist follows the turn about the grip's own z.
        c, s = np.cos(roll), np.sin(roll)
        T = make_pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), T[:3, 3])
    position, quat = pos_quat_from_pose(T)
    return ControllerSnapshot(
        grip_position=position,
        grip_orientation=quat_xyzw_from_wxyz(quat),
        grip_is_valid=True,
        squeeze_value=1.0,
        trigger_value=DEAD_ZONE + (1.0 - DEAD_ZONE) * closedness if closedness > 0 else 0.0,
    )
