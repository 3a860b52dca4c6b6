"""The simple solids are closed, face outwards and lie on the shape they stand for."""

from collections import Counter

import numpy as np
import pytest

from handloom.render.looks import Turned, tables_of_turned
from handloom.viewer.scene3d import solids
from handloom.viewer.scene3d.solids import SolidSurface


def turned_cup() -> SolidSurface:
    shape = Turned(outer=((0.05, 0.0), (0.05, 0.1)), inner=((0.04, 0.01), (0.04, 0.1)))
    surface = tables_of_turned(shape).surface
    return solids.turned(surface[0::2], surface[1::2])


CLOSED = {
    "box": solids.box(np.array([0.1, 0.2, 0.3])),
    "ball": solids.ellipsoid(np.full(3, 0.2)),
    "small ball": solids.ellipsoid(np.full(3, 0.2), solids.SMALL_AROUND),
    "ellipsoid": solids.ellipsoid(np.array([0.1, 0.2, 0.05])),
    "capsule": solids.capsule(0.1, 0.3),
    "cylinder": solids.cylinder(0.1, 0.3),
    "cup": turned_cup(),
}
VOLUMES = {
    "box": 8 * 0.1 * 0.2 * 0.3,
    "ball": 4 / 3 * np.pi * 0.2**3,
    "small ball": 4 / 3 * np.pi * 0.2**3,
    "ellipsoid": 4 / 3 * np.pi * 0.1 * 0.2 * 0.05,
    "capsule": np.pi * 0.1**2 * 0.6 + 4 / 3 * np.pi * 0.1**3,
    "cylinder": np.pi * 0.1**2 * 0.6,
    "cup": np.pi * 0.05**2 * 0.1 - np.pi * 0.04**2 * 0.09,
}


def corners(surface: SolidSurface) -> np.ndarray:
    return surface.points[surface.triangles]


@pytest.mark.parametrize("name", CLOSED)
def test_every_edge_belongs_to_two_triangles(name: str) -> None:
    surface = CLOSED[name]
    places = np.round(surface.points, 9) + 0.0
    numbers = np.unique(places, axis=0, return_inverse=True)[1].ravel()[surface.triangles]
    edges: Counter[tuple[int, int]] = Counter()
    for a, b, c in numbers:
        if len({a, b, c}) == 3:  # At the poles of a ball some are slivers.
            edges.update([(a, b), (b, c), (c, a)])
    assert all(edges[b, a] == count == 1 for (a, b), count in edges.items())


@pytest.mark.parametrize("name", CLOSED)
def test_triangles_and_normals_face_outwards(name: str) -> None:
    surface = CLOSED[name]
    a, b, c = np.moveaxis(corners(surface), 1, 0)
    facing = np.cross(b - a, c - a)
    volume = np.sum(np.einsum("ij,ij->i", a, facing)) / 6
    # Slightly less than the true solid, whose surface lies outside the chords.
    assert volume == pytest.approx(VOLUMES[name], rel=0.08 if name == "small ball" else 0.005)
    assert np.all(np.einsum("ij,ij->i", surface.normals[surface.triangles[:, 0]], facing) >= -1e-12)
    assert np.linalg.norm(surface.normals, axis=1) == pytest.approx(1.0)


def test_a_plane_without_size_is_endless_and_faces_up() -> None:
    surface = solids.plane(0.0, 0.5)
    assert np.ptp(surface.points, axis=0).tolist() == [2 * solids.ENDLESS, 1.0, 0.0]
    a, b, c = np.moveaxis(corners(surface), 1, 0)
    assert np.all(np.cross(b - a, c - a)[:, 2] > 0)
