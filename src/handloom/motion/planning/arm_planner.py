"""Plan motions of one or several arms among obstacles."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.collision import CollisionRobot, CollisionWorld, Obstacle, Shape
from handloom.motion.kinematics import Chain, JointTree
from handloom.motion.kinematics.joint_tree import WORLD
from handloom.motion.planning.arm_group import ArmGroup
from handloom.motion.planning.cartesian_line import CartesianLine, LineResult, judge_line, straight_move
from handloom.motion.planning.free_ik import FreeIk, FreeIkResult
from handloom.motion.planning.move_planner import MovePlanner
from handloom.motion.planning.moves import Hold, KeptHold, Move, PointAndAxis
from handloom.motion.planning.path_end import BlockedEnd, OpenEnd, PathEnd
from handloom.motion.planning.path_search import HoldSearch, Search, TaskSpaceSearch
from handloom.motion.planning.plan_context import PlanContext
from handloom.motion.planning.plan_result import PlanResult, PlanStatus
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.scene_check import SceneCheck


class ArmPlanner:
    """Finds collision-free joint paths for arms of a model, or reports why there is none.

    Poses are given in the base frame of the arm's chain, configurations in the order of ``joint_names``. The same
    request in the same scene gives the same path, regardless of earlier requests.

    Args:
        model: Compiled model with the robot and, usually, its surroundings.
        chains: The arm, or several arms that move together.
        data: Current state: poses of obstacles and positions of all other joints; None means ``qpos0``.
        world: Obstacles; None means everything in the model that the arms do not move.
        robot: Moving solids of another planner for the same arms in the same state, to avoid computing them again.
        ignore: Obstacles whose name contains one of these texts are always ignored.
        options: Settings.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        chains: Chain | Sequence[Chain],
        *,
        data: mujoco.MjData | None = None,
        world: CollisionWorld | None = None,
        robot: CollisionRobot | None = None,
        ignore: Iterable[str] = (),
        options: PlannerOptions | None = None,
    ) -> None:
        self.options = options or PlannerOptions()
        self.chains: tuple[Chain, ...] = (chains,) if isinstance(chains, Chain) else tuple(chains)
        """Arms, in the order of configurations."""
        self.model, self._ignore = model, tuple(ignore)
        self.data = _state_of(model, data)
        state = self.data
        names = [name for chain in self.chains for name in chain.joint_names]
        tree = JointTree.from_model(model, names, qpos=state.qpos.copy())
        self.arms = ArmGroup.of(self.chains, model, state)
        """The arms as one chain, with the current poses of their bases."""
        moved = np.flatnonzero(tree.body_link >= 0).tolist()
        self.world = CollisionWorld.from_model(model, state, exclude_bodies=moved) if world is None else world
        """Obstacles; they may be added, moved, enabled and disabled between requests."""
        if robot is None:
            robot = CollisionRobot.from_model(model, tree, qpos=state.qpos, tolerance=self.options.sphere_tolerance)
        self._search = Search(self.options, tree.dof)
        self._free_ik = FreeIk(self.arms, self.options.ik, branches=self.options.branches)
        self._line = self._lines()
        self._use(robot)

    def let_touch(self, bodies: Iterable[str], obstacle: str) -> None:
        """Let bodies of the robot touch an obstacle from now on, such as fingers an object to be grasped."""
        robot = self._scene.robot
        self._use(replace(robot, ignored=robot.ignored | {frozenset((body, obstacle)) for body in bodies}))

    def _use(self, robot: CollisionRobot) -> None:
        self._scene = SceneCheck(robot, self.world, per_unit=self.options.checks_per_unit)
        self._open_end = OpenEnd(self._scene, self.arms)

    def _lines(self, keeping: PointAndAxis | None = None) -> CartesianLine:
        """Return the follower for straight lines of the tools, or of a point on the tool of a single arm."""
        options, arms, ik = self.options, self.arms, self.options.ik
        if keeping is not None:
            arms, ik = replace(arms, chains=(keeping.chain(self.chains[0]),)), keeping.options(ik)
        return CartesianLine(arms, ik, step=options.line_step, turn=options.line_turn, jump=options.line_jump)

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """Where each arm's joints are in a configuration."""
        return self.arms.columns

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints in the order of configurations."""
        return self._scene.robot.tree.joint_names

    @property
    def robot(self) -> CollisionRobot:
        """Moving solids, attached objects included."""
        return self._scene.robot

    @property
    def scene(self) -> SceneCheck:
        """Both collision checkers, in the state of the last request."""
        return self._scene

    def look_around(self, ignore: Iterable[str] = ()) -> tuple[Obstacle, ...]:
        """Update from the current obstacles and return them, with ignored ones disabled."""
        self._scene.refresh((*self._ignore, *ignore))
        return self._scene.obstacles

    def update(self, data: mujoco.MjData) -> None:
        """Update from the current state: poses of obstacles and base, and positions of held joints, such as fingers."""
        old = self._scene.robot
        tree = JointTree.from_model(self.model, self.joint_names, qpos=data.qpos.copy())
        self.world.update_from(self.model, data)
        if len(self.arms) > 1:
            self.arms = self.arms.at(self.model, data)
            self._line = self._lines()
        ours = tree.body_link != WORLD
        same = np.allclose(tree.T_parent_joint, old.tree.T_parent_joint, atol=1e-9)
        if not (same and np.allclose(tree.T_link_body[ours], old.tree.T_link_body[ours], atol=1e-9)):
            self._use(old.moved_to(self.model, tree))

    def attach(
        self, name: str, shape: Shape, body: str, T_body_object: ArrayLike, *, may_touch: Iterable[str] = ()
    ) -> None:
        """Attach an object to the robot; obstacles whose name contains ``name`` are ignored until it is detached.

        Args:
            name: Name of the object.
            shape: Its solid.
            body: Body that holds it.
            T_body_object: Pose in that body (4, 4).
            may_touch: Names of bodies or obstacles that it may touch, such as the fingers.
        """
        T = np.asarray(T_body_object, float)
        self._use(self._scene.robot.attach(name, shape, body, T, may_touch=may_touch))
        self._ignore = (*self._ignore, name)

    def detach(self, name: str) -> None:
        """Detach an object."""
        self._use(self._scene.robot.detach(name))
        self._ignore = tuple(text for text in self._ignore if text != name)

    def free_ik(
        self, T_base_tool: ArrayLike, seed: ArrayLike, *, ignore: Iterable[str] = (), released: Iterable[str] = ()
    ) -> FreeIkResult:
        """Return a collision-free configuration for each target pose (n, 4, 4), or (n, arms, 4, 4)."""
        self._scene.refresh((*self._ignore, *ignore), released=released)
        T, options = Move(T_base_tool=T_base_tool).poses(len(self.chains)), self.options
        q = np.asarray(seed, float)
        return self._free_ik.solve(self._scene, T, q, padding=options.padding, rng_seed=options.seed)

    def plan_to_joints(
        self, q_start: ArrayLike, q_goal: ArrayLike, *, ignore: Iterable[str] = (), hold: Hold | None = None
    ) -> PlanResult:
        """Find a path to a configuration, or to any of several.

        ``PlanResult.goal`` is the index of the goal that was reached; colliding goals are left out unless all collide.

        Args:
            q_start: Present configuration (n,).
            q_goal: Goal configuration (n,), or several (g, n).
            ignore: Further obstacles to ignore in this request, by part of their name.
            hold: Part of the tool's orientation to keep along the path, and for two arms the relative pose of their
                tools.
        """
        context = self._context((*self._ignore, *ignore))
        start = context.start(q_start)
        if isinstance(start, PlanResult):
            return start
        goals = self._goals(context, start, q_goal)
        if isinstance(goals, PlanResult):
            return goals
        if hold is not None:
            kept = self._begin_hold(context, hold, start.q)
            broken = [kept.broken(self.arms.tools(goal.q)) for _, goal in goals]
            goals = [one for one, (text, _) in zip(goals, broken, strict=True) if not text]
            if not goals:
                return context.fail(PlanStatus.HOLD_BROKEN, f"the goal {broken[0][0]}", excess=broken[0][1])
        found = context.find(start, [goal for _, goal in goals])
        if found.path is None:
            return context.no_path(found.refused)
        return context.succeed(found.path, goal=goals[found.goal][0])

    def plan_to_poses(
        self,
        q_start: ArrayLike,
        T_base_tool: ArrayLike,
        scores: ArrayLike | None = None,
        *,
        ignore: Iterable[str] = (),
        hold: Hold | None = None,
    ) -> PlanResult:
        """Find a path to the best reachable one of many tool poses.

        Candidates are tested in batches, best score first; ``PlanResult.goal`` is the index of the chosen one.

        Args:
            q_start: Present configuration (n,).
            T_base_tool: Candidate poses (m, 4, 4) in the arm's base, or one (4, 4); (m, arms, 4, 4) for several arms.
            scores: Higher is better (m,); None keeps the given order.
            ignore: Further obstacles to ignore in this request, by part of their name.
            hold: Part of the tool's orientation to keep along the path, and for two arms the relative pose of their
                tools; candidates that violate it are left out.
        """
        stage = Move(T_base_tool=T_base_tool)
        if hold is None:
            return self.plan_chain(q_start, [stage], scores, ignore=ignore)
        context = self._context((*self._ignore, *ignore))
        inside = context.within_limits(q_start, "start", PlanStatus.START_OUT_OF_LIMITS)
        if isinstance(inside, PlanResult):
            return inside
        keeps = self._begin_hold(context, hold, inside).keeps(stage.poses(len(self.arms)))
        planner = MovePlanner(context, self._free_ik, self._line, [stage], ignore=(*self._ignore, *ignore))
        return planner.plan(q_start, scores, only=keeps)

    def plan_chain(
        self,
        q_start: ArrayLike,
        stages: Sequence[Move],
        scores: ArrayLike | None = None,
        *,
        ignore: Iterable[str] = (),
    ) -> PlanResult:
        """Find a path through several goals, each planned from the end of the previous one.

        A candidate must succeed as a whole: if its grasp cannot be reached from its pre-grasp, the next best is tried.

        Args:
            q_start: Present configuration (n,).
            stages: Goals in order; the first must not be straight.
            scores: Higher is better, one per candidate; None keeps the given order.
            ignore: Further obstacles to ignore in all stages, by part of their name.
        """
        if not stages or stages[0].straight:
            raise InputError("a chain needs at least one stage, and the first one must not be straight")
        everywhere = (*self._ignore, *ignore)
        context = self._context((*everywhere, *stages[0].ignore))
        planner = MovePlanner(context, self._free_ik, self._line, stages, ignore=everywhere)
        return planner.plan(q_start, scores)

    def plan_straight(
        self,
        q_start: ArrayLike,
        T_base_tool: ArrayLike,
        *,
        ignore: Iterable[str] = (),
        released: Iterable[str] = (),
        together: bool = False,
    ) -> PlanResult:
        """Move the tool on a straight line with uniform rotation; several arms move their tools at the same time.

        Lines are checked exactly and without padding, because they are meant for approaching objects.

        Args:
            q_start: Present configuration (n,).
            T_base_tool: Pose at the end (4, 4) in the arm's base; (arms, 4, 4) for several arms.
            ignore: Further obstacles to ignore in this request, by part of their name.
            released: Released objects, which the hand leaves behind.
            together: Move the tools of several arms as one rigid body, which they carry: the midpoint between them
                moves straight. Their relative poses must be the same at both ends.
        """
        context = self._context((*self._ignore, *ignore), released=released)
        T = np.asarray(T_base_tool, float)
        wanted = (4, 4) if len(self.arms) == 1 else (len(self.arms), 4, 4)
        if T.shape != wanted:
            raise InputError(f"a straight move needs one pose {wanted} here, got shape {T.shape}")
        inside = context.within_limits(q_start, "start", PlanStatus.START_OUT_OF_LIMITS)
        if isinstance(inside, PlanResult):
            return inside
        if not np.all(np.isfinite(T)):
            return context.fail(PlanStatus.INVALID_REQUEST, "the goal pose is not finite")
        path = straight_move(context, self._line, inside, T.reshape(-1, 4, 4), together=together)
        return path if isinstance(path, PlanResult) else context.succeed(path, goal=0)

    def plan_through(
        self,
        q_start: ArrayLike,
        T_base_tool: ArrayLike,
        *,
        ignore: Iterable[str] = (),
        keeping: PointAndAxis | None = None,
    ) -> PlanResult:
        """Move the tool through poses (k, 4, 4), straight from each to the next, to approximate an arc.

        Args:
            q_start: Present configuration (n,).
            T_base_tool: Poses in the arm's base, close enough for chords to suffice; (k, arms, 4, 4) for several arms.
            ignore: Further obstacles to ignore in this request, by part of their name.
            keeping: Part of the poses that must be met, for one arm of few joints; None means all of it.
        """
        context = PlanContext(self._scene, self._open_end, self._search, self.options)
        poses, follower = Move(T_base_tool=T_base_tool).poses(len(self.arms)), self._line
        if keeping is not None:
            if len(self.arms) > 1:
                raise InputError(f"keeping part of a pose is for one arm, but this planner moves {len(self.arms)}")
            poses, follower = keeping.poses(poses), self._lines(keeping)
        inside = context.within_limits(q_start, "start", PlanStatus.START_OUT_OF_LIMITS)
        if isinstance(inside, PlanResult):
            return inside
        legs = [inside[None]]
        for k, T in enumerate(poses):
            line = follower.follow(legs[-1][-1:], T[None])[0]
            legs.append(line.path[1:])
            if not line.arrived:
                done = (k + line.fraction) / len(poses)
                judged = judge_line(context, replace(line, path=np.concatenate(legs), fraction=min(done, 0.999)))
                assert isinstance(judged, PlanResult)
                return judged
        # Obstacles are checked only from here on: most tried lines fail before this point.
        self._scene.refresh((*self._ignore, *ignore))
        path = judge_line(context, LineResult(path=np.concatenate(legs), fraction=1.0, jumped=False))
        return path if isinstance(path, PlanResult) else context.succeed(path, goal=0)

    def plan_task_space(self, q_start: ArrayLike, T_base_tool: ArrayLike, *, ignore: Iterable[str] = ()) -> PlanResult:
        """Find a path to one tool pose per arm by JT-RRT, without solving for configurations first.

        ``plan_to_poses`` is faster and more often successful; this one is for targets whose solutions are hard to
        enumerate, and for comparison.

        Args:
            q_start: Present configuration (n,).
            T_base_tool: Target pose (4, 4) in the arm's base; (1, 2, 4, 4) for two arms.
            ignore: Further obstacles to ignore in this request, by part of their name.
        """
        self._at_most_two("plan_task_space")
        context = self._context((*self._ignore, *ignore))
        T = Move(T_base_tool=T_base_tool).poses(len(self.arms))[0]
        if not np.all(np.isfinite(T)):
            return context.fail(PlanStatus.INVALID_REQUEST, "the goal pose is not finite")
        start = context.start(q_start)
        if isinstance(start, PlanResult):
            return start
        context.use(TaskSpaceSearch(self.options, self.arms, T))
        found = context.find(start, [])
        return context.no_path(found.refused) if found.path is None else context.succeed(found.path, goal=0)

    def _goals(self, context: PlanContext, start: PathEnd, q_goal: ArrayLike) -> list[tuple[int, PathEnd]] | PlanResult:
        """Return the path ends for some goal configurations, with their indices, or the failed result."""
        looked = [self._goal(context, one) for one in np.atleast_2d(np.asarray(q_goal, float))]
        if not looked:
            return context.fail(PlanStatus.INVALID_REQUEST, "there is no goal")
        goals = [(k, one) for k, one in enumerate(looked) if isinstance(one, PathEnd)]
        for k, goal in goals:
            if np.abs(goal.q - start.q).max() < 1e-9:
                context.notes.append("the start is the goal")
                return context.succeed(start.q[None], goal=k)
        return goals or next(one for one in looked if isinstance(one, PlanResult))

    def _goal(self, context: PlanContext, q_goal: ArrayLike) -> PathEnd | PlanResult:
        """Return the path end for a configuration, or the failure."""
        wanted = context.within_limits(q_goal, "goal", PlanStatus.GOAL_OUT_OF_LIMITS)
        if isinstance(wanted, PlanResult):
            return wanted
        goal = context.look(wanted, overlap=0.0)
        if isinstance(goal, BlockedEnd):
            reason = f"the goal collides: {goal}" if goal.touches else f"the goal is enclosed: {goal}"
            return context.fail(PlanStatus.GOAL_IN_COLLISION, reason, touches=goal.touches or goal.near)
        return goal

    def _begin_hold(self, context: PlanContext, hold: Hold, q_start: Array) -> KeptHold:
        """Search under a hold from now on; return the hold evaluated at the start."""
        self._at_most_two("a hold")
        kept = KeptHold(hold, self.arms, q_start)
        context.use(HoldSearch(self.options, kept, self.arms.dof))
        return kept

    def _at_most_two(self, what: str) -> None:
        if len(self.arms) > 2:
            raise InputError(f"{what} is for one or two arms, but this planner moves {len(self.arms)}")

    def _context(self, ignore: Iterable[str], *, released: Iterable[str] = ()) -> PlanContext:
        self._scene.refresh(ignore, released=released)
        return PlanContext(self._scene, self._open_end, self._search, self.options)


def _state_of(model: mujoco.MjModel, data: mujoco.MjData | None) -> mujoco.MjData:
    """Return the given state, or the model's initial one with its kinematics computed."""
    if data is not None:
        return data
    fresh = mujoco.MjData(model)
    mujoco.mj_kinematics(model, fresh)
    return fresh
