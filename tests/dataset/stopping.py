"""A process that is gone after so many changes of names in the file system."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

CHANGES = ("replace", "link", "rename", "rmdir", "unlink")
"""Functions of ``os`` that change what stands where."""


@contextmanager
def stopped_after(changes: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End a block at the change of a name that comes after so many others."""
    left = [changes]

    def dying(function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object, **named: object) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            function(*arguments, **named)

        return call

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        for name in CHANGES:
            patch.setattr(os, name, dying(getattr(os, name)))
        yield
