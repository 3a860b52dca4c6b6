"""An attempt that fails is a result; a machine that fails is none: it is tried again, then the run stops."""

import errno
import hashlib
import importlib
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.config import allow_code
from handloom.engine import Goal, InlineExecutor, Receipt, RunDirectory, RunSettings, attempt, generate_run, sources
from handloom.engine.executors.executor import Finished
from handloom.engine.executors.machine_faults import crash_fault, machine_fault
from handloom.errors import FileError, InputError, MachineError, MissingExtraError, StateError
from handloom.tasks import load_task

# Runs name their source by module, so its folder must be on the path.
sys.path.insert(0, str(Path(__file__).parent))
faulty_source = importlib.import_module("faulty_source")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("HANDLOOM_TEST_MARKS", str(tmp_path))
    with allow_code():
        yield


def new_run(folder: Path, source: str = "expert", *, unit_size: int = 2) -> RunDirectory:
    file = folder.with_name("turn_wrist.yaml")  # Tasks of another name have other scenes.
    file.write_text(faulty_source.TASK)
    settings = RunSettings.of_task(load_task(str(file)), seed=0, unit_size=unit_size, render="none", source=source)
    return RunDirectory.begin(folder, settings)


def digest(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def outcomes(run: RunDirectory) -> list[str]:
    return [receipt.reason for receipt in run.receipts().values()]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), "memory"),
        (mujoco.FatalError("mju_malloc: Could not allocate memory"), "memory"),
        (mujoco.FatalError("could not allocate mjData arena"), "memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), "memory"),
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"), "memory"),
        (RuntimeError("can't start new thread"), "memory"),
        (RuntimeError("CUDA error: unspecified launch failure"), "devices"),
        (OSError(errno.ENOSPC, "No space left on device"), "files"),
        (OSError(errno.EMFILE, "Too many open files"), "files"),
        (FileError(errno.EIO, "cannot write x: Input/output error"), "files"),
        (mujoco.FatalError("Insufficient arena memory for the number of constraints generated."), ""),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), ""),
        (StateError("out of memory is what the robot says"), ""),
        (KeyError("memory"), ""),
    ],
)
def test_faults_of_the_machine_are_told_from_those_of_the_attempt(error, kind):
    assert machine_fault(error) == kind


def test_an_allocation_that_fails_in_earnest_is_a_fault_of_memory():
    with pytest.raises(MemoryError) as caught:
        np.ones(1 << 55)
    assert machine_fault(caught.value) == "memory"
    told = StateError("the table cannot be made")
    told.__cause__ = caught.value
    assert machine_fault(told) == "memory"


def test_signals_from_outside_are_told_from_crashes(monkeypatch):
    assert [crash_fault(-number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGBUS)] == ["killed"] * 3
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert [crash_fault(code) for code in (-signal.SIGSEGV, -signal.SIGABRT, 3)] == [""] * 3
    monkeypatch.setattr(resource, "getrlimit", lambda which: (400_000_000, resource.RLIM_INFINITY))
    assert crash_fault(-signal.SIGSEGV) == "memory", "without memory, native code may crash anyhow"


def test_every_error_of_a_source_is_a_failed_attempt_with_a_typed_reason(tmp_path):
    run = new_run(tmp_path / "run", "faulty_source:Mildly")
    outcome = generate_run(run, Goal(successes=8), InlineExecutor())
    assert outcome.complete
    reasons = ["state_error", "input_error", "file_error", *["internal_error"] * 3, "unstable"]
    assert outcomes(run)[:15] == [word for reason in reasons for word in ("", reason)] + [""]
    details = [receipt.detail for receipt in outcome.receipts.values() if not receipt.success]
    assert details[0].startswith("StateError: the robot is in no mood (faulty_source.py:")
    assert details[5].startswith("SystemExit: 3 (faulty_source.py:")


def test_a_fault_that_passes_costs_nothing_and_one_that_stays_stops_the_run_unrecorded(tmp_path):
    run = new_run(tmp_path / "run", "faulty_source:Poor")
    with pytest.raises(MachineError) as stopped:
        generate_run(run, Goal(attempts=6), InlineExecutor())
    assert stopped.value.kind == "memory"
    assert str(stopped.value) == (
        "FatalError: Could not allocate memory (attempt 1, tried 3 times); this is a machine fault, so nothing was "
        "recorded: fix that and run the same command again; it resumes; fewer --workers leave more memory for "
        "each; --skip-stuck counts such attempts as failed"
    )
    assert sorted(run.receipts()) == [0, 2, 3, 4, 5], "all others are made, those that met a passing fault among them"
    assert not any(outcomes(run))
    assert not run.dataset.exists()


def test_when_the_machine_is_mended_the_run_ends_with_the_bytes_of_an_undisturbed_one(tmp_path, monkeypatch):
    run = new_run(tmp_path / "run", "faulty_source:Poor")
    with pytest.raises(MachineError):
        generate_run(run, Goal(successes=3), InlineExecutor())
    assert sorted(run.receipts()) == [0, 2, 3, 4, 5], (
        "no further units than it takes if 1 and 3, which wait, were to fail"
    )
    monkeypatch.setattr(faulty_source.Poor, "faults", {})
    outcome = generate_run(run, Goal(successes=3), InlineExecutor())
    assert list(outcome.receipts) == [0, 1, 2]
    other = new_run(tmp_path / "other", "faulty_source:Poor")
    generate_run(other, Goal(successes=3), InlineExecutor())
    assert digest(run.dataset) == digest(other.dataset)


