"""Skills that drive the base: the published straight moves and rotations, and navigation around furniture."""

import math
from abc import abstractmethod
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Hold
from handloom.motion.trajectory import MotionLimits
from handloom.scene.measures import local_box, world_box
from handloom.scene.mobile_base import MobileBase, body_twist
from handloom.scene.scene import Scene
from handloom.skills.arms.arm_controller import SHARE_OF_LIMITS, ArmController
from handloom.skills.arms.arm_motion import play
from handloom.skills.configs.motions import MobileRotateConfig, MobileTranslateConfig, NavigateConfig
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.mobile_base.base_planner import BasePlanner
from handloom.skills.skill import ConfigT, Skill, command_at, hand_check
from handloom.spatial import invert_pose, transform_points
from handloom.values import Check, Command, FunnelStage

BASE_SPEED = (0.5, 0.7)
BASE_ACCELERATION = (0.4, 0.8)
BASE_JERK = (1.5, 3.0)
"""Pace of the base along each axis and in rotation [m/s, rad/s and their derivatives]: walking pace, slow enough that
held objects do not swing."""
STOPS_WITHIN = (0.01, math.radians(1.0))
"""Tolerances of the base at its goal [m], [rad]."""
HAND_WITHIN = (0.02, 0.1)
"""Tolerances at its goal of a hand that moved along [m], [rad]; it sags a little."""
TRIED = 12
"""Maximum number of stances of base and arm to which a path is planned."""
PITCHES = np.deg2rad([45.0, 60.0, 75.0])
"""Downward angles of a hand that arrives with the base [rad]."""
SETTLE = 8
"""Final frames in which the base comes to rest: its servos lag by 30 ms."""


def base_limits(base: MobileBase) -> MotionLimits:
    """Return the motion limits of a base along x and y and in rotation."""
    most = (base.drive.max_linear_speed or math.inf, base.drive.max_angular_speed or math.inf)
    acceleration = min(BASE_ACCELERATION[0], SHARE_OF_LIMITS * (base.drive.max_acceleration or math.inf))
    # Both axes at full speed are 1.4 times as fast as one.
    linear = min(BASE_SPEED[0], most[0] / math.sqrt(2.0))
    return MotionLimits.of(
        np.array([linear, linear, min(BASE_SPEED[1], SHARE_OF_LIMITS * most[1])]),
        np.array([acceleration, acceleration, BASE_ACCELERATION[1]]),
        np.array([BASE_JERK[0], BASE_JERK[0], BASE_JERK[1]]),
    )


def base_of(skill: Skill[Any]) -> MobileBase:
    """Return the base of the robot to which a skill's arm belongs.

    Raises:
        ConfigError: It does not drive.
    """
    robot = skill.controller.arm.robot_name
    base = skill.scene.robot(robot).base
    if base is None:
        raise ConfigError(f"{skill.config.name}: the base of {robot} is fixed; give it base: drivable")
    return base


def drive_commands(base: MobileBase, T_base_tool: Array, path: Array, *, pace: float = 1.0) -> list[Command]:
    """Return commands that steer the wheels, then drive through poses (k, 3) while the hand stays at a pose (4, 4)."""
    poses = play(path, base_limits(base).scaled(pace), fps=base.fps)
    return [_aimed(T_base_tool, path), *(command_at(T_base_tool, "mobile_move", pose=pose) for pose in poses)]


def whole_body_commands(base: MobileBase, arm: ArmController, path: Array) -> list[Command]:
    """Return commands that steer the wheels, then move base and arm together through poses and joints (k, 3 + n)."""
    limits = [base_limits(base), arm.limits]
    both = MotionLimits.of(
        np.concatenate([limit.velocity for limit in limits]),
        np.concatenate([limit.acceleration for limit in limits]),
        np.concatenate([limit.jerk for limit in limits if limit.jerk is not None]),
    )
    frames = play(path, both, fps=base.fps)
    tools = arm.chain.T_base_tool(frames[:, 3:], threads=1)
    moves = zip(tools, frames, strict=True)
    first = _aimed(arm.chain.T_base_tool(path[0, 3:]), path)
    return [first, *(command_at(T, "mobile_move", pose=row[:3], joints=row[3:]) for T, row in moves)]


def _aimed(T_base_tool: Array, path: Array) -> Command:
    """Return the command that steers the wheels for the start of a path (k, 3 or more)."""
    return command_at(T_base_tool, "mobile_move", aim=body_twist(path[1, :3] - path[0, :3], path[0, 2]))


