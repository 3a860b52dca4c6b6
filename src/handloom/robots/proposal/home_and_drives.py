"""Guesses of a home position and of the drives of a robot model."""

from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.robots.proposal.arm_chains import ArmChain
from handloom.robots.proposal.gripper_guess import GripperGuess

HOME_SAMPLES = 2500
SETTLE_STEPS = 1000
# Robots stand on their work surface: at home the tool is at least this far above the base [m].
LOWEST_HOME = 0.1
# Below this smallest singular value of its Jacobian an arm counts as stretched out [m or rad per rad].
SMALL_SINGULAR_VALUE = 0.05
# Bandwidth of every drive in the worst pose [rad/s].
BANDWIDTH = 40.0
INERTIA_SAMPLES = 300
# Without a force limit in the model: the force for this acceleration of the joint's largest inertia [rad/s^2 or m/s^2].
ASSUMED_ACCELERATION = 50.0
# A gripper's drive applies its full force at this fraction of its stroke from its target.
FULL_FORCE_SHARE = 0.02
# Largest bandwidth of such a drive; above it a physics step of 2 ms is too long [rad/s].
FASTEST = 600.0
SMALLEST_ARMATURE = 0.005
# A finger of 0.2 kg, 0.3 m from its joint, has less [kg m^2].
LARGEST_FINGER_ARMATURE = 0.02
# Time of a gripper from one end to the other if its model gives no speed [s].
ASSUMED_STROKE_TIME = 0.25
# A stated speed that takes longer than this is a placeholder, such as 1 rad/s for every joint [s].
SLOWEST_STROKE_TIME = 0.5
# Friction may hold a joint this far from the target of its drive [m or rad].
STUCK = 0.002


def home_guess(model: mujoco.MjModel, arms: tuple[ArmChain, ...], guesses: list[GripperGuess]) -> dict[str, float]:
    """Return a home position for every joint [m or rad]; arms are searched one after another."""
    data = mujoco.MjData(model)
    q = _with_open_grippers(model, guesses)
    rng = np.random.default_rng(0)
    for arm, guess in zip(arms, guesses, strict=True):
        joints = [model.joint(name).id for name in arm.joints]
        lower, upper = model.jnt_range[joints].T
        candidates = rng.uniform(lower, upper, (HOME_SAMPLES, len(joints)))
        best, least = candidates[0], np.inf
        for candidate in candidates:
            cost = _cost(model, data, q, joints, candidate, arm, guess, least)
            if cost < least:
                best, least = candidate, cost
        q[joints] = best
    return {model.joint(j).name: round(float(q[j]), 4) for j in range(model.njnt)}


def _cost(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    q: Array,
    joints: list[int],
    candidate: Array,
    arm: ArmChain,
    guess: GripperGuess,
    least: float,
) -> float:
    """Return the cost of an arm position; infinity if its contacts alone cost more than ``least``."""
    data.qpos[model.jnt_qposadr] = q
    data.qpos[model.jnt_qposadr[joints]] = candidate
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    depth = -sum(np.minimum(data.contact.dist, 0.0).tolist())
    if 1e3 * depth > least:
        return np.inf
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
    tip = hand.xpos + hand.xmat.reshape(3, 3) @ guess.T_hand_tool[:3, 3] + guess.tcp_offset * T_world_tool[:, 2]
    low = max(0.0, LOWEST_HOME - float(tip[2] - data.body(arm.base_body).xpos[2]))
    return 1e3 * depth + points_up + stretched + 0.5 * float(np.mean(spread**2)) + max(0.0, 0.2 - forward) + 20.0 * low


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


def _largest_inertias(model: mujoco.MjModel) -> Array:
    """Return the largest diagonal entries (nv,) of the joint-space inertia over sampled joint positions."""
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    largest = np.zeros(model.nv)
    M = np.zeros((model.nv, model.nv))
    scalar = [j for j in range(model.njnt) if model.jnt_type[j] >= mujoco.mjtJoint.mjJNT_SLIDE.value]
    for _ in range(INERTIA_SAMPLES):
        for j in scalar:
            lower, upper = model.jnt_range[j] if model.jnt_limited[j] else (-np.pi, np.pi)
            data.qpos[model.jnt_qposadr[j]] = rng.uniform(lower, upper)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fullM(model, data, M)
        largest = np.maximum(largest, np.diag(M))
    return largest


def _force_limits(model: mujoco.MjModel) -> dict[str, float]:
    """Return joint > largest force [N or N m] in the model, from joints or from their actuators."""
    found: dict[str, float] = {}
    for j in range(model.njnt):
        if model.jnt_actfrclimited[j]:
            found[model.joint(j).name] = float(model.jnt_actfrcrange[j, 1])
    for i in range(model.nu):
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT and model.actuator_forcelimited[i]:
            found.setdefault(model.joint(model.actuator_trnid[i, 0]).name, float(model.actuator_forcerange[i, 1]))
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_TENDON and model.actuator_forcelimited[i]:
            tendon = int(model.actuator_trnid[i, 0])
            for w in range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon]):
                if model.wrap_type[w] == mujoco.mjtWrap.mjWRAP_JOINT:
                    share = abs(float(model.wrap_prm[w] * model.actuator_forcerange[i, 1]))
                    found.setdefault(model.joint(model.wrap_objid[w]).name, share)
    return found


