"""What the dataset page is told: of our datasets, of others', of runs that are under way."""

import json
import shutil
from pathlib import Path

import pytest
from view_data import write_dataset, write_episode, write_plain_dataset

from handloom.engine.runs.journal import Journal, Receipt
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.errors import InputError
from handloom.tasks import load_task
from handloom.viewer.library import Library


def test_the_episodes_come_as_columns_of_one_length(asked, ours: Path) -> None:
    told = asked(ours).json("/api/datasets/d0")
    (source,) = told["sources"]
    assert told["kind"] == "dataset"
    assert source["count"] == 6
    assert {len(column) for column in source["columns"].values()} == {6}
    assert source["columns"]["words"][1] == "put the blue cube away"
    assert source["columns"]["recovery"] == [False, False, True, False, False, False]
    assert source["columns"]["robot"][:2] == ["fr3", "so101"]
    assert source["aspect"] == pytest.approx(64 / 48)


def test_a_plain_lerobot_dataset_is_shown_with_what_it_says(asked, plain: Path) -> None:
    told = asked(plain).json("/api/datasets/d0")
    columns = told["sources"][0]["columns"]
    assert columns["words"] == ["fold"] * 3
    assert columns["success"] == [None] * 3
    assert told["run"] is None
    assert told["sources"][0]["aspect"] == pytest.approx(64 / 48)


def test_a_folder_shows_every_dataset_below_it_and_links_are_not_followed(
    ours: Path, plain: Path, tmp_path: Path
) -> None:
    shutil.copytree(ours, tmp_path / "a" / "cubes")
    shutil.copytree(plain, tmp_path / "b" / "cubes")
    (tmp_path / "c").symlink_to(plain)
    library = Library([tmp_path])
    assert sorted(shelf.name for shelf in library.shelves.values()) == ["a/cubes", "b/cubes"]


def test_a_folder_without_datasets_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no dataset and no run"):
        Library([tmp_path])
    with pytest.raises(InputError, match="no such folder"):
        Library([tmp_path / "none"])


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A run under way: three attempts are finished, one of them failed and was not kept."""
    settings = RunSettings.of_task(load_task("fr3_pick_cube"), seed=7, unit_size=2)
    directory = RunDirectory.begin(tmp_path / "run", settings)
    for index in (0, 2):
        write_episode(directory.episodes, index)
    for receipt in (
        Receipt(episode=0, success=True, frames=20),
        Receipt(episode=1, success=False, stage="plan", reason="goal_unreachable", detail="no <b>way</b>"),
        Receipt(episode=2, success=True, frames=20),
    ):
        Journal(directory.path / "journal" / f"unit_{receipt.episode // 2:06d}.jsonl").append(receipt)
    return directory


def test_a_run_under_way_shows_what_is_finished_and_what_failed(asked, run: RunDirectory) -> None:
    ask = asked(run.path)
    told = ask.json("/api/datasets/d0")
    assert [source["key"] for source in told["sources"]] == ["d0p"]
    assert told["sources"][0]["count"] == 2
    assert told["run"]["funnel"]["attempts"] == 3
    assert told["run"]["running"]
    assert told["attempts"] == [
        {"attempt": 1, "stage": "plan", "reason": "goal_unreachable", "detail": "no <b>way</b>", "frames": 0}
    ]
    assert ask.json("/api/episodes/d0p/1")["row"]["attempt_index"] == 2
    assert ask("/api/episodes/d0p/1/strip.jpg").status == 200
    write_episode(run.episodes, 3)
    assert ask.json("/api/datasets/d0")["sources"][0]["count"] == 3


def test_an_attempt_without_an_episode_tells_stage_and_reason_and_the_command_that_makes_it(asked, run) -> None:
    told = asked(run.path).json("/api/attempts/d0/1")
    assert told["receipt"]["reason"] == "goal_unreachable"
    assert told["command"].startswith("handloom generate fr3_pick_cube --seed 7 --only 1 ")
    assert asked(run.path)("/api/attempts/d0/77").status == 404


def test_a_dataset_that_grows_is_read_again(asked, tmp_path: Path) -> None:
    root = write_plain_dataset(tmp_path / "towels", 2)
    ask = asked(root)
    before = ask.json("/api/datasets/d0")["sources"][0]
    shutil.rmtree(root)
    write_plain_dataset(root, 3)
    after = ask.json("/api/datasets/d0")["sources"][0]
    assert (before["count"], after["count"]) == (2, 3)
    assert before["stamp"] != after["stamp"]


def test_several_datasets_have_keys_of_their_own(asked, ours: Path, plain: Path) -> None:
    site = asked(ours, plain).json("/api/site")
    assert [(shelf["key"], shelf["name"]) for shelf in site["datasets"]] == [("d0", "cubes"), ("d1", "towels")]


def test_a_damaged_dataset_is_an_answer_and_no_traceback(asked, plain: Path, tmp_path: Path) -> None:
    root = tmp_path / "towels"
    shutil.copytree(plain, root)
    ask = asked(root)
    file = root / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    file.write_bytes(file.read_bytes()[:-40])
    answer = ask("/api/datasets/d0")
    assert answer.status == 400
    assert "file-000.parquet" in json.loads(answer.body)["error"]


def test_failures_are_a_source_beside_the_successes(asked, run: RunDirectory) -> None:
    write_dataset(run.dataset, 2)
    write_dataset(run.failures, 2, first=4, success=False)
    sources = asked(run.path).json("/api/datasets/d0")["sources"]
    assert [(source["key"], source["count"]) for source in sources] == [("d0", 2), ("d0f", 2), ("d0p", 2)]
    assert sources[1]["columns"]["failure_reason"] == ["not_grasped", "goal_unreachable"]
