"""The HDF5 export has robomimic's layout and the dataset's numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from handloom.dataset import DatasetReader, export_hdf5, find_episodes, merge_episodes
from handloom.errors import FileError, MissingExtraError


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
            np.testing.assert_array_equal(demo["next_obs/state"][:-1], columns["observation.state"][1:])
            np.testing.assert_array_equal(demo["states"], dataset.archive(number).states["integration"])
            assert demo["obs/head_image"].shape == (length, 48, 64, 3)
            np.testing.assert_array_equal(demo["obs/head_image"][3], dataset.image(number, samples.HEAD, 3))
            assert demo["rewards"][:].tolist() == [0] * (length - 1) + [1]
            assert demo["dones"][:].tolist() == [0] * (length - 1) + [1]
            assert json.loads(demo.attrs["instance"])["index"] == index


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
