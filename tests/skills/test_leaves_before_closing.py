"""Fingers that are open around something do not close before the hand has left it."""

from pathlib import Path

import numpy as np
import pytest

from handloom.scene import Scene, build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.contacts import PressConfig
from handloom.skills.contacts.press import PressPoint
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.task_config import placed_skills

TASK = """
robot: fr3
objects:
  - {name: bell, category: desk_bell}
  - {name: block, category: cube, parameters: {edge: 0.015}}
regions:
  - {object: bell, at: [0.05, 0.05]}
  - {object: block, at: [-0.2, 0.0]}
skills: [{press: bell.top}]
"""


def first_motion(scene: Scene, config: PressConfig) -> str:
    robot = scene.robot(next(iter(scene.robots)))
    skill = PressPoint(scene, ArmController(scene, robot.arms[0]), config, np.random.default_rng(0))
    skill.simple_generate_manip_cmds()
    assert skill.manip_list, skill.failure
    return next(c.function for c in skill.manip_list if c.function.endswith("_gripper"))


@pytest.mark.parametrize(("aside", "expected"), [(0.3, "close_gripper"), (0.029, "open_gripper")])
def test_a_hand_with_something_between_its_fingers_leaves_with_open_fingers(
    tmp_path: Path, aside: float, expected: str
) -> None:
    (file := tmp_path / "bell.yaml").write_text(TASK)
    task = load_task(file)
    scene = build_scene(sample_task(task, 0, 0))
    (config,) = (skill for _, skill in placed_skills(task.config) if isinstance(skill, PressConfig))
    arm = scene.robot(next(iter(scene.robots))).arms[0]
    controller = ArmController(scene, arm)
    T_world_tcp = arm.T_world_base @ controller.tool_pose() @ arm.spec.T_tool_tcp
    closing = (arm.T_world_base @ controller.tool_pose())[:3, :3] @ arm.spec.R_ee_graspnet[:, 1]
    address = scene.world.qpos_index("block/free")
    scene.world.data.qpos[address : address + 3] = T_world_tcp[:3, 3] + aside * closing
    scene.world.forward()
    assert first_motion(scene, config) == expected
