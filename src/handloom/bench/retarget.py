"""Speed of the retargeting graph: two SO-101 arms driven by two controllers, 20 nodes."""

import time

import numpy as np

from handloom.bench.result import BenchResult
from handloom.retarget import (
    ControllerInputIndex,
    ControllerSnapshot,
    ControllersSource,
    DefaultTeleopStateManager,
    DeviceFrame,
    EePoseRateLimiter,
    ExecutionCache,
    GraphExecutable,
    OutputCombiner,
    OutputSelector,
    SO101GripperRetargeter,
    SO101PositionClutchRetargeter,
    SO101RollRetargeter,
    Tensor,
    TensorReorderer,
    TransformMatrix,
    ValueInput,
    create_bool_selector,
    device_inputs,
    group_of,
)

FRAMES = 2000
NODES = 20
POSE = ["pos_x", "pos_y", "pos_z", "quat_x", "quat_y", "quat_z", "quat_w"]


def two_arm_graph() -> OutputCombiner:
    """Return a graph of 20 nodes: sources, anchor, two arms with limiters, and the state of the session."""
    controllers, anchor = ControllersSource("controllers"), ValueInput("world_T_anchor", TransformMatrix())
    moved = controllers.transformed(anchor.output(ValueInput.VALUE))
    outputs = {f"action_{side}": _arm(side, moved.output(f"controller_{side}")) for side in ("left", "right")}
    left = controllers.output(ControllersSource.LEFT)
    buttons = {
        DefaultTeleopStateManager.INPUT_KILL: ControllerInputIndex.SECONDARY_CLICK,
        DefaultTeleopStateManager.INPUT_RUN_TOGGLE: ControllerInputIndex.PRIMARY_CLICK,
    }
    state = DefaultTeleopStateManager("state").connect(
        {
            port: create_bool_selector(left, name=port, selector_fn=lambda group, slot=slot: group[slot]).output(
                "value"
            )
            for port, slot in buttons.items()
        }
    )
    return OutputCombiner({**outputs, "state": state.output(DefaultTeleopStateManager.OUTPUT_TELEOP_STATE)})


def _arm(side: str, controller: OutputSelector) -> OutputSelector:
    device = f"controller_{side}"
    live = {
        port: ValueInput(f"{side}_{port}", TransformMatrix()).output(ValueInput.VALUE)
        for port in (
            SO101PositionClutchRetargeter.ROBOT_EE_POS_INPUT,
            SO101PositionClutchRetargeter.ROBOT_BASE_POS_INPUT,
        )
    }
    clutch = SO101PositionClutchRetargeter(f"{side}_clutch", device).connect({device: controller, **live})
    limited = EePoseRateLimiter(f"{side}_limit").connect({"ee_pose": clutch.output("ee_pose")})
    flat = TensorReorderer(
        {"ee_pose": POSE, "roll_command": ["roll"], "gripper_command": ["jaw"]},
        ["pos_x", "pos_y", "pos_z", "roll", "jaw"],
        f"{side}_action",
        {"ee_pose": "array"},
    )
    return flat.connect(
        {
            "ee_pose": limited.output("ee_pose"),
            "roll_command": SO101RollRetargeter(f"{side}_roll", device)
            .connect({device: controller})
            .output("roll_command"),
            "gripper_command": SO101GripperRetargeter(f"{side}_jaw", device)
            .connect({device: controller})
            .output("gripper_command"),
        }
    ).output("output")


def run(frames: int = FRAMES) -> BenchResult:
    """Time frames of two moving hands, with and without the check when slots are read."""
    rows = []
    for name, checked in (("handloom 20 nodes", True), ("handloom 20 nodes, reads not re-checked", False)):
        Tensor.set_runtime_validation(checked)
        try:
            rows.append({"name": name, "nodes": NODES, **_timed(two_arm_graph(), frames)})
        finally:
            Tensor.set_runtime_validation(True)
    return BenchResult(bench="retarget", rows=tuple(rows))


def _timed(graph: GraphExecutable, frames: int) -> dict[str, float]:
    """Return the median and 99th percentile of one frame's time [ms], from device samples to actions."""
    matrix = group_of(TransformMatrix(), np.eye(4, dtype=np.float32))
    fixed = {leaf.name: {"value": matrix} for leaf in graph.get_leaf_nodes() if isinstance(leaf, ValueInput)}
    samples = _hands(frames)
    spent = np.empty(frames)
    for index, frame in enumerate(samples):
        start = time.perf_counter()
        graph.execute_pipeline_with_cache(ExecutionCache({**fixed, **device_inputs(graph, frame)}, frame.context))
        spent[index] = time.perf_counter() - start
    return {
        "median_ms": float(np.median(spent) * 1e3),
        "p99_ms": float(np.percentile(spent, 99) * 1e3),
        "frames_per_s": float(1.0 / np.median(spent)),
    }


def _hands(frames: int) -> list[DeviceFrame]:
    """Return frames at 90 Hz in which both hands draw circles."""
    made = []
    for index in range(frames):
        angle = 0.02 * index
        sample = ControllerSnapshot(
            grip_position=(0.1 * np.cos(angle), 0.1 * np.sin(angle), 1.0),
            grip_orientation=(0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)),
            grip_is_valid=True,
            trigger_value=0.5 + 0.5 * np.sin(angle),
        )
        made.append(DeviceFrame(time_ns=round(index * 1e9 / 90), controller_left=sample, controller_right=sample))
    return made
