"""Laws of poses."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.spatial import (
    invert_pose,
    make_pose,
    pos_quat_from_pose,
    pose_error,
    pose_from_pos_quat,
    random_quats,
    random_rotations,
    relative_pose,
    transform_directions,
    transform_points,
    translation,
)


@pytest.fixture
def poses():
    rng = np.random.default_rng(1)
    return make_pose(random_rotations(rng, 64), rng.standard_normal((64, 3)))


def test_a_pose_times_its_inverse_is_the_identity(poses):
    identity = np.broadcast_to(np.eye(4), poses.shape)
    np.testing.assert_allclose(poses @ invert_pose(poses), identity, atol=1e-14)
    np.testing.assert_allclose(invert_pose(poses) @ poses, identity, atol=1e-14)


def test_relative_poses_cancel(poses):
    a, b = poses[:32], poses[32:]
    np.testing.assert_allclose(a @ relative_pose(a, b), b, atol=1e-14)


def test_position_and_quaternion_give_the_pose_back(poses):
    np.testing.assert_allclose(pose_from_pos_quat(*pos_quat_from_pose(poses)), poses, atol=1e-14)


def test_points_move_with_the_translation_and_directions_do_not(poses):
    points = np.random.default_rng(2).standard_normal((64, 5, 3))
    homogeneous = np.concatenate([points, np.ones((64, 5, 1))], axis=-1)
    expected = np.einsum("nij,nkj->nki", poses, homogeneous)[..., :3]
    np.testing.assert_allclose(transform_points(poses, points), expected, atol=1e-14)
    np.testing.assert_allclose(transform_directions(poses, points), expected - poses[:, None, :3, 3], atol=1e-14)


def test_the_error_between_poses_is_distance_and_angle():
    q = random_quats(np.random.default_rng(3), 1)[0]
    distance, angle = pose_error(pose_from_pos_quat([0, 0, 0], q), pose_from_pos_quat([3, 4, 0], q))
    assert distance == pytest.approx(5.0)
    assert angle == pytest.approx(0.0, abs=1e-12)


def test_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="rotation"):
        make_pose(np.eye(4), [0, 0, 0])
    assert translation([1, 2, 3])[:3, 3].tolist() == [1, 2, 3]
