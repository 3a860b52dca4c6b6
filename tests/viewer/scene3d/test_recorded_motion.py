"""The motion that the view plays is that of the recorded states."""

import mujoco
import numpy as np
import pytest

from handloom.episode.columns import STATE
from handloom.errors import FileError
from handloom.scene import Scene
from handloom.values import EpisodeRecord
from handloom.viewer.scene3d.container import array_of, unpacked
from handloom.viewer.scene3d.recorded_motion import GRIPPED, HIT, recorded_motion

Recorded = tuple[Scene, EpisodeRecord]


@pytest.fixture(scope="module")
def motion(picked: Recorded) -> tuple[dict, memoryview]:
    return unpacked(recorded_motion(*picked))


def test_every_frame_shows_the_state_of_its_picture(picked: Recorded, motion: tuple[dict, memoryview]) -> None:
    scene, record = picked
    header, content = motion
    model, data = scene.world.model, mujoco.MjData(scene.world.model)
    poses = array_of(header["poses"], content).reshape(header["frames"], len(header["moving"]), 7)
    resting = array_of(header["resting"], content).reshape(-1, 7)
    assert header["frames"] == len(record.kept)
    for frame in (0, 70, header["frames"] - 1):
        mujoco.mj_setState(model, data, np.ascontiguousarray(record.states[record.kept[frame]]), STATE)
        mujoco.mj_kinematics(model, data)
        shown = resting.copy()
        shown[header["moving"]] = poses[frame]
        assert shown[:, :3] == pytest.approx(data.xpos, abs=1e-5)


def test_the_hand_goes_where_it_was_asked_to(motion: tuple[dict, memoryview]) -> None:
    header, content = motion
    (tool,) = header["tools"]
    executed, planned = (array_of(tool[name], content).reshape(-1, 3) for name in ("executed", "planned"))
    assert len(executed) == len(planned) == header["frames"]
    assert np.ptp(executed, axis=0).max() > 0.2
    assert np.linalg.norm(executed - planned, axis=1).max() < 0.06  # It lags behind while it moves fast.
    assert np.linalg.norm(executed - planned, axis=1)[-1] < 0.01


def test_fingers_touch_the_cube_while_it_is_carried(picked: Recorded, motion: tuple[dict, memoryview]) -> None:
    header, content = motion
    contacts = {name: array_of(part, content) for name, part in header["contacts"].items()}
    starts, kinds = contacts["starts"], contacts["kinds"]
    assert len(starts) == header["frames"] + 1
    pick = next(span for span in picked[1].timeline if span.skill == "pick")
    gripped = [GRIPPED in kinds[starts[k] : starts[k + 1]] for k in range(header["frames"])]
    assert not any(gripped[:20])
    assert all(gripped[pick.end : pick.end + 10])
    assert HIT not in kinds
    forces = contacts["forces"].reshape(-1, 3)
    assert np.linalg.norm(forces[kinds == GRIPPED], axis=1).max() > 1.0


def test_the_grasp_that_was_taken_is_among_the_grasps(motion: tuple[dict, memoryview]) -> None:
    header, content = motion
    (grasp,) = header["grasps"]
    poses = array_of(grasp["poses"], content).reshape(-1, 7)
    assert grasp["object"] == "cube"
    assert len(poses) > 10
    # The tip of the hand is at the cube when it is taken.
    x, y, z = poses[grasp["taken"], :3]
    assert 0.02 < np.sqrt(x * x + y * y + z * z) < 0.25


def test_states_of_another_scene_are_refused(picked: Recorded) -> None:
    from dataclasses import replace

    scene, record = picked
    with pytest.raises(FileError, match="do not match the scene"):
        recorded_motion(scene, replace(record, states=record.states[:, :-1]))