def test_a_stuck_attempt_is_counted_as_failed_when_the_user_says_so(tmp_path):
    run = new_run(tmp_path / "run", "faulty_source:Poor")
    outcome = generate_run(run, Goal(attempts=4), InlineExecutor(), skip_stuck=True)
    assert outcome.complete
    assert outcomes(run) == ["", "out_of_memory", "", ""]
    assert outcome.receipts[1].detail.endswith("Could not allocate memory, 3 times")


@pytest.mark.parametrize("word", [True, False])
def test_a_full_disk_stops_the_run_at_once_whatever_may_be_skipped(tmp_path, monkeypatch, word):
    tried = []

    def full(settings, task, episode, episodes):
        tried.append(episode)
        raise OSError(errno.ENOSPC, "No space left on device", "scratch")

    monkeypatch.setattr(attempt, "run_attempt", full)
    run = new_run(tmp_path / "run")
    with pytest.raises(MachineError, match=r"No space left on device: 'scratch' \(attempt 0, tried once, and 2 more"):
        generate_run(run, Goal(attempts=50), InlineExecutor(), skip_stuck=word)
    assert tried == [0, 1, 2]
    assert run.receipts() == {}


def test_a_missing_file_of_the_task_stops_the_run_and_is_no_result(tmp_path, monkeypatch):
    def missing(*_):
        raise FileError("cube.obj is missing")

    monkeypatch.setattr(attempt, "sample_task", missing)
    run = new_run(tmp_path / "run")
    with pytest.raises(MachineError, match=r"^cube.obj is missing \(attempt 0"):
        generate_run(run, Goal(attempts=5), InlineExecutor())
    assert run.receipts() == {}


@pytest.mark.parametrize(
    "error", [MissingExtraError("this needs torch"), InputError("no such network"), ZeroDivisionError("odd network")]
)
def test_a_source_that_cannot_be_loaded_ends_the_run_at_once(tmp_path, monkeypatch, error):
    def broken(_):
        raise error

    monkeypatch.setattr(sources, "source_factory", broken)
    run = new_run(tmp_path / "run")
    with pytest.raises((MissingExtraError, InputError), match=str(error)):
        generate_run(run, Goal(attempts=5), InlineExecutor())
    assert run.receipts() == {}


class Stalling(InlineExecutor):
    """Ends its worker by the clock at some attempts, a number of times."""

    def __init__(self, times: dict[int, int]) -> None:
        self.times = dict(times)
        self.order: list[int] = []

    def run(self, function, items):
        for item in items:
            self.order.append(item.first)
            late = next((e for e in item.attempts if self.times.get(e, 0)), None)
            if late is None:
                yield Finished(item, function(item))
            else:
                self.times[late] -= 1
                yield Finished(item, crash="no result after 900 s of wall time", fault="time")


@pytest.fixture
def quick(monkeypatch):
    """Attempts that take no time."""
    monkeypatch.setattr(
        attempt, "run_attempt", lambda settings, task, episode, _: Receipt(episode=episode, success=False)
    )


@pytest.mark.usefixtures("quick")
def test_the_wall_clock_decides_nothing_unless_it_is_told_to(tmp_path):
    run, executor = new_run(tmp_path / "run"), Stalling({4: 99})
    with pytest.raises(
        MachineError, match=r"900 s of wall time \(attempt 4.*--attempt-seconds allows more time; --skip"
    ):
        generate_run(run, Goal(attempts=8), executor)
    assert executor.order == [0, 2, 4, 5, 6, 4, 4], "the others first, then it alone"
    assert sorted(run.receipts()) == [0, 1, 2, 3, 5, 6, 7]
    generate_run(run, Goal(attempts=8), Stalling({4: 2}))
    assert outcomes(run) == [""] * 8, "slow is not failed"


@pytest.mark.usefixtures("quick")
def test_a_machine_that_stalls_altogether_ends_the_run_soon(tmp_path):
    run, executor = new_run(tmp_path / "run"), Stalling(dict.fromkeys(range(100), 99))
    with pytest.raises(MachineError):
        generate_run(run, Goal(attempts=100), executor)
    assert len(executor.order) == 3
    assert run.receipts() == {}


@pytest.mark.usefixtures("quick")
def test_a_hang_that_the_user_lets_count_is_in_the_journal_and_stays_there(tmp_path):
    run = new_run(tmp_path / "run")
    generate_run(run, Goal(attempts=8), Stalling({4: 99, 5: 99, 6: 99, 7: 99}), skip_stuck=True)
    assert outcomes(run) == [""] * 4 + ["hang"] * 4
    assert generate_run(run, Goal(attempts=8), InlineExecutor()).receipts[4].reason == "hang"
