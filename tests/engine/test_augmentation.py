"""A few demonstrations become many, by the machinery and the writer of every run."""

import shutil
from pathlib import Path

import pytest

from handloom.cli.main import main
from handloom.engine import (
    Goal,
    InlineExecutor,
    RunDirectory,
    RunSettings,
    generate_run,
    verify_dataset,
)
from handloom.engine.augmentation import augmenting_source, check_demonstrations, demonstrations_of
from handloom.errors import FileError, InputError
from handloom.tasks import load_task

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")


def run_of(folder: Path, task: str, **options) -> RunDirectory:
    settings = RunSettings.of_task(load_task(task, overrides=SMALL), unit_size=1, render="none", **options)
    return RunDirectory.begin(folder, settings)


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory) -> Path:
    """A run with two demonstrations of the FR3 that picks up a cube."""
    run = run_of(tmp_path_factory.mktemp("few") / "run", "fr3_pick_cube", seed=0)
    generate_run(run, Goal(successes=2), InlineExecutor())
    return run.path


def words_of(folder: Path, run: Path, *more: str) -> list[str]:
    return ["augment", str(run), "-o", str(folder / "more"), "--executor", "inline", "--render", "none", *more]


def test_new_demonstrations_are_verified_bit_for_bit_and_their_yield_is_told(demonstrations, tmp_path, capsys):
    assert main(words_of(tmp_path, demonstrations, "--attempts", "2")) == 0
    told = capsys.readouterr()
    assert "2 demonstrations split into 2 segments: 2 relative to cube" in told.err
    assert "success: 2 of 2 attempts" in told.out
    verdicts = [verification.verdict for verification in verify_dataset(tmp_path / "more", InlineExecutor())]
    assert verdicts == ["exact"] * 2
    made = RunDirectory.open(tmp_path / "more")
    assert made.settings.seed == 1  # The one after the demonstrations'.
    assert set(made.receipts()[0].skills) == {"pick"}
    # The same command again finds everything done; the new demonstrations can be augmented in turn.
    assert main(words_of(tmp_path, demonstrations, "--attempts", "2")) == 0
    assert len(demonstrations_of(augmenting_source(tmp_path / "more", most=2))) == 2


def test_bad_input_ends_with_one_message(demonstrations, tmp_path, capsys):
    def message(*words: str) -> str:
        assert main(list(words)) == 2
        return capsys.readouterr().err

    more = words_of(tmp_path, demonstrations)
    assert "contains no dataset" in message("augment", str(tmp_path))
    assert "--seed 0 is the seed of the demonstrations, so its scenes are not new" in message(*more, "--seed", "0")
    assert "demonstration of the task 'fr3_pick_cube', not of 'fr3_pick_place'" in message(
        *more, "--task", "fr3_pick_place"
    )
    assert "--demonstrations must be at least 1, got 0" in message(*more, "--demonstrations", "0")
    assert "--set changes a task given with --task" in message(*more, "--set", "data.fps=20")
    shutil.copytree(demonstrations / "dataset", tmp_path / "alone")
    assert "is a dataset without its run; give its task with --task" in message("augment", str(tmp_path / "alone"))
    shutil.rmtree(tmp_path / "alone" / "extras")
    assert "has no archives of its episodes (extras/)" in message("augment", str(tmp_path / "alone"))
    assert not (tmp_path / "more").exists()


def test_a_run_without_a_success_has_no_demonstrations(demonstrations, tmp_path, monkeypatch):
    monkeypatch.setattr("handloom.values.EpisodeRecord.success", False)
    with pytest.raises(InputError, match=r"contains no demonstration: none of its 2 episodes succeeded"):
        augmenting_source(demonstrations)


def test_a_run_goes_on_with_the_demonstrations_it_began_with_only(demonstrations, tmp_path):
    copy = shutil.copytree(demonstrations, tmp_path / "copy")
    source = augmenting_source(copy)
    assert check_demonstrations(source, load_task("fr3_pick_cube"), None) == 1
    shutil.rmtree(copy / "dataset" / "extras" / "episode_000001")
    with pytest.raises(FileError, match="have changed since the run started"):
        demonstrations_of(source)
