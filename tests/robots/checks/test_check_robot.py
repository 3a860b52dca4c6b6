"""`robot check` passes sound robots and finds what is planted in broken copies."""

import re
import shutil

import pytest
import yaml

from handloom.robots import load_robot, robot_names
from handloom.robots.checks import check_robot
from handloom.robots.load import ZOO_FOLDER


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_of_the_zoo_passes(name):
    report = check_robot(load_robot(name))
    assert report.ok, report.table()


CAMERA = {
    "parent": "nose",
    "translation": [0, 0, 0],
    "orientation": [1, 0, 0, 0],
    "params": [9, 9, 4, 4],
    "resolution": [8, 8],
}
# What is broken > (text of the model, its replacement), (keys of robot.yaml), the row that must find it, its words.
FAULTS = {
    "home outside the limits": ('range="-3.0421 -0.1518"', 'range="-2.0 -0.1518"', {}, "limits", "outside -2 to -0.15"),
    "a joint without limits": ('axis="0 0 1" range="-3.0159 3.0159"', 'axis="0 0 1"', {}, "limits", "has no limits"),
    "a link without mass": ('mass="2.2449"', 'mass="1e-5"', {}, "inertias", "fr3_link3.*mass of 1e-05"),
    "an inertia of a giant": (r'(fr3_link6.*?fullinertia=")\S+ \S+ \S+', r"\g<1>9 9 9", {}, "inertias", "radius"),
    "a joint without actuator": (r'<position name="fr3_joint5".*?/>', "", {}, "actuators", "fr3_joint5.*0 actuators"),
    "an actuator without force limit": (' forcerange="-140 140"', "", {}, "actuators", "no force limit"),
    "a tool centre elsewhere": ("", "", {"tcp_offset": 0.09}, "tool frames", "14.30 mm"),
    "turned grasp axes": (r'(name="grasp".*?quat=")[^"]*', r"\g<1>1 0 0 0", {}, "tool frames", "90.00 deg"),
    "an approach that is not ee_axis": ("", "", {"ee_axis": "x"}, "tool frames", "approach to .0.0, 0.0, 1.0."),
    "a width the gripper has not": ("", "", {"gripper_max_width": 0.1}, "gripper opening", "opens to 80.0 mm"),
    "arms that overlap at home": (
        '<site name="ee"',
        '<geom type="sphere" size="0.4" group="3" mass="0"/><site name="ee"',
        {},
        "self-collision",
        "fr3_hand.*overlap",
    ),
    "slippery pads": ('friction="1.2', 'friction="0.05', {}, "pads", "friction of 0.05"),
    "pads without torsion": ('condim="4"', 'condim="3"', {}, "pads", "condim 3"),
    "a gripper without force": ('forcerange="-140 140"', 'forcerange="-0.5 0.5"', {}, "grip", "drops|slips"),
    "fingers that shoot": (' damping="700"/>', "/>", {}, "gripper speed", "fr3_finger_joint1.*its limit is 0.2"),
    "gravity not carried": (' gravcomp="1"', "", {}, "holding", "drifts"),
    "gains that blow up": ('kp="750" kv="19"', 'kp="4e7" kv="0"', {}, "holding", "unstable|jitter"),
    "a joint name that is none": ("", "", {"dof_names": ["elbow"]}, "dof names", "'elbow', which is not a joint"),
    "a camera on nothing": (
        "",
        "",
        {"cameras": {"c": CAMERA}},
        "cameras",
        "'nose' names no body",
    ),
    "a link that cannot collide": (
        r'<include file="../franka_parts/link4.xml"/>',
        '<geom class="franka_visual" size="0.05"/>',
        {},
        "shapes",
        "fr3_link4.*no collision geom",
    ),
    "a model that does not compile": ('joint="fr3_joint3"', 'joint="fr3_joint33"', {}, "model", "cannot"),
}  # fmt: skip


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_planted_fault_is_found(tmp_path, fault):
    pattern, replacement, keys, name, words = FAULTS[fault]
    shutil.copytree(ZOO_FOLDER, tmp_path / "zoo")
    folder = tmp_path / "zoo" / "fr3"
    if pattern:
        counts = []
        for file in (folder / "model.xml", folder / "hand.xml", *(folder.parent / "franka_parts").glob("fr3_*.xml")):
            broken, count = re.subn(pattern, replacement, file.read_text(), flags=re.DOTALL)
            file.write_text(broken)
            counts.append(count)
        assert sum(counts)
    values = yaml.safe_load((folder / "robot.yaml").read_text())
    if "dof_names" in keys:
        values.pop("left_joint_indices")
        values.pop("left_gripper_indices")
    (folder / "robot.yaml").write_text(yaml.safe_dump({**values, **keys}))
    report = check_robot(load_robot(folder))
    found = [row for row in report.faults if row.name == name]
    assert found, report.table()
    assert re.search(words, found[0].sentence), report.table()
