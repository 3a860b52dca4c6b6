"""Keypoints of joints agree with the geometry they stand for, whatever the parameters; their files are read back."""

import json
from functools import cache

import mujoco
import numpy as np
import pytest

from handloom.errors import FileError, NotFoundError
from handloom.objects import make_object, object_categories
from handloom.objects.keypoints import action_of, joint_keypoints, read_keypoints, write_keypoints

SEEDS = (3, 11, 42)
"""Random parameters; every seed is another size, handle and scale."""
MIDDLES = (
    *("drawer_cabinet", "fridge", "hinged_cabinet", "knob", "microwave", "oven", "pot", "safe", "sliding_cabinet"),
    *("laptop", "tool_chest", "valve", "washing_machine"),
)
"""Categories whose every handle or knob is held at its middle."""


@cache
def joints_of(category):
    """Return objects of a category, one per seed, each with one of its joints."""
    objects = [make_object(category, rng=np.random.default_rng(seed), scale=0.8 + 0.1 * (seed % 5)) for seed in SEEDS]
    return [(obj, joint) for obj in objects for joint in obj.joints]


every_category = pytest.mark.parametrize("category", object_categories())


def posed(obj, joint, q=0.0):
    data = mujoco.MjData(obj.model)
    data.joint(joint.joint).qpos[0] = q
    mujoco.mj_forward(obj.model, data)
    return data


def in_world(data, body, position):
    return data.body(body).xpos + data.body(body).xmat.reshape(3, 3) @ np.asarray(position)


def first_hit(obj, data, start, direction):
    """Return how far along a ray [m] the nearest solid is, and the name of its body."""
    model, geom, passed = obj.model, np.zeros(1, np.int32), 0.0
    while True:
        at = np.asarray(start, float) + passed * np.asarray(direction, float)
        far = mujoco.mj_ray(model, data, at, np.asarray(direction, float), None, 1, -1, geom)
        if far < 0.0 or model.geom_contype[geom[0]]:
            return passed + far, model.body(model.geom_bodyid[geom[0]]).name if far >= 0.0 else None
        passed += far + 1e-9  # A window that is only painted on.


@every_category
def test_the_pushed_point_lies_on_the_surface_and_the_normal_points_out_of_it(category):
    for obj, joint in joints_of(category):
        if joint.push is None:
            continue
        data = posed(obj, joint)
        R = data.body(joint.name).xmat.reshape(3, 3)
        outside = in_world(data, joint.name, joint.push) + 0.02 * R @ joint.normal
        far, body = first_hit(obj, data, outside, -R @ joint.normal)
        assert body == joint.name
        assert far == pytest.approx(0.02, abs=1e-6), joint.name


@pytest.mark.parametrize("category", MIDDLES)
def test_the_head_is_the_middle_of_what_the_fingers_close_upon(category):
    assert joints_of(category)
    for obj, joint in joints_of(category):
        data = posed(obj, joint, 0.4 if obj.category == "laptop" else 0.0)  # Closed, the deck is under its edge.
        R = data.body(joint.name).xmat.reshape(3, 3)
        head, closing = in_world(data, joint.name, joint.head), R @ np.cross(joint.held_from, joint.contact_axis)
        sides = [first_hit(obj, data, head + side * 0.035 * closing, -side * closing) for side in (1.0, -1.0)]
        assert {body for _, body in sides} == {joint.name}
        assert sides[0][0] == pytest.approx(sides[1][0], abs=1e-6)
        assert (
            sides[0][0] < 0.035
        )  # There is something between the fingers, and they can be 35 mm away from its middle.


@every_category
def test_points_and_axes_move_as_the_compiled_joint_moves(category):
    for obj, joint in joints_of(category):
        index = obj.model.joint(joint.joint).id
        np.testing.assert_allclose(obj.model.jnt_axis[index], joint.axis, atol=1e-6)
        assert np.dot(joint.contact_axis, joint.normal) == pytest.approx(0.0, abs=1e-9)
        for action in ("open", "close", "turn"):
            keypoints = joint_keypoints(joint, obj.joint_index(joint.name), action)
            data = posed(obj, joint)
            link, base = (
                in_world(data, k.body, k.position)
                for k in (keypoints.points["link_contact_point"], keypoints.points["base_contact_point"])
            )
            np.testing.assert_allclose(link, base, atol=1e-6)
            # A joint turns its points about its axis, or shifts them along it.
            q = 0.7 * joint.range[1]
            moved = in_world(posed(obj, joint, q), joint.name, keypoints.points["link_contact_point"].position)
            R_parent = data.body(joint.parent).xmat.reshape(3, 3)
            axis, anchor = R_parent @ joint.axis, data.body(joint.name).xpos
            if joint.kind == "slide":
                expected = link + q * axis
            else:
                r = link - anchor
                expected = anchor + r * np.cos(q) + np.cross(axis, r) * np.sin(q) + axis * (axis @ r) * (1 - np.cos(q))
            np.testing.assert_allclose(moved, expected, atol=1e-6)


def test_an_annotation_written_is_read_back_the_same(tmp_path):
    obj = make_object("drawer_cabinet", rng=np.random.default_rng(5))
    for name in ("pull", "push"):
        written = obj.joint_keypoints(action=action_of(name))
        file = write_keypoints(tmp_path, name, written)
        assert file == tmp_path / "Kps" / name / "info.json"
        again = read_keypoints(file, obj.joints[0], 0)
        assert dict(again.points) == dict(written.points)
        assert dict(again.axes) == dict(written.axes)
    assert json.loads(file.read_text())["object_link0_move_axis"] == "-y"


def test_the_scale_of_an_annotation_multiplies_its_points(tmp_path):
    obj = make_object("microwave", rng=np.random.default_rng(5))
    info = obj.annotation()
    info["object_scale"] = [0.5, 0.5, 0.5, 1.0]
    file = tmp_path / "info.json"
    file.write_text(json.dumps(info))
    head = read_keypoints(file, obj.joints[0], 0).points["articulated_object_head"].position
    np.testing.assert_allclose(head, 0.5 * np.asarray(obj.joints[0].head), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"object_keypoints": None}, "needs the key object_keypoints"),
        ({"object_keypoints": {}}, "needs articulated_object_head or link_contact_point"),
        ({"object_keypoints": {"articulated_object_head": [1, 2]}}, "articulated_object_head must be three numbers"),
        ({"object_link0_contact_axis": "w"}, "object_link0_contact_axis must be x, -x"),
        ({"object_link0_contact_axis": [0, 0, 0]}, "object_link0_contact_axis has no length"),
    ],
)
def test_a_malformed_annotation_is_answered_with_file_and_key(tmp_path, change, message):
    obj = make_object("microwave", rng=np.random.default_rng(5))
    file = tmp_path / "info.json"
    file.write_text(json.dumps({**obj.annotation(), **change}))
    with pytest.raises(FileError, match=message) as caught:
        read_keypoints(file, obj.joints[0], 0)
    assert str(file) in str(caught.value)


def test_a_missing_annotation_names_those_that_exist(tmp_path):
    obj = make_object("microwave", rng=np.random.default_rng(5))
    write_keypoints(tmp_path, "open_v", obj.joint_keypoints())
    with pytest.raises(FileError, match="did you mean 'open_v'"):
        read_keypoints(tmp_path / "Kps" / "open_w" / "info.json", obj.joints[0], 0)
    with pytest.raises(NotFoundError, match="no action named 'lick'"):
        action_of("lick")
