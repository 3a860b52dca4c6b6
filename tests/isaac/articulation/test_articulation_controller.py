"""Actions either have their documented effect or change nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handloom.errors import HandloomError, InputError, StateError
from handloom.isaac.articulation import ArticulationController, SingleArticulation
from handloom.values import ArticulationAction

DRIVEN = [0, 1, 2, 3]
NOT_INITIALIZED = r"^ArticulationController is not initialized\. Call initialize\(\) first\.$"


def apply(robot: SingleArticulation, action: ArticulationAction) -> None:
    """Apply an action, then its efforts: one action controls a joint one way."""
    robot.apply_action(replace(action, joint_efforts=None))
    robot.apply_action(ArticulationAction(joint_efforts=action.joint_efforts, joint_indices=action.joint_indices))


def targets(robot: SingleArticulation) -> np.ndarray:
    """Targets in force (3, n)."""
    return np.array(robot.drives.targets())


def test_none_and_nan_keep_a_target_and_zero_is_one(robot: SingleArticulation) -> None:
    robot.apply_action(ArticulationAction([1.0, 0.5, -0.5, 0.02, None], [0.1, 0.2, 0.3, 0.4, None]))
    robot.apply_action(ArticulationAction([None, np.nan, 0.0, 0.01, np.nan], joint_efforts=[None, 2.0, None, 0, None]))
    np.testing.assert_array_equal(
        targets(robot),
        [[1.0, 0.5, 0.0, 0.01, np.nan], [0.1, 0.2, 0.3, 0.4, np.nan], [0.0, 2.0, 0.0, 0.0, np.nan]],
    )


def test_a_channel_of_none_is_left_alone(robot: SingleArticulation) -> None:
    apply(robot, ArticulationAction([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0], joint_indices=[0, 1, 2]))
    before = targets(robot)
    robot.apply_action(ArticulationAction([None] * 5, [None] * 5, None))
    robot.apply_action(ArticulationAction())
    np.testing.assert_array_equal(targets(robot), before)


def test_indices_scatter_values_and_the_others_keep_theirs(robot: SingleArticulation) -> None:
    apply(robot, ArticulationAction([0.1, 0.2, 0.3], joint_efforts=[1.0, 2.0, 3.0], joint_indices=[0, 1, 2]))
    apply(robot, ArticulationAction([0.9, 0.8], joint_efforts=[7.0, None], joint_indices=np.array([2, 0])))
    np.testing.assert_array_equal(targets(robot)[0, :3], [0.8, 0.2, 0.9])
    np.testing.assert_array_equal(targets(robot)[2, :3], [1.0, 2.0, 7.0])


def test_nan_entries_are_dropped_together_with_their_index(robot: SingleArticulation) -> None:
    robot.apply_action(ArticulationAction([0.1, np.nan, 0.03], joint_indices=[1, 2, 3]))
    np.testing.assert_array_equal(targets(robot)[0, :4], [0.0, 0.1, 0.0, 0.03])


MALFORMED: dict[str, Callable[[], Any]] = {
    "too short": lambda: ArticulationAction([1.0, 2.0]),
    "too long": lambda: ArticulationAction(np.ones(6)),
    "two lengths": lambda: ArticulationAction([1.0] * 4 + [None], [1.0, 2.0]),
    "length of indices": lambda: ArticulationAction([1.0, 2.0], joint_indices=[0, 1, 2]),
    "two dimensions": lambda: ArticulationAction(np.ones((1, 5))),
    "a scalar": lambda: ArticulationAction(1.0),  # type: ignore[arg-type]
    "text": lambda: ArticulationAction(["a"] * 5),  # type: ignore[list-item]
    "numbers as text": lambda: ArticulationAction(["1"], joint_indices=[0]),  # type: ignore[list-item]
    "complex": lambda: ArticulationAction(np.ones(1, dtype=complex), joint_indices=[0]),
    "truth values": lambda: ArticulationAction(np.ones(1, dtype=bool), joint_indices=[0]),
    "truth value": lambda: ArticulationAction([True, None], joint_indices=[0, 1]),
    "an object": lambda: ArticulationAction([object(), None], joint_indices=[0, 1]),  # type: ignore[list-item]
    "ragged": lambda: ArticulationAction([[1.0], [1.0, 2.0]]),  # type: ignore[list-item]
    "infinite": lambda: ArticulationAction([np.inf], joint_indices=[0]),
    "minus infinite": lambda: ArticulationAction(joint_efforts=[None, -np.inf], joint_indices=[0, 1]),
    "beyond floats": lambda: ArticulationAction([10**400], joint_indices=[0]),
    "index too large": lambda: ArticulationAction([1.0], joint_indices=[5]),
    "negative index": lambda: ArticulationAction([1.0], joint_indices=[-1]),
    "index twice": lambda: ArticulationAction([1.0, 2.0], joint_indices=[1, 1]),
    "index a float": lambda: ArticulationAction([1.0], joint_indices=[0.0]),  # type: ignore[list-item]
    "index a truth value": lambda: ArticulationAction([1.0], joint_indices=[True]),
    "index a name": lambda: ArticulationAction([1.0], joint_indices=["turn"]),  # type: ignore[list-item]
    "indices nested": lambda: ArticulationAction([1.0], joint_indices=[[0]]),  # type: ignore[list-item]
    "not driven": lambda: ArticulationAction([1.0] * 4 + [0.5]),
    "position and effort": lambda: ArticulationAction([1.0], joint_efforts=[2.0], joint_indices=[0]),
    "good positions, bad efforts": lambda: ArticulationAction([0.1] * 4 + [None], joint_efforts=[np.inf] * 5),
    "no action": lambda: [1.0, 2.0],
    "nothing": lambda: None,
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_action_raises_and_writes_nothing(robot: SingleArticulation, case: str) -> None:
    robot.apply_action(ArticulationAction([0.1, 0.2, 0.3], joint_indices=[0, 1, 2]))
    state, before = robot.world.state_hash(), targets(robot)
    with pytest.raises(InputError) as caught:
        robot.apply_action(MALFORMED[case]())
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) > 30
    assert robot.world.state_hash() == state
    np.testing.assert_array_equal(targets(robot), before)


def test_messages_name_the_joint_and_what_exists(robot: SingleArticulation) -> None:
    def message(case: str) -> str:
        with pytest.raises(InputError) as caught:
            robot.apply_action(MALFORMED[case]())
        return str(caught.value)

    assert message("too short") == (
        "joint_positions must have one value for each of the 5 selected joints, got shape (2,); "
        "joints: turn, lift, bend, left, right"
    )
    assert message("index too large") == (
        "joint_indices has 5, but the 5 joints are 0 to 4: turn, lift, bend, left, right"
    )
    assert message("index twice") == "joint_indices names joint 1 (lift) more than once"
    assert message("not driven") == (
        "joint 'r/right' follows 'r/left', whose position target 1 puts it at 1, not at 0.5; give that, None or NaN"
    )
    assert message("position and effort").startswith(
        "joint 'turn' is given a position (1) and an effort (2) at once; give one of them"
    )


def test_a_coupled_joint_takes_what_agrees_with_its_leader(robot: SingleArticulation) -> None:
    before = targets(robot)
    robot.apply_action(ArticulationAction([0.02, 0.02], [0.1, 0.1], joint_indices=[3, 4]))
    np.testing.assert_array_equal(targets(robot)[:2, 3], [0.02, 0.1])
    assert np.all(np.isnan(targets(robot)[:, 4]))
    robot.apply_action(ArticulationAction([0.02], joint_indices=[4]))  # As the leader is asked already.
    robot.apply_action(ArticulationAction(joint_efforts=[1.5, 1.5], joint_indices=[4, 3]))
    assert targets(robot)[2, 3] == 1.5
    with pytest.raises(InputError, match=r"puts it at 0\.02, not at 0\.01"):
        robot.apply_action(ArticulationAction([0.01], joint_indices=[4]))
    np.testing.assert_array_equal(targets(robot)[:, :3], before[:, :3])


def test_an_action_that_was_read_can_be_written_back(robot: SingleArticulation) -> None:
    apply(robot, ArticulationAction([0.5, 0.6], [0.1, 0.2], [1.0, 2.0], joint_indices=[0, 1]))
    before = targets(robot)
    robot.apply_action(robot.get_applied_action())
    np.testing.assert_array_equal(targets(robot), before)


def test_an_action_may_be_changed_before_it_is_applied(robot: SingleArticulation) -> None:
    action = ArticulationAction([0.1], joint_indices=[0])
    action.joint_positions = [0.4]
    robot.apply_action(action)
    assert targets(robot)[0, 0] == 0.4


def random_action(generator: np.random.Generator) -> tuple[Any, bool]:
    """Return an action and whether it is malformed."""
    if generator.random() < 0.35:
        return MALFORMED[str(generator.choice(list(MALFORMED)))](), True
    joints = generator.permutation(DRIVEN)[: generator.integers(1, 5)]
    channels: list[Any] = []
    for _ in range(3):
        values = generator.normal(size=joints.size) * (generator.random(joints.size) > 0.2)
        listed: list[Any] = [None if generator.random() < 0.2 else float(value) for value in values]
        kind = generator.integers(4)
        if kind == 0:
            channels.append(None)
        elif kind == 1:
            channels.append(listed)
        elif kind == 2:
            channels.append(np.array(listed, dtype=float))  # None becomes NaN.
        else:
            channels.append(
                np.array(generator.integers(-3, 3, joints.size), dtype=generator.choice(["i4", "u1", "f4"]))
            )
    indices: Any = joints if generator.random() < 0.5 else [int(joint) for joint in joints]
    if generator.random() < 0.3:  # The same over all joints, padded.
        padded = []
        for values in channels:
            full = [None] * 5
            for joint, value in zip(joints, values if values is not None else [], strict=False):
                full[joint] = value
            padded.append(None if values is None else full)
        return ArticulationAction(*padded), False
    return ArticulationAction(*channels, indices), False


def asks_two_ways(action: ArticulationAction, before: np.ndarray) -> bool:
    """Return whether an action gives a joint a position and an effort other than none and the one in force."""
    if action.joint_positions is None or action.joint_efforts is None:
        return False
    joints = range(5) if action.joint_indices is None else action.joint_indices
    for joint, position, effort in zip(joints, action.joint_positions, action.joint_efforts, strict=True):
        given = all(value is not None and not np.isnan(value) for value in (position, effort))
        if given and effort not in (0.0, before[2, joint]):
            return True
    return False


def test_a_thousand_random_actions_are_applied_as_documented_or_refused(robot: SingleArticulation) -> None:
    generator = np.random.default_rng(2)
    expected = targets(robot)
    refused = 0
    for _ in range(1000):
        action, malformed = random_action(generator)
        state, gains = robot.world.state_hash(), robot.world.model.actuator_biasprm.copy()
        if malformed or asks_two_ways(action, expected):
            with pytest.raises(HandloomError):
                robot.apply_action(action)
            refused += 1
            assert robot.world.state_hash() == state
        else:
            robot.apply_action(action)
            joints = range(5) if action.joint_indices is None else action.joint_indices
            for channel, values in enumerate((action.joint_positions, action.joint_velocities, action.joint_efforts)):
                for joint, value in zip(joints, values if values is not None else [], strict=False):
                    if value is not None and not np.isnan(value):
                        expected[channel, joint] = value
        np.testing.assert_array_equal(targets(robot), expected)
        np.testing.assert_array_equal(robot.world.model.actuator_biasprm, gains)
    assert 400 < refused < 800


def test_everything_before_initialize_raises_the_published_text() -> None:
    controller = ArticulationController()
    calls: list[Callable[[], Any]] = [
        lambda: controller.apply_action(ArticulationAction()),
        controller.get_applied_action,
        lambda: controller.switch_control_mode("position"),
        lambda: controller.switch_dof_control_mode(0, "position"),
        controller.get_gains,
        lambda: controller.set_gains([1.0]),
        lambda: controller.set_max_efforts([1.0]),
        controller.get_max_efforts,
        lambda: controller.set_effort_modes("force"),
        controller.get_effort_modes,
        controller.get_joint_limits,
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=NOT_INITIALIZED) as caught:
            call()
        assert isinstance(caught.value, StateError)


def test_gains_and_max_efforts_round_trip(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    kps, kds, efforts = [60000, 25000, 15000.5, 6000, 0], [3000, 1000, 10.25, 1000, 0], [5220, 720, 87.0, np.inf, 0]
    controller.set_gains(kps, kds)
    controller.set_max_efforts(efforts)
    np.testing.assert_allclose(controller.get_gains(), [kps, kds], rtol=0, atol=1e-5)
    np.testing.assert_allclose(controller.get_max_efforts(), efforts, rtol=0, atol=1e-5)
    controller.set_max_efforts([44.0], joint_indices=[1])
    np.testing.assert_allclose(controller.get_max_efforts(), [5220, 44, 87.0, np.inf, 0])


def test_wrong_gains_limits_and_modes_write_nothing(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    before = robot.world.model.actuator_biasprm.copy(), robot.world.model.actuator_forcerange.copy()
    for call in (
        lambda: controller.set_gains([1.0]),
        lambda: controller.set_gains([1.0] * 4 + [None], [-1.0] + [None] * 4),
        lambda: controller.set_gains([1.0] * 4 + [None], [np.inf] * 5),
        lambda: controller.set_max_efforts([-1.0] + [None] * 4),
        lambda: controller.set_max_efforts(["1"] * 5),
        lambda: controller.set_effort_modes("torque"),
        lambda: controller.switch_control_mode("positon"),
        lambda: controller.switch_dof_control_mode(9, "position"),
    ):
        with pytest.raises(InputError):
            call()
    np.testing.assert_array_equal(robot.world.model.actuator_biasprm, before[0])
    np.testing.assert_array_equal(robot.world.model.actuator_forcerange, before[1])
    with pytest.raises(InputError, match="no control mode 'positon'; did you mean 'position'"):
        controller.switch_control_mode("positon")


def test_control_modes_set_gains_and_come_back(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    kps, kds = controller.get_gains()
    controller.switch_control_mode("velocity")
    np.testing.assert_array_equal(controller.get_gains(), [np.zeros(5), kds])
    controller.switch_control_mode("effort")
    np.testing.assert_array_equal(controller.get_gains(), np.zeros((2, 5)))
    controller.switch_dof_control_mode(1, "position")
    np.testing.assert_array_equal(controller.get_gains()[0], [0, kps[1], 0, 0, 0])
    controller.switch_control_mode("position")
    np.testing.assert_array_equal(controller.get_gains(), [kps, kds])


def test_a_partial_update_of_the_default_gains_touches_only_the_chosen_entries(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    kps, kds = controller.get_gains()
    controller.set_gains([111.0], joint_indices=[1])
    controller.set_gains(kds=[None, None, 7.0, None, None])
    controller.set_gains([5.0], joint_indices=[0], update_default_gains=False)
    assert controller.get_gains()[0][0] == 5.0
    controller.switch_control_mode("effort")
    controller.switch_control_mode("position")
    np.testing.assert_array_equal(controller.get_gains(), [[kps[0], 111.0, *kps[2:]], [kds[0], kds[1], 7.0, *kds[3:]]])


def test_targets_survive_a_change_of_gains(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    apply(robot, ArticulationAction([0.5, 0.6], [0.1, 0.2], [1.0, 2.0], joint_indices=[0, 1]))
    before = targets(robot)
    for mode in ("velocity", "effort", "position"):
        controller.switch_control_mode(mode)
        np.testing.assert_array_equal(targets(robot), before)


def test_velocity_mode_tracks_a_velocity_and_effort_mode_a_force(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    controller.switch_dof_control_mode(0, "velocity")
    robot.apply_action(ArticulationAction(joint_velocities=[0.5], joint_indices=[0]))
    robot.world.step(500)
    # The joint's own damping of 0.2 N m s takes its share of the drive's 40.
    assert robot.get_joint_velocities()[0] == pytest.approx(0.5 * 40 / 40.2, abs=1e-3)


def test_max_efforts_clip_the_whole_drive(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    controller.set_max_efforts([3.0], joint_indices=[0])
    apply(robot, ArticulationAction([2.5], joint_efforts=[50.0], joint_indices=[0]))
    robot.world.forward()
    assert robot.world.data.qfrc_actuator[robot.drives.dof[0]] == 3.0
    controller.set_max_efforts([np.inf], joint_indices=[0])
    robot.world.forward()
    assert robot.world.data.qfrc_actuator[robot.drives.dof[0]] == pytest.approx(400 * 2.5 + 50)


def test_limits_are_infinite_where_there_is_none(robot: SingleArticulation) -> None:
    limits = robot.get_articulation_controller().get_joint_limits()
    np.testing.assert_array_equal(limits, [[-3, 3], [-2, 2], [-np.inf, np.inf], [0, 0.04], [0, 0.04]])


def test_saving_to_usd_is_reported_unused(robot: SingleArticulation) -> None:
    with pytest.warns(UserWarning, match="save_to_usd has no effect"):
        robot.get_articulation_controller().set_gains([1.0] * 4 + [None], save_to_usd=True)
