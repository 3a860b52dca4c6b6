"""Joints feel like those at home: friction, springs, catches and stops come from stated ranges and act in physics."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.objects import make_object
from handloom.objects.joint_dynamics import RANGES

LATCHED = {
    "drawer_cabinet": "drawer",
    "fridge": "fridge door",
    "hinged_cabinet": "door",
    "laptop": "laptop",
    "microwave": "appliance door",
    "tool_chest": "clipped lid",
    "washing_machine": "appliance door",
}
"""Category > kind of its main joint."""


def fixture(category, seed=0, **parameters):
    """Return an object that is fixed to the world, its main joint, and the lever of a pull at the handle [m or 1]."""
    obj = make_object(category, rng=np.random.default_rng(seed), parameters=parameters)
    joint = obj.joints[0]
    lever = 1.0 if joint.kind == "slide" else float(np.linalg.norm(np.cross(joint.axis, joint.head)))
    return obj, joint, lever


def pulled(obj, joint, torque, *, start=0.0, seconds=1.0):
    """Return where a joint is after a steady pull [N or N m]."""
    data = mujoco.MjData(obj.model)
    data.joint(joint.joint).qpos[0] = start
    data.qfrc_applied[obj.model.joint(joint.joint).dofadr[0]] = torque
    mujoco.mj_step(obj.model, data, nstep=round(seconds / obj.model.opt.timestep))
    return float(data.joint(joint.joint).qpos[0])


def weight(obj, joint):
    """Return what gravity asks of a hand that opens the joint from its closed end [N or N m]."""
    data = mujoco.MjData(obj.model)
    mujoco.mj_forward(obj.model, data)
    dof = obj.model.joint(joint.joint).dofadr[0]
    return float(data.qfrc_bias[dof] - data.qfrc_gravcomp[dof])


@pytest.mark.parametrize(("category", "kind"), LATCHED.items())
def test_a_latched_joint_stays_closed_under_small_pulls_and_opens_under_a_larger_one(category, kind):
    for seed in range(3):
        obj, joint, lever = fixture(category, seed)
        low, high = RANGES[kind].latch
        assert low <= joint.latch <= high
        against = weight(obj, joint)
        released = 0.02 * (joint.range[1] - joint.range[0])
        assert abs(pulled(obj, joint, against)) < 0.2 * released
        assert pulled(obj, joint, against + 0.6 * joint.latch * lever) < released
        assert pulled(obj, joint, against + joint.frictionloss + 1.2 * joint.latch * lever) > 5.0 * released


def test_without_its_catch_the_same_pull_opens_a_door():
    obj, joint, lever = fixture("microwave", joint_latch=3.0, joint_friction=0.12)
    pull = 0.6 * joint.latch * lever
    free, _, _ = fixture("microwave", joint_latch=1.0, joint_friction=0.12)
    assert pulled(obj, joint, pull) < 0.01
    assert pulled(free, free.joints[0], pull) > 0.2


def test_a_door_that_is_nearly_closed_snaps_shut_and_one_that_is_open_stays():
    obj, joint, lever = fixture("hinged_cabinet")
    assert pulled(obj, joint, 0.0, start=0.6 * 0.004 / lever) == pytest.approx(0.0, abs=2e-3)
    assert pulled(obj, joint, 0.0, start=0.5) == pytest.approx(0.5, abs=0.03)


def test_the_lid_of_a_bin_springs_back():
    obj, joint, _ = fixture("trash_can")
    low, high = RANGES["sprung lid"].spring
    assert low <= obj.model.jnt_stiffness[obj.model.joint(joint.joint).id] <= high
    assert pulled(obj, joint, 0.0, start=1.2) < 0.05


def test_catches_are_springs_that_no_command_drives():
    for category in LATCHED:
        model = fixture(category)[0].model
        assert model.nu == 0
        assert model.ntendon == len(fixture(category)[0].joints)


def test_friction_and_stops_are_drawn_from_stated_ranges_and_reach_physics():
    values = set()
    for seed in range(4):
        obj, joint, _ = fixture("drawer_cabinet", seed)
        index = obj.model.joint(joint.joint).id
        dof = obj.model.jnt_dofadr[index]
        kind = RANGES["drawer"]
        assert kind.friction[0] <= obj.model.dof_frictionloss[dof] <= kind.friction[1]
        assert kind.damping[0] <= np.ravel(obj.model.dof_damping[dof])[0] <= kind.damping[1]
        assert obj.model.jnt_solref[index][0] == kind.stop
        values.add(float(obj.model.dof_frictionloss[dof]))
    assert len(values) == 4


def test_the_guide_states_every_range():
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "objects.md").read_text(encoding="utf-8")
    for name, kind in RANGES.items():
        ranges = (kind.friction, kind.damping, kind.latch, kind.spring)
        cells = [name, *("" if r is None else f"{r[0]:g} to {r[1]:g}" for r in ranges), f"{kind.stop:g}"]
        assert "| " + " | ".join(cells) + " |" in guide, cells
