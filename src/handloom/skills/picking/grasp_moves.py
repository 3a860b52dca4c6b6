"""Moves of a grasp, shared by all picking skills: approach, close, lift."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.arms.arm_controller import CLOSED
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.configs.parts import Hold
from handloom.skills.picking.grasp_poses import Preshape, gripper_of, wrist_has_room
from handloom.skills.skill import Skill, command_at, gripper_function
from handloom.spatial import translation
from handloom.values import Check, Command

FAR = 2.0
"""Joint motion after a grasp above which a pick looks for other grasps [rad or m, norm over the joints]."""
WORTH = 0.7
"""Another grasp is chosen if its next joint motion is shorter than this fraction of the chosen one's."""
NEARNESS = 0.5
"""Grasps whose next joint motions differ by less than this are equally good."""
FORESEEN = 32
"""Number of grasps considered then."""
AT_ONCE, ENOUGH = 8, 3
"""Grasps of a stand-in considered at a time, and the number of usable ones that is enough."""


@dataclass(frozen=True, kw_only=True)
class GraspMoves:
    """How an object is approached, grasped and lifted."""

    object: str
    pre_grasp_offset: float
    """Length of the straight approach [m]; 0 moves to the grasp directly."""
    pre_grasp_shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Added to the start point of the approach, in the arm base [m]."""
    close_steps: int
    """Frames for the gripper to close."""
    lift: float
    """Length of the lift [m]."""
    lift_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Unit vector of the lift in the arm base; published: its z."""
    final_state: int = CLOSED
    """Gripper state at the end, 1 open or -1 closed."""
    hold: Hold | None = None
    """Parts of the pose to hold after the pre-grasp."""
    hold_ends: bool = True
    """Whether the hold ends with the grasp."""
    back: bool = False
    """Whether the hand returns to the start of the approach."""
    preshape: Preshape | None = None
    """Opening of the fingers on the approach; None: fully open."""
    test_mode: str = "forward"

    def commands(
        self, skill: Skill, grasps: Array, spare: Callable[[], Array] = lambda: np.zeros((0, 4, 4))
    ) -> list[Command]:
        """Return the published sequence for the first grasp whose moves are all possible; none after a failure.

        Args:
            skill: The calling skill; its failure is set if nothing is possible.
            grasps: Candidates T_base_tool (n, 4, 4), best first.
            spare: Gives further candidates. Used only if the first grasp brings the wrist so near to something that a
                sagging arm would rub on it, and no other one of ``grasps`` is better.
        """
        chosen = self._chosen(skill, grasps)
        if chosen is None:
            return []
        if self._has_room(skill, grasps[[chosen.index]])[0]:
            return self._sequence(skill, grasps[chosen.index], chosen)
        for candidates in (lambda: grasps, spare):
            others = candidates()
            roomy = others[self._has_room(skill, others)]
            better = self._chosen(skill, roomy) if len(roomy) else None
            if better is not None:
                return self._sequence(skill, roomy[better.index], better)
        skill.failure = None
        return self._sequence(skill, grasps[chosen.index], chosen)

    def _has_room(self, skill: Skill, grasps: Array) -> NDArray[np.bool_]:
        return wrist_has_room(skill, self.object, grasps, self.pre_grasp_offset)

    def _chosen(self, skill: Skill, grasps: Array) -> Chosen | None:
        """Return the first of grasps (n, 4, 4) whose moves are all possible, or one better suited to the next skill."""
        controller = skill.controller
        itself = controller.obstacles_of(self.object)
        controller.ignored = skill.config.ignore_substring
        moves = []
        if self.pre_grasp_offset > 0.0:
            moves.append(Move(T_base_tool=self._pre_grasps(skill, grasps)))
        moves.append(Move(T_base_tool=grasps, straight=bool(moves), ignore=itself))
        if self.lift != 0.0:
            moves.append(Move(T_base_tool=self._lifted(grasps), straight=True, ignore=itself))
        controller.fingers = {} if self.preshape is None else self.preshape.joints
        chosen = choose(skill, moves, test_mode=self.test_mode)
        if chosen is not None:
            chosen = self._leading_on(skill, grasps, moves, chosen)
        controller.fingers = {}
        return chosen

    def _leading_on(self, skill: Skill, grasps: Array, moves: list[Move], chosen: Chosen) -> Chosen:
        """Return a grasp that is near the next skill, if the chosen one is far from it or does not allow it."""
        follower, end = skill.follower, chosen.paths[-1]
        if follower is None or end is None or self.object not in follower.config.objects[:1]:
            return chosen
        ways = self._ways_after(skill, follower, grasps[[chosen.index]], end[-1])
        if ways is None or ways[0] < FAR:
            return chosen
        others = self._ways_of_others(skill, follower, grasps, end[-1])
        known, near, less = skill.failure, others.min(initial=np.inf) + NEARNESS, WORTH * ways[0]
        for better in (np.flatnonzero(others < min(near, less)), np.flatnonzero(others < less)):
            if len(better):
                planned = [replace(move, T_base_tool=np.asarray(move.T_base_tool)[better]) for move in moves]
                best = choose(skill, planned, test_mode=self.test_mode)
                if best is not None:
                    return replace(best, index=int(better[best.index]))
        skill.failure = known
        return chosen

    def _ways_of_others(self, skill: Skill, follower: Skill, grasps: Array, q: Array) -> Array:
        """Return the joint motion in the next skill from each of the considered grasps (n, 4, 4).

        Filters of a stand-in were written for another object, so that many of its grasps are out of reach: those within
        reach are considered, a few at a time, until some allow the next skill.
        """
        if not skill.scene.assets[self.object].stands_in:
            ways = self._ways_after(skill, follower, grasps[:FORESEEN], q)
            return np.full(0, np.inf) if ways is None else ways
        itself = skill.controller.obstacles_of(self.object)
        free = np.flatnonzero(skill.controller.reachable(Move(T_base_tool=grasps, ignore=itself), seed=q).free)
        ways = np.full(len(grasps), np.inf)
        for some in np.split(free, range(AT_ONCE, len(free), AT_ONCE)):
            found = self._ways_after(skill, follower, grasps[some], q) if len(some) else None
            if found is not None:
                ways[some] = found
            if np.isfinite(ways).sum() >= ENOUGH:
                break
        return ways

    def _ways_after(self, skill: Skill, follower: Skill, grasps: Array, q: Array) -> Array | None:
        """Return the joint motion from each grasp (n, 4, 4) in the next skill; None if any grasp will do.

        Also infinite if the object cannot first be shifted as required.
        """
        ways = follower.ways_after(grasps, q)
        if ways is None:
            return None
        for shift in skill.shifts:
            shifted = self._lifted(grasps)
            shifted[:, :3, 3] += shift
            move = Move(T_base_tool=shifted, ignore=skill.controller.obstacles_of(self.object))
            ways = np.where(skill.controller.reachable(move, seed=q).free, ways, np.inf)
        return ways

    def checks(self, skill: Skill, *, from_z: float, lift_th: float, process_valid: bool) -> tuple[Check, ...]:
        """Return the terms: the fingers hold the object, robot and object are at rest, and it was lifted.

        Args:
            skill: The calling skill.
            from_z: Height of the object before [m].
            lift_th: Lift that must be exceeded [m]; 0 disables the check.
            process_valid: Whether speeds are judged.
        """
        arm, terms = skill.controller.arm, []
        if self.final_state == CLOSED:
            arguments = {"robot": arm.robot_name, "arm": arm.name, "object": self.object}
            terms.append(Check(name="grasped", arguments=arguments))
        if process_valid:
            terms.append(skill.calm(self.object))
        if lift_th > 0:
            terms.append(Check(name="lifted", arguments={"object": self.object, "from_z": from_z, "by": lift_th}))
        return tuple(terms)

    def _pre_grasps(self, skill: Skill, T_base_tool: Array) -> Array:
        """Return poses moved back along the approach axis."""
        moved = T_base_tool @ translation(-self.pre_grasp_offset * skill.controller.arm.spec.approach)
        moved[..., :3, 3] += self.pre_grasp_shift
        return moved

    def _lifted(self, T_base_tool: Array) -> Array:
        lifted = T_base_tool.copy()
        lifted[..., :3, 3] += self.lift * np.asarray(self.lift_axis)
        return lifted

    def _sequence(self, skill: Skill, grasp: Array, chosen: Chosen) -> list[Command]:
        """Return the commands; a tested path goes with each move."""
        close, own = gripper_function(self.final_state), skill.config.ignore_substring
        paths = iter(range(len(chosen.paths)))
        opened = {} if self.preshape is None else {"drive": self.preshape.drive}
        without = (*own, *skill.controller.obstacles_of(self.object))
        commands = [skill.stay("update_pose_cost_metric"), skill.stay("update_specific", ignore_substring=own)]
        pre_grasp = self._pre_grasps(skill, grasp)
        if self.pre_grasp_offset > 0.0:
            # A jaw that was opened a little for a release inside something is opened further once outside.
            little = {} if gripper_of(skill).symmetric or opened else skill.controller.partly_open
            commands.append(command_at(pre_grasp, "open_gripper", **chosen.params(next(paths)), **opened, **little))
            if little:
                commands += [command_at(pre_grasp, "open_gripper", until_still=True)] * self.close_steps
        if self.hold is not None:
            commands.append(command_at(pre_grasp, "update_pose_cost_metric", hold_vec_weight=self.hold))
        commands.append(command_at(grasp, "update_specific", ignore_substring=without))
        commands.append(command_at(grasp, "open_gripper", straight=True, **chosen.params(next(paths)), **opened))
        commands += [command_at(grasp, close, until_still=True)] * self.close_steps
        if self.final_state == CLOSED:
            commands.append(command_at(grasp, "attach_obj", object=self.object))
            commands.append(command_at(grasp, "update_specific", ignore_substring=own))
        if self.hold is not None and self.hold_ends:
            commands.append(command_at(grasp, "update_pose_cost_metric"))
        if self.lift != 0.0:
            commands.append(command_at(self._lifted(grasp), close, straight=True, **chosen.params(next(paths))))
        if self.back:
            commands.append(command_at(pre_grasp, close))
        return commands
