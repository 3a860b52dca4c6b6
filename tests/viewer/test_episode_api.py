"""What the episode page is told: cameras, numbers, pictures, flags, the verdict of a replay."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from view_data import write_dataset

from handloom.dataset.episodes.flags import flags_file, read_flags
from handloom.web import Response


def image_of(answer: Response) -> np.ndarray:
    assert answer.status == 200, answer.body
    assert isinstance(answer.body, bytes)
    return np.asarray(Image.open(io.BytesIO(answer.body)).convert("RGB"), np.int64)


def test_an_episode_tells_its_cameras_and_where_their_videos_begin(asked, ours: Path) -> None:
    told = asked(ours).json("/api/episodes/d0/2")
    assert [(camera["short"], camera["kind"]) for camera in told["cameras"]] == [
        ("head", "colour"),
        ("head_depth", "depth"),
        ("head_ids", "segmentation"),
    ]
    assert told["cameras"][0]["video"] == {"path": "/api/videos/d0/0/0/0.mp4", "start": pytest.approx(45 / 30)}
    assert told["cameras"][1]["video"] is None  # No browser plays 12-bit HEVC.
    assert told["segments"][0] == {"label": "reach", "start": 0, "stop": 8}


def test_pictures_are_those_of_the_frame_that_was_asked_for(asked, ours: Path, plain: Path) -> None:
    ask = asked(ours, plain)
    for frame in (0, 7, 19):
        assert image_of(ask(f"/api/episodes/d0/1/frames/0/{frame}.jpg"))[:, -1].mean() == pytest.approx(
            40 + 3 * frame, abs=4
        )
        # The third episode of a file with a keyframe now and then.
        shade = 40 + 3 * ((60 + frame) % 60)
        assert image_of(ask(f"/api/episodes/d1/2/frames/0/{frame}.jpg"))[:, -1].mean() == pytest.approx(shade, abs=4)


def test_depth_gets_darker_with_distance_and_ids_have_colours_of_their_own(asked, ours: Path) -> None:
    ask = asked(ours)
    near, far = (image_of(ask(f"/api/episodes/d0/0/frames/1/{frame}.jpg")).mean() for frame in (0, 19))
    assert near > far + 3
    one, other = (image_of(ask(f"/api/episodes/d0/0/frames/2/{frame}.jpg")).mean(axis=(0, 1)) for frame in (1, 2))
    assert np.abs(one - other).max() > 30


def test_a_strip_holds_ten_pictures_in_order(asked, ours: Path, plain: Path) -> None:
    for source in ("d0", "d1"):
        image = image_of(asked(ours, plain)(f"/api/episodes/{source}/0/strip.jpg"))
        assert image.shape == (120, 1600, 3)
        shades = [image[:, 160 * k + 140 : 160 * k + 155].mean() for k in range(10)]
        assert shades == sorted(shades)
        assert shades[-1] > shades[0] + 40


def test_numbers_come_by_feature_with_the_names_of_their_entries(asked, ours: Path, plain: Path) -> None:
    ask = asked(ours, plain)
    told = ask.json("/api/episodes/d0/1/signals")
    state, action = told["signals"]
    assert (state["name"], state["names"]) == ("observation.state", ["shoulder", "elbow", "gripper"])
    assert len(action["values"]) == 3
    assert len(action["values"][0]) == 25
    assert told["events"] == [{"frame": 12, "kind": "gripper", "label": "gripper up"}]
    others = ask.json("/api/episodes/d1/2/signals")["signals"]
    assert [signal["names"] for signal in others] == [["pan", "tilt"], ["0", "1"]]
    assert others[0]["values"][0][:2] == [120.0, 122.0]  # Rows 60 on, across groups of 17.


def test_numbers_that_are_none_are_null(asked, tmp_path: Path) -> None:
    import pyarrow as pa

    from handloom.viewer.signals import signals_of

    table = pa.table({"action": [[float("nan"), 1.0], [float("inf"), 2.0]]})
    (signal,) = signals_of(table, {"action": {"names": ["a", "b"]}})
    assert signal["values"] == [[None, None], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/episodes/d0/6", 400),
        ("/api/episodes/d0/-1", 400),
        ("/api/episodes/d0/x", 400),
        ("/api/episodes/d9/0", 404),
        ("/api/episodes/d0f/0", 404),
        ("/api/episodes/d0/0/frames/9/0.jpg", 400),
        ("/api/episodes/d0/0/frames/0/999.jpg", 400),
    ],
)
def test_what_is_not_there_is_an_answer_that_says_so(asked, ours: Path, path: str, status: int) -> None:
    answer = asked(ours)(path)
    assert answer.status == status
    assert json.loads(answer.body)["error"]


def test_a_flag_is_kept_beside_the_dataset_and_goes_again(asked, tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "cubes", 2)
    before = sorted(root.rglob("*"))
    ask = asked(root, edit=True)
    body = json.dumps({"flagged": True, "note": " the cube <slips> "}).encode()
    flag = ask.json("/api/episodes/d0/1/flag", "POST", body=body)["flag"]
    assert flag["note"] == "the cube <slips>"
    assert ask.json("/api/episodes/d0/1")["flag"] == flag
    assert ask.json("/api/datasets/d0")["sources"][0]["flags"] == [[1, flag]]
    assert flags_file(root) == root.with_name("cubes.flags.json")
    assert sorted(root.rglob("*")) == before  # Nothing in it: its list of files stays good.
    assert ask.json("/api/episodes/d0/1/flag", "POST", body=b'{"flagged": false}')["flag"] is None
    assert read_flags(root) == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"flagged": 1}',
        b'{"flagged": true, "note": 3}',
        b'{"flagged": true, "note": "' + b"x" * 3000 + b'"}',
    ],
)
def test_flags_that_are_none_are_refused(asked, tmp_path: Path, body: bytes) -> None:
    root = write_dataset(tmp_path / "cubes", 1)
    assert asked(root, edit=True)("/api/episodes/d0/0/flag", "POST", body=body).status == 400
    assert not flags_file(root).exists()


def test_an_episode_without_an_archive_cannot_be_verified_and_says_so(asked, plain: Path) -> None:
    answer = asked(plain)("/api/episodes/d0/0/verify", "POST")
    assert answer.status == 400
    assert "no archive" in json.loads(answer.body)["error"]
