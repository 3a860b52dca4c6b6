"""One arm driven by one controller: a clutch that slips when the arm is blocked, and a gripper that keeps its grip."""

import numpy as np

from handloom.arrays import Array
from handloom.motion.clearance import Clearance
from handloom.motion.differential_ik import DifferentialIk
from handloom.motion.kinematics import Chain
from handloom.retarget import (
    ControllersSource,
    LeaderSnapshot,
    OutputSelector,
    RetargeterIO,
    SO101GripperRetargeter,
    SO101PoseClutchRetargeter,
    SO101RollRetargeter,
    SqueezeGate,
    TransformMatrix,
    ValueInput,
    group_of,
)
from handloom.retarget.quaternions import quat_from_port, rotation_of
from handloom.scene import Scene, SceneArm
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, rotvec_from_matrix
from handloom.teleop.control.position_follower import PositionFollower
from handloom.teleop.control.resistance import Resistance

POSE = 6
"""Number of joints needed to reach any pose; an arm with fewer follows positions and the roll of the wrist."""
SLIP = (5e-5, 0.05)
"""Maximum lead of the hand over a blocked arm [m], [rad]; beyond this the clutch slips, so that the hand need not come
back all the way."""
FAR = (0.10, 0.6)
"""The same for an arm that is merely slow."""
JOINING = (0.6, 0.05)
"""An arm moves to the position of its leader at this speed [rad/s] until all joints are within this distance [rad];
from then on it follows at the speed limits of its joints."""
SAME_GRIP = 0.1
"""A trigger this close to the gripper position counts as equal."""


