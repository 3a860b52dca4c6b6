"""Description files: what they say is what is loaded; mistakes are named with file and element."""

import re

import mujoco
import numpy as np
import pytest

from handloom.errors import ConfigError, FileError
from handloom.isaac.motion_generation import load_motion_robot
from handloom.isaac.motion_generation.descriptions.describe_robot import fewer_spheres, write_description
from handloom.isaac.motion_generation.descriptions.supported_robots import get_supported_robots_with_lula_kinematics
from handloom.robots import load_robot


def test_a_lula_description_gives_joints_limits_spheres_and_held_joints(arm_files):
    robot = load_motion_robot(arm_files["yaml"], arm_files["urdf"])
    assert robot.joint_names == ("j1", "j2", "j3")
    np.testing.assert_array_equal(robot.velocity, [2, 2, 1])
    np.testing.assert_array_equal(robot.acceleration, [10, 10, 5])
    np.testing.assert_array_equal(robot.spheres["three"], [[0, 0, 0, 0.05], [0.1, 0, 0, 0.04]])
    jaw = robot.T_base_frame(robot.default_q, "jaw") @ [0, 0, 0, 1]
    tip = robot.T_base_frame(robot.default_q, "tip")
    np.testing.assert_allclose(jaw[:3], (tip @ [0, 0.03, 0, 1])[:3], atol=1e-12)


def test_an_xrdf_file_adds_frames_buffers_and_cloned_groups(arm_files):
    robot = load_motion_robot(arm_files["xrdf"], arm_files["urdf"])
    assert robot.tool_frames == ("tip",)
    assert "camera" in robot.frame_names
    np.testing.assert_allclose(robot.spheres["one"], [[0, 0, 0.05, 0.06]])
    assert len(robot.spheres["three"]) == 2
    same = load_motion_robot(arm_files["yaml"], arm_files["urdf"])
    np.testing.assert_allclose(robot.default_q, same.default_q)


