"""Reaching among obstacles: no contact ever, nearly all targets reached, the rest reported."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.motion_generation import Cuboid, GroundPlane, ReachResult, RmpFlow, reach_pose
from handloom.spatial import quat_from_matrix


def random_reaches(files: dict, seed: int, count: int) -> list[ReachResult]:
    """Reach from random free configurations to random poses that are free too, among five boxes and a floor."""
    policy, rng, found = RmpFlow(**files), np.random.default_rng(seed), []
    lower, upper = policy.robot.lower + 0.1, policy.robot.upper - 0.1

    def draw() -> np.ndarray:
        while True:
            q = rng.uniform(lower, upper)
            if policy.smallest_gap(q) > 0.03:
                return q

    for _ in range(count):
        policy.reset()
        for k in range(5):
            angle, radius, height = rng.uniform(-2, 2), rng.uniform(0.45, 0.75), rng.uniform(0.1, 0.8)
            at = (np.cos(angle) * radius, np.sin(angle) * radius, height)
            policy.add_obstacle(Cuboid(f"box{k}", scale=rng.uniform(0.05, 0.25, 3), position=at))
        policy.add_obstacle(GroundPlane("floor", position=(0, 0, -0.02)))
        policy.update_world()
        start = draw()
        position, R = policy.get_end_effector_pose(draw())
        found.append(reach_pose(policy, start, position, quat_from_matrix(R)))
    return found


def check(found: list[ReachResult], least: float) -> None:
    assert all(reach.smallest_gap > 0 for reach in found)
    assert np.mean([reach.reached for reach in found]) >= least
    for reach in found:
        assert (reach.distance < 0.02 and reach.angle < 0.1) if reach.reached else "stuck" in reach.reason


def test_random_poses_among_boxes_are_reached_without_contact(fr3_policy_files):
    check(random_reaches(fr3_policy_files, seed=1, count=6), least=0.8)


@pytest.mark.slow
def test_nine_of_ten_random_poses_among_boxes_are_reached_without_contact(fr3_policy_files):
    check(random_reaches(fr3_policy_files, seed=11, count=50), least=0.9)


def test_what_cannot_be_reached_is_reported_as_stuck(fr3_policy_files):
    policy = RmpFlow(**fr3_policy_files)
    reach = reach_pose(policy, policy.robot.default_q, [1.5, 0, 0.5], [1, 0, 0, 0], seconds=3.0)
    assert not reach.reached
    assert "stuck" in reach.reason
    with pytest.raises(InputError, match="quaternion"):
        reach_pose(policy, policy.robot.default_q, [0.5, 0, 0.5], [0, 0, 0, 0])
