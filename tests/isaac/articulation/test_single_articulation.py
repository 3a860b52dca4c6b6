"""A robot reaches its targets, reports its forces, pauses and resets."""

from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError, StateError
from handloom.isaac.articulation import ArticulationSubset, SingleArticulation
from handloom.sim import World
from handloom.values import ArticulationAction, DOFInfo

FRAME = 8
"""Physics steps per frame: 62.5 frames a second at 2 ms."""


def apply(robot: SingleArticulation, action: ArticulationAction) -> None:
    """Apply an action, then its efforts: one action controls a joint one way."""
    robot.apply_action(replace(action, joint_efforts=None))
    robot.apply_action(ArticulationAction(joint_efforts=action.joint_efforts, joint_indices=action.joint_indices))


def test_names_and_properties(robot: SingleArticulation) -> None:
    assert robot.handles_initialized
    assert robot.dof_names == ("turn", "lift", "bend", "left", "right")
    assert (robot.num_dof, robot.num_bodies) == (5, 6)
    assert robot.body_names[:2] == ("base", "link1")
    assert robot.get_dof_index("bend") == 2
    assert robot.get_dof_info("bend") == DOFInfo("r/bend", 2, "bend", 2)
    with pytest.raises(NotFoundError, match="did you mean 'bend'"):
        robot.get_dof_index("bent")
    table = robot.dof_properties
    np.testing.assert_array_equal(table["type"], [1, 1, 1, 2, 2])
    np.testing.assert_array_equal(table["hasLimits"], [True, True, False, True, True])
    np.testing.assert_array_equal(table["upper"], [3, 2, np.inf, 0.04, 0.04])
    np.testing.assert_array_equal(table["driveMode"], [1] * 5)
    np.testing.assert_array_equal(table["maxEffort"], [500, 500, 300, 70, 0])
    np.testing.assert_array_equal(table["stiffness"], [400, 400, 400, 2000, 0])
    np.testing.assert_array_equal(table["damping"], [40, 40, 40, 100, 0])


def test_a_declared_order_is_the_order_of_everything(robot: SingleArticulation) -> None:
    world = robot.world
    other = SingleArticulation(world, "r/", dof_names=["left", "turn"])
    other.initialize()
    other.set_joint_positions([0.02, 0.3])
    assert world.joint_position("r/left") == 0.02
    assert world.joint_position("r/turn") == 0.3
    with pytest.raises(NotFoundError, match="did you mean 'turn'"):
        SingleArticulation(world, "r/", dof_names=["tun"])
    with pytest.raises(InputError, match="twice"):
        SingleArticulation(world, "r/", dof_names=["turn", "turn"])
    with pytest.raises(NotFoundError, match="starts with"):
        SingleArticulation(world, "q/")


def test_nothing_works_before_initialize(robot: SingleArticulation) -> None:
    raw = SingleArticulation(robot.world, "r/", name="raw")
    assert not raw.handles_initialized
    for call in (raw.get_joint_positions, raw.post_reset, raw.get_joints_default_state, raw.get_measured_joint_efforts):
        with pytest.raises(StateError, match=r"SingleArticulation 'raw' is not initialized. Call initialize\(\) first"):
            call()
    with pytest.raises(RuntimeError, match="ArticulationController is not initialized"):
        raw.apply_action(ArticulationAction())


def test_position_targets_are_reached_within_the_published_deltas(robot: SingleArticulation) -> None:
    robot.apply_action(ArticulationAction([None, -1.0, 1.2, None, None]))
    robot.world.step(120 * FRAME)
    position = robot.get_joint_positions()
    assert position[1] == pytest.approx(-1.0, abs=1e-3)
    assert position[2] == pytest.approx(1.2, abs=2e-3)
    robot.apply_action(ArticulationAction([1.7], joint_indices=[1]))
    robot.world.step(120 * FRAME)
    assert robot.get_joint_positions()[1] == pytest.approx(1.7, abs=2e-3)
    assert robot.get_joint_positions()[2] == pytest.approx(1.2, abs=2e-3)
    robot.apply_action(ArticulationAction([0.5], joint_indices=[1]))
    robot.world.step(120 * FRAME)
    assert robot.get_joint_positions()[1] == pytest.approx(0.5, abs=1e-2)


