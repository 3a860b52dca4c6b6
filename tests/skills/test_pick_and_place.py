"""Pick, move and place in physics; impossible requests end with a reason."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from tests.skills.conftest import RunSkills, run_with, table_instance, thing

from handloom.arrays import Array
from handloom.episode import run_episode
from handloom.judging.checks import holds
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.registry import skill_class
from handloom.spatial import invert_pose, make_pose, translation
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.values import Check, FunnelStage, TaskInstance

PICK: dict[str, Any] = {
    "name": "pick", "objects": ["cube"], "filter_z_dir": ["downward", 150], "gripper_change_steps": 12,
    "t_eps": 0.01, "o_eps": 0.1, "post_grasp_offset_min": 0.12, "post_grasp_offset_max": 0.12, "lift_th": 0.05,
}  # fmt: skip
PLACE: dict[str, Any] = {
    "name": "place", "objects": ["cube", "plate"], "position_constraint": "object", "place_z_offset": 0.03,
    "pre_place_z_offset": 0.12, "filter_z_dir": ["downward", 150], "align_pick_obj_axis": [0, 0, 1],
    "align_place_obj_axis": [0, 0, 1], "align_obj_tol": 12, "t_eps": 0.01, "o_eps": 0.1,
    "post_place_vector": [0, 0, -0.1], "gripper_change_steps": 12, "success_mode": "resting",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["resting", "xybbox", "3diou", "flower"])
def test_a_cube_is_put_on_the_plate(run_skills: RunSkills, mode: str) -> None:
    scene, record = run_skills(PICK, {**PLACE, "success_mode": mode})
    assert record.success, record.failure
    assert holds(scene, Check(name="touches", arguments={"object": "cube", "target": "plate"}))


def test_success_th_is_honoured(run_skills: RunSkills) -> None:
    _, record = run_skills(PICK, {**PLACE, "success_mode": "3diou", "success_th": 0.9})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.EXECUTE, "not_overlapping")


def test_a_target_that_must_be_held_up_may_not_lie_on_the_table(run_skills: RunSkills) -> None:
    scene, record = run_skills(PICK)
    assert record.success, record.failure
    in_the_air = {name: holds(scene, Check(name="held_up", arguments={"object": name})) for name in ("cube", "plate")}
    assert in_the_air == {"cube": True, "plate": False}
    _, record = run_skills(PICK, {**PLACE, "target_held": True})
    assert record.failure is not None
    assert record.failure.reason == "not_held_up"


def test_a_held_cube_is_carried_over_the_plate_without_turning(run_skills: RunSkills) -> None:
    scene, record = run_skills(PICK, {"name": "move", "objects": ["cube", "plate"], "success_threshold": 0.16})
    assert record.success, record.failure
    offset = scene.object_pose("cube")[:2, 3] - scene.object_pose("plate")[:2, 3]
    assert abs(offset).max() < 0.02


@pytest.mark.parametrize(
    ("how", "retreat"),
    [
        ({"hold_obj_axis": [0, 0, 1]}, 0.18),
        ({"pre_place_hold_vec_weight": [1, 1, 0, 0, 0, 0]}, 0.18),
        ({"test_mode": "ik"}, 0.09),
        ({}, 0.18),
    ],
)
def test_the_hand_may_leave_where_the_object_could_not(tmp_path: Path, how: dict[str, Any], retreat: float) -> None:
    cube = thing("cube", "cube", (-0.15, 0.05), parameters={"edge": 0.05})
    size = {"length": 0.2, "width": 0.16, "height": 0.025, "style": "plain"}
    instance = table_instance(tmp_path, cube, thing("tray", "tray", (0.15, 0.08), parameters=size))
    upright = {"filter_z_dir": ["downward", 174]}
    # A level retreat: the fingers pass above the tray's rim, the cube between them would not.
    place = {**PLACE, **upright, "objects": ["cube", "tray"], "place_z_offset": 0.008, "align_obj_tol": 2}
    middle = {"x_ratio_range": [0.5, 0.5], "y_ratio_range": [0.5, 0.5], "post_place_vector": [retreat, 0, 0]}
    scene, record = run_with(instance, {**PICK, **upright}, {**place, **middle, **how})
    assert record.success, record.failure
    assert holds(scene, Check(name="touches", arguments={"object": "cube", "target": "tray"}))


def test_filters_that_leave_nothing_end_in_the_grasp_stage(run_skills: RunSkills) -> None:
    _, record = run_skills({**PICK, "filter_z_dir": ["upward", 10]})
    assert record.failure is not None
    assert record.failure.stage is FunnelStage.GRASP
    assert record.failure.counts["candidates"] > 0


def test_a_place_out_of_reach_ends_in_the_reach_stage(run_skills: RunSkills) -> None:
    _, record = run_skills(PICK, {**PLACE, "x_ratio_range": [9, 10], "y_ratio_range": [9, 10]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")
    assert record.failure.counts["unreachable"] == record.failure.counts["given"]


def test_a_pick_takes_a_grasp_from_which_the_place_is_possible() -> None:
    # Gripped a quarter of its length from the end, the peg goes in until the hand meets the cup; so said 9 of 50.
    task = load_task("fr3_insert_peg", overrides=["skills.0.franka.0.left.0.constraints=[x, 0.0, 0.25]"])
    scene = build_scene(sample_task(task, 4242, 5))
    stages = worded_skills(task, scene.instance)
    record = run_episode(scene, Schedule(scene, stages, generator(4242, 5, "skills")))
    assert record.success, record.failure


def test_grasps_that_lead_nowhere_are_told_from_those_that_lead_on() -> None:
    task = load_task("fr3_insert_peg")
    scene = build_scene(sample_task(task, 4242, 5))
    arm = scene.robot("franka").arm("left")
    controller = ArmController(scene, arm)
    place = worded_skills(task, scene.instance)[0]["franka"][0]["left"][1]
    follower = skill_class("place")(scene, controller, place, np.random.default_rng(0))
    T_base_peg = invert_pose(arm.T_world_base) @ scene.object_pose("peg")
    down = np.diag([1.0, -1.0, -1.0])
    grasps = T_base_peg @ np.stack([make_pose(down, np.array([x, 0.0, 0.1])) for x in (-0.05, 0.05)])
    ways = follower.ways_after(grasps, controller.target)
    assert ways is not None
    assert np.isfinite(ways).tolist() == [True, False], "held by the end that goes in first, it cannot go in"


PEAR: dict[str, Any] = {**PICK, "objects": ["pear"], "filter_z_dir": None, "lift_th": 0.03, "pre_grasp_offset": 0.05}


def test_an_approach_is_widened_where_nothing_within_it_can_be_grasped(tmp_path: Path) -> None:
    instance = table_instance(tmp_path, thing("pear", "pear", (0.1, 0.05), yaw=40.0))
    _, strict = run_with(instance, {**PEAR, "approach": ["down", 3]})
    assert strict.failure is not None
    assert "widen approach, now ('down', 3.0)" in strict.failure.detail
    _, wide = run_with(instance, {**PEAR, "approach": ["down", 3], "approach_widest": 75})
    assert wide.success, wide.failure


def test_a_second_thing_finds_room_beside_the_first(tmp_path: Path) -> None:
    things = (
        thing("first", "can", (-0.12, 0.0)), thing("second", "cube", (0.12, 0.0)), thing("board", "tray", (0.0, 0.2)),
    )  # fmt: skip
    instance = table_instance(tmp_path, *things)
    middle = {**PLACE, "x_ratio_range": [0.49, 0.51], "y_ratio_range": [0.49, 0.51], "rest_on": "target"}
    middle |= {"place_z_offset": 0.005, "until_contact": True}
    begin = [{**PICK, "objects": ["first"]}, {**middle, "objects": ["first", "board"]}, {**PICK, "objects": ["second"]}]
    second = {**middle, "objects": ["second", "board"], "pre_place_z_offset": 0.15}
    _, strict = run_with(instance, *begin, second)
    assert strict.failure is not None
    assert strict.failure.skill == "place"
    scene, wide = run_with(instance, *begin, {**second, "ratio_widest": [0.25, 0.75]})
    assert wide.success, wide.failure
    assert holds(scene, Check(name="touches", arguments={"object": "second", "target": "board"}))


def test_what_rolls_has_a_second_to_come_to_rest(plate_instance: TaskInstance) -> None:
    scene = build_scene(plate_instance)
    config = skill_class("place").Config.model_validate({**PLACE, "success_mode": "xybbox"})
    place = skill_class("place")(
        scene, ArmController(scene, next(iter(scene.robots.values())).arms[0]), config, np.random.default_rng(0)
    )
    place.simple_generate_manip_cmds()
    on_plate = scene.object_pose("plate") @ translation([0.0, 0.0, 0.05])
    spin = scene.world.data.qvel[scene.world.dof_index("cube/free") + 3 :][:3]

    def frames(pose: Array, turns: float, until: int) -> int:
        """Return after how many frames it is done when the cube turns until a frame."""
        place._settled, place.manip_list = 0, []
        scene.world.set_body_pose(scene.body_of("cube"), pose)
        for frame in range(100):
            spin[:] = turns if frame < until else 0.0
            scene.world.forward()
            if place.is_done():
                return frame
            place.manip_list = []  # The hand stands where it is asked to.
        return 100

    assert frames(on_plate, turns=0.0, until=0) == 0
    assert frames(on_plate, turns=9.0, until=12) == 12, "as long as it takes"
    assert frames(on_plate, turns=9.0, until=100) == scene.instance.fps, "a second at most"
    beside = on_plate @ translation([0.4, 0.0, 0.0])
    assert frames(beside, turns=9.0, until=100) == scene.instance.fps, "it may still come to lie on it, for a second"


def test_a_pick_from_the_side_keeps_its_wrist_off_the_table(tmp_path: Path) -> None:
    size = {"radius": 0.0328, "height": 0.0954}
    can = thing("can", "watering_can", (-0.124, 0.0044), yaw=16.46, color="green", parameters=size)
    instance = table_instance(tmp_path, can)
    low = {**PICK, "objects": ["can"], "approach": ["front", 50], "constraints": ["z", 0.2, 0.6]}
    del low["filter_z_dir"]
    scene, record = run_with(instance, low)
    model, data = scene.world.model, scene.world.data
    wrist = model.body("franka/fr3_link7").id
    for state in record.states[::4]:
        scene.world.restore_state(state)
        mujoco.mj_forward(model, data)
        touching = model.geom_bodyid[data.contact.geom]
        assert wrist not in touching, "link 7 rubs on the table, so that the arm stops short of the grasp"
    assert record.success, record.failure
