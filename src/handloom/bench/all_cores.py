"""Make the same call for many items on all cores, to measure the throughput of the whole processor."""

import os
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import Any

from handloom.errors import StateError


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(call: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], float]:
    """Return the result of a call for each item, and the time from the first start to the last end [s].

    Processes are forked, so that they share the items without copying; their start is not timed.
    """
    context, count, ends = get_context("fork"), min(cores(), max(1, len(items))), []
    for k in range(count):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_some, args=(there, call, items[k::count]))
        process.start()
        there.close()
        ends.append((here, process))
    told = []
    for here, process in ends:
        try:
            told.append(here.recv())
        except EOFError:
            raise StateError("a process of the benchmark ended before finishing its work") from None
        process.join()
    results: list[Any] = [None] * len(items)
    for k, (found, _, _) in enumerate(told):
        results[k::count] = found
    return results, max(end for _, _, end in told) - min(begin for _, begin, _ in told)


def _some(there: Any, call: Callable[[Any], Any], items: Sequence[Any]) -> None:
    begin = time.perf_counter()
    found = [call(item) for item in items]
    there.send((found, begin, time.perf_counter()))
