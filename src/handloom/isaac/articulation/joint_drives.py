"""The drives of a robot's joints: position, velocity and effort targets, gains and limits.

The law of a drive is ``effort = kp (q* - q) + kd (qd* - qd) + e``, clipped to the maximum effort. It is computed by
MuJoCo inside the step, with ``kp`` and ``kd`` as model parameters, so that implicit integration accounts for them.

A PID actuator with the inputs "pos vel ff" holds the three targets in ``data.ctrl``, as part of the state. A plain
servo or motor has one control, which combines all three: ``q* + (kd qd* + e) / kp``. Its force is the same, and a
restored state continues bit for bit, but the three targets can no longer be distinguished: values that other code
writes to the control are read as a position target (or as a velocity or effort, if the gains allow only that). For the
same reason an effort in acceleration mode, whose fraction of the control changes with the inertia, is not exact after a
restore there. Gains and limits belong to the model and are outside the state in both cases.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.articulation.joint_wiring import wire_joint
from handloom.sim import World

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

    With the two new inputs at zero, the force is the same. All three targets are then in ``data.ctrl``, so that a saved
    state includes them; the number of controls grows, and ``World.ctrl_index`` says where the controls of each actuator
    begin.

    Args:
        spec: The spec to change, before it is compiled.
        prefix: Only change actuators whose name starts with it.

    Returns:
        Names of the actuators that were changed.
    """
    changed = [
        actuator for actuator in spec.actuators if actuator.name.startswith(prefix) and is_position_servo(actuator)
    ]
    for actuator in changed:
        # The bias, 0 -kp -kd, means the same in both types; the gain of a PID actuator is its integral gain.
        actuator.gaintype = mujoco.mjtGain.mjGAIN_PID
        actuator.gainprm[0] = 0.0
        actuator.ctrlspec = int(_ALL_INPUTS)
    return tuple(actuator.name for actuator in changed)


CHANNELS = ("position", "velocity", "effort")
COUPLED = 1e-6
"""Tolerance between the target of a coupled joint and the one implied by its leader: float32 rounding [rad or m]."""


class Targets(NamedTuple):
    """The targets in force, one entry per joint; NaN where a joint takes none."""

    positions: Array
    """Position targets (n,) [rad or m]."""
    velocities: Array
    """Velocity targets (n,) [rad/s or m/s]."""
    efforts: Array
    """Efforts added to the drive (n,) [N m or N]."""


