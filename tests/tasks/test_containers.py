"""Things of published task files get into what stands in for their containers, and a dish is lifted by two hands."""

import numpy as np
import pytest
from reference_containers import insert_markpen, sort_rubbish, stack_cubes, store_toothbrush
from reference_files import STAND_INS, written

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene.measures import world_box
from handloom.tasks import load_task

ATTEMPTS = 5


def demonstration(root, make, rig, arm, name):
    """Return scene and record of the first attempt that succeeds, at the end of the record."""
    values = make(rig, arm, np.random.default_rng(5))
    loaded = load_task(written(root, values, f"mine/{name}.yaml"), overrides=STAND_INS)
    for attempt in range(ATTEMPTS):
        scene, record = simulate(loaded, 5, attempt, Stopwatch())
        if record.success:
            scene.world.restore_state(record.states[-1])
            return scene, record
    raise AssertionError(record.failure)


@pytest.mark.slow
@pytest.mark.parametrize("rig", ["lift2", "split_aloha"])
def test_rubbish_ends_in_the_bins_on_the_floor(checkout, rig):
    scene, _ = demonstration(checkout, sort_rubbish, rig, "left", f"rubbish_{rig}")
    for arm in ("left", "right"):
        bin_box, at = world_box(scene, f"gso_box_{arm}"), scene.object_pose(f"pick_object_{arm}")[:3, 3]
        assert np.all((bin_box[0] < at) & (at < bin_box[1]))


@pytest.mark.slow
@pytest.mark.parametrize("rig", ["lift2", "split_aloha"])
def test_a_pen_stands_in_its_holder(checkout, rig):
    scene, _ = demonstration(checkout, insert_markpen, rig, "left", f"pen_{rig}")
    pen, holder = world_box(scene, "oo3d_object1"), world_box(scene, "oo3d_object2")
    assert pen[0, 2] < holder[0, 2] + 0.02  # On its floor.


@pytest.mark.slow
def test_brush_and_paste_stand_in_one_mug(checkout):
    scene, _ = demonstration(checkout, store_toothbrush, "lift2", "left", "brush")
    mug = world_box(scene, "mug")
    for name in ("tooth_brush", "tooth_paste"):
        assert world_box(scene, name)[0, 2] < mug[1, 2] - 0.04


@pytest.mark.slow
def test_both_hands_lift_the_dish_with_the_cubes_on_it(checkout):
    scene, record = demonstration(checkout, stack_cubes, "split_aloha", "left", "dish")
    end = scene.object_pose("place_object")[2, 3]
    scene.world.restore_state(record.states[0])
    assert end > scene.object_pose("place_object")[2, 3] + 0.1
