"""Grippers hold a cube by friction alone."""

import pytest

from handloom.robots import load_robot, robot_names
from handloom.robots.checks.grip_trial import GripTrial

# Small arms carry what they would carry in life.
MASSES = {"so101": 0.1}
# Right arms mirror the left ones; they run with the slow tests.
ARMS = [
    pytest.param(name, arm.name, marks=pytest.mark.slow if arm.name == "right" else ())
    for name in robot_names()
    for arm in load_robot(name).arms
    if not arm.suction
]


@pytest.mark.parametrize(("robot", "arm"), ARMS)
def test_a_cube_is_lifted_and_held_without_slipping(robot, arm):
    trial = GripTrial(load_robot(robot), arm, cube_edge=0.04, cube_mass=MASSES.get(robot, 0.3))
    result = trial.run(rise=0.10, hold_s=5.0, settle_s=0.5)
    assert result.rise > 0.095
    assert result.slip < 0.002
    assert set(trial.arm.finger_bodies) == set(result.touching)
