"""Processes and their tasks: order, cancelled tasks, and what goes wrong in them."""

import os

import pytest

from handloom.errors import StateError
from handloom.motion.planning.batch.worker_pool import AHEAD, WorkerPool


def ready():
    """Do nothing: the processes have nothing to load."""


def square(x):
    return x * x, os.getpid()


def fail(x):
    raise ValueError(f"no root of {x}")


def leave(code):
    os._exit(code)


def hold(path):
    with open(path, "rb") as fifo:
        return fifo.read()


@pytest.fixture
def pool():
    pool = WorkerPool(2, ready)
    yield pool
    pool.close()


def finish(pool, tasks):
    while not all(task.over for task in tasks):
        pool.collect(1.0)


def test_tasks_run_in_other_processes_and_each_gets_its_own_result(pool):
    tasks = [pool.submit(square, k) for k in range(40)]
    finish(pool, tasks)
    assert [task.result[0] for task in tasks] == [k * k for k in range(40)]
    used = {task.result[1] for task in tasks}
    assert len(used) == 2
    assert os.getpid() not in used


def test_a_single_process_is_this_one():
    pool = WorkerPool(1, ready)
    task = pool.submit(square, 3)
    assert task.done
    assert task.result == (9, os.getpid())
    pool.close()


def test_urgent_tasks_come_first_and_cancelled_ones_not_at_all(pool, tmp_path):
    gates = [tmp_path / "one", tmp_path / "two"]
    for gate in gates:
        os.mkfifo(gate)
    busy = [pool.submit(hold, str(gate)) for gate in gates]
    ahead = [pool.submit(square, k) for k in range(2 * (AHEAD - 1))]
    late, cancelled = pool.submit(square, 100), pool.submit(fail, 0)
    urgent = [pool.submit(square, 7, urgent=True), pool.submit(square, 8, urgent=True)]
    assert all(task.begun for task in ahead)
    assert not any(task.begun for task in (late, cancelled, *urgent))
    assert list(pool._pending) == [urgent[1], urgent[0], late, cancelled]
    cancelled.cancel()
    assert cancelled.over
    for gate in gates:
        gate.write_bytes(b"go")
    finish(pool, [*busy, *ahead, late, *urgent])
    assert [task.result for task in busy] == [b"go", b"go"]
    assert not cancelled.done


def test_an_error_in_a_process_is_raised_here_with_its_origin(pool):
    with pytest.raises(StateError, match="no root of 5"):
        finish(pool, [pool.submit(fail, 5)])
    task = pool.submit(square, 6)
    finish(pool, [task])
    assert task.result[0] == 36


def test_a_process_that_dies_is_told_instead_of_waited_for(pool):
    with pytest.raises(StateError, match="ended unexpectedly"):
        finish(pool, [pool.submit(leave, 3)])
