"""The actuator that drives a joint, and its controls."""

from dataclasses import dataclass, replace

import mujoco

from handloom.sim import World

_INPUTS = mujoco.mjtCtrlInput


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """A joint that follows another: q - q0 = c0 + c1 d + ... + c4 d^4, with d the leader's distance from its q0."""

    leader: str
    """Full name of the joint it follows."""
    leader_zero: float
    """Position of the leader in the reference configuration [rad or m]."""
    zero: float
    """Position of this joint in the reference configuration [rad or m]."""
    coefficients: tuple[float, ...]
    """c0 to c4."""

    def position(self, leader: float) -> float:
        """Return the position of this joint for a position of the leader [rad or m]."""
        d = leader - self.leader_zero
        return self.zero + sum(c * d**power for power, c in enumerate(self.coefficients))

    def slope(self, leader: float) -> float:
        """Return the speed of this joint per unit speed of the leader, at a position of the leader."""
        d = leader - self.leader_zero
        return sum(power * c * d ** (power - 1) for power, c in enumerate(self.coefficients) if power)


@dataclass(frozen=True, kw_only=True)
class JointWiring:
    """How one hinge or slide joint is driven."""

    joint: int
    """Index of the joint in the model."""
    qpos: int
    """Index of its position in ``data.qpos``."""
    dof: int
    """Index of its velocity in ``data.qvel``."""
    actuator: int = -1
    """Index of the actuator that drives it; -1 when none does."""
    position_ctrl: int = -1
    """Index in ``data.ctrl`` of the position input of a PID actuator; -1 when there is none."""
    velocity_ctrl: int = -1
    """Index in ``data.ctrl`` of the velocity input of a PID actuator; -1 when there is none."""
    effort_ctrl: int = -1
    """Index in ``data.ctrl`` of the feed-forward input of a PID actuator; -1 when there is none."""
    folded_ctrl: int = -1
    """Index in ``data.ctrl`` of the one control of a plain servo or motor, which carries all three targets; else -1."""
    fault: str = ""
    """Why the joint takes no targets; empty when it does."""
    coupling: "Coupling | None" = None
    """The joint it follows, when it has no drive of its own."""

    @property
    def driven(self) -> bool:
        """Whether the joint takes targets."""
        return self.actuator >= 0


def wire_joint(world: World, joint_name: str) -> JointWiring:
    """Find the actuator of a joint and its inputs."""
    model = world.model
    joint = world.joint_index(joint_name)
    free = JointWiring(joint=joint, qpos=world.qpos_index(joint_name), dof=world.dof_index(joint_name))
    actuators = [
        index
        for index in range(model.nactuator)
        if model.actuator_trntype[index] == mujoco.mjtTrn.mjTRN_JOINT.value and model.actuator_trnid[index, 0] == joint
    ]
    if len(actuators) != 1:
        coupling = None if actuators else _coupling(world, joint)
        fault = f"{len(actuators)} actuators act on it" if actuators else "it has no actuator of its own"
        return replace(free, fault=f"{fault}; it follows {coupling.leader!r}" if coupling else fault, coupling=coupling)
    (actuator,) = actuators
    fault = _unusable(model, actuator)
    if fault:
        return replace(free, fault=f"its actuator {world.actuators.label(actuator)!r} {fault}")
    start = int(model.actuator_ctrladr[actuator])
    if model.actuator_gaintype[actuator] != mujoco.mjtGain.mjGAIN_PID.value:
        return replace(free, actuator=actuator, folded_ctrl=start)
    inputs, signature = {}, int(model.actuator_ctrlspec[actuator])
    for name, bit in (
        ("position", _INPUTS.mjINPUT_POS),
        ("velocity", _INPUTS.mjINPUT_VEL),
        ("effort", _INPUTS.mjINPUT_FF),
    ):
        if signature & int(bit):
            inputs[f"{name}_ctrl"] = start + len(inputs)
    return replace(free, actuator=actuator, **inputs)


def _coupling(world: World, joint: int) -> Coupling | None:
    """Return the coupling of a joint to its leader; None if it follows no other joint."""
    model = world.model
    for equality in range(model.neq):
        coupled = model.eq_type[equality] == mujoco.mjtEq.mjEQ_JOINT.value
        if coupled and model.eq_obj1id[equality] == joint and model.eq_obj2id[equality] >= 0:
            leader = int(model.eq_obj2id[equality])
            return Coupling(
                leader=world.joints.label(leader),
                leader_zero=float(model.qpos0[model.jnt_qposadr[leader]]),
                zero=float(model.qpos0[model.jnt_qposadr[joint]]),
                coefficients=tuple(float(c) for c in model.eq_data[equality, :5]),
            )
    return None


def _unusable(model: mujoco.MjModel, actuator: int) -> str:
    """Return why an actuator cannot be a joint drive; empty when it can."""
    gain, bias = model.actuator_gaintype[actuator], model.actuator_biastype[actuator]
    pid = gain == mujoco.mjtGain.mjGAIN_PID.value
    if model.actuator_gear[int(model.actuator_outadr[actuator]), 0] != 1.0:
        return "has a gear other than 1"
    if model.actuator_dyntype[actuator] != mujoco.mjtDyn.mjDYN_NONE.value:
        return "has dynamics of its own"
    servo_bias = bias in (mujoco.mjtBias.mjBIAS_NONE.value, mujoco.mjtBias.mjBIAS_AFFINE.value)
    if not servo_bias or not (pid or gain == mujoco.mjtGain.mjGAIN_FIXED.value):
        return "is neither a servo nor a motor"
    constant, stiffness, damping = -model.actuator_biasprm[actuator, :3]
    if constant != 0.0 or stiffness < 0.0 or damping < 0.0:
        return "has a bias that is not that of a servo"
    expected = stiffness or damping or 1.0
    if not pid and model.actuator_gainprm[actuator, 0] != expected:
        return f"has gain {model.actuator_gainprm[actuator, 0]:g}, not {expected:g} as its bias implies"
    return ""
