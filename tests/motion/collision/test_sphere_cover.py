"""Sphere covers: nothing sticks out too far, nothing is left bare, and the disk remembers."""

import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.motion.collision import Shape, ShapeKind, SphereModel, hull_shape
from handloom.motion.collision.obstacle import moving_parts
from handloom.motion.collision.solid_points import depth, fibonacci_directions, surface_samples
from handloom.motion.collision.sphere_cover import bare_cells, greedy_choice, sphere_cover
from handloom.motion.collision.sphere_model import cached_cover
from handloom.motion.kinematics import JointTree
from handloom.robots import load_robot

WEDGE = [[0, 0, 0], [0.2, 0, 0], [0, 0.15, 0], [0.2, 0.15, 0], [0, 0, 0.1], [0, 0.15, 0.1]]
SHAPES = {
    "box": Shape(kind=ShapeKind.BOX, size=(0.05, 0.08, 0.03)),
    "cylinder": Shape(kind=ShapeKind.CYLINDER, size=(0.05, 0.06, 0.0)),
    "capsule": Shape(kind=ShapeKind.CAPSULE, size=(0.04, 0.1, 0.0)),
    "ellipsoid": Shape(kind=ShapeKind.ELLIPSOID, size=(0.04, 0.06, 0.05)),
    "convex": hull_shape(WEDGE),
}


def capsule_samples(radius: float, half: float) -> np.ndarray:
    points = fibonacci_directions(2000) * radius
    return points + np.sign(points[:, 2:]) * [[0, 0, half]] * np.random.default_rng(0).random((2000, 1))


@pytest.mark.parametrize("name", SHAPES)
def test_no_sphere_reaches_out_by_more_than_the_tolerance(name):
    shape, tolerance = SHAPES[name], 0.01
    centres, radii = sphere_cover(shape, tolerance)
    if name == "capsule":
        inside = shape.size[0] - np.hypot(centres[:, 0], centres[:, 1])
        assert np.all(np.abs(centres[:, 2]) <= shape.size[1] + 1e-12)
    else:
        inside = depth(shape, centres)
    assert np.all(radii <= inside + tolerance + 1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_the_whole_surface_is_covered(name):
    shape, tolerance = SHAPES[name], 0.01
    centres, radii = sphere_cover(shape, tolerance)
    # Another spacing than the cover used, so that these are points it has not seen.
    points = capsule_samples(*shape.size[:2]) if name == "capsule" else surface_samples(shape, 0.0023)
    gaps = np.linalg.norm(points[:, None] - centres, axis=2) - radii
    assert gaps.min(axis=1).max() <= 0.0


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "capsule"])
def test_covers_are_proved_to_contain_the_whole_solid(name):
    centres, radii = sphere_cover(SHAPES[name], 0.01)
    assert len(bare_cells(SHAPES[name], centres, radii, 5e-4)[0]) == 0
    # Spheres a little smaller leave something bare.
    assert len(bare_cells(SHAPES[name], centres, radii - 0.004, 5e-4)[0]) > 0


@pytest.mark.parametrize("robot", ["fr3", "franka_robotiq85", "lift2", "split_aloha", "genie1", "so101"])
def test_every_moving_solid_of_every_arm_is_proved_to_be_inside_its_spheres(robot):
    description = load_robot(robot)
    model = description.compile()
    joints = [joint for arm in description.arms for joint in arm.joint_names]
    shapes = {(p.shape.kind, p.shape.size): p.shape for p in moving_parts(model, JointTree.from_model(model, joints))}
    assert shapes
    for shape in shapes.values():
        centres, radii = cached_cover(shape, 0.01)
        if shape.kind == ShapeKind.SPHERE:
            assert radii[0] >= shape.size[0]
        elif shape.kind == ShapeKind.CAPSULE:
            # Neighbours on the axis meet at the capsule's radius or outside, and the last ones contain the caps.
            gap = np.diff(centres[:, 2]).max(initial=0.0)
            assert np.all(np.sqrt(radii**2 - (gap / 2) ** 2) >= shape.size[0])
            assert np.abs(centres[:, 2]).max() == shape.size[1]
        else:
            assert len(bare_cells(shape, centres, radii, 5e-5)[0]) == 0


