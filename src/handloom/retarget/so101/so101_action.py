"""The published five-number action: the graph that outputs it and the controller that executes it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.kinematics import Chain
from handloom.retarget.graph.retargeter import ValueInput
from handloom.retarget.graph.wiring import OutputCombiner
from handloom.retarget.inputs import TransformMatrix
from handloom.retarget.nodes.gripper import SO101GripperRetargeter
from handloom.retarget.nodes.rate_limiters import EePoseRateLimiter, RateLimiterConfig
from handloom.retarget.nodes.so101_clutch import SO101PositionClutchRetargeter
from handloom.retarget.nodes.so101_roll import SO101RollRetargeter
from handloom.retarget.nodes.tensor_reorderer import TensorReorderer
from handloom.retarget.so101.position_ik import PositionIk, PositionIkConfig
from handloom.retarget.sources.device_sources import ControllersSource
from handloom.scene import SceneArm

ACTION = ("pos_x", "pos_y", "pos_z", "roll", "gripper")
"""Elements of an action: tool centre in the base [m], wrist roll [rad], jaw closedness 0..1."""


@dataclass(frozen=True, kw_only=True)
class JawMap:
    """The affine map from closedness to the jaw joint: open + (closed - open) closedness."""

    open: float
    """Joint position of the open jaw [rad]."""
    closed: float
    """Joint position of the closed jaw [rad]."""

    @property
    def offset(self) -> float:
        """Joint position at closedness 0 [rad]."""
        return self.open

    @property
    def scale(self) -> float:
        """Change of the joint from open to closed [rad]."""
        return self.closed - self.open

    def joint(self, closedness: float) -> float:
        """Return the joint position for a closedness [rad]."""
        return self.offset + self.scale * closedness

    def closedness(self, joint: float) -> float:
        """Return the closedness for a joint position."""
        return (joint - self.offset) / self.scale


PUBLISHED_JAW = JawMap(open=1.745, closed=0.0)
"""The jaw of the published stacking task: offset 1.745, scale -1.745."""


class SO101ActionController:
    """Turns actions ``[x, y, z, roll, closedness]`` into actuator targets.

    The position is followed by position-only inverse kinematics, the roll is the last joint, the jaw follows the
    affine map. It starts from the measured joints, so an action at the current pose causes no motion.

    Args:
        arm: The arm in its scene.
        config: Settings of the inverse kinematics.
        jaw: Map of the jaw; the default uses the arm's own open and closed targets.
    """

    def __init__(self, arm: SceneArm, config: PositionIkConfig | None = None, *, jaw: JawMap | None = None) -> None:
        self.arm = arm
        model = arm.world.model
        self.tip = arm.prefix + arm.spec.tcp_site
        chain = Chain.from_model(
            model, tool=self.tip, base=arm.base_body, joints=arm.joint_names, qpos=arm.world.data.qpos
        )
        self.ik = PositionIk(chain, config)
        self.jaw = jaw or JawMap(open=float(arm.spec.gripper_open[0]), closed=float(arm.spec.gripper_closed[0]))
        self._controls = model.nu
        self.reset()

    def reset(self) -> None:
        """Restart from the measured joints."""
        self.ik.reset(self.arm.joints)

    @property
    def T_world_base(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the arm base."""
        return self.arm.T_world_base

    @property
    def T_world_tool(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the tool centre."""
        return self.arm.world.site_pose(self.tip)

    def targets(self, action: ArrayLike) -> Array:
        """Return actuator targets (controls,) [rad], NaN for actuators that are not this arm's.

        Raises:
            InputError: The action is not five finite numbers.
        """
        values = np.asarray(action, float)
        if values.shape != (len(ACTION),) or not np.all(np.isfinite(values)):
            raise InputError(f"an action must be {len(ACTION)} finite numbers ({', '.join(ACTION)}), got {action!r}")
        targets = np.full(self._controls, np.nan)
        targets[self.arm.ctrl_index] = self.ik.step(values[:3], float(values[3]))
        targets[self.arm.gripper_ctrl_index] = self.jaw.joint(float(values[4]))
        return targets


ANCHOR_INPUT = "world_T_anchor"
"""Leaf of the pose of the device's frame in the world."""
ACTION_OUTPUT = "action"
"""Output with the five numbers, float32."""
POSE_ELEMENTS = ("pos_x", "pos_y", "pos_z", "quat_x", "quat_y", "quat_z", "quat_w")


def so101_action_graph(
    *,
    device: str = ControllersSource.RIGHT,
    position_scale: float = 1.0,
    roll_axis: str = "world_z",
    limits: RateLimiterConfig | None = None,
) -> OutputCombiner:
    """Connect one controller to an SO-101.

    Leaves: ``controllers``, ``world_T_anchor``, ``robot_ee_pos`` (``world_T_ee``) and ``robot_base_pos``
    (``world_T_base``). Output ``action`` (5,): tool centre in the base [m], wrist roll [rad], jaw closedness.

    Args:
        device: Which controller.
        position_scale: Robot motion per hand motion [m/m].
        roll_axis: ``"world_z"`` for the absolute roll, ``"local_z"`` for the roll since engaging.
        limits: Speed limits of the position; None, as published, applies none.
    """
    value = ValueInput.VALUE
    anchor = ValueInput(ANCHOR_INPUT, TransformMatrix())
    live = {
        port: ValueInput(port, TransformMatrix()).output(value)
        for port in (
            SO101PositionClutchRetargeter.ROBOT_EE_POS_INPUT,
            SO101PositionClutchRetargeter.ROBOT_BASE_POS_INPUT,
        )
    }
    hand = ControllersSource("controllers").transformed(anchor.output(value)).output(device)
    clutch = SO101PositionClutchRetargeter("ee_pose", device, position_scale=position_scale)
    pose = clutch.connect({device: hand, **live}).output("ee_pose")
    if limits is not None:
        pose = EePoseRateLimiter("limited", limits).connect({"ee_pose": pose}).output("ee_pose")
    roll = SO101RollRetargeter("roll", device, axis=roll_axis, unwrap=True)
    jaw = SO101GripperRetargeter("gripper", device)
    flat = TensorReorderer(
        {"ee_pose": POSE_ELEMENTS, "roll_command": ["roll"], "gripper_command": ["gripper"]},
        ["pos_x", "pos_y", "pos_z", "roll", "gripper"],
        "action",
        {"ee_pose": "array"},
    ).connect(
        {
            "ee_pose": pose,
            "roll_command": roll.connect({device: hand}).output("roll_command"),
            "gripper_command": jaw.connect({device: hand}).output("gripper_command"),
        }
    )
    return OutputCombiner({ACTION_OUTPUT: flat.output(TensorReorderer.OUTPUT)})
