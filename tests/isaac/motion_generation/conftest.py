"""A small arm written here, and the description of a robot that ships."""

from pathlib import Path

import pytest

from handloom.isaac.motion_generation import load_supported_motion_policy_config

URDF = """<robot name="three">
  <link name="base"/><link name="one"/><link name="two"/><link name="three"/><link name="tip"/><link name="jaw"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="one"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="2" effort="0"/></joint>
  <joint name="j2" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0 0 0.1" rpy="0.1 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="2" effort="0"/></joint>
  <joint name="j3" type="prismatic"><parent link="two"/><child link="three"/><origin xyz="0.3 0 0" rpy="0 0.4 0.2"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.3" velocity="1" effort="0"/></joint>
  <joint name="tip_joint" type="fixed"><parent link="three"/><child link="tip"/><origin xyz="0.1 0 0.02"/></joint>
  <joint name="jaw_joint" type="prismatic"><parent link="tip"/><child link="jaw"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" velocity="1" effort="0"/></joint>
</robot>
"""
LULA = """api_version: 1.0
cspace: [j1, j2, j3]
root_link: base
default_q: [0.1, 0.2, 0.1]
acceleration_limits: [10, 10, 5]
jerk_limits: [5000, 5000, 2500]
cspace_to_urdf_rules: [{name: jaw_joint, rule: fixed, value: 0.03}]
collision_spheres:
  - one: [{center: [0, 0, 0.05], radius: 0.06}]
  - three: [{center: [0, 0, 0], radius: 0.05}, {center: [0.1, 0, 0], radius: 0.04}]
"""
XRDF = """format: xrdf
format_version: 1.0
modifiers:
  - add_frame: {frame_name: camera, parent_frame_name: tip, joint_name: c, joint_type: FIXED,
      fixed_transform: {position: [0, 0, 0.1], orientation: {w: 1, xyz: [0, 0, 0]}}}
default_joint_positions: {j1: 0.1, j2: 0.2, j3: 0.1, jaw_joint: 0.03}
cspace: {joint_names: [j1, j2, j3], acceleration_limits: [10, 10, 5], jerk_limits: [5000, 5000, 2500]}
tool_frames: [tip]
collision: {geometry: all, buffer_distance: {one: 0.01}}
self_collision: {geometry: all, ignore: {one: [two]}}
geometry:
  arm: {spheres: {one: [{center: [0, 0, 0.05], radius: 0.05}]}}
  all: {clone: [arm], spheres: {three: [{center: [0, 0, 0], radius: 0.05}, {center: [0.1, 0, 0], radius: 0.04}]}}
"""


@pytest.fixture
def arm_files(tmp_path) -> dict[str, Path]:
    """Return URDF, Lula description and XRDF of an arm with two hinges, a slide joint and a jaw."""
    files = {"urdf": URDF, "yaml": LULA, "xrdf": XRDF}
    for ending, text in files.items():
        (tmp_path / f"arm.{ending}").write_text(text)
    return {ending: tmp_path / f"arm.{ending}" for ending in files}


@pytest.fixture(scope="session")
def fr3_policy_files() -> dict:
    """Return the arguments of an RMPflow policy of the FR3."""
    files = load_supported_motion_policy_config("fr3")
    assert files is not None
    return files


@pytest.fixture(scope="session")
def published_franka() -> Path:
    """Return the folder with the published Franka files, kept outside this repository."""
    for folder in Path(__file__).resolve().parents:
        found = folder / "shared" / "data" / "isaac_franka"
        if found.is_dir():
            return found
    pytest.skip("the published Franka files (robot_descriptor.yaml, ...) are not beside this checkout")


@pytest.fixture
def fr3_world():
    """Return a world with the FR3 at home."""
    import mujoco

    from handloom.isaac.articulation import add_drive_inputs
    from handloom.robots import load_robot
    from handloom.sim import World

    robot = load_robot("fr3")
    spec = robot.spec()
    add_drive_inputs(spec)
    world = World(spec.compile())
    for name, value in robot.home.items():
        world.data.joint(robot.resolve_joint(name)).qpos[0] = value
    mujoco.mj_forward(world.model, world.data)
    return world
