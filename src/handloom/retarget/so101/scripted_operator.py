"""A scripted operator: computes from the cube poses how a hand would move a controller to stack them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.recording import DeviceRecording
from handloom.retarget.so101.hand_motion import HandConfig, Keyframe, ToolPath, hand_recording
from handloom.retarget.so101.position_ik import PositionIk
from handloom.retarget.so101.so101_action import SO101ActionController
from handloom.retarget.so101.stack_cube import CUBES
from handloom.scene import Scene
from handloom.spatial import invert_pose

ROLL_MARGIN = 0.05
"""Margin of a planned roll from the limits of the wrist [rad]."""


def fixed_finger_distance(controller: SO101ActionController) -> float:
    """Return the distance of the fixed finger's inner face behind the tool centre, along the closing direction [m]."""
    arm, world = controller.arm, controller.arm.world
    model, data = world.model, world.data
    jaw_body = model.jnt_bodyid[world.joint_index(arm.prefix + arm.spec.gripper_joint_names[0])]
    T_tool_world = invert_pose(controller.T_world_tool)
    for geom in (world.geom_index(arm.prefix + name) for name in arm.spec.pad_geoms):
        if model.geom_bodyid[geom] == jaw_body:
            continue
        # The tool frame has y along closing; the half extent of a box along it is the sum of its projected half sizes.
        centre = T_tool_world[1, :3] @ data.geom_xpos[geom] + T_tool_world[1, 3]
        turned = T_tool_world[1, :3] @ data.geom_xmat[geom].reshape(3, 3)
        return float(-(centre + np.abs(turned) @ model.geom_size[geom]))
    raise InputError(f"robot {arm.robot_name!r} has no fixed finger, so a one-jaw grasp cannot be planned")


def roll_for_yaw(controller: SO101ActionController, position: Array, yaw: float) -> float | None:
    """Return the wrist roll [rad] at which the jaw closes along ``yaw`` [rad], None if it is beyond the limits.

    Args:
        controller: The arm; it is not moved.
        position: Tool centre in the world (3,) [m].
        yaw: Closing direction, as an angle about the world's z axis from its x axis.
    """
    ik = PositionIk(controller.ik.chain, controller.ik.config)
    ik.reset(controller.arm.joints)
    T_base_world = invert_pose(controller.T_world_base)
    target = T_base_world[:3, :3] @ position + T_base_world[:3, 3]
    start = ik.chain.T_base_tool(ik.q, threads=1)[:3, 3]
    for fraction in np.linspace(0.1, 1.0, 10):
        ik.step(start + fraction * (target - start), 0.0)
    roll = 0.0
    # The roll shifts the tool centre slightly, and thus the shoulder; a few iterations converge.
    for _ in range(4):
        q = ik.step(target, roll)
        closing = controller.T_world_base[:3, :3] @ ik.chain.T_base_tool(q, threads=1)[:3, 1]
        roll += math.remainder(yaw - math.atan2(closing[1], closing[0]), 2.0 * math.pi)
    low, high = ik.chain.lower[-1] + ROLL_MARGIN, ik.chain.upper[-1] - ROLL_MARGIN
    return roll if low <= roll <= high else None


@dataclass(frozen=True, kw_only=True)
class OperatorConfig:
    """Settings of the operator."""

    speed: float = 0.20
    """Mean speed over long distances [m/s]."""
    slow_speed: float = 0.08
    """Mean speed near cubes [m/s]."""
    jaw_seconds: float = 0.6
    """Time for closing or opening the jaw [s]."""
    carry_height: float = 0.05
    """Clearance of a carried cube over the highest cube [m]."""
    approach_height: float = 0.06
    """Height over a cube from which the jaw comes straight down [m]."""
    grasp_depth: float = 0.004
    """Tool centre below the centre of a grasped cube [m]."""
    finger_gap: float = 0.004
    """Distance of the fixed finger from the cube before the jaw closes [m]."""
    drop: float = 0.002
    """Height over the lower cube at which a cube is released [m]."""
    jaw_approach: float = 0.80
    """Jaw position on the way to a cube and after release [rad]."""
    jaw_grip: float = 0.05
    """Commanded jaw position while holding [rad]; the cube stops the jaw earlier."""
    hand: HandConfig = field(default_factory=HandConfig)
    """Whose hand it is."""


