"""Pour the grains of a held container into another one."""

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar, TypeVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Hold, Move
from handloom.motion.trajectory import MotionLimits
from handloom.scene.grains import Grains
from handloom.skills.arms.arm_controller import CLOSED
from handloom.skills.arms.arm_motion import play
from handloom.skills.arms.candidates import choose
from handloom.skills.arms.held_parts import HeldAxis
from handloom.skills.configs.motions import PourConfig, PourMotion, PourWaterSuccConfig
from handloom.skills.held_objects.rotate_held import AXES, HeldObject
from handloom.skills.held_objects.tilt_clearance import CLEARANCE, TiltClearance
from handloom.skills.picking.grasp_poses import gripper_of
from handloom.skills.skill import Skill, gripper_function
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec
from handloom.values import Check, Command

YAWS = np.deg2rad([0, 20, -20, 40, -40, 60, -60, 80, -80, 100, -100, 120, -120])
"""Rotations of the container about its upright axis that are tried."""
SIDES = np.deg2rad([90, -90, 60, -60, 30, -30, 0, 120, -120])
"""Pouring directions that are tried, relative to the hand's direction: sideways only the wrist turns, forward the hand
moves above the container."""
RAISED = (0.0, 0.03, 0.06, 0.1)
"""Heights that are added if the hand would touch the target or the table [m]."""
CLEARED = (0.0, 0.03, 0.06)
"""The same for a lip that comes down from a height at which the container clears the target at every tilt [m]."""
TURN = np.deg2rad(11.0)
"""Rotation between two waypoints of the tilt; in between, the lip deviates by less than a millimetre."""
IN_PLACE = np.deg2rad(40.0)
"""Tilt at which the lip has arrived above the target. Nothing flows before, and the container has swung clear of it."""
FLOWING = 0.5
"""Speed of the tilt while grains may flow, as a fraction of that before: in a fast flow, some jump over the target's
rim."""
RAMP = np.deg2rad(20.0)
"""Tilt beyond ``IN_PLACE`` over which the speed drops to that fraction."""
LEAVING = 0.25
"""Speed at which grains leave the lip sideways [m/s]: from a greater height they fly further, so the lip keeps more
distance."""
GRAVITY = 9.81
DRY_FRAMES = 15
"""The flow has stopped when no grain has left the container for this many frames."""
UPRIGHT = np.deg2rad(12.0)
"""Tolerance of the container's final upright orientation."""
FOLLOWED = 40
"""Pouring directions per grasp that are planned to the end when a pick looks ahead."""
PourT = TypeVar("PourT", bound=PourMotion)


