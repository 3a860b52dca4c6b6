"""Garbage collection at the pace of long loops that create much but no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000
"""Objects created between two collections."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Within the block, collect rarely, and only objects that were created in it.

    The receipts of a million attempts are some ten million objects; examining all of them again and again would take a
    tenth of the time of a merge.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
