"""The HDF5 export has robomimic's layout and the dataset's numbers."""

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.cli.main import main
from handloom.dataset import (
    DatasetReader,
    EpisodeWriter,
    FeatureTable,
    archive_of_record,
    export_hdf5,
    find_episodes,
    merge_episodes,
    outcome_of_record,
)
from handloom.episode.columns import episode_columns
from handloom.errors import FileError, MissingExtraError
from handloom.scene import build_scene


@pytest.fixture(scope="module")
def dataset(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> DatasetReader:
    return DatasetReader(merge_episodes(find_episodes([shards]), tmp_path_factory.mktemp("hdf5") / "dataset"))


def test_the_file_has_robomimics_layout(dataset: DatasetReader, tmp_path: Path, samples) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    export_hdf5(dataset, tmp_path / "demos.hdf5")
    with h5py.File(tmp_path / "demos.hdf5") as file:
        demos = file["data"]
        assert demos.attrs["total"] == 33
        assert set(json.loads(demos.attrs["env_args"])) >= {"env_name", "type", "env_kwargs"}
        assert [name.decode() for name in file["mask/train"]] == [f"demo_{i}" for i in range(4)]
        for number, (index, length) in enumerate(((0, 6), (1, 7), (3, 9), (5, 11))):
            demo = demos[f"demo_{number}"]
            assert demo.attrs["num_samples"] == length
            columns = samples.columns(index, length)
            np.testing.assert_array_equal(demo["actions"], columns["action"])
            np.testing.assert_array_equal(demo["obs/state"], columns["observation.state"])
            assert "next_obs" not in demo, "what obs has one frame on is not written twice"
            np.testing.assert_array_equal(demo["states"], dataset.archive(number).states["integration"])
            assert demo["obs/head_image"].shape == (length, 48, 64, 3)
            np.testing.assert_array_equal(demo["obs/head_image"][3], dataset.image(number, samples.HEAD, 3))
            assert demo["rewards"][:].tolist() == [0] * (length - 1) + [1]
            assert demo["dones"][:].tolist() == [0] * (length - 1) + [1]
            assert json.loads(demo.attrs["instance"])["index"] == index


def test_next_observations_are_written_when_asked_for(dataset: DatasetReader, tmp_path: Path, samples) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    words = ["export", str(dataset.root), "--no-models", "-o"]
    assert main([*words, str(tmp_path / "with.hdf5"), "--next-obs"]) == 0
    assert main([*words, str(tmp_path / "without.hdf5")]) == 0
    with h5py.File(tmp_path / "with.hdf5") as file:
        for name, following in file["data/demo_0/next_obs"].items():
            observed = file[f"data/demo_0/obs/{name}"][:]
            np.testing.assert_array_equal(following, np.concatenate([observed[1:], observed[-1:]]))
        assert "head_image" in file["data/demo_0/next_obs"]
        assert file["data/demo_0/actions"].compression == "gzip"
    assert (tmp_path / "without.hdf5").stat().st_size < 0.75 * (tmp_path / "with.hdf5").stat().st_size


def test_the_help_of_a_flag_says_what_the_flag_does(capsys) -> None:
    assert main(["export", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--no-images hdf5 and zarr: leave out the camera images" in words
    assert "--no-models hdf5: leave out the MuJoCo model" in words


def test_states_of_frames_outside_the_demonstration_are_left_out(dataset: DatasetReader, tmp_path: Path, monkeypatch):
    h5py = pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    archives = DatasetReader.archive

    def with_two_more_states(reader, index):
        archive = archives(reader, index)
        states = archive.states["integration"]
        more = np.insert(states, [3, 3], np.nan, axis=0)  # simulated, not in the demonstration
        timeline = {**archive.timeline, "left_out": [[3, 5]]}
        return replace(archive, states={"integration": np.vstack([more, more[-1:]])}, timeline=timeline)

    monkeypatch.setattr(DatasetReader, "archive", with_two_more_states)
    with h5py.File(export_hdf5(dataset, tmp_path / "demos.hdf5", images=False)) as file:
        np.testing.assert_array_equal(file["data/demo_0/states"], archives(dataset, 0).states["integration"])


def test_the_command_line_exports_what_a_path_leads_to(dataset: DatasetReader, tmp_path: Path, capsys) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    file = tmp_path / "demos.hdf5"
    words = ["export", str(dataset.root), "--format", "hdf5", "--no-models", "-o", str(file)]
    assert main([*words, "--no-images"]) == 0
    assert capsys.readouterr().out.strip() == str(file)
    with h5py.File(file) as demos:
        assert sorted(demos["data/demo_0/obs"]) == ["gripper", "state"]
    assert main(words) == 2
    assert "exists; choose another name" in capsys.readouterr().err


def test_pictures_are_written_one_by_one(tmp_path: Path, samples) -> None:
    pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    length = 800
    samples.make_episode(tmp_path / "episodes", 0, length=length)
    dataset = DatasetReader(merge_episodes(find_episodes([tmp_path / "episodes"]), tmp_path / "dataset"))
    dataset.frames(0)  # Columns and tables are read before: the pictures are what is measured.
    tracemalloc.start()
    export_hdf5(dataset, tmp_path / "demos.hdf5")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pictures = length * 48 * 64 * 3
    assert peak < 0.2 * pictures, f"{peak / 1e6:.1f} MB for {pictures / 1e6:.1f} MB of pictures"


def test_every_episode_brings_its_model_and_states_that_fit_it(pick_record, tmp_path: Path, capsys) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    scene = build_scene(pick_record.instance)
    columns = episode_columns(scene, pick_record)
    table = FeatureTable(fps=pick_record.instance.fps, features=columns.features)
    archive = archive_of_record(pick_record)
    with EpisodeWriter(tmp_path / "episodes" / "episode_000000", table) as episode:
        episode.finish(outcome_of_record(pick_record, archive), columns.values, archive)
    merge_episodes(find_episodes([tmp_path / "episodes"]), tmp_path / "dataset")
    assert main(["export", str(tmp_path / "dataset"), "-o", str(tmp_path / "demos.hdf5")]) == 0, capsys.readouterr().err
    with h5py.File(tmp_path / "demos.hdf5") as file:
        demo = file["data/demo_0"]
        model = mujoco.MjModel.from_xml_string(demo.attrs["model_file"])
        data = mujoco.MjData(model)
        # As robosuite reads a flattened state: time, positions, velocities.
        first, last = (demo["states"][frame] for frame in (0, -1))
        data.qpos[:] = last[1 : 1 + model.nq]
        mujoco.mj_forward(model, data)
        height = data.body("cube/object").xpos[2]
        data.qpos[:] = first[1 : 1 + model.nq]
        mujoco.mj_forward(model, data)
    assert height - data.body("cube/object").xpos[2] > 0.05, "the cube was lifted"


def test_a_dataset_without_its_run_has_a_report(pick_record, tmp_path: Path, capsys) -> None:
    columns = episode_columns(build_scene(pick_record.instance), pick_record)
    table = FeatureTable(fps=pick_record.instance.fps, features=columns.features)
    archive = archive_of_record(pick_record)
    with EpisodeWriter(tmp_path / "episodes" / "episode_000000", table) as episode:
        episode.finish(outcome_of_record(pick_record, archive), columns.values, archive)
    merge_episodes(find_episodes([tmp_path / "episodes"]), tmp_path / "merged")
    assert main(["report", str(tmp_path / "merged")]) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert "1 demonstrations" in shown
    page = (tmp_path / "merged_report" / "index.html").read_text()
    assert "Object poses" in page
    assert main(["report", str(tmp_path / "merged"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 1


def test_two_exports_are_equal_and_nothing_is_overwritten(dataset: DatasetReader, tmp_path: Path) -> None:
    pytest.importorskip("h5py", reason="h5py comes with the extra hdf5")
    for name in ("a", "b"):
        export_hdf5(dataset, tmp_path / name, images=False)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with pytest.raises(FileError, match="exists; choose another name"):
        export_hdf5(dataset, tmp_path / "a")


def test_without_h5py_the_extra_is_named(dataset: DatasetReader, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"handloom\[hdf5\]"):
        export_hdf5(dataset, tmp_path / "a.hdf5")