class PourTilt(Skill[PourT]):
    """Base of both pours: bring the lip above the target, tilt about it, wait until the flow stops, return upright."""

    def _pour(self, held: str, target: str) -> None:
        """Choose a possible pouring direction, and write one joint target per frame."""
        config, grains = self.config, self._grains()
        self._held_name, self._left, self._still = held, grains.count, 0
        self.controller.ignored = config.ignore_substring
        hand = HeldObject.of(self, held)
        heights = self._heights(held, RAISED, CLEARED)
        way = self._candidates(hand, self.controller.tool_pose()[:3, :3], target, grains, heights)
        x, y, z = (hand.T_tool_point[:3, :3] @ self.scene.assets[held].up).tolist()
        paths = self._paths(way, (x, y, z))
        if paths is None:
            return
        usual, slow = self.controller.limits, self._slow()
        fps = self.scene.instance.fps
        tilt = np.concatenate([paths[1][:1], *(path[1:] for path in paths[1:])])
        there, pouring = play(paths[0], usual, fps=fps), self._gently(play(tilt, slow, fps=fps), np.array([x, y, z]))
        wait = self._joints(pouring[-1], until_dry=True)
        self.manip_list = [self.stay("update_specific", ignore_substring=config.ignore_substring)]
        self.manip_list += [self._joints(q) for q in (*there, *pouring)]
        self.manip_list += [wait] * self.frames(config.drain_steps)
        self.manip_list += [self._joints(q) for q in play(tilt[::-1], usual, fps=fps)]

    def update(self) -> None:
        """Notice when grains leave the container."""
        super().update()
        if self.manip_list and self.manip_list[0].params.get("until_dry"):
            left = int(self._grains().inside(self._held_name).sum())
            self._still = self._still + 1 if left >= self._left else 0
            self._left = left

    def _waited_enough(self, command: Command) -> bool:
        """Return whether nothing flows any more."""
        return bool(command.params.get("until_dry")) and (self._still >= DRY_FRAMES or self._left == 0)

    def _held_terms(self, held: str) -> tuple[Check, ...]:
        """Return the terms: the container is in the hand, upright."""
        arm, up = self.controller.arm, self.scene.assets[held].up
        grasped = Check(name="grasped", arguments={"robot": arm.robot_name, "arm": arm.name, "object": held})
        upright = {"object": held, "axis": list(up), "angle": float(UPRIGHT)}
        return (grasped, Check(name="points_up", arguments=upright))

    def _grains(self) -> Grains:
        if self.scene.grains is None:
            raise ConfigError(f"{self.config.name}: the task has no fluid, so there is nothing to pour")
        return self.scene.grains

    def _slow(self) -> MotionLimits:
        limits, pace = self.controller.limits, self.config.pace
        return MotionLimits.of(pace * limits.velocity, pace * limits.acceleration, limits.jerk)

    def _gently(self, targets: Array, up_tool: Array) -> Array:
        """Return joint targets (frames, n) of a tilt, slowed down where grains may flow.

        Args:
            targets: The tilt at even speed.
            up_tool: Axis of the hand (3,) that points up while the container is upright.
        """
        R_world_tool = self.controller.arm.T_world_base[:3, :3] @ self.controller.chain.T_base_tool(targets)[:, :3, :3]
        tilt = np.arccos(np.clip((R_world_tool @ up_tool)[:, 2], -1.0, 1.0))
        flowing = np.clip((tilt - IN_PLACE) / RAMP, 0.0, 1.0)
        times = np.cumsum(1.0 + flowing * (1.0 / FLOWING - 1.0))
        frames = np.linspace(times[0], times[-1], int(np.ceil(times[-1] - times[0])) + 1)
        return np.stack([np.interp(frames, times, joint) for joint in targets.T], axis=1)

    def _joints(self, q: Array, **params: Any) -> Command:
        return self.stay("dummy_forward", arm_action=q, gripper_state=CLOSED, **params)

    def _paths(self, way: Array, upright: tuple[float, float, float]) -> list[Array] | None:
        """Return joint paths through waypoints (k, n, 4, 4) of the first candidate that the arm can follow.

        The container stays upright up to the first of them; None after :meth:`fail`.
        """
        straight = self._straight_paths(way)
        if straight is not None:
            return straight
        moves = [Move(T_base_tool=T, straight=k > 0) for k, T in enumerate(way)]
        chosen = choose(self, moves)
        if chosen is None:
            return None
        paths = [path for path in chosen.paths if path is not None]
        over = self.controller.planner.plan_to_joints(
            self.controller.target, paths[0][-1], ignore=self.controller.ignored, hold=Hold(tool_axis=upright)
        )
        if over.ok:
            return [over.path, *paths[1:]]
        # Those joints cannot be reached upright: try each candidate in turn.
        chosen = choose(self, moves, holds=[HeldAxis(upright), *[None] * (len(moves) - 1)])
        return None if chosen is None else [path for path in chosen.paths if path is not None]

    def _straight_paths(self, way: Array) -> list[Array] | None:
        """Return joint paths of the first candidate whose lip can be moved straight to a point above the target.

        Most can, and a straight motion looks deliberate.
        """
        controller = self.controller
        controller.refresh()
        for poses in way.swapaxes(0, 1):
            over = controller.planner.plan_straight(controller.target, poses[0], ignore=controller.ignored)
            if over.ok:
                tilt = controller.planner.plan_through(over.path[-1], poses[1:], ignore=controller.ignored)
                if tilt.ok:
                    return [over.path, tilt.path]
        return None

    def ways_after(self, T_base_tool: Array, q: Array) -> Array:
        """Return the joint motion from each grasp (n, 4, 4) to the tilted container.

        Infinite if the arm cannot follow the tilt in any pouring direction. Filters of a stand-in's grasps were written
        for another object, so distances are compared; otherwise the task determines the grasp, and every feasible one
        gets 0.
        """
        held, target = (*self.config.objects, getattr(self.config, "container_name", ""))[:2]
        controller, grains = self.controller, self._grains()
        T_world_base, T_world_held = controller.arm.T_world_base, self.scene.object_pose(held)
        ways = np.full(len(T_base_tool), np.inf)
        for heights in self._heights(held, RAISED[1:2], CLEARED[:1]):
            left, found = np.flatnonzero(np.isinf(ways)), list[Array]()
            for grasp in T_base_tool[left]:
                T_tool_point = invert_pose(T_world_base @ grasp) @ T_world_held
                hand = HeldObject(
                    name=held,
                    point=(0.0, 0.0, 0.0),
                    T_world_base=T_world_base,
                    T_world_point=T_world_held,
                    T_tool_point=T_tool_point,
                )
                found.append(self._candidates(hand, grasp[:3, :3], target, grains, [heights]))
            if found:
                ignore = (*controller.obstacles_of(held), *self.config.ignore_substring)
                ways[left] = self._followed(np.stack(found), q, ignore)
        return ways if self.scene.assets[held].stands_in else np.where(np.isfinite(ways), 0.0, np.inf)

    def _followed(self, way: Array, q: Array, ignore: Sequence[str]) -> Array:
        """Return the joint motion from q to the nearest tilt that the arm can follow, per grasp (n,) [rad].

        Args:
            way: Hand poses (grasps, waypoints, candidates, 4, 4).
            q: Joints at the grasp.
            ignore: Obstacles to ignore.
        """
        planner, ends = self.controller.planner, way[:, [0, -1]]
        self.controller.refresh()
        ik = planner.free_ik(ends.reshape(-1, 4, 4), q, ignore=ignore)
        free = ik.free.reshape(ends.shape[:3]).all(axis=1)
        upright = ik.q.reshape(*ends.shape[:3], -1)[:, 0]
        far = np.where(free, np.linalg.norm(upright - q, axis=-1), np.inf)
        ways = np.full(len(way), np.inf)
        for k, order in enumerate(np.argsort(far, axis=1, kind="stable")):
            for c in order[: min(FOLLOWED, int(np.isfinite(far[k]).sum()))].tolist():
                if planner.plan_through(upright[k, c], way[k, 1:, c], ignore=ignore).ok:
                    ways[k] = far[k, c]
                    break
        return ways

    def _heights(self, held: str, raised: Sequence[float], cleared: Sequence[float]) -> list[tuple[float, bool]]:
        """Return additions to the least height [m], and whether each height lets the container clear the target.

        Motions at a constant height come first; for stand-ins, they are left out.
        """
        even = [] if self.scene.assets[held].stands_in else [(height, False) for height in raised]
        return [*even, *((height, True) for height in cleared)]

    def _candidates(
        self, hand: HeldObject, R_base_tool: Array, target: str, grains: Grains, heights: Sequence[tuple[float, bool]]
    ) -> Array:
        """Return hand poses (waypoints, candidates, 4, 4) in the arm base.

        Args:
            hand: The container in the hand.
            R_base_tool: Orientation (3, 3) of the hand at the grasp.
            target: The container that receives the grains.
            grains: The fluid.
            heights: Additions to the least height [m], each with its kind, in order of trial; see :meth:`_heights`.
        """
        config, arm, held = self.config, self.controller.arm, hand.name
        T_world_held = hand.T_world_point
        up = np.array(self.scene.assets[held].up)
        rim, radius = grains.opening(held)
        spout = self.scene.assets[held].keypoints.get("spout")
        low = float((up * self.scene.assets[held].aabb).sum(axis=1).min())
        length = float(up @ rim) - low
        goal, reach, floor = self._goal(target, grains)
        heading = arm.T_world_base[:3, :3] @ R_base_tool @ np.asarray(arm.spec.approach, float)
        level = matrix_from_rotvec(_shortest_turn(T_world_held[:3, :3] @ up)) @ T_world_held[:3, :3]
        angles = np.linspace(0.0, np.deg2rad(config.tilt), int(np.ceil(np.deg2rad(config.tilt) / TURN)) + 1)
        backs, cleared = reach * np.maximum(0.0, 1.0 - angles / IN_PLACE), dict[tuple[float, int], Array]()
        clearance = TiltClearance.of(self.scene.assets[held], gripper_of(self), hand.T_tool_point)
        poses = []
        for (raised, clearing), yaw in product(heights, YAWS):
            fall = np.sqrt(2.0 * np.array([config.height, config.height + raised]) / GRAVITY)
            before = config.aim * self._goal_radius + LEAVING * (fall[1] - fall[0])
            R = matrix_from_rotvec(np.array([0.0, 0.0, yaw])) @ level
            for k, side in enumerate(self._directions(held, R, float(np.arctan2(heading[1], heading[0])) + yaw)):
                d = np.array([np.cos(side), np.sin(side), 0.0])
                lip = rim + radius * (d @ R) if spout is None else np.array(spout.position)
                least = np.maximum(config.height, length * np.cos(angles) + CLEARANCE - floor)
                if clearing:
                    # Hand and vessel rotate together, so the clearance of a side does not depend on yaw.
                    if (raised, k) not in cleared:
                        given = {"reach": reach, "floor": floor}
                        cleared[raised, k] = clearance.heights(lip, d @ R, angles, -before - backs, **given)
                    least = np.maximum(config.height, cleared[raised, k])
                for angle, back, height in zip(angles, backs, raised + least, strict=True):
                    place = goal - (before + back) * d + [0.0, 0.0, height]
                    turned = matrix_from_rotvec(angle * np.array([-d[1], d[0], 0.0])) @ R
                    poses.append(make_pose(turned, place - turned @ lip))
        return hand.hand_poses(np.array(poses)).reshape(-1, len(angles), 4, 4).swapaxes(0, 1)

    def _goal(self, target: str, grains: Grains) -> tuple[Array, float, float]:
        """Return the middle of the target's rim (3,), its inner radius, and its height above the foot [m]."""
        middle, self._goal_radius = grains.opening(target)
        T, box = self.scene.object_pose(target), self.scene.assets[target].aabb
        goal = T[:3, :3] @ middle + T[:3, 3]
        up = np.array(self.scene.assets[target].up)
        across = np.abs(up) < 0.5
        reach = float((box[1] - box[0])[across].max()) / 2
        return goal, reach, float(up @ middle - (up * box).sum(axis=1).min())

    def _directions(self, held: str, R: Array, heading: float) -> Array:
        """Return the possible pouring directions (n,) [rad] in the world of a container rotated by R."""
        spout = self.scene.assets[held].axes.get("spout")
        if spout is None:
            return heading + SIDES
        x, y, _ = (R @ np.array(spout.direction, float)).tolist()
        return np.array([np.arctan2(y, x)])


