"""What verbs do with what is there already: ours is replaced or cleaned up, everything else is left alone."""

import os
from pathlib import Path

import pytest

from handloom.dataset import DatasetReader, extract_episode, folder_name, merge_episodes
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.rerender import RenderOverrides, rerender_run
from handloom.engine.runs.merge_run import merge_run
from handloom.errors import ConfigError, FileError
from handloom.tasks import load_task

LOOK = RenderOverrides(size=(16, 16))


def settings() -> RunSettings:
    return RunSettings.of_task(load_task("fr3_pick_cube"), seed=0, unit_size=1, render="none")


def made(folder: Path, attempts: int) -> RunDirectory:
    run = RunDirectory.begin(folder, settings())
    assert generate_run(run, Goal(attempts=attempts), InlineExecutor()).complete
    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return made(tmp_path_factory.mktemp("outputs") / "run", 2)


def draw(run: RunDirectory, out: Path, look: RenderOverrides = LOOK) -> Path:
    return rerender_run(run, out, InlineExecutor(), look=look, preset="fast")


@pytest.mark.parametrize("kind", ["folder", "file", "run", "dataset", "another dataset"])
def test_render_replaces_nothing_but_a_drawing_of_the_same_run(run: RunDirectory, tmp_path: Path, kind: str) -> None:
    out = {"run": run.path, "dataset": run.dataset}.get(kind, tmp_path / "out")
    if kind == "file":
        out.write_text("thesis")
    elif kind == "folder":
        out.mkdir()
        (out / "thesis.txt").write_text("thesis")
    elif kind == "another dataset":
        other = DatasetReader(made(tmp_path / "other", 3).dataset)
        merge_episodes([extract_episode(other, 2, tmp_path / folder_name(2)).path], out)
    before = contents(run.path), contents(tmp_path)
    with pytest.raises(FileError, match="nothing was changed; choose another"):
        draw(run, out)
    assert (contents(run.path), contents(tmp_path)) == before


def test_a_drawing_is_replaced_by_another_and_notes_in_it_are_kept(run: RunDirectory, tmp_path: Path) -> None:
    out = draw(run, tmp_path / "out", RenderOverrides(size=(24, 16)))
    (out / "notes.txt").write_text("mine")
    (tmp_path / "out.0123abcd.partial" / "episode_000000").mkdir(parents=True)  # A call with another look was killed.
    (tmp_path / "out.thesis.partial").mkdir()
    draw(run, out)
    direct = contents(draw(run, tmp_path / "direct"))
    assert contents(out) == {**direct, "notes.txt": b"mine"}
    assert sorted(os.listdir(tmp_path)) == ["direct", "out", "out.thesis.partial"]


def test_an_extended_run_has_the_bytes_of_a_direct_one(run: RunDirectory, tmp_path: Path) -> None:
    grown = made(tmp_path / "grown", 1)
    (grown.dataset / "notes.txt").write_text("mine")
    generate_run(grown, Goal(attempts=2), InlineExecutor())
    assert contents(grown.dataset) == {**contents(run.dataset), "notes.txt": b"mine"}
    assert not grown.episodes.exists()


def test_a_run_that_shrinks_and_grows_again_has_the_bytes_of_a_direct_one(run: RunDirectory, tmp_path: Path) -> None:
    again = made(tmp_path / "again", 2)
    merge_run(again, {0: again.receipts()[0]})
    assert (again.episodes / folder_name(1)).is_dir()
    assert contents(again.dataset) == contents(made(tmp_path / "one", 1).dataset)
    merge_run(again, again.receipts())
    assert contents(again.dataset) == contents(run.dataset)
    assert sorted(entry.name for entry in again.path.iterdir() if "partial" in entry.name) == []


LEFTOVERS = (
    "dataset.partial/meta/merge.json",
    "dataset.more.partial/meta/merge.json",
    "dataset.replaced.partial/meta/files.json",
    "failures.partial/meta/merge.json",
    "rendered.0123abcd.partial/episode_000000/episode.json",
    "rendered.0123abcd.partial-removed/episode_000000/episode.json",
    "contact_sheet.png",
    "finished.json.partial",
    "evaluation.json.partial",
    "inputs/episode_000000.jsonl",
    "journal/unit_000000.jsonl",
    "episodes/episode_000004.partial-x7/frames.parquet",
    "report/index.html",
    "videos/scene_0001_timeout.mp4",
)


def test_overwrite_removes_everything_that_commands_of_ours_leave(tmp_path: Path) -> None:
    run = made(tmp_path / "run", 1)
    for name in LEFTOVERS:
        (run.path / name).parent.mkdir(parents=True, exist_ok=True)
        (run.path / name).write_text("{}")
    RunDirectory.discard(run.path)
    assert os.listdir(run.path) == []


@pytest.mark.parametrize(
    "name",
    [
        "dataset/notes.txt",
        "dataset/meta/mine.txt",
        "report/thesis.tex",
        "episodes/mine",
        "thesis.partial",
        "inputs/a.txt",
    ],
)
def test_overwrite_deletes_nothing_beside_a_file_of_others(tmp_path: Path, name: str) -> None:
    run = RunDirectory.begin(tmp_path / "run", settings())
    (run.path / name).parent.mkdir(parents=True, exist_ok=True)
    (run.path / name).write_text("precious")
    before = contents(run.path)
    with pytest.raises(ConfigError, match="--overwrite deletes nothing"):
        RunDirectory.discard(run.path)
    assert contents(run.path) == {**before, "lock": b""}


def test_a_merge_cleans_up_what_killed_ones_left(tmp_path: Path) -> None:
    run = made(tmp_path / "run", 1)
    for name in ("dataset.partial/meta/merge.json", "dataset.more.partial/meta/merge.json"):
        (run.path / name).parent.mkdir(parents=True)
        (run.path / name).write_text('{"fingerprint": "%s", "versions": {}}' % ("0" * 64))
    (run.path / "dataset.replaced.partial" / "data").mkdir(parents=True)
    (run.episodes / "episode_000000.partial-removed").mkdir(parents=True)
    merge_run(run, run.receipts())
    assert [entry.name for entry in run.path.iterdir() if "partial" in entry.name or entry.name == "episodes"] == []