class MobileSkill(Skill[ConfigT]):
    """Base of driving skills: a path of poses (x, y, yaw), played while the arms hold still or one moves along."""

    @abstractmethod
    def base_path(self) -> Array | None:
        """Return poses of the base (k, 3) to drive through, the current one first; None after :meth:`fail`.

        If the arm moves along, its joints follow in each row (k, 3 + n).
        """

    @property
    def base(self) -> MobileBase:
        """The base of the skill's robot."""
        return base_of(self)

    def simple_generate_manip_cmds(self) -> None:
        """Write one pose of the base per frame, preceded by the command that steers its wheels."""
        self._goal = self.base.commanded_pose
        path = self.base_path()
        if path is None:
            return
        self._goal = path[-1, :3]
        # A base with steered wheels stops while they turn to another direction; one with roller wheels drives round
        # corners.
        steered = any(wheel.swivel >= 0 for wheel in self.base.wheels)
        for piece in [np.stack(ends) for ends in pairwise(path)] if steered else [path]:
            self.manip_list += self._piece(piece)
        self.manip_list += [command_at(self.controller.commanded_pose, "mobile_move", pose=self._goal)] * SETTLE

    def _piece(self, path: Array) -> list[Command]:
        """Return the commands along waypoints (k, 3), from rest to rest."""
        if np.abs(np.diff(path, axis=0)).max(initial=0.0) < 1e-9:
            return []
        if path.shape[1] > 3:
            return whole_body_commands(self.base, self.controller, path)
        return drive_commands(self.base, self.controller.commanded_pose, path)

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return whether the wheels are steered as required; a pose lasts one frame."""
        return is_aimed(self.base, self.manip_list[0])

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the base is at its goal."""
        return (base_check(self.base, self._goal),)

    def straight(self, goal: Array) -> Array | None:
        """Return the straight path to a pose (3,), or None after :meth:`fail` if something is in the way."""
        path = np.stack([self.base.commanded_pose, goal])
        ignored = [f"{name}/" for name in self.config.objects]
        blocked = BasePlanner(self.scene, self.base, ignore=(*self.config.ignore_substring, *ignored)).blocked(path)
        if blocked:
            self.fail(FunnelStage.PLAN, "base_blocked", f"the base cannot move straight to its goal: {blocked}")
            return None
        return path


def is_aimed(base: MobileBase, command: Command) -> bool:
    """Return whether the wheels are steered as a command requires; a driving command requires nothing."""
    aim = command.params.get("aim")
    return aim is None or base.aiming_frames(aim) == 0


def base_check(base: MobileBase, pose: Array) -> Check:
    """Return the success term that a base is at a pose (3,), within 1 cm and 1 degree."""
    distance, angle = STOPS_WITHIN
    arguments = {"robot": base.robot_name, "pose": pose.tolist(), "distance": distance, "angle": angle}
    return Check(name="base_at", arguments=arguments)


class MobileTranslate(MobileSkill[MobileTranslateConfig]):
    """The published translation; the published skill always succeeds, but this one checks the position of the base."""

    Config: ClassVar = MobileTranslateConfig

    def base_path(self) -> Array | None:
        """Return the straight line along the axes of the start, or of the current base frame."""
        (goal,) = driving_goals(self.scene, self.base, self.config)
        return self.straight(goal)


class MobileRotate(MobileSkill[MobileRotateConfig]):
    """The published rotation; the published skill always succeeds, but this one checks the position of the base."""

    Config: ClassVar = MobileRotateConfig

    def base_path(self) -> Array | None:
        """Return the turn on the spot."""
        (goal,) = driving_goals(self.scene, self.base, self.config)
        return self.straight(goal)


