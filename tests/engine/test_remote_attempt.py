"""Workers that do not see the run's folder hand their episodes back; the dataset is the same to the byte."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from handloom.dataset.files import storage as storages
from handloom.engine import Goal, InlineExecutor, Receipt, RunDirectory, RunSettings, attempt, generate_run
from handloom.engine.executors.executor import Finished
from handloom.engine.executors.remote_attempt import Storage, packed, unpacked
from handloom.errors import FileError, InputError, MachineError, MissingExtraError, StateError
from handloom.tasks import load_task

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")
NOWHERE = "/nowhere/at/all"


def begin(folder: Path, **options) -> RunDirectory:
    task = load_task("fr3_pick_cube", overrides=SMALL)
    return RunDirectory.begin(folder, RunSettings.of_task(task, seed=3, unit_size=4, **options))


def digest(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


class Faraway(InlineExecutor):
    """Runs items as another machine would: the folder of the run is not there."""

    shares_files = False

    def __init__(self, lost: dict[int, int] | None = None) -> None:
        self.lost = lost or {}
        """How often the machine is lost, by attempt."""

    def run(self, function, items):
        for item in items:
            if self.lost.get(item.first, 0):
                self.lost[item.first] -= 1
                yield Finished(item, crash="the actor was lost")
            else:
                yield Finished(item, function(replace(item, run=NOWHERE)))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, str]:
    run = begin(tmp_path_factory.mktemp("here") / "run")
    generate_run(run, Goal(successes=2), InlineExecutor())
    return digest(run.dataset)


def test_episodes_handed_back_make_the_same_dataset(undisturbed, tmp_path):
    run = begin(tmp_path / "run")
    assert generate_run(run, Goal(successes=2), Faraway({1: 2})).complete
    assert digest(run.dataset) == undisturbed
    assert not os.path.exists(NOWHERE)
    assert not run.episodes.exists()


def test_episodes_come_by_way_of_a_url_and_none_is_left_there(undisturbed, tmp_path):
    pytest.importorskip("fsspec", reason="comes with the extra cloud")
    run = begin(tmp_path / "run")
    generate_run(run, Goal(successes=2), Faraway(), staging=f"file://{tmp_path}/staged")
    assert digest(run.dataset) == undisturbed
    assert not [path for path in (tmp_path / "staged").rglob("*") if path.is_file()]


def test_what_was_staged_before_the_run_was_killed_is_taken_in_and_not_made_again(undisturbed, tmp_path, monkeypatch):
    pytest.importorskip("fsspec", reason="comes with the extra cloud")
    staging = "memory://handloom-test"
    first = begin(tmp_path / "first")

    class Killed(Faraway):
        def run(self, function, items):
            for item in items:
                function(item)
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate_run(first, Goal(successes=2), Killed(), staging=staging)
    assert first.receipts() == {}
    made = []
    plain = attempt.run_attempt
    monkeypatch.setattr(attempt, "run_attempt", lambda *given: (made.append(given[2]), plain(*given))[1])
    generate_run(first, Goal(successes=2), Faraway(), staging=staging)
    assert made == [1]
    assert digest(first.dataset) == undisturbed


@pytest.fixture
def unreliable(monkeypatch):
    """A storage, unreliable://, whose operations fail now and then as those of a network do."""
    fsspec = pytest.importorskip("fsspec", reason="comes with the extra cloud")
    memory = pytest.importorskip("fsspec.implementations.memory")
    monkeypatch.setattr(storages, "PAUSES", (0.0, 0.0))

    class Unreliable(memory.MemoryFileSystem):
        protocol = "unreliable"
        store: dict = {}  # noqa: RUF012 - as in the class above
        pseudo_dirs = [""]  # noqa: RUF012
        faults: dict[str, int] = {}  # noqa: RUF012
        """How many of the next calls fail, by operation."""

        def _fail(self, name):
            if self.faults.get(name, 0):
                self.faults[name] -= 1
                raise ConnectionResetError(104, f"Connection reset by peer in {name}")

        def exists(self, path, **options):
            self._fail("exists")
            return super().exists(path, **options)

        def pipe_file(self, path, value, **options):
            self._fail("write")
            if self.faults.get("cut", 0):
                self.faults["cut"] -= 1
                value = value[: len(value) // 2]  # The writer was killed; not every storage writes whole files.
            return super().pipe_file(path, value, **options)

        def cat_file(self, path, **options):
            self._fail("read")
            return super().cat_file(path, **options)

        def rm_file(self, path):
            self._fail("remove")
            return super().rm_file(path)

    fsspec.register_implementation("unreliable", Unreliable, clobber=True)
    return Unreliable


@pytest.mark.parametrize("faults", [{"exists": 2, "write": 2, "read": 2, "remove": 2}, {"remove": 3}, {"cut": 1}])
def test_faults_of_a_storage_that_pass_change_nothing(undisturbed, tmp_path, unreliable, faults):
    unreliable.faults.update(faults)
    run = begin(tmp_path / "run")
    assert generate_run(run, Goal(successes=2), Faraway(), staging="unreliable://bucket").complete
    assert digest(run.dataset) == undisturbed
    assert not any(unreliable.faults.values()), "all of them were met"


@pytest.mark.parametrize("operation", ["exists", "write", "read"])
def test_a_storage_that_stays_away_stops_the_run_and_records_nothing(undisturbed, tmp_path, unreliable, operation):
    unreliable.faults[operation] = 10**6
    run = begin(tmp_path / "run")
    with pytest.raises(
        MachineError, match=r"^cannot (read|write) unreliable://bucket/\w+/episode_00000\d.zip: Connection"
    ):
        generate_run(run, Goal(successes=2), Faraway(), staging="unreliable://bucket", skip_stuck=True)
    assert run.receipts() == {}
    unreliable.faults.clear()
    generate_run(run, Goal(successes=2), Faraway(), staging="unreliable://bucket")
    assert digest(run.dataset) == undisturbed


def test_a_lost_machine_is_counted_against_the_attempt_it_had(tmp_path, monkeypatch):
    monkeypatch.setattr(
        attempt, "run_attempt", lambda settings, task, episode, _: Receipt(episode=episode, success=False)
    )
    outcome = generate_run(begin(tmp_path / "run"), Goal(attempts=6), Faraway({2: 9}))
    assert [receipt.reason for receipt in outcome.receipts.values()] == ["", "", "worker_crash", "", "", ""]


def test_an_attempt_without_an_episode_is_its_receipt_alone(tmp_path):
    receipt = Receipt(episode=4, success=False, reason="no_path", seconds={"plan": 1.5})
    assert unpacked(packed(receipt, tmp_path), tmp_path / "episodes") == receipt
    assert not (tmp_path / "episodes").exists()


def test_a_damaged_parcel_is_named_and_leaves_nothing(tmp_path):
    parcel = packed(Receipt(episode=4, success=False), tmp_path)
    for damaged in (b"", parcel[:-9], parcel.replace(b"receipt.json", b"recipe__.json")):
        with pytest.raises(FileError, match="the result of a worker is damaged"):
            unpacked(damaged, tmp_path / "episodes")
    assert not (tmp_path / "episodes").exists()


def test_urls_that_lead_nowhere_are_named():
    with pytest.raises(InputError, match="'bucket/folder' is not a URL; write s3://bucket/folder"):
        Storage("bucket/folder")
    pytest.importorskip("fsspec", reason="comes with the extra cloud")
    with pytest.raises(StateError, match=r"cannot reach nope://bucket: ValueError: Protocol not known: nope"):
        Storage("nope://bucket")
    with pytest.raises(StateError, match=r"cannot write file:///proc/no/check-\w+: .*check the URL"):
        Storage("file:///proc/no").check()


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"handloom\[cloud\]"):
        Storage("s3://bucket/folder")