def _strokes(model: mujoco.MjModel, joints: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return joint > range of its drive [m or rad]: that of its position actuator, within the joint's limits.

    Raises:
        ConfigError: Neither the joint nor its actuator has a range.
    """
    found = {}
    for joint in map(model.joint, joints):
        low, high = joint.range if model.jnt_limited[joint.id] else (-np.inf, np.inf)
        found[joint.name] = float(low), float(high)
    for i in range(model.nu):
        position = model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE and model.actuator_biasprm[i, 1] < 0
        if not (position and model.actuator_ctrllimited[i] and model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT):
            continue
        name = model.joint(model.actuator_trnid[i, 0]).name
        low, high = (float(value) for value in model.actuator_ctrlrange[i])
        # A range that the joint cannot follow belongs to another joint or another unit.
        if name in found and found[name][0] - 1e-6 <= low < high <= found[name][1] + 1e-6:
            found[name] = (low, high)
    for name, ends in found.items():
        if not np.all(np.isfinite(ends)):
            raise ConfigError(
                f"the joint {name!r} drives the gripper but has no range, so its open and closed ends are unknown; "
                'give it one in the model: range="CLOSED OPEN" [m or rad], and limited="true"'
            )
    return found


def add_drives(
    spec: mujoco.MjSpec,
    arms: tuple[ArmChain, ...],
    drives: list[tuple[str, ...]],
    speeds: Mapping[str, float],
    notes: list[str],
) -> dict[str, float]:
    """Add a drive to every commanded joint; return the speed limits of gripper drives [m/s or rad/s]."""
    original = model = spec.compile()
    grippers = {name for arm in arms for name in arm.gripper_joints}
    driven = {name for names in drives for name in names}
    in_arms = {name for arm in arms for name in arm.joints}
    joints = []
    for j in range(model.njnt):
        name = model.joint(j).name
        if name in in_arms or name in driven or (name not in grippers and model.jnt_limited[j]):
            joints.append(name)
        elif name not in grippers:
            notes.append(f"{name} is unlimited, like a wheel; it stays free")
    for name in joints:
        joint = spec.joint(name)
        if not model.jnt_limited[model.joint(name).id]:
            notes.append(f"{name} had no limits; they are now -pi to pi")
            joint.range = [-np.pi, np.pi]
            joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
        joint.armature = max(joint.armature, SMALLEST_ARMATURE)
    _lighten_fingers(spec, grippers, notes)
    forces = _force_limits(model)
    for name in joints:
        if name not in forces:
            notes.append(f"{name} has no stated force limit; one was derived from its inertia")
    model = spec.compile()
    inertias = _largest_inertias(model)
    if assumed := sorted(driven - set(speeds)):
        notes.append(f"{', '.join(assumed)} has no stated speed; assumed: end to end in {ASSUMED_STROKE_TIME:g} s")
    strokes = _strokes(original, driven)
    for name, (low, high) in strokes.items():
        if name in speeds and high - low > SLOWEST_STROKE_TIME * speeds[name]:
            notes.append(
                f"at its stated speed, {speeds[name]:g}, {name} is slow; assumed: {SLOWEST_STROKE_TIME:g} s end to end"
            )
    friction = {name: spec.joint(name).frictionloss for name in joints}
    limits = _replace_actuators(
        spec,
        joints,
        inertias={name: float(inertias[model.joint(name).dofadr[0]]) for name in joints},
        forces=forces,
        grippers=strokes,
        speeds=speeds,
    )
    if lowered := [name for name in joints if spec.joint(name).frictionloss < friction[name]]:
        notes.append(f"the friction of {', '.join(lowered)} was lowered: their drives would not reach their targets")
    return limits


def _lighten_fingers(spec: mujoco.MjSpec, grippers: Iterable[str], notes: list[str]) -> None:
    """Reduce excessive armature of gripper hinges, with which a linkage would oscillate for seconds."""
    for joint in map(spec.joint, sorted(grippers)):
        if joint.type == mujoco.mjtJoint.mjJNT_HINGE and joint.armature > LARGEST_FINGER_ARMATURE:
            notes.append(f"{joint.name} had an armature of {joint.armature:g} kg m^2, more than any finger; now less")
            joint.armature = LARGEST_FINGER_ARMATURE


def _replace_actuators(
    spec: mujoco.MjSpec,
    joints: Iterable[str],
    *,
    inertias: Mapping[str, float],
    forces: Mapping[str, float],
    grippers: Mapping[str, tuple[float, float]],
    speeds: Mapping[str, float],
) -> dict[str, float]:
    """Remove every actuator and add position actuators, limited in force and to the joint's limits.

    kp = M w^2, or more for a joint in ``grippers``, which gives the stroke: full force within 2 % of it, as far as the
    physics step allows; kv = 2 sqrt(kp M).

    A gripper that snaps shut knocks objects away instead of holding them. The joint's own damping keeps it at the speed
    in ``speeds`` under full force; as kv it would be part of the clipped force.

    Returns:
        Joint > largest speed of those in ``grippers`` [m/s or rad/s].
    """
    limits: dict[str, float] = {}
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for name in joints:
        M, joint = inertias[name], spec.joint(name)
        force = forces.get(name, max(1.0, ASSUMED_ACCELERATION * M))
        kp = M * BANDWIDTH**2
        low, high = grippers.get(name, (float(joint.range[0]), float(joint.range[1])))
        if name in grippers:
            kp = max(kp, min(force / (FULL_FORCE_SHARE * (high - low)), M * FASTEST**2))
            assumed, least = ((high - low) / seconds for seconds in (ASSUMED_STROKE_TIME, SLOWEST_STROKE_TIME))
            limits[name] = float(f"{max(speeds.get(name, assumed), least):.3g}")
            joint.damping[0] = max(joint.damping[0], float(f"{force / limits[name]:.3g}"))
        joint.frictionloss = min(joint.frictionloss, STUCK * kp)
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(f"{kp:.2g}"), kv=float(f"{2 * np.sqrt(kp * M):.2g}"))
        actuator.ctrlrange = [low, high]
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.forcerange = [-force, force]
        actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
    return limits
