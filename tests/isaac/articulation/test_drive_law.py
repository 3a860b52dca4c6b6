"""effort = kp (q* - q) + kd (qd* - qd) + e, clipped, whatever the actuator."""

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.articulation import JointDrives, SingleArticulation, add_drive_inputs
from handloom.sim import World
from handloom.values import ArticulationAction

ONE_JOINT = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" gravity="0 0 0"/>
  <worldbody>
    <body name="link">
      <joint name="hinge" axis="0 1 0" {joint}/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>
"""
ACTUATORS = {
    "position": '<position joint="hinge" kp="50" kv="3" ctrlrange="-1 1"/>',
    "velocity": '<velocity joint="hinge" kv="3"/>',
    "motor": '<motor joint="hinge"/>',
    "pid": '<pid joint="hinge" kp="50" kv="3" input="pos vel ff"/>',
    "general": '<general joint="hinge" gainprm="50" biastype="affine" biasprm="0 -50 -3"/>',
}


def one_joint(actuator: str, joint: str = "") -> SingleArticulation:
    robot = SingleArticulation(World.from_xml_string(ONE_JOINT.format(actuator=actuator, joint=joint)))
    robot.initialize()
    return robot


@pytest.mark.parametrize("kind", ACTUATORS)
def test_the_force_of_a_drive_follows_the_law_for_any_gains_and_targets(kind: str) -> None:
    robot = one_joint(ACTUATORS[kind])
    controller, world = robot.get_articulation_controller(), robot.world
    generator = np.random.default_rng(5)
    for trial in range(200):
        kp, kd = generator.choice([0.0, 1.0, 30.0, 4e3]), generator.choice([0.0, 2.0, 70.0])
        position, velocity, effort, limit = generator.normal(size=4) * [2.0, 5.0, 20.0, 100.0]
        q, qd = generator.normal(size=2)
        controller.set_gains([kp], [kd])
        controller.set_max_efforts([abs(limit)] if trial % 2 else [np.inf])
        world.data.qpos[0], world.data.qvel[0] = q, qd
        robot.apply_action(ArticulationAction([position], [velocity]))
        robot.set_joint_efforts([effort])
        world.forward()
        wanted = kp * (position - q) + kd * (velocity - qd) + effort
        if trial % 2:
            wanted = np.clip(wanted, -abs(limit), abs(limit))
        assert world.data.qfrc_actuator[0] == pytest.approx(wanted, rel=1e-12, abs=1e-9)
        applied = robot.get_applied_action()
        assert (applied.joint_positions[0], applied.joint_velocities[0], applied.joint_efforts[0]) == (
            position,
            velocity,
            effort,
        )


@pytest.mark.parametrize(
    ("kind", "gains"), [("position", (50, 3)), ("velocity", (0, 3)), ("motor", (0, 0)), ("pid", (50, 3))]
)
def test_gains_and_targets_are_read_from_the_model(kind: str, gains: tuple[float, float]) -> None:
    robot = one_joint(ACTUATORS[kind])
    kps, kds = robot.get_articulation_controller().get_gains()
    assert (kps[0], kds[0]) == gains
    robot.world.data.ctrl[0] = 0.25
    channel = {"position": 0, "velocity": 1, "motor": 2, "pid": 0}[kind]
    assert [values[0] for values in robot.drives.targets()] == [0.25 * (index == channel) for index in range(3)]


def test_three_inputs_give_the_same_motion_as_one_when_only_positions_are_asked() -> None:
    spec = mujoco.MjSpec.from_string(ONE_JOINT.format(actuator=ACTUATORS["position"], joint=""))
    before = World(spec.compile())
    assert len(add_drive_inputs(spec)) == 1
    after = World.from_spec(spec)
    assert (before.data.ctrl.size, after.data.ctrl.size) == (1, 3)
    for index in range(500):
        before.data.ctrl[0] = after.data.ctrl[0] = np.sin(0.02 * index)
        before.step()
        after.step()
    assert after.joint_position("hinge") == pytest.approx(before.joint_position("hinge"), abs=1e-12)


@pytest.mark.parametrize(
    ("actuator", "why"),
    [
        ("", "it has no actuator of its own"),
        ('<motor joint="hinge" gear="5"/>', "gear other than 1"),
        ('<motor joint="hinge"/><motor joint="hinge"/>', "2 actuators act on it"),
        ('<intvelocity joint="hinge" kp="1"/>', "dynamics of its own"),
        ('<muscle joint="hinge"/>', "dynamics of its own"),
        ('<general joint="hinge" gaintype="affine"/>', "neither a servo nor a motor"),
        ('<general joint="hinge" gainprm="7" biastype="affine" biasprm="0 -50 -3"/>', "has gain 7, not 50"),
        ('<general joint="hinge" gainprm="7" biastype="affine" biasprm="1 -50 -3"/>', "not that of a servo"),
    ],
)
def test_a_joint_that_cannot_be_driven_says_why(actuator: str, why: str) -> None:
    joint = 'range="-1 1"'
    robot = one_joint(actuator, joint)
    before = robot.world.state_hash()
    with pytest.raises(InputError, match=f"joint 'hinge' takes no position target: .*{why}"):
        robot.apply_action(ArticulationAction([0.1]))
    with pytest.raises(InputError, match=why):
        robot.get_articulation_controller().set_gains([1.0], [1.0])
    with pytest.raises(InputError, match=why):
        robot.get_articulation_controller().set_max_efforts([1.0])
    assert robot.world.state_hash() == before
    assert np.isnan(robot.get_applied_action().joint_positions[0])
    robot.apply_action(robot.get_applied_action())  # NaN keeps, so reading and writing back always works.
    robot.get_articulation_controller().set_gains(*robot.get_articulation_controller().get_gains())
    assert robot.get_joint_positions().shape == (1,)


def test_a_missing_input_is_named() -> None:
    robot = one_joint('<pid joint="hinge" kp="5" kv="1" input="pos vel"/>')
    robot.apply_action(ArticulationAction([0.1], [0.2]))
    with pytest.raises(InputError, match="no effort target: its actuator has no effort input"):
        robot.apply_action(ArticulationAction(joint_efforts=[0.2]))
    assert np.isnan(robot.get_applied_action().joint_efforts[0])
    robot.apply_action(robot.get_applied_action())
    robot.pause_motion()
    robot.resume_motion()
    robot.post_reset()


@pytest.mark.parametrize("kind", ["position", "pid"])
@pytest.mark.parametrize("radius", [0.03, 0.12])
def test_in_acceleration_mode_the_response_does_not_depend_on_the_inertia(kind: str, radius: float) -> None:
    text = ONE_JOINT.format(actuator=ACTUATORS[kind], joint="").replace('size=".03"', f'size="{radius}"')
    robot = SingleArticulation(World.from_xml_string(text))
    robot.initialize()
    controller = robot.get_articulation_controller()
    controller.set_effort_modes("acceleration")
    assert controller.get_effort_modes() == ["acceleration"]
    assert robot.dof_properties["driveMode"][0] == 2
    controller.set_gains([100.0], [20.0])
    robot.apply_action(ArticulationAction([1.0]))
    robot.world.step(150)
    # x'' = 100 (1 - x) - 20 x' is critically damped: x = 1 - (1 + 10 t) exp(-10 t).
    assert robot.get_joint_positions()[0] == pytest.approx(1 - 4 * np.exp(-3), abs=3e-3)
    controller.set_effort_modes("force")
    np.testing.assert_array_equal(controller.get_gains(), [[100.0], [20.0]])
    assert robot.world.model.actuator_biasprm[0, 1] == -100.0


def test_drives_of_a_floating_base_feel_the_inertia_of_the_whole_robot() -> None:
    text = """<mujoco><option gravity="0 0 0" integrator="implicitfast"/><worldbody><body name="a"><freejoint/>
      <geom size=".1" mass="1"/><body name="b" pos=".2 0 0"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom size=".1" mass="1"/></body></body></worldbody>
      <actuator><pid joint="slide" kp="10" input="pos vel ff"/></actuator></mujoco>"""
    world = World.from_xml_string(text)
    drives = JointDrives(world, ["slide"])
    drives.set_effort_modes("acceleration", np.array([0]))
    assert -world.model.actuator_biasprm[0, 1] == pytest.approx(10 * 0.5)  # The reduced mass of 1 kg and 1 kg.
