"""The published modules of Isaac Sim lead to our classes, and the examples of the notes run with the import changed."""

import importlib
import math

import mujoco
import numpy as np
import pytest

import handloom.compat.isaacsim.core.utils.stage as stage_utils
from handloom.compat import isaacsim, omni
from handloom.compat.isaacsim.core.api import World
from handloom.compat.isaacsim.core.api.articulations import ArticulationGripper
from handloom.compat.isaacsim.core.api.controllers import BaseController
from handloom.compat.isaacsim.core.api.controllers.articulation_controller import ArticulationController
from handloom.compat.isaacsim.core.api.robots import Robot
from handloom.compat.isaacsim.core.prims import Articulation, SingleArticulation
from handloom.compat.isaacsim.core.utils.types import ArticulationAction, ArticulationActions
from handloom.compat.isaacsim.robot.experimental.wheeled_robots import controllers as experimental
from handloom.compat.isaacsim.robot.experimental.wheeled_robots.robots import WheeledRobot as ExperimentalRobot
from handloom.compat.isaacsim.robot.wheeled_robots.controllers.ackermann_controller import AckermannController
from handloom.compat.isaacsim.robot.wheeled_robots.controllers.differential_controller import DifferentialController
from handloom.compat.isaacsim.robot.wheeled_robots.controllers.holonomic_controller import HolonomicController
from handloom.compat.isaacsim.robot.wheeled_robots.robots import HolonomicRobotUsdSetup, WheeledRobot
from handloom.errors import FileError, InputError, NotFoundError, StateError

FRANKA = "/Path/To/Robots/Franka/franka_alt_fingers.usd"
PANDA = "/World/envs/env_0/panda"


@pytest.fixture(autouse=True)
def _empty_stage():
    stage_utils.create_new_stage()
    yield
    stage_utils.create_new_stage()


@pytest.mark.parametrize("path", isaacsim.MODULES)
def test_every_published_name_of_a_module_leads_to_a_documented_object(path: str) -> None:
    found = importlib.import_module(f"{isaacsim.__name__}.{path}")
    for name in isaacsim.MODULES[path]:
        assert getattr(found, name).__doc__, name
        assert name in found.__all__


def test_what_differs_is_published() -> None:
    assert set(isaacsim.DIFFERENT) <= {name for names in isaacsim.MODULES.values() for name in names}


# -- the examples of the notes -----------------------------------------------------------------------------------------


@pytest.fixture
def prim():
    """The first example: a Franka on the stage, wrapped, and initialized as in the third."""
    stage_utils.add_reference_to_stage(FRANKA, PANDA)
    robot = SingleArticulation(prim_path=PANDA, name="franka_panda")
    robot.initialize()
    return robot


def test_a_franka_is_referenced_wrapped_and_initialized(prim) -> None:
    assert prim.num_dof == 9
    assert prim.dof_names[7:] == ("fr3_finger_joint1", "fr3_finger_joint2")


def test_a_controller_of_its_own_is_initialized_with_a_view(prim) -> None:
    articulation_controller = ArticulationController()
    with pytest.raises(RuntimeError, match=r"ArticulationController is not initialized\. Call initialize\(\) first\."):
        articulation_controller.apply_action(ArticulationAction())
    articulation_view = Articulation(PANDA)
    articulation_view.initialize()
    articulation_controller.initialize(articulation_view)
    articulation_controller.apply_action(ArticulationAction(joint_positions=[0.3], joint_indices=[0]))
    prim.world.step(1500)
    assert prim.get_joint_positions()[0] == pytest.approx(0.3, abs=1e-3)


def test_a_view_that_is_not_initialized_is_when_a_controller_needs_it(prim) -> None:
    view = Articulation(prim.prim_path)
    controller = ArticulationController()
    controller.initialize(view)
    controller.apply_action(ArticulationAction(joint_positions=np.array([0.0, 0.0]), joint_indices=np.array([7, 8])))
    assert view.robots[0].handles_initialized
    Articulation(prim.prim_path).initialize(physics_sim_view=None)


