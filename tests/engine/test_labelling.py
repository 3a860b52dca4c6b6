"""Labels at generation, at drawing or later are the same bytes, survive merges, and tell when they were changed."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader, check_layout, merge_datasets
from handloom.dataset.episodes import archive_pack
from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.lerobot.file_list import changed_files
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run, verify_dataset
from handloom.engine.labelling import label_dataset, label_faults, labels_present
from handloom.engine.trust import sampled_archives
from handloom.engine.verification.verify import dataset_faults, sampled_faults
from handloom.errors import NotFoundError
from handloom.labels import EpisodeLabels
from handloom.labels.images.label_pictures import DENSE, LAYOUT
from handloom.labels.images.picture_packing import unpack
from handloom.tasks import load_task

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[48, 32]")
FILES = ("labels.parquet", "label_pictures.parquet", "words.json")


def generated(folder: Path, **options) -> RunDirectory:
    settings = RunSettings.of_task(load_task("fr3_pick_cube", overrides=SMALL), seed=0, **options)
    run = RunDirectory.begin(folder, settings)
    generate_run(run, Goal(attempts=1), InlineExecutor())
    return run


@pytest.fixture(scope="module")
def labelled(tmp_path_factory) -> RunDirectory:
    folder = tmp_path_factory.mktemp("labelled") / "run"
    return generated(folder, labels=("all",), lerobot_features=("language",))


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> RunDirectory:
    return generated(tmp_path_factory.mktemp("plain") / "run", render="none")


def test_labels_made_later_without_pictures_have_the_bytes_of_those_made_while_drawing(labelled, plain):
    label_dataset(plain.path, ("all",), InlineExecutor())
    for name in FILES:
        first, second = (run.dataset / "extras/episode_000000" / name for run in (labelled, plain))
        assert first.read_bytes() == second.read_bytes(), name
    assert changed_files(plain.dataset) == {}
    assert check_layout(plain.dataset) == ()
    assert label_faults(plain.path, InlineExecutor()) == ()


def test_labels_of_packed_archives_are_the_same_and_packed_beside_them(labelled, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_pack, "PACK", 1)
    run = generated(tmp_path / "run", render="none")
    pack = run.dataset / "extras/chunk-000/episodes-000000.zip"
    before = pack.read_bytes()
    label_dataset(run.path, ("words",), InlineExecutor())
    label_dataset(run.path, ("all",), InlineExecutor())
    assert sorted(path.name for path in pack.parent.iterdir()) == ["episodes-000000.zip", "labels-000000.zip"]
    assert pack.read_bytes() == before, "archives are never written again"
    files = EpisodeFiles.at(run.dataset / "extras/episode_000000")
    for name in FILES:
        assert files.read(name) == (labelled.dataset / "extras/episode_000000" / name).read_bytes(), name
    assert changed_files(run.dataset) == {}
    assert check_layout(run.dataset) == ()
    assert label_faults(run.path, InlineExecutor()) == ()
    assert [v.verdict for v in verify_dataset(run.path, InlineExecutor())] == ["exact"]
    assert sorted(path.name for path in run.path.iterdir() if "partial" in path.name) == []
    assert EpisodeLabels(run.dataset / "extras/episode_000000").frames
    assert not sampled_faults(run.path, sampled_archives(run.path, 5, 0)[1])
    pack.write_bytes(before[:-30] + bytes(8) + before[-22:])
    assert any("episodes-000000.zip" in fault for fault in dataset_faults(run.path))


def test_a_labelled_dataset_verifies(labelled):
    assert [v.verdict for v in verify_dataset(labelled.path, InlineExecutor())] == ["exact"]
    assert check_layout(labelled.dataset) == ()


def test_wordings_plan_and_questions_are_in_the_language_columns(labelled):
    reader = DatasetReader(labelled.dataset)
    rows = reader.rows(0)
    told = rows["language_persistent"][0].as_py()
    styles = {style: [row for row in told if row["style"] == style] for style in ("subtask", "plan", "task_aug")}
    words = EpisodeLabels(reader.archive_folder(0)).words
    assert [row["content"] for row in styles["task_aug"]] == [wording["text"] for wording in words["wordings"]]
    assert len(styles["plan"]) == 1
    assert styles["subtask"]
    events = rows["language_events"].to_pylist()
    first = [question for question in words["questions"] if question["frame"] == 0]
    assert [row["content"] for row in events[0][0::2]] == [question["question"] for question in first]
    assert [json.loads(row["content"])["answer"] for row in events[0][1::2]] == [q["answer"] for q in first]
    assert {row["camera"] for row in events[0]} == {"observation.images.head"}


def test_labels_go_with_their_episodes_into_a_merged_dataset(labelled, tmp_path):
    merged = merge_datasets([labelled.dataset], tmp_path / "merged")
    assert labels_present(merged / "extras/episode_000000") == labels_present(
        labelled.dataset / "extras/episode_000000"
    )
    assert changed_files(merged) == {}


def test_a_label_that_was_changed_is_found_by_list_and_by_computing_it_again(tmp_path, capsys):
    run = generated(tmp_path / "run", render="none", labels=("words",))
    file = run.dataset / "extras/episode_000000/words.json"
    file.write_text(file.read_text().replace("cube", "ball"))
    assert main(["label", str(run.path), "--check", "--workers", "0"]) == 2
    assert "has changed" in capsys.readouterr().err
    assert main(["label", str(run.path), "--check", "--workers", "0", "--skip-hashes"]) == 1
    assert "differs from the labels computed from the recording" in capsys.readouterr().out


@pytest.mark.parametrize("changed", [False, True])
def test_images_as_earlier_versions_packed_them_are_compared_one_by_one(labelled, tmp_path, changed):
    shutil.copytree(labelled.path, tmp_path / "run")
    file = tmp_path / "run/dataset/extras/episode_000000/label_pictures.parquet"
    rows = pq.read_table(file).to_pylist()
    for row in rows:
        for kind, (planes, channels) in LAYOUT.items():
            size = row["height"], row["width"]
            image = np.moveaxis(unpack(row[kind], planes, (*size, channels), DENSE[kind][0]), 0, -2)
            image = image.reshape(*size, planes * channels)
            row[kind] = np.diff(image, axis=1, prepend=np.zeros_like(image[:, :1])).tobytes()
    if changed:
        rows[-1]["depth"] = bytes([1]) + rows[-1]["depth"][1:]
    pq.write_table(pa.Table.from_pylist(rows), file)
    faults = label_faults(tmp_path / "run", InlineExecutor())
    assert len(faults) == changed


def test_a_call_that_was_killed_before_the_list_was_written_is_taken_up(tmp_path):
    run = generated(tmp_path / "run", render="none")
    before = (run.dataset / "meta/files.json").read_bytes()
    label_dataset(run.path, ("steps",), InlineExecutor())
    (run.dataset / "meta/files.json").write_bytes(before)  # As if it had been killed there.
    assert main(["label", str(run.path), "--labels", "steps", "traces", "--workers", "0"]) == 0
    assert changed_files(run.dataset) == {}
    assert labels_present(run.dataset / "extras/episode_000000") == ("steps", "traces")


def test_further_labels_keep_those_that_are_there(tmp_path):
    run = generated(tmp_path / "run", render="none", labels=("steps",))
    label_dataset(run.path, ("cameras",), InlineExecutor())
    names = EpisodeLabels(run.dataset / "extras/episode_000000").table.column_names
    assert {"subtask", "cameras"} <= set(names)


def test_a_label_that_does_not_exist_is_named():
    with pytest.raises(NotFoundError, match="did you mean 'boxes'"):
        RunSettings.of_task(load_task("fr3_pick_cube"), seed=0, labels=("boxe",))
