"""A model somebody else wrote becomes a robot folder that passes every check."""

import shutil

import numpy as np
import pytest

from handloom.cache import user_cache
from handloom.errors import ConfigError, FileError, InputError, NotAllowedError
from handloom.isaac.articulation import TemplateRobot, robot_class
from handloom.robots import load_robot, robot_names
from handloom.robots.checks import RobotAtHome, check_robot
from handloom.robots.proposal import propose_robot, reachable_points, write_proposal

SLOW = pytest.mark.slow
ROBOTS = [pytest.param(name, marks=() if name == "fr3" else SLOW) for name in robot_names() if load_robot(name).arms]

LINK = """<link name="{name}"><inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 {z}"/><geometry><box size="0.06 0.06 {length}"/></geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 {z}"/>
<axis xyz="{axis}"/><limit lower="-2.8" upper="2.8" effort="60" velocity="2"/></joint>"""
FINGER = """<link name="{name}"><inertial><mass value="0.05"/>
<inertia ixx="2e-5" iyy="2e-5" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 {side} 0.03"/><geometry><box size="0.02 0.01 0.06"/></geometry></collision></link>
<joint name="{name}_slide" type="prismatic"><parent link="hand"/><child link="{name}"/><origin xyz="0 0 0.06"/>
<axis xyz="0 {axis} 0"/><limit lower="0" upper="0.04" effort="40" velocity="0.2"/></joint>"""


def urdf() -> str:
    """A six-joint arm with a parallel gripper, as a file without actuators would describe it."""
    axes = ["0 0 1", "0 1 0", "0 1 0", "0 0 1", "0 1 0", "0 0 1"]
    lengths = [0.15, 0.30, 0.25, 0.10, 0.10, 0.12]
    parts = [LINK.format(name="base", z=0.05, mass=3, length=0.08)]
    parent, height = "base", 0.12
    for i, (axis, length) in enumerate(zip(axes, lengths, strict=True)):
        name = "hand" if i == 5 else f"link{i + 1}"
        parts.append(LINK.format(name=name, z=length / 2, mass=1.5 - 0.2 * i, length=length - 0.06))
        parts.append(JOINT.format(name=f"joint{i + 1}", parent=parent, child=name, z=height, axis=axis))
        parent, height = name, length + 0.02
    parts.append(FINGER.format(name="finger_a", side=0.005, axis=1))
    parts.append(FINGER.format(name="finger_b", side=-0.005, axis=-1))
    return f'<robot name="six">{"".join(parts)}</robot>'


JAW = """<link name="gripper"><inertial><origin xyz="0.012 0 0.04"/><mass value="0.03"/>
<inertia ixx="2e-5" iyy="2e-5" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.01 0 0.05"/><geometry><box size="0.008 0.03 0.09"/></geometry></collision></link>
<joint name="joint7" type="revolute"><parent link="hand"/><child link="gripper"/><origin xyz="0.02 0 0.07"/>
<axis xyz="0 1 0"/><limit lower="-0.2" upper="1.5" effort="20" velocity="4"/></joint>"""
FIXED_JAW = (
    """<collision><origin xyz="-0.01 0 0.12"/><geometry><box size="0.01 0.03 0.1"/></geometry></collision></link>"""
)
CURVED = """<link name="{name}"><inertial><origin xyz="0 0 0.03"/><mass value="0.05"/>
<inertia ixx="2e-5" iyy="2e-5" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 0.025"/><geometry><box size="0.016 0.012 0.05"/></geometry></collision></link>
<joint name="{name}" type="revolute"><parent link="hand"/><child link="{name}"/>
<origin xyz="{x} {y} 0.06" rpy="0 0 {turn}"/>
<axis xyz="1 0 0"/><limit lower="0" upper="1.2" effort="4" velocity="2"/></joint>
<link name="{name}_tip"><inertial><origin xyz="0 0 0.02"/><mass value="0.03"/>
<inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 0.02"/><geometry><box size="0.016 0.01 0.04"/></geometry></collision></link>
<joint name="{name}_tip" type="revolute"><parent link="{name}"/><child link="{name}_tip"/><origin xyz="0 0 0.05"/>
<axis xyz="1 0 0"/><limit lower="0" upper="1" effort="5" velocity="2"/></joint>"""


