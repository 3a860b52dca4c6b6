"""Scratch worlds for objects: a floor, the object on it, gravity."""

import mujoco
import pytest


def _on_floor(thing, quat, height, *, ball=0.0, fixed=False):
    """Return a world with the object's origin at a height [m] above the floor, and perhaps a ball [m] inside it."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.002
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2.0, 2.0, 0.1], friction=[0.8, 0.005, 0.0001])
    frame = spec.worldbody.add_frame(pos=[0.0, 0.0, height], quat=quat)
    spec.attach(thing.spec(), prefix="thing/", frame=frame)
    if not fixed:
        spec.body("thing/object").add_freejoint()
    if ball > 0.0:
        inside = thing.keypoints["inside"]
        closed = mujoco.MjData(thing.model)
        mujoco.mj_kinematics(thing.model, closed)
        at = closed.body(inside.body).xpos + inside.position + [0.0, 0.0, height]
        sphere = spec.worldbody.add_body(name="ball", pos=at)
        sphere.add_freejoint()
        sphere.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball / 2, 0, 0], condim=6, friction=[0.8, 0.005, 0.001]
        )
    return spec.compile()


def _simulate(model, seconds):
    """Return the state after some time."""
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(seconds / model.opt.timestep))
    return data


@pytest.fixture
def on_floor():
    return _on_floor


@pytest.fixture
def simulate():
    return _simulate
