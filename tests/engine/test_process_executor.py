"""Worker processes may crash or hang; the others go on."""

import importlib
import itertools
import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from handloom.engine import ProcessExecutor
from handloom.engine.executors import executor
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


def test_a_unit_that_gets_on_is_not_taken_for_hung():
    (finished,) = ProcessExecutor(1, timeout=2.0).run(crashing.get_on, iter([8]))
    assert finished.result == 8


def test_time_in_which_the_machine_was_suspended_does_not_count(monkeypatch):
    jump = 0.0
    clock, waited = time.monotonic, executor.wait

    def suspended(*given, **options):
        nonlocal jump
        ready = waited(*given, **options)
        jump += 10_000.0
        return ready

    monkeypatch.setattr(executor.time, "monotonic", lambda: clock() + jump)
    monkeypatch.setattr(executor, "wait", suspended)
    (finished,) = ProcessExecutor(1, timeout=300.0).run(crashing.nap, iter([1.2]))
    assert finished.result == 1.2
    assert jump > 10_000.0  # It was waited for more than once, as the wait is a second long.


def test_a_clock_that_is_set_decides_nothing(monkeypatch):
    days = itertools.count(step=86_400 * 365)
    monkeypatch.setattr(time, "time", lambda: float(next(days)))
    assert [f.result for f in ProcessExecutor(1, timeout=60.0).run(crashing.nap, iter([0.3, 0.1]))] == [0.3, 0.1]


def test_signals_to_the_whole_group_are_for_the_parent():
    results = [f.result for f in ProcessExecutor(1).run(crashing.told_to_stop, iter([0, 1]))]
    assert results == ["alive", "alive"]


def test_a_child_of_a_worker_can_be_terminated():
    (finished,) = ProcessExecutor(1).run(crashing.end_a_child, iter([0]))
    assert finished.result == -signal.SIGTERM


ORPHAN = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import crashing, multiprocessing
from handloom.engine import ProcessExecutor, executor

def items():
    yield 0
    print(multiprocessing.active_children()[0].pid, flush=True)
    yield 1

if __name__ == "__main__":
    for finished in ProcessExecutor(1).run(crashing.hang, items()):
        pass
"""


def test_a_worker_ends_with_its_parent_although_it_ignores_sigterm(tmp_path):
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN.format(folder=str(Path(__file__).parent)))
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 50.0  # It would sleep for a minute.
    while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert time.monotonic() < end


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
