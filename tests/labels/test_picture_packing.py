"""Label images come back from their packing as they were rounded."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from labelled_episodes import Labelled

from handloom.labels import EpisodeLabels
from handloom.labels.images.label_pictures import PACKING, STORED
from handloom.labels.images.picture_packing import BLOCK, most_words, pack_plane, unpack


def packed(values: np.ndarray, kind: str, channels: int = 1) -> bytes:
    """Pack a plane (h, w * channels) as an image of a kind."""
    height, width = values.shape
    numbers = np.empty(-(-width // BLOCK) * BLOCK, np.uint16)
    out = np.empty(most_words(height, width), np.uint16)
    rows = np.empty((2, width + channels), np.int16)
    scale, low, high = map(np.float32, STORED[kind])
    fours = numbers.view(np.uint64).reshape(-1, 4)
    plane = np.ascontiguousarray(values, np.float32)
    words = pack_plane(plane, channels, scale, low, high, kind == "depth", kind == "normals", rows, numbers, fours, out)
    assert words <= len(out)
    return out[:words].tobytes()


def images(height: int, width: int) -> list[np.ndarray]:
    """Smooth, noisy, constant and extreme numbers of 16 bits."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[:height, :width]
    noise = [rng.integers(-(2**bits), 2**bits, (height, width)) for bits in (0, 1, 2, 3, 7, 14)]
    corners = rng.choice([-32768, 32767, 0], (height, width))
    return [3 * x + 5 * y, *noise, np.zeros((height, width), int), corners]


@pytest.mark.parametrize("size", [(1, 1), (3, 16), (7, 37), (24, 224)])
def test_every_plane_comes_back_bit_for_bit(size):
    for numbers in images(*size):
        stored = unpack(packed(numbers, "flow"), 1, (*size, 1), "<i2")[0, ..., 0]
        assert np.array_equal(stored, np.clip(numbers, -32768, 32767))


def test_channels_side_by_side_are_told_apart():
    rng = np.random.default_rng(1)
    normals = rng.normal(size=(9, 21, 3)).astype(np.float32)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    stored = unpack(packed(normals.reshape(9, 63), "normals", 3), 1, (9, 21, 3), "<i1")[0]
    assert np.array_equal(stored, np.rint(normals * np.float32(127)).astype(np.int8))


def test_depth_ends_at_its_furthest_and_nothing_is_zero():
    depth = np.array([[0.05, 1.23456, 6.5535, 7.0, np.inf, 3.0]], np.float32)
    stored = unpack(packed(depth, "depth"), 1, (1, 6, 1), "<u2")[0, :, :, 0]
    assert stored.tolist() == [[500, 12346, 65535, 65535, 0, 30000]]


def test_what_is_flat_takes_a_hundredth_of_its_room():
    plane = np.full((224, 224), 1.5, np.float32)
    assert len(packed(plane, "depth")) < plane.size * 2 / 50


def test_files_with_plain_differences_are_still_read(tmp_path, picked: Labelled):
    shutil.copy(picked.labels.folder / "labels.parquet", tmp_path)
    depth = np.array([[0, 10000, 12000], [500, 0, 65535]], np.uint16)
    steps = np.diff(depth, axis=1, prepend=np.zeros((2, 1), np.uint16)).astype("<u2")
    row = {"frame_index": 0, "camera": "head", "height": 2, "width": 3, "depth": steps.tobytes()}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "label_pictures.parquet")
    ((_, _, read),) = EpisodeLabels(tmp_path).pictures("depth")
    assert np.allclose(np.nan_to_num(read), depth * 1e-4)


def test_a_file_says_that_its_images_are_packed(picked: Labelled):
    with picked.labels.files.parquet("label_pictures.parquet") as stored:
        assert PACKING in stored.schema_arrow.metadata