def test_the_fingers_of_a_franka_close(prim) -> None:
    action = ArticulationAction(joint_positions=np.array([0.0, 0.0]), joint_indices=np.array([7, 8]))
    prim.apply_action(action)
    prim.world.step(1500)
    np.testing.assert_allclose(prim.get_joint_positions()[7:], 0.0, atol=1e-3)


def test_all_nine_joints_of_a_franka_move(prim) -> None:
    goal = np.array([0.0, -1.0, 0.0, -2.2, 0.0, 2.4, 0.8, 0.04, 0.04])
    articulation_controller = prim.get_articulation_controller()
    articulation_controller.apply_action(ArticulationAction(joint_positions=goal))
    prim.world.step(1500)
    np.testing.assert_allclose(prim.get_joint_positions(), goal, atol=2e-3)


def test_the_differential_example_gives_the_published_speeds() -> None:
    controller = DifferentialController("test_controller", 0.03, 0.1125)
    np.testing.assert_allclose(controller.forward([0.3, 1.0]).joint_velocities, [8.125, 11.875])


WHEEL = """<mujoco><worldbody><body name="base"><geom size="0.1"/><body name="wheel" pos="0 0.2 0">
<joint name="wheel_joint" axis="0 1 0"/><geom type="cylinder" size="0.12 0.02"/></body></body></worldbody></mujoco>"""


def test_a_wheel_joint_is_marked_on_the_stage_and_found(tmp_path) -> None:
    from pxr import Sdf

    (tmp_path / "cart.xml").write_text(WHEEL, encoding="utf-8")
    stage_utils.add_reference_to_stage(tmp_path / "cart.xml", "/path/to")
    stage = omni.usd.get_context().get_stage()
    joint_prim = stage.GetPrimAtPath("/path/to/wheel_joint")
    joint_prim.CreateAttribute("isaacmecanumwheel:radius", Sdf.ValueTypeNames.Float).Set(0.12)
    joint_prim.CreateAttribute("isaacmecanumwheel:angle", Sdf.ValueTypeNames.Float).Set(10.3)
    assert joint_prim.GetAttribute("isaacmecanumwheel:angle").Get() == 10.3
    setup = HolonomicRobotUsdSetup("/path/to", "")
    assert setup.wheel_dof_names == ("wheel_joint",)
    assert setup.wheel_radius.tolist() == [0.12]
    assert setup.mecanum_angles.tolist() == [10.3]
    np.testing.assert_allclose(setup.wheel_positions, [[0.0, 0.2, 0.0]], atol=1e-9)


def test_the_holonomic_example_gives_the_exact_minimum() -> None:
    controller = HolonomicController(
        "test_controller",
        [0.04, 0.04, 0.04],
        [[-0.0980432, 0.000636773, -0.050501], [0.0493475, -0.084525, -0.050501], [0.0495291, 0.0856937, -0.050501]],
        [[0, 0, 0, 1], [0.866, 0, 0, -0.5], [0.866, 0, 0, 0.5]],
        [90, 90, 90],
    )
    speeds = controller.forward([1.0, 1.0, 0.1]).joint_velocities
    np.testing.assert_allclose(speeds, [-25.111903, 14.321637, -14.545453], atol=1e-5)


def test_the_ackermann_example_steers_and_rolls() -> None:
    controller = AckermannController("test_controller", wheel_base=1.65, track_width=1.25, front_wheel_radius=0.25)
    actions = controller.forward([0.1, 0.0, 1.1, 0.0, 0.0])
    radius = 1.65 / math.tan(0.1)
    expected = [math.atan(1.65 / (radius - 0.625)), math.atan(1.65 / (radius + 0.625))]
    np.testing.assert_allclose(actions.joint_positions, expected, atol=1e-9)
    rear = [1.1 * (radius + side * 0.625) / radius / 0.25 for side in (-1, 1)]
    np.testing.assert_allclose(actions.joint_velocities[2:], rear, rtol=1e-9)


# -- what is ours ------------------------------------------------------------------------------------------------------


