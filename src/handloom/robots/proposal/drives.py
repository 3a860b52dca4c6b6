"""Give a model one position drive per commanded joint, with gains derived from its inertia."""

from collections.abc import Collection, Iterable, Mapping

import mujoco
import numpy as np

from handloom.arrays import Array

# Of every drive in the worst pose [rad/s].
BANDWIDTH = 40.0
SAMPLES = 300
# Where a model gives no force limit: what this acceleration of the joint's largest inertia needs [rad/s^2 or m/s^2].
ASSUMED_ACCELERATION = 50.0
SMALLEST_ARMATURE = 0.005


def largest_inertias(model: mujoco.MjModel) -> Array:
    """Return the largest diagonal entries (nv,) of the joint-space inertia over sampled joint positions."""
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    largest = np.zeros(model.nv)
    M = np.zeros((model.nv, model.nv))
    scalar = [j for j in range(model.njnt) if model.jnt_type[j] >= mujoco.mjtJoint.mjJNT_SLIDE.value]
    for _ in range(SAMPLES):
        for j in scalar:
            lower, upper = model.jnt_range[j] if model.jnt_limited[j] else (-np.pi, np.pi)
            data.qpos[model.jnt_qposadr[j]] = rng.uniform(lower, upper)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fullM(model, data, M)
        largest = np.maximum(largest, np.diag(M))
    return largest


def force_limits(model: mujoco.MjModel) -> dict[str, float]:
    """Return joint > largest force [N or N m] the model states, from joints or from their actuators."""
    found: dict[str, float] = {}
    for j in range(model.njnt):
        if model.jnt_actfrclimited[j]:
            found[model.joint(j).name] = float(model.jnt_actfrcrange[j, 1])
    for i in range(model.nu):
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT and model.actuator_forcelimited[i]:
            found.setdefault(model.joint(model.actuator_trnid[i, 0]).name, float(model.actuator_forcerange[i, 1]))
    return found


def replace_actuators(
    spec: mujoco.MjSpec,
    joints: Iterable[str],
    *,
    inertias: Mapping[str, float],
    forces: Mapping[str, float],
    grippers: Collection[str],
) -> None:
    """Remove every actuator and add position actuators, limited in force and to the joint's limits.

    kp = M w^2, or more for a joint in ``grippers``: full force within 5 % of its range; kv = 2 sqrt(kp M).
    """
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for name in joints:
        M, joint = inertias[name], spec.joint(name)
        force = forces.get(name, max(1.0, ASSUMED_ACCELERATION * M))
        kp = M * BANDWIDTH**2
        if name in grippers:
            kp = max(kp, force / (0.05 * float(joint.range[1] - joint.range[0])))
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=float(f"{kp:.2g}"), kv=float(f"{2 * np.sqrt(kp * M):.2g}"))
        actuator.ctrlrange = list(joint.range)
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.forcerange = [-force, force]
        actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
