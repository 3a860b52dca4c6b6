"""Making objects: what can be fixed, and what the errors say."""

import numpy as np
import pytest

from handloom.config import allow_code
from handloom.errors import InputError, NotAllowedError, NotFoundError
from handloom.objects import Blueprint, make_object, object_categories
from handloom.objects.shapes import box


def my_thing(c):
    """Draw what a user would."""
    edge = c.number("edge", 0.02, 0.03)
    return Blueprint(words=("thing", "gadget"), color=None, parts=(box((edge, edge, edge)),))


def test_a_fixed_colour_leaves_the_shape_as_it_was():
    drawn = make_object("mug", rng=np.random.default_rng(5))
    red = make_object("mug", rng=np.random.default_rng(5), color="red")
    assert red.name == "red mug"
    assert np.array_equal(red.aabb, drawn.aabb)


def test_masses_follow_the_third_power_of_the_scale():
    one = make_object("mug", rng=np.random.default_rng(5))
    two = make_object("mug", rng=np.random.default_rng(5), scale=2.0)
    np.testing.assert_allclose(two.extent, 2.0 * one.extent)
    assert two.mass == pytest.approx(8.0 * one.mass, rel=1e-6)


def test_a_misspelt_category_is_told_the_nearest_one():
    with pytest.raises(NotFoundError, match=r"no object category named 'mugg'; did you mean 'mug'\?"):
        make_object("mugg", rng=np.random.default_rng(0))


def test_an_unknown_colour_is_refused_with_the_known_ones():
    with pytest.raises(NotFoundError, match="no color named 'reed'; did you mean 'red'"):
        make_object("mug", rng=np.random.default_rng(0), color="reed")


def test_a_parameter_nobody_asks_for_is_an_error():
    with pytest.raises(InputError, match=r"mug has no parameter 'radus'; did you mean 'radius'\?"):
        make_object("mug", rng=np.random.default_rng(0), parameters={"radus": 0.04})


def test_a_missing_parameter_without_a_generator_says_what_to_pass():
    with pytest.raises(InputError, match=r"'color' is not given .* pass rng="):
        make_object("mug", parameters={})


@pytest.mark.parametrize("bad", [-0.04, 0.0, float("nan"), float("inf"), "wide", True])
def test_senseless_sizes_are_refused(bad):
    with pytest.raises(InputError, match="'radius' must be a number from"):
        make_object("mug", rng=np.random.default_rng(0), parameters={"radius": bad})


@pytest.mark.parametrize("bad", [0.0, -1.0, 1e6, float("nan"), "big", True])
def test_senseless_scales_are_refused(bad):
    with pytest.raises(InputError, match="scale must be a number"):
        make_object("mug", rng=np.random.default_rng(0), parameters={"scale": bad})


def test_a_users_own_drawing_is_named_by_module_and_function(monkeypatch):
    import sys
    from types import ModuleType

    module = ModuleType("my_objects")
    module.my_thing = my_thing
    monkeypatch.setitem(sys.modules, "my_objects", module)
    with pytest.raises(NotAllowedError, match="object category 'my_objects:my_thing' would run"):
        make_object("my_objects:my_thing", rng=np.random.default_rng(0))
    with allow_code():
        thing = make_object("my_objects:my_thing", rng=np.random.default_rng(0))
    assert thing.name == "thing"
    assert thing.category == "my_objects:my_thing"
    with allow_code(), pytest.raises(InputError, match="'my_objects:other' cannot be imported"):
        make_object("my_objects:other", rng=np.random.default_rng(0))


def test_categories_are_sorted_and_the_table_has_no_doubles():
    names = object_categories()
    assert list(names) == sorted(set(names))
