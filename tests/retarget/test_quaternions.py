"""The scalar quaternion arithmetic agrees with ``handloom.spatial``."""

import math

import numpy as np
import pytest

from handloom import spatial
from handloom.retarget import quaternions as scalar

RNG = np.random.default_rng(5)
QUATS = [tuple(q) for q in spatial.random_quats(RNG, 200).tolist()] + [
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0),
    (-1.0, 0.0, 0.0, 0.0),
    (math.cos(1e-9), math.sin(1e-9), 0.0, 0.0),
]
PAIRS = list(zip(QUATS, QUATS[1:] + QUATS[:1], strict=True))


def test_products_rotations_and_vectors_agree_with_spatial() -> None:
    vector = (0.3, -0.7, 1.1)
    for a, b in PAIRS:
        np.testing.assert_allclose(scalar.multiply(a, b), spatial.quat_multiply(a, b), atol=1e-15)
        np.testing.assert_allclose(scalar.conjugate(a), spatial.quat_conjugate(a), atol=0)
        np.testing.assert_allclose(scalar.rotate(a, vector), spatial.quat_rotate(a, vector), atol=1e-14)
        np.testing.assert_allclose(scalar.rotvec(a), spatial.rotvec_from_quat(a), atol=1e-14)
        assert spatial.quat_angle(scalar.toward(a, b, 0.3), spatial.quat_slerp(a, b, 0.3)) < 1e-7


def test_layouts_change_at_the_border_only() -> None:
    array = np.array([0.1, 0.2, 0.3, 0.9], np.float32)
    assert scalar.quat_from_port(array) == tuple(float(v) for v in array[[3, 0, 1, 2]])
    np.testing.assert_array_equal(scalar.pose_port((1.0, 2.0, 3.0), (0.9, 0.1, 0.2, 0.3))[3:], array)


@pytest.mark.parametrize(
    "bad", [(0.0, 0.0, 0.0, 0.0), (1e-7, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 1.0), (math.inf, 0.0, 0.0, 0.0)]
)
def test_quaternions_without_direction_are_not_usable(bad) -> None:
    assert scalar.usable_quat(bad) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30])
def test_positions_no_room_has_are_not_usable(bad) -> None:
    quat = np.array([0, 0, 0, 1], np.float32)
    assert scalar.usable_pose(np.array([0, bad, 0], np.float32), quat) is None
    assert scalar.usable_pose(np.array([0, 1, 0], np.float32), quat) == ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0))


def test_twist_is_invariant_to_the_sign_of_the_quaternion_and_to_swing() -> None:
    z = (0.0, 0.0, 1.0)
    for q in QUATS[:100]:
        assert scalar.twist_angle(q, z) == pytest.approx(scalar.twist_angle(tuple(-v for v in q), z))
        # A swing about an axis in the xy plane, composed from the left, leaves the twist alone.
        angle = RNG.uniform(-3.0, 3.0)
        twist = scalar.rotation_about(z, angle)
        swing = scalar.rotation_about((math.cos(q[1]), math.sin(q[1]), 0.0), RNG.uniform(-3.0, 3.0))
        assert scalar.twist_angle(scalar.multiply(swing, twist), z) == pytest.approx(angle, abs=1e-9)
