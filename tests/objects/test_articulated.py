"""Doors, drawers, lids, knobs: they move through their range and carry the annotation that planners need."""

import json
from functools import cache

import mujoco
import numpy as np
import pytest

from handloom.errors import NotFoundError
from handloom.objects import make_object, object_categories
from handloom.objects.geometry import Reach, posed


@cache
def built(category, seed):
    return make_object(category, rng=np.random.default_rng(seed))


ARTICULATED = [c for c in object_categories() if built(c, 0).articulated]
every_joint = pytest.mark.parametrize(
    ("category", "seed", "link"), [(c, s, j.name) for c in ARTICULATED for s in (0, 1) for j in built(c, s).joints]
)

# Knobs are turned and pedals pressed; doors, drawers and lids are pulled.
pulled_joint = pytest.mark.parametrize(
    ("category", "seed", "link"),
    [
        (c, s, j.name)
        for c in ARTICULATED
        for s in (0, 1)
        for j in built(c, s).joints
        if j.name.startswith(("door", "drawer", "freezer", "lid"))
    ],
)


def joint_of(thing, link):
    return next(j for j in thing.joints if j.name == link)


def fixed_model(thing):
    """Return the object welded to the world, as a fixture is."""
    spec = mujoco.MjSpec()
    spec.attach(thing.spec(), prefix="a/", frame=spec.worldbody.add_frame(pos=[0.0, 0.0, 1.0]))
    return spec.compile()


def push(model, data, joint, force, seconds):
    dof = model.joint(joint).dofadr[0]
    for _ in range(round(seconds / model.opt.timestep)):
        data.qfrc_applied[dof] = force
        mujoco.mj_step(model, data)
    return data.joint(joint).qpos[0]


def test_the_library_has_at_least_sixteen_articulated_categories_of_three_shapes_each():
    assert len(ARTICULATED) >= 16
    for category in ARTICULATED:
        assert len({tuple(np.round(built(category, seed).extent, 4)) for seed in range(3)}) == 3


@every_joint
def test_a_joint_opens_and_closes_through_its_whole_range(category, seed, link):
    thing = built(category, seed)
    joint = joint_of(thing, link)
    model = fixed_model(thing)
    data = mujoco.MjData(model)
    low, high = joint.range
    # A hand can do this: 12 N on a drawer, 4 N m on a door or lid (a knob needs a hundredth of it).
    force = 12.0 if joint.kind == "slide" else 4.0
    opened = push(model, data, f"a/{joint.joint}", force, 2.0)
    assert opened > low + 0.97 * (high - low)
    closed = push(model, data, f"a/{joint.joint}", -force, 2.0)
    assert closed < low + 0.03 * (high - low)


@pulled_joint
def test_opening_moves_the_contact_point_out_of_its_surface(category, seed, link):
    thing = built(category, seed)
    joint = joint_of(thing, link)
    data = mujoco.MjData(thing.model)
    body = thing.model.body(link).id

    def head():
        mujoco.mj_kinematics(thing.model, data)
        return data.xpos[body] + data.xmat[body].reshape(3, 3) @ joint.head

    before = head()
    data.joint(joint.joint).qpos[0] = 0.02
    moved = head() - before
    assert moved @ joint.normal / np.linalg.norm(moved) > 0.8


@every_joint
def test_the_annotation_follows_the_published_names_and_geometry(category, seed, link):
    thing = built(category, seed)
    joint = joint_of(thing, link)
    annotation = json.loads(json.dumps(thing.annotation(link)))
    keypoints = annotation["object_keypoints"]
    across = np.subtract(keypoints["articulated_object_tail"], keypoints["articulated_object_head"])
    assert np.linalg.norm(across) > 0.005
    assert across @ np.asarray(joint.axis) == pytest.approx(0.0, abs=1e-9)
    axis = annotation["object_link0_rot_axis" if joint.kind == "hinge" else "object_link0_move_axis"]
    # Axes are along the frame, as the reference writes them.
    for name in (annotation["object_link0_contact_axis"], annotation["object_base_front_axis"], axis):
        assert name in {"x", "-x", "y", "-y", "z", "-z"}
    assert annotation["joint_index"] == [j.name for j in thing.joints].index(link)
    data = mujoco.MjData(thing.model)
    mujoco.mj_kinematics(thing.model, data)
    base = data.body(joint.parent)
    head = data.body(link).xpos + np.asarray(joint.head)
    np.testing.assert_allclose(base.xpos + keypoints["base_contact_point"], head, atol=1e-6)


