"""Where hands get to on a table."""

import re
from pathlib import Path

import numpy as np
import pytest

from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.tasks import load_task, sample_task
from handloom.tasks.work_area import reached_band, reached_points

AHEAD = np.array([0.0, 1.0])
COOKBOOK = Path(__file__).parents[2] / "docs" / "guides" / "cookbook.md"


@pytest.fixture(scope="module")
def so101() -> ArmController:
    scene = build_scene(sample_task(load_task("so101_put_in_tray"), 0, 0))
    controller = ArmController(scene, scene.robot("so101").arm("left"))
    controller.ignored = ("toy/", "tray/")
    return controller


def test_a_hand_gets_from_above_to_what_lies_ahead_and_not_behind_or_into_the_table(so101: ArmController) -> None:
    base = so101.arm.T_world_base[:3, 3]
    points = base + np.array([[0.0, 0.22, 0.03], [0.0, 0.22, -0.1], [0.0, -0.22, 0.03], [0.0, 0.7, 0.03]])
    assert reached_points(so101, points, "down").tolist() == [True, False, False, False]


def test_a_band_ends_where_points_are_no_longer_reached(so101: ArmController) -> None:
    height = float(so101.arm.T_world_base[2, 3]) + 0.03
    near, far = reached_band(so101, AHEAD, height, "down")
    assert 0.1 < near < 0.2
    assert 0.25 < far < 0.45
    base = so101.arm.T_world_base[:3, 3]
    outside = np.array([[*(base[:2] + (far + 0.03) * AHEAD), height]])
    assert not reached_points(so101, outside, "down").any()
    assert reached_band(so101, -AHEAD, height, "down") == (0.0, 0.0)


def test_the_cookbook_has_the_area_of_every_setup_and_its_figures_hold(so101: ArmController) -> None:
    text = COOKBOOK.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (left|right) \| (.*?) \| (.*?) \|", text, re.MULTILINE)
    robots = {"aloha", "fr3", "fr3_pair", "franka_robotiq85", "genie1", "lift2", "so101", "split_aloha"}
    assert {row[0] for row in rows} == robots | {"ur5e_robotiq85"}
    (given,) = [row[3] for row in rows if row[0] == "so101"]
    low, high = (float(word) for word in given.split(" to "))
    near, far = reached_band(so101, AHEAD, float(so101.arm.T_world_base[2, 3]) + 0.03, "down")
    assert near - 0.07 < low < high < far + 0.07
