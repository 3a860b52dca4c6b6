"""Names, time, faults, poses."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.errors import ConfigError, HandloomError, InputError, NotFoundError, StateError
from handloom.sim import World
from handloom.spatial import translation


@pytest.fixture
def world(pile_xml: str) -> World:
    return World.from_xml_string(pile_xml)


def test_every_kind_of_name_is_bound_to_the_index_the_model_has(world: World) -> None:
    model = world.model
    assert world.body_index("arm") == model.body("arm").id
    assert world.joint_index("hinge") == model.joint("hinge").id
    assert world.qpos_index("hinge") == model.joint("hinge").qposadr[0]
    assert world.dof_index("hinge") == model.joint("hinge").dofadr[0]
    assert world.actuators["servo"] == world.ctrl_index("servo") == 0
    assert world.geom_index("floor") == model.geom("floor").id
    assert world.sites["tip"] == model.site("tip").id
    assert world.cameras["eye"] == model.camera("eye").id
    assert world.subtree("arm") == ("arm",)
    assert world.subtree("world")[:2] == ("world", "box0")


@pytest.mark.parametrize("kind", ["body", "joint", "qpos", "dof", "ctrl", "geom"])
def test_an_unknown_name_is_a_not_found_error(world: World, kind: str) -> None:
    with pytest.raises(NotFoundError, match="named 'armm'"):
        getattr(world, f"{kind}_index")("armm")


@pytest.mark.parametrize("kind", ["actuators", "sites", "cameras", "equalities", "keyframes"])
def test_an_unknown_name_in_a_table_is_a_not_found_error(world: World, kind: str) -> None:
    with pytest.raises(NotFoundError, match="named 'armm'"):
        getattr(world, kind)["armm"]


def test_a_misspelt_name_gets_a_suggestion(world: World) -> None:
    with pytest.raises(NotFoundError, match="no body named 'armm'; did you mean 'arm'"):
        world.body_index("armm")


def test_time_advances_by_whole_steps(world: World) -> None:
    assert (world.time, world.timestep) == (0.0, 0.002)
    world.step()
    world.step(4)
    assert world.time == pytest.approx(0.01)
    with pytest.raises(InputError, match="count >= 1"):
        world.step(0)


def test_poses_and_velocities_are_those_of_the_present_state(world: World) -> None:
    world.step(37)
    poses = [world.body_pose("box3"), world.site_pose("tip"), world.camera_pose("eye")]
    velocity = world.body_velocity("arm")
    world.forward()
    for now, then in zip(
        [world.body_pose("box3"), world.site_pose("tip"), world.camera_pose("eye")], poses, strict=True
    ):
        np.testing.assert_array_equal(now, then)
    np.testing.assert_array_equal(world.body_velocity("arm"), velocity)


def test_body_velocity_is_the_derivative_of_the_pose(world: World) -> None:
    world.step(20)
    before = world.body_pose("box5")
    world.step()
    change = (world.body_pose("box5")[:3, 3] - before[:3, 3]) / world.timestep
    np.testing.assert_allclose(world.body_velocity("box5")[:3], change, atol=1e-9)


def test_camera_pose_has_opencv_axes(world: World) -> None:
    T_world_camera = world.camera_pose("eye")
    np.testing.assert_allclose(T_world_camera[:3, 2], [0, 1, 0], atol=1e-12)  # It looks along +y ...
    np.testing.assert_allclose(T_world_camera[:3, 1], [0, 0, -1], atol=1e-12)  # ... and image y points down.


def test_joints_are_read_by_name_and_free_joints_are_refused(world: World) -> None:
    world.step(30)
    assert world.joint_position("hinge") == world.data.qpos[-1]
    assert world.joint_velocity("hinge") == world.data.qvel[-1]
    with pytest.raises(InputError, match="free or ball joint"):
        world.joint_position("free0")


def test_a_free_body_is_placed_and_a_fixed_one_refused(world: World) -> None:
    world.step(10)
    world.set_body_pose("box2", translation([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(world.body_pose("box2"), translation([1.0, 2.0, 3.0]), atol=1e-15)
    np.testing.assert_array_equal(world.body_velocity("box2"), np.zeros(6))
    with pytest.raises(InputError, match="neither a free joint nor mocap"):
        world.set_body_pose("arm", np.eye(4))


def test_reset_goes_to_the_start_or_to_a_keyframe(world: World) -> None:
    start = world.state_hash()
    world.step(50)
    world.reset()
    assert world.state_hash() == start
    world.reset("raised")
    assert world.joint_position("hinge") == 0.5
    with pytest.raises(NotFoundError, match="no keyframe named 'rased'; did you mean 'raised'"):
        world.reset("rased")


def test_an_unstable_simulation_says_which_joint_and_when(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo left to itself writes a log file where it runs.
    world = World.from_xml_string(
        """<mujoco><option timestep="0.002"/><worldbody>
        <body pos="1 0 1"><freejoint name="free"/><geom type="sphere" size=".1"/></body>
        <body><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
        </worldbody></mujoco>"""
    )
    world.step(5)
    good = world.save_state()
    world.data.qfrc_applied[6] = 1e14
    with pytest.raises(
        StateError, match=r"from t=0.01 s: the acceleration of dof 6, joint 'hinge', is infinite, NaN or huge"
    ):
        world.step(10)
    assert world.time == pytest.approx(0.012)  # It stops in the step that failed and does not start anew.
    world.restore_state(good)
    world.step(10)
    world.data.qpos[7] = np.nan
    with pytest.raises(StateError, match="the position at qpos 7, joint 'hinge'"):
        world.step()
    assert not list(tmp_path.iterdir())
    world.reset()
    world.step()


def test_a_control_that_is_not_a_number_is_an_error(world: World, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    world.data.ctrl[0] = np.nan
    with pytest.raises(StateError, match="control 0 is not finite"):
        world.step()


@pytest.mark.parametrize("flag", ["sleep", "ipc"])
def test_models_whose_state_is_not_whole_are_refused(flag: str) -> None:
    integrator = "discrete" if flag == "ipc" else "implicitfast"
    text = f'<mujoco><option integrator="{integrator}"><flag {flag}="enable"/></option></mujoco>'
    with pytest.raises(InputError, match=f'enables "{flag}"'):
        World.from_xml_string(text)


def test_a_faulty_model_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco>\n<worldbody>\n<geom/>\n</worldbody></mujoco>")
    with pytest.raises(ConfigError, match=r"broken.xml: .*size 0 must be positive"):
        World.from_xml_path(path)
    with pytest.raises(ConfigError, match=r"missing\.xml"):
        World.from_xml_path(tmp_path / "missing.xml")
    with pytest.raises(HandloomError, match="size 0 must be positive"):
        World.from_xml_string(path.read_text())


def test_a_spec_that_does_not_compile_is_a_config_error() -> None:
    spec = mujoco.MjSpec()
    spec.modelname = "table"
    spec.worldbody.add_geom()
    with pytest.raises(ConfigError, match="table: "):
        World.from_spec(spec)
