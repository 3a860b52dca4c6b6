"""Spreads a batch over threads in fixed slices, so that the result never depends on the number of threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def for_slices(count: int, call: Callable[[int, int], None], *, threads: int | None, smallest: int) -> None:
    """Call ``call(begin, end)`` over slices that cover ``range(count)``, on several threads when worthwhile.

    Kernels release the GIL and write to disjoint rows, so a thread pool is sufficient. Numba's own parallel loops are
    avoided: their thread layers forbid a later fork, or calls from two threads.

    Args:
        count: Number of rows of the batch.
        call: Processes the rows ``begin <= row < end``; rows must not depend on each other.
        threads: Maximum number of threads; None uses every core.
        smallest: Smallest slice that is worth a thread.
    """
    slices = count // max(1, smallest)
    # Counting cores takes 20 us, which small batches avoid.
    workers = min(slices, threads or os.cpu_count() or 1) if slices > 1 else 1
    if workers <= 1:
        call(0, count)
        return
    edges = [count * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(call, edges[:-1], edges[1:]))