def test_a_view_drives_several_robots_at_once() -> None:
    for index in range(2):
        stage_utils.add_reference_to_stage(FRANKA, f"/World/envs/env_{index}/panda")
        SingleArticulation(f"/World/envs/env_{index}/panda", position=[0.0, 2.0 * index, 0.0])
    view = Articulation("/World/envs/env_.*/panda", name="pandas")
    view.initialize()
    assert (view.count, view.num_dof) == (2, 9)
    np.testing.assert_allclose(view.get_world_poses()[0][:, 1], [0.0, 2.0])
    goals = np.array([[0.2, -0.5], [-0.2, -0.7]])
    view.apply_action(ArticulationActions(goals, joint_names=["fr3_joint1", "fr3_joint2"]))
    view.robots[0].world.step(1500)
    np.testing.assert_allclose(view.get_joint_positions(joint_indices=[0, 1]), goals, atol=2e-3)
    applied = view.get_applied_actions()
    np.testing.assert_array_equal(applied.joint_positions[:, 0], [0.2, -0.2])
    view.set_gains(kps=[[100.0]], indices=[1], joint_indices=[0])
    assert view.get_gains()[0][:, 0].tolist() != [100.0, 100.0]
    assert view.get_gains()[0][1, 0] == 100.0
    with pytest.raises(InputError, match="one row for each of 2 robots"):
        view.set_joint_position_targets([[0.0] * 9])
    with pytest.raises(InputError, match="a controller drives one"):
        ArticulationController().initialize(view)


def test_a_gripper_opens_and_closes_both_fingers(prim) -> None:
    gripper = ArticulationGripper(["fr3_finger_joint1", "fr3_finger_joint2"], [0.04, 0.04], [0.0, 0.0])
    with pytest.raises(StateError, match="Call initialize"):
        gripper.get_positions()
    gripper.initialize(prim)
    assert gripper.dof_indices.tolist() == [7, 8]
    for move, width in ((gripper.close, 0.0), (gripper.open, 0.04)):
        move()
        prim.world.step(1500)
        np.testing.assert_allclose(gripper.get_positions(), width, atol=1e-3)
    gripper.apply_action(ArticulationAction(joint_positions=gripper.closed_position))
    assert prim.get_applied_action().joint_positions[7] == 0.0


def test_a_wheeled_robot_drives_by_its_prim_path() -> None:
    robot = WheeledRobot(
        "/World/Jetbot",
        name="jetbot",
        wheel_dof_names=["left_wheel_joint", "right_wheel_joint"],
        create_robot=True,
        usd_path="/Isaac/Robots/Jetbot/jetbot.usd",
        position=[0.0, 0.0, 0.01],
    )
    robot.initialize()
    assert robot.num_wheels == 2
    controller = DifferentialController("drive", wheel_radius=0.03, wheel_base=0.1125)
    assert isinstance(controller, BaseController)
    for _ in range(200):
        robot.apply_wheel_actions(controller.forward([0.2, 0.0]))
        robot.world.step(5)
    assert robot.get_linear_velocity()[0] == pytest.approx(0.2, abs=0.02)


def test_a_controller_of_your_own_derives_from_the_published_base() -> None:
    class Hold(BaseController):
        def forward(self, positions):
            return ArticulationAction(joint_positions=positions)

    hold = Hold("hold")
    hold.reset()
    assert (hold.name, hold.forward([1.0]).joint_positions) == ("hold", [1.0])


def test_mistakes_on_the_stage_are_typed(tmp_path) -> None:
    with pytest.raises(NotFoundError, match="no robot of the zoo replaces it"):
        stage_utils.add_reference_to_stage("/Assets/Toaster/toaster.usd", "/World/toaster")
    (tmp_path / "robot.usd").write_text("#usda 1.0", encoding="utf-8")
    with pytest.raises(FileError, match="give the robot as MJCF or URDF"):
        stage_utils.add_reference_to_stage(tmp_path / "robot.usd", "/World/robot")
    with pytest.raises(InputError, match="a prim path has the form"):
        stage_utils.add_reference_to_stage(FRANKA, "panda")
    with pytest.raises(StateError, match="the stage is empty"):
        _ = stage_utils.get_current_stage().world
    stage_utils.add_reference_to_stage(FRANKA, PANDA)
    with pytest.raises(InputError, match="already"):
        stage_utils.add_reference_to_stage(FRANKA, PANDA)
    with pytest.raises(NotFoundError, match="no robot at /World/pnda"):
        SingleArticulation("/World/pnda")
    with pytest.raises(NotFoundError, match="has no joint 'fr3_jont1'; did you mean 'fr3_joint1'"):
        stage_utils.get_current_stage().GetPrimAtPath(f"{PANDA}/fr3_jont1").CreateAttribute("a").Set(1.0)
    with pytest.raises(StateError, match="Call initialize"):
        SingleArticulation(PANDA).get_joint_positions()
    assert isinstance(stage_utils.get_current_stage().world.model, mujoco.MjModel)
    with pytest.raises(StateError, match="the stage was already started"):
        stage_utils.add_reference_to_stage(FRANKA, "/World/other")


