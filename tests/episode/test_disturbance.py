"""Noise on what is executed, while the recorded action stays what the expert asks for."""

import numpy as np
import pytest

from handloom.dataset import archive_of_record, record_of_archive
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay, run_episode
from handloom.episode.columns import episode_columns
from handloom.episode.disturbance import Disturbance
from handloom.errors import ConfigError
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.values import EpisodeRecord

TASK = "fr3_pick_cube"
PUSHED = "disturbance={position: 0.02, rotation: 0.1}"


def episode(*overrides: str) -> EpisodeRecord:
    return simulate(load_task(TASK, overrides=overrides), 0, 0, Stopwatch())[1]


@pytest.fixture(scope="module")
def disturbed() -> EpisodeRecord:
    return episode(PUSHED)


def test_a_disturbed_episode_is_a_demonstration_all_the_same(disturbed: EpisodeRecord) -> None:
    assert disturbed.success, disturbed.failure


def test_physics_got_the_noise_and_the_action_column_the_expert(disturbed: EpisodeRecord) -> None:
    scene = build_scene(disturbed.instance)
    arm = scene.robot("franka").arms[0]
    action = episode_columns(scene, disturbed).values["action"][:, :-1]
    executed = disturbed.applied[disturbed.kept][:, arm.ctrl_index]
    assert np.array_equal(action, disturbed.asked[disturbed.kept][:, arm.ctrl_index])
    assert 0.005 < np.sqrt(np.mean((action - executed) ** 2)) < 0.2
    # A path is smooth, a disturbed one is not.
    assert np.abs(np.diff(action, 2, axis=0)).mean() < 0.5 * np.abs(np.diff(executed, 2, axis=0)).mean()


def test_the_noise_is_correlated_from_frame_to_frame(disturbed: EpisodeRecord) -> None:
    arm = build_scene(disturbed.instance).robot("franka").arms[0]
    noise = (disturbed.applied[:, : disturbed.asked.shape[1]] - disturbed.asked)[:, arm.ctrl_index]
    before, after = noise[:-1].ravel(), noise[1:].ravel()
    assert np.corrcoef(before, after)[0, 1] > 0.8


def test_no_noise_is_left_while_the_gripper_closes(disturbed: EpisodeRecord) -> None:
    arm = build_scene(disturbed.instance).robot("franka").arms[0]
    noise = np.abs(disturbed.applied[:, : disturbed.asked.shape[1]] - disturbed.asked)[:, arm.ctrl_index].max(axis=1)
    gripper = disturbed.asked[:, arm.gripper_ctrl_index[0]]
    closing = int(np.flatnonzero(gripper[1:] < gripper[:-1])[0]) + 1
    assert noise[closing : closing + 8].mean() < 0.5 * noise[:closing].mean()


def test_a_disturbed_episode_replays_bit_for_bit_from_its_archive(disturbed: EpisodeRecord) -> None:
    again = record_of_archive(archive_of_record(disturbed))
    assert replay(again).exact


def test_the_same_seed_disturbs_the_same_way(disturbed: EpisodeRecord) -> None:
    assert episode(PUSHED).states.tobytes() == disturbed.states.tobytes()


def test_no_disturbance_leaves_every_bit_as_it_was() -> None:
    assert episode("disturbance={position: 0.0}").states.tobytes() == episode().states.tobytes()


def test_a_disturbance_out_of_bounds_is_refused() -> None:
    with pytest.raises(ConfigError, match="position"):
        load_task(TASK, overrides=["disturbance={position: 3.0}"])


@pytest.fixture(scope="module")
def pushed() -> EpisodeRecord:
    return simulate(load_task("fr3_pick_place", overrides=["disturbance={pushes: 1.0}"]), 3, 0, Stopwatch())[1]


@pytest.fixture(scope="module")
def dropped() -> EpisodeRecord:
    return simulate(load_task("fr3_pick_place", overrides=["disturbance={drops: 1.0}"]), 3, 0, Stopwatch())[1]


def ways(record: EpisodeRecord, name: str) -> np.ndarray:
    """Return where an object is after each frame (frames, 3)."""
    scene = build_scene(record.instance)
    places = []
    for state in record.states[1:]:
        scene.world.restore_state(state)
        places.append(scene.object_pose(name)[:3, 3].copy())
    return np.array(places)


def test_an_object_that_is_pushed_away_is_grasped_where_it_lies_then(pushed: EpisodeRecord) -> None:
    assert pushed.success, pushed.failure
    first, again, place = pushed.timeline
    assert [(span.skill, span.success, span.kind) for span in pushed.timeline] == [
        ("pick", False, ""), ("pick", True, "recovery"), ("place", True, ""),
    ]  # fmt: skip
    slid = np.linalg.norm(ways(pushed, "cube")[first.end - 1] - ways(pushed, "cube")[0])
    assert 0.015 < slid < 0.06, "2 to 5 cm, and the first hundredth is not noticed"
    assert (again.start, place.start) == (first.end, again.end)


def test_an_object_that_is_lost_on_the_way_is_picked_up_again(dropped: EpisodeRecord) -> None:
    assert dropped.success, dropped.failure
    labels = [(span.skill, span.success, span.kind) for span in dropped.timeline]
    assert labels[:2] == [("pick", True, ""), ("place", False, "")]
    assert labels[-2:] == [("pick", True, "recovery"), ("place", True, "")]
    height = ways(dropped, "cube")[:, 2]
    lost, regrasp = dropped.timeline[1], dropped.timeline[-2]
    assert height[lost.start] - height[regrasp.start] > 0.03, "it fell"


@pytest.mark.parametrize("which", ["pushed", "dropped"])
def test_pushes_and_drops_replay_bit_for_bit_from_the_archive(which: str, request: pytest.FixtureRequest) -> None:
    record = request.getfixturevalue(which)
    assert replay(record_of_archive(archive_of_record(record))).exact


def test_the_action_while_an_object_is_lost_is_to_hold_it(dropped: EpisodeRecord) -> None:
    arm = build_scene(dropped.instance).robot("franka").arms[0]
    lost = dropped.timeline[1]
    asked = dropped.asked[lost.start : lost.end, arm.gripper_ctrl_index[0]]
    executed = dropped.applied[lost.start : lost.end, arm.gripper_ctrl_index[0]]
    assert np.all(asked == asked[0])
    assert np.any(executed != asked)


def test_without_a_retry_the_loss_of_an_object_ends_the_episode_with_a_reason() -> None:
    task = load_task("fr3_pick_place", overrides=["disturbance={drops: 1.0}"])
    scene = build_scene(sample_task(task, 3, 1))
    skills, noise = (generator(3, 1, name, task=task.name) for name in ("skills", "disturbance"))
    source = Schedule(scene, worded_skills(task, scene.instance), skills)
    record = run_episode(scene, source, Disturbance(task.config.disturbance, scene, noise))
    assert record.failure is not None
    assert record.failure.skill == "place"
