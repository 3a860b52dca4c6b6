"""Handles, rims and knobs of imported objects are found from their shapes; what is written is read back and solved."""

import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.cli.main import BAD_INPUT, DONE, main
from handloom.errors import InputError, NotFoundError
from handloom.objects import import_object, read_keypoints
from handloom.objects.importers.edit_annotation import chosen_joint, edited

DRAWER = """
<robot name="chest">
  <link name="base">
    <inertial><mass value="5"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>
    <collision><origin xyz="0 0.02 0"/><geometry><box size=".32 .2 .02"/></geometry></collision>
    <collision><origin xyz="0 .11 .1"/><geometry><box size=".32 .02 .2"/></geometry></collision>
    <collision><origin xyz="0 0 .2"/><geometry><box size=".32 .24 .02"/></geometry></collision>
  </link>
  <link name="tray">
    <inertial><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial>
    <collision><origin xyz="0 0 0"/><geometry><box size=".3 .02 .14"/></geometry></collision>
    <collision><origin xyz="0 .1 -.05"/><geometry><box size=".28 .18 .01"/></geometry></collision>
    <collision><origin xyz="0 -.045 .02"/><geometry><box size=".12 .012 .012"/></geometry></collision>
    <collision><origin xyz="-.05 -.027 .02"/><geometry><box size=".01 .036 .01"/></geometry></collision>
    <collision><origin xyz=".05 -.027 .02"/><geometry><box size=".01 .036 .01"/></geometry></collision>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="base"/><child link="tray"/><origin xyz="0 -.12 .11"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.18" effort="10" velocity="1"/><dynamics damping="4" friction="1.5"/>
  </joint>
</robot>
"""
OVEN = """
<mujoco><worldbody><body name="oven">
  <geom type="box" size=".2 .15 .15" pos="0 0 .15"/>
  <body name="door" pos="-.2 -.151 .15" euler="0 0 180">
    <joint name="hinge" type="hinge" axis="0 0 -1" range="0 100"/>
    <geom type="box" size=".2 .01 .14" pos="-.2 .011 0"/>
    {}
  </body>
  <body name="dial" pos=".15 -.15 .28">
    <joint name="turn" type="hinge" axis="0 1 0" range="0 270"/>
    <geom type="cylinder" size=".02 .01" pos="0 -.01 0" euler="90 0 0"/>
    <geom type="box" size=".004 .008 .018" pos="0 -.028 0"/>
  </body>
</body></worldbody></mujoco>
"""
HANDLE = '<geom type="capsule" fromto="-.36 .06 -.05 -.36 .06 .05" size=".007"/>'


@pytest.fixture
def drawer(tmp_path):
    file = tmp_path / "chest.urdf"
    file.write_text(DRAWER)
    return file


def oven(folder, handle=HANDLE):
    file = folder / "oven.xml"
    file.write_text(OVEN.format(handle))
    return import_object(file).asset


def test_the_bar_of_a_drawer_is_its_handle_and_the_front_beside_it_is_pushed(drawer):
    link = import_object(drawer).asset.joints[0]
    np.testing.assert_allclose(link.head, [0.0, -0.045, 0.02], atol=1e-9)
    np.testing.assert_allclose(link.normal, [0.0, -1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(np.abs(link.contact_axis), [1.0, 0.0, 0.0], atol=1e-9)
    assert link.grip is None
    assert link.push is not None
    assert link.push[1] == pytest.approx(-0.01)
    assert abs(link.push[2] - 0.02) > 0.02, "beside the bar"


def test_the_handle_of_a_door_in_a_turned_frame_is_found_where_it_is(tmp_path):
    link = oven(tmp_path).joints[0]
    np.testing.assert_allclose(link.head, [-0.36, 0.06, 0.0], atol=1e-3)
    np.testing.assert_allclose(link.normal, [0.0, 1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(np.abs(link.contact_axis), [0.0, 0.0, 1.0], atol=0.02)


def test_without_a_handle_the_free_rim_is_held_from_beyond_it(tmp_path):
    link = oven(tmp_path, "").joints[0]
    np.testing.assert_allclose(link.head, [-0.39, 0.011, 0.0], atol=1e-6)
    np.testing.assert_allclose(link.held_from, [-1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(link.normal, [0.0, 1.0, 0.0], atol=1e-6)


def test_a_dial_is_held_by_its_bar_and_faces_away_from_what_carries_it(tmp_path):
    link = oven(tmp_path).joints[1]
    np.testing.assert_allclose(link.head, [0.0, -0.028, 0.0], atol=1e-6)
    np.testing.assert_allclose(link.normal, [0.0, -1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(np.abs(link.contact_axis), [0.0, 0.0, 1.0], atol=1e-6)


def test_nothing_is_written_until_it_is_accepted_and_then_it_is_read_back_the_same(drawer, capsys):
    picture = drawer.parent / "look.png"
    ask = ["object", "annotate", str(drawer), "--joint", "tray", "-o", str(picture), "--size", "64"]
    assert main(ask) == DONE
    assert "--accept writes Kps/pull and Kps/push beside chest.urdf" in capsys.readouterr().out
    assert picture.is_file()
    assert not (drawer.parent / "Kps").exists()
    assert main([*ask, "--accept", "--head", "0.02", "-0.045", "0.02"]) == DONE
    assert str(drawer.parent / "Kps" / "pull" / "info.json") in capsys.readouterr().out
    link = import_object(drawer).asset.joints[0]
    pull, push = (read_keypoints(drawer.parent / "Kps" / n / "info.json", link, 0) for n in ("pull", "push"))
    assert pull.points["articulated_object_head"].position == (0.02, -0.045, 0.02)
    assert push.points["link_contact_point"].position == pytest.approx(link.push)
    assert pull.link.contact_axis == pytest.approx(link.contact_axis)


def test_the_solver_opens_an_imported_drawer_with_its_annotation(drawer):
    assert (
        main(["object", "annotate", str(drawer), "--accept", "-o", str(drawer.parent / "a.png"), "--size", "48"]) == 0
    )
    keys = {"path": str(drawer), "target_class": "ArticulatedObject", "fix_base": True}
    instance = table_instance(drawer.parent, thing("chest", "chest", (0.0, 0.36), **keys))
    info = str(drawer.parent / "Kps" / "pull" / "info.json")
    scene, record = run_with(instance, {"name": "open", "objects": ["chest"], "amount": 0.6, "obj_info_path": info})
    assert record.success, record.failure
    assert scene.world.joint_position("chest/tray_joint") > 0.09


def test_mistakes_are_answered_with_what_there_is(drawer, tmp_path, capsys):
    asset = import_object(drawer).asset
    with pytest.raises(NotFoundError, match=r"no joint of chest named 'lid'.*tray"):
        chosen_joint(asset, "lid")
    with pytest.raises(InputError, match="points towards the approaching hand"):
        edited(asset.joints[0], contact_axis=(0.0, 1.0, 0.0))
    with pytest.raises(InputError, match="has no length"):
        edited(asset.joints[0], contact_axis=(0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="--head must be three numbers"):
        edited(asset.joints[0], head=(np.nan, 0.0, 0.0))
    stool = tmp_path / "stool.xml"
    stool.write_text('<mujoco><worldbody><body><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>')
    assert main(["object", "annotate", str(stool)]) == BAD_INPUT
    assert "no hinge or slide joint" in capsys.readouterr().err
