"""Verification finds a wrong in any column, whoever signed it, and passes every honest kind of dataset."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader, merge_datasets
from handloom.dataset.episodes.archive import read_npz, write_npz
from handloom.dataset.episodes.certificate import Certificate
from handloom.dataset.files.parquet_files import write_plain
from handloom.dataset.lerobot.file_list import FILE_LIST
from handloom.dataset.lerobot.statistics import column_statistics
from handloom.dataset.lerobot.table_check import check_tables
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run, verify_dataset
from handloom.engine.augmentation import augmenting_source
from handloom.engine.rerender import RenderOverrides, rerender_run
from handloom.engine.verification.verify import dataset_faults, verify_episode
from handloom.tasks import load_task
from spread import every

sys.path.insert(0, str(Path(__file__).parent))
from planting import copied, edit_json, plant, said, sign, sign_array

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")
SETS = {
    "canonical": {"lerobot_features": ("segmentation", "language")},
    "reference": {"columns": ("reference",), "render": "none"},
    "detailed": {"columns": ("canonical", "reference", "detailed"), "render": "none"},
}


def made(folder: Path, *overrides: str, task: str = "fr3_pick_cube", goal: Goal | None = None, **options) -> Path:
    settings = RunSettings.of_task(
        load_task(task, overrides=overrides), **{"seed": 0, "unit_size": 1, "preset": "fast", **options}
    )
    run = RunDirectory.begin(folder, settings)
    generate_run(run, goal or Goal(successes=2), InlineExecutor())
    return run.path


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """A run of two demonstrations for every set of columns."""
    folder = tmp_path_factory.mktemp("runs")
    return {name: made(folder / name, *SMALL, **options) for name, options in SETS.items()}


@pytest.mark.parametrize("style", every(SETS, 2))
def test_one_wrong_value_in_any_column_of_the_frames_is_found_and_named(runs, tmp_path, style):
    dataset = copied(runs[style] / "dataset", tmp_path / "dataset")
    (file,) = (dataset / "data").rglob("*.parquet")
    honest, reader = file.read_bytes(), DatasetReader(dataset)
    columns, features = pq.read_schema(file).names, {feature.name for feature in reader.table.columns}
    assert len(columns) > len(features) > 4
    missed = []
    for column in columns:
        plant(file, [column], reader.episodes[1].first_frame + 7)
        if column in features:
            told = verify_episode(str(reader.archive_folder(1))).detail
            named = told.startswith(f"{column}, frame 7") and "recorded is" in told and "the replay gives" in told
        else:
            told = "\n".join(map(str, check_tables(dataset)))
            named = f"{column} of episode 1, frame 7: recorded is" in told
        missed += [] if named else [f"{column}: {told}"]
        file.write_bytes(honest)
    assert missed == []
    assert said(dataset) == ""


@pytest.mark.parametrize("style", ["canonical", "reference"])
def test_one_wrong_value_in_any_column_of_the_episode_table_is_found_and_named(runs, tmp_path, style):
    dataset = copied(runs[style] / "dataset", tmp_path / "dataset")
    (file,) = (dataset / "meta" / "episodes").rglob("*.parquet")
    honest, columns = file.read_bytes(), pq.read_schema(file).names
    assert {"stats/timestamp/mean", "seed", "segments", "state_hash", "duration_s", "cameras"} <= set(columns)
    # Readers go by these, so that a wrong one is found before anything is compared.
    places = {"episode_index", "length", "data/chunk_index", "data/file_index"}
    others = [column for column in columns if column not in places]
    plant(file, others, 1)
    told = "\n".join(map(str, check_tables(dataset)))
    assert [column for column in others if f"{column} of episode 1: recorded is" not in told] == []
    assert "of episode 0" not in told
    for column in places:
        file.write_bytes(honest)
        plant(file, [column], 1)
        sign(dataset)
        assert dataset_faults(dataset), column


def test_one_wrong_value_anywhere_in_the_other_tables_is_found(runs, tmp_path):
    dataset = copied(runs["canonical"] / "dataset", tmp_path / "dataset")
    stats, info = (json.loads((dataset / "meta" / name).read_text()) for name in ("stats.json", "info.json"))
    forged = {
        feature: {name: (np.array(value) + (1 if name == "count" else 1e-6)).tolist() for name, value in known.items()}
        for feature, known in stats.items()
    }
    (dataset / "meta" / "stats.json").write_text(json.dumps(forged))
    told = "\n".join(map(str, check_tables(dataset)))
    places = [f"{feature}/{name}" for feature, known in stats.items() for name in known]
    assert [place for place in places if f"meta/stats.json: {place}: recorded is" not in told] == []
    (dataset / "meta" / "stats.json").write_text(json.dumps(stats))
    for name in ("robot_type", "total_episodes", "total_frames", "total_tasks", "splits", "fps"):
        other = {"robot_type": "x", "splits": {"train": "0:1"}}.get(name, 999)
        edit_json(dataset / "meta" / "info.json", lambda value, name=name, other=other: value.update({name: other}))
        assert name in "\n".join(dataset_faults(dataset))
        (dataset / "meta" / "info.json").write_text(json.dumps(info))
    for name in ("tasks", "subtasks"):
        file = dataset / "meta" / f"{name}.parquet"
        honest = file.read_bytes()
        plant(file, ["__index_level_0__"], 0)
        assert f"{name}.parquet: name 0: recorded is" in "\n".join(dataset_faults(dataset))
        file.write_bytes(honest)


def test_facts_changed_in_the_table_and_in_the_sheet_alike_are_found_by_the_replay(runs, tmp_path):
    dataset = copied(runs["reference"] / "dataset", tmp_path / "dataset")
    sheet = dataset / "extras" / "episode_000001" / "episode.json"
    honest = json.loads(sheet.read_text())
    facts = [*honest["outcome"]["columns"], "index", "task", "seed", "robot", "attempts"]
    wrongs = {"recovery": True, "index": 9, "seed": 9, "attempts": 9}
    for fact in facts:

        def change(value, fact=fact):
            part = value["outcome"]["columns"] if fact in value["outcome"]["columns"] else value["outcome"]
            part[fact] = wrongs.get(fact, "x")

        edit_json(sheet, change)
        verdict = list(verify_dataset(dataset, InlineExecutor()))[1]
        assert verdict.verdict == "different", fact
        assert "recorded in episode.json is" in verdict.detail, fact
        sheet.write_text(json.dumps(honest))
    edit_json(sheet, lambda value: value["statistics"]["actions.joint.position"].update(min=[0.0] * 7))
    detail = list(verify_dataset(dataset, InlineExecutor()))[1].detail
    assert "episode.json: statistics of actions.joint.position/min: recorded is [0.0" in detail


def test_actions_of_42_with_all_checksums_rewritten_do_not_verify(runs, tmp_path, capsys):
    run = copied(runs["canonical"], tmp_path / "run")
    for file in (run / "dataset" / "data").rglob("*.parquet"):
        with pq.ParquetFile(file) as parquet:
            groups = [parquet.read_row_group(k) for k in range(parquet.num_row_groups)]
        place = groups[0].schema.get_field_index("action")
        field = groups[0].schema.field(place)
        forged = [g.set_column(place, field, pa.array([[42.0] * 8] * len(g), field.type)) for g in groups]
        write_plain(file, groups[0].schema, forged)
    sign(run / "dataset")
    assert main(["verify", str(run), "--workers", "0"]) == 1
    told = capsys.readouterr().out
    assert "episode_000000  different: action, frame 0 (" in told
    assert "recorded is 42.0, the replay gives" in told
    assert "0 of 2 episodes replay bit for bit" in told


def test_actions_changed_in_the_archive_too_do_not_verify(runs, tmp_path):
    run = copied(runs["reference"], tmp_path / "run")
    folder = run / "dataset" / "extras" / "episode_000000"
    commands = read_npz(folder / "commands.npz")
    commands["asked"][:, :7] = np.where(np.isnan(commands["asked"][:, :7]), np.nan, 0.5)
    write_npz(folder / "commands.npz", commands)
    sign_array(folder, "commands/asked", commands["asked"])
    sign(run / "dataset")
    verdict = next(iter(verify_dataset(run, InlineExecutor())))
    assert verdict.verdict == "different"
    assert "master_actions.joint.position, frame 0" in verdict.detail
    # With tables that agree it would still be this:
    assert "the applied commands differ from the requested ones, but the task has no disturbance" in verdict.detail


def test_a_dataset_without_checksum_files_is_unsigned_and_does_not_verify(runs, tmp_path, capsys):
    dataset = copied(runs["reference"] / "dataset", tmp_path / "dataset")
    (dataset / FILE_LIST).unlink()
    (dataset / "meta" / "merge.json").unlink()
    assert main(["verify", str(dataset), "--workers", "0"]) == 1
    assert "meta/files.json: is missing: the dataset is unsigned" in capsys.readouterr().out


@pytest.mark.parametrize("which", ["all", "those of the pick"])
def test_a_success_without_success_terms_is_unjudged(runs, tmp_path, which, capsys):
    dataset = copied(runs["reference"] / "dataset", tmp_path / "dataset")

    def emptied(timeline):
        kept = {**timeline["spans"][-1], "skill": "wait", "objects": []}
        for span in timeline["spans"]:
            span["checks"] = []
        timeline["spans"] += [kept] if which != "all" else []

    edit_json(dataset / "extras" / "episode_000001" / "timeline.json", emptied)
    sign(dataset)
    assert main(["verify", str(dataset), "--workers", "0"]) == 1
    assert "episode_000001  unjudged: nothing to judge" in capsys.readouterr().out


def test_an_edited_scene_is_found_where_the_run_is_there(runs, tmp_path):
    run = copied(runs["reference"], tmp_path / "run")
    file = run / "dataset" / "extras" / "episode_000000" / "instance.json"
    # A light does nothing to the physics, so the states replay all the same.
    edit_json(file, lambda value: value["lights"][0].update(diffuse=[0.1, 0.1, 0.1]))
    sign(run / "dataset")
    first, second = verify_dataset(run, InlineExecutor())
    assert (first.verdict, second.verdict) == ("different", "exact")
    assert "the scene is not the one that run.yaml gives: lights.0.diffuse.0 is 0.1 in the archive" in first.detail
    alone = copied(run / "dataset", tmp_path / "alone")
    first, _ = verify_dataset(alone, InlineExecutor())
    assert any("scenes with the task of the run: the dataset is not inside a run" in gap for gap in first.not_compared)


def test_a_run_whose_manifest_is_of_another_seed_does_not_give_the_scenes(runs, tmp_path):
    run = copied(runs["reference"], tmp_path / "run")
    text = (run / "run.yaml").read_text()
    (run / "run.yaml").write_text(text.replace("\nseed: 0\n", "\nseed: 5\n"))
    assert {v.detail for v in verify_dataset(run, InlineExecutor())} == {"seed is 0 in the archive, 5 in run.yaml"}
    (run / "run.yaml").write_text("- nothing")
    assert all("cannot be resampled from the run" in v.detail for v in verify_dataset(run, InlineExecutor()))


def test_on_another_platform_columns_may_differ_in_their_last_bits_only(runs, tmp_path, monkeypatch):
    dataset = copied(runs["reference"] / "dataset", tmp_path / "dataset")
    (file,) = (dataset / "data").rglob("*.parquet")
    honest, name = file.read_bytes(), "states.joint.position"
    for step, elsewhere in ((1e-6, "close"), (1e-3, "different")):
        plant(file, [name], 3, step=step)
        forged = column_statistics(DatasetReader(dataset).frames(0)[name]).as_lists()
        sheet = dataset / "extras" / "episode_000000" / "episode.json"
        edit_json(sheet, lambda value, forged=forged: value["statistics"].update({name: forged}))
        with monkeypatch.context() as there:
            there.setattr(Certificate, "differences_from_here", lambda self: ("numpy 1 there, 2 here",))
            assert [v.verdict for v in verify_dataset(dataset, InlineExecutor())] == [elsewhere, "exact"]
        assert [v.verdict for v in verify_dataset(dataset, InlineExecutor())] == ["different", "exact"]
        file.write_bytes(honest)


class Kinds:
    """Honest datasets, each made another way; every method returns one."""

    def __init__(self, runs: dict[str, Path], folder: Path) -> None:
        self.runs, self.folder = runs, folder

    def run(self) -> Path:
        return self.runs["canonical"]

    def all_columns(self) -> Path:
        return self.runs["detailed"]

    def rendered(self) -> Path:
        run = RunDirectory.open(shutil.copytree(self.runs["detailed"], self.folder / "run"))
        look = RenderOverrides(size=(20, 16), relight=3, retexture=4)
        return rerender_run(run, run.path / "rendered", InlineExecutor(), look=look, preset="fast", depth=True)

    def merged(self) -> Path:
        other = made(
            self.folder / "other", *SMALL, columns=("reference",), render="none", seed=3, goal=Goal(attempts=1)
        )
        return merge_datasets([self.runs["reference"] / "dataset", other / "dataset"], self.folder / "both")

    def extended(self) -> Path:
        options = {"columns": ("reference",), "render": "none"}
        made(self.folder / "run", *SMALL, goal=Goal(successes=1), **options)
        return made(self.folder / "run", *SMALL, goal=Goal(successes=3), **options)

    def kept_failures(self) -> Path:
        short = "data.max_episode_length=30"
        return made(self.folder / "run", *SMALL, short, goal=Goal(attempts=2), keep_failures=True) / "failures"

    def augmented(self) -> Path:
        source = augmenting_source(self.runs["reference"] / "dataset")
        return made(self.folder / "run", *SMALL, source=source, seed=1, render="none", goal=Goal(attempts=2))

    def disturbed(self) -> Path:
        noise = "disturbance={position: 0.005}"
        return made(self.folder / "run", *SMALL, noise, render="none", goal=Goal(attempts=2), keep_failures=True)

    def mobile_and_drawn_later(self) -> Path:
        options = {"columns": ("canonical", "detailed"), "render": "later", "goal": Goal(successes=1)}
        run = RunDirectory.open(made(self.folder / "run", task="lift2_drive_open_drawer", **options))
        look = RenderOverrides(size=(16, 16))
        drawn = rerender_run(run, run.path / "rendered", InlineExecutor(), look=look, preset="fast")
        assert said(run.dataset) == ""
        return drawn


@pytest.mark.parametrize("kind", [name for name in vars(Kinds) if not name.startswith("_")])
def test_an_honest_dataset_of_any_kind_verifies(runs, tmp_path, kind, capsys):
    path = getattr(Kinds(runs, tmp_path), kind)()
    capsys.readouterr()
    assert main(["verify", str(path), "--workers", "0", "--json"]) == 0, capsys.readouterr()
    told = json.loads(capsys.readouterr().out)
    assert {row["verdict"] for row in told["rows"]} == {"exact"}
    assert {"states", "columns", "statistics"} <= set(told["compared"])
    in_run = (path / "run.yaml").is_file() or (path.parent / "run.yaml").is_file()
    assert ("scenes with the task of the run" in told["compared"]) == in_run