def test_a_coupled_finger_follows_the_driven_one(robot: SingleArticulation) -> None:
    robot.apply_action(ArticulationAction([0.03], joint_indices=[3]))
    robot.world.step(500)
    np.testing.assert_allclose(robot.get_joint_positions([3, 4]), [0.03, 0.03], atol=5e-4)


def test_teleporting_moves_at_once_and_stays(robot: SingleArticulation) -> None:
    wanted = np.array([0.4, -0.3, 0.2, 0.01, 0.01])
    robot.set_joint_positions(wanted)
    np.testing.assert_array_equal(robot.get_joint_positions(), wanted)
    robot.world.step(300)
    np.testing.assert_allclose(robot.get_joint_positions(), wanted, atol=1e-3)
    robot.set_joint_positions([None, 0.1], joint_indices=[0, 2])
    assert robot.get_joint_positions([2]) == [0.1]
    robot.set_joint_velocities([1.0, 2.0], joint_indices=[1, 0])
    np.testing.assert_array_equal(robot.get_joint_velocities([0, 1]), [2.0, 1.0])
    before = robot.world.state_hash()
    with pytest.raises(InputError, match="positions must have one value"):
        robot.set_joint_positions([1.0])
    with pytest.raises(InputError, match="velocities is infinite for joint lift"):
        robot.set_joint_velocities([None, np.inf, None, None, None])
    assert robot.world.state_hash() == before


def test_an_effort_is_measured_back(robot: SingleArticulation) -> None:
    controller = robot.get_articulation_controller()
    controller.switch_dof_control_mode(2, "effort")
    controller.set_max_efforts([2000.0], joint_indices=[2])
    robot.set_joint_efforts([1000.0], joint_indices=[2])
    robot.world.step()
    assert robot.get_applied_joint_efforts([2]) == [1000.0]
    assert robot.get_measured_joint_efforts([2])[0] == pytest.approx(1000.0, rel=0.1)
    np.testing.assert_array_equal(robot.get_applied_joint_efforts(), [0, 0, 1000, 0, 0])


def test_efforts_stay_until_replaced(robot: SingleArticulation) -> None:
    robot.get_articulation_controller().switch_dof_control_mode(2, "effort")
    robot.set_joint_efforts([0.4], joint_indices=[2])
    robot.world.step(2000)
    assert robot.get_joint_velocities()[2] == pytest.approx(0.4 / 0.2, rel=0.05)  # Against the joint's damping.


def test_measured_efforts_balance_gravity_and_the_coupling_is_seen(robot: SingleArticulation) -> None:
    robot.enable_gravity()
    robot.set_joint_positions([0.0, 0.3, 0.4, 0.02, 0.02])
    robot.world.step(3000)
    measured = robot.get_measured_joint_efforts()
    np.testing.assert_allclose(measured, robot.world.data.qfrc_bias[robot.drives.dof], atol=1e-3)
    assert measured[1] < -3.0
    robot.disable_gravity()
    robot.world.step(3000)
    np.testing.assert_allclose(robot.get_measured_joint_efforts()[:3], np.zeros(3), atol=1e-3)
    robot.apply_action(ArticulationAction([0.06], joint_indices=[3]))  # Against the stops: both fingers press.
    robot.world.step(2000)
    np.testing.assert_allclose(robot.get_measured_joint_efforts([3, 4]), 0.0, atol=1e-3)


