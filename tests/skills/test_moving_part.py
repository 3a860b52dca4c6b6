"""A part that a hand moves along its joint, and what of the robots stands in its way."""

import numpy as np
import pytest

from handloom.objects.keypoints import joint_keypoints
from handloom.scene import build_scene
from handloom.skills.articulated_objects.moving_part import INTO, MovingPart
from handloom.tasks import load_task, sample_task


@pytest.fixture(scope="module")
def door():
    """The door of a cabinet that opens towards the right one of two arms."""
    scene = build_scene(sample_task(load_task("open_cabinet", robot="fr3_pair"), 70118, 0))
    link = scene.assets["cabinet"].joints[0]
    arm = next(iter(scene.robots.values())).arm("left")
    return MovingPart(scene=scene, arm=arm, name="cabinet", keypoints=joint_keypoints(link, 0, "open"))


def test_a_door_runs_into_an_arm_that_waits(door):
    _, high = door.link.range
    assert f"cabinet/door {INTO} franka_pair/fr_" in door.runs_into(0.0, 0.5 * high)


def test_a_door_that_opens_by_a_little_does_not(door):
    assert door.runs_into(0.0, 0.02) == ""


def test_only_the_links_of_the_arm_itself_count_along_its_own_path(door):
    here = door.scene.world.data.qpos[door.arm.qpos_index]
    assert door.runs_into(0.0, 0.5 * door.link.range[1], np.stack([here, here])) == ""
