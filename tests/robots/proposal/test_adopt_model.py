"""Models of other conventions: grippers in files of their own, single jaws, linkages, collision groups."""

import mujoco
import numpy as np
import pytest

from handloom.errors import ConfigError, InputError, NotFoundError
from handloom.robots import load_robot
from handloom.robots.checks import RobotAtHome, check_robot
from handloom.robots.proposal import RobotProposal, propose_robot, write_proposal

LINK = (
    '<body name="{name}" pos="0 0 {z}"><joint name="{name}_joint" axis="{axis}" range="-2.8 2.8"/>{geom}{rest}</body>'
)
SEEN_AND_SOLID = (
    '<geom type="box" size=".03 .03 {half}" pos="0 0 {half}" contype="0" conaffinity="0" group="1"/>'
    '<geom type="box" size=".03 .03 {half}" pos="0 0 {half}" group="0"/>'
)


def arm(end: str = "", world: str = "", equality: str = "", actuator: str = "") -> str:
    """Return a six-joint arm whose file shows one geom and lets another collide, in groups 1 and 0."""
    body, axes, lengths = end, ["0 0 1", "0 1 0", "0 1 0", "0 0 1", "0 1 0", "0 0 1"], [0.15, 0.3, 0.25, 0.1, 0.1, 0.1]
    for k in reversed(range(6)):
        name, z = ("hand" if k == 5 else f"link{k + 1}"), 0.12 if k == 0 else lengths[k - 1] + 0.02
        geom = SEEN_AND_SOLID.format(half=(lengths[k] - 0.06) / 2)
        body = LINK.format(name=name, z=z, axis=axes[k], geom=geom, rest=body)
    base = f'<body name="base"><geom type="box" size=".05 .05 .04" pos="0 0 .04"/>{body}</body>{world}'
    return (
        f'<mujoco model="six"><compiler angle="radian" autolimits="true"/><worldbody>{base}</worldbody>'
        f"<equality>{equality}</equality><actuator>{actuator}</actuator></mujoco>"
    )


FINGER = (
    '<body name="{name}" pos="0 0 .06"><joint name="{name}" type="slide" axis="0 1 0" range="{low} {high}"/>'
    '<geom type="box" size=".01 .005 .03" pos="0 {side} .03" contype="0" conaffinity="{bit}" mass=".05"/></body>'
)


def parallel_gripper(bit: int = 1) -> str:
    """Return fingers that have a drive each, mirrored, and do not collide with each other."""
    left = FINGER.format(name="left", low=0, high=0.04, side=0.005, bit=bit)
    right = FINGER.format(name="right", low=-0.04, high=0, side=-0.005, bit=bit)
    drives = "".join(f'<position joint="{name}" kp="100" forcerange="-40 40"/>' for name in ("left", "right"))
    return (
        f'<mujoco><worldbody><body name="palm"><geom size=".02" pos="0 0 .02"/>{left}{right}</body></worldbody>'
        f"<actuator>{drives}</actuator></mujoco>"
    )


HINGED = (
    '<body name="{side}_knuckle" pos="0 {y} .05"><joint name="{side}_knuckle" axis="{axis} 0 0" range="0 0.8"/>'
    '<geom type="box" size=".01 .005 .02" pos="0 {out} .02" mass=".03"/>'
    '<body name="{side}_tip" pos="0 {out} .05"><joint name="{side}_tip" axis="{back} 0 0" range="0 0.9"/>'
    '<geom type="box" size=".01 .008 .03" pos="0 0 .015" mass=".02"/></body></body>'
)


def linkage() -> tuple[str, str]:
    """Return a gripper whose tips stay upright by gears and overlap their knuckles, and its couplings."""
    left = HINGED.format(side="left_finger", y=0.02, out=0.03, axis=1, back=-1)
    right = HINGED.format(side="right_finger", y=-0.02, out=-0.03, axis=-1, back=1)
    followers = ("left_finger_tip", "right_finger_knuckle", "right_finger_tip")
    gears = "".join(f'<joint joint1="{name}" joint2="left_finger_knuckle"/>' for name in followers)
    return left + right, gears


JAW = (
    '<geom type="box" size=".01 .004 .04" pos="0 -.024 .12" mass=".05"/>'
    '<body name="jaw" pos="0 .02 .08"><joint name="jaw" axis="1 0 0" range="-1.2 0.7"/>'
    '<geom type="box" size=".01 .004 .04" pos="0 0 .04" mass=".05"/></body>'
)


def proposed(tmp_path, text: str, **options) -> RobotProposal:
    (file := tmp_path / "arm.xml").write_text(text)
    return propose_robot(file, **options)


