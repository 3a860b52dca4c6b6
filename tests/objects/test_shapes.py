"""Shapes have the volume, reach and inertia of what they stand for."""

import math

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.objects import Blueprint, Part
from handloom.objects.geometry import Reach, convex_hull, posed, triangles
from handloom.objects.shapes import (
    arc,
    box,
    cylinder,
    ellipsoid,
    hull,
    lathe,
    open_box,
    prism,
    rod,
    shell,
    slab,
    sphere,
    tube,
)


def compiled(*parts):
    return Blueprint(words=("thing",), color=None, parts=tuple(parts)).spec().compile()


def mass(*parts):
    """Return the mass [kg] of parts made of water: the volume in litres."""
    return float(compiled(*parts).body_subtreemass[1])


SOLID = {"substance": "water"}


def test_a_tube_drawn_with_flat_sides_weighs_what_the_round_one_weighs():
    true = 1000 * math.pi * (0.04**2 - 0.036**2) * 0.1
    for sides in (6, 12, 16):
        # The pieces overlap by 1 % of their width on either side, and polygons of equal area meet at equal ratios.
        assert mass(*tube(0.04, 0.1, 0.004, sides=sides, **SOLID)) == pytest.approx(true, rel=0.03)


def test_a_lathed_cylinder_and_cone_weigh_what_the_round_ones_weigh():
    assert mass(lathe([(0.03, 0.0), (0.03, 0.1)], **SOLID)) == pytest.approx(1000 * math.pi * 0.03**2 * 0.1, rel=1e-5)
    assert mass(lathe([(0.03, 0.0), (0.0, 0.1)], **SOLID)) == pytest.approx(
        1000 * math.pi * 0.03**2 * 0.1 / 3, rel=1e-5
    )


def test_an_open_box_weighs_its_walls():
    walls = 0.2 * 0.1 * 0.05 - 0.19 * 0.09 * 0.045
    assert mass(*open_box((0.2, 0.1, 0.05), 0.005, **SOLID)) == pytest.approx(1000 * walls, rel=1e-9)


def test_prisms_and_slabs_weigh_their_outline_times_their_height():
    triangle = [(0.0, 0.0), (0.06, 0.0), (0.0, 0.04)]
    assert mass(prism(triangle, 0.05, **SOLID)) == pytest.approx(1000 * 0.06 * 0.04 / 2 * 0.05, rel=1e-5)
    rounded = 0.1 * 0.06 - (4 - 2 * math.sqrt(2)) * 0.01**2
    assert mass(slab((0.1, 0.06, 0.02), 0.01, **SOLID)) == pytest.approx(1000 * rounded * 0.02, rel=1e-5)


def test_rods_run_from_end_to_end():
    part = rod((0.0, 0.1, 0.2), (0.3, -0.1, 0.1), 0.01)
    model = compiled(part)
    vertices, _ = triangles(model)
    for end in ((0.0, 0.1, 0.2), (0.3, -0.1, 0.1)):
        assert np.linalg.norm(vertices - end, axis=1).min() == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.3, -0.5, 0.2)])
def test_rods_take_any_direction(direction):
    end = 0.1 * np.asarray(direction, float)
    reach = rod((0, 0, 0), end, 0.01).support(end[None] / np.linalg.norm(end))
    assert reach[0] == pytest.approx(np.linalg.norm(end) + 0.01)


def test_an_arc_bulges_to_x_and_stands_upright():
    parts = arc((0.0, 0.0, 0.0), (0.03, 0.04), 0.008, span_deg=(-90.0, 90.0), pieces=8)
    box_ = Blueprint(words=("arc",), color=None, parts=tuple(parts)).aabb()
    np.testing.assert_allclose(box_, [[-0.004, -0.004, -0.044], [0.034, 0.004, 0.044]], atol=1e-6)


@pytest.mark.parametrize(
    "part",
    [
        box((0.1, 0.2, 0.3), (0.01, 0.02, 0.03), euler=(20.0, 30.0, 40.0)),
        cylinder(0.05, 0.2, (0.01, 0.02, 0.03), euler=(20.0, 30.0, 40.0)),
        ellipsoid((0.1, 0.2, 0.3), (0.01, 0.02, 0.03), euler=(20.0, 30.0, 40.0)),
        sphere(0.05, (0.01, 0.02, 0.03)),
        rod((0.0, 0.1, 0.2), (0.3, -0.1, 0.1), 0.02),
        lathe([(0.05, 0.0), (0.02, 0.1)], (0.01, 0.02, 0.03)),
    ],
    ids=lambda part: part.shape,
)
def test_the_reach_of_a_part_is_that_of_its_compiled_geom_and_of_its_triangles(part):
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    model = compiled(part)
    exact = part.support(directions)
    np.testing.assert_allclose(Reach(model, posed(model))(directions), exact, atol=1e-7)
    vertices, _ = triangles(model)
    np.testing.assert_allclose((directions @ vertices.T).max(axis=1), exact, atol=1e-3)


def test_the_hull_of_points_holds_them_all_and_has_the_right_volume():
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (200, 3))
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    vertices, faces = convex_hull(np.concatenate([points, corners]))
    assert len(vertices) == 8
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    assert np.sum(np.cross(a, b) * c) / 6.0 == pytest.approx(8.0, rel=1e-6)


def test_shells_leave_their_inside_free():
    parts = shell([(0.03, 0.0), (0.06, 0.05)], [(0.026, 0.0), (0.056, 0.05)])
    for part in parts:
        assert np.min(np.hypot(*np.asarray(part.vertices)[:, :2].T)) > 0.025


@pytest.mark.parametrize(
    "wrong", [{"shape": "box", "size": (1.0,)}, {"shape": "sphere", "size": (0.0,)}, {"shape": "hull"}]
)
def test_shapes_without_volume_are_refused(wrong):
    with pytest.raises(InputError, match="needs"):
        Part(**wrong)


def test_a_hull_of_too_few_points_is_refused():
    with pytest.raises(InputError, match="at least 4 vertices"):
        hull([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
