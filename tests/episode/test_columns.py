"""The columns of an episode: one name per robot when there are several."""

from dataclasses import replace

import numpy as np
import pytest

from handloom.episode import run_episode
from handloom.episode.columns import episode_columns, image_name, video_features
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task


class Nothing:
    """A source that asks for nothing and ends at once."""

    failure = None
    timeline = ()
    recording = True

    def next(self, frame: int) -> None:
        """End."""


@pytest.fixture(scope="module")
def two_robots():
    """A scene in which a second arm faces the first."""
    instance = sample_task(load_task("fr3_pick_cube"), 0, 0)
    (robot,) = instance.robots
    x, y, z = robot.position
    other = replace(robot, name="other", position=(x, y + 1.6, z), quat=(-robot.quat[3], 0.0, 0.0, robot.quat[0]))
    return build_scene(replace(instance, robots=(robot, other), cameras=instance.cameras[:1]))


def test_with_two_robots_every_column_starts_with_its_robot(two_robots):
    record = run_episode(two_robots, Nothing())
    columns = episode_columns(two_robots, record, ("canonical", "reference"))
    names = [feature.name for feature in columns.features]
    assert {name.partition(".")[0] for name in names} == {"annotation", "franka", "other"}
    assert {"franka.observation.state", "other.action", "other.states.joint.position"} <= set(names)
    assert len(set(names)) == len(names)
    here, there = (columns.values[f"{robot}.observation.ee_pose.world"][0, :3] for robot in ("franka", "other"))
    assert np.linalg.norm(here - there) > 0.1
    base = [columns.values[f"{robot}.observation.ee_pose.base"][0, :3] for robot in ("franka", "other")]
    np.testing.assert_allclose(base[0], base[1], atol=1e-6)


def test_depth_streams_stand_beside_the_colours_of_their_camera(two_robots):
    cameras = two_robots.instance.cameras
    names = [feature.name for feature in video_features(cameras, "h264", ("rgb", "depth"))]
    assert names == ["observation.images.head", "observation.images.head_depth"]
    assert [image_name("head", kind) for kind in ("rgb", "depth")] == names
