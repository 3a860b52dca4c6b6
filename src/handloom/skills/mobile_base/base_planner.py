"""Paths of a base across the floor: the planner of the arms, applied to the three joints that move the whole robot.

With an arm that moves along, base and arm are one chain from the floor to the hand: stance and reach are solved
together, and planned together.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.judging.checks import grasped
from handloom.motion.kinematics import Chain, IkOptions, IkSolver, Orientation
from handloom.motion.planning import ArmPlanner, PlannerOptions, PlanResult, PointAndAxis
from handloom.scene import Scene
from handloom.scene.measures import geom_box
from handloom.scene.mobile_base import TURNS, MobileBase
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.arm_motion import attach_solids

CLEARANCE = 0.02
"""Distance that paths keep from furniture if there is room [m]; rounding corners takes up to half of it."""
OPTIONS = PlannerOptions(padding=CLEARANCE, sphere_tolerance=0.02, tree_step=1.0, shortcuts=120)
"""A robot is larger than an arm, so its spheres may be coarser; paths across the floor are fully visible, so more work
goes into shortening them."""
BACK = 0.15
SLACK = np.array([0.12, 0.12, np.deg2rad(15.0)])
"""A base whose arm reaches out on arrival ends about this much further back than it would alone [m], within these
deviations [m, m, rad]."""
SEEDS = 256
STANCES = 12
"""Starting points of the search, and wanted configurations of base and arm, per pose of the hand."""
EARLY = 0.5
"""Fraction of the path after which an arm that moves along has arrived, if it cannot move over the whole path."""


class BasePlanner:
    """Plans paths of a robot's base around everything else in the scene, with its arms and held objects frozen.

    Anything lower than the lowest solid of the robot, such as the floor, is driven over.

    Args:
        scene: The scene in its current state.
        base: The base.
        arm: An arm that moves along. Poses of the base (3,) are then followed by the joints of this arm (3 + n,).
        ignore: Obstacles whose name contains one of these texts do not count.
    """

    def __init__(
        self, scene: Scene, base: MobileBase, *, arm: ArmController | None = None, ignore: Sequence[str] = ()
    ) -> None:
        world = scene.world
        self._base = base
        tool, joints = base.body, base.joint_names
        if arm is not None:
            tool, joints = arm.arm.tool_body, (*joints, *arm.arm.joint_names)
        self._chain = Chain.from_model(world.model, tool, "world", joints, qpos=world.data.qpos)
        if arm is not None:
            lower, upper = (
                np.concatenate([own[:3], limit])
                for own, limit in ((self._chain.lower, arm.chain.lower), (self._chain.upper, arm.chain.upper))
            )
            self._chain = replace(self._chain, lower=lower, upper=upper)
        self._planner = ArmPlanner(world.model, self._chain, data=world.data, options=OPTIONS)
        parts = [part.geom for part in self._planner.robot.parts]
        self.held = held_objects(scene, base.robot_name)
        """Objects that the robot's hands hold."""
        for name in self.held:
            moving = arm is not None and grasped(scene, robot=base.robot_name, arm=arm.arm.name, object=name)
            holder = arm.holder if arm is not None and moving else base.body
            solids = [o.name for o in self._planner.world if o.name.startswith(f"{name}/")]
            attach_solids(self._planner, solids, holder, world.body_pose(holder))
        lowest = min(geom_box(world.model, world.data, geom)[0, 2] for geom in parts)
        below = [o.name for o in self._planner.world if geom_box(world.model, world.data, o.geom)[1, 2] < lowest]
        self._ignore = (*below, *ignore)

    def direct(self, start: Array, goal: Array) -> Array | None:
        """Return a path (k, 3 + n) without detours, base and arm together or the arm first; None if blocked."""
        early = np.concatenate([start[:3] + EARLY * (goal - start)[:3], goal[3:]])
        ways = (np.stack([start, goal]), np.stack([start, early, goal]))
        return next((way for way in ways if not self.blocked(way)), None)

    def plan(self, start: ArrayLike, goal: ArrayLike) -> PlanResult:
        """Plan a joint path from one pose of the base to another."""
        q_start, q_goal = self._joints_at(start), self._joints_at(goal)
        q_goal[2] = _nearest_turn(q_goal[2], q_start[2])
        return self._planner.plan_to_joints(q_start, q_goal, ignore=self._ignore)

    def blocked(self, path: Array) -> str:
        """Return the obstacles of straight motions between poses (k, 3); empty if there are none."""
        self._planner.scene.refresh((*self._ignore, *self.held))
        found = self._planner.scene.first_collision(self._joints_at(path), step=OPTIONS.exact_step)
        return "" if found is None else str(found.touch)

    def poses(self, joints: ArrayLike) -> Array:
        """Return poses of the base, with the joints of the arm that moves along, from the joints of a path."""
        q = np.asarray(joints, float)
        return np.concatenate([self._base.poses(q[..., :3]), q[..., 3:]], axis=-1)

    def stances(
        self, T_world_hand: Array, near: Array, *, point_tool: ArrayLike, axis_tool: tuple[float, float, float]
    ) -> Array:
        """Return stances of base and arm (k, 3 + n), nearest first, with a point of the hand at one of the poses.

        Base and arm share the motion: the base ends ``BACK`` behind the pose it would take alone, to within ``SLACK``,
        and the hand may turn about one of its axes.

        Args:
            T_world_hand: Goals of the point with possible orientations of the hand (m, 4, 4).
            near: Preferred pose of the base and joints of the arm (3 + n,).
            point_tool: The point, in the frame of the tool (3,) [m].
            axis_tool: The axis, in the frame of the tool.
        """
        ahead = np.array([np.cos(near[2]), np.sin(near[2])])
        seed = self._joints_at([*(near[:2] - BACK * ahead), *near[2:]])
        chain = PointAndAxis(point=np.asarray(point_tool, float), axis=np.array(axis_tool)).chain(self._chain)
        lower, upper = chain.lower.copy(), chain.upper.copy()
        lower[:3], upper[:3] = seed[:3] - SLACK, seed[:3] + SLACK
        options = IkOptions(
            orientation=Orientation.AXIS, tool_axis=axis_tool, seed_bias=0.2, max_seeds=SEEDS, threads=1
        )
        found = IkSolver(replace(chain, lower=lower, upper=upper), options).branches(T_world_hand, STANCES, seed=seed)
        q = np.concatenate([found.q[i, :count] for i, count in enumerate(found.count)])
        off = q - seed
        cost = np.linalg.norm(off[:, :3] / SLACK, axis=1) + np.linalg.norm(off[:, 3:], axis=1)
        return self.poses(q[np.argsort(cost, kind="stable")])

    def _joints_at(self, pose: ArrayLike) -> Array:
        p = np.asarray(pose, float)
        return np.concatenate([self._base.joints_at(p[..., :3]), p[..., 3:]], axis=-1)


def _nearest_turn(yaw: float, start: float) -> float:
    """Return the angle nearest to the start that is equivalent to ``yaw`` [rad], so that turns do not accumulate."""
    ways = yaw + 2.0 * np.pi * np.arange(-3, 4)
    return min(ways[np.abs(ways) <= TURNS].tolist(), key=lambda way: abs(way - start))


def held_objects(scene: Scene, robot: str) -> tuple[str, ...]:
    """Return the movable objects that a hand of a robot holds."""
    loose = [obj.name for obj in scene.instance.objects if obj.solid and not obj.fixed]
    arms = [arm.name for arm in scene.robot(robot).arms]
    return tuple(o for o in loose if any(grasped(scene, robot=robot, arm=arm, object=o) for arm in arms))
