"""Garbage is collected less often within the block, and as before after it."""

import gc

import pytest

from handloom.dataset.merging.rare_collections import OBJECTS, rare_collections


def test_older_objects_are_left_alone_and_the_pace_is_restored():
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] == OBJECTS
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_the_pace_is_restored_after_an_error():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="no"), rare_collections():
        raise ValueError("no")
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
