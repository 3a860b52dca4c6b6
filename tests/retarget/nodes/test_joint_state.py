"""Following a leader arm."""

import math

import numpy as np
import pytest
from controller_samples import running

from handloom.retarget import (
    ExecutionState,
    JointStateRetargeter,
    JointStateRetargeterConfig,
    JointStateSource,
    OutputCombiner,
    TransformMatrix,
    group_of,
)

JOINTS = ["pan", "lift", "gripper"]


def follow(source, pipeline, positions, **context):
    inputs = {source.name: source.raw_inputs(positions)}
    live = context.pop("live", None)
    if live is not None:
        inputs["live"] = live
    return pipeline.execute_pipeline(inputs, running(**context))


def joint_pipeline(**config):
    source = JointStateSource(name="leader", collection_id="leader", joint_names=JOINTS)
    node = JointStateRetargeter("n", "joint", JointStateRetargeterConfig(device_joints=JOINTS, **config))
    bound = node.connect({JointStateRetargeter.JOINTS: source.output(JointStateSource.JOINTS)})
    return source, OutputCombiner({"t": bound.output("joint_targets")})


def targets(outputs) -> list[float]:
    return [outputs["t"][i] for i in range(len(outputs["t"]))]


def test_joints_are_mirrored_by_name_and_missing_ones_are_zero() -> None:
    source, pipeline = joint_pipeline()
    assert targets(follow(source, pipeline, {"lift": 0.2, "pan": 0.1, "stranger": 9})) == [0.1, 0.2, 0.0]


def test_sign_scale_offset_and_name_map_apply_per_target() -> None:
    source, pipeline = joint_pipeline(
        target_joints=["p", "lift"], name_map={"p": "pan"}, signs={"p": -1}, scales={"p": 2.0}, offsets={"lift": 0.5}
    )
    assert targets(follow(source, pipeline, {"pan": 0.1, "lift": 0.2})) == pytest.approx([-0.2, 0.7])


def test_lost_frames_hold_and_reset_zeroes() -> None:
    source, pipeline = joint_pipeline()
    held = targets(follow(source, pipeline, {"pan": 0.3}))
    assert targets(follow(source, pipeline, None)) == held
    assert targets(follow(source, pipeline, {"pan": math.nan})) == held
    assert targets(follow(source, pipeline, None, reset=True)) == [0.0, 0.0, 0.0]


def test_wrong_names_and_values_are_typed_errors() -> None:
    with pytest.raises(ValueError, match="follows 'elbow', which the device does not have"):
        joint_pipeline(target_joints=["elbow"])
    with pytest.raises(ValueError, match="no mode 'joints'"):
        JointStateRetargeter("n", "joints", JointStateRetargeterConfig(device_joints=JOINTS))
    with pytest.raises(ValueError, match="forward_kinematics"):
        JointStateRetargeter("n", "ee_pose", JointStateRetargeterConfig(device_joints=JOINTS))
    source, pipeline = joint_pipeline()
    with pytest.raises(ValueError, match="joint 'pan' must be a number"):
        follow(source, pipeline, {"pan": "fast"})


def planar(joints) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = joints["pan"], joints["lift"], 0.0
    return T


def test_the_leader_pose_comes_from_its_kinematics_and_the_clutch_starts_at_the_robot() -> None:
    config = JointStateRetargeterConfig(
        device_joints=JOINTS,
        forward_kinematics=planar,
        gripper_joint="gripper",
        gripper_open=1.0,
        gripper_close=0.0,
        clutch=True,
    )
    node = JointStateRetargeter("n", "ee_pose", config)
    source = JointStateSource("leader", "leader", JOINTS)
    live = np.eye(4, dtype=np.float32)
    live[:3, 3] = 0.5, 0.6, 0.7

    def run(positions, **context):
        raw = source(source.raw_inputs(positions))
        out = node({"joints": raw["joints"], "robot_ee_pos": group_of(TransformMatrix(), live)}, running(**context))
        return out["ee_pose"][0][:3], out["gripper_command"][0]

    assert run({"pan": 1.0, "gripper": 0.25}, state=ExecutionState.STOPPED)[0] == pytest.approx((0, 0, 0))
    position, closedness = run({"pan": 1.0, "gripper": 0.25})
    np.testing.assert_allclose(position, (0.5, 0.6, 0.7), atol=1e-6)
    assert closedness == 0.75
    np.testing.assert_allclose(run({"pan": 1.1, "lift": -0.1, "gripper": 2.0})[0], (0.6, 0.5, 0.7), atol=1e-6)
    wrong = JointStateRetargeterConfig(device_joints=JOINTS, forward_kinematics=planar, gripper_joint="jaw")
    with pytest.raises(ValueError, match="no gripper joint 'jaw'"):
        JointStateRetargeter("n", "ee_pose", wrong)