def bare() -> str:
    """The same arm without its fingers."""
    return urdf().partition('<link name="finger_a">')[0] + "</robot>"


def with_jaw() -> str:
    """An arm whose last joint, called like the others, turns a jaw against the hand: as that of the Koch v1.1."""
    hand, _, rest = bare().partition('<link name="hand">')
    body, _, joints = rest.partition("</link>")
    return f'{hand}<link name="hand">{body}{FIXED_JAW}{joints.removesuffix("</robot>")}{JAW}</robot>'


def with_three_fingers() -> str:
    """One finger across from two, each of two joints, without actuators: as that of a Jaco."""
    places = (("finger_1", 0.0, 0.045, 0.0), ("finger_2", 0.02, -0.045, np.pi), ("finger_3", -0.02, -0.045, np.pi))
    fingers = [CURVED.format(name=name, x=x, y=y, turn=turn) for name, x, y, turn in places]
    return bare().removesuffix("</robot>") + "".join(fingers) + "</robot>"


@pytest.mark.parametrize("name", ROBOTS)
def test_a_model_alone_gives_back_the_robot(tmp_path, name):
    known = load_robot(name)
    found = load_robot(write_proposal(propose_robot(known.model_file), tmp_path / name))
    assert check_robot(found).ok, check_robot(found).table()
    assert [arm.joint_names for arm in found.arms] == [arm.joint_names for arm in known.arms]
    here, there = RobotAtHome.build(known), RobotAtHome.build(found)
    for mine, theirs in zip(known.arms, found.arms, strict=True):
        assert theirs.gripper_joint_names[0] in mine.gripper_joint_names
        assert theirs.gripper_max_width == pytest.approx(mine.gripper_max_width, rel=0.05)
        # The tool centre lies within the pads, and the approach is the published one.
        hand = known.arm(mine.name).tool_body
        T_known = here.site_in_body(mine.tcp_site, hand)
        T_found = there.site_in_body(theirs.tcp_site, hand)
        assert np.linalg.norm(T_found[:3, 3] - T_known[:3, 3]) < 0.03
        assert T_found[:3, 2] @ mine.approach > 0.95


def test_a_urdf_becomes_a_robot_that_holds_a_cube(tmp_path):
    file = tmp_path / "six.urdf"
    file.write_text(urdf())
    proposal = propose_robot(file)
    assert proposal.values["left_joint_names"] == [f"joint{i}" for i in range(1, 7)]
    assert any("follows" in note for note in proposal.notes)
    robot = load_robot(write_proposal(proposal, tmp_path / "six"))
    report = check_robot(robot)
    assert report.ok, report.table()
    assert robot.arms[0].gripper_max_width == pytest.approx(0.08, abs=1e-3)
    assert robot_class(robot.config.target_class) is TemplateRobot
    points = reachable_points(robot, np.random.default_rng(0), samples=300)["left"]
    assert len(points) > 30
    assert np.ptp(points, axis=0).min() > 0.5


def test_a_jaw_whose_joint_is_called_like_the_arms_is_found(tmp_path):
    (file := tmp_path / "koch.urdf").write_text(with_jaw())
    proposal = propose_robot(file)
    assert proposal.values["left_joint_names"] == [f"joint{i}" for i in range(1, 7)]
    assert proposal.values["left_gripper_names"] == ["joint7"]
    report = check_robot(load_robot(write_proposal(proposal, tmp_path / "koch")))
    assert report.ok, report.table()


def test_three_fingers_without_actuators_close_together_and_hold_a_cube(tmp_path):
    (file := tmp_path / "jaco.urdf").write_text(with_three_fingers())
    proposal = propose_robot(file)
    assert any("finger_2, finger_3 follow finger_1" in note for note in proposal.notes), proposal.notes
    report = check_robot(load_robot(write_proposal(proposal, tmp_path / "jaco")))
    assert report.ok, report.table()