class JointDrives:
    """The drives of selected joints of a world, in a given order.

    Args:
        world: The world.
        joint_names: Full names of hinge or slide joints.
    """

    def __init__(self, world: World, joint_names: Sequence[str]) -> None:
        self.world = world
        self.names = tuple(joint_names)
        self.wirings = tuple(wire_joint(world, name) for name in self.names)
        self.qpos = np.array([w.qpos for w in self.wirings], dtype=np.int64)
        self.dof = np.array([w.dof for w in self.wirings], dtype=np.int64)
        self._joint = np.array([w.joint for w in self.wirings], dtype=np.int64)
        self._actuator = np.array([w.actuator for w in self.wirings], dtype=np.int64)
        self.driven = self._actuator >= 0
        self._follows = np.array([w.coupling is not None for w in self.wirings], dtype=bool)
        inputs = [(w.position_ctrl, w.velocity_ctrl, w.effort_ctrl) for w in self.wirings]
        self._inputs = np.array(inputs, dtype=np.int64).reshape(-1, 3)
        self._fold_ctrl = np.array([w.folded_ctrl for w in self.wirings], dtype=np.int64)
        self._folded = self._fold_ctrl >= 0
        self._accelerating = np.zeros(len(self.names), dtype=bool)
        self._inertia = np.ones(len(self.names))
        driven = self._actuator[self.driven]
        self.kps, self.kds = np.zeros(len(self.names)), np.zeros(len(self.names))
        self.kps[self.driven] = -world.model.actuator_biasprm[driven, 1]
        self.kds[self.driven] = -world.model.actuator_biasprm[driven, 2]
        self._unlock_controls()
        self._registers = np.zeros((3, len(self.names)))
        self._written = np.full(len(self.names), np.nan)
        self._able = (self._folded[:, None] | (self._inputs >= 0)).T
        self.takes_position, self.takes_velocity, self.takes_effort = self._able

    def _unlock_controls(self) -> None:
        """Leave targets unclamped: a clamp on a combined control would swallow velocity and effort targets."""
        model = self.world.model
        for wiring in self.wirings:
            if wiring.driven:
                start = int(model.actuator_ctrladr[wiring.actuator])
                model.actuator_ctrllimited[start : start + int(model.actuator_ctrlnum[wiring.actuator])] = False
                # A motor is a servo with zero gains; with an affine bias, gains can be set later.
                model.actuator_biastype[wiring.actuator] = mujoco.mjtBias.mjBIAS_AFFINE.value

    # -- targets -------------------------------------------------------------------------------------------------

    def targets(self) -> Targets:
        """Return the targets in force."""
        self._read_foreign_controls()
        registers = self._registers.copy()
        for channel in range(3):
            present = self._inputs[:, channel] >= 0
            registers[channel, present] = self.world.data.ctrl[self._inputs[present, channel]]
        registers[~self._able] = np.nan
        return Targets(*registers)

    def write_targets(self, positions: Array, velocities: Array, efforts: Array) -> None:
        """Replace targets (n,); NaN keeps the current one.

        Raises:
            InputError: A target was given for a joint that takes none of this kind. Nothing was written.
        """
        asked = self._without_followers(np.array([positions, velocities, efforts], dtype=np.float64))
        self._refuse_undriven(asked)
        self._registers = np.where(np.isnan(asked), np.array(self.targets()), asked)
        self._write_controls()

    def position_controls(self) -> NDArray[np.int64] | None:
        """Return the index in ``data.ctrl`` of each joint's position target (n,).

        For control loops that write only position targets, for all joints, many times a second. Returns None if a joint
        takes no position target, or if a velocity or an effort is added to one.
        """
        _, velocities, efforts = self.targets()
        plain = ~self._folded | ((self.kps > 0.0) & (velocities == 0.0) & (efforts == 0.0))
        places = np.where(self._folded, self._fold_ctrl, self._inputs[:, 0])
        return places if bool(np.all(plain & self.takes_position)) else None

    def _without_followers(self, asked: Array) -> Array:
        """Return targets (3, n) without those of coupled joints, which must agree with their leaders' targets.

        Isaac Sim commands name both fingers of a gripper; here one drive moves both.
        """
        followers = [j for j, w in enumerate(self.wirings) if w.coupling and not np.all(np.isnan(asked[:, j]))]
        if not followers:
            return asked
        in_force = np.array(self.targets())
        kept = asked.copy()
        for joint in followers:
            coupling = self.wirings[joint].coupling
            if coupling is None or coupling.leader not in self.names:
                continue
            leader = self.names.index(coupling.leader)
            goal = np.where(np.isnan(asked[:, leader]), in_force[:, leader], asked[:, leader])
            slope = coupling.slope(goal[0])
            implied = (coupling.position(goal[0]), slope * goal[1], slope * goal[2])
            for channel in np.flatnonzero(~np.isnan(asked[:, joint])):
                if not abs(asked[channel, joint] - implied[channel]) <= COUPLED:
                    raise InputError(
                        f"joint {self.names[joint]!r} follows {coupling.leader!r}, whose {CHANNELS[channel]} target "
                        f"{goal[channel]:g} puts it at {implied[channel]:g}, not at {asked[channel, joint]:g}; give "
                        "that, None or NaN"
                    )
            kept[:, joint] = np.nan
        return kept

    def _refuse_undriven(self, asked: Array) -> None:
        for channel, joint in zip(*np.nonzero(~np.isnan(asked) & ~self._able), strict=True):
            wiring = self.wirings[joint]
            why = wiring.fault or f"its actuator has no {CHANNELS[channel]} input"
            raise InputError(
                f"joint {self.names[joint]!r} takes no {CHANNELS[channel]} target: {why}; give None or NaN for it, or "
                "omit it from joint_indices"
            )

    def _write_controls(self) -> None:
        ctrl = self.world.data.ctrl
        for channel in range(3):
            present = self._inputs[:, channel] >= 0
            ctrl[self._inputs[present, channel]] = self._registers[channel, present]
        if np.any(self._folded):
            ctrl[self._fold_ctrl[self._folded]] = self._fold()[self._folded]
            self._written[self._folded] = ctrl[self._fold_ctrl[self._folded]]
        self.world.invalidate()

    def _fold(self) -> Array:
        """Return the single control (n,) equivalent to the three targets under the current gains."""
        position, velocity, effort = self._registers
        kp, kd = self.kps * self._inertia, self.kds * self._inertia
        with np.errstate(divide="ignore", invalid="ignore"):
            # The ratio of the unscaled gains does not depend on the inertia, so this part is the same in every step.
            servo = position + self.kds / self.kps * velocity + effort / kp
            damper = velocity + effort / kd
        return np.where(kp > 0.0, servo, np.where(kd > 0.0, damper, effort))

    def _read_foreign_controls(self) -> None:
        """Interpret a combined control written elsewhere, such as by a reset, as the single target it acts as."""
        if not np.any(self._folded):
            return
        control = np.full(len(self.names), np.nan)
        control[self._folded] = self.world.data.ctrl[self._fold_ctrl[self._folded]]
        foreign = self._folded & (control != self._written)
        if np.any(foreign):
            acts_as = np.where(self.kps > 0.0, 0, np.where(self.kds > 0.0, 1, 2))
            for channel in range(3):
                # The other channels act as zero; a position target without effect under these gains is kept for later.
                if channel > 0:
                    self._registers[channel, foreign] = 0.0
                mine = foreign & (acts_as == channel)
                self._registers[channel, mine] = control[mine]
            self._written[foreign] = control[foreign]

    # -- gains and limits ----------------------------------------------------------------------------------------

    def set_gains(self, kps: Array, kds: Array) -> None:
        """Set stiffness (n,) and damping (n,); NaN keeps a gain.

        A coupled joint stores its gains but ignores them: its leader has the drive. Isaac Sim code sets the gains of
        both fingers of a gripper.

        Raises:
            InputError: A gain is negative, or belongs to a joint without a drive. Nothing was written.
        """
        new_kps, new_kds = np.where(np.isnan(kps), self.kps, kps), np.where(np.isnan(kds), self.kds, kds)
        for word, gains in (("kps", new_kps), ("kds", new_kds)):
            for joint in np.flatnonzero((gains < 0.0) | (~self.driven & ~self._follows & (gains != 0.0))):
                why = "it must not be negative" if gains[joint] < 0.0 else self.wirings[joint].fault
                raise InputError(f"{word} of joint {self.names[joint]!r} cannot be {gains[joint]:g}: {why}")
        self._registers = np.array(self.targets())
        self.kps, self.kds = new_kps, new_kds
        self._write_gains()

    def _write_gains(self) -> None:
        model = self.world.model
        kps, kds = self.kps * self._inertia, self.kds * self._inertia
        driven = self._actuator[self.driven]
        model.actuator_biasprm[driven, 1] = -kps[self.driven]
        model.actuator_biasprm[driven, 2] = -kds[self.driven]
        folded = self._actuator[self._folded]
        gain = np.where(kps > 0.0, kps, np.where(kds > 0.0, kds, 1.0))
        model.actuator_gainprm[folded, 0] = gain[self._folded]
        self._write_controls()

    def max_efforts(self) -> Array:
        """Return the maximum effort of each drive (n,) [N m or N]; infinite when unlimited, zero without a drive."""
        model = self.world.model
        limits = np.where(self.driven, np.inf, 0.0)
        for joint, wiring in enumerate(self.wirings):
            if wiring.driven and model.actuator_forcelimited[wiring.actuator]:
                limits[joint] = model.actuator_forcerange[wiring.actuator, 1]
            if wiring.driven and model.jnt_actfrclimited[wiring.joint]:
                limits[joint] = min(limits[joint], model.jnt_actfrcrange[wiring.joint, 1])
        return limits

    def set_max_efforts(self, values: Array) -> None:
        """Set the maximum effort of each drive (n,), in both directions; NaN keeps it, infinity lifts it."""
        for joint in np.flatnonzero((values < 0.0) | (~self.driven & (np.nan_to_num(values) != 0.0))):
            why = "it must not be negative" if values[joint] < 0.0 else self.wirings[joint].fault
            raise InputError(f"max effort of joint {self.names[joint]!r} cannot be {values[joint]:g}: {why}")
        model = self.world.model
        for joint in np.flatnonzero(self.driven & ~np.isnan(values)):
            actuator, limited = self._actuator[joint], bool(np.isfinite(values[joint]))
            model.actuator_forcelimited[actuator] = limited
            model.actuator_forcerange[actuator] = (-values[joint], values[joint]) if limited else (0.0, 0.0)
            # The limit of the joint, if the model has one, would otherwise stay in force alongside the new one.
            model.jnt_actfrclimited[self._joint[joint]] = False
        self.world.invalidate()

    # -- effort modes --------------------------------------------------------------------------------------------

    def effort_modes(self) -> list[str]:
        """Return "force" or "acceleration" for each joint."""
        return ["acceleration" if accelerating else "force" for accelerating in self._accelerating]

    def set_effort_modes(self, mode: str, joints: NDArray[np.int64]) -> None:
        """Choose whether the gains of some joints yield a force or an acceleration.

        In acceleration mode the gains are multiplied before every step by the inertia that the joint feels when the
        others are free, ``1 / (M^-1)_ii``, so that the response is the same whatever the robot carries. The added
        effort remains a force.
        """
        if mode not in ("force", "acceleration"):
            raise InputError(f"an effort mode must be 'force' or 'acceleration', got {mode!r}")
        self._registers = np.array(self.targets())
        self._accelerating[joints] = mode == "acceleration"
        self._accelerating &= self.driven
        if np.any(self._accelerating):
            self.world.before_step(self._follow_inertia)
        self._follow_inertia(always=True)

    def _follow_inertia(self, *, always: bool = False) -> None:
        if not (always or np.any(self._accelerating)):
            return
        self._registers = np.array(self.targets())
        self._inertia = np.ones(len(self.names))
        moving = np.flatnonzero(self._accelerating)
        if moving.size:
            model, data = self.world.model, self.world.data
            mujoco.mj_makeM(model, data)
            mujoco.mj_factorM(model, data)
            units = np.zeros((moving.size, model.nv))
            units[np.arange(moving.size), self.dof[moving]] = 1.0
            response = np.empty_like(units)
            mujoco.mj_solveM(model, data, response, units)
            self._inertia[moving] = 1.0 / response[np.arange(moving.size), self.dof[moving]]
        self._write_gains()

    def limits(self) -> Array:
        """Return lower and upper joint limits (n, 2) [rad or m]; infinite if there is none."""
        model = self.world.model
        limited = model.jnt_limited[self._joint].astype(bool)
        return np.where(limited[:, None], model.jnt_range[self._joint], np.array([-np.inf, np.inf]))
