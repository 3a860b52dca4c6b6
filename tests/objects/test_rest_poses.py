"""Rest poses of shapes whose rest poses everybody knows."""

import numpy as np
import pytest

from handloom.objects import Blueprint
from handloom.objects.rest_poses import find_rest_poses
from handloom.objects.shapes import box, cylinder, ellipsoid, prism, sphere, tube
from handloom.spatial import matrix_from_quat


def poses_of(*parts):
    return find_rest_poses(Blueprint(words=("thing",), color=None, parts=tuple(parts)).spec().compile())


def downs(poses):
    """Return which way of the object points down, rounded."""
    return {tuple(np.round(matrix_from_quat(q).T @ [0.0, 0.0, -1.0], 2) + 0.0) for q in poses.quats}


def test_a_box_rests_on_six_faces_upright_first_then_the_flattest():
    poses = poses_of(box((0.03, 0.04, 0.05)))
    assert len(poses.quats) == 6
    np.testing.assert_allclose(poses.quats[0], [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(sorted(poses.heights), [0.015, 0.015, 0.02, 0.02, 0.025, 0.025], atol=1e-7)
    assert not poses.rolls.any()


def test_a_thin_rod_does_not_stand_on_its_end():
    assert all(abs(d[2]) < 0.01 for d in downs(poses_of(box((0.006, 0.006, 0.15)))))


def test_a_cylinder_stands_on_both_ends_and_rolls_on_its_side():
    poses = poses_of(cylinder(0.03, 0.08))
    assert len(poses.quats) == 3
    assert sorted(poses.rolls) == [False, False, True]
    assert poses.heights[list(poses.rolls).index(True)] == pytest.approx(0.03, abs=1e-6)


def test_a_ball_has_one_pose_and_rolls():
    poses = poses_of(sphere(0.03))
    assert len(poses.quats) == 1
    assert poses.rolls[0]


def test_an_egg_shape_lies_on_its_side_and_a_pebble_on_its_flat_faces():
    egg = poses_of(ellipsoid((0.06, 0.04, 0.04)))
    assert egg.rolls.all()
    assert egg.heights[0] == pytest.approx(0.02, abs=1e-5)
    pebble = poses_of(ellipsoid((0.06, 0.05, 0.03)))
    assert downs(pebble) == {(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)}
    assert not pebble.rolls.any()


def test_a_round_wall_drawn_with_sides_lies_in_one_pose_and_a_hexagon_in_six():
    assert len(poses_of(*tube(0.03, 0.1, 0.004, sides=16)).quats) == 3
    hexagon = [(0.03 * np.cos(a), 0.03 * np.sin(a)) for a in np.arange(6) * np.pi / 3]
    assert len(poses_of(prism(hexagon, 0.1)).quats) == 8


def test_a_weight_decides_which_side_is_down():
    # A light dome with a heavy bottom has no other rest pose than upright: a roly-poly toy.
    poses = poses_of(
        sphere(0.04, (0.0, 0.0, 0.04), substance="foam"),
        ellipsoid((0.04, 0.04, 0.01), (0.0, 0.0, 0.01), substance="steel"),
    )
    assert downs(poses) == {(0.0, 0.0, -1.0)}
    assert not poses.rolls.any()


def test_a_symmetric_body_does_not_depend_on_how_it_is_turned():
    flat = poses_of(box((0.03, 0.04, 0.05)))
    turned = poses_of(box((0.03, 0.04, 0.05), euler=(31.0, -17.0, 53.0)))
    np.testing.assert_allclose(sorted(flat.heights), sorted(turned.heights), atol=1e-6)
