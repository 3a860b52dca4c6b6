"""Ten thousand malformed frames: a held pose or a typed error, never a jump or a NaN."""

import numpy as np
import pytest
from controller_samples import about, product

from handloom.errors import HandloomError
from handloom.retarget import (
    ControllersSource,
    DeviceFrame,
    EePoseRateLimiter,
    OutputCombiner,
    RateLimiterConfig,
    SO101GripperRetargeter,
    SO101PoseClutchRetargeter,
    SO101PositionClutchRetargeter,
    SO101RollRetargeter,
    TensorReorderer,
    TransformMatrix,
    ValueInput,
    device_inputs,
    group_of,
)

RIGHT = ControllersSource.RIGHT
# For each of the two clutches.
MALFORMED = 5_000
ANCHOR = np.array([[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]], np.float32)


def pipeline(clutch) -> OutputCombiner:
    controllers, anchor = ControllersSource("controllers"), ValueInput("world_T_anchor", TransformMatrix())
    moved = controllers.transformed(anchor.output("value"))
    wire = {RIGHT: moved.output(RIGHT)}
    bound = clutch.connect(wire)
    # Limits far above the motion of the test, so that the limiter's own bookkeeping is what is tested.
    limits = RateLimiterConfig(max_linear_velocity=1e5, max_angular_velocity=1e5)
    limited = EePoseRateLimiter("limit", limits).connect({"ee_pose": bound.output("ee_pose")})
    flat = TensorReorderer(
        {"ee_pose": ["x", "y", "z", "qx", "qy", "qz", "qw"], "roll": ["roll"], "jaw": ["jaw"]},
        ["x", "y", "z", "roll", "jaw"],
        "flat",
        {"ee_pose": "array"},
    ).connect(
        {
            "ee_pose": limited.output("ee_pose"),
            "roll": SO101RollRetargeter("roll", axis="local_z", unwrap=True).connect(wire).output("roll_command"),
            "jaw": SO101GripperRetargeter("jaw").connect(wire).output("gripper_command"),
        }
    )
    return OutputCombiner({"action": flat.output("output")})


FAULTS = {
    "nan position": lambda rng, r: r["controller_right"]["grip_position"].__setitem__(rng.integers(3), "nan"),
    "infinite position": lambda rng, r: r["controller_right"]["grip_position"].__setitem__(rng.integers(3), "inf"),
    "huge position": lambda rng, r: r["controller_right"]["grip_position"].__setitem__(rng.integers(3), 1e300),
    "nan quaternion": lambda rng, r: r["controller_right"]["grip_orientation"].__setitem__(rng.integers(4), "nan"),
    "zero quaternion": lambda rng, r: r["controller_right"].update(grip_orientation=[0.0, 0.0, 0.0, 0.0]),
    "tiny quaternion": lambda rng, r: r["controller_right"].update(grip_orientation=[1e-9, 0.0, 0.0, 0.0]),
    "flagged invalid": lambda rng, r: r["controller_right"].update(grip_is_valid=False),
    "absent": lambda rng, r: r.pop("controller_right"),
    "null": lambda rng, r: r.update(controller_right=None),
    "short position": lambda rng, r: r["controller_right"]["grip_position"].pop(),
    "nested position": lambda rng, r: r["controller_right"].update(grip_position=[[0.0, 0.0, 0.0]]),
    "text position": lambda rng, r: r["controller_right"].update(grip_position="here"),
    "null in position": lambda rng, r: r["controller_right"].update(grip_position=[0.0, None, "x"]),
    "long quaternion": lambda rng, r: r["controller_right"]["grip_orientation"].append(1.0),
    "unknown field": lambda rng, r: r["controller_right"].update(grip_pose=[0.0]),
    "no fields": lambda rng, r: r.update(controller_right={}),
    "missing pose": lambda rng, r: r["controller_right"].pop("grip_orientation"),
    "flag as number": lambda rng, r: r["controller_right"].update(grip_is_valid=1),
    "trigger as text": lambda rng, r: r["controller_right"].update(trigger_value="hard"),
    "sample as list": lambda rng, r: r.update(controller_right=[1.0, 2.0]),
    "no time": lambda rng, r: r.pop("time_ns"),
    "time as text": lambda rng, r: r.update(time_ns="now"),
    "unknown state": lambda rng, r: r.update(state="flying"),
}

NAMES = tuple(FAULTS)


def good_record(rng, time_ns, position, quat) -> dict:
    return {
        "time_ns": time_ns,
        "state": "running",
        "controller_right": {
            "grip_position": position.tolist(),
            "grip_orientation": quat.tolist(),
            "grip_is_valid": True,
            "squeeze_value": 1.0,
            "trigger_value": 0.3,
        },
    }


@pytest.mark.parametrize("kind", ["position", "pose"])
def test_malformed_frames_hold_or_raise_and_never_jump(kind) -> None:
    rng = np.random.default_rng(7)
    clutch = SO101PositionClutchRetargeter("c") if kind == "position" else SO101PoseClutchRetargeter("c", np.eye(4))
    graph = pipeline(clutch)
    anchor = {"value": group_of(TransformMatrix(), ANCHOR)}
    position, quat, time_ns = np.zeros(3), about((0, 0, 1), 0.0), 0
    last, previous, seen, raised = None, None, 0, 0
    while seen < MALFORMED:
        # The hand wanders all the time, also while nobody can see it; the clock sometimes runs backwards.
        position = position + rng.uniform(-0.02, 0.02, 3)
        quat = product(about(rng.normal(size=3), rng.uniform(0, 0.1)), quat)
        time_ns += int(rng.integers(-30_000_000, 60_000_000))
        record = good_record(rng, time_ns, position, quat)
        fault = None if rng.random() < 0.4 or last is None else NAMES[rng.integers(len(NAMES))]
        if fault is not None:
            FAULTS[fault](rng, record)
            seen += 1
        try:
            frame = DeviceFrame.from_record(record)
        except HandloomError:
            # What a session does with a refused record: every device was silent in this frame.
            assert fault is not None
            raised += 1
            frame = DeviceFrame(time_ns=time_ns)
        action = graph({**device_inputs(graph, frame), "world_T_anchor": anchor}, frame.context)["action"][0]
        assert np.all(np.isfinite(action)), fault
        if fault is not None:
            assert np.array_equal(action[:4], last[:4]), fault
            previous = None
        elif last is not None and previous is not None:
            assert np.linalg.norm(action[:3] - last[:3]) <= np.linalg.norm(position - previous) + 1e-5
            previous = position
        elif last is not None:
            assert np.linalg.norm(action[:3] - last[:3]) < 1e-6, "the latch frame moved the command"
            assert abs(action[3] - last[3]) < 1e-6
            previous = position
        else:
            previous = position
        last = action
    assert 1000 < raised < MALFORMED - 1000
