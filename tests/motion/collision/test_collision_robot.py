"""A robot whose fingers moved is the robot built anew."""

import mujoco
import numpy as np
import pytest

from handloom.motion.collision import CollisionRobot, Shape, ShapeKind
from handloom.motion.kinematics import JointTree

ARM_AT_A_TABLE = """<mujoco>
  <default>
    <joint axis="0 1 0" range="-1.5 1.5"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0 0 0.2"/>
    <default class="block"><geom type="box" size="0.05 0.05 0.05" fromto="0 0 -0.05 0 0 0.05"/></default>
  </default>
  <worldbody>
    <body name="base"><geom class="block"/>
      <body name="upper" pos="0 0 0.1"><joint name="shoulder"/><geom/>
        <body name="lower" pos="0 0 0.25"><joint name="elbow"/><geom/></body>
      </body>
    </body>
    <body name="table" pos="0.4 0 0"><geom class="block"/></body>
  </worldbody>
  %s
</mujoco>"""


@pytest.fixture
def trees(fr3):
    arm = [fr3.joint(j).name for j in range(fr3.njnt) if "finger" not in fr3.joint(j).name]
    closed, opened = fr3.qpos0.copy(), fr3.qpos0.copy()
    fingers = [j for j in range(fr3.njnt) if "finger" in fr3.joint(j).name]
    opened[fr3.jnt_qposadr[fingers]] = 0.03
    return JointTree.from_model(fr3, arm, qpos=closed), JointTree.from_model(fr3, arm, qpos=opened)


def test_moving_the_fingers_gives_the_same_bits_as_building_anew(fr3, trees):
    closed, opened = trees
    moved = CollisionRobot.from_model(fr3, closed).moved_to(fr3, opened)
    fresh = CollisionRobot.from_model(fr3, opened)
    for a, b in zip(moved.arrays(padding=0.005), fresh.arrays(padding=0.005), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(moved.parts, fresh.parts, strict=True):
        assert (a.name, a.body, a.link) == (b.name, b.body, b.link)
        np.testing.assert_array_equal(a.T_link_part, b.T_link_part)
    assert moved.ignored == fresh.ignored


def test_what_is_attached_stays_attached_when_the_fingers_move(fr3, trees):
    closed, opened = trees
    ball = Shape(kind=ShapeKind.SPHERE, size=(0.03, 0.0, 0.0))
    holding = CollisionRobot.from_model(fr3, closed).attach("ball", ball, "hand", np.eye(4))
    moved = holding.moved_to(fr3, opened)
    assert "ball" in moved.bodies
    still = [group for group in moved.groups if "finger" not in group.body]
    assert all(any(group is old for old in holding.groups) for group in still)


def test_what_one_scene_excludes_does_not_count_in_another_with_the_same_robot(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path))
    excluded = '<contact><exclude body1="lower" body2="table"/></contact>'
    ignored = []
    for contact in (excluded, "", excluded):
        model = mujoco.MjModel.from_xml_string(ARM_AT_A_TABLE % contact)
        tree = JointTree.from_model(model, ["shoulder", "elbow"], qpos=model.qpos0)
        ignored.append(CollisionRobot.from_model(model, tree).ignored)
    pair = frozenset(("lower", "table"))
    assert [pair in pairs for pairs in ignored] == [True, False, True]
