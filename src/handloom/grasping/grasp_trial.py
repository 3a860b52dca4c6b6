"""Physics test of grasps: close the gripper, apply gravity, shake."""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from handloom.grasping.convex_parts import Array
from handloom.objects import ObjectAsset
from handloom.robots import Arm, RobotDescription
from handloom.spatial import make_pose, pose_error, pose_from_pos_quat, quat_from_matrix

TIMESTEP = 1.0 / 510.0
"""Physics step [s], as in episodes of 30 frames per second."""
GRAVITY = 9.81
SHAKE = 0.5
"""Acceleration of the hand while it is shaken, in units of gravity: 0.5 g is a brisk move of an arm."""
DAMPING = 5.0
"""Damping that keeps the weightless object in place while the gripper closes, as a table would [N s/m]."""
LARGEST_SLIP = 0.02
"""An object that moves further than this in the hand is not held [m]."""
BATCH = 64
"""Number of grasps simulated in parallel."""


def hand_spec(robot: RobotDescription, arm: Arm) -> mujoco.MjSpec:
    """Return the robot's model with every joint but the gripper's removed, and every geom but the hand's.

    The end effector stays at its pose in the arm's zero position. Sizes, inertias, linkages, drives and friction of the
    gripper are unchanged.

    Args:
        robot: The robot.
        arm: Arm whose gripper is kept.
    """
    spec = robot.spec()
    kept = _bodies_behind(spec, arm.joint_names[-1])
    gone = {joint.name for joint in spec.joints if joint.name == arm.joint_names[-1] or joint.parent.name not in kept}
    for actuator in list(spec.actuators):
        if actuator.target in gone:
            spec.delete(actuator)
    for equality in list(spec.equalities):
        if {equality.name1, equality.name2} & gone:
            spec.delete(equality)
    for joint in list(spec.joints):
        if joint.name in gone:
            spec.delete(joint)
    for geom in list(spec.geoms):
        if geom.parent.name not in kept:
            spec.delete(geom)
    for key in list(spec.keys):
        spec.delete(key)
    _keep_neighbours_apart(spec, kept)
    return spec


def take_options(spec: mujoco.MjSpec, robot: RobotDescription, *, timestep: float) -> None:
    """Set the solver options for which the robot's gripper was tuned; attaching a model drops its own."""
    physics = robot.config.physics
    spec.option.timestep = timestep
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{physics.integrator.upper()}")
    spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{physics.cone.upper()}")
    spec.option.impratio = physics.impratio
    spec.option.gravity = [0.0, 0.0, 0.0]


def _keep_neighbours_apart(spec: mujoco.MjSpec, kept: set[str]) -> None:
    """Exclude contact between a finger and the palm that carries it.

    MuJoCo does this itself for a moving palm, but not for one fixed in the world.
    """
    known = {frozenset((pair.bodyname1, pair.bodyname2)) for pair in spec.excludes}
    fixed = {name for name in kept if not spec.body(name).joints and _carrier(spec, name) not in kept}
    for name in sorted(kept - fixed):
        if spec.body(name).parent.name not in fixed:
            continue
        for palm in sorted(fixed):
            if frozenset((name, palm)) not in known:
                spec.add_exclude(bodyname1=name, bodyname2=palm)


def _carrier(spec: mujoco.MjSpec, name: str) -> str:
    """Return the nearest body above ``name`` that has a joint, or the world."""
    body = spec.body(name).parent
    while body.name != "world" and not body.joints:
        body = body.parent
    return body.name


def _bodies_behind(spec: mujoco.MjSpec, joint: str) -> set[str]:
    """Return the names of the body that a joint moves and of all bodies below it."""
    root = spec.joint(joint).parent
    return {root.name, *(body.name for body in root.find_all(mujoco.mjtObj.mjOBJ_BODY))}


