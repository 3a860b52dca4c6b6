"""Robots that the library does not know get a workplace of their own and do its deeds."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import ConfigError, NotAllowedError
from handloom.robots import load_robot
from handloom.robots.load import ZOO_FOLDER
from handloom.tasks import load_task
from handloom.tasks.reach.own_workplace import own_workplace, stance_of


@pytest.fixture
def my_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of a robot under another name, in the working folder."""
    folder = tmp_path / "project" / "robots" / "my_arm"
    shutil.copytree(ZOO_FOLDER / "so101", folder)
    monkeypatch.chdir(tmp_path / "project")
    return folder


@pytest.mark.parametrize("name", ["aloha", "fr3", "fr3_pair", "lift2", "so101", "split_aloha", "ur5e_robotiq85"])
def test_a_proposed_work_place_comes_near_the_one_that_a_person_wrote(name: str):
    written = load_task("pick_cube", robot=name).config
    proposed = own_workplace(load_robot(name), name)
    robot = proposed["robots"][0]
    assert np.allclose(robot["translation"], written.robots[0].translation, atol=0.08)
    assert robot["euler"] == list(written.robots[0].euler or ())
    assert written.work_point is not None
    assert np.allclose(proposed["work_point"], written.work_point, atol=0.08)
    height = proposed.get("table_height", [0.75, 0.75])
    assert np.allclose(height, written.table_height or (0.75, 0.75), atol=0.08)


def test_arms_face_to_face_work_between_them():
    assert stance_of(load_robot("aloha")).opposed
    assert not any(stance_of(load_robot(name)).opposed for name in ("fr3_pair", "genie1", "so101"))
    small, large = (own_workplace(load_robot(name), name)["cameras"][0]["translation"] for name in ("so101", "fr3"))
    assert small[2] < large[2], "the camera comes nearer to a small arm"


def test_a_robot_is_named_by_its_folder_on_the_command_line_or_in_the_file(my_arm: Path):
    task = load_task("pick_cube", robot="robots/my_arm")
    assert task.config.robots[0].name == "my_arm"
    assert Path(task.config.robots[0].robot_config_file) == my_arm
    assert {camera.name for camera in task.config.cameras} == {"my_arm_front", "my_arm_hand"}
    file = my_arm.parents[1] / "task.yaml"
    file.write_text("robot: robots/my_arm\nobjects: [{name: cube, category: cube}]\nskills: [{pick: cube}]\n")
    assert load_task(file).config.robots == task.config.robots


def test_mistakes_about_a_robot_of_ones_own_are_said(my_arm: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match="robots/other was not found"):
        load_task("pick_cube", robot="robots/other")
    with pytest.raises(ConfigError, match="for one of your own give its folder"):
        load_task("pick_cube", robot="my_arm")
    with pytest.raises(ConfigError, match="works at a table, not at a kitchen"):
        load_task("libero/KITCHEN_SCENE8_turn_off_the_stove", robot="robots/my_arm")


def test_a_robot_may_be_anywhere_if_the_user_names_it_but_not_if_a_file_does(
    my_arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))  # Projects end below the home folder.
    shutil.copytree(my_arm, elsewhere := tmp_path / "elsewhere" / "my_arm")
    task = load_task("pick_cube", robot="../elsewhere/my_arm")
    assert task.find(task.config.robots[0].robot_config_file, what="robot").resolve() == elsewhere.resolve()
    file = my_arm.parents[1] / "task.yaml"
    file.write_text(f"robot: {elsewhere}\nobjects: [{{name: cube, category: cube}}]\nskills: [{{pick: cube}}]\n")
    with pytest.raises(NotAllowedError, match="--allow-outside"):
        load_task(file)
    assert load_task(file, allow_outside=True).config.robots[0].name == "my_arm"


@pytest.mark.slow
def test_a_robot_of_ones_own_does_deeds_of_the_library(my_arm: Path):
    for deed in ("pick_cube", "put_in_tray"):
        _, record = simulate(load_task(deed, robot="robots/my_arm"), 11, 0, Stopwatch())
        assert record.success, record.failure