# -- before initialize, and the world ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("apply_action", (ArticulationAction([0.0] * 9),)),
        ("set_joint_efforts", ([0.0] * 9,)),
        ("get_joint_positions", ()),
        ("set_joint_positions", ([0.0] * 9,)),
        ("get_joints_default_state", ()),
        ("get_applied_action", ()),
        ("get_applied_joint_efforts", ()),
        ("get_world_pose", ()),
        ("post_reset", ()),
        ("pause_motion", ()),
        ("disable_gravity", ()),
    ],
)
def test_calls_before_initialize_say_so(method: str, arguments: tuple) -> None:
    stage_utils.add_reference_to_stage(FRANKA, PANDA)
    robot = SingleArticulation(PANDA)
    with pytest.raises(StateError, match=r"[Cc]all initialize\(\) first"):
        getattr(robot, method)(*arguments)


def test_a_robot_has_its_controller_from_the_beginning_and_takes_a_view() -> None:
    stage_utils.add_reference_to_stage(FRANKA, PANDA)
    mine = ArticulationController()
    assert SingleArticulation(PANDA, articulation_controller=mine).get_articulation_controller() is mine
    robot = SingleArticulation(PANDA)
    controller = robot.get_articulation_controller()
    robot.initialize(None)
    assert robot.get_articulation_controller() is controller
    assert len(controller.get_applied_action().joint_positions) == 9


def test_both_fingers_take_gains_and_one_drive_has_them(prim) -> None:
    kps, kds = prim.get_articulation_controller().get_gains()
    kps[7:], kds[7:] = 500.0, 20.0
    prim.get_articulation_controller().set_gains(kps, kds)
    np.testing.assert_array_equal(prim.get_articulation_controller().get_gains()[0][7:], [500.0, 500.0])
    prim.apply_action(ArticulationAction(joint_positions=[0.0, 0.0], joint_indices=[7, 8]))
    prim.world.step(1500)
    np.testing.assert_allclose(prim.get_joint_positions()[7:], 0.0, atol=2e-3)


def test_a_wheeled_robot_without_wheels_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="give either wheel_dof_names or wheel_dof_indices"):
        WheeledRobot("/World/Nothing")


def test_a_published_script_drives_a_jetbot() -> None:
    world = World(stage_units_in_meters=1.0)
    assert World.instance() is world
    world.scene.add_default_ground_plane()
    jetbot = world.scene.add(
        WheeledRobot(
            prim_path="/World/Jetbot",
            name="fancy_robot",
            wheel_dof_names=["left_wheel_joint", "right_wheel_joint"],
            create_robot=True,
            usd_path="/Isaac/Robots/Jetbot/jetbot.usd",
        )
    )
    with pytest.raises(StateError, match=r"call reset\(\) first"):
        world.step()
    world.reset()
    controller = DifferentialController(name="simple_control", wheel_radius=0.03, wheel_base=0.1125)
    seen = []
    world.add_physics_callback("sim_step", seen.append)
    for _ in range(120):
        jetbot.apply_wheel_actions(controller.forward(command=[0.1, 0.0]))
        world.step(render=True)
    assert seen == [1 / 60] * 120
    assert world.current_time == pytest.approx(2.0)
    assert jetbot.world.data.time == pytest.approx(2.0)
    assert np.hypot(*jetbot.get_world_pose()[0][:2]) == pytest.approx(0.2, abs=0.03)
    assert world.scene.get_object("fancy_robot") is jetbot
    world.stop()
    assert jetbot.get_applied_action() is None
    world.step()
    assert world.current_time_step_index == 120
    world.reset()
    assert world.is_playing()
    assert jetbot.get_applied_action() is not None
    np.testing.assert_allclose(jetbot.get_world_pose()[0][:2], 0.0, atol=1e-6)


