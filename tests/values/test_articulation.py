"""Actions are plain values with the published accessors."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.values import ArticulationAction, ArticulationActions


def test_the_effort_of_a_joint_wins_over_its_position_and_velocity() -> None:
    action = ArticulationAction([0.1, 0.2], np.array([1.0, 2.0]), [None, 5.0])
    assert action.get_dof_action(0) == {"velocity": 1.0, "position": 0.1}
    assert action.get_dof_action(1) == {"effort": 5.0}


def test_entries_that_ask_for_nothing_are_skipped_and_zero_is_not_one() -> None:
    action = ArticulationAction([None, 0.0, np.nan], [0.0, None, None])
    assert action.get_dof_action(0) == {"velocity": 0.0}
    assert action.get_dof_action(1) == {"position": 0.0}
    assert action.get_dof_action(2) == {}
    assert ArticulationAction(joint_efforts=[0]).get_dof_action(0) == {"effort": 0.0}


def test_the_dictionary_has_three_lists_and_no_indices() -> None:
    action = ArticulationAction(np.array([1.0, 2.0]), joint_efforts=[None, 3.0], joint_indices=[4, 5])
    expected = {"joint_positions": [1.0, 2.0], "joint_velocities": None, "joint_efforts": [None, 3.0]}
    assert action.get_dict() == expected
    assert str(action) == str(expected)


def test_the_length_is_that_of_the_longest_channel() -> None:
    assert ArticulationAction().get_length() is None
    assert ArticulationAction([1.0], [1.0, 2.0, 3.0]).get_length() == 3
    assert ArticulationAction(joint_efforts=np.zeros(7)).get_length() == 7


def test_joints_of_a_batch_are_named_in_one_way_only() -> None:
    with pytest.raises(ValueError, match="joint indices and joint names can't be both specified") as caught:
        ArticulationActions(np.zeros((2, 1)), joint_indices=[0], joint_names=["a"])
    assert isinstance(caught.value, InputError)
    assert ArticulationActions(np.zeros((2, 1)), joint_names=["a"]).joint_names == ["a"]
