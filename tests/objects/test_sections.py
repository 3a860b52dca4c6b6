"""Sections of objects: fixed parts with a name, such as compartments and boards."""

import numpy as np
import pytest

from handloom.objects import make_object
from handloom.scene.cavities import hollow


@pytest.mark.parametrize(
    ("category", "sections"),
    [("desk_caddy", {"front", "back", "left", "right"}), ("two_tier_shelf", {"bottom", "board", "top"})],
)
def test_sections_are_bodies_without_joints(category: str, sections: set[str]) -> None:
    asset = make_object(category, rng=np.random.default_rng(1))
    names = {asset.model.body(k).name for k in range(asset.model.nbody)}
    assert sections <= names
    assert asset.model.njnt == 0


def test_every_compartment_of_a_caddy_is_a_cavity_where_its_name_says() -> None:
    asset = make_object("desk_caddy", rng=np.random.default_rng(2))
    middle = {cavity.part: cavity.box.mean(axis=0) for cavity in hollow(asset, {}).cavities}
    assert middle["left"][0] < -0.03 < 0.03 < middle["right"][0]
    assert middle["front"][1] < middle["left"][1] - 0.05
    assert middle["back"][1] > middle["left"][1] + 0.05
    assert all(cavity.from_above for cavity in hollow(asset, {}).cavities if cavity.part in middle)


def test_the_bays_of_a_shelf_open_to_the_front() -> None:
    asset = make_object("two_tier_shelf", rng=np.random.default_rng(2))
    bays = {cavity.part: cavity for cavity in hollow(asset, {}).cavities}
    assert bays["board"].box.mean(axis=0)[2] > bays["bottom"].box.mean(axis=0)[2] + 0.1
    for name in ("board", "bottom"):
        opening = bays[name].opening
        assert opening is not None
        assert opening[1] < -0.9


def test_the_drawers_of_a_wooden_cabinet_are_named_from_below() -> None:
    asset = make_object("wooden_cabinet", rng=np.random.default_rng(0))
    heights = {link.name: link.origin[2] for link in asset.joints}
    assert heights["bottom_drawer"] < heights["middle_drawer"] < heights["top_drawer"]
