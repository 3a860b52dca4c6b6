"""How a hand would hold a controller to send a tool along a path."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.retarget.graph.compute_context import ExecutionState
from handloom.retarget.nodes.so101_gripper_retargeter import DEAD_ZONE
from handloom.retarget.recording.device_recording import DeviceRecording
from handloom.retarget.so101.anchor import STACK_CUBE_ANCHOR
from handloom.retarget.so101.so101_action_controller import JawMap
from handloom.retarget.so101.tool_path import Keyframe, ToolPath
from handloom.retarget.sources.controller_snapshot import ControllerSnapshot
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.transforms import checked_transform
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, quat_from_matrix, quat_xyzw_from_wxyz

SWAY = 0.9
"""A hand sways slowly: white noise through a filter that keeps this much from frame to frame."""


@dataclass(frozen=True, kw_only=True)
class HandConfig:
    """Whose hand it is."""

    rate_hz: int = 60
    """Frames of the device per second."""
    start: tuple[float, float, float] = (0.35, -0.25, 0.10)
    """Where the hand is in the world when the session starts [m]."""
    engage_after: float = 0.25
    """Time before the session runs [s]; the tool must stand still until after it."""
    tremor: float = 0.0003
    """Standard deviation of the unsteadiness of the hand [m]."""


def hand_recording(
    path: ToolPath,
    jaw: JawMap,
    rng: np.random.Generator,
    *,
    config: HandConfig | None = None,
    world_T_anchor: ArrayLike | None = None,
    title: str = "",
    facts: dict[str, Any] | None = None,
) -> DeviceRecording:
    """Return what the right controller says while a hand leads the tool along a path through a clutch of scale 1.

    Args:
        path: Where the tool should be.
        jaw: Map of the jaw, to find the trigger.
        rng: Draws the tremor.
        config: Whose hand it is.
        world_T_anchor: Pose (4, 4) of the device's frame in the world; the published anchor if not given.
        title: One line about the recording.
        facts: What else to note.
    """
    config = config or HandConfig()
    T = STACK_CUBE_ANCHOR if world_T_anchor is None else checked_transform(world_T_anchor, what="world_T_anchor")
    T_anchor_world = invert_pose(T)
    offset = np.subtract(config.start, path.at(0.0).position)
    count = math.ceil(path.last.seconds * config.rate_hz)
    frames, sway = [], np.zeros(3)
    for index in range(count):
        seconds = index / config.rate_hz
        sway = SWAY * sway + math.sqrt(1.0 - SWAY**2) * config.tremor * rng.standard_normal(3)
        running = seconds >= config.engage_after
        frames.append(
            DeviceFrame(
                time_ns=_ns(index, config),
                state=ExecutionState.RUNNING if running else ExecutionState.STOPPED,
                controller_right=_controller(path.at(seconds), offset + sway, jaw, T_anchor_world),
            )
        )
    facts = {"rate_hz": config.rate_hz, **(facts or {})}
    return DeviceRecording(frames=tuple(frames), end_time_ns=_ns(count, config), title=title, facts=facts)


def _ns(index: int, config: HandConfig) -> int:
    return round(index * 1_000_000_000 / config.rate_hz)


def _controller(key: Keyframe, offset: Array, jaw: JawMap, T_anchor_world: Array) -> ControllerSnapshot:
    """Return the controller in the device's frame: at the tool plus an offset, turned about world z by the roll."""
    T_world_hand = make_pose(matrix_from_rotvec((0.0, 0.0, key.roll)), np.add(key.position, offset))
    T = T_anchor_world @ T_world_hand
    quat = quat_xyzw_from_wxyz(quat_from_matrix(T[:3, :3]))
    closedness = min(max(jaw.closedness(key.jaw), 0.0), 1.0)
    return ControllerSnapshot(
        grip_position=T[:3, 3],
        grip_orientation=quat,
        grip_is_valid=True,
        aim_position=T[:3, 3],
        aim_orientation=quat,
        aim_is_valid=True,
        squeeze_value=1.0,
        trigger_value=DEAD_ZONE + (1.0 - DEAD_ZONE) * closedness,
    )
