"""A phone leans on its stand: judged by the slope, planned for either end up."""

import numpy as np
import pytest
from tests.judging.conftest import put

from handloom.judging.checks import holds
from handloom.judging.relations import relation_terms
from handloom.scene.named_points import LEAN, long_axis, named_axis, named_point
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.landing import leaning, must_stand, stood_up
from handloom.spatial import matrix_from_rotvec, quat_from_matrix

THINGS = {"phone": "category: phone, parameters: {length: 0.125, width: 0.056}", "stand": "category: phone_stand"}


def laid(scene, turn: float = 0.0, end: int = 0) -> None:
    """Lay the phone against the slope, turned about the slope's normal by an angle [deg]."""
    normal = named_axis(scene, "stand", LEAN)
    asset = scene.assets["phone"]
    R = leaning(np.asarray(asset.up, float), long_axis(asset), normal)[end]
    R = matrix_from_rotvec(np.deg2rad(turn) * normal) @ R
    put(scene, "phone", named_point(scene, "stand", "back") + 0.01 * normal, quat_from_matrix(R))


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize(("turn", "right"), [(0.0, True), (10.0, True), (20.0, False), (90.0, False)])
def test_what_leans_lies_along_the_slope_either_end_up(table, turn, right, end):
    scene = table(**THINGS)
    (term,) = [t for t in relation_terms(scene, "phone", "on", "stand", lean=True) if t.name == "leans_on"]
    laid(scene, turn, end)
    assert holds(scene, term) is right


def test_what_lies_flat_does_not_lean(table):
    scene = table(**THINGS)
    (term,) = [t for t in relation_terms(scene, "phone", "on", "stand", lean=True) if t.name == "leans_on"]
    put(scene, "phone", np.add(named_point(scene, "stand", "back"), [0.0, 0.0, 0.05]))
    assert not holds(scene, term)


def test_only_what_lies_and_is_to_stand_is_stood_up():
    up, lying = np.array([0.0, 0.0, 1.0]), matrix_from_rotvec(0.5 * np.pi * np.array([1.0, 0.0, 0.0]))
    for needed in (15.0, True):
        np.testing.assert_allclose(stood_up(needed, up, up, lying, np.eye(3)), lying @ up)
        assert stood_up(needed, up, up, np.eye(3), np.eye(3)) is None
    assert stood_up(False, up, up, lying, np.eye(3)) is None


def test_what_stands_on_a_foot_must_end_upright_unless_its_place_says_otherwise(table):
    scene = table(mug="category: mug, euler: [90, 0, 0]", banana="category: banana", pad="category: coaster")

    def needed(name: str, **more) -> bool | float:
        keys = {"name": "place", "objects": [name, "pad"], **more}
        return must_stand(scene, PlaceConfig.model_validate(keys))

    words = {"relation": "on", "success_mode": "relation"}
    assert needed("mug", **words) is True
    assert needed("mug", **words, upright=False) is False
    assert needed("mug", **words, upright=8) == 8
    assert needed("banana", **words) is False
    assert needed("mug", relation="in", success_mode="relation", point_down="top") is False
    assert needed("mug", success_mode="resting") is False, "a published place asks it of what stood at the start"


def test_leaning_goes_with_on_and_with_no_heading():
    keys = {"name": "place", "objects": ["phone", "stand"], "success_mode": "relation", "lean": True}
    for wrong in ({"relation": "in"}, {"relation": "on", "facing": "left"}, {"relation": "on", "upright": 10}):
        with pytest.raises(ValueError, match="lean goes with on"):
            PlaceConfig.model_validate({**keys, **wrong})