def test_a_gripper_of_its_own_file_is_put_on_the_arm_and_holds_a_cube(tmp_path):
    (gripper := tmp_path / "gripper.xml").write_text(parallel_gripper())
    proposal = proposed(tmp_path, arm(), gripper=gripper, at="hand")
    assert proposal.values["left_gripper_names"] == ["gripper/left"]
    assert "gripper/right follows gripper/left: one drive moves both fingers" in proposal.notes
    assert proposal.values["gripper_max_width"] == pytest.approx(0.08, abs=1e-3)
    robot = load_robot(write_proposal(proposal, tmp_path / "robot"))
    report = check_robot(robot)
    assert report.ok, report.table()
    home = RobotAtHome.build(robot)
    height = home.data.site(robot.arms[0].tcp_site).xpos[2] - home.data.body("base").xpos[2]
    assert height > 0.05, "it stands on what it works on"


def test_the_only_end_carries_a_gripper_and_other_names_are_refused(tmp_path):
    (gripper := tmp_path / "gripper.xml").write_text(parallel_gripper())
    assert any("put on hand, the only end body" in n for n in proposed(tmp_path, arm(), gripper=gripper).notes)
    with pytest.raises(NotFoundError, match=r"no body named 'hend'; did you mean 'hand'"):
        proposed(tmp_path, arm(), gripper=gripper, at="hend")
    with pytest.raises(ConfigError, match=r"with --at; the end bodies are camera, light"):
        proposed(tmp_path, arm('<body name="camera"/><body name="light"/>'), gripper=gripper)
    with pytest.raises(InputError, match="name its file with --gripper"):
        proposed(tmp_path, arm(), at="hand")


def test_collision_geoms_are_told_from_what_is_seen_by_contact_and_meet_objects(tmp_path):
    (gripper := tmp_path / "gripper.xml").write_text(parallel_gripper(bit=4))
    model = proposed(tmp_path, arm(), gripper=gripper).spec.compile()
    for g in range(model.ngeom):
        solid = bool(model.geom_contype[g] or model.geom_conaffinity[g])
        alone = model.body_geomnum[model.geom_bodyid[g]] == 1
        assert (model.geom_group[g] == 3) == (solid and not alone), model.geom(g).name
        assert not solid or model.geom_conaffinity[g] & 1, "a finger that no object can touch"


def test_a_single_jaw_closes_against_the_hand(tmp_path):
    values = proposed(tmp_path, arm(JAW)).values
    assert values["left_gripper_names"] == ["jaw"]
    assert values["left_gripper_closed"][0] > values["left_gripper_open"][0]
    assert 0.03 < values["gripper_max_width"] < 0.1
    assert values["gripper_min_width"] < 0.02


WEDGE = '<asset><mesh name="wedge" vertex="{}"/></asset>'.format(
    " ".join(f"{x} {y} {z}" for x in (-0.01, 0.01) for y, z in ((0, 0), (0.02, 0), (0, 0.08), (0.01, 0.08)))
)
"""Two slanted jaws: the face at +y leans by 7 degrees."""
WEDGES = (
    '<geom type="mesh" mesh="wedge" pos="0 -.04 .06" mass=".05"/>'
    '<body name="jaw" pos="0 .02 .06"><joint name="jaw" axis="1 0 0" range="-1.2 0.7"/>'
    '<geom type="mesh" mesh="wedge" euler="0 0 3.14159" pos="0 .01 0" mass=".05"/></body>'
)


def test_slanted_jaws_get_flat_pads_that_face_each_other_across_the_face_of_the_hand(tmp_path):
    proposal = proposed(tmp_path, arm(WEDGES).replace("<worldbody>", f"{WEDGE}<worldbody>"))
    assert proposal.values["fl_pad_geoms"] == ["hand_hand_pad", "hand_jaw_pad"]
    assert any(note.startswith("flat pads of") for note in proposal.notes)
    robot = load_robot(write_proposal(proposal, tmp_path / "robot"))
    report = check_robot(robot)
    assert report.ok, report.table()
    home = RobotAtHome.build(robot)
    R_hand_tool = home.data.body("hand").xmat.reshape(3, 3).T @ home.data.body("tool").xmat.reshape(3, 3)
    slant = np.arctan2(0.01, 0.08)
    assert R_hand_tool[:, 1] == pytest.approx([0.0, np.cos(slant), np.sin(slant)], abs=0.02), "closes across the face"
    pad = home.data.geom("hand_hand_pad").xmat.reshape(3, 3)
    assert (home.data.body("hand").xmat.reshape(3, 3).T @ pad)[:, 1] == pytest.approx(R_hand_tool[:, 1], abs=0.02)


def test_neighbours_in_a_linkage_pass_through_each_other_and_the_tips_are_pads(tmp_path):
    fingers, gears = linkage()
    proposal = proposed(tmp_path, arm(fingers, equality=gears))
    assert proposal.values["left_gripper_names"] == ["left_finger_knuckle"]
    model = proposal.spec.compile()
    pads = [model.body(model.geom(name).bodyid[0]).name for name in proposal.values["fl_pad_geoms"]]
    assert sorted(pads) == ["left_finger_tip", "right_finger_tip"]
    assert proposal.values["gripper_max_width"] > 0.06


