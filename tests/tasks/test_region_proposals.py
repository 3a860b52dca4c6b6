"""Regions that ``check`` proposes: they fit the robot, and the expert does there what the task asks for."""

import re
from pathlib import Path

import numpy as np
import pytest

from handloom.cli.main import main
from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.trial import fails, tries_of
from handloom.grasping.annotate import Ground
from handloom.scene import build_scene
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.picks import PickConfig
from handloom.skills.picking.grasp_poses import annotated_grasps
from handloom.skills.picking.pick import Pick
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.deed_form import CLEAR
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.region_proposals import Proposal, _in_short, proposals, unplaced

FRUIT = """base: setups/so101.yaml
cameras: []
objects:
  - {name: berry, category: strawberry}
  - {name: dish, category: petri_dish}
skills: [{pick: berry}, {place: berry, in: dish}]
"""
FAR = """regions:
  - {object: berry, target: table, random_config: {pos_range: [[0.5, 0.3], [0.55, 0.35]]}}
  - {object: dish, target: table, random_config: {pos_range: [[-0.55, 0.3], [-0.5, 0.35]]}}
"""
LEMON = """base: setups/split_aloha.yaml
objects: [{name: lemon, category: lemon}]
regions: [{object: lemon, target: table, random_config: {pos_range: [[-0.47, -0.3], [-0.47, -0.3]]}}]
skills: [{pick: lemon}]
"""
DRAWER = """base: setups/so101.yaml
objects:
  - {name: cabinet, target_class: ArticulatedObject, category: drawer_cabinet, fix_base: true,
     parameters: {drawers: 2, width: 0.16, depth: 0.14, drawer_height: 0.065}}
  - {name: berry, category: strawberry}
skills: [{open: cabinet}, {pick: berry}, {place: berry, in: cabinet}, {close: cabinet}]
"""
BOX = """base: setups/fr3.yaml
cameras: []
objects:
  - {name: box, target_class: ArticulatedObject, category: lidded_box, fix_base: true, parameters: {grip: lip}}
regions: [{object: box, target: table, random_config: {pos_range: [[0.1, 0.1], [0.2, 0.2]], yaw_rotation: [-10, 10]}}]
skills: [{open: box}]
"""


def written(folder: Path, text: str) -> Path:
    (file := folder / "task.yaml").write_text(text)
    return file


@pytest.mark.slow
def test_a_file_without_regions_gets_some_in_which_the_expert_does_it(tmp_path, capsys):
    file = written(tmp_path, FRUIT)
    assert unplaced(load_task(file)) == {"berry", "dish"}
    assert main(["check", str(file), "--tries", "1"]) == 2
    shown = capsys.readouterr().out
    assert "these regions would work (the expert succeeded in 1 of 1 tries):" in shown, shown
    lines = re.findall(r"- \{object: .*", shown)
    assert re.findall(r"object: (\w+)", " ".join(lines[-2:])) == ["dish", "berry"]
    copied = written(tmp_path, FRUIT + "regions:\n" + "".join(f"  {line}\n" for line in lines[-2:]))
    assert main(["check", str(copied), "--tries", "2"]) == 0
    assert "the expert succeeded in 2 of 2 tries" in capsys.readouterr().out


def test_proposed_lines_are_in_the_short_form_and_tell_the_arm_and_the_size_they_need(tmp_path):
    task = load_task(written(tmp_path, DRAWER))
    region = RegionConfig(
        object="cabinet",
        target="table",
        random_config=RandomConfig(pos_range=((0.1, 0.2, 0.0), (0.2, 0.3, 0.0)), yaw_rotation=(-5, 5)),
    )
    keys, _ = next(iter(placed_skills(task.config)))
    proposal = Proposal((region,), 4, arm=(keys, "left"), scale=("cabinet", 0.75))
    long, _, _ = proposal.lines(task)
    assert long.startswith("- {object: cabinet, target: table, random_config: {pos_range: [[0.1, 0.2], [0.2, 0.3]]")
    proposal = proposal._replace(regions=(region.model_copy(update={"clear": CLEAR}),))
    line, arm, size = proposal.lines(task)
    assert line == "- {object: cabinet, at: [[0.1, 0.2], [0.2, 0.3]], yaw: [-5, 5]}"
    assert re.search(r"task.yaml:6: skills.*: give arm: left", arm)
    assert re.search(r"task.yaml:3: objects.0: a smaller cabinet: scale: \[0.75, 0.75, 0.75\]", size)
    fitted = proposal.of(task).config
    assert fitted.objects[0].scale == (0.75, 0.75, 0.75)
    assert fitted.regions[-1].random_config == region.random_config


