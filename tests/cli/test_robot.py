"""`handloom robot show` writes a picture; `handloom robot check` exits 1 on a fault."""

import json
import shutil

import numpy as np
import yaml
from PIL import Image

from handloom.cli.main import BAD_INPUT, DONE, FAILED, main
from handloom.robots.load import ZOO_FOLDER


def test_show_writes_a_picture_and_names_it(tmp_path, capsys):
    file = tmp_path / "pictures" / "so101.png"
    assert main(["robot", "show", "so101", "-o", str(file), "--frames", "--size", "96"]) == DONE
    assert capsys.readouterr().out.strip().endswith(str(file))
    picture = np.asarray(Image.open(file))
    assert picture.shape == (96, 96, 3)
    assert picture.std() > 10


def test_check_passes_a_sound_robot(capsys):
    assert main(["robot", "check", "fr3"]) == DONE
    assert "fr3: no faults" in capsys.readouterr().out


def test_check_of_a_broken_folder_fails_and_says_why(tmp_path, capsys):
    shutil.copytree(ZOO_FOLDER, tmp_path / "zoo")
    file = tmp_path / "zoo" / "fr3" / "robot.yaml"
    values = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**values, "tcp_offset": 0.2}))
    assert main(["robot", "check", str(file.parent), "--json"]) == FAILED
    report = json.loads(capsys.readouterr().out)
    assert not report["ok"]
    assert [row["name"] for row in report["rows"] if not row["ok"]] == ["tool frames", "keypoints"]


def test_an_unknown_robot_is_bad_input(capsys):
    assert main(["robot", "check", "nobody"]) == BAD_INPUT
    assert "known: " in capsys.readouterr().err
