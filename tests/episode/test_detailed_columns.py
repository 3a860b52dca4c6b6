"""Opt-in columns agree with the recorded states, and mistakes are marked frame by frame."""

import mujoco
import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import episode_columns
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, pose_from_pos_quat
from handloom.tasks import load_task


@pytest.fixture(scope="module")
def recovery():
    """Return scene, record and columns of an episode that misses first."""
    scene, record = simulate(load_task("fr3_recovery_pick"), 4, 0, Stopwatch())
    assert record.success
    start = scene.world.save_state()
    columns = episode_columns(scene, record, ("canonical", "detailed"))
    assert np.array_equal(start, scene.world.save_state())
    return scene, record, columns


def test_velocities_are_those_of_the_states(recovery):
    scene, record, columns = recovery
    model = scene.world.model
    before = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_TIME) + model.nq
    dofs = [before + scene.world.dof_index(name) for name in scene.robot("franka").arm("left").joint_names]
    assert np.array_equal(columns.values["observation.velocity"], record.states[record.kept][:, dofs])
    assert np.abs(columns.values["observation.velocity"]).max() > 0.1
    assert np.isfinite(columns.values["observation.effort"]).all()


def test_a_step_leads_from_one_pose_to_the_next(recovery):
    _, _, columns = recovery
    poses, steps = columns.values["observation.ee_pose.base"], columns.values["action.ee_delta"]
    for k in range(0, len(poses) - 1, 17):
        T, after = (pose_from_pos_quat(p[:3], p[3:]) for p in poses[k : k + 2])
        step = make_pose(matrix_from_rotvec(steps[k, 3:]), steps[k, :3])
        np.testing.assert_allclose(invert_pose(T) @ after, step, atol=1e-9)
    np.testing.assert_array_equal(columns.values["action.ee_pose.base"][:-1], poses[1:])


def test_objects_reward_and_end_are_there(recovery):
    scene, record, columns = recovery
    scene.world.restore_state(record.states[record.kept[-1]])
    np.testing.assert_allclose(
        columns.values["observation.object_pose.cube"][-1, :3], scene.object_pose("cube")[:3, 3], atol=1e-9
    )
    assert columns.values["next.success"].sum() == columns.values["next.reward"].sum() == 1
    assert columns.values["next.done"][-1, 0]


def test_frames_of_a_mistake_are_marked_and_those_of_the_recovery_are_not(recovery):
    _, record, columns = recovery
    marked = columns.values["annotation.mistake"][:, 0]
    kinds = {span.kind: span for span in record.timeline}
    inside = (record.kept >= kinds["mistake"].start) & (record.kept < kinds["mistake"].end)
    assert np.array_equal(marked, inside)
    assert marked.any()
    assert not marked[-1]
