"""How high a lip must be for a tilted vessel and the hand that holds it to clear what is poured into."""

import numpy as np
import pytest

from handloom.grasping.gripper_shape import GripperShape
from handloom.objects import make_object
from handloom.scene.assets import robot_description
from handloom.skills.held_objects.tilt_clearance import CLEARANCE, RIM_GAP, TiltClearance
from handloom.spatial import make_pose

FAR = make_pose(np.eye(3), [0.0, 0.0, 50.0])
"""Pose of a vessel in the tool that leaves the hand out of the picture, far above it when it is upright."""
X = np.array([1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def gripper() -> GripperShape:
    return GripperShape.of(robot_description("split_aloha", {}))


def block(gripper: GripperShape) -> tuple[TiltClearance, float, float]:
    """Return a block as a vessel without a hand, its height and half its width."""
    asset = make_object("cube", rng=np.random.default_rng(0))
    clearance = TiltClearance.of(asset, gripper, FAR)
    near = np.linalg.norm(clearance.points, axis=1) < 1.0
    return TiltClearance(clearance.points[near], clearance.up), float(asset.extent[2]), float(asset.extent[0]) / 2


def test_an_upright_vessel_beside_the_target_stands_as_high_over_the_ground_as_it_is_long(gripper) -> None:
    vessel, length, half = block(gripper)
    top = float(vessel.points[:, 2].max())
    height = vessel.heights(np.array([half, 0.0, top]), X, np.zeros(1), np.array([-0.5]), reach=0.05, floor=0.1)
    assert height[0] == pytest.approx(length + CLEARANCE - 0.1, abs=0.002)


def test_an_upright_vessel_over_the_target_clears_its_rim(gripper) -> None:
    vessel, length, half = block(gripper)
    top = float(vessel.points[:, 2].max())
    height = vessel.heights(np.array([half, 0.0, top]), X, np.zeros(1), np.zeros(1), reach=0.05, floor=0.1)
    assert height[0] == pytest.approx(length + RIM_GAP, abs=0.002)


def test_the_lip_comes_down_as_the_vessel_is_tilted(gripper) -> None:
    vessel, _, half = block(gripper)
    top, angles = float(vessel.points[:, 2].max()), np.deg2rad([0.0, 30.0, 60.0, 90.0])
    height = vessel.heights(np.array([half, 0.0, top]), X, angles, np.zeros(4), reach=0.05, floor=0.1)
    assert (np.diff(height) < 0.0).all()
    assert height[-1] == pytest.approx(RIM_GAP, abs=0.002)


def test_the_hand_counts_as_well(gripper) -> None:
    asset = make_object("carafe", rng=np.random.default_rng(0))
    lip, angle = np.array(asset.keypoints["top"].position), np.deg2rad([60.0])
    beside = make_pose(np.eye(3), [0.0, 0.0, 0.12])
    held, alone = TiltClearance.of(asset, gripper, beside), TiltClearance.of(asset, gripper, FAR)
    alone = TiltClearance(alone.points[np.linalg.norm(alone.points, axis=1) < 1.0], alone.up)
    given = (lip, X, angle, np.zeros(1))
    assert held.heights(*given, reach=0.2, floor=0.1) >= alone.heights(*given, reach=0.2, floor=0.1)
    assert len(held.points) > len(alone.points)
