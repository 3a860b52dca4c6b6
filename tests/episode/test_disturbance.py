"""Noise on what is executed, while the recorded action stays what the expert asks for."""

import numpy as np
import pytest

from handloom.dataset import archive_of_record, record_of_archive
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.episode.columns import episode_columns
from handloom.errors import ConfigError
from handloom.scene import build_scene
from handloom.tasks import load_task
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
