"""Showing an object to a scanner, and following a marker, in physics."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.skills.conftest import FRANKA, run_with, table_instance, thing

from handloom.episode import replay, run_episode
from handloom.scene import build_scene
from handloom.skills import Schedule
from handloom.tasks import load_task, sample_task
from handloom.values import FunnelStage, TaskInstance

PICK: dict[str, Any] = {
    "name": "pick", "objects": ["cube"], "filter_z_dir": ["downward", 150], "gripper_change_steps": 15, "t_eps": 0.01,
    "o_eps": 0.1, "post_grasp_offset_min": 0.3, "post_grasp_offset_max": 0.3, "lift_th": 0.05,
}  # fmt: skip
SCAN: dict[str, Any] = {"name": "scan", "objects": ["cube"], "t_eps": 0.01, "o_eps": 0.1}
TRACK: dict[str, Any] = {
    "name": "track", "target": "table", "way_points_num": 3, "way_points_ori": [180, 0, 0],
    "way_points_trans": {"min": [-0.05, -0.2, 0.25], "max": [0.15, 0.2, 0.4]},
}  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    folder: Path = tmp_path_factory.mktemp("scan")
    return table_instance(folder, thing("cube", "cube", (-0.1, -0.1), parameters={"edge": 0.04}))


def test_a_held_cube_is_shown_to_the_right(instance: TaskInstance) -> None:
    scene, record = run_with(instance, PICK, SCAN)
    assert record.success, record.failure
    scene.world.restore_state(record.states[record.timeline[0].end])
    start = scene.world.body_pose("franka/fr3_hand")
    scene.world.restore_state(record.states[record.timeline[1].end])
    end = scene.world.body_pose("franka/fr3_hand")
    shift = end[:3, 3] - start[:3, 3]
    assert -0.03 < shift[0] < 0.03
    assert 0.14 < shift[1] < 0.21
    assert -0.17 < shift[2] < -0.13
    assert end[:3, 2] == pytest.approx([1, 0, 0], abs=0.03)


def test_a_scan_into_the_table_says_so(instance: TaskInstance) -> None:
    low = {**PICK, "post_grasp_offset_min": 0.03, "post_grasp_offset_max": 0.03, "lift_th": 0.01}
    _, record = run_with(instance, low, SCAN)
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.PLAN, "goal_in_collision")
    assert record.failure.counts["in_collision"] > 0


def tracking_task(folder: Path, **keys: Any) -> Path:
    task = {
        "name": "track", "arena_file": "arenas/table.yaml", "robots": [FRANKA], "objects": [],
        "regions": [{"object": "franka", "target": "table",
                     "random_config": {"pos_range": [[0, -0.42, 0], [0, -0.42, 0]], "yaw_rotation": [0, 0]}}],
        "data": {"language_instruction": "Follow the target.", "max_episode_length": 900},
        "skills": [{"franka": [{"left": [{**TRACK, **keys}]}]}],
    }  # fmt: skip
    file = folder / "track.yaml"
    file.write_text(yaml.safe_dump({"tasks": [task]}))
    return file


def test_the_hand_visits_every_place_the_marker_shows(tmp_path: Path) -> None:
    task = load_task(tracking_task(tmp_path))
    scene = build_scene(sample_task(task, 0, 0))
    record = run_episode(scene, Schedule(scene, task.config.skills, np.random.default_rng(2)))
    assert record.success, record.failure
    shown, nearest = [], {}
    tcp = scene.robot("franka").arm("left").spec.T_tool_tcp
    for state in record.states[1:]:
        scene.world.restore_state(state)
        marker = scene.object_pose("franka_left_target")[:3, 3]
        if not shown or np.linalg.norm(shown[-1] - marker) > 1e-6:
            shown.append(marker.copy())
        tip = (scene.world.body_pose("franka/fr3_hand") @ tcp)[:3, 3]
        nearest[len(shown)] = min(nearest.get(len(shown), 1.0), float(np.linalg.norm(tip - marker)))
    assert len(shown) == 3
    assert max(nearest.values()) < 0.01
    assert replay(record).exact


def test_the_marker_stands_where_the_config_draws_it(tmp_path: Path) -> None:
    task = load_task(tracking_task(tmp_path, T_tcp_2_ee=[0.0, 0.0, 0.2], way_points_num=1))
    scene = build_scene(sample_task(task, 0, 0))
    record = run_episode(scene, Schedule(scene, task.config.skills, np.random.default_rng(2)))
    assert record.success, record.failure
    hand, marker = scene.world.body_pose("franka/fr3_hand"), scene.object_pose("franka_left_target")
    assert np.linalg.norm(marker[:3, 3] - (hand @ [0, 0, 0.2, 1])[:3]) < 0.01


def test_targets_out_of_reach_end_with_a_reason_instead_of_drawing_for_ever(tmp_path: Path) -> None:
    far = {"min": [2.0, 0.0, 0.3], "max": [2.1, 0.1, 0.4]}
    task = load_task(tracking_task(tmp_path, way_points_trans=far))
    scene = build_scene(sample_task(task, 0, 0))
    record = run_episode(scene, Schedule(scene, task.config.skills, np.random.default_rng(2)))
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")
    assert record.failure.counts["unreachable"] == 32
