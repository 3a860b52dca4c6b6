"""Explains MuJoCo's warnings."""

import mujoco
import numpy as np

from handloom.sim.name_table import NameTable

_ADVICE = {
    mujoco.mjtWarning.mjWARN_INERTIA: "the inertia matrix is singular at dof {place}, joint {joint!r}; give it a mass",
    mujoco.mjtWarning.mjWARN_CONTACTFULL: "contacts were dropped; raise <size memory> of the model",
    mujoco.mjtWarning.mjWARN_CNSTRFULL: "constraints were dropped; raise <size memory> of the model",
    mujoco.mjtWarning.mjWARN_BADQPOS: "the position at qpos {place}, joint {joint!r}, is infinite, NaN or huge",
    mujoco.mjtWarning.mjWARN_BADQVEL: "the velocity of dof {place}, joint {joint!r}, is infinite, NaN or huge",
    mujoco.mjtWarning.mjWARN_BADQACC: "the acceleration of dof {place}, joint {joint!r}, is infinite, NaN or huge",
    mujoco.mjtWarning.mjWARN_BADCTRL: "control {place} is not finite",
}
_BAD_MOTION = {mujoco.mjtWarning.mjWARN_BADQVEL: "qvel", mujoco.mjtWarning.mjWARN_BADQACC: "qacc"}


def describe_fault(model: mujoco.MjModel, data: mujoco.MjData, kind: mujoco.mjtWarning, joints: NameTable) -> str:
    """Describe the fault of the last step and the joint where it occurred.

    Args:
        model: The model.
        data: Its data, right after the step.
        kind: The warning that was raised.
        joints: Names of the joints.
    """
    place = int(data.warning.lastinfo[kind.value])
    joint = -1
    if kind == mujoco.mjtWarning.mjWARN_BADQPOS:
        joint = int(np.searchsorted(model.jnt_qposadr, place, side="right")) - 1
    elif kind in _BAD_MOTION:
        # MuJoCo names the first dof over its limit; contacts spread a fault at once, so the worst dof is more useful.
        motion = np.abs(getattr(data, _BAD_MOTION[kind]))
        place = int(np.argmax(np.where(np.isnan(motion), np.inf, motion)))
        joint = int(model.dof_jntid[place])
    elif kind == mujoco.mjtWarning.mjWARN_INERTIA:
        joint = int(model.dof_jntid[place])
    return _ADVICE[kind].format(place=place, joint=joints.label(joint) if joint >= 0 else "?")


def quiet_mujoco() -> None:
    """Keep MuJoCo from writing its warnings to the terminal and to ``MUJOCO_LOG.TXT`` in the working folder.

    This holds for the whole process, so it is done by the first ``World`` and not by an import: a world checks the same
    warnings after every step and raises errors for them.
    """
    log = mujoco.MjLogConfig.get()
    log.logto_console = log.logto_file = False
    log.set()