def test_a_robot_of_the_scene_is_an_articulation() -> None:
    world = World()
    stage_utils.add_reference_to_stage(FRANKA, PANDA)
    robot = world.scene.add(Robot(prim_path=PANDA, name="arm"))
    world.reset()
    robot.apply_action(ArticulationAction(joint_positions=[0.2], joint_indices=[0]))
    for _ in range(120):
        world.step()
    assert robot.get_joint_positions()[0] == pytest.approx(0.2, abs=5e-3)
    with pytest.raises(InputError, match="already has an object named 'arm'"):
        world.scene.add(Robot(prim_path=PANDA, name="arm"))
    with pytest.raises(NotFoundError, match="did you mean 'arm'"):
        world.scene.get_object("arms")


def test_the_experimental_controllers_take_keywords_and_return_arrays() -> None:
    speeds = experimental.DifferentialController(wheel_radius=0.03, wheel_base=0.1125).forward(np.array([0.3, 1.0]))
    np.testing.assert_allclose(speeds, (8.125, 11.875))
    car = experimental.AckermannController(wheel_base=1.65, track_width=1.25, front_wheel_radius=0.25)
    same = AckermannController("car", wheel_base=1.65, track_width=1.25, front_wheel_radius=0.25)
    angles, wheels = car.forward([0.2, 0.0, 1.0, 0.0, 0.05])
    action = same.forward([0.2, 0.0, 1.0, 0.0, 0.05])
    np.testing.assert_array_equal(angles, action.joint_positions)
    np.testing.assert_array_equal(wheels, action.joint_velocities)
    with pytest.raises(TypeError):
        experimental.DifferentialController(0.03, 0.1125)


@pytest.mark.parametrize("missing", ["wheel_radius", "wheel_positions", "wheel_orientations", "mecanum_angles"])
def test_a_missing_setting_of_an_experimental_controller_is_a_value_error(missing: str) -> None:
    from handloom.compat.isaacsim.robot.experimental.wheeled_robots import controllers

    settings = {
        "wheel_radius": [0.1] * 4,
        "wheel_positions": [[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]],
        "wheel_orientations": [[1, 0, 0, 0]] * 4,
        "mecanum_angles": [45, 135, 135, 45],
    }
    whole = controllers.HolonomicController(**settings)
    before = whole.forward([1.0, 0.0, 0.0])
    whole.build_base()
    assert np.array_equal(whole.forward([1.0, 0.0, 0.0]), before)
    with pytest.raises(ValueError, match=f"HolonomicController needs {missing}"):
        controllers.HolonomicController(**{key: value for key, value in settings.items() if key != missing})
    with pytest.raises(ValueError, match="needs track_width"):
        controllers.AckermannController(wheel_base=1.0)
    with pytest.raises(ValueError, match="needs wheel_radius, wheel_base"):
        controllers.DifferentialController()


def test_the_experimental_robot_is_found_when_it_is_driven() -> None:
    robot = ExperimentalRobot(
        paths="/World/Jetbot",
        wheel_dof_names=["left_wheel_joint", "right_wheel_joint"],
        usd_path="/Isaac/Robots/Jetbot/jetbot.usd",
        positions=np.array([1.0, 2.0, 0.0], dtype=np.float32),
    )
    robot.apply_wheel_actions(np.array([[3.0, 3.0]], dtype=np.float32))
    robot.world.step(500)
    np.testing.assert_allclose(robot.get_wheel_velocities(), 3.0, atol=0.1)
    np.testing.assert_allclose(robot.get_world_pose()[0][:2], (1.0, 2.0), atol=0.15)
    assert robot.get_world_pose()[0][0] > 1.03