class ArmTeleop:
    """One arm driven by one controller: squeeze to move it, trigger to close the gripper.

    When released, the arm stops; when engaged again, it continues from there, regardless of the hand's motion in
    between. The gripper follows the trigger only after the trigger has matched the gripper position, so that reloading
    the page drops nothing, and a trigger that is still pressed closes nothing in a new scene.

    Args:
        scene: The scene in its initial state.
        arm: The arm.
        controllers: Source shared by all arms.
        device: Name of the controller.
        scale: Metres of tool motion per metre of hand motion.
    """

    def __init__(
        self, scene: Scene, arm: SceneArm, controllers: ControllersSource, *, device: str, scale: float = 1.0
    ) -> None:
        self.arm, self.device = arm, device
        self.name = f"{arm.robot_name}_{arm.name}"
        self.is_engaged = False
        """Whether the hand drove the arm in the last frame."""
        self.is_held_up = False
        """Whether something blocked the arm in that frame: the table, a joint limit, or an object it pushes."""
        model, data = scene.world.model, scene.world.data
        self._data = data
        self._chain = chain = Chain.from_model(
            model, arm.prefix + arm.spec.tcp_site, arm.base_body, arm.joint_names, qpos=data.qpos
        )
        self._dofs = np.array([model.jnt_dofadr[model.joint(name).id] for name in arm.joint_names], np.intp)
        start = data.ctrl[arm.ctrl_index].copy()
        ignore = next(r.ignore_obstacles for r in scene.instance.robots if r.name == arm.robot_name)
        self._clearance = Clearance(model, data, chain, ignore=ignore)
        if chain.dof < POSE:
            self.follower: DifferentialIk = PositionFollower(
                chain, start, arm.spec.speed_limit, clearance=self._clearance
            )
        else:
            self.follower = DifferentialIk(chain, arm.spec.speed_limit, clearance=self._clearance)
            self.follower.reset(start)
        spec = arm.spec
        way = float(spec.gripper_closed[0] - spec.gripper_open[0])
        told = float(data.ctrl[arm.gripper_ctrl_index[0]] - spec.gripper_open[0]) / way
        self.closedness = min(max(told, 0.0), 1.0)
        """Commanded closing of the gripper, 0 (open) to 1."""
        self._has_grip = False
        """Whether the trigger moves the gripper."""
        self._trigger: float | None = None
        """Last position of the trigger; None while time is stopped."""
        self._joined: bool | None = None
        """Whether the arm has reached its leader; None while there is no leader."""
        self._resistance = Resistance(chain)
        self._slipped, self._turned = np.zeros(3), np.eye(3)
        """Slip of the clutch since it engaged: the target is the hand pose, moved and rotated by this."""
        self.clutch = SO101PoseClutchRetargeter(
            f"{self.name}.clutch", self.follower.T_base_tool, input_device=device, position_scale=scale
        )
        self._anchor = ValueInput(f"{self.name}.base_T_anchor", TransformMatrix())
        hand = controllers.transformed(self._anchor.output(ValueInput.VALUE)).output(device)
        self.selectors: dict[str, OutputSelector] = {
            f"{self.name}.pose": self.clutch.connect({device: hand}).output("ee_pose"),
            f"{self.name}.gripper": SO101GripperRetargeter(f"{self.name}.gripper", device)
            .connect({device: hand})
            .output("gripper_command"),
        }
        if self.follows_positions:
            gate = SqueezeGate(f"{self.name}.gate", device).connect({device: hand})
            roll = SO101RollRetargeter(f"{self.name}.roll", device, axis="local_z", unwrap=True, start=float(start[-1]))
            self.selectors[f"{self.name}.roll"] = roll.connect({device: gate.output(device)}).output("roll_command")

    @property
    def follows_positions(self) -> bool:
        """Whether the arm has too few joints for poses."""
        return isinstance(self.follower, PositionFollower)

    def inputs(self, T_world_anchor: Array) -> dict[str, RetargeterIO]:
        """Return the graph's inputs about the arm."""
        T_base_anchor = invert_pose(self.arm.T_world_base) @ T_world_anchor
        return {self._anchor.name: {ValueInput.VALUE: group_of(TransformMatrix(), T_base_anchor.astype(np.float32))}}

    @property
    def is_joining(self) -> bool:
        """Whether the arm is still catching up with its leader."""
        return self._joined is False

    def follow_from(self, targets: Array) -> None:
        """Adopt the targets (controls,) that someone else gave the arm and its gripper; a hand continues from there."""
        joints, grip = targets[self.arm.ctrl_index], targets[self.arm.gripper_ctrl_index[0]]
        if np.all(np.isfinite(joints)):
            self.follower.reset(joints)
            self.clutch.set_home_base_T_ee(self.follower.T_base_tool)
        if np.isfinite(grip):
            opened, closed = self.arm.spec.gripper_open[0], self.arm.spec.gripper_closed[0]
            self.closedness = min(max(float((grip - opened) / (closed - opened)), 0.0), 1.0)
        self._has_grip, self._trigger = False, None

    def command(
        self,
        outputs: RetargeterIO,
        dt: float,
        targets: Array,
        *,
        running: bool,
        heard: bool,
        leader: LeaderSnapshot | None = None,
    ) -> None:
        """Write the arm's and the gripper's entries of actuator targets (controls,).

        Args:
            outputs: Outputs of the graph.
            dt: Time since the last tick [s].
            targets: Written to.
            running: Whether the robot may move; otherwise it holds.
            heard: Whether the controller sent a sample in this tick.
            leader: The arm to follow joint by joint; the controller is then ignored.
        """
        if leader is not None and running:
            return self._follow(leader, dt, targets)
        if self._joined is not None:  # The leader is gone: a hand that takes over starts anew.
            self._joined, self.is_engaged = None, False
        begins = self.clutch.is_engaged and not self.is_engaged
        self.is_engaged = self.clutch.is_engaged
        self.is_held_up = False
        if self.is_engaged:
            if begins:
                self._slipped, self._turned = np.zeros(3), np.eye(3)
                self._resistance.reset()
            pose = outputs[f"{self.name}.pose"][0]
            T_hand = make_pose(rotation_of(quat_from_port(pose[3:7])), pose[:3].astype(float))
            T = make_pose(self._turned @ T_hand[:3, :3], T_hand[:3, 3] + self._slipped)
            if isinstance(self.follower, PositionFollower):
                roll = outputs[f"{self.name}.roll"][0]
                if begins:
                    self.follower.engage(roll)
                self.follower.turn(roll)
            self._clearance.update(self._data)
            targets[self.arm.ctrl_index] = self._led(T_hand, T, dt)
        else:
            self.clutch.set_home_base_T_ee(self.follower.T_base_tool)
        self._grip(float(outputs[f"{self.name}.gripper"][0]), running=running, heard=heard)
        self._write_gripper(targets)

    def _follow(self, leader: LeaderSnapshot, dt: float, targets: Array) -> None:
        """Follow a leader arm joint by joint; hold if joints are missing or belong to another arm."""
        joints = np.asarray(leader.joints, float)
        self.is_engaged = joints.shape == (self._chain.dof,) and bool(np.all(np.isfinite(joints)))
        self.is_held_up = False
        if self.is_engaged:
            self._clearance.update(self._data)
            self._joined = bool(self._joined) or float(np.abs(joints - self.follower.q).max()) < JOINING[1]
            fastest = np.inf if self._joined else JOINING[0]
            targets[self.arm.ctrl_index] = self.follower.step_joints(joints, dt, fastest=fastest)
            self.is_held_up = self.follower.is_blocked
        self.clutch.set_home_base_T_ee(self.follower.T_base_tool)
        if np.isfinite(leader.gripper):
            self._grip(min(max(float(leader.gripper), 0.0), 1.0), running=True, heard=True)
        self._write_gripper(targets)

    def _write_gripper(self, targets: Array) -> None:
        closed, spec = self.closedness, self.arm.spec
        targets[self.arm.gripper_ctrl_index] = (1.0 - closed) * spec.gripper_open + closed * spec.gripper_closed

    def _grip(self, trigger: float, *, running: bool, heard: bool) -> None:
        """Follow the trigger, from 0 to 1, once it has matched the gripper position since time started."""
        if not running:
            self._has_grip, self._trigger = False, None
        elif not heard:
            return  # The graph repeats the last sample, which may have come from another page.
        elif self._trigger is None:
            self._has_grip, self._trigger = abs(trigger - self.closedness) < SAME_GRIP, trigger
        elif not self._has_grip:
            lower, upper = sorted((self._trigger, trigger))
            self._has_grip = lower - SAME_GRIP < self.closedness < upper + SAME_GRIP
            self._trigger = trigger
        if running and self._has_grip:
            self.closedness = trigger

    def _led(self, T_hand: Array, T: Array, dt: float) -> Array:
        """Move the tool towards a pose for a control period [s], let the clutch slip, and return the joints (n,)."""
        before = self.follower.T_base_tool
        self._resistance.look(before[:3, 3], self.arm.joints, self._data.qvel[self._dofs], dt)
        wanted = make_pose(T[:3, :3], self._resistance.within(T[:3, 3], T_hand[:3, 3]))
        joints = self.follower.step(wanted, dt)
        here = self.follower.T_base_tool
        left, turn = T[:3, 3] - here[:3, 3], rotvec_from_matrix(T[:3, :3] @ here[:3, :3].T)
        self.is_held_up = self.follower.is_blocked or self._resistance.direction is not None
        far, wide = SLIP if self.is_held_up else FAR
        if self.is_held_up:  # Only in the blocked direction: in others, the arm may be merely slow.
            asked = T[:3, 3] - before[:3, 3]
            asked *= min(1.0, self.follower.config.linear_speed * dt / max(float(np.linalg.norm(asked)), 1e-12))
            missed = asked - (here[:3, 3] - before[:3, 3])
            length = float(np.linalg.norm(missed))
            along = missed / length if length > 1e-9 else np.zeros(3)
            over = float(left @ along) - far
        else:
            length = float(np.linalg.norm(left))
            along, over = left / max(length, 1e-12), length - far
        if over > 0.0:
            self._slipped = self._slipped - over * along
        angle = float(np.linalg.norm(turn))
        if angle > wide and not self.follows_positions:
            self._turned = matrix_from_rotvec(-(angle - wide) / angle * turn) @ self._turned
        return joints
