"""Every robot of the zoo with an arm can be driven; wheels are tested with their controllers."""

import numpy as np
import pytest

from handloom.isaac.articulation import SingleArticulation, add_drive_inputs
from handloom.robots import load_robot, robot_names
from handloom.sim import World
from handloom.values import ArticulationAction

WITH_ARMS = [name for name in robot_names() if load_robot(name).arms]


@pytest.mark.parametrize("inputs", ["one", "three"])
@pytest.mark.parametrize("name", WITH_ARMS)
def test_a_robot_of_the_zoo_reaches_and_holds_position_targets(name: str, inputs: str) -> None:
    description = load_robot(name)
    spec = description.spec()
    if inputs == "three":
        assert add_drive_inputs(spec)
    robot = SingleArticulation(World.from_spec(spec), name=name, dof_names=description.config.dof_names)
    robot.initialize()
    # The joints of a linkage in the hand depend on each other, so only those of the arms can be put anywhere. Arms that
    # face each other would meet in the middle of their ranges, so each goes there alone.
    for arm in description.arms:
        other = [one for one in description.arms if one is not arm]
        home = [
            (robot.get_dof_index(joint), q) for one in other for joint, q in zip(one.joint_names, one.home, strict=True)
        ]
        moved = np.array([robot.get_dof_index(joint) for joint in arm.joint_names])
        assert np.all(robot.drives.driven[moved])
        middle = robot.drives.limits()[moved].mean(axis=1)
        joints = np.array([*moved, *(index for index, _ in home)])
        robot.set_joint_positions(np.array([*middle, *(q for _, q in home)]), joints)
        robot.world.step(200)
        np.testing.assert_allclose(robot.get_joint_positions(moved), middle, atol=1e-3)
        targets = middle + 0.1
        robot.apply_action(ArticulationAction(targets, joint_indices=moved))
        robot.world.step(1000)
        np.testing.assert_allclose(robot.get_joint_positions(moved), targets, atol=2e-3)
    assert robot.get_measured_joint_forces().shape == (robot.num_dof + 1, 6)
