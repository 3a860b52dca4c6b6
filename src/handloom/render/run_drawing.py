"""Who draws for a run: nothing to do for the processor, a drawing process per card for the workers of this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

BACKEND = "HANDLOOM_BACKEND"
"""Variable with the backend that draws what policies see in this run; the pictures do not depend on it."""


@contextmanager
def drawing_for(backend: str, *, workers: int) -> Iterator[None]:
    """Have a run's pictures drawn by a backend for the length of a ``with`` block.

    Args:
        backend: ``cpu`` or ``cuda``.
        workers: How many worker processes of this machine draw; 0 when this process does, or other machines.

    Raises:
        MissingExtraError: A package of the backend is not installed.
        StateError: There is no card.
    """
    if backend == "cpu":
        yield
        return
    from handloom.render.cuda.drawing_process import drawing_processes
    from handloom.render.cuda.find_card import cupy_and_cards

    before = os.environ.get(BACKEND)
    os.environ[BACKEND] = backend
    try:
        if workers:
            with drawing_processes():
                yield
        else:
            cupy_and_cards()
            yield
    finally:
        if before is None:
            del os.environ[BACKEND]
        else:
            os.environ[BACKEND] = before


def run_backend() -> str:
    """Return the backend that draws what a policy sees in this process."""
    return os.environ.get(BACKEND, "cpu")
