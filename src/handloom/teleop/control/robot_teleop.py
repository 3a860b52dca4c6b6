"""From controllers to actuator targets, for all arms of a scene and their bases."""

from collections.abc import Collection, Mapping

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget import (
    ControllersSource,
    LeaderSnapshot,
    LocomotionRootCmdRetargeter,
    LocomotionRootCmdRetargeterConfig,
    OutputCombiner,
    OutputSelector,
    RetargeterIO,
)
from handloom.scene import Scene
from handloom.scene.mobile_base import MobileBase
from handloom.skills.mobile_base.mobile import base_limits
from handloom.spatial import make_pose, matrix_from_quat, matrix_from_rotvec
from handloom.teleop.control.arm_teleop import ArmTeleop

# The operator looks along the robot's x axis: right, up, back of the device are -y, z, -x of the robot.
R_ROBOT_DEVICE = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class BaseTeleop:
    """A drivable base controlled by the sticks: left drives, right turns, at the expert's speed.

    Args:
        base: The base.
        controllers: Source shared by all parts.
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
        """Commanded yaw of the base since its joints were zero [rad]."""
        return float(self.base.world.data.act[self.base.act_index[2]])

    def command(self, outputs: RetargeterIO, dt: float, targets: Array, *, running: bool) -> None:
        """Write the entries of the base and its wheels into actuator targets (controls,); hold if not running."""
        wanted = outputs[self.name][0][:3].astype(float) if running else np.zeros(3)
        most, step = self._limits.velocity, self._limits.acceleration * dt
        wanted[:2] *= min(1.0, most[0] / max(float(np.hypot(*wanted[:2])), 1e-12))
        wanted[2] = np.clip(wanted[2], -most[2], most[2])
        self._twist = self._twist + np.clip(wanted - self._twist, -step, step) if running else wanted
        self.base.drive_at(targets, self._twist)


class RobotTeleop:
    """All arms and bases of a scene, driven by one graph.

    A single arm is driven by the right controller; of two arms, the left one is driven by the left controller.

    Args:
        scene: The scene in its initial state.
        scale: Metres of tool motion per metre of hand motion.

    Raises:
        InputError: No robot of the scene has an arm, or there are more than two arms.
    """

    def __init__(self, scene: Scene, *, scale: float = 1.0) -> None:
        arms = [arm for robot in scene.robots.values() for arm in robot.arms]
        if not 1 <= len(arms) <= 2:
            raise InputError(f"one operator drives at most two arms; this scene has {len(arms)}")
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
        """Pose (4, 4) of the operator's space: behind the first robot, facing the same way."""
        robot = self._scene.instance.robots[0]
        turn = matrix_from_quat(np.array(robot.quat))
        for base in self.bases[:1]:
            turn = turn @ matrix_from_rotvec((0.0, 0.0, base.yaw))
        return make_pose(turn @ R_ROBOT_DEVICE, np.array(robot.position))

    def inputs(self) -> dict[str, RetargeterIO]:
        """Return the graph's inputs for every frame, in addition to the device samples."""
        T = self.T_world_anchor
        fed: dict[str, RetargeterIO] = {}
        for arm in self.arms:
            fed |= arm.inputs(T)
        return fed

    def targets(
        self,
        outputs: RetargeterIO,
        dt: float,
        *,
        running: bool,
        heard: Collection[str],
        leaders: Mapping[str, LeaderSnapshot] | None = None,
    ) -> Array:
        """Return actuator targets (controls,), NaN where nothing is commanded.

        Args:
            outputs: Outputs of ``graph`` for this frame.
            dt: Time since the previous frame [s].
            running: Whether the robot may move.
            heard: Controllers that sent a sample in this frame.
            leaders: Leader arms by the controller that they replace.
        """
        targets = np.full(self._scene.world.model.nu, np.nan)
        for arm in self.arms:
            arm.command(
                outputs, dt, targets, running=running, heard=arm.device in heard, leader=(leaders or {}).get(arm.device)
            )
        for base in self.bases:
            base.command(outputs, dt, targets, running=running)
        return targets
