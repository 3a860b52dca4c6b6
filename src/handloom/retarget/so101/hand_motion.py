"""Controller motion that drives a tool along a path, and the pose of the operator's room in the world."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.retarget.graph.execution import ExecutionState
from handloom.retarget.nodes.gripper import DEAD_ZONE
from handloom.retarget.recording import DeviceRecording
from handloom.retarget.so101.so101_action import JawMap
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.snapshots import ControllerSnapshot
from handloom.retarget.transforms import checked_transform
from handloom.spatial import (
    invert_pose,
    make_pose,
    matrix_from_rotvec,
    pose_from_pos_quat,
    quat_from_matrix,
    quat_wxyz_from_xyzw,
    quat_xyzw_from_wxyz,
)

# OpenXR has x right, y up, z backward; the world has z up. (x, y, z) becomes (x, -z, y).
R_WORLD_OPENXR = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def anchor_transform(position: ArrayLike, quat_xyzw: ArrayLike) -> Array:
    """Return ``world_T_anchor`` (4, 4) of a published anchor pose: the pose after the change of axes.

    Args:
        position: Position of the anchor in the world (3,) [m].
        quat_xyzw: Orientation of the anchor in the world, xyzw as published; it is normalised.
    """
    return pose_from_pos_quat(position, quat_wxyz_from_xyzw(quat_xyzw)) @ make_pose(R_WORLD_OPENXR, np.zeros(3))


STACK_CUBE_ANCHOR = anchor_transform((-0.1, -0.5, -1.05), (0.0, 0.0, -0.5, 0.866))
"""The anchor of the published stacking task: the operator sits at the table, the floor is 1.05 m below its top."""


FASTEST_ROLL = 1.5
"""Mean speed at which an operator turns a wrist [rad/s]."""
SHORTEST_MOVE = 0.25
"""Minimum duration of a move [s]."""


@dataclass(frozen=True, kw_only=True)
class Keyframe:
    """Target of the tool at one moment."""

    seconds: float
    """Time since the start [s]."""
    position: tuple[float, float, float]
    """Tool centre in the world [m]."""
    roll: float
    """Wrist roll [rad]."""
    jaw: float
    """Jaw joint [rad]."""


class ToolPath:
    """A growing list of keyframes.

    Args:
        start: Initial pose of the tool.
    """

    def __init__(self, start: Keyframe) -> None:
        self._keys = [start]

    @property
    def last(self) -> Keyframe:
        """The end of the path so far."""
        return self._keys[-1]

    def move(self, position: ArrayLike, *, speed: float, roll: float | None = None) -> None:
        """Continue to a position (3,) [m] at a mean speed [m/s], turning the wrist along the way."""
        x, y, z = np.asarray(position, float).tolist()
        last = self.last
        turn = last.roll if roll is None else roll
        way = math.dist((x, y, z), last.position)
        seconds = max(way / speed, abs(turn - last.roll) / FASTEST_ROLL, SHORTEST_MOVE)
        self._keys.append(replace(last, seconds=last.seconds + seconds, position=(x, y, z), roll=turn))

    def wait(self, seconds: float, *, jaw: float | None = None) -> None:
        """Stay for some time [s] while moving the jaw [rad]."""
        last = self.last
        self._keys.append(replace(last, seconds=last.seconds + seconds, jaw=last.jaw if jaw is None else jaw))

    def at(self, seconds: float) -> Keyframe:
        """Return the path at a time [s]; constant before the start and after the end."""
        after = next((i for i, key in enumerate(self._keys) if key.seconds > seconds), None)
        if after is None or after == 0:
            return replace(self._keys[0 if after == 0 else -1], seconds=seconds)
        a, b = self._keys[after - 1], self._keys[after]
        u = (seconds - a.seconds) / (b.seconds - a.seconds)
        s = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        x, y, z = (p + s * (q - p) for p, q in zip(a.position, b.position, strict=True))
        return Keyframe(
            seconds=seconds, position=(x, y, z), roll=a.roll + s * (b.roll - a.roll), jaw=a.jaw + s * (b.jaw - a.jaw)
        )


SWAY = 0.9
"""Hand tremor is slow: white noise through a low-pass filter that keeps this fraction from frame to frame."""


@dataclass(frozen=True, kw_only=True)
class HandConfig:
    """Source of the hand tremor."""

    rate_hz: int = 60
    """Device frames per second."""
    start: tuple[float, float, float] = (0.35, -0.25, 0.10)
    """Position of the hand in the world when the session starts [m]."""
    engage_after: float = 0.25
    """Time before the session runs [s]; the tool must stand still until after it."""
    tremor: float = 0.0003
    """Standard deviation of the hand tremor [m]."""


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
    """Return the right controller's samples while a hand drives the tool along a path through a clutch of scale 1.

    Args:
        path: Path of the tool.
        jaw: Map of the jaw, to compute the trigger value.
        rng: Draws the tremor.
        config: Source of the hand tremor.
        world_T_anchor: Pose (4, 4) of the device's frame in the world; the default is the published anchor.
        title: One-line description of the recording.
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
    """Return the controller in the device's frame: at the tool plus an offset, rotated about world z by the roll."""
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