def test_an_arm_without_a_gripper_says_how_one_is_given(tmp_path):
    (file := tmp_path / "bare.urdf").write_text(bare())
    with pytest.raises(ConfigError, match=r"found no gripper .*--gripper FILE --at hand"):
        propose_robot(file)


def test_a_robot_folder_is_not_overwritten_unasked(tmp_path):
    file = tmp_path / "six.urdf"
    file.write_text(urdf())
    proposal = propose_robot(file)
    write_proposal(proposal, tmp_path / "six")
    with pytest.raises(InputError, match="already contains a robot"):
        write_proposal(proposal, tmp_path / "six")
    write_proposal(proposal, tmp_path / "six", overwrite=True)


def test_mesh_files_travel_with_the_model(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "tetra.obj").write_text(
        "v 0 0 0\nv 0.05 0 0\nv 0 0.05 0\nv 0 0 0.05\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    file = tmp_path / "source" / "arm.xml"
    text = (load_robot("so101").model_file).read_text()
    text = text.replace("<asset>", '<asset><mesh name="tetra" file="tetra.obj"/>')
    text = text.replace(
        '<body name="shoulder"', '<geom type="mesh" mesh="tetra" class="so101_visual"/><body name="shoulder"'
    )
    file.write_text(text)
    folder = write_proposal(propose_robot(file), tmp_path / "robot")
    assert (folder / "assets" / "tetra.obj").is_file()
    assert load_robot(folder).compile().nmesh == 1


def test_meshes_elsewhere_need_a_word_of_the_user_and_are_copied_then(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDLOOM_CACHE", str(user_cache()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "downloads").mkdir(parents=True)
    (tmp_path / "tetra.obj").write_text(
        "v 0 0 0\nv 0.05 0 0\nv 0 0.05 0\nv 0 0 0.05\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    file = tmp_path / "home" / "downloads" / "arm.xml"
    text = load_robot("so101").model_file.read_text()
    text = text.replace("<asset>", '<asset><mesh name="tetra" file="../../tetra.obj"/>')
    text = text.replace(
        '<body name="shoulder"', '<geom type="mesh" mesh="tetra" class="so101_visual"/><body name="shoulder"'
    )
    file.write_text(text)
    with pytest.raises(NotAllowedError, match=r"tetra.obj lies outside .* --allow-outside"):
        propose_robot(file)
    folder = write_proposal(propose_robot(file, allow_outside=True), tmp_path / "home" / "robot")
    assert load_robot(folder).compile().nmesh == 1


@pytest.mark.parametrize("key", ["model: ../../model.xml", "base: ../../robot.yaml"])
def test_a_robot_folder_does_not_lead_out(tmp_path, monkeypatch, key):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    zoo = load_robot("so101").folder
    for name in ("model.xml", "robot.yaml"):
        shutil.copy(zoo / name, tmp_path / name)
    folder = tmp_path / "home" / "arm"
    shutil.copytree(zoo, folder)
    text = (folder / "robot.yaml").read_text()
    (folder / "robot.yaml").write_text("\n".join(line for line in text.splitlines() if not line.startswith("model:")))
    with (folder / "robot.yaml").open("a") as file:
        file.write(f"\n{key}\n")
    with pytest.raises(NotAllowedError, match="lies outside"):
        load_robot(folder).compile()


def test_models_without_an_arm_say_what_is_missing(tmp_path):
    with pytest.raises(FileError, match="there is no model file"):
        propose_robot(tmp_path / "nothing.xml")
    file = tmp_path / "box.xml"
    file.write_text("<mujoco><worldbody><body><geom size='.1'/><joint name='swing'/></body></worldbody></mujoco>")
    with pytest.raises(ConfigError, match=r"found no gripper.*swing"):
        propose_robot(file)
    file.write_text("<mujoco><nonsense/></mujoco>")
    with pytest.raises(ConfigError, match="cannot read"):
        propose_robot(file)


@pytest.mark.parametrize("place", ["model.xml", "arm.xml", "assets/arm.xml"])
def test_a_robot_is_not_written_over_the_model_it_is_made_of(tmp_path, place):
    file = tmp_path / "robot" / place
    file.parent.mkdir(parents=True)
    shutil.copy(load_robot("so101").model_file, file)
    before = file.read_bytes()
    proposal = propose_robot(file)
    for overwrite in (False, True):
        with pytest.raises(InputError, match=f"contains the source file {file.name}"):
            write_proposal(proposal, tmp_path / "robot", overwrite=overwrite)
    assert file.read_bytes() == before
    assert not (tmp_path / "robot" / "robot.yaml").exists()


def test_what_includes_a_model_is_not_looked_for_behind_links(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "whole.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    (tmp_path / "in" / "link.xml").symlink_to(tmp_path / "whole.xml")
    (tmp_path / "in" / "part.xml").write_text("<mujoco><worldbody><geom type='mesh' mesh='gone'/></worldbody></mujoco>")
    with pytest.raises(ConfigError) as told:
        propose_robot(tmp_path / "in" / "part.xml")
    assert "link.xml" not in str(told.value)


CROSSING = """<link name="{name}"><inertial><origin xyz="0 0 0.06"/><mass value="0.05"/>
<inertia ixx="5e-5" iyy="5e-5" izz="2e-5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 {side} 0.06"/><geometry><box size="0.02 0.01 0.12"/></geometry></collision></link>
<joint name="{name}" type="revolute"><parent link="hand"/><child link="{name}"/><origin xyz="0 {y} 0.06"/>
<axis xyz="{axis} 0 0"/><limit lower="0" upper="1" effort="8" velocity="2"/></joint>"""


def with_crossing_fingers() -> str:
    """Two long hinged fingers that pass through each other: their tips meet after a third of the stroke."""
    fingers = [
        CROSSING.format(name=name, y=0.04 * side, side=0.005 * side, axis=side)
        for name, side in (("finger_a", 1), ("finger_b", -1))
    ]
    return bare().removesuffix("</robot>") + "".join(fingers) + "</robot>"


def test_the_tool_centre_of_fingers_that_cross_lies_where_their_tips_meet(tmp_path):
    (file := tmp_path / "crossing.urdf").write_text(with_crossing_fingers())
    proposal = propose_robot(file)
    robot = load_robot(write_proposal(proposal, tmp_path / "crossing"))
    assert 0.3 < proposal.values["left_gripper_closed"][0] < 0.4  # asin(0.04 / 0.12) = 0.34
    arm = robot.arms[0]
    home = RobotAtHome.build(robot)
    tips = home.site_in_body(arm.tcp_site, "hand")[2, 3]
    # 12 cm long, 20 degrees inwards from their hinges 6 cm along the hand: 15 mm of margin from 0.173 m.
    assert tips == pytest.approx(0.06 + 0.12 * np.cos(0.34) - 0.015, abs=0.004)


def test_a_gripper_drive_without_a_range_is_explained(tmp_path):
    proposal = propose_robot(load_robot("fr3").model_file)
    spec = proposal.spec
    for name in (*proposal.values["left_gripper_names"], "finger_joint1", "finger_joint2"):
        if (joint := spec.joint(name)) is not None:
            joint.range, joint.limited = [0.0, 0.0], 0
    for actuator in list(spec.actuators):
        if not actuator.name or "finger" in actuator.name or "finger" in actuator.target:
            spec.delete(actuator)
    write_proposal(proposal, tmp_path / "free")
    with pytest.raises(ConfigError, match=r"drives the gripper but has no range.*give it one"):
        propose_robot(tmp_path / "free" / "model.xml")


def test_a_link_whose_shape_is_on_a_body_fixed_to_it_is_no_fault(tmp_path):
    head, _, rest = urdf().partition('<link name="link3">')
    link, _, tail = rest.partition("</link>")
    inertial, _, shape = link.partition("<collision>")
    shell = f'<link name="shell"><collision>{shape}</link>'
    joint = '<joint name="weld" type="fixed"><parent link="link3"/><child link="shell"/></joint>'
    file = tmp_path / "shell.urdf"
    file.write_text(f'{head}<link name="link3">{inertial}</link>{shell}{joint}{tail}')
    report = check_robot(load_robot(write_proposal(propose_robot(file), tmp_path / "shell")))
    assert report.ok, report.table()
