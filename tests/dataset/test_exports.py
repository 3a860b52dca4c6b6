"""Other formats hold what the dataset holds; the real readers open them where they are installed."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from handloom.dataset import DatasetReader, find_episodes, merge_episodes
from handloom.dataset.exports.export_lerobot import export_lerobot_v3, export_lerobot_v21
from handloom.dataset.exports.export_rerun import export_rerun
from handloom.dataset.exports.export_rlds import export_rlds
from handloom.dataset.exports.export_zarr import export_zarr
from handloom.dataset.exports.tfrecord import crc32c, example, parse_example, read_records
from handloom.errors import FileError, MissingExtraError


@pytest.fixture(scope="module")
def dataset(samples, tmp_path_factory) -> DatasetReader:
    folder = tmp_path_factory.mktemp("exports")
    for index in range(3):
        samples.make_episode(folder / "episodes", index, length=5 + index)
    return DatasetReader(merge_episodes(find_episodes([folder / "episodes"]), folder / "dataset"))


def frames_of(dataset: DatasetReader, name: str) -> np.ndarray:
    return np.concatenate([dataset.frames(episode.index)[name] for episode in dataset.episodes])


def test_crc32c_is_that_of_the_published_test_vectors():
    assert crc32c(np.zeros(32, np.uint8)) == 0x8A9136AA  # RFC 3720, B.4
    assert crc32c(np.full(32, 0xFF, np.uint8)) == 0x62A8AB43
    assert crc32c(np.arange(32, dtype=np.uint8)) == 0x46DD794E
    assert crc32c(np.frombuffer(b"123456789", np.uint8)) == 0xE3069283


def test_an_example_reads_back():
    told = {"a": np.array([1.5, -2.0], np.float32), "b": [b"x", b""], "c": np.array([0, -1, 2**40])}
    read = parse_example(example(told))
    assert read["a"].tolist() == [1.5, -2.0]
    assert read["b"] == [b"x", b""]
    assert read["c"].tolist() == [0, -1, 2**40]


def test_rlds_has_every_step_with_its_picture_and_flags(dataset, tmp_path):
    out = export_rlds(dataset, tmp_path / "My Set") / "1.0.0"
    described = json.loads((out / "features.json").read_text())["featuresDict"]["features"]
    assert set(described) == {"steps", "episode_metadata"}
    info = json.loads((out / "dataset_info.json").read_text())
    assert info["splits"][0]["shardLengths"] == ["3"]
    (file,) = out.glob("my_set-train.tfrecord-*")
    records = [parse_example(message) for message in read_records(file)]
    assert len(records) == 3
    for index, record in enumerate(records):
        length = dataset.episode(index).length
        assert np.array_equal(record["steps/action"].reshape(length, -1), dataset.frames(index)["action"])
        assert record["steps/is_first"].tolist() == [1] + [0] * (length - 1)
        assert record["steps/is_last"].tolist() == [0] * (length - 1) + [1]
        picture = np.asarray(Image.open(io.BytesIO(record["steps/observation/head"][2])))
        wanted = dataset.image(index, "observation.images.head", 2)
        assert np.abs(picture.astype(int) - wanted).mean() < 3
        assert len(record["steps/language_instruction"]) == length


def test_a_damaged_record_is_refused(dataset, tmp_path):
    out = export_rlds(dataset, tmp_path / "set") / "1.0.0"
    (file,) = out.glob("*tfrecord*")
    content = bytearray(file.read_bytes())
    content[40] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileError, match="checksum"):
        list(read_records(file))


def test_lerobot_v21_has_a_file_per_episode_and_camera(dataset, tmp_path):
    out = export_lerobot_v21(dataset, tmp_path / "v21")
    info = json.loads((out / "meta/info.json").read_text())
    assert (info["codebase_version"], info["total_episodes"], info["total_videos"]) == ("v2.1", 3, 6)
    tasks = [json.loads(line) for line in (out / "meta/tasks.jsonl").read_text().splitlines()]
    assert [row["task"] for row in tasks] == list(dataset.tasks)
    stats = [json.loads(line) for line in (out / "meta/episodes_stats.jsonl").read_text().splitlines()]
    for episode in dataset.episodes:
        table = pq.read_table(out / info["data_path"].format(episode_chunk=0, episode_index=episode.index))
        assert np.array_equal(
            np.array(table["action"].to_pylist(), np.float32), dataset.frames(episode.index)["action"]
        )
        assert stats[episode.index]["stats"]["action"]["count"] == [episode.length]
        video = out / info["video_path"].format(
            episode_chunk=0, episode_index=episode.index, video_key="observation.images.head"
        )
        import av

        with av.open(str(video)) as container:
            assert sum(1 for _ in container.decode(video=0)) == episode.length


def test_lerobot_v3_is_the_dataset_without_what_only_we_read(dataset, tmp_path):
    out = export_lerobot_v3(dataset, tmp_path / "v3")
    assert not (out / "extras").exists()
    assert sorted(p.name for p in (out / "meta").iterdir()) == [
        "episodes", "info.json", "stats.json", "subtasks.parquet", "tasks.parquet"]  # fmt: skip
    again = DatasetReader(out)
    assert np.array_equal(frames_of(again, "action"), frames_of(dataset, "action"))
    assert np.array_equal(again.image(2, "observation.images.head", 3), dataset.image(2, "observation.images.head", 3))


def test_an_export_writes_over_nothing(dataset, tmp_path):
    (tmp_path / "there").mkdir()
    for export in (export_lerobot_v3, export_lerobot_v21, export_rlds, export_zarr):
        with pytest.raises(FileError, match="exists"):
            export(dataset, tmp_path / "there")


def test_zarr_opens_with_zarr(dataset, tmp_path):
    zarr = pytest.importorskip("zarr", reason="the package zarr is not installed")
    group = zarr.open(str(export_zarr(dataset, tmp_path / "z")), mode="r")
    assert group["meta/episode_ends"][:].tolist() == [5, 11, 18]
    assert np.array_equal(group["data/action"][:], frames_of(dataset, "action"))
    assert np.array_equal(group["data/head_image"][7], dataset.image(1, "observation.images.head", 2))


def test_zarr_chunks_hold_the_frames(dataset, tmp_path):
    import pyarrow as pa

    out = export_zarr(dataset, tmp_path / "z")
    described = json.loads((out / "data/action/.zarray").read_text())
    rows = described["chunks"][0]
    raw = pa.Codec("zstd").decompress((out / "data/action/0.0").read_bytes(), rows * 4 * 4, asbytes=True)
    stored = np.frombuffer(raw, "<f4").reshape(rows, 4)[: described["shape"][0]]
    assert np.array_equal(stored, frames_of(dataset, "action"))


def test_rerun_writes_a_recording(dataset, tmp_path):
    pytest.importorskip("rerun", reason="the package rerun-sdk is not installed")
    assert export_rerun(dataset, tmp_path / "x.rrd").stat().st_size > 10_000


def test_rerun_says_which_extra_it_needs(dataset, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtraError, match=r"handloom\[rerun\]"):
        export_rerun(dataset, tmp_path / "x.rrd")


READERS = """
import json, sys
import tensorflow_datasets as tfds
builder = tfds.builder_from_directory(sys.argv[1])
told = []
for episode in builder.as_dataset(split="train"):
    steps = list(episode["steps"].as_numpy_iterator())
    told.append([len(steps), steps[1]["action"].tolist(), list(steps[0]["observation"]["head"].shape),
                 bool(steps[-1]["is_last"]), steps[0]["language_instruction"].decode()])
print("RESULT" + json.dumps(told))
"""


@pytest.mark.reader
def test_tensorflow_datasets_reads_rlds(dataset, tmp_path):
    python = os.environ.get("HANDLOOM_TFDS_PYTHON", "")
    if not Path(python).is_file():
        pytest.skip("HANDLOOM_TFDS_PYTHON does not name an interpreter with tensorflow_datasets")
    out = export_rlds(dataset, tmp_path / "set") / "1.0.0"
    done = subprocess.run([python, "-c", READERS, str(out)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.partition("RESULT")[2])
    for index, (length, action, shape, last, words) in enumerate(told):
        assert length == dataset.episode(index).length
        assert np.allclose(action, dataset.frames(index)["action"][1])
        assert shape == [48, 64, 3]
        assert last
        assert words == dataset.episode(index).tasks[0]
