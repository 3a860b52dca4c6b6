"""What a pour does with the grains."""

import numpy as np

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.motions import PourConfig
from handloom.skills.held_objects.pour import LEAVING, Pour
from handloom.skills.held_objects.rotate_held import HeldObject
from handloom.tasks import load_task, sample_task


def test_a_watering_can_wets_the_plant_and_nothing_else() -> None:
    """In one gush, as it was poured before, 13 of 224 drops of this scene leapt over the rim of the pot."""
    task = load_task("fr3_water_plant")
    scene, record = simulate(task, 12, 10, Stopwatch())
    assert record.success, record.failure
    assert scene.grains is not None
    poured, left = scene.grains.inside("plant"), scene.grains.inside("can")
    assert not np.any(poured & left)
    assert left.sum() == 0
    # Seen from above every drop that counts as poured is within the rim, and over the soil.
    away = np.linalg.norm((scene.grain_positions() - scene.object_pose("plant")[:3, 3])[:, :2], axis=1)
    assert away[poured].max() < 0.076
    assert poured.sum() >= 0.98 * scene.grains.count


def test_a_lip_that_must_be_held_higher_stands_further_back() -> None:
    """From 10 cm higher up, beads that leave sideways fly past the far rim of a bowl."""
    task = load_task("fr3_pour_cup_bowl")
    instance = sample_task(task, 13, 0)
    scene = build_scene(instance)
    arm = scene.robot("franka").arm("left")
    config = PourConfig(name="pour", objects=("cup", "bowl"))
    pour = Pour(scene, ArmController(scene, arm), config, np.random.default_rng(0))
    held = HeldObject.of(pour, "cup")
    assert scene.grains is not None
    even, grains = np.eye(3), scene.grains
    low, high = (pour._candidates(held, even, "bowl", grains, [(raised, False)])[-1] for raised in (0.0, 0.1))
    moved = high[:, :3, 3] - low[:, :3, 3]
    assert np.allclose(moved[:, 2], 0.1)
    further = np.sqrt(2.0 * 0.125 / 9.81) - np.sqrt(2.0 * 0.025 / 9.81)
    assert np.allclose(np.linalg.norm(moved[:, :2], axis=1), LEAVING * further)
    assert 0.015 < LEAVING * further < 0.03


def test_a_lip_that_clears_the_target_is_higher_half_way_down() -> None:
    scene = build_scene(sample_task(load_task("fr3_pour_cup_bowl"), 13, 0))
    config = PourConfig(name="pour", objects=("cup", "bowl"))
    pour = Pour(scene, ArmController(scene, scene.robot("franka").arm("left")), config, np.random.default_rng(0))
    held = HeldObject.of(pour, "cup")
    assert scene.grains is not None
    even, clear = (
        pour._candidates(held, np.eye(3), "bowl", scene.grains, [(0.0, clearing)])[:, 0, 2, 3]
        for clearing in (False, True)
    )
    assert (clear >= even - 0.003).all()  # Points stand for the cup, a few millimetres apart.
    assert clear[4] > even[4] + 0.01, "half way down, the side of the cup needs room over the rim"