class ScriptedOperator:
    """Creates a device recording that stacks the cubes of a scene, based only on its initial state.

    It plays open loop, like a recording of a person: its motion depends on the initial cube poses, not on what happens
    later.

    Args:
        scene: A stacking scene in its initial state.
        controller: The arm, for its kinematics and its jaw.
        config: Settings of the operator.
        cubes: Names of the cubes, all of the same size, from bottom to top of the stack.
    """

    def __init__(
        self,
        scene: Scene,
        controller: SO101ActionController,
        config: OperatorConfig | None = None,
        *,
        cubes: Sequence[str] = CUBES,
    ) -> None:
        self._scene, self._controller, self._cubes = scene, controller, tuple(cubes)
        self._config = config or OperatorConfig()
        self._edge = float(np.ptp(scene.assets[cubes[0]].aabb[:, 0]))
        self._finger = fixed_finger_distance(controller)

    def recording(self, rng: np.random.Generator) -> DeviceRecording:
        """Return the recording; the generator draws the tremor of the hand."""
        instance = self._scene.instance
        facts = {"task": instance.task, "seed": instance.seed, "episode": instance.episode}
        return hand_recording(
            self.tool_path(),
            self._controller.jaw,
            rng,
            config=self._config.hand,
            title=instance.instruction,
            facts=facts,
        )

    def tool_path(self) -> ToolPath:
        """Return the path of the tool over time."""
        x, y, z = self._controller.T_world_tool[:3, 3].tolist()
        jaw = float(self._scene.world.data.qpos[self._controller.arm.gripper_qpos_index[0]])
        # The session starts in the middle of the first keyframe, when the hand is at rest.
        rest = 2.0 * self._config.hand.engage_after
        path = ToolPath(Keyframe(seconds=rest, position=(x, y, z), roll=0.0, jaw=jaw))
        path.wait(0.3, jaw=self._config.jaw_approach)
        poses = {name: self._scene.object_pose(name) for name in self._cubes}
        for level, name in enumerate(self._cubes[1:], start=1):
            self._pick(path, poses, name)
            poses[name] = self._place(path, poses, level)
        path.wait(0.6, jaw=self._controller.jaw.open)
        path.wait(0.5)
        return path

    def _pick(self, path: ToolPath, poses: dict[str, Array], name: str) -> None:
        """Descend beside a cube, close the jaw, and lift it straight up."""
        config = self._config
        grasp = poses[name][:3, 3] - (0.0, 0.0, config.grasp_depth)
        direction, roll = self._roomiest(poses, name, grasp)
        # The fixed finger goes beside the cube; the closing jaw then pulls the cube against it.
        tool = grasp + (self._finger - self._edge / 2 - config.finger_gap) * direction
        carry = self._carry_height(poses)
        path.move((tool[0], tool[1], carry), roll=roll, speed=config.speed)
        path.move(np.add(tool, (0.0, 0.0, config.approach_height)), speed=config.speed)
        path.move(tool, speed=config.slow_speed)
        path.wait(config.jaw_seconds, jaw=config.jaw_grip)
        path.wait(0.2)
        path.move((tool[0], tool[1], carry), speed=config.slow_speed)

    def _place(self, path: ToolPath, poses: dict[str, Array], level: int) -> Array:
        """Place the held cube on the tower, aligned with the bottom cube; return its pose (4, 4)."""
        config, bottom = self._config, poses[self._cubes[0]]
        T_world_cube = bottom.copy()
        T_world_cube[2, 3] += level * self._edge
        grasp = T_world_cube[:3, 3] + (0.0, 0.0, config.drop - config.grasp_depth)
        options = self._turns(bottom, grasp)
        # The smallest wrist rotation keeps the cube steadiest.
        direction, roll = min(options, key=lambda option: abs(option[1] - path.last.roll))
        # A held cube lies against the fixed finger.
        tool = grasp + (self._finger - self._edge / 2) * direction
        path.move((tool[0], tool[1], max(self._carry_height(poses), tool[2] + 0.03)), roll=roll, speed=config.speed)
        path.wait(0.3)
        path.move(tool, speed=config.slow_speed)
        path.wait(0.3)
        path.wait(config.jaw_seconds, jaw=config.jaw_approach)
        path.move(np.add(tool, (0.0, 0.0, config.approach_height)), speed=config.slow_speed)
        return T_world_cube

    def _roomiest(self, poses: dict[str, Array], name: str, grasp: Array) -> tuple[Array, float]:
        """Return the closing direction and the roll that maximise the clearance between fingers and other cubes."""
        others = [T[:2, 3] for other, T in poses.items() if other != name]

        def score(option: tuple[Array, float]) -> float:
            direction, roll = option
            # The fixed finger, the closed moving finger, and the outermost position of the moving finger.
            fingers = [grasp[:2] + along * self._edge * direction[:2] for along in (-0.6, 1.0, 1.6)]
            room = min(float(np.linalg.norm(finger - other)) for finger in fingers for other in others)
            # Clearance beyond one edge length has no benefit; then the roll closest to straight is the steadiest.
            return min(room, self._edge) - 0.002 * abs(roll)

        return max(self._turns(poses[name], grasp), key=score)

    def _turns(self, T_world_cube: Array, position: Array) -> list[tuple[Array, float]]:
        """Return the closing directions (3,) across a cube's faces and the wrist rolls [rad] that reach them."""
        first = math.atan2(T_world_cube[1, 0], T_world_cube[0, 0])
        found = []
        for yaw in (first + k * math.pi / 2 for k in range(4)):
            roll = roll_for_yaw(self._controller, position, yaw)
            if roll is not None:
                found.append((np.array([math.cos(yaw), math.sin(yaw), 0.0]), roll))
        if not found:
            raise InputError(f"no wrist roll aligns the jaw with a cube at {np.round(position, 3)}")
        return found

    def _carry_height(self, poses: dict[str, Array]) -> float:
        """Return the height of the tool centre at which a carried cube clears every cube [m]."""
        top = max(float(T[2, 3]) for T in poses.values()) + self._edge / 2
        return top + self._edge / 2 + self._config.carry_height - self._config.grasp_depth
