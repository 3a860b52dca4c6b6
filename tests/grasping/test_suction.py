"""Suction grasps lie on flat patches that the whole lip covers."""

import numpy as np
import pytest

from handloom.grasping import object_parts, suction_grasps_for
from handloom.grasping.ray_kernels import outer_points
from handloom.objects import make_object

RADIUS = 0.02


def rows_of(category: str, **parameters: float) -> np.ndarray:
    return suction_grasps_for(make_object(category, parameters=parameters, rng=np.random.default_rng(0)), RADIUS)


def test_a_box_is_taken_on_every_side_and_best_over_its_centre() -> None:
    size = {"length": 0.14, "width": 0.1, "height": 0.08}
    rows = rows_of("cardboard_box", **size)
    approach = rows[:, 4:13].reshape(-1, 3, 3)[:, :, 0]
    sides = {tuple(side) for side in np.round(approach).astype(int).tolist()}
    assert sides == {(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)}
    assert rows[:, 0].min() == pytest.approx(0.0, abs=1e-6)
    # The lip stays inside the face.
    half = np.array([size["length"], size["width"], size["height"]]) / 2.0
    centre = rows[:, 13:16] - (rows[:, 13:16].max(axis=0) + rows[:, 13:16].min(axis=0)) / 2.0
    inside = np.abs(centre) + RADIUS <= half + 1e-6
    assert (inside | (np.abs(approach) > 0.5)).all()


def test_hands_are_parallel_to_the_sides() -> None:
    R = rows_of("cardboard_box")[:, 4:13].reshape(-1, 3, 3).astype(float)
    np.testing.assert_allclose(np.abs(R).max(axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (len(R), 1, 1)), atol=1e-5)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-5)


@pytest.mark.parametrize("category", ["orange", "egg", "cup"])
def test_round_and_open_objects_have_no_patch(category: str) -> None:
    rows = rows_of(category)
    if category == "cup":
        # Its bottom is flat; neither its wall nor its mouth is.
        assert (np.abs(rows[:, 4:13].reshape(-1, 3, 3)[:, 2, 0]) > 0.99).all()
    else:
        assert len(rows) == 0


@pytest.mark.parametrize("category", ["can", "book", "cereal_box", "milk_carton", "cheese"])
def test_under_every_lip_there_is_one_plane(category: str) -> None:
    asset = make_object(category, rng=np.random.default_rng(1))
    rows = suction_grasps_for(asset, RADIUS).astype(float)
    parts = object_parts(asset)
    for row in rows:
        R, centre = row[4:13].reshape(3, 3), row[13:16]
        angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)[:, None]
        lip = centre + RADIUS * (np.cos(angle) * R[:, 1] + np.sin(angle) * R[:, 2])
        found, _, hit = outer_points(parts, lip - 0.004 * R[:, 0], np.tile(R[:, 0], (24, 1)), 0.008)
        assert hit.all()
        assert np.abs((found - centre) @ R[:, 0]).max() < 6e-4
