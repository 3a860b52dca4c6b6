"""The models move like the real robots."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.robots import load_robot, robot_names
from handloom.spatial import make_pose, matrix_from_quat, pose_error, relative_pose

GOLDEN = json.loads(Path(__file__).with_name("golden_fk.json").read_text())
CASES = [(robot, i) for robot in robot_names() for i in range(len(GOLDEN.get(robot, ())))]
TOLERANCE = 1e-5  # metres and radians


def rotation(axis, angle: float) -> np.ndarray:
    """Rodrigues' formula, written out here so that nothing of the package is in the reference."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def product_of_transforms(chain: list[dict], q: dict[str, float]) -> np.ndarray:
    T = np.eye(4)
    for joint in chain:
        roll, pitch, yaw = joint["rpy"]
        R = rotation([0, 0, 1], yaw) @ rotation([0, 1, 0], pitch) @ rotation([1, 0, 0], roll)
        T = T @ make_pose(R, joint["xyz"])
        if joint["name"] is None:
            continue
        if joint["kind"] == "prismatic":
            T = T @ make_pose(np.eye(3), np.asarray(joint["axis"]) * q[joint["name"]])
        else:
            T = T @ make_pose(rotation(joint["axis"], q[joint["name"]]), np.zeros(3))
    return T


def body_pose(data: mujoco.MjData, name: str) -> np.ndarray:
    return make_pose(data.body(name).xmat.reshape(3, 3), data.body(name).xpos)


def model_pose(model, data, arm: dict, q: dict[str, float]) -> np.ndarray:
    for name, value in q.items():
        data.joint(name).qpos = value
    mujoco.mj_kinematics(model, data)
    return relative_pose(body_pose(data, arm["base_frame"]), body_pose(data, arm["ee_frame"]))


@pytest.mark.parametrize(("robot", "index"), CASES)
def test_forward_kinematics_equal_the_published_vectors(robot, index):
    arm = GOLDEN[robot][index]
    model = load_robot(robot).spec().compile()
    data = mujoco.MjData(model)
    for vector in arm["vectors"]:
        T = model_pose(model, data, arm, dict(zip(arm["joint_names"], vector["q"], strict=True)))
        expected = make_pose(matrix_from_quat(vector["quat_wxyz"]), vector["pos"])
        distance, angle = pose_error(expected, T)
        assert distance < TOLERANCE, vector["label"]
        assert angle < TOLERANCE, vector["label"]


@pytest.mark.parametrize(("robot", "index"), CASES)
def test_forward_kinematics_equal_a_product_of_transforms_at_random_vectors(robot, index):
    arm = GOLDEN[robot][index]
    model = load_robot(robot).spec().compile()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(7)
    names = [joint["name"] for joint in arm["chain"] if joint["name"]]
    for _ in range(100):
        q = {name: rng.uniform(*model.joint(name).range) for name in names}
        distance, angle = pose_error(product_of_transforms(arm["chain"], q), model_pose(model, data, arm, q))
        assert distance < TOLERANCE
        assert angle < TOLERANCE
