"""Driven joints of a gripper, and the joints that follow them."""

import mujoco
import numpy as np

from handloom.robots.proposal.adopt_model import COUPLING_SOLREF
from handloom.robots.proposal.arm_chains import ArmChain

# Stiffness and damping of undriven finger joints, as of a stiff tendon [N m/rad] and [N m s/rad].
OUTER_STIFFNESS, OUTER_DAMPING = 5.0, 0.05


def drives_of(spec: mujoco.MjSpec, model: mujoco.MjModel, arm: ArmChain, notes: list[str]) -> tuple[str, ...]:
    """Return the gripper joints to drive; couple two free fingers, since one drive usually moves both."""
    followers = {
        model.joint(model.eq_obj1id[i]).name
        for i in range(model.neq)
        if model.eq_type[i] == mujoco.mjtEq.mjEQ_JOINT and model.eq_obj2id[i] >= 0
    }
    free = [name for name in arm.gripper_joints if name not in followers]
    driven = {name for i in range(model.nu) for name in _actuated(model, i)}
    if any(name in driven for name in free):
        return tuple(name for name in free if name in driven)
    if len(free) == 2 and not any(model.eq_type[i] == mujoco.mjtEq.mjEQ_CONNECT for i in range(model.neq)):
        (a, b), (c, d) = model.joint(free[0]).range, model.joint(free[1]).range
        mirrored = abs(a + d) + abs(b + c) < abs(a - c) + abs(b - d)
        couple(spec, free[1], free[0], ratio=-1.0 if mirrored else 1.0)
        notes.append(f"{free[1]} follows {free[0]}: one drive moves both fingers")
        return (free[0],)
    if (fingers := _finger_roots(model, arm, free)) and len(fingers) > 2:
        return _several_fingers(spec, model, free, fingers, notes)
    notes.append(f"no actuator shows which gripper joint is driven; {free[0]} was chosen")
    return (free[0],)


def _finger_roots(model: mujoco.MjModel, arm: ArmChain, joints: list[str]) -> list[str]:
    """Return the joints of a gripper that sit on the hand itself, one per finger."""
    hand = model.body(arm.hand_body).id

    def above(joint: str) -> int:
        body = int(model.body_parentid[model.jnt_bodyid[model.joint(joint).id]])
        while body != hand and body > 0 and model.body_jntnum[body] == 0:
            body = int(model.body_parentid[body])
        return body

    return [name for name in joints if above(name) == hand]


def _several_fingers(
    spec: mujoco.MjSpec, model: mujoco.MjModel, free: list[str], fingers: list[str], notes: list[str]
) -> tuple[str, ...]:
    """Let all fingers of a hand follow the first, and hold their outer joints in place."""
    leader, *others = fingers
    (a, b) = model.joint(leader).range
    for name in others:
        c, d = model.joint(name).range
        ratio = (d - c) / (b - a) * (-1.0 if abs(a + d) + abs(b + c) < abs(a - c) + abs(b - d) else 1.0)
        couple(spec, name, leader, ratio=ratio)
    for name in (name for name in free if name not in fingers):
        low, high = model.joint(name).range
        joint = spec.joint(name)
        joint.springref = float(np.clip(0.0, low, high))
        joint.stiffness[0], joint.damping[0] = OUTER_STIFFNESS, max(joint.damping[0], OUTER_DAMPING)
    outer = ", ".join(name for name in free if name not in fingers)
    notes.append(f"{', '.join(others)} follow {leader}: one drive moves all fingers")
    if outer:
        notes.append(f"a spring holds {outer}, which has no drive")
    return (leader,)


def _actuated(model: mujoco.MjModel, actuator: int) -> list[str]:
    """Return the joints that an actuator moves, directly or by a tendon over joints."""
    target = int(model.actuator_trnid[actuator, 0])
    if model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT:
        return [model.joint(target).name]
    if model.actuator_trntype[actuator] != mujoco.mjtTrn.mjTRN_TENDON:
        return []
    wraps = range(model.tendon_adr[target], model.tendon_adr[target] + model.tendon_num[target])
    joints = [model.wrap_objid[w] for w in wraps if model.wrap_type[w] == mujoco.mjtWrap.mjWRAP_JOINT]
    return [model.joint(joint).name for joint in joints]


def couple(spec: mujoco.MjSpec, follower: str, leader: str, *, offset: float = 0.0, ratio: float) -> None:
    """Make one joint follow another."""
    coupling = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
    coupling.name1, coupling.name2 = follower, leader
    # MuJoCo measures both from their values in the model's initial pose.
    coupling.data[:5] = [offset + ratio * spec.joint(leader).ref - spec.joint(follower).ref, ratio, 0.0, 0.0, 0.0]
    coupling.solref = COUPLING_SOLREF