def test_measured_forces_have_a_row_for_the_base_and_each_joint(robot: SingleArticulation) -> None:
    robot.enable_gravity()
    robot.world.model.dof_armature[:] = 0.0
    mujoco.mj_setConst(robot.world.model, mujoco.MjData(robot.world.model))
    robot.set_joint_positions([0.5, 0.3, 0.4, 0.02, 0.02])
    robot.world.step(200)
    forces = robot.get_measured_joint_forces()
    assert forces.shape == (robot.num_dof + 1, 6)
    # Along its axis a joint transmits what it measures; without rotor inertia nothing is lost in between.
    axes = robot.world.model.jnt_axis[[robot.world.joint_index("r/" + name) for name in robot.dof_names]]
    along = np.einsum("ni,ni->n", axes, np.where([[1], [1], [1], [0], [0]], forces[1:, 3:], forces[1:, :3]))
    np.testing.assert_allclose(along, robot.get_measured_joint_efforts(), atol=1e-9)
    np.testing.assert_array_equal(robot.get_measured_joint_forces([2]), forces[[3]])


def test_the_base_carries_the_weight_of_a_robot_at_rest(robot: SingleArticulation) -> None:
    robot.enable_gravity()
    robot.set_joint_positions([0.0, 0.3, 0.4, 0.02, 0.02])
    robot.world.step(4000)
    forces = robot.get_measured_joint_forces()
    np.testing.assert_allclose(forces[0, :3], [0, 0, 5.2 * 9.81], atol=1e-3)
    np.testing.assert_allclose(forces[1, :3], [0, 0, 3.2 * 9.81], atol=1e-3)


def test_post_reset_returns_to_the_default_state_and_gains(robot: SingleArticulation) -> None:
    robot.set_joints_default_state([0.1, 0.2, 0.3, 0.01, 0.01], efforts=[0.0, 0.0, 0.5, 0.0, 0.0])
    robot.set_joints_default_state(velocities=[0.0, None, 0.25, None, None])
    controller = robot.get_articulation_controller()
    gains = controller.get_gains()
    controller.switch_control_mode("velocity")
    apply(robot, ArticulationAction([1.0] * 4 + [None], [0.5] * 4 + [None], [2.0] * 4 + [None]))
    robot.world.step(100)
    robot.world.reset()
    robot.post_reset()
    state = robot.get_joints_state()
    np.testing.assert_array_equal(state.positions, [0.1, 0.2, 0.3, 0.01, 0.01])
    np.testing.assert_array_equal(state.velocities, [0, 0, 0.25, 0, 0])
    np.testing.assert_array_equal(state.efforts, [0, 0, 0.5, 0, 0])
    np.testing.assert_array_equal(controller.get_gains(), gains)
    np.testing.assert_array_equal(robot.drives.targets().positions[:4], [0.1, 0.2, 0.3, 0.01])
    np.testing.assert_array_equal(robot.drives.targets().velocities[:4], np.zeros(4))
    default = robot.get_joints_default_state()
    np.testing.assert_array_equal(default.velocities, [0, 0, 0.25, 0, 0])
    with pytest.raises(InputError, match="efforts must have one value"):
        robot.set_joints_default_state(efforts=[1.0])


def test_a_paused_robot_stops_and_a_resumed_one_arrives(robot: SingleArticulation) -> None:
    robot.apply_action(ArticulationAction([1.5], joint_indices=[0]))
    robot.world.step(5 * FRAME)
    moving = robot.get_joint_velocities()[0]
    robot.pause_motion()
    here = robot.get_joint_positions()[0]
    assert robot.get_joint_velocities()[0] == 0.0
    robot.world.step(60 * FRAME)
    assert robot.get_joint_positions()[0] == pytest.approx(here, abs=1e-3)
    assert abs(robot.get_joint_positions()[0] - 1.5) > 0.1
    robot.resume_motion()
    assert robot.get_joint_velocities()[0] == moving > 0.1
    robot.world.step(120 * FRAME)
    assert robot.get_joint_positions()[0] == pytest.approx(1.5, abs=0.1)


def test_pausing_twice_or_resuming_what_runs_warns(robot: SingleArticulation) -> None:
    with pytest.warns(UserWarning, match="not paused"):
        robot.resume_motion()
    robot.pause_motion()
    with pytest.warns(UserWarning, match="paused already"):
        robot.pause_motion()


