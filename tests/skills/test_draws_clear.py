"""A hand that has put something down ends the skill with nothing between its fingers."""

from pathlib import Path

import numpy as np
import pytest

from handloom.engine.front_door import run_episode
from handloom.scene import Scene, SceneArm, build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.articulated_objects.articulated import Close
from handloom.skills.configs.articulated import CloseConfig
from handloom.skills.picking.finger_room import FingerRoom
from handloom.skills.placing.leaving import draw_clear
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.task_config import placed_skills

MUG = """
robot: lift2
objects: [{name: mug, category: mug}, {name: coaster, category: coaster}]
regions:
  - {object: mug, at: [-0.2, 0.0], yaw: 0}
  - {object: coaster, at: [-0.05, 0.05], yaw: 0}
skills:
  - {pick: mug, approach: front}
  - {place: mug, on: coaster}
"""
DRAWER = """
robot: fr3
objects:
  - {name: drawers, category: drawer_cabinet}
  - {name: block, category: cube, parameters: {edge: 0.015}}
regions:
  - {object: drawers, at: [0.2, 0.3]}
  - {object: block, at: [-0.2, 0.0]}
skills: [{open: drawers}, {close: drawers}]
"""


def arm_of(scene: Scene) -> SceneArm:
    return next(iter(scene.robots.values())).arms[0]


def at_fingers(scene: Scene, controller: ArmController, aside: float) -> None:
    """Put the block beside the middle between the fingers, along the direction in which they close [m]."""
    arm = controller.arm
    T_world_tool = arm.T_world_base @ controller.tool_pose()
    closing = T_world_tool[:3, :3] @ arm.spec.R_ee_graspnet[:, 1]
    address = scene.world.qpos_index("block/free")
    scene.world.data.qpos[address : address + 3] = (T_world_tool @ arm.spec.T_tool_tcp)[:3, 3] + aside * closing
    scene.world.forward()


@pytest.fixture
def close(tmp_path: Path) -> Close:
    (file := tmp_path / "drawers.yaml").write_text(DRAWER)
    task = load_task(file)
    scene = build_scene(sample_task(task, 0, 0))
    (config,) = (skill for _, skill in placed_skills(task.config) if isinstance(skill, CloseConfig))
    joint = scene.world.qpos_index(f"drawers/{scene.assets['drawers'].joints[0].joint}")
    scene.world.data.qpos[joint] = 0.12
    scene.world.forward()
    return Close(scene, ArmController(scene, arm_of(scene)), config, np.random.default_rng(0))


def test_a_hand_of_long_fingers_draws_back_until_a_placed_mug_is_not_between_them(tmp_path: Path):
    (file := tmp_path / "mug.yaml").write_text(MUG)
    record = run_episode(file, seed=0, episode=0)
    assert record.success, record.failure
    scene = build_scene(record.instance)
    scene.world.restore_state(record.states[record.timeline[-1].end])
    arm = arm_of(scene) if arm_of(scene).name == record.timeline[-1].arm else next(iter(scene.robots.values())).arms[1]
    assert FingerRoom(scene, arm, ["mug"]).is_clear(arm.joints)


@pytest.mark.parametrize("aside", [0.0, 0.025])
def test_the_way_from_between_the_fingers_is_found_from_where_the_object_is_now(close: Close, aside: float):
    at_fingers(close.scene, close.controller, aside)
    room = FingerRoom(close.scene, close.controller.arm, ["block"])
    assert not room.is_clear(close.controller.target)
    (command,) = draw_clear(close, ["block"])
    assert command.function == "open_gripper"
    assert room.is_clear(command.params["path"][-1])


def test_a_clear_hand_stays_where_it_is(close: Close):
    at_fingers(close.scene, close.controller, 0.2)
    assert draw_clear(close, ["block"]) == []


@pytest.mark.parametrize(("aside", "expected"), [(0.3, "close_gripper"), (0.025, "open_gripper")])
def test_fingers_around_something_do_not_close_on_the_way_to_a_door(close: Close, aside: float, expected: str):
    at_fingers(close.scene, close.controller, aside)
    close.simple_generate_manip_cmds()
    assert close.manip_list, close.failure
    motions = [command.function for command in close.manip_list if command.function.endswith("_gripper")]
    assert (motions[0], motions[1]) == (expected, "close_gripper")
