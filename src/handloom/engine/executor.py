"""The interface of executors, and the serial one."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from handloom.errors import StateError

MAX_TRIES = 3
"""How often one piece of work may cost a worker before it is given up."""


@dataclass(frozen=True)
class Finished:
    """An item that was worked on."""

    item: Any
    result: Any = None
    """What the function returned."""
    crash: str = ""
    """Why there is no result: the worker died or hung; empty when there is one."""


class Executor(Protocol):
    """Applies a function to items in any order. Results must not depend on which executor runs them."""

    workers: int
    """How many items are worked on at the same time."""
    shares_files: bool
    """Whether workers see the folders of this process; where they do not, episodes come back as results."""

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item; the next item is taken when a worker is free.

        Args:
            function: A function of one argument that can be pickled.
            items: Small picklable values; taken lazily, so that the caller can stop by ending the iterator.
        """
        ...


class InlineExecutor:
    """Runs everything here, one item after the other."""

    workers = 1
    shares_files = True

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item, in order."""
        for item in items:
            yield Finished(item, function(item))


def with_retries(executor: Executor, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Finished]:
    """Yield one ``Finished`` per item; one whose worker was lost is tried again by another, ``MAX_TRIES`` in all."""
    todo = list(items)
    for tries_left in reversed(range(MAX_TRIES)):
        lost = []
        for finished in executor.run(function, iter(todo)):
            if finished.crash and tries_left:
                lost.append(finished.item)
            else:
                yield finished
        todo = lost


def portable(error: Exception) -> Exception:
    """Return an error that arrives in another process as it is, or its words where it would not."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return StateError(f"a worker failed with {type(error).__name__}: {error}")
    return error