def test_a_fixed_base_is_where_the_model_puts_it(robot: SingleArticulation) -> None:
    position, orientation = robot.get_world_pose()
    np.testing.assert_allclose(position, [0.1, 0, 0.2], atol=1e-12)
    np.testing.assert_allclose(orientation, [1, 0, 0, 0], atol=1e-12)
    SingleArticulation(robot.world, "r/", position=[0.1, 0, 0.2], orientation=[1, 0, 0, 0])
    with pytest.raises(InputError, match=r"fixed in the model at \[0.1, 0.0, 0.2\].*before compiling"):
        SingleArticulation(robot.world, "r/", translation=[0, 0, 0])
    with pytest.raises(InputError, match="not both"):
        SingleArticulation(robot.world, "r/", position=[0, 0, 0], translation=[0, 0, 0])
    SingleArticulation(robot.world, "r/", scale=[1, 1, 1], visible=True, reset_xform_properties=False)
    with pytest.raises(InputError, match="cannot be scaled to 2"):
        SingleArticulation(robot.world, "r/", scale=2)
    with pytest.raises(InputError, match="cannot be hidden"):
        SingleArticulation(robot.world, "r/", visible=False)
    with pytest.raises(InputError, match="3 finite numbers"):
        robot.set_world_pose([0, 0])
    with pytest.raises(InputError, match="cannot be given a velocity"):
        robot.set_world_velocity(np.zeros(6))
    np.testing.assert_array_equal(robot.get_world_velocity(), np.zeros(6))