def test_a_thin_solid_gets_a_tighter_cover():
    finger = Shape(kind=ShapeKind.BOX, size=(0.01, 0.008, 0.02))
    centres, radii = sphere_cover(finger, 0.01)
    assert np.all(radii - depth(finger, centres) <= 0.004 + 1e-12)


def test_a_sphere_is_its_own_cover():
    centres, radii = sphere_cover(Shape(kind=ShapeKind.SPHERE, size=(0.07, 0, 0)), 0.01)
    np.testing.assert_array_equal(centres, [[0, 0, 0]])
    np.testing.assert_array_equal(radii, [0.07])


def test_ground_cannot_be_covered():
    with pytest.raises(InputError, match="a plane cannot be part of a moving body"):
        sphere_cover(Shape(kind=ShapeKind.PLANE), 0.01)


def test_solids_without_extent_are_refused():
    with pytest.raises(InputError, match="a box needs lengths > 0"):
        Shape(kind=ShapeKind.BOX, size=(0.1, 0.0, 0.1))
    with pytest.raises(InputError, match="do not span a convex solid"):
        hull_shape([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])


def test_a_hull_shape_keeps_its_place_and_its_flat_sides():
    hull = hull_shape([*WEDGE, [0.05, 0.05, 0.02]])
    assert len(hull.vertices) == 6
    assert len(hull.faces) == 5
    apart = np.linalg.norm(hull.vertices[:, None] - np.array(WEDGE), axis=2)
    np.testing.assert_allclose(apart.min(axis=1), 0.0, atol=1e-7)
    np.testing.assert_allclose(apart.min(axis=0), 0.0, atol=1e-7)


def test_covers_are_kept_on_disk_by_content(fr3, tmp_path, monkeypatch):
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path))
    first = SphereModel.from_model(fr3, ["link6", "hand"], tolerance=0.02)
    files = sorted((tmp_path / "spheres").iterdir())
    assert len(files) == 2
    stamps = [file.stat().st_mtime_ns for file in files]
    again = SphereModel.from_model(fr3, ["link6", "hand"], tolerance=0.02)
    np.testing.assert_array_equal(first.centre, again.centre)
    np.testing.assert_array_equal(first.radius, again.radius)
    assert [file.stat().st_mtime_ns for file in sorted((tmp_path / "spheres").iterdir())] == stamps
    SphereModel.from_model(fr3, ["hand"], tolerance=0.03)
    assert len(list((tmp_path / "spheres").iterdir())) == 3


def test_unknown_bodies_are_answered_with_those_that_exist(fr3):
    with pytest.raises(NotFoundError, match="no body named 'hnad'; did you mean 'hand'"):
        SphereModel.from_model(fr3, ["hnad"])


def test_a_thin_wall_takes_few_spheres_where_they_may_reach_out_of_it():
    wall = Shape(kind=ShapeKind.BOX, size=(0.04, 0.04, 0.001))
    centres, radii = sphere_cover(wall, 0.01, least=0.008)
    assert len(radii) <= 100
    assert np.all(radii <= depth(wall, centres) + 0.008 + 1e-12)
    points = surface_samples(wall, 0.0023)
    gaps = np.linalg.norm(points[:, None] - centres, axis=2) - radii
    assert gaps.min(axis=1).max() <= 0.0


def test_the_greedy_choice_equals_counting_by_hand():
    rng = np.random.default_rng(3)
    points, centres, radii = rng.random((300, 3)), rng.random((80, 3)), rng.uniform(-0.05, 0.35, 80)
    chosen, bare = greedy_choice(points, centres, radii)
    holds = (np.linalg.norm(points - centres[:, None], axis=2) < radii[:, None]) & (radii > 0)[:, None]
    left = np.ones(300, bool)
    for sphere in chosen:
        gains = (holds & left).sum(axis=1)
        assert gains[sphere] == gains.max() > 0
        left &= ~holds[sphere]
    np.testing.assert_array_equal(bare, left)
    assert not (holds & left).any()
