"""Laws of rotations, with samples near the identity and near half a turn."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from handloom.errors import InputError
from handloom.spatial import (
    axis_angle_from_quat,
    euler_deg_from_matrix,
    matrix_from_euler_deg,
    matrix_from_quat,
    matrix_from_rotvec,
    quat_angle,
    quat_conjugate,
    quat_from_axis_angle,
    quat_from_euler_deg,
    quat_from_matrix,
    quat_from_rotvec,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    quat_slerp,
    quat_wxyz_from_xyzw,
    quat_xyzw_from_wxyz,
    random_directions,
    random_quats,
    rotvec_from_matrix,
    rotvec_from_quat,
    skew,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def quats(rng):
    """Random rotations, tiny ones, half turns and neighbours of half turns."""
    axes = random_directions(rng, 400)
    angles = np.concatenate(
        [
            rng.uniform(0, np.pi, 100),
            10.0 ** rng.uniform(-16, -3, 100),
            np.full(100, np.pi),
            np.pi - 10.0 ** rng.uniform(-12, -3, 100),
        ]
    )
    return np.concatenate([random_quats(rng, 200), quat_from_axis_angle(axes, angles)])


def same_rotation(a, b):
    return np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))


def test_quaternions_form_a_group(quats, rng):
    a, b, c = quats, rng.permutation(quats), rng.permutation(quats)
    np.testing.assert_allclose(quat_multiply(quat_multiply(a, b), c), quat_multiply(a, quat_multiply(b, c)), atol=1e-14)
    identity = quat_multiply(a, quat_conjugate(a))
    np.testing.assert_allclose(identity, np.broadcast_to([1, 0, 0, 0], identity.shape), atol=1e-14)


def test_products_of_quaternions_and_matrices_agree(quats, rng):
    a, b = quats, rng.permutation(quats)
    np.testing.assert_allclose(
        matrix_from_quat(quat_multiply(a, b)), matrix_from_quat(a) @ matrix_from_quat(b), atol=1e-14
    )
    v = rng.standard_normal((len(a), 3))
    np.testing.assert_allclose(quat_rotate(a, v), (matrix_from_quat(a) @ v[..., None])[..., 0], atol=1e-14)


def test_matrix_and_quaternion_are_inverse_maps(quats):
    assert same_rotation(quat_from_matrix(matrix_from_quat(quats)), quats).max() < 1e-14


def test_rotation_vectors_are_inverse_maps_and_at_most_pi(quats):
    r = rotvec_from_quat(quats)
    assert np.linalg.norm(r, axis=-1).max() <= np.pi + 1e-14
    assert same_rotation(quat_from_rotvec(r), quats).max() < 1e-14
    np.testing.assert_allclose(
        matrix_from_rotvec(rotvec_from_matrix(matrix_from_quat(quats))), matrix_from_quat(quats), atol=1e-13
    )


def test_matrices_agree_with_an_independent_library(quats):
    scipy = Rotation.from_quat(quat_xyzw_from_wxyz(quats))
    np.testing.assert_allclose(matrix_from_quat(quats), scipy.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(
        matrix_from_euler_deg([[10, -20, 30], [90, 0, 45]]),
        Rotation.from_euler("xyz", [[10, -20, 30], [90, 0, 45]], degrees=True).as_matrix(),
        atol=1e-15,
    )


def test_euler_angles_return_the_same_rotation_even_at_gimbal_lock(quats):
    special = matrix_from_euler_deg([[10, 90, 30], [10, -90, 30], [0, 89.9999999, 5]])
    for m in (matrix_from_quat(quats), special):
        np.testing.assert_allclose(matrix_from_euler_deg(euler_deg_from_matrix(m)), m, atol=1e-7)
    np.testing.assert_allclose(
        matrix_from_quat(quat_from_euler_deg([1, 2, 3])), matrix_from_euler_deg([1, 2, 3]), atol=1e-15
    )


def test_the_angle_between_rotations_ignores_the_sign_of_the_quaternion(rng):
    angle = rng.uniform(0, np.pi, 50)
    a = random_quats(rng, 50)
    b = quat_multiply(a, quat_from_axis_angle(random_directions(rng, 50), angle))
    np.testing.assert_allclose(quat_angle(a, b), angle, atol=1e-13)
    np.testing.assert_allclose(quat_angle(a, -b), angle, atol=1e-13)
    assert quat_angle(a, a).max() < 1e-15


def test_slerp_moves_at_constant_speed_along_the_shorter_arc(rng):
    a, b = random_quats(rng, 50), -random_quats(rng, 50)
    total = quat_angle(a, b)
    for fraction in (0.0, 0.25, 0.5, 1.0):
        middle = quat_slerp(a, b, np.full(50, fraction))
        np.testing.assert_allclose(quat_angle(a, middle), fraction * total, atol=1e-12)
    assert same_rotation(quat_slerp(a, b, np.ones(50)), b).max() < 1e-13


def test_axis_and_angle_give_the_rotation_back(quats):
    axis, angle = axis_angle_from_quat(quats)
    assert same_rotation(quat_from_axis_angle(axis, angle), quats).max() < 1e-13


def test_the_cross_product_matrix_is_a_cross_product(rng):
    a, b = rng.standard_normal((2, 10, 3))
    np.testing.assert_allclose((skew(a) @ b[..., None])[..., 0], np.cross(a, b), atol=1e-15)


def test_quaternion_orders_convert_both_ways():
    np.testing.assert_array_equal(quat_wxyz_from_xyzw([1, 2, 3, 4]), [4, 1, 2, 3])
    np.testing.assert_array_equal(quat_xyzw_from_wxyz([4, 1, 2, 3]), [1, 2, 3, 4])


@pytest.mark.parametrize("bad", [[0, 0, 0, 0], [np.nan, 0, 0, 1], [1, 0, 0]])
def test_quaternions_without_a_rotation_are_refused(bad):
    with pytest.raises(InputError):
        quat_normalize(bad)


def test_random_rotations_are_uniform(rng):
    # The rotation angle of uniform rotations has density (1 - cos a) / pi; its mean is pi/2 + 2/pi.
    angles = 2 * np.arccos(np.clip(random_quats(rng, 200_000)[:, 0], -1, 1))
    assert abs(angles.mean() - (np.pi / 2 + 2 / np.pi)) < 5e-3
    assert np.abs(random_directions(rng, 200_000).mean(axis=0)).max() < 1e-2


def test_one_rotation_gives_the_same_bits_as_a_batch():
    rng = np.random.default_rng(5)
    quats = quat_normalize(rng.normal(size=(2000, 4)))
    # Half turns and the identity among them, where the largest square changes.
    quats = np.concatenate([quats, np.eye(4), -np.eye(4), quat_normalize([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]])])
    matrices = matrix_from_quat(quats)
    for one, (batch_quat, batch_vector) in enumerate(
        zip(quat_from_matrix(matrices), rotvec_from_quat(quats), strict=True)
    ):
        np.testing.assert_array_equal(matrix_from_quat(quats[one]), matrices[one])
        np.testing.assert_array_equal(quat_from_matrix(matrices[one]), batch_quat)
        np.testing.assert_array_equal(rotvec_from_quat(quats[one]), batch_vector)
        np.testing.assert_array_equal(quat_from_matrix(matrices[one, None, None]), batch_quat[None, None])
        np.testing.assert_array_equal(rotvec_from_quat(quats[one, None, None]), batch_vector[None, None])
        np.testing.assert_array_equal(quat_normalize(3.0 * quats[one]), quat_normalize(3.0 * quats)[one])
