"""`handloom drive` drives a course, draws it, and exits 1 when the robot leaves it."""

import json

import numpy as np
from PIL import Image

from handloom.cli.main import BAD_INPUT, DONE, FAILED, main


def test_a_lap_is_driven_measured_and_drawn(tmp_path, capsys):
    file = tmp_path / "pictures" / "track.png"
    assert main(["drive", "jetbot", "--path", "circle", "--size", "0.2", "-o", str(file), "--json"]) == DONE
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    assert report["laps"][0]["position_error_m"] < 0.01
    assert report["laps"][0]["heading_error_rad"] < 0.1
    assert report["picture"] == str(file)
    assert report["video"] == str(file.with_suffix(".mp4"))
    assert file.with_suffix(".mp4").stat().st_size > 10_000
    picture = np.asarray(Image.open(file))
    assert picture.shape == (720, 720, 3)
    # The driven track is there in its colour, on the circle of radius 0.1 m around (0, 0.1).
    teal = np.all(np.abs(picture.astype(int) - (14, 140, 150)) < 30, axis=2)
    rows, columns = np.nonzero(teal[100:])
    assert np.ptp(columns) > 400
    assert np.ptp(rows) > 400


def test_leaving_the_course_is_a_failure(tmp_path, capsys):
    arguments = ["drive", "jetbot", "--path", "circle", "--size", "0.2", "--tolerance", "0.00001", "--no-video"]
    assert main([*arguments, "-o", str(tmp_path / "t.png")]) == FAILED
    assert "LEFT the course" in capsys.readouterr().out


def test_a_robot_without_wheels_is_bad_input(tmp_path, capsys):
    assert main(["drive", "fr3", "-o", str(tmp_path / "t.png")]) == BAD_INPUT
    assert "does not drive" in capsys.readouterr().err
    assert main(["drive", "jetbt"]) == BAD_INPUT
    assert "did you mean 'jetbot'" in capsys.readouterr().err