CLOSE_S, HOLD_S, SHAKE_S = 1.0, 0.5, 0.2
"""Duration of closing, of holding the weight, and of shaking in each direction [s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrialResult:
    """Results of n grasps."""

    held: NDArray[np.bool_]
    """(n,) whether the object was still in the hand at the end."""
    slip: Array
    """(n,) distance that the object moved in the hand after the gripper had closed [m]."""
    turn: Array
    """(n,) angle that it turned [rad]."""


class GraspTrial:
    """One object between the fingers of one gripper, in many simulations at once.

    The hand is fixed. The object floats while the fingers close; then gravity is switched on, and shaking adds the
    acceleration of the hand to gravity, in six directions one after another.

    Args:
        robot: The robot.
        asset: The object.
        arm: Name of the arm; None takes the first.
    """

    def __init__(self, robot: RobotDescription, asset: ObjectAsset, *, arm: Arm | None = None) -> None:
        self.arm = arm or robot.arms[0]
        self.model = _scene(robot, self.arm, asset)
        self._start = mujoco.MjData(self.model)
        self._drive(self._start, self.arm.gripper_open)
        mujoco.mj_step(self.model, self._start, round(CLOSE_S / TIMESTEP))
        mujoco.mj_kinematics(self.model, self._start)
        ee = self._start.body(f"robot/{self.arm.tool_body}")
        self.T_world_hand = make_pose(ee.xmat.reshape(3, 3) @ self.arm.R_ee_graspnet, ee.xpos)
        joint = self.model.joint("object/free")
        self._qpos, self._dof = int(joint.qposadr[0]), int(joint.dofadr[0])

    def run(self, T_object_hand: Array, *, on_step: Callable[[int], None] = lambda done: None) -> TrialResult:
        """Test hand poses (n, 4, 4), GraspNet axes at the end effector.

        Args:
            T_object_hand: The poses.
            on_step: Called with the number of grasps tested so far.
        """
        parts = []
        for start in range(0, len(T_object_hand), BATCH):
            parts.append(self._batch(T_object_hand[start : start + BATCH]))
            on_step(min(start + BATCH, len(T_object_hand)))
        slip, turn = (np.concatenate([p[i] for p in parts]) if parts else np.zeros(0) for i in range(2))
        return TrialResult(held=slip < LARGEST_SLIP, slip=slip, turn=turn)

    def _batch(self, T_object_hand: Array) -> tuple[Array, Array]:
        count = len(T_object_hand)
        # One thread: an engine worker has one core, and the bits do not depend on it.
        batch = Batch(self.model, count, 1)
        T_world_object = self.T_world_hand @ np.linalg.inv(T_object_hand)
        qpos, free = batch.bind("qpos"), slice(self._qpos, self._qpos + 7)
        qpos[:] = self._start.qpos
        qpos[:, free] = np.concatenate([T_world_object[:, :3, 3], quat_from_matrix(T_world_object[:, :3, :3])], axis=1)
        batch.bind("ctrl")[:] = self._ctrl(self.arm.gripper_closed)
        gravity, damping = batch.expand("opt.gravity"), batch.expand("dof_damping")
        gravity[:] = 0.0
        batch.step(nstep=round(CLOSE_S / TIMESTEP))
        held_from = qpos[:, free].copy()
        damping[:, self._dof : self._dof + 6] = 0.0
        # Gravity in the object's usual pose, then with the hand accelerated along each of its axes.
        down = -GRAVITY * T_world_object[:, :3, 2]
        gravity[:] = down
        batch.step(nstep=round(HOLD_S / TIMESTEP))
        for axis in range(3):
            for sign in (1.0, -1.0):
                gravity[:] = down + sign * SHAKE * GRAVITY * self.T_world_hand[:3, axis]
                batch.step(nstep=round(SHAKE_S / TIMESTEP))
        distance, angle = pose_error(_poses(held_from), _poses(qpos[:, free]))
        # If the simulation fails, the grasp counts as not held.
        return np.where(np.isfinite(distance), distance, np.inf), np.where(np.isfinite(angle), angle, np.pi)

    def _drive(self, data: mujoco.MjData, targets: Array) -> None:
        data.ctrl[:] = self._ctrl(targets)

    def _ctrl(self, targets: Array) -> Array:
        ctrl = np.zeros(self.model.nu)
        for name, value in zip(self.arm.gripper_actuators, targets, strict=True):
            ctrl[self.model.actuator(f"robot/{name}").id] = value
        return ctrl


def _poses(rows: Array) -> Array:
    return pose_from_pos_quat(rows[:, :3], rows[:, 3:])


def _scene(robot: RobotDescription, arm: Arm, asset: ObjectAsset) -> mujoco.MjModel:
    """Put the fixed hand and the free object into one model, with the object far away at first."""
    spec = mujoco.MjSpec()
    take_options(spec, robot, timestep=TIMESTEP)
    spec.attach(hand_spec(robot, arm), prefix="robot/", frame=spec.worldbody.add_frame())
    child = asset.spec()
    joint = child.body("object").add_joint(name="free", type=mujoco.mjtJoint.mjJNT_FREE)
    joint.damping = [DAMPING, 0.0, 0.0]
    spec.attach(child, prefix="object/", frame=spec.worldbody.add_frame(pos=[0.0, 0.0, 20.0]))
    return spec.compile()