def test_a_floating_base_is_placed_and_pushed() -> None:
    world = World.from_xml_string(
        """<mujoco><worldbody><body name="base"><freejoint/><geom size=".1"/>
        <body name="arm" pos=".2 0 0"><joint name="hinge"/><geom size=".05"/></body></body></worldbody></mujoco>"""
    )
    half = np.sqrt(0.5)
    robot = SingleArticulation(world, position=[1, 2, 3], orientation=[half, 0, 0, half])
    robot.initialize()
    assert robot.dof_names == ("hinge",)
    position, orientation = robot.get_world_pose()
    np.testing.assert_allclose(position, [1, 2, 3])
    np.testing.assert_allclose(orientation, [half, 0, 0, half])
    robot.set_world_velocity([1, 2, 3, 4, 5, 6])
    np.testing.assert_allclose(robot.get_world_velocity(), [1, 2, 3, 4, 5, 6], atol=1e-12)
    robot.set_linear_velocity([0, 0, 1])
    robot.set_angular_velocity([0, 1, 0])
    np.testing.assert_allclose(robot.get_linear_velocity(), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(robot.get_angular_velocity(), [0, 1, 0], atol=1e-12)
    with pytest.raises(InputError, match="6 numbers"):
        robot.set_world_velocity([1, 2, 3])


def test_solver_settings_that_do_not_exist_are_reported_unused(robot: SingleArticulation) -> None:
    robot.set_solver_position_iteration_count(64)
    assert robot.get_solver_position_iteration_count() == robot.world.model.opt.iterations == 64
    with pytest.raises(InputError, match="integer"):
        robot.set_solver_position_iteration_count(0)
    for name, value in (
        ("sleep_threshold", 0.1),
        ("stabilization_threshold", 0.2),
        ("solver_velocity_iteration_count", 4),
    ):
        with pytest.warns(UserWarning, match=f"{name} = {value} is stored but has no effect"):
            getattr(robot, f"set_{name}")(value)
        assert getattr(robot, f"get_{name}")() == value
    assert robot.get_enabled_self_collisions() is False
    robot.set_enabled_self_collisions(False)
    with pytest.raises(InputError, match="self-collision is off in the compiled model"):
        robot.set_enabled_self_collisions(True)


def test_a_subset_has_an_order_of_its_own(robot: SingleArticulation) -> None:
    subset = ArticulationSubset(robot, ["bend", "turn"])
    assert subset.is_initialized
    assert subset.num_joints == 2
    np.testing.assert_array_equal(subset.get_joint_subset_indices(), [2, 0])
    assert subset.map_to_articulation_order([1, 0]) == [0, None, 1, None, None]
    action = subset.make_articulation_action([0.3, 0.1], None)
    assert action.get_length() == 2
    robot.apply_action(action)
    np.testing.assert_array_equal(robot.drives.targets().positions[:3], [0.1, 0.0, 0.3])
    subset.apply_action(joint_efforts=[5.0, 6.0])
    np.testing.assert_array_equal(subset.get_joint_efforts(), [5.0, 6.0])
    np.testing.assert_array_equal(subset.get_applied_action().joint_positions, [0.3, 0.1])
    subset.set_joint_positions([0.7, 0.8])
    np.testing.assert_array_equal(subset.get_joint_positions(), [0.7, 0.8])
    subset.set_joint_velocities([0.1, 0.2])
    np.testing.assert_array_equal(subset.get_joint_velocities(), [0.1, 0.2])
    with pytest.raises(NotFoundError, match="did you mean 'bend'"):
        ArticulationSubset(robot, ["bnd"])
    with pytest.raises(InputError, match="twice"):
        ArticulationSubset(robot, ["bend", "bend"])


@pytest.mark.parametrize("mode", ["force", "acceleration"])
def test_a_restored_state_continues_bit_for_bit(make_robot: Callable[[], SingleArticulation], mode: str) -> None:
    robot = make_robot()
    robot.get_articulation_controller().set_effort_modes(mode)
    generator = np.random.default_rng(3)
    # One control cannot hold an effort and gains that follow the inertia at once; see JointDrives.
    push = 0.0 if mode == "acceleration" and robot.world.model.nu == 4 else 1.0
    efforts = [push, 2 * push, 3 * push, 4 * push, None]
    apply(robot, ArticulationAction([0.5, 0.2, 0.1, 0.02, None], [0.1] * 4 + [None], efforts))
    robot.world.step(100)
    state = robot.world.save_state()
    other = make_robot()
    other.get_articulation_controller().set_effort_modes(mode)
    other.world.restore_state(state)
    for index in range(2000):
        if index % 20 == 0:
            values = generator.normal(size=(3, 4)) * [[0.5], [0.5], [5.0]]
            action = ArticulationAction(*values, joint_indices=[0, 1, 2, 3])
            if index:
                apply(robot, action)
                apply(other, action)
        robot.world.step()
        other.world.step()
    assert robot.world.state_hash() == other.world.state_hash()


def test_with_three_inputs_the_targets_are_part_of_the_state(make_robot: Callable[[], SingleArticulation]) -> None:
    robot, other = make_robot(), make_robot()
    apply(robot, ArticulationAction([0.5] * 4 + [None], [0.25] * 4 + [None], [3.0] * 4 + [None]))
    other.world.restore_state(robot.world.save_state())
    mine, theirs = robot.drives.targets(), other.drives.targets()
    if robot.world.data.ctrl.size == 12:
        for channel, restored in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(channel, restored)
    else:
        # One control holds what the three amount to; it reads as a position target with the same force.
        np.testing.assert_allclose(theirs.positions[:3], 0.5 + (40 * 0.25 + 3.0) / 400)
        np.testing.assert_array_equal(theirs.velocities[:4], np.zeros(4))
    robot.world.forward()
    np.testing.assert_array_equal(robot.world.data.qfrc_actuator, other.world.data.qfrc_actuator)


def test_a_subset_reports_its_state_and_maps_many_rows(robot: SingleArticulation) -> None:
    subset = ArticulationSubset(robot, ["bend", "turn"])
    robot.set_joint_positions([0.1, 0.2], [0, 2])
    state = subset.get_joints_state()
    np.testing.assert_allclose(state.positions, [0.2, 0.1])
    assert state.velocities.shape == state.efforts.shape == (2,)
    rows = subset.map_to_articulation_order([[1.0, 0.0], [3.0, 2.0]])
    assert rows == [[0.0, None, 1.0, None, None], [2.0, None, 3.0, None, None]]
