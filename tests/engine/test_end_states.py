"""Sheets of how recorded episodes end, from their archives alone."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from handloom.cli.main import main
from handloom.engine.reporting.end_states import end_states, view_into
from handloom.errors import InputError
from handloom.render.cameras import camera_pose, project
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task

PUT_IN = """base: setups/fr3.yaml
objects:
  - {name: cube, category: cube}
  - {name: basket, category: basket}
regions:
  - {object: cube, target: table, random_config: {pos_range: [[-0.15, -0.05], [-0.1, 0]]}}
  - {object: basket, target: table, random_config: {pos_range: [[0.1, 0.05], [0.15, 0.1]], yaw_rotation: [0, 0]}}
skills: [{pick: cube}, {place: cube, in: basket}]
"""
DRAWER = """robot: fr3
objects:
  - {name: soap, category: soap}
  - {name: drawers, category: drawer_cabinet, parameters: {drawers: 2, handle: bar}}
regions: [{object: soap, in: drawers.drawer_1}]
skills: [{open: {drawers: drawer_1}}]
"""


def test_the_ends_of_a_run_without_images_are_drawn_from_its_archives_with_a_view_into_the_cavity(tmp_path, capsys):
    (file := tmp_path / "put_in.yaml").write_text(PUT_IN)
    run = tmp_path / "run"
    command = ["generate", str(file), "--attempts", "2", "--workers", "1", "--render", "none", "-o", str(run)]
    assert main(command) == 0
    capsys.readouterr()
    assert main(["report", str(run), "--last", "--preset", "fast"]) == 0
    assert "end_states.png (2 of 2 recorded episodes)" in capsys.readouterr().out
    with Image.open(run / "report" / "end_states.png") as sheet:
        assert sheet.width > 4 * 200, "the workplace and the basket, of two episodes"
    file, drawn, count = end_states(run / "dataset", tmp_path / "one.png", preset="fast", most=1)
    assert (file.is_file(), drawn, count) == (True, 1, 2)


def test_a_shut_drawer_is_opened_for_the_view_with_what_lies_in_it(tmp_path: Path) -> None:
    (file := tmp_path / "drawer.yaml").write_text(DRAWER)
    scene = build_scene(sample_task(load_task(file), 0, 0))
    before = scene.object_pose("soap")[:3, 3]
    view = view_into(scene, "drawers", "drawer_1")
    assert view is not None
    camera, opened = view
    assert opened
    after = scene.object_pose("soap")[:3, 3]
    travel = scene.world.joint_position("drawers/drawer_1_joint")
    assert np.linalg.norm(after - before) == pytest.approx(travel, abs=1e-6)
    pixels, depth = project(camera, camera_pose(scene.world.model, scene.world.data, camera), after[None])
    assert depth[0] > 0
    assert np.all((pixels[0] > 0) & (pixels[0] < [camera.width, camera.height]))
    assert view_into(scene, "drawers", "drawer_1") is not None
    assert view_into(scene, "nothing", "") is None


def test_a_run_without_recorded_episodes_says_so(tmp_path: Path) -> None:
    with pytest.raises((InputError, OSError)):
        end_states(tmp_path, tmp_path / "sheet.png")