@pytest.mark.parametrize("category", ARTICULATED)
def test_the_main_joint_gives_the_keypoints_their_published_names(category):
    thing = built(category, 0)
    for name in ("articulated_object_head", "articulated_object_tail", "link_contact_point"):
        assert thing.keypoints[name].body == thing.joints[0].name
    assert thing.keypoints["base_contact_point"].body == "object"
    assert {"object_link0_contact_axis", "object_base_front_axis"} <= set(thing.axes)


@pytest.mark.parametrize("category", ["drawer_cabinet", "hinged_cabinet", "microwave", "oven", "laptop", "faucet"])
def test_what_is_left_half_open_stays_half_open(category):
    thing = built(category, 0)
    model = fixed_model(thing)
    data = mujoco.MjData(model)
    joint = thing.joints[0]
    half = sum(joint.range) / 2
    data.joint(f"a/{joint.joint}").qpos[0] = half
    mujoco.mj_step(model, data, nstep=1000)
    assert data.joint(f"a/{joint.joint}").qpos[0] == pytest.approx(half, abs=0.03)


def test_pressing_the_pedal_opens_the_lid_and_letting_go_closes_it():
    model = fixed_model(built("trash_can", 0))
    data = mujoco.MjData(model)
    push(model, data, "a/pedal_joint", 6.0, 1.0)
    assert data.joint("a/lid_joint").qpos[0] > 1.1
    push(model, data, "a/pedal_joint", 0.0, 2.0)
    assert data.joint("a/lid_joint").qpos[0] < 0.05


def test_a_wrong_link_name_is_answered_with_the_right_ones():
    with pytest.raises(NotFoundError, match="no link of black cabinet named 'drawer'"):
        make_object("drawer_cabinet", rng=np.random.default_rng(0), color="black").annotation("drawer")


def test_scaling_keeps_angles_and_scales_slides():
    cabinet, small = (make_object("drawer_cabinet", rng=np.random.default_rng(3), scale=s) for s in (1.0, 0.5))
    assert small.joints[0].range[1] == pytest.approx(0.5 * cabinet.joints[0].range[1])
    wide, tiny = (make_object("microwave", rng=np.random.default_rng(3), scale=s) for s in (1.0, 0.5))
    assert tiny.joints[0].range == wide.joints[0].range


@pytest.mark.parametrize("category", ARTICULATED)
def test_every_vector_of_a_joint_turns_with_the_object_frame(category):
    plain = built(category, 0)
    turned = make_object(category, parameters={**plain.parameters, "up": "y"})
    R = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    for before, after in zip(plain.joints, turned.joints, strict=True):
        for key in ("axis", "contact_axis", "normal", "front_axis", "head", "tail", "push", "grip"):
            if getattr(before, key) is None:
                assert getattr(after, key) is None
            else:
                np.testing.assert_allclose(getattr(after, key), R @ getattr(before, key), atol=1e-12)


@pytest.mark.parametrize("category", ARTICULATED)
def test_no_door_drawer_or_lid_swings_below_what_its_object_stands_on(category):
    down = np.array([[0.0, 0.0, -1.0]])
    for variant in range(2):
        model = built(category, variant).model
        data = posed(model)
        floor = -float(Reach(model, data, solid=True)(down)[0])
        for joint in range(model.njnt):
            for angle in np.linspace(*model.jnt_range[joint], 9):
                data.qpos[:] = 0.0
                data.qpos[model.jnt_qposadr[joint]] = angle
                mujoco.mj_kinematics(model, data)
                assert -float(Reach(model, data, solid=True)(down)[0]) > floor - 1e-3, f"{angle:.2f}"
