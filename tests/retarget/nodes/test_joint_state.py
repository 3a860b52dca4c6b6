"""Following a leader arm."""

import math

import numpy as np
import pytest
from controller_samples import running

from handloom.errors import FileError, InputError, NotFoundError
from handloom.retarget import (
    ExecutionState,
    JointStateRetargeter,
    JointStateRetargeterConfig,
    JointStateSource,
    OutputCombiner,
    RobotHandJoints,
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
        target_joints=["p", "lift"], joint_map={"pan": "p"}, sign={"p": -1}, scale={"p": 2.0}, offset={"lift": 0.5}
    )
    assert targets(follow(source, pipeline, {"pan": 0.1, "lift": 0.2})) == pytest.approx([-0.2, 0.7])


def test_lost_frames_hold_and_reset_zeroes() -> None:
    source, pipeline = joint_pipeline()
    held = targets(follow(source, pipeline, {"pan": 0.3}))
    assert targets(follow(source, pipeline, None)) == held
    assert targets(follow(source, pipeline, {"pan": math.nan})) == held
    assert targets(follow(source, pipeline, None, reset=True)) == [0.0, 0.0, 0.0]


def test_wrong_names_and_values_are_typed_errors() -> None:
    with pytest.raises(ValueError, match="no leader joint drives 'elbow'"):
        joint_pipeline(target_joints=["elbow"])
    with pytest.raises(ValueError, match="no mode 'joints'"):
        JointStateRetargeter("n", "joints", JointStateRetargeterConfig(device_joints=JOINTS))
    with pytest.raises(ValueError, match=r"config\.urdf_path"):
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


def test_a_clutch_without_a_live_end_effector_starts_at_the_leader_and_goes_on_from_the_last_command() -> None:
    node = JointStateRetargeter(
        "n", "ee_pose", JointStateRetargeterConfig(device_joints=JOINTS, forward_kinematics=planar, clutch=True)
    )

    def position(pan, **context):
        joints = group_of(RobotHandJoints("joints", JOINTS), pan, 0.0, 0.0)
        return node({"joints": joints}, running(**context))["ee_pose"][0][0]

    assert position(0.3, state=ExecutionState.STOPPED) == 0.0
    assert position(0.3) == pytest.approx(0.3)
    assert position(0.4) == pytest.approx(0.4)
    assert position(0.9, state=ExecutionState.STOPPED) == pytest.approx(0.4)
    assert position(0.9) == pytest.approx(0.4)


def test_a_gripper_that_is_open_where_it_is_closed_is_refused() -> None:
    config = JointStateRetargeterConfig(device_joints=JOINTS, gripper_open=1.0, gripper_close=1.0)
    with pytest.raises(InputError, match=r"gripper_open and gripper_close are both 1\.0"):
        JointStateRetargeter("n", "joint", config)


ARM = """<robot name="arm"><link name="base"/><link name="upper">
<visual><geometry><mesh filename="none.stl"/></geometry></visual>
</link><link name="tip"/>
<joint name="pan" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="fixed" type="fixed"><parent link="upper"/><child link="tip"/><origin xyz="0.2 0 0"/></joint></robot>"""


def test_the_leader_pose_comes_from_its_urdf_without_its_meshes(tmp_path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(ARM, encoding="utf-8")
    config = JointStateRetargeterConfig(device_joints=JOINTS, urdf_path=str(file), ee_link="tip")
    node = JointStateRetargeter("n", "ee_pose", config)
    outputs = node({"joints": group_of(RobotHandJoints("joints", JOINTS), 0.5, 0.0, 0.25)}, running())
    expected = (0.2 * math.cos(0.5), 0.2 * math.sin(0.5), 0.1, 0, 0, math.sin(0.25), math.cos(0.25))
    np.testing.assert_allclose(outputs["ee_pose"][0], expected, atol=1e-6)
    assert outputs["gripper_command"][0] == 0.25
    with pytest.raises(NotFoundError, match=r"'tipp'.*did you mean 'tip'"):
        JointStateRetargeter("n", "ee_pose", JointStateRetargeterConfig(JOINTS, urdf_path=file, ee_link="tipp"))
    with pytest.raises(FileError, match="cannot be read"):
        JointStateRetargeter("n", "ee_pose", JointStateRetargeterConfig(JOINTS, urdf_path=tmp_path, ee_link="tip"))