class Navigate(MobileSkill[NavigateConfig]):
    """Drives around furniture, touches nothing on the way, and ends at a stand-off from its target."""

    Config: ClassVar = NavigateConfig

    def base_path(self) -> Array | None:
        """Return the path to the first goal that can be reached."""
        base, config = self.base, self.config
        arm = None if config.hand_above is None else self.controller
        here = base.commanded_pose if arm is None else np.concatenate([base.commanded_pose, arm.target])
        planner = BasePlanner(self.scene, base, arm=arm, ignore=config.ignore_substring)
        self._held, self._T_base_tool, reasons = planner.held, None, []
        for stand in driving_goals(self.scene, base, config):
            where = f"({stand[0]:.2f}, {stand[1]:.2f}) m at {math.degrees(stand[2]):.0f} degrees"
            if arm is not None:
                path, reason = self._together(planner, here, stand)
            else:
                result = planner.plan(here, stand)
                path, reason = (planner.poses(result.path) if result.ok else None), result.reason
            if path is not None:
                return path
            reasons.append(f"{where}: {reason}")
        self.fail(FunnelStage.PLAN, "base_goal_unreachable", "; ".join(reasons), goals=len(reasons))
        return None

    def _together(self, planner: BasePlanner, here: Array, stand: Array) -> tuple[Array | None, str]:
        """Return a path of base and arm (k, 3 + n) to a stance near a pose (3,), or None and the reason."""
        stances = self._stances(planner, stand)[:TRIED]
        way = next((way for stance in stances if (way := planner.direct(here, stance)) is not None), None)
        reason = "base and arm together do not reach"
        for stance in stances if way is None else ():
            result = planner.plan(here, stance)
            if result.ok:
                way = planner.poses(result.path)
                break
            reason = result.reason
        if way is not None:
            self._T_base_tool = self.controller.chain.T_base_tool(way[-1, 3:])
        return way, reason

    def _stances(self, planner: BasePlanner, stand: Array) -> Array:
        """Return stances of base and arm (k, 3 + n) near a pose (3,), with hand or held object above the target."""
        arm, scene, config = self.controller.arm, self.scene, self.config
        box = world_box(scene, config.objects[0])
        point, axis = arm.spec.T_tool_tcp[:3, 3], arm.spec.approach
        T = np.tile(np.eye(4), (len(PITCHES), 1, 1))
        T[:, :3, 3] = [*box[:, :2].mean(axis=0), box[1, 2] + (config.hand_above or 0.0)]
        for k, pitch in enumerate(PITCHES):
            ahead = [math.cos(stand[2]) * math.cos(pitch), math.sin(stand[2]) * math.cos(pitch), -math.sin(pitch)]
            T[k, :3, :3] = Hold(tool_axis=tuple(axis)).reference(np.array(ahead))
        held = [name for name in planner.held if name in self.controller.held]
        if held:
            T_world_tool, own = scene.world.body_pose(arm.tool_body), world_box(scene, held[0])
            T = T[:1] + 0.0
            T[:, :3, :3], T[:, 2, 3] = T_world_tool[:3, :3], T[:, 2, 3] + own[:, 2].mean() - own[0, 2]
            point = transform_points(invert_pose(T_world_tool), own.mean(axis=0)[None])[0]
            axis = T_world_tool[2, :3]
        near = np.concatenate([stand, self.controller.target])
        x, y, z = np.asarray(axis, float).tolist()
        return planner.stances(T, near, point_tool=point, axis_tool=(x, y, z))

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: base and hand are at their goals, and the robot touched only held objects."""
        arguments = {"robot": self.base.robot_name, "held": list(self._held)}
        clear = Check(name="base_clear", arguments=arguments, share=1.0)
        T = self._T_base_tool
        hand = () if T is None else (hand_check(self.controller.arm, T, distance=HAND_WITHIN[0], angle=HAND_WITHIN[1]),)
        return (*super().checks(), clear, *hand)


def driving_goals(scene: Scene, base: MobileBase, config: SkillConfig) -> list[Array]:
    """Return the poses of the base (3,) that satisfy a skill's target, best first."""
    here = base.commanded_pose
    if isinstance(config, MobileRotateConfig):
        return [np.array([here[0], here[1], here[2] + config.target])]
    if isinstance(config, MobileTranslateConfig):
        heading = here[2] if config.frame == "base" else base.origin[2]
        x, y = config.target
        way = [x * math.cos(heading) - y * math.sin(heading), x * math.sin(heading) + y * math.cos(heading), 0.0]
        return [here + way]
    assert isinstance(config, NavigateConfig)
    wanted = None if config.yaw is None else math.radians(config.yaw)
    if config.position is not None:
        way = np.array(config.position) - here[:2]
        ahead = math.atan2(way[1], way[0]) if np.hypot(*way) > STOPS_WITHIN[0] else float(here[2])
        return [np.array([*config.position, ahead if wanted is None else wanted])]
    faced = world_box(scene, config.objects[0])[:, :2].mean(axis=0)
    box, T = local_box(scene, config.objects[-1])
    headings = [_yaw_of(T, k) for k in range(4)] if wanted is None else [wanted]
    goals = [_stand_at(faced, box, T, heading, config) for heading in headings]
    # An object on furniture is approached from its own side of it, furniture itself from the nearest side.
    near = faced if len(config.objects) > 1 else here[:2]
    return sorted(goals, key=lambda goal: float(np.hypot(*(goal[:2] - near))))


def _yaw_of(T: Array, quarter: int) -> float:
    return math.atan2(T[1, 0], T[0, 0]) + quarter * math.pi / 2.0


def _stand_at(faced: Array, box: Array, T_world_box: Array, heading: float, config: NavigateConfig) -> Array:
    """Return the pose (3,) that faces a box along a heading, at the stand-off from the nearest edge of the box."""
    forward = np.array([math.cos(heading), math.sin(heading)])
    left = np.array([-forward[1], forward[0]])
    corners = np.array([[x, y, z] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    outline = (corners @ T_world_box[:3, :3].T + T_world_box[:3, 3])[:, :2]
    ahead = float((outline @ forward).min()) - config.stand_off
    return np.array([*(ahead * forward + (float(faced @ left) - config.sideways) * left), heading])
