"""A task written for assets that are not here runs with stand-ins of the same category."""

import numpy as np
import pytest

from handloom.errors import NotFoundError
from handloom.objects import object_categories, proxy_category, proxy_object
from handloom.objects.importers import PROXIES, category_of_path
from handloom.objects.registry import CATEGORIES


@pytest.mark.parametrize(
    ("given", "category"),
    [
        ("omniobject3d-banana", "banana"),
        ("google_scan-box", "cardboard_box"),
        ("phocal-cup", "cup"),
        ("real-mug", "mug"),
        ("pick_and_place/omniobject3d-lemon/lemon_012/Aligned_obj.usd", "lemon"),
        ("art/microwaves/7263/instance.usd", "microwave"),
        ("art/storagefurniture/45219/instance.usd", "drawer_cabinet"),
        ("basic/red_wine_glass/003/Aligned_obj.usd", "wine_glass"),
        ("toothbrushes", "toothbrush"),
        ("potatoes", "potato"),
        ("Kitchen Knife", "table_knife"),
        ("scissor", "scissors"),
        ("trash_can", "trash_can"),
        ("mug", "mug"),
        ("microwave_train", "microwave"),
        ("toy_train", "toy_car"),
    ],
)
def test_reference_categories_and_paths_map_to_the_library(given, category):
    assert proxy_category(given) == category


LATER = ("rooms.", "desktop.", "kitchenware.")
"""Folders of the library that came after the table of stand-ins."""


def test_every_row_of_the_table_leads_to_a_category_that_exists():
    assert set(PROXIES.values()) <= set(object_categories())
    # A row may lead past a category only where that came later: a piece of a room's furniture, or of a pack.
    passed = {word for word in set(PROXIES) & set(CATEGORIES) if PROXIES[word] != word}
    assert all(CATEGORIES[word].split(".library.")[1].startswith(LATER) for word in passed)


def test_the_category_of_a_path_is_the_folder_above_the_instance():
    assert category_of_path("a/omniobject3d-teapot/teapot_01/Aligned_obj.usd") == "teapot"
    assert category_of_path("models/blue_mug.obj") == "blue_mug"


def test_a_proxy_is_drawn_from_the_generator():
    one, two = (proxy_object("omniobject3d-mug", rng=np.random.default_rng(4)) for _ in range(2))
    assert one.category == "mug"
    assert one.content_hash == two.content_hash


def test_nothing_alike_is_an_error_that_lists_the_library():
    with pytest.raises(NotFoundError, match=r"can stand in for 'saxophone' .*known: .*apple"):
        proxy_object("saxophone", rng=np.random.default_rng(0))
