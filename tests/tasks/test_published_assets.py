"""A jointed asset of the published layout in a task: its size, how it stands, how its door is opened and closed."""

import json

import numpy as np
import pytest
from reference_articulated import published_microwave
from reference_assets import HINGE, OPEN, SCALE, SHUT, write_microwave
from reference_files import STAND_INS, write_checkout, written

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.errors import ConfigError
from handloom.objects import import_object
from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.articulated_objects.joint_strategies import shut_end, shut_terms
from handloom.tasks import load_task, sample_task
from spread import every

ASSETS = "workflows/simbox/assets/art/microwaves"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Return a checkout with one jointed asset."""
    folder = tmp_path_factory.mktemp("published")
    write_checkout(folder, 1)
    write_microwave(folder / ASSETS)
    return folder


def loaded(root, rig, skill, start, **keys):
    values = published_microwave(rig, "left", skill, (start, start), **keys)
    return load_task(written(root, values, f"mine/{rig}_{skill}.yaml"), overrides=STAND_INS)


def test_the_asset_has_the_published_size_joint_and_points(root):
    asset = import_object(root / ASSETS / "7265" / "instance.usd", info_name="open_v").asset
    np.testing.assert_allclose(asset.extent, [0.305, 0.183, 0.359], atol=2e-3)
    (door,) = asset.joints
    assert door.range == pytest.approx((OPEN, SHUT), abs=1e-4)
    np.testing.assert_allclose(np.add(door.origin, door.head), SCALE * np.array([-0.023, 0.396, 0.733]), atol=1e-6)
    np.testing.assert_allclose(door.origin, SCALE * np.array(HINGE), atol=1e-6)
    assert door.turns is None, "the annotated axis is the joint's own"


def test_the_annotations_scale_replaces_that_of_the_entry_and_it_stands_upright(root):
    task = loaded(root, "franka", "open", 0.38, yaw=0.0)
    assert task.config.objects[0].scale == (0.001, 0.001, 0.001)
    assert not any("(microwave)" in line for line in task.stand_ins)
    scene = build_scene(sample_task(task, 0, 0))
    size = np.ptp(world_box(scene, "microwave"), axis=0)
    assert size[0] == pytest.approx(0.305, abs=0.01)
    assert size[2] == pytest.approx(0.183, abs=0.005)
    # Its front, z in the file, faces the robot; the base alone ends where the open door begins.
    np.testing.assert_allclose(scene.object_pose("microwave")[:3, 2], [0.0, -1.0, 0.0], atol=1e-6)
    assert world_box(scene, "microwave", "base")[0, 1] > world_box(scene, "microwave")[0, 1] + 0.02


def test_an_asset_that_is_too_small_to_be_handled_is_refused(root):
    values = published_microwave("franka", "left", "open", (0.38, 0.38))
    values["tasks"][0]["objects"][0].pop("info_name")
    task = load_task(written(root, values, "mine/tiny.yaml"), overrides=STAND_INS)
    with pytest.raises(ConfigError, match=r"instance.usd is .* mm with scale \[0.001.*its longest side must be 5 mm"):
        sample_task(task, 0, 0)


def test_turns_are_about_the_annotated_axis_where_it_is_opposite_to_the_joints(root, tmp_path):
    file = write_microwave(tmp_path / "microwaves")
    notes = file.parent / "Kps" / "open_v" / "info.json"
    notes.write_text(json.dumps({**json.loads(notes.read_text()), "object_link0_rot_axis": "-y"}))
    (door,) = import_object(file, info_name="open_v").asset.joints
    np.testing.assert_allclose(door.turns, np.negative(door.axis), atol=1e-9)


def test_a_door_that_its_file_shows_ajar_is_shut_at_the_end_of_its_joint(root):
    (door,) = import_object(root / ASSETS / "7265" / "instance.usd", info_name="close_v").asset.joints
    assert shut_end(door) == pytest.approx(SHUT, abs=1e-4)
    terms = shut_terms(door, -0.6)
    assert terms["mode"] == "dis_to_init"
    assert terms["threshold"] == pytest.approx(SHUT + 0.6 - 0.03 * (SHUT - OPEN), abs=1e-3)


def succeeded(task, seed, attempts):
    for attempt in range(attempts):
        _, record = simulate(task, seed, attempt, Stopwatch())
        if record.success:
            return record
    raise AssertionError(record.failure)


@pytest.mark.parametrize(("rig", "setting"), every([("franka", True), ("franka", False), ("split_aloha", True)], 3))
def test_a_door_ajar_by_less_than_a_hand_is_wide_is_opened(root, rig, setting):
    # Shut is 0.524: the free edge is 23 mm from the housing, half the opening of the hand is 40 mm and more.
    record = succeeded(loaded(root, rig, "open", 0.38, setting=setting), 3, 5)
    (state,) = [check for span in record.timeline for check in span.checks if check.name == "joint_state"]
    if setting:
        assert (state.arguments["threshold"], state.arguments["mode"]) == (0.52, "abs")
    again = replay(record)
    assert (again.exact, again.success_again) == (True, True)


@pytest.mark.parametrize(("setting", "mode"), [(True, "zero"), (False, "dis_to_init")])
def test_a_door_is_closed_to_zero_as_a_setting_asks_or_else_shut(root, setting, mode):
    record = succeeded(loaded(root, "franka", "close", -0.7, setting=setting), 4, 3)
    (state,) = [check for span in record.timeline for check in span.checks if check.name == "joint_state"]
    assert state.arguments["mode"] == mode


def test_the_message_of_poses_that_all_collide_names_the_pair(root, monkeypatch):
    monkeypatch.setattr("handloom.skills.articulated_objects.articulated.easings", lambda setting: ())
    monkeypatch.setattr("handloom.skills.articulated_objects.joint_task.holding", lambda job: iter(()))
    monkeypatch.setattr("handloom.skills.articulated_objects.joint_task.JointTask._held_by", lambda self, job: iter(()))
    _, record = simulate(loaded(root, "franka", "open", 0.38), 0, 0, Stopwatch())
    assert record.failure is not None
    assert record.failure.reason == "goal_in_collision"
    assert "64 can be reached, 0 without collision; in 64 of 64 franka/fr3_rightfinger" in record.failure.detail
    assert "microwave/object" in record.failure.detail
