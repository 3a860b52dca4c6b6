"""Videos: exact frame numbers, keyframes, equal bytes, joining without loss."""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from handloom.dataset import video_feature
from handloom.dataset.video.video_codec import CODECS
from handloom.dataset.video.video_join import cut_video, join_videos
from handloom.dataset.video.video_reader import read_frames, read_packets
from handloom.dataset.video.video_writer import VideoWriter
from handloom.errors import FileError, InputError, NotFoundError


def scene(seed: int, frame: int, codec: str, *, height: int = 48, width: int = 64) -> np.ndarray:
    y, x = np.mgrid[:height, :width]
    shade = 0.5 + 0.3 * np.sin((x + 2 * frame + 11 * seed) / 9) * np.cos(y / 12)
    if codec == "depth":
        return (0.3 + 2 * shade).astype(np.float32)
    if codec == "segmentation":
        return (255 * shade).astype(np.uint8)
    return (shade[..., None] * [220, 200, 180]).astype(np.uint8)


def write(path: Path, codec: str, seed: int, count: int, **size: int) -> list[np.ndarray]:
    images = [scene(seed, frame, codec, **size) for frame in range(count)]
    feature = video_feature("observation.images.a", height=images[0].shape[0], width=images[0].shape[1], codec=codec)
    with VideoWriter(path, feature, fps=30) as video:
        for image in images:
            video.add(image)
    return images


@pytest.mark.parametrize("codec", CODECS)
def test_frames_come_back_at_their_exact_times(tmp_path: Path, codec: str) -> None:
    images = write(tmp_path / "a.mp4", codec, 0, 9)
    sheet = read_packets(tmp_path / "a.mp4")
    assert sheet.times == tuple(Fraction(i, 30) for i in range(9))
    assert (sheet.codec, sheet.pixel_format) == (CODECS[codec].stored_name, CODECS[codec].pixel_format)
    assert sheet.keyframes[::2] == (True,) * 5
    assert not sheet.reordered
    feature = video_feature("observation.images.a", height=48, width=64, codec=codec)
    frames = list(read_frames(tmp_path / "a.mp4", feature, fps=30))
    assert len(frames) == 9
    limit = {"depth": 0.0025, "segmentation": 0.0}.get(codec, 2.0)
    assert all(np.abs(a.astype(float) - b).mean() <= limit for a, b in zip(frames, images, strict=True))


@pytest.mark.parametrize("codec", CODECS)
def test_equal_images_give_equal_bytes(tmp_path: Path, codec: str) -> None:
    write(tmp_path / "a.mp4", codec, 0, 5)
    write(tmp_path / "b.mp4", codec, 0, 5)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


@pytest.mark.parametrize("codec", CODECS)
def test_joining_and_cutting_change_no_pixel(tmp_path: Path, codec: str) -> None:
    lengths = (5, 1, 8)
    parts = [(tmp_path / f"{i}.mp4", n) for i, n in enumerate(lengths)]
    for i, (path, n) in enumerate(parts):
        write(path, codec, i, n)
    join_videos(parts, tmp_path / "all.mp4", fps=30)
    feature = video_feature("observation.images.a", height=48, width=64, codec=codec)
    alone = [frame for path, _ in parts for frame in read_frames(path, feature, fps=30)]
    together = list(read_frames(tmp_path / "all.mp4", feature, fps=30))
    np.testing.assert_array_equal(together, alone)
    sheet = read_packets(tmp_path / "all.mp4")
    assert sheet.times == tuple(Fraction(i, 30) for i in range(14))
    assert all(sheet.keyframes[start] for start in (0, 5, 6))
    cut_video(tmp_path / "all.mp4", tmp_path / "cut.mp4", start=6, length=8, fps=30)
    np.testing.assert_array_equal(list(read_frames(tmp_path / "cut.mp4", feature, fps=30)), alone[6:])
    np.testing.assert_array_equal(
        list(read_frames(tmp_path / "all.mp4", feature, start=9, stop=11, fps=30)), alone[9:11]
    )


def test_an_odd_size_repeats_the_last_row_and_column(tmp_path: Path) -> None:
    images = write(tmp_path / "a.mp4", "h264", 0, 3, height=47, width=63)
    feature = video_feature("observation.images.a", height=47, width=63)
    assert feature.shape == (48, 64, 3)
    for frame, image in zip(read_frames(tmp_path / "a.mp4", feature, fps=30), images, strict=True):
        assert np.abs(frame[:47, :63].astype(float) - image).mean() < 2
        assert np.abs(frame[47, :63].astype(float) - image[46]).mean() < 6


def test_a_wrong_image_is_refused_with_the_frame_and_both_shapes(tmp_path: Path) -> None:
    feature = video_feature("observation.images.a", height=48, width=64)
    with VideoWriter(tmp_path / "a.mp4", feature, fps=30) as video:
        video.add(np.zeros((48, 64, 3), np.uint8))
        with pytest.raises(InputError, match=r"frame 1: expected uint8 images of shape \(48, 64, 3\), got float64"):
            video.add(np.zeros((48, 64, 3)))
        with pytest.raises(InputError, match=r"got uint8 \(32, 64, 3\)"):
            video.add(np.zeros((32, 64, 3), np.uint8))


def test_an_unknown_codec_names_those_that_exist() -> None:
    with pytest.raises(NotFoundError, match="did you mean 'h264'"):
        video_feature("observation.images.a", height=48, width=64, codec="h265")


def test_damaged_and_missing_videos_are_named(tmp_path: Path) -> None:
    write(tmp_path / "a.mp4", "h264", 0, 9)
    (tmp_path / "b.mp4").write_bytes((tmp_path / "a.mp4").read_bytes()[:400])
    with pytest.raises(FileError, match=r"b\.mp4 is not a readable video"):
        read_packets(tmp_path / "b.mp4")
    with pytest.raises(FileError, match=r"cannot read .*c\.mp4.*does not exist"):
        read_packets(tmp_path / "c.mp4")
    with pytest.raises(FileError, match=r"a\.mp4 has 9 frames, but its episode has 8"):
        join_videos([(tmp_path / "a.mp4", 8)], tmp_path / "d.mp4", fps=30)
    feature = video_feature("observation.images.a", height=48, width=64)
    with pytest.raises(FileError, match="ends at frame 9, but 12 were expected"):
        list(read_frames(tmp_path / "a.mp4", feature, start=7, stop=12, fps=30))


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="reads the scheduling policy of Linux")
@pytest.mark.parametrize("codec", CODECS)
def test_no_encoder_changes_how_this_process_is_scheduled(tmp_path: Path, codec: str) -> None:
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # Whatever a test before this one left behind.
    write(tmp_path / "a.mp4", codec, 0, 3)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
