"""Hanging an object on a peg in physics."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.errors import ConfigError
from handloom.objects import make_object
from handloom.scene.measures import world_box
from handloom.values import TaskInstance

PICK: dict[str, Any] = {
    "name": "pick", "objects": ["mug"], "rim": True, "filter_z_dir": ["downward", 168], "constraints": ["x", 0.0, 0.12],
    "pre_grasp_offset": 0.06, "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1, "lift_th": 0.04,
    "post_grasp_offset_min": 0.09, "post_grasp_offset_max": 0.09,
}  # fmt: skip
HANG: dict[str, Any] = {
    "name": "hang", "objects": ["mug", "tree"], "peg": "peg_1", "rim": True, "gripper_change_steps": 12, "t_eps": 0.005,
    "o_eps": 0.05,
}  # fmt: skip
BEFORE = {**HANG, "approach_only": True}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    folder: Path = tmp_path_factory.mktemp("hang")
    tree = thing("tree", "mug_tree", (0.15, 0.12), yaw=150, parameters={"pegs": 3, "height": 0.28, "foot": 0.095})
    mug = thing("mug", "mug", (-0.14, 0.02), yaw=90, parameters={"radius": 0.038, "height": 0.085})
    return table_instance(folder, tree, mug)


def test_a_mug_hangs_on_its_peg_by_the_handle(instance: TaskInstance) -> None:
    scene, record = run_with(instance, PICK, BEFORE, HANG)
    assert record.success, record.failure
    tree, mug = scene.assets["tree"], scene.assets["mug"]
    root, tip = (np.array(tree.keypoints[name].position) for name in ("peg_1_root", "peg_1"))
    T = np.linalg.inv(scene.object_pose("tree")) @ scene.object_pose("mug")
    hole = T[:3, :3] @ mug.keypoints["hole"].position + T[:3, 3]
    along = (tip - root) / np.linalg.norm(tip - root)
    assert 0.0 < (hole - root) @ along < np.linalg.norm(tip - root)
    assert np.linalg.norm(np.cross(hole - root, along)) < 0.02, "the peg goes through the hole"
    assert world_box(scene, "mug")[0, 2] > world_box(scene, "tree")[0, 2] + 0.1
    assert scene.object_pose("tree")[2, 2] > 0.999, "the tree still stands"


def test_an_approach_ends_with_the_mug_in_the_hand_before_the_peg(instance: TaskInstance) -> None:
    scene, record = run_with(instance, PICK, BEFORE)
    assert record.success, record.failure
    tip = (scene.object_pose("tree") @ [*scene.assets["tree"].keypoints["peg_1"].position, 1.0])[:3]
    hole = (scene.object_pose("mug") @ [*scene.assets["mug"].keypoints["hole"].position, 1.0])[:3]
    assert 0.02 < np.linalg.norm(hole - tip) < 0.05


def test_letting_go_beside_the_peg_is_no_success(instance: TaskInstance) -> None:
    _, record = run_with(instance, PICK, BEFORE, {**HANG, "share": (1.3, 1.35)})
    assert record.failure is not None
    assert record.failure.reason in ("not_touches", "not_raised_above")


def test_a_peg_that_is_not_there_is_named(instance: TaskInstance) -> None:
    with pytest.raises(ConfigError, match=r"no peg 'peg_9'; it has peg_0, peg_1, peg_2"):
        run_with(instance, PICK, {**HANG, "peg": "peg_9"})


def test_an_object_without_a_hole_says_what_it_has(instance: TaskInstance) -> None:
    with pytest.raises(ConfigError, match=r"no keypoint 'hole'; it has .*peg_0"):
        run_with(instance, PICK, {**HANG, "objects": ["tree", "mug"]})


@pytest.mark.parametrize("seed", range(5))
def test_the_hole_of_a_mug_is_free_and_closed_all_around(seed: int) -> None:
    mug = make_object("mug", rng=np.random.default_rng(seed))
    hole = np.array(mug.keypoints["hole"].position)
    model, data = mug.model, mujoco.MjData(mug.model)
    mujoco.mj_forward(model, data)

    def distance(direction: tuple[float, float, float]) -> float:
        """Return how far the mug is from its hole in a direction [m]; negative: never met."""
        return mujoco.mj_ray(model, data, hole, np.array(direction), None, 1, -1, np.zeros(1, np.int32), None)

    assert max(distance((0, 1, 0)), distance((0, -1, 0))) < 0, "it goes through"
    around = [distance((np.cos(a), 0.0, np.sin(a))) for a in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)]
    assert min(around) > 0.006, "a peg of 5 mm radius fits"
    assert max(around) < 0.05, "it is closed"
