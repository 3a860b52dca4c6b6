"""Drive published nodes through lost devices and broken values, and write what they give as JSON.

Usage: ``python lost_devices.py PREFIX > FILE``. ``lost_devices.json`` was written in an environment with isaacteleop
1.5.175 from PyPI, with the prefix ``isaacteleop``: numbers that its nodes gave, rounded to six digits.
"""

import importlib
import json
import sys
from typing import Any

import numpy as np

NODES = {
    "abs controller": ("Se3AbsRetargeter", "controller_right", {}),
    "abs wrist": ("Se3AbsRetargeter", "hand_right", {"use_wrist_rotation": True, "use_wrist_position": True}),
    "abs tips": ("Se3AbsRetargeter", "hand_right", {"use_wrist_rotation": False, "use_wrist_position": False}),
    "rel controller": ("Se3RelRetargeter", "controller_right", {}),
    "rel wrist": ("Se3RelRetargeter", "hand_right", {"use_wrist_rotation": True, "use_wrist_position": True}),
    "rel tips": ("Se3RelRetargeter", "hand_right", {"use_wrist_rotation": False, "use_wrist_position": False}),
}
BREAKS = (
    "absent",
    "flagged invalid",
    "NaN position",
    "infinite position",
    "zero quaternion",
    "NaN quaternion",
    "1e30 m",
)
WHEN = {"at the start": (0, 1), "in between": (3,)}
STATE_BREAKS = ("kill", "run_toggle", "reset", "kill and reset", "all")
JOINTS = 26


def pose(frame: int, joint: int) -> tuple[np.ndarray, np.ndarray]:
    """Return position [m] and unit quaternion xyzw of a joint that moves and turns."""
    position = np.array([0.3 + 0.02 * frame, 0.1 * joint, 0.5 - 0.01 * frame], np.float32)
    half = 0.05 * frame + 0.02 * joint
    return position, np.array([0.1 * np.sin(half), 0, np.sin(half), np.cos(half)], np.float32)


def broken(kind: str, position: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a pose as a device in trouble sends it, and its flag."""
    position, quat = position.copy(), quat / np.linalg.norm(quat)
    if kind == "NaN position":
        position[1] = np.nan
    elif kind == "infinite position":
        position[0] = np.inf
    elif kind == "1e30 m":
        position[0] = 1e30
    elif kind == "zero quaternion":
        quat = np.zeros(4, np.float32)
    elif kind == "NaN quaternion":
        quat[2] = np.nan
    return position, quat.astype(np.float32), kind != "flagged invalid"


def device_group(names: Any, device: str, frame: int, kind: str) -> Any:
    """Return the group of a frame, broken in a way."""
    group_type = names.ControllerInput() if "controller" in device else names.HandInput()
    group = names.OptionalTensorGroup(group_type)
    if kind == "absent":
        return group
    if "controller" in device:
        index = names.ControllerInputIndex
        position, quat, valid = broken(kind, *pose(frame, 0))
        for slot, tensor in enumerate(group_type.types):
            if type(tensor).__name__ == "NDArrayType":
                group[slot] = position if tensor.shape == (3,) else quat
            else:
                group[slot] = 0.0 if type(tensor).__name__ == "FloatType" else False
        group[index.GRIP_IS_VALID] = group[index.AIM_IS_VALID] = valid
        return group
    index, rows = names.HandInputIndex, [broken(kind, *pose(frame, joint)) for joint in range(JOINTS)]
    group[index.JOINT_POSITIONS] = np.array([row[0] for row in rows], np.float32)
    group[index.JOINT_ORIENTATIONS] = np.array([row[1] for row in rows], np.float32)
    group[index.JOINT_RADII] = np.full(JOINTS, 0.01, np.float32)
    group[index.JOINT_VALID] = np.array([row[2] for row in rows], np.uint8)
    return group


def published(prefix: str) -> Any:
    """Return an object that has the published names."""
    found: dict[str, Any] = {}
    for module in (
        "retargeters",
        "retargeting_engine.interface",
        "retargeting_engine.tensor_types",
        "retargeting_engine.interface.execution_events",
        "retargeting_engine.interface.retargeter_core_types",
        "teleop_session_manager",
    ):
        space = importlib.import_module(f"{prefix}.{module}")
        for name in NAMES:
            if name not in found and hasattr(space, name):
                found[name] = getattr(space, name)
    return type("Names", (), found)


NAMES = (
    "ComputeContext",
    "ControllerInput",
    "ControllerInputIndex",
    "DefaultTeleopStateManager",
    "ExecutionEvents",
    "ExecutionState",
    "GraphTime",
    "HandInput",
    "HandInputIndex",
    "OptionalTensorGroup",
    "Se3AbsRetargeter",
    "Se3RelRetargeter",
    "Se3RetargeterConfig",
)


def context(names: Any, frame: int) -> Any:
    """Return the context of a frame at 50 Hz."""
    time_ns = 1_000_000_000 + 20_000_000 * frame
    events = names.ExecutionEvents(reset=False, execution_state=names.ExecutionState.RUNNING)
    return names.ComputeContext(graph_time=names.GraphTime(time_ns, time_ns), execution_events=events)


def outputs_of(names: Any, node: Any, frames: list[dict[str, Any]]) -> list[Any]:
    """Return the outputs of all frames; ``error`` where the node raises."""
    result: list[Any] = []
    for number, inputs in enumerate(frames):
        try:
            given = node(inputs, context(names, number))
        except Exception:
            result.append("error")
            continue
        values = {port: [np.asarray(group[i]).tolist() for i in range(len(group))] for port, group in given.items()}
        result.append({port: [plain(value) for value in listed] for port, listed in values.items()})
    return result


def plain(value: Any) -> Any:
    """Return numbers that JSON can hold."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value if isinstance(value, bool) or np.isfinite(value) else "not finite"


def cases(prefix: str) -> dict[str, list[Any]]:
    """Return the outputs of every case by its name."""
    names, found = published(prefix), {}
    for label, (kind, device, settings) in NODES.items():
        for trouble in BREAKS:
            for when, frames in WHEN.items():
                node = getattr(names, kind)(names.Se3RetargeterConfig(input_device=device, **settings), "node")
                given = [{device: device_group(names, device, f, trouble if f in frames else "")} for f in range(7)]
                found[f"{label}: {trouble} {when}"] = outputs_of(names, node, given)
    for lost in STATE_BREAKS:
        for held in ("nothing", "run_toggle", "reset"):
            found[f"state: {lost} lost, {held} held"] = state_case(names, lost, held)
    return found


def state_case(names: Any, lost: str, held: str) -> list[Any]:
    """Return the states of a run in which buttons vanish for two frames while another is held."""
    node, frames = names.DefaultTeleopStateManager("state"), []
    for frame in range(10):
        pressed = {"kill": False, "run_toggle": frame in (1, 3), "reset": False}
        if held != "nothing" and frame >= 5:
            pressed[held] = True
        inputs = {}
        for port, group_type in node.input_spec().items():
            button = port.removesuffix("_button")
            inputs[port] = names.OptionalTensorGroup(group_type)
            if not (frame in (5, 6) and (lost == "all" or button in lost.split(" and "))):
                inputs[port][0] = pressed[button]
        frames.append(inputs)
    return outputs_of(names, node, frames)


if __name__ == "__main__":
    json.dump(cases(sys.argv[1]), sys.stdout, indent=0)