def test_objects_of_a_scene_are_left_out_and_hulls_that_always_overlap_do_not_collide(tmp_path):
    fingers, gears = linkage()
    block = '<body name="block" pos=".5 0 .1"><freejoint/><geom type="box" size=".02 .02 .02"/></body>'
    text = arm(fingers, block, equality=gears).replace(
        'size=".05 .05 .04" pos="0 0 .04"', 'size=".05 .05 .1" pos="0 0 .1"'
    )
    proposal = proposed(tmp_path, text)
    assert proposal.spec.body("block") is None
    assert any("block is a free object of the scene" in note for note in proposal.notes)
    assert any("base and link1" in note for note in proposal.notes)
    model = proposal.spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert not [contact for contact in data.contact if contact.dist < -1e-3]


SCENE = (
    '<geom type="plane" size="1 1 .1"/><body name="table" pos=".6 0 .2"><geom type="box" size=".2 .3 .2"/></body>'
    '<body name="handle" mocap="true" pos=".4 0 .9"><geom size=".01" contype="0" conaffinity="0"/></body>'
    '<light pos="0 0 3"/><camera name="top" mode="targetbody" target="table" pos="0 0 2"/>'
)


def test_an_arm_in_a_scene_comes_without_table_floor_and_the_handle_that_leads_its_hand(tmp_path):
    (gripper := tmp_path / "gripper.xml").write_text(parallel_gripper())
    text = arm(world=SCENE, equality='<weld body1="handle" body2="hand"/>')
    text = text.replace('<body name="base">', '<body name="base" pos="1.2 .3 .6">').replace("<geom", '<geom user="7"')
    proposal = proposed(tmp_path, text, gripper=gripper, at="hand")
    assert "table stands beside the arm; it was left out" in proposal.notes
    assert "handle drags the hand; it was left out" in proposal.notes
    assert "base stood at [1.2, 0.3, 0.6] m in its scene; now at the origin" in proposal.notes
    model = proposal.spec.compile()
    assert (model.nmocap, model.nuser_geom, model.ncam, model.nlight) == (0, 0, 0, 0)
    assert mujoco.mjtGeom.mjGEOM_PLANE not in model.geom_type
    report = check_robot(load_robot(write_proposal(proposal, tmp_path / "robot")))
    assert report.ok, report.table()  # Among others: it stays at home, where the weld drew it away.


def test_fingers_close_as_fast_as_the_file_says_or_in_a_quarter_of_a_second_and_friction_does_not_stop_them(tmp_path):
    text = parallel_gripper().replace("-40 40", "-200 200").replace('type="slide"', 'type="slide" frictionloss="150"')
    (gripper := tmp_path / "gripper.xml").write_text(text)
    proposal = proposed(tmp_path, arm(), gripper=gripper, at="hand")
    assert proposal.values["left_gripper_speed_limit"] == [pytest.approx(0.04 / 0.25)]
    assert any(
        "gripper/left, gripper/right has no stated speed; assumed: end to end in 0.25 s" in note
        for note in proposal.notes
    )
    assert any(note.startswith("the friction of gripper/left, gripper/right was lowered") for note in proposal.notes)
    report = check_robot(load_robot(write_proposal(proposal, tmp_path / "robot")))
    assert report.ok, report.table()  # Among others: never faster than the limit, opens as far as its range.


def test_a_hand_whose_frame_is_at_the_fingers_points_away_from_the_wrist(tmp_path):
    fingers = parallel_gripper().split("<worldbody>")[1].split("</worldbody>")[0]
    drives = parallel_gripper().split("<actuator>")[1].split("</actuator>")[0]
    lowered = fingers.replace('name="palm"', 'name="palm" pos="0 0 .09"').replace('pos="0 0 .06"', 'pos="0 0 -.03"')
    at_wrist = proposed(tmp_path, arm(fingers, actuator=drives)).values["tcp_offset"]
    values = proposed(tmp_path, arm(lowered, actuator=drives)).values
    assert values["tcp_offset"] == pytest.approx(at_wrist, abs=0.002), "both are measured from the last joint"
    assert check_robot(load_robot(write_proposal(proposed(tmp_path, arm(lowered, actuator=drives)), tmp_path / "r"))).ok


def test_a_part_of_another_file_names_the_whole(tmp_path):
    (tmp_path / "whole.xml").write_text('<mujoco><include file="arm.xml"/></mujoco>')
    with pytest.raises(ConfigError, match=r"part of whole\.xml: add one of these"):
        proposed(tmp_path, "<mujocoinclude><worldbody/></mujocoinclude>")
