"""handloom grasp."""

import numpy as np
from PIL import Image

from handloom.cli.main import main
from handloom.grasping import read_grasps


def test_it_writes_rows_and_a_picture(tmp_path, capsys):
    rows, picture = tmp_path / "cube.npy", tmp_path / "cube.png"
    words = [
        "grasp",
        "cube",
        "--robot",
        "fr3",
        "--count",
        "20",
        "-o",
        str(rows),
        "--show",
        str(picture),
        "--size",
        "160",
    ]
    assert main(words) == 0
    assert read_grasps(rows).shape == (20, 17)
    pixels = np.asarray(Image.open(picture))
    assert pixels.shape == (160, 320, 3)
    # Green forks of good grasps are in the left half, the hand in the right one.
    left = pixels[:, :160].astype(int)
    assert np.sum((left[..., 1] > left[..., 0] + 40) & (left[..., 1] > left[..., 2] + 20)) > 200
    text = capsys.readouterr().out
    assert "score 0.1" in text
    assert "chosen 20" in text


def test_physics_keeps_what_holds(tmp_path, capsys):
    rows = tmp_path / "eraser.npy"
    assert main(["grasp", "eraser", "--count", "5", "--physics", "-o", str(rows)]) == 0
    assert "of 5 hold" in capsys.readouterr().out
    assert 1 <= len(read_grasps(rows)) <= 5


def test_an_object_that_is_too_large_fails_with_advice(capsys):
    assert main(["grasp", "cube", "--scale", "5"]) == 1
    assert "another --robot" in capsys.readouterr().out


def test_unknown_names_are_bad_input(capsys):
    assert main(["grasp", "cubee"]) == 2
    assert "did you mean 'cube'" in capsys.readouterr().err
