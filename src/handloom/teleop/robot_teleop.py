"""From controllers to actuator targets, for every arm of a scene and the base it stands on."""

from typing import Protocol

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.clearance import Clearance
from handloom.motion.differential_ik import DifferentialIk
from handloom.motion.kinematics import Chain
from handloom.retarget import (
    ControllersSource,
    LocomotionRootCmdRetargeter,
    LocomotionRootCmdRetargeterConfig,
    OutputCombiner,
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
from handloom.retarget.so101.position_ik import PositionIk
from handloom.scene import Scene, SceneArm
from handloom.scene.mobile_base import MobileBase
from handloom.skills.mobile import base_limits
from handloom.spatial import invert_pose, make_pose, matrix_from_quat, matrix_from_rotvec, rotvec_from_matrix

POSE = 6
"""Joints an arm needs to take any pose; one with fewer follows positions and the roll of the wrist."""
SLIP = (0.10, 0.6)
"""The clutch slips when the arm is left this far behind [m], [rad]: at a table or a limit it would otherwise have to
be brought back as far as it was pushed on."""
POSITION_SPEED = 0.5
"""Fastest the tool of an arm that follows positions is led [m/s]."""
# The operator looks along the robot's x: right, up, back of the device are -y, z, -x of the robot.
R_ROBOT_DEVICE = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class Follower(Protocol):
    """Turns a target pose into joints; its state is what was commanded last."""

    @property
    def T_base_tool(self) -> Array:  # noqa: N802 - frame notation
        """Where the joints commanded last have the tool (4, 4)."""
        ...

    def step(self, T_base_target: Array, dt: float) -> Array:
        """Move towards a pose for a control period [s] and return the joints (n,)."""
        ...


class PositionFollower:
    """Follows positions with position-only inverse kinematics; the last joint is the roll of the wrist.

    Args:
        chain: The arm, whose last joint is the roll.
        q: Joints it starts from (n,) [rad].
        speed_limit: Fastest motion of each joint (n,) [rad/s].
    """

    def __init__(self, chain: Chain, q: Array, speed_limit: Array) -> None:
        self._ik = PositionIk(chain)
        self._ik.reset(q)
        self._roll_speed = float(speed_limit[-1])
        self._roll_ahead = 0.0
        """What the hand's roll is ahead of the wrist when it engages [rad]."""
        self._roll = float(q[-1])

    def engage(self, roll: float) -> None:
        """Take the roll of the hand [rad] as that of the wrist."""
        self._roll_ahead = roll - float(self._ik.q[-1])

    def turn(self, roll: float) -> None:
        """Turn the wrist as far as the hand has turned since it engaged [rad]."""
        self._roll = roll - self._roll_ahead

    @property
    def T_base_tool(self) -> Array:  # noqa: N802 - frame notation
        """Where the joints commanded last have the tool (4, 4)."""
        return self._ik.chain.T_base_tool(self._ik.q, threads=1)

    def step(self, T_base_target: Array, dt: float) -> Array:
        """Move towards a position for a control period [s] and return the joints (n,)."""
        here = self.T_base_tool[:3, 3]
        way = T_base_target[:3, 3] - here
        far = float(np.linalg.norm(way))
        target = T_base_target[:3, 3] if far <= POSITION_SPEED * dt else here + way * (POSITION_SPEED * dt / far)
        most, now = self._roll_speed * dt, float(self._ik.q[-1])
        return self._ik.step(target, now + min(max(self._roll - now, -most), most))


class ArmTeleop:
    """One arm behind one controller: squeeze to move it, trigger to close it.

    Released, it stops where it is; engaged again, it goes on from there, however the hand moved meanwhile.

    Args:
        scene: The scene in its first state.
        arm: The arm.
        controllers: Source that all arms share.
        device: Which controller.
        scale: Metres of the tool per metre of the hand.
    """

    def __init__(
        self, scene: Scene, arm: SceneArm, controllers: ControllersSource, *, device: str, scale: float = 1.0
    ) -> None:
        self.arm, self.device = arm, device
        self.name = f"{arm.robot_name}_{arm.name}"
        self.is_engaged = False
        """Whether the hand drove the arm in the last frame."""
        model, data = scene.world.model, scene.world.data
        self._data = data
        chain = Chain.from_model(model, arm.prefix + arm.spec.tcp_site, arm.base_body, arm.joint_names, qpos=data.qpos)
        start = data.ctrl[arm.ctrl_index].copy()
        self._clearance: Clearance | None = None
        self.follower: Follower
        if chain.dof < POSE:
            self.follower = PositionFollower(chain, start, arm.spec.speed_limit)
        else:
            ignore = next(r.ignore_obstacles for r in scene.instance.robots if r.name == arm.robot_name)
            self._clearance = Clearance(model, data, chain, ignore=ignore)
            self.follower = DifferentialIk(chain, arm.spec.speed_limit, clearance=self._clearance)
            self.follower.reset(start)
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
        """Return what the graph must be told about the arm."""
        T_base_anchor = invert_pose(self.arm.T_world_base) @ T_world_anchor
        return {self._anchor.name: {ValueInput.VALUE: group_of(TransformMatrix(), T_base_anchor.astype(np.float32))}}

    def command(self, outputs: RetargeterIO, dt: float, targets: Array) -> None:
        """Write the arm's and the gripper's entries of actuator targets (controls,)."""
        begins = self.clutch.is_engaged and not self.is_engaged
        self.is_engaged = self.clutch.is_engaged
        if self.is_engaged:
            pose = outputs[f"{self.name}.pose"][0]
            T = make_pose(rotation_of(quat_from_port(pose[3:7])), pose[:3].astype(float))
            if isinstance(self.follower, PositionFollower):
                roll = outputs[f"{self.name}.roll"][0]
                if begins:
                    self.follower.engage(roll)
                self.follower.turn(roll)
            if self._clearance is not None:
                self._clearance.update(self._data)
            targets[self.arm.ctrl_index] = self.follower.step(T, dt)
            if self._left_behind(T):
                self.clutch.set_home_base_T_ee(self.follower.T_base_tool)
        else:
            self.clutch.set_home_base_T_ee(self.follower.T_base_tool)
        closed, spec = float(outputs[f"{self.name}.gripper"][0]), self.arm.spec
        targets[self.arm.gripper_ctrl_index] = (1.0 - closed) * spec.gripper_open + closed * spec.gripper_closed

    def _left_behind(self, T: Array) -> bool:
        here = self.follower.T_base_tool
        far = float(np.linalg.norm(T[:3, 3] - here[:3, 3]))
        if self.follows_positions:
            return far > SLIP[0]
        return far > SLIP[0] or float(np.linalg.norm(rotvec_from_matrix(T[:3, :3] @ here[:3, :3].T))) > SLIP[1]


class BaseTeleop:
    """A drivable base behind the sticks: left drives, right turns, at the expert's pace.

    Args:
        base: The base.
        controllers: Source that all parts share.
    """

    def __init__(self, base: MobileBase, controllers: ControllersSource) -> None:
        self.name = f"{base.robot_name}_base"
        self.base = base
        self._limits = base_limits(base)
        self._twist = np.zeros(3)
        node = LocomotionRootCmdRetargeter(LocomotionRootCmdRetargeterConfig(), f"{self.name}.sticks")
        ports = {device: controllers.output(device) for device in ControllersSource.devices}
        self.selectors: dict[str, OutputSelector] = {self.name: node.connect(ports).output("root_command")}

    @property
    def yaw(self) -> float:
        """How far the base was told to turn since its joints were zero [rad]."""
        return float(self.base.world.data.act[self.base.act_index[2]])

    def command(self, outputs: RetargeterIO, dt: float, targets: Array, *, running: bool) -> None:
        """Write the base's and its wheels' entries of actuator targets (controls,); what does not run stands."""
        wanted = outputs[self.name][0][:3].astype(float) if running else np.zeros(3)
        most, step = self._limits.velocity, self._limits.acceleration * dt
        wanted[:2] *= min(1.0, most[0] / max(float(np.hypot(*wanted[:2])), 1e-12))
        wanted[2] = np.clip(wanted[2], -most[2], most[2])
        self._twist = self._twist + np.clip(wanted - self._twist, -step, step) if running else wanted
        self.base.drive_at(targets, self._twist)


class RobotTeleop:
    """All arms and bases of a scene under one graph.

    A single arm is driven by the right controller; of two arms the left one by the left.

    Args:
        scene: The scene in its first state.
        scale: Metres of a tool per metre of a hand.

    Raises:
        InputError: No robot of the scene has an arm, or there are more than two arms.
    """

    def __init__(self, scene: Scene, *, scale: float = 1.0) -> None:
        arms = [arm for robot in scene.robots.values() for arm in robot.arms]
        if not 1 <= len(arms) <= 2:
            raise InputError(f"a person has two hands; this scene has {len(arms)} arms")
        self._scene = scene
        controllers = ControllersSource("controllers")
        devices = [ControllersSource.LEFT if arm.name == "left" else ControllersSource.RIGHT for arm in arms]
        if len(arms) == 1 or devices[0] == devices[1]:
            devices = [ControllersSource.RIGHT, ControllersSource.LEFT][: len(arms)]
        self.arms = [
            ArmTeleop(scene, arm, controllers, device=device, scale=scale)
            for arm, device in zip(arms, devices, strict=True)
        ]
        self.bases = [BaseTeleop(robot.base, controllers) for robot in scene.robots.values() if robot.base is not None]
        selectors: dict[str, OutputSelector] = {}
        for part in (*self.arms, *self.bases):
            selectors |= part.selectors
        self.graph = OutputCombiner(selectors)

    @property
    def T_world_anchor(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the operator's space: behind the first robot, looking where it looks."""
        robot = self._scene.instance.robots[0]
        turn = matrix_from_quat(np.array(robot.quat))
        for base in self.bases[:1]:
            turn = turn @ matrix_from_rotvec((0.0, 0.0, base.yaw))
        return make_pose(turn @ R_ROBOT_DEVICE, np.array(robot.position))

    def inputs(self) -> dict[str, RetargeterIO]:
        """Return what the graph must be told in every frame, beside what the devices say."""
        T = self.T_world_anchor
        fed: dict[str, RetargeterIO] = {}
        for arm in self.arms:
            fed |= arm.inputs(T)
        return fed

    def targets(self, outputs: RetargeterIO, dt: float, *, running: bool) -> Array:
        """Return actuator targets (controls,), NaN where nothing is asked.

        Args:
            outputs: Outputs of ``graph`` for this frame.
            dt: Time since the frame before [s].
            running: Whether commands are wanted.
        """
        targets = np.full(self._scene.world.model.nu, np.nan)
        for arm in self.arms:
            arm.command(outputs, dt, targets)
        for base in self.bases:
            base.command(outputs, dt, targets, running=running)
        return targets
