"""Belts carry, racks and pegs hold."""

import mujoco
import numpy as np
import pytest

from handloom.objects import make_object
from handloom.spatial import quat_from_matrix


def test_a_conveyor_carries_what_lies_on_it_at_its_speed():
    belt = make_object("conveyor", rng=np.random.default_rng(0), parameters={"speed": 0.06})
    parcel = make_object("cube", rng=np.random.default_rng(0))
    spec = mujoco.MjSpec()
    spec.attach(belt.spec(), prefix="belt/", frame=spec.worldbody.add_frame())
    top = belt.keypoints["top"].position[2] - parcel.aabb[0, 2]
    spec.attach(parcel.spec(), prefix="parcel/", frame=spec.worldbody.add_frame(pos=[-0.2, 0.0, top]))
    spec.body("parcel/object").add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(1.0 / model.opt.timestep))
    start = data.qpos[0]
    mujoco.mj_step(model, data, nstep=round(2.0 / model.opt.timestep))
    assert data.qpos[0] - start == pytest.approx(0.12, rel=0.01)
    assert abs(data.qpos[1]) < 0.01 * 0.12
    mujoco.mj_step(model, data, nstep=round(14.0 / model.opt.timestep))
    assert data.qpos[2] < top - 0.05, "it leaves the belt at its end"


@pytest.mark.parametrize("style", ["open", "stoppered"])
def test_a_rack_keeps_a_test_tube_upright(style):
    rack = make_object("test_tube_rack", rng=np.random.default_rng(0))
    tube = make_object("test_tube", rng=np.random.default_rng(0), parameters={"style": style})
    spec = mujoco.MjSpec()
    spec.attach(rack.spec(), prefix="rack/", frame=spec.worldbody.add_frame())
    slot = np.array(rack.keypoints["slot_1"].position)
    floor = rack.aabb[0, 2] + 0.006
    at = [slot[0], slot[1], floor - tube.aabb[0, 2] + 0.002]
    spec.attach(tube.spec(), prefix="tube/", frame=spec.worldbody.add_frame(pos=at))
    spec.body("tube/object").add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(2.0 / model.opt.timestep))
    body = data.body("tube/object")
    assert body.xmat.reshape(3, 3)[2, 2] > np.cos(np.deg2rad(12.0))
    assert np.linalg.norm(body.xpos[:2] - slot[:2]) < 0.01


def test_pens_go_into_the_pen_holder():
    holder = make_object("pen_holder", rng=np.random.default_rng(1))
    pen = make_object("pen", rng=np.random.default_rng(1))
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], pos=[0, 0, holder.aabb[0, 2]])
    spec.attach(holder.spec(), prefix="holder/", frame=spec.worldbody.add_frame())
    spec.body("holder/object").add_freejoint()
    # Dropped tip down, some centimetres above the floor of the pot.
    drop = holder.aabb[0, 2] + 0.03 + pen.extent[0] / 2
    quat = [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]
    spec.attach(pen.spec(), prefix="pen/", frame=spec.worldbody.add_frame(pos=[0.005, 0.0, drop], quat=quat))
    spec.body("pen/object").add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(2.0 / model.opt.timestep))
    tip = data.body("pen/object").xpos + data.body("pen/object").xmat.reshape(3, 3) @ pen.keypoints["head"].position
    pot = data.body("holder/object").xpos
    assert np.linalg.norm(tip[:2] - pot[:2]) < holder.extent[0] / 2
    assert abs(pot[2]) < 0.005, "the pot fell over"


def test_an_egg_stays_in_its_cup_of_the_egg_box():
    carton = make_object("egg_box", rng=np.random.default_rng(0))
    egg = make_object("egg", rng=np.random.default_rng(0))
    spec = mujoco.MjSpec()
    spec.attach(carton.spec(), prefix="box/", frame=spec.worldbody.add_frame())
    slot = np.array(carton.keypoints["slot_0"].position)
    spec.attach(
        egg.spec(),
        prefix="egg/",
        frame=spec.worldbody.add_frame(pos=np.add(slot, [0, 0, 0.05]), quat=[0.7071, 0, 0.7071, 0]),
    )
    spec.body("egg/object").add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(2.0 / model.opt.timestep))
    assert np.linalg.norm(data.body("egg/object").xpos[:2] - slot[:2]) < 0.02


def test_a_mug_hangs_on_a_peg_of_the_mug_tree():
    tree = make_object("mug_tree", rng=np.random.default_rng(0))
    mug = make_object("mug", rng=np.random.default_rng(0))
    # The first peg leaves the trunk along +x; the mug hangs with its handle up, the peg through the handle.
    turn = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    inside_handle = np.array(mug.keypoints["handle"].position) - [0.016, 0.0, 0.0]
    on_peg = np.array(tree.keypoints["peg_0"].position) - [0.025, 0.0, 0.012]
    spec = mujoco.MjSpec()
    spec.attach(tree.spec(), prefix="tree/", frame=spec.worldbody.add_frame())
    frame = spec.worldbody.add_frame(pos=on_peg - turn @ inside_handle, quat=quat_from_matrix(turn))
    spec.attach(mug.spec(), prefix="mug/", frame=frame)
    spec.body("mug/object").add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert all(contact.dist > -1e-3 for contact in data.contact), "it fits over the peg"
    mujoco.mj_step(model, data, nstep=round(2.0 / model.opt.timestep))
    assert np.linalg.norm(data.body("mug/object").xpos - (on_peg - turn @ inside_handle)) < 0.06, "it hangs there"