def test_both_kinds_of_file_agree_with_mujoco_on_kinematics(arm_files):
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = re.sub(r'<link name="(\w+)"/>', rf'<link name="\1">{mass}</link>', arm_files["urdf"].read_text())
    unfused = '<robot name="three"><mujoco><compiler fusestatic="false"/></mujoco>'
    model = mujoco.MjModel.from_xml_string(text.replace('<robot name="three">', unfused))
    data = mujoco.MjData(model)
    robot = load_motion_robot(arm_files["yaml"], arm_files["urdf"])
    for q in np.random.default_rng(0).uniform(robot.lower, robot.upper, (20, 3)):
        for name, value in zip(robot.joint_names, q, strict=True):
            data.joint(name).qpos[0] = value
        data.joint("jaw_joint").qpos[0] = 0.03
        mujoco.mj_kinematics(model, data)
        for frame in ("one", "three", "tip", "jaw"):
            T = robot.T_base_frame(q, frame)
            np.testing.assert_allclose(T[:3, 3], data.body(frame).xpos, atol=1e-9)
            np.testing.assert_allclose(T[:3, :3], data.body(frame).xmat.reshape(3, 3), atol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('type="prismatic"><parent link="two"', 'type="floating"><parent link="two"', "'j3'.*'floating'"),
        ('<child link="two"/>', '<child link="nowhere"/>', "'j2'.*child 'nowhere'"),
        ('xyz="0.3 0 0"', 'xyz="0.3 0"', "'j3'.*xyz='0.3 0'.*three numbers"),
        ('<axis xyz="0 1 0"/><limit lower="-2"', '<axis xyz="0 0 0"/><limit lower="-2"', "'j2'.*axis.*length zero"),
        ('lower="-2" upper="2"', 'lower="2" upper="-2"', "'j2'.*lower 2.0 above upper -2.0"),
        ('upper="0.3"', 'upper="far"', "'j3'.*upper='far'.*number"),
        ("</robot>", "", ":[0-9]+: not valid XML"),
        ('<link name="jaw"/>', '<link name="jaw"/><link name="loose"/>', "one root link.*loose"),
    ],
)
def test_mistakes_in_a_urdf_name_the_file_and_the_element(arm_files, old, new, said):
    text = arm_files["urdf"].read_text()
    assert old in text
    arm_files["urdf"].write_text(text.replace(old, new))
    with pytest.raises(FileError, match=f"(?s)arm.urdf.*{said}"):
        load_motion_robot(arm_files["yaml"], arm_files["urdf"])


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("yaml", "default_q: [0.1, 0.2, 0.1]", "default_q: [0.1]", "default_q has 1 values for 3 joints"),
        ("yaml", "root_link: base", "root_link: bse", "no link of .* named 'bse'; did you mean 'base'"),
        ("yaml", "[j1, j2, j3]", "[j1, j2, j4]", "no joint of .* named 'j4'"),
        ("yaml", "radius: 0.06", "radius: -0.06", "'one' has radius -0.06"),
        ("yaml", "cspace:", "c_space:", "c_space.*cspace"),
        ("yaml", "[j1, j2, j3]", "[j1, j2, tip_joint]", "'tip_joint' is fixed"),
        ("xrdf", "format_version: 1.0", "format_version: 7.0", "format_version"),
        ("xrdf", "clone: [arm]", "clone: [all]", "cycle: all > all"),
        ("xrdf", "geometry: all, buffer", "geometry: non, buffer", "no geometry group named 'non'"),
        ("xrdf", "{one: 0.01}", "{one: -0.5}", "radius 0.05 with buffer -0.5"),
        ("xrdf", "tool_frames: [tip]", "tool_frames: [tpi]", "no tool frame named 'tpi'"),
        ("xrdf", "acceleration_limits: [10, 10, 5]", "acceleration_limits: [10, 10]", "has 2 values for 3 joints"),
        ("xrdf", "acceleration_limits: [10, 10, 5]", "acceleration_limits: [10, 0, 5]", "greater than 0"),
        ("xrdf", "parent_frame_name: tip", "parent_frame_name: tap", "no frame of .* named 'tap'"),
    ],
)
def test_mistakes_in_a_description_name_the_file_and_the_key(arm_files, kind, old, new, said):
    text = arm_files[kind].read_text()
    assert old in text
    arm_files[kind].write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=f"(?s)arm.{kind}.*{said}"):
        load_motion_robot(arm_files[kind], arm_files["urdf"])


def test_fewer_spheres_contain_the_given_ones():
    rng = np.random.default_rng(0)
    centres, radii = rng.uniform(-0.1, 0.1, (200, 3)), rng.uniform(0.005, 0.04, 200)
    kept, grown = fewer_spheres(centres, radii, 0.01)
    assert len(kept) < 120
    apart = np.linalg.norm(centres[:, None] - kept[None], axis=2) + radii[:, None]
    assert np.all((apart <= grown[None] + 1e-9).any(axis=1))


@pytest.mark.parametrize("ending", ["xrdf", "yaml"])
@pytest.mark.parametrize("name", get_supported_robots_with_lula_kinematics())
def test_a_described_robot_moves_as_its_model_does(name, ending, tmp_path):
    source = load_robot(name)
    robot = load_motion_robot(*write_description(source, tmp_path / f"{name}.{ending}", tolerance=0.05))
    assert robot.spheres
    model, data = source.model, mujoco.MjData(source.model)
    for j in range(model.njnt):
        data.qpos[model.jnt_qposadr[j]] = robot.reference[robot.model.joint(model.joint(j).name).qposadr[0]]
    lower, upper = np.maximum(robot.lower, -3), np.minimum(robot.upper, 3)
    for q in np.random.default_rng(0).uniform(lower, upper, (4, robot.dof)):
        for joint, value in zip(robot.joint_names, q, strict=True):
            data.joint(joint).qpos[0] = value
        mujoco.mj_kinematics(model, data)
        for arm in source.arms:
            T = robot.T_base_frame(q, arm.tool_body)
            np.testing.assert_allclose(T[:3, 3], data.body(arm.tool_body).xpos, atol=1e-8)
            np.testing.assert_allclose(T[:3, :3], data.body(arm.tool_body).xmat.reshape(3, 3), atol=1e-8)
