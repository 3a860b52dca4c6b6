"""The video of a lap shows the robot on its way, in real time or a whole number of times faster."""

from pathlib import Path

import av
import numpy as np
from tests.isaac.wheeled.test_track_picture import lap

from handloom.isaac.wheeled.laps import track_video
from handloom.isaac.wheeled.laps.track_picture import DRIVEN, INK
from handloom.isaac.wheeled.laps.track_video import FPS, HEIGHT, LONGEST, MAP_PX, WIDTH
from handloom.robots import load_robot


def frames_of(file: Path) -> list[np.ndarray]:
    with av.open(str(file)) as container:
        assert container.streams.video[0].average_rate == FPS
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def near(picture: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    return np.argwhere(np.abs(picture.astype(int) - color).max(axis=2) < 40)


def test_the_robot_moves_along_its_course_in_the_video_and_on_the_chart(tmp_path: Path) -> None:
    record = lap(0.0, seconds=3.0)
    frames = frames_of(track_video.track_video(load_robot("jetbot"), record, tmp_path / "sub" / "lap.mp4"))
    assert len(frames) == int(record.times[-1] * FPS) + 1
    assert frames[0].shape == (HEIGHT, WIDTH, 3)
    assert np.abs(frames[0].astype(int) - frames[len(frames) // 2]).mean() > 2.0
    charts = [frame[8 : 8 + MAP_PX, WIDTH - 8 - MAP_PX : WIDTH - 8] for frame in frames]
    dots = np.array([near(chart, INK).mean(axis=0) for chart in (charts[0], charts[len(charts) // 2])])
    # The robot starts at the right of a circle and is at its left half way.
    assert dots[0, 1] > MAP_PX / 2 + 20
    assert dots[1, 1] < MAP_PX / 2 - 20
    assert len(near(charts[-1], DRIVEN)) > 4 * len(near(charts[2], DRIVEN))


def test_a_long_lap_is_shown_faster(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(track_video, "LONGEST", LONGEST / 50.0)
    record = lap(0.0, seconds=LONGEST / 50.0 * 2.5)
    frames = frames_of(track_video.track_video(load_robot("jetbot"), record, tmp_path / "lap.mp4"))
    assert len(frames) == int(record.times[-1] / 3 * FPS) + 1
