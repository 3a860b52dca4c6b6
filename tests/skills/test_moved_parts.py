"""A part that moves before the hand touches it is approached where it is then, and is not pushed further open."""

import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.articulated_objects.moving_part import grazes
from handloom.skills.configs import SKILL_CONFIGS
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.registry import make_skill
from handloom.skills.schedule import Schedule
from handloom.skills.skill_failures import unsuccessful

DOOR = "oven/door_joint"
AJAR, NUDGED = 1.2, 1.5
"""Where the door stands first, and after it was nudged [rad]."""


@pytest.fixture(scope="module")
def oven(tmp_path_factory):
    oven = thing("oven", "microwave", (0.05, 0.33), target_class="ArticulatedObject", fix_base=True,
                 joint_position_range=[AJAR, AJAR])  # fmt: skip
    return table_instance(tmp_path_factory.mktemp("oven"), oven)


def angles(scene, record):
    found = []
    for state in record.states:
        scene.world.restore_state(state)
        found.append(scene.world.joint_position(DOOR))
    return np.array(found)


def test_a_door_that_is_nudged_open_meanwhile_is_closed_from_where_it_is(oven, monkeypatch):
    act = Schedule.next

    def nudging(schedule, frame):
        if frame == 20:
            world = schedule.scene.world
            world.data.qpos[world.qpos_index(DOOR)] = NUDGED
        return act(schedule, frame)

    monkeypatch.setattr(Schedule, "next", nudging)
    scene, record = run_with(oven, {"name": "close", "objects": ["oven"], "collision_valid": False})
    assert record.success, record.failure
    assert angles(scene, record).max() < NUDGED + 0.1


def made(scene):
    def controller(robot, arm):
        return ArmController(scene, scene.robot(robot).arm(arm))

    config = SKILL_CONFIGS["close"].model_validate({"name": "close", "objects": ["oven"]})
    return make_skill(scene, "franka", "left", config, np.random.default_rng(0), controller)


def test_fingers_at_a_part_graze_it_and_fingers_at_home_do_not(oven):
    close = made(build_scene(oven))
    ways = close._prepare()
    closed = Preshape.at(gripper_of(close), 0.0).joints
    home = close.controller.target
    about = (close.scene, close.controller.arm, close.scene.world.subtree(close._part.body))
    assert not grazes(*about, home[None], closed), "it is there already"
    assert grazes(*about, np.concatenate([ways[0].approach, ways[0].actuation]), closed)


def test_the_message_about_a_joint_gives_its_position_and_the_limit(oven):
    close = made(build_scene(oven))
    assert close._prepare()
    detail = unsuccessful(close).detail
    assert "it is open by 69 degrees, 3 degrees allowed" in detail
