"""Labels over the cameras are those of the label files; contacts are found again from the states."""

from pathlib import Path

import numpy as np
import pytest

from handloom.cli.main import main
from handloom.dataset import DatasetReader
from handloom.labels import EpisodeLabels
from handloom.viewer.episode_api import touches, touches_of
from handloom.viewer.labels_api import labels_of


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run with labels."""
    run = tmp_path_factory.mktemp("labelled") / "run"
    small = [f"cameras.{camera}.size=[48, 48]" for camera in (0, 1)]
    words = ["generate", "fr3_pick_cube", "--attempts", "1", "--executor", "inline", "--preset", "fast"]
    assert main([*words, "--labels", "all", "-o", str(run), "--json", "--set", *small]) == 0
    return run


def test_boxes_masks_and_traces_are_those_of_the_files(labelled: Path, asked) -> None:
    told = asked(labelled).json("/api/episodes/d0/0/labels")
    folder = DatasetReader(labelled).archive_folder(0)
    labels, frame = EpisodeLabels(folder), 20
    head = told["cameras"]["head"]
    wanted = [
        [" ".join(filter(None, (row["object"], row["part"]))), *row["box"]]
        for row in labels.rows("boxes", frame)
        if row["camera"] == "head" and row["pixels"]
    ]
    assert head["boxes"][frame] == wanted
    ((parts, lengths),) = head["masks"][frame]
    drawn = np.repeat(np.array(parts), lengths).reshape(48, 48)
    cube = [number for number, name in enumerate(told["parts"]) if name == "cube"]
    assert np.array_equal(np.isin(drawn, cube), labels.mask(frame, "head", "cube"))
    assert len(head["traces"][frame][0]) == 21
    assert told["words"]["scene"].startswith("Robot: FR3")
    assert asked(labelled).json("/api/episodes/d0/0")["has_labels"]


def test_an_episode_without_labels_has_none(ours: Path) -> None:
    assert labels_of(ours / "extras" / "episode_000000") == {"cameras": {}, "parts": [], "words": {}}


def test_the_hand_touches_the_cube_from_the_grasp_to_the_end_and_the_cube_leaves_the_table(labelled: Path) -> None:
    folder = DatasetReader(labelled).archive_folder(0)
    found = touches_of(folder)
    held = next(span for span in found if {span["first"], span["second"]} == {"franka", "cube"} and span["robot"])
    lay = next(span for span in found if {span["first"], span["second"]} == {"cube", "table"})
    length = DatasetReader(labelled).episode(0).length
    assert 0 < held["start"] < lay["stop"] < held["stop"] == length
    assert lay["start"] == 0


def test_an_episode_is_verified_on_the_page_as_by_the_verb(labelled: Path, asked) -> None:
    found = asked(labelled).json("/api/episodes/d0/0/verify", "POST")
    assert found["good"]
    assert found["text"].endswith("replays bit for bit")


def test_states_that_do_not_fit_the_scene_are_refused(pick_record) -> None:
    from dataclasses import replace

    from handloom.errors import FileError
    from handloom.scene import build_scene

    scene = build_scene(pick_record.instance)
    with pytest.raises(FileError, match="do not match"):
        touches(scene, replace(pick_record, states=pick_record.states[:, :-1]))
