"""Gives the position servos of a spec the three inputs that a joint drive has."""

import mujoco

_ALL_INPUTS = mujoco.mjtCtrlInput.mjINPUT_POS | mujoco.mjtCtrlInput.mjINPUT_VEL | mujoco.mjtCtrlInput.mjINPUT_FF


def is_position_servo(actuator: mujoco.MjsActuator) -> bool:
    """Return whether an actuator is a plain position servo on one joint: force = kp (control - q) - kd qd."""
    return (
        actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT
        and actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE
        and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
        and actuator.gainprm[0] == -actuator.biasprm[1]
        and actuator.gainprm[0] > 0
    )


def add_drive_inputs(spec: mujoco.MjSpec, *, prefix: str = "") -> tuple[str, ...]:
    """Turn position servos of a spec into PID actuators with a position, a velocity and an effort input.

    With the two new inputs at zero the force is the same. The point is that all three targets then live in
    ``data.ctrl``, so that a saved state holds them; the number of controls grows, and ``World.ctrl_index`` says where
    those of each actuator begin.

    Args:
        spec: The spec to change, before it is compiled.
        prefix: Only actuators whose name starts with it.

    Returns:
        Names of the actuators that were changed.
    """
    changed = [
        actuator for actuator in spec.actuators if actuator.name.startswith(prefix) and is_position_servo(actuator)
    ]
    for actuator in changed:
        # The bias, 0 -kp -kd, means the same in both kinds; the gain of a PID actuator is its integral gain.
        actuator.gaintype = mujoco.mjtGain.mjGAIN_PID
        actuator.gainprm[0] = 0.0
        actuator.ctrlspec = int(_ALL_INPUTS)
    return tuple(actuator.name for actuator in changed)
