"""The engine writes the same data whatever the machinery, and loses nothing."""

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from handloom.dataset import DatasetReader, check_layout
from handloom.engine import (
    Goal,
    InlineExecutor,
    ProcessExecutor,
    Receipt,
    RunDirectory,
    RunSettings,
    generate_run,
    verify_dataset,
)
from handloom.engine.generate import GoalTracker
from handloom.engine.reporting import write_page
from handloom.engine.reporting.diversity import diversity_of
from handloom.engine.runs.journal import Journal
from handloom.errors import ConfigError, FileError, InputError
from handloom.tasks import load_task

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]", "data.max_episode_length=300")


def settings(**options):
    return RunSettings.of_task(load_task("fr3_pick_cube", overrides=SMALL), seed=0, unit_size=1, **options)


def digest(folder: Path) -> dict[str, str]:
    files = sorted((folder / "data").rglob("*.parquet"))
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of three demonstrations, made inline."""
    run = RunDirectory.begin(tmp_path_factory.mktemp("run") / "r", settings())
    outcome = generate_run(run, Goal(successes=3), InlineExecutor())
    assert outcome.complete
    return run


def test_two_worker_processes_write_the_same_bytes(finished, tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    generate_run(run, Goal(successes=3), ProcessExecutor(2))
    assert digest(run.dataset) == digest(finished.dataset)


def test_the_folders_of_merged_episodes_are_gone_and_the_archives_stay(finished):
    assert not finished.episodes.exists()
    assert len(list((finished.dataset / "extras").glob("episode_*/states.npz"))) == 3


def test_a_finished_run_can_be_extended_and_has_the_bytes_of_one_made_at_once(finished, tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    generate_run(run, Goal(successes=2), InlineExecutor())
    two = digest(run.dataset)
    generate_run(run, Goal(successes=3), InlineExecutor())
    assert digest(run.dataset) == digest(finished.dataset) != two
    assert [v.verdict for v in verify_dataset(run.path, InlineExecutor())] == ["exact"] * 3
    assert check_layout(run.dataset) == ()


def test_a_smaller_goal_takes_episodes_out_of_the_dataset_and_loses_none(finished, tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    generate_run(run, Goal(successes=3), InlineExecutor())
    generate_run(run, Goal(successes=1), InlineExecutor())
    assert len(DatasetReader(run.dataset).episodes) == 1
    generate_run(run, Goal(successes=3), InlineExecutor())
    assert digest(run.dataset) == digest(finished.dataset)
    assert not run.episodes.exists()


def test_an_episode_whose_files_were_removed_is_named(tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    run.journal(0).append(Receipt(episode=0, success=True, frames=9))
    with pytest.raises(FileError, match=r"attempt 0 of .* its files are gone; remove .*unit_000000.jsonl"):
        generate_run(run, Goal(attempts=1), InlineExecutor())


def test_the_report_shows_where_cubes_lay_and_how_they_were_grasped(finished, tmp_path):
    diversity = diversity_of(DatasetReader(finished.dataset))
    assert diversity.starts["cube"].shape == (3, 2)
    assert len(diversity.paths) == 3
    assert diversity.path_spread > 0.01
    down = diversity.approaches["cube"] @ [0.0, 0.0, -1.0]
    assert down.min() > 0.4, "a cube on a table is grasped from above"
    text = write_page(finished, tmp_path / "report").read_text()
    assert text.count("<svg") == 6
    assert text.count("data:image/jpeg") == 3 * 8


def test_every_episode_verifies(finished):
    verdicts = list(verify_dataset(finished.path, InlineExecutor()))
    assert [v.verdict for v in verdicts] == ["exact"] * 3


def test_a_tampered_archive_is_found(finished, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(finished.dataset, copy)
    target = copy / "extras" / "episode_000001" / "states.npz"
    content = bytearray(target.read_bytes())
    content[len(content) // 2] ^= 1
    target.unlink()  # A hard link: the original must not change.
    target.write_bytes(content)
    verdicts = {v.episode: v.verdict for v in verify_dataset(copy, InlineExecutor())}
    assert verdicts == {"episode_000000": "exact", "episode_000001": "damaged", "episode_000002": "exact"}


def test_the_same_command_again_does_nothing_new(finished):
    before = {f: f.stat().st_mtime_ns for f in finished.path.rglob("*") if f.is_file() and "lock" not in f.name}
    generate_run(RunDirectory.begin(finished.path, settings()), Goal(successes=3), InlineExecutor())
    assert {f: f.stat().st_mtime_ns for f in finished.path.rglob("*") if f.is_file() and "lock" not in f.name} == before


def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(finished, tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())

    def stop_after_one(receipts):
        if receipts:
            run.stop_file().touch()

    outcome = generate_run(run, Goal(successes=3), InlineExecutor(), on_receipts=stop_after_one)
    assert not outcome.complete
    assert len(outcome.receipts) == 1
    assert generate_run(run, Goal(successes=3), InlineExecutor()).complete
    assert digest(run.dataset) == digest(finished.dataset)


def test_shards_that_share_a_folder_complete_each_other(finished, tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    assert not generate_run(run, Goal(attempts=3), InlineExecutor(), shard=(1, 2)).complete
    assert generate_run(run, Goal(attempts=3), InlineExecutor(), shard=(0, 2)).complete
    assert digest(run.dataset) == digest(finished.dataset)


def test_a_shard_is_stopped_by_itself(tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings(render="none"))

    def other_is_told_to_stop(_):
        run.stop_file((0, 2)).touch()

    shard = generate_run(run, Goal(attempts=4), InlineExecutor(), shard=(1, 2), on_receipts=other_is_told_to_stop)
    assert sorted(shard.receipts) == [1, 3], "the shard that was not stopped is finished"
    assert run.stop_file((0, 2)).exists(), "the stop of the other one still stands"


def test_the_whole_run_and_its_shards_hold_it_against_each_other(finished):
    with finished.held((0, 2)), finished.held((1, 2)), pytest.raises(FileError, match="another"), finished.held():
        pass
    with finished.held(), pytest.raises(FileError, match="another"), finished.held((0, 2)):
        pass


def test_another_task_or_seed_into_an_existing_run_is_refused(finished):
    with pytest.raises(ConfigError, match="contains another run: its keep_failures is False, now True"):
        RunDirectory.begin(finished.path, settings(keep_failures=True))
    other = RunSettings.of_task(load_task("fr3_pick_cube"), seed=0, unit_size=1)
    with pytest.raises(ConfigError, match="its task differs in 'cameras'"):
        RunDirectory.begin(finished.path, other)


def test_the_unit_size_of_a_run_stays_and_its_report_counts_the_goal_only(finished, tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings().model_copy(update={"unit_size": 3}))
    generate_run(run, Goal(successes=1), InlineExecutor())
    assert (len(run.receipts()), len(run.counted())) == (3, 1)
    again = RunDirectory.begin(run.path, settings())
    assert again.settings.unit_size == 3
    generate_run(again, Goal(successes=3), InlineExecutor())
    assert len(again.counted()) == 3
    assert digest(again.dataset) == digest(finished.dataset)


def test_another_run_in_the_place_of_a_removed_one_has_its_own_seed(tmp_path):
    for seed in (0, 7):
        task = load_task("fr3_pick_cube", overrides=SMALL)
        run = RunDirectory.begin(tmp_path / "r", RunSettings.of_task(task, seed=seed, unit_size=1, render="none"))
        generate_run(run, Goal(attempts=1), InlineExecutor())
        (episode,) = DatasetReader(run.dataset).episodes
        assert episode.columns["seed"] == seed
        shutil.rmtree(run.path)


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ConfigError, match="not empty and contains no run"):
        RunDirectory.begin(tmp_path, settings())
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_run_is_discarded_whole_and_nothing_else_ever_is(tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    generate_run(run, Goal(attempts=1), InlineExecutor())
    (run.path / "notes.txt").write_text("precious")
    with pytest.raises(ConfigError, match=r"deletes nothing: notes\.txt"):
        RunDirectory.discard(run.path)
    assert (run.path / "notes.txt").is_file()
    assert run.dataset.is_dir()

    (run.path / "notes.txt").unlink()
    with run.locked(), pytest.raises(FileError, match="another handloom is writing"):
        RunDirectory.discard(run.path)
    RunDirectory.discard(run.path)
    assert [entry.name for entry in run.path.iterdir()] == []

    (tmp_path / "thesis.txt").write_text("precious")
    RunDirectory.discard(tmp_path)  # No run there.
    assert (tmp_path / "thesis.txt").is_file()


def test_a_link_in_a_run_is_not_followed_and_not_deleted(tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "thesis.txt").write_text("precious")
    run.dataset.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="deletes nothing: dataset"):
        RunDirectory.discard(run.path)
    assert (tmp_path / "elsewhere" / "thesis.txt").is_file()


def test_shards_that_begin_at_the_same_moment_begin_one_run(tmp_path):
    same = settings()
    for number in range(20):
        gate = Barrier(8)

        def begin(number: int = number, gate: Barrier = gate) -> RunDirectory:
            gate.wait()
            return RunDirectory.begin(tmp_path / str(number), same)

        with ThreadPoolExecutor(8) as pool:
            runs = [future.result() for future in [pool.submit(begin) for _ in range(8)]]
        assert len({run.settings.fingerprint() for run in runs}) == 1


def test_a_run_killed_while_it_began_begins_again(tmp_path):
    (tmp_path / "lock.begin").touch()
    (tmp_path / "run.yaml.partial").write_text("ta")
    assert RunDirectory.begin(tmp_path, settings()).path == tmp_path


def test_two_runs_into_one_folder_are_refused(finished):
    with finished.locked(), pytest.raises(FileError, match="another handloom is writing"), finished.locked():
        pass


def test_a_run_or_dataset_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match="contains no run"):
        RunDirectory.open(tmp_path)
    with pytest.raises(FileError, match="contains no dataset"):
        list(verify_dataset(tmp_path, InlineExecutor()))


def test_the_lowest_numbered_successes_count_in_whatever_order_they_finish():
    receipts = {i: Receipt(episode=i, success=i % 2 == 1) for i in (0, 1, 3, 4, 5)}
    finish = GoalTracker(Goal(successes=2))
    assert finish.update(receipts) is None
    receipts[2] = Receipt(episode=2, success=False)
    assert finish.update(receipts) == 4
    assert GoalTracker(Goal(attempts=6)).update(receipts) == 6
    assert GoalTracker(Goal(successes=9, max_attempts=5)).update(receipts) == 5
    assert GoalTracker(Goal(attempts=6, max_attempts=5)).update(receipts) == 5


@pytest.mark.parametrize("goal", [{}, {"successes": 0}, {"successes": 1, "attempts": 1}, {"attempts": -1}])
def test_goals_that_say_nothing_are_refused(goal):
    with pytest.raises(InputError, match="give the amount"):
        Goal(**goal)


def test_a_journal_line_cut_short_by_a_kill_is_overwritten(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal.append(Receipt(episode=0, success=True))
    with open(journal.path, "ab") as file:
        file.write(b'{"episode": 1, "succ')
    assert list(journal.read()) == [0]
    journal.append(Receipt(episode=1, success=False, reason="x"))
    assert [r.reason for r in journal.read().values()] == ["", "x"]


def test_one_attempt_alone_is_the_very_one_of_the_whole_run(finished, tmp_path):
    alone = RunDirectory.begin(tmp_path / "r", settings())
    outcome = generate_run(alone, Goal(attempts=3, first=2), InlineExecutor())
    assert outcome.complete
    assert list(outcome.receipts) == [2]
    (episode,) = DatasetReader(alone.dataset).episodes
    whole = DatasetReader(finished.dataset).episode(2)
    assert episode.columns["attempt_index"] == 2
    assert episode.columns["state_hash"] == whole.columns["state_hash"]
    with pytest.raises(InputError, match="first attempt"):
        Goal(attempts=3, first=3)