def test_regions_that_the_reach_map_refuses_are_proposed_in_the_form_that_it_does_not_clip(tmp_path):
    text = "robot: so101\nobjects: [{name: berry, category: strawberry}]\nskills: [{pick: berry}]\n"
    task = load_task(written(tmp_path, text))

    def at(x: float) -> Proposal:
        ranges = RandomConfig(pos_range=((x, -0.1, 0.0), (x + 0.02, -0.08, 0.0)), yaw_rotation=(0, 10))
        return _in_short(task, Proposal((RegionConfig(object="berry", target="table", random_config=ranges),), 4))

    assert at(0.0).regions[0].within_reach
    assert "at: [[" in at(0.0).lines(task)[0]
    assert not at(0.6).regions[0].within_reach
    assert "target: table, random_config:" in at(0.6).lines(task)[0]


@pytest.mark.slow
def test_what_the_expert_cannot_do_is_wrong_and_what_it_does_is_right(tmp_path, capsys):
    far = load_task(written(tmp_path, FRUIT + FAR))
    assert fails(tries_of(far, 1))
    (proposal, *_) = proposals(far)
    fitted = proposal.of(far)
    assert not fails(tries_of(fitted, 1, seed=5))
    assert main(["check", str(written(tmp_path, FRUIT + FAR)), "--tries", "1"]) == 2
    shown = capsys.readouterr().out
    assert re.search(r"task\.yaml:6: skills\.0\.so101\.0\.left\.0: in 1 of 1 tries", shown), shown


def test_a_short_task_of_many_skills_has_time_for_all_of_them(tmp_path):
    assert load_task(written(tmp_path, DRAWER + "cameras: []\n")).config.data.max_episode_length == 1000
    assert load_task(written(tmp_path, FRUIT)).config.data.max_episode_length == 600
    given = DRAWER + "data: {max_episode_length: 700}\n"
    assert load_task(written(tmp_path, given)).config.data.max_episode_length == 700


def test_a_thing_that_rolls_has_grasps_from_above_in_the_pose_it_has(tmp_path):
    task = load_task(written(tmp_path, LEMON))
    scene = build_scene(sample_task(task, 0, 0))
    rest = Ground.under(scene.assets["lemon"], 0).up
    assert float(scene.object_pose("lemon")[2, :3] @ rest) < 0.9, "it lies on another side than the one annotated"
    arm = scene.robot("split_aloha").arms[0]
    config = next(skill for _, skill in placed_skills(task.config))
    assert isinstance(config, PickConfig)
    pick = Pick(scene, ArmController(scene, arm), config, np.random.default_rng(0))
    steep = {}
    for source in ("lying", "as_it_lies"):
        T_world_tool = arm.T_world_base @ annotated_grasps(pick, "lemon", config, source=source).T_base_tool
        down = -(T_world_tool[:, :3, :3] @ arm.spec.approach)[:, 2]
        steep[source] = int((down > np.cos(np.deg2rad(30.0))).sum())
    assert steep["as_it_lies"] > 100 > steep["lying"]


def test_the_lip_of_a_box_lifts_its_lid(tmp_path):
    scene, record = simulate(load_task(written(tmp_path, BOX)), 40, 0, Stopwatch())
    assert record.success, record.failure
    scene.world.restore_state(record.states[-1])
    assert scene.world.joint_position("box/lid_joint") > 0.9


@pytest.mark.slow
def test_a_drawer_from_the_short_form_alone_on_an_arm_of_five_joints(tmp_path):
    task = load_task(written(tmp_path, DRAWER + "cameras: []\n"))
    proposal = next(proposals(task))
    tries = [simulate(proposal.of(task), 70, episode, Stopwatch())[1] for episode in range(4)]
    assert sum(record.success for record in tries) >= 3, [record.failure for record in tries]
