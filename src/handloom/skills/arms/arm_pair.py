"""Two arms of one robot that are planned and move as one."""

from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import ArmPlanner, Hold, Move, PlanResult
from handloom.motion.trajectory import MotionLimits
from handloom.scene import Scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.arm_motion import attach_solids, planned_state, play


class ArmPair:
    """Plans motions of both arms together, and divides them into frames that both play at the same time.

    Tool poses are (2, 4, 4), each in the base of its arm; joints (n,) are those of the first arm, then of the second.
    """

    def __init__(self, scene: Scene, first: ArmController, second: ArmController) -> None:
        self._scene, self._arms = scene, (first, second)
        model, data = scene.world.model, scene.world.data
        robot = next(r for r in scene.instance.robots if r.name == first.arm.robot_name)
        self._planner = ArmPlanner(model, [first.chain, second.chain], data=data, ignore=robot.ignore_obstacles)
        limits = (first.limits, second.limits)
        self._limits = MotionLimits.of(
            np.concatenate([limit.velocity for limit in limits]),
            np.concatenate([limit.acceleration for limit in limits]),
            np.concatenate([limit.jerk for limit in limits if limit.jerk is not None]),
        )
        self._left_out: tuple[str, ...] = ()
        self._held: tuple[str, ...] = ()

    @property
    def target(self) -> Array:
        """Commanded joints (n,) [rad]; plans start here."""
        return np.concatenate([controller.target for controller in self._arms])

    def tools(self, q: Array) -> Array:
        """Return the tool poses (2, 4, 4) at joints (n,)."""
        return self._planner.arms.tools(q)

    def ignore(self, obstacles: Sequence[str]) -> None:
        """Ignore obstacles, by part of their name, from now on."""
        self._left_out = tuple(obstacles)

    def plan(self, moves: Sequence[Move]) -> PlanResult:
        """Plan from the commanded joints through a chain of goals in the current scene, with the fingers preshaped."""
        first, second = self._arms
        self._planner.update(planned_state(self._scene, {**first.preshaped, **second.preshaped}))
        return self._planner.plan_chain(self.target, moves, ignore=self._left_out)

    def take(self, solids: Sequence[str]) -> None:
        """Let both hands hold solids, given by the planner's names, from now on.

        The solids keep their current poses and the hands are taken at their commanded poses: plans start there, and
        hands sag.
        """
        first, second = self._arms
        self._planner.update(self._scene.world.data)
        self._held = tuple(solids)
        robot = self._planner.robot
        groups = {group.body: group for group in robot.groups}
        holder, link = groups[first.holder], groups[second.holder].link
        T_world_holder = robot.tree.T_root_links(self.target)[holder.link] @ holder.T_link_body
        touching = [group.body for group in robot.groups if group.link == link]
        attach_solids(self._planner, self._held, first.holder, T_world_holder, may_touch=touching)

    def plan_carry(
        self, q: Array, T_base_tool: Array, hold: Hold | None = None, *, meets: Sequence[str] = ()
    ) -> PlanResult:
        """Plan from joints (n,) to tool poses with the object in both hands: straight, or else under a hold.

        Args:
            q: Where the way starts.
            T_base_tool: Where it ends.
            hold: Constraint on a path around obstacles; with None only a straight path is tried.
            meets: Obstacles on which the object is put, and which it may touch.
        """
        line = self._planner.plan_straight(q, T_base_tool, together=True, ignore=(*self._left_out, *meets))
        if line.ok or hold is None:
            return line
        around = self._planner.plan_to_poses(q, T_base_tool[None], hold=hold, ignore=self._left_out)
        return around if around.ok else line

    def plan_away(self, q: Array, T_base_tool: Array) -> PlanResult:
        """Plan straight paths of both hands from joints (n,) to tool poses, after the release."""
        return self._planner.plan_straight(q, T_base_tool, ignore=self._left_out, released=self._held)

    def frames(self, path: Array, *, pace: float = 1.0) -> tuple[Array, Array]:
        """Return the joint targets of each arm (frames, k) along a path (m, n), at a fraction of the expert's pace."""
        targets = play(path, self._limits.scaled(pace), fps=self._scene.instance.fps)
        first, second = (targets[:, columns] for columns in self._planner.arms.columns)
        return first, second