def _shortest_turn(up: Array) -> Array:
    """Return the rotation vector (3,) that turns a direction upwards."""
    axis = np.cross(up, [0.0, 0.0, 1.0])
    size = float(np.linalg.norm(axis))
    return np.zeros(3) if size < 1e-9 else axis / size * np.arctan2(size, up[2])


class Pour(PourTilt[PourConfig]):
    """Empty the held container into the target."""

    Config: ClassVar = PourConfig

    def simple_generate_manip_cmds(self) -> None:
        """Pour."""
        self._pour(*self.config.objects[:2])

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: most grains are in the target, few were spilled, and the container is held upright."""
        config = self.config
        held, target = config.objects[:2]
        amounts = {"container": held, "target": target, "share": config.poured, "spilled": config.spilled}
        return (Check(name="poured", arguments=amounts), *self._held_terms(held))


class PourWaterSucc(PourTilt[PourWaterSuccConfig]):
    """The published check of a pour, after one command that holds the pose; with objects it pours first."""

    Config: ClassVar = PourWaterSuccConfig

    def simple_generate_manip_cmds(self) -> None:
        """Pour if there is anything to pour, and hold the pose."""
        self._grains()
        if self.config.objects:
            held, target = (*self.config.objects, self.config.container_name)[:2]
            self._pour(held, target)
        else:
            self.manip_list = [self.stay(gripper_function(self.config.gripper_state))]

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: enough but not too many grains are in the container, and objects that must stand do."""
        return container_checks(self.config)


def container_checks(config: PourWaterSuccConfig) -> tuple[Check, ...]:
    """Return the terms: enough but not too many grains are in the container, and objects that must stand do."""
    counted = {
        "container": config.container_name,
        "radius": config.container_radius,
        "above": config.particle_num_th_min,
        "below": config.particle_num_th_max,
    }
    upright = [
        Check(
            name="points_up",
            arguments={
                "object": name,
                "axis": np.eye(3)[AXES[axis] if isinstance(axis, str) else axis].tolist(),
                "angle": float(np.arccos(np.clip(least, -1.0, 1.0))),
            },
        )
        for name, axis, least in config.container_up
    ]
    return (Check(name="filled", arguments=counted), *upright)
