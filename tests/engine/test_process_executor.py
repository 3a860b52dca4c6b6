"""Worker processes may crash or hang; the others go on."""

import importlib
import multiprocessing
import sys
from pathlib import Path

import pytest

from handloom.engine import ProcessExecutor
from handloom.errors import InputError, StateError

# Workers import their function by name, so its folder must be on the path of this process and of theirs.
sys.path.insert(0, str(Path(__file__).parent))
crashing = importlib.import_module("crashing")


def test_every_item_gives_its_result():
    results = {f.item: f.result for f in ProcessExecutor(2).run(crashing.square, iter(range(7)))}
    assert results == {i: i * i for i in range(7)}


def test_a_killed_worker_is_reported_and_the_rest_goes_on(tmp_path):
    items = [str(tmp_path / name) for name in "abc"]
    finished = list(ProcessExecutor(2).run(crashing.die_once, iter(items)))
    assert {f.item for f in finished} == set(items)
    assert all("SIGKILL" in f.crash for f in finished)
    assert [f.result for f in ProcessExecutor(2).run(crashing.die_once, iter(items))] == ["alive"] * 3


def test_a_segfault_is_told_from_a_kill():
    (finished,) = ProcessExecutor(1).run(crashing.segfault, iter([0]))
    assert "SIGSEGV" in finished.crash


def test_a_hung_worker_is_ended_after_its_time():
    finished = {f.item: f for f in ProcessExecutor(2, timeout=3.0).run(crashing.hang, iter([0, 1, 2]))}
    assert finished[0].result == 0
    assert finished[2].result == 2
    assert "no result after 3 s" in finished[1].crash


def test_a_worker_that_is_killed_while_it_waits_costs_one_try():
    def items():
        yield 0
        (idle,) = multiprocessing.active_children()
        idle.kill()
        idle.join()
        yield 1
        yield 2

    finished = {f.item: f for f in ProcessExecutor(1).run(crashing.square, items())}
    assert (finished[0].result, finished[2].result) == (0, 4)
    assert "SIGKILL" in finished[1].crash


def test_an_error_that_cannot_travel_arrives_in_words():
    with pytest.raises(StateError, match="a worker failed with UnportableError: this and that"):
        list(ProcessExecutor(1).run(crashing.fail, iter([0])))


def test_a_pool_without_workers_is_refused():
    with pytest.raises(InputError, match="at least 1 worker"):
        ProcessExecutor(0)
