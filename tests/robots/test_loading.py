"""A robot is data: by name, by folder, by published file, and wrong files say where."""

import shutil

import mujoco
import numpy as np
import pytest
import yaml

from handloom.config import unused_keys
from handloom.errors import ConfigError, NotFoundError
from handloom.robots import TARGET_CLASSES, load_robot, robot_names
from handloom.robots.load import ZOO_FOLDER

# Keys of the published robot files; everything else in our files is our own.
PUBLISHED = {
    "target_class",
    "path",
    "robot_file",
    "gripper_max_width",
    "gripper_min_width",
    "tcp_offset",
    "solver_position_iteration_count",
    "solver_velocity_iteration_count",
    "stabilization_threshold",
    "left_joint_indices",
    "left_gripper_indices",
    "fl_ee_path",
    "fl_base_path",
    "fl_gripper_keypoints",
    "fl_filter_paths",
    "fl_forbid_collision_paths",
    "R_ee_graspnet",
    "ee_axis",
    "left_joint_home",
    "left_joint_home_std",
    "left_gripper_home",
    "right_joint_indices",
    "right_gripper_indices",
    "fr_ee_path",
    "fr_base_path",
    "fr_gripper_keypoints",
    "fr_filter_paths",
    "fr_forbid_collision_paths",
    "right_joint_home",
    "right_joint_home_std",
    "right_gripper_home",
    "lift_indices",
    "lift_home",
}


def read(name: str) -> dict:
    return yaml.safe_load((ZOO_FOLDER / name / "robot.yaml").read_text())


@pytest.fixture
def folder(tmp_path):
    """A copy of the FR3 outside the package."""
    shutil.copytree(ZOO_FOLDER, tmp_path / "zoo")
    return tmp_path / "zoo" / "fr3"


def change(folder, **keys):
    values = yaml.safe_load((folder / "robot.yaml").read_text())
    (folder / "robot.yaml").write_text(yaml.safe_dump({**values, **keys}))


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_of_the_zoo_loads_with_all_names_resolved(name):
    robot = load_robot(name)
    model = robot.spec().compile()
    for arm in robot.arms:
        assert len(arm.joint_names) == len(arm.home) == len(arm.home_std)
        assert len(arm.gripper_actuators) == len(arm.gripper_open) == len(arm.gripper_closed)
        for body in (arm.base_body, arm.tool_body, *arm.finger_bodies, *arm.forbidden_bodies):
            model.body(body)
        np.testing.assert_allclose(arm.R_ee_graspnet @ arm.R_ee_graspnet.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(arm.R_ee_graspnet) > 0
        np.testing.assert_allclose(arm.R_ee_graspnet[:, 0], arm.approach, atol=1e-12)


@pytest.mark.parametrize("name", robot_names())
def test_every_joint_of_the_model_stands_in_dof_names_or_has_a_home(name):
    robot = load_robot(name)
    model = robot.spec().compile()
    known = {robot.resolve_joint(joint) for joint in (*robot.config.dof_names, *robot.home)}
    free = mujoco.mjtJoint.mjJNT_FREE
    assert {model.joint(i).name for i in range(model.njnt) if model.jnt_type[i] != free} <= known


def test_a_folder_outside_the_package_loads_the_same_way(folder):
    ours, theirs = load_robot("fr3"), load_robot(folder)
    assert theirs.config == ours.config
    assert theirs.folder == folder
    assert theirs.spec().compile().nq == ours.spec().compile().nq


@pytest.mark.parametrize("target_class", sorted(TARGET_CLASSES))
def test_a_published_file_is_completed_from_the_zoo(tmp_path, target_class):
    name = TARGET_CLASSES[target_class]
    published = {key: value for key, value in read(name).items() if key in PUBLISHED}
    published["tcp_offset"] = 0.11
    file = tmp_path / "published.yaml"
    file.write_text(yaml.safe_dump(published))
    robot = load_robot(file)
    assert robot.arms[0].joint_names == load_robot(name).arms[0].joint_names
    assert robot.arms[0].tcp_offset == 0.11


def test_keys_without_effect_are_reported():
    lines = unused_keys(load_robot("fr3").config)
    assert {line.split()[0] for line in lines} == {
        "path",
        "robot_file",
        "solver_position_iteration_count",
        "solver_velocity_iteration_count",
        "stabilization_threshold",
    }


def test_overrides_replace_keys():
    assert load_robot("fr3", overrides={"tcp_offset": 0.2}).arms[0].tcp_offset == 0.2
    with pytest.raises(ConfigError, match=r"override of .*tcp_ofset: unknown key, did you mean 'tcp_offset'"):
        load_robot("fr3", overrides={"tcp_ofset": 0.2})


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(NotFoundError, match=r"no robot.*'f3'; did you mean 'fr3'"):
        load_robot("f3")


def test_indices_that_disagree_with_the_names_are_refused(folder):
    change(folder, left_joint_indices=[0, 1, 2, 3, 4, 6, 5])
    with pytest.raises(ConfigError, match=r"left_joint_indices .* but left_joint_names is"):
        load_robot(folder)
    change(folder, left_joint_indices=[0, 1, 2, 3, 4, 5, 60])
    with pytest.raises(ConfigError, match=r"outside dof_names, which has 9 entries"):
        load_robot(folder)


def test_an_unknown_body_joint_or_site_is_named(folder):
    change(folder, fl_ee_path="fr3/panda_hnd")
    with pytest.raises(ConfigError, match=r"'fr3/panda_hnd' names no body"):
        _ = load_robot(folder).arms
    change(folder, fl_ee_path="fr3/panda_hand", fl_tcp_site="tpc")
    with pytest.raises(ConfigError, match=r"no site 'tpc'.*did you mean 'tcp'"):
        _ = load_robot(folder).arms


def test_lists_of_different_length_are_refused(folder):
    change(folder, left_joint_home=[0.0, 0.0])
    with pytest.raises(ConfigError, match=r"left_joint_home has 2 entries, left_joint_names has 7"):
        load_robot(folder)
