"""Choose a home position: no contacts, tools pointing down in front of the robot, joints away from their limits."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.robots.proposal.arm_chains import ArmChain
from handloom.robots.proposal.gripper_guess import GripperGuess

SAMPLES = 2500
SETTLE_STEPS = 1000
# Below this smallest singular value of its Jacobian an arm counts as stretched out [m or rad per rad].
SMALL_SINGULAR_VALUE = 0.05


def home_guess(model: mujoco.MjModel, arms: tuple[ArmChain, ...], guesses: list[GripperGuess]) -> dict[str, float]:
    """Return a home position for every joint [m or rad]; arms are searched one after the other."""
    data = mujoco.MjData(model)
    q = _with_open_grippers(model, guesses)
    rng = np.random.default_rng(0)
    for arm, guess in zip(arms, guesses, strict=True):
        joints = [model.joint(name).id for name in arm.joints]
        lower, upper = model.jnt_range[joints].T
        candidates = rng.uniform(lower, upper, (SAMPLES, len(joints)))
        costs = [_cost(model, data, q, joints, candidate, arm, guess) for candidate in candidates]
        q[joints] = candidates[int(np.argmin(costs))]
    return {model.joint(j).name: round(float(q[j]), 4) for j in range(model.njnt)}


def _cost(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    q: Array,
    joints: list[int],
    candidate: Array,
    arm: ArmChain,
    guess: GripperGuess,
) -> float:
    data.qpos[model.jnt_qposadr] = q
    data.qpos[model.jnt_qposadr[joints]] = candidate
    mujoco.mj_fwdPosition(model, data)
    depth = -sum(min(0.0, float(contact.dist)) for contact in data.contact)
    hand = data.body(arm.hand_body)
    T_world_tool = hand.xmat.reshape(3, 3) @ guess.T_hand_tool[:3, :3]
    forward = float(hand.xpos[0] - data.body(arm.base_body).xpos[0])
    lower, upper = model.jnt_range[joints].T
    spread = (candidate - (lower + upper) / 2) / ((upper - lower) / 2)
    jacobian = np.zeros((6, model.nv))
    mujoco.mj_jacBody(model, data, jacobian[:3], jacobian[3:], model.body(arm.hand_body).id)
    singular = np.linalg.svd(jacobian[:, model.jnt_dofadr[joints]], compute_uv=False)
    stretched = max(0.0, 1.0 - float(singular[min(len(joints), 6) - 1]) / SMALL_SINGULAR_VALUE)
    points_up = 1.0 + float(T_world_tool[2, 2])
    return 1e3 * depth + points_up + stretched + 0.5 * float(np.mean(spread**2)) + max(0.0, 0.2 - forward)


def _with_open_grippers(model: mujoco.MjModel, guesses: list[GripperGuess]) -> Array:
    """Return joint positions (njnt,): grippers settled open, followers included, the rest at zero or mid-range."""
    lower, upper = model.jnt_range.T
    q = np.where((lower <= 0) & (upper >= 0), 0.0, (lower + upper) / 2)
    data = mujoco.MjData(model)
    data.qpos[model.jnt_qposadr] = q
    driven = model.actuator_trnid[:, 0]
    data.ctrl[:] = data.qpos[model.jnt_qposadr[driven]]
    for guess in guesses:
        for name, target in zip(guess.drives, guess.open_targets, strict=True):
            data.actuator(name).ctrl = target
            q[model.joint(name).id] = target
    mujoco.mj_step(model, data, SETTLE_STEPS)
    passive = np.setdiff1d(np.arange(model.njnt), driven)
    q[passive] = data.qpos[model.jnt_qposadr[passive]]
    return q
