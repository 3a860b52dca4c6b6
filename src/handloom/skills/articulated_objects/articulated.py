"""Open, close and turn doors, drawers, lids and knobs by contact alone."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import holds
from handloom.judging.joint_terms import is_knob
from handloom.motion.planning import Move
from handloom.objects import Link
from handloom.objects.keypoints import Action
from handloom.skills.arms.candidates import colliding
from handloom.skills.articulated_objects.actuation import KeyFrames, perturbed
from handloom.skills.articulated_objects.easing import easings, room_aside, shifted
from handloom.skills.articulated_objects.joint_paths import JointPath, joint_path
from handloom.skills.articulated_objects.joint_task import STILL, JointConfigT, JointTask
from handloom.skills.articulated_objects.keypoint_solver import ConstraintError, solve_terms
from handloom.skills.articulated_objects.moving_part import INTO, MovingPart, grazes
from handloom.skills.configs.articulated import CloseConfig, PlannerSetting, RotateConfig
from handloom.skills.picking.finger_room import has_between_fingers
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.skill import command_at, plan_failure
from handloom.spatial import translation
from handloom.values import Command, Failure, FunnelStage

CANDIDATES = 64
"""Number of hand poses that are solved; the arm chooses among them."""
EASED = 24
"""How many of these are tried with each relaxed setting."""
WAYS = 3
"""Candidates with a complete path along the joint, nearest first, to which a free approach is planned."""
BLOCKED = 4
"""Number of candidates whose own arm stops the joint, after which no further ones are tried."""
SEEDS = 4
"""Further starting points of the inverse kinematics, tried until a path is found."""
PACE, APPROACH_PACE = 0.5, 0.7
"""Fractions of the expert's pace while the hand moves a joint, and while it approaches one."""
CLOSE_FRAMES, OPEN_FRAMES = 40, 20
"""Maximum number of frames for the fingers to close or to open; published: 40."""
HOLD_FRAMES = 10
"""Frames for which a hand that keeps hold of a handle waits for the joint to come to rest."""
BALANCED = 1.3
"""Angle up to which a released lid falls shut [rad]."""
IMPOSSIBLE = "constraint_cannot_hold"
"""Reason given for a setting that no hand pose satisfies."""
BACK = 0.05
"""How far a hand draws back from a joint once it is pushed far enough [m]."""
REPLANS = 2
"""Maximum number of new plans for a part that has moved before the hand touches it."""
SETTLING = 2.0
"""Time that such a part has to come to rest [s]."""


class ArticulatedSkill(JointTask[JointConfigT]):
    """Base of opening, closing and turning: a hand pose from keypoints, and the joint's own path."""

    _coming: Command | None = None
    """The command that brings the hand to the start of the straight way to the contact."""
    _replans: int = 0
    _closes_first: bool = False
    """Whether the fingers close before the hand sets out."""
    _waited: int = 0
    """Frames waited for the part to come to rest."""

    def simple_generate_manip_cmds(self) -> None:
        """Solve for hand poses, choose one whose whole path is possible, and write the commands."""
        ways = self._prepare()
        if not ways:
            return
        path = ways[0].approach[:1] if self._held else self._free_path(ways)
        if path is not None:
            commands = self._commands(ways[0], path)
            self.manip_list = commands if self.failure is None else []

    def _prepare(self) -> list[JointPath]:
        """Return ways to move the joint with the first strategy that has any, best first; set the failure if none."""
        name = self.config.objects[0]
        link = self._link()
        self._start = self.scene.world.joint_position(f"{name}/{link.joint}")
        self.controller.ignored = self.config.ignore_substring
        self._stops: dict[float, str] = {}
        first: Failure | None = None
        for share, strategy in self._tried(link):
            self._share, self._strategy, self.failure = share, strategy, None
            self._keypoints = self._annotation()
            self._part = MovingPart(scene=self.scene, arm=self.controller.arm, name=name, keypoints=self._keypoints)
            self._held = strategy.grips and self._has_hold(link)
            if stopped := self._stopped(link):
                self.fail(FunnelStage.PLAN, "no_way_along_joint", stopped)
                first = first or self.failure
                continue
            ways = self._held_ways() if self._held else self._free_ways()
            if ways:
                return ways
            first = first or self.failure
            if self.failure is not None and self.failure.reason == IMPOSSIBLE:
                break  # The author of the task must fix that.
        self.failure = first
        return []

    def _stopped(self, link: Link) -> str:
        """Return the robot link, other than the arm's own, that stops the moving part; checked once per distance."""
        end = self._start + self._delta(link)
        if end not in self._stops:
            self._stops[end] = self._part.runs_into(self._start, end)
        return self._stops[end]

    def _has_hold(self, link: Link) -> bool:
        """Return whether the fingers are closed on the moving part already."""
        arm, moving = self.controller.arm, [f"{self.config.objects[0]}/{link.name}"]
        return self.controller.gripper_state < 0 and bool(self.scene.world.touching(arm.finger_bodies, moving))

    def _held_ways(self) -> list[JointPath]:
        """Return the path along the joint from the hand's current grasp."""
        controller = self.controller
        controller.refresh()
        # Frame 1 is the contact: nothing leads up to it.
        there = {"pre_actuation_motions": (), "modify_actuation_motion": None, "contact_pose_index": 1}
        setting = self._strategy.setting.model_copy(update=there)
        way = self._way(controller.target, controller.commanded_pose, setting)
        if isinstance(way, JointPath):
            return [way]
        self.fail(FunnelStage.PLAN, "no_way_along_joint", f"the hand holds it already; {'; '.join(way)}")
        return []

    def _free_ways(self) -> list[JointPath]:
        """Return ways that begin with an empty hand: as configured, or relaxed if the fingers have no room."""
        try:
            goals = self._goals()
        except ConstraintError as error:
            self.fail(FunnelStage.REACH, IMPOSSIBLE, str(error), candidates=CANDIDATES)
            return []
        ways = self._ways(goals)
        told, why = self._strategy, self.failure
        if ways or not told.grips or why is None or not why.counts.get("reachable"):
            return ways
        arm, part = self.controller.arm.spec, self._part
        outward = part.world_in_base @ part.outward(self._delta(part.link))
        room = room_aside(part, arm.gripper_max_width)
        for easing in easings(told.setting):
            # If even the goal is not free, a shorter motion beyond it does not help.
            if (easing.aside and room <= 0.0) or not (easing.aside or why.counts["free"]):
                continue
            moved = shifted(goals[:EASED], outward, arm.R_ee_graspnet[:, 1], easing.aside * room)
            self._strategy, self.failure = replace(told, setting=easing.setting), None
            if len(moved) and (ways := self._ways(moved)):
                return ways
        self._strategy, self.failure = told, why
        return []

    def _goals(self) -> Array:
        """Return hand poses (n, 4, 4) at the goal that satisfy every constraint, with their random part."""
        setting, motions = self._strategy.setting, self._part.motions(self._strategy, 1.0)
        terms = self._part.frame(self._strategy).terms(setting.constraint_list)
        T = solve_terms(terms, CANDIDATES, self.rng)
        arm = self.controller.arm.spec
        T, found = self.controller.attainable(
            T, point_tool=np.asarray(arm.keypoints.tool_head[:3]), axis_tool=arm.R_ee_graspnet[:, 1]
        )
        T = perturbed(T[found], setting.keypose_random_range, self.rng)
        if setting.modify_actuation_motion is not None:
            T = np.array([motions.end(pose, setting.modify_actuation_motion) for pose in T]).reshape(-1, 4, 4)
        return T

    def _ways(self, goals: Array) -> list[JointPath]:
        """Return the ways that are continuous from the approach to the end, best first, at most ``WAYS``."""
        controller, chain = self.controller, self.controller.chain
        motions = self._part.motions(self._strategy, 1.0)
        first = [KeyFrames.first(goal, self._strategy.setting, motions) for goal in goals]
        poses = np.array(first).reshape(-1, 4, 4)
        reachable, free, last = 0, 0, ""
        # Redundant arms reach a pose in many configurations, not all of which can follow the joint.
        for seed in (controller.target, *self.rng.uniform(chain.lower, chain.upper, (SEEDS, chain.dof))):
            found = controller.reachable(Move(T_base_tool=poses), seed=seed)
            if not free and not found.free.any() and found.reachable.any():
                last = colliding(controller.planner, found.q[found.reachable])
            reachable, free = max(reachable, int(found.reachable.sum())), max(free, int(found.free.sum()))
            ways, why = self._followed(found.q[found.free], goals[found.free])
            if ways:
                return sorted(ways, key=lambda way: way.cost)
            last = why or last
        stage = FunnelStage.PLAN if reachable else FunnelStage.REACH
        reason = "no_way_along_joint" if free else "goal_in_collision" if reachable else "goal_unreachable"
        detail = f"of {len(goals)} hand poses {reachable} can be reached, {free} without collision"
        detail += f"; {last}" if last else ""
        if not len(goals):
            detail = f"no pose in which the hand could take it suits the {chain.dof} joints of this arm"
        detail += f"; {self._part.how_far()}"
        self.fail(stage, reason, detail, given=len(goals), reachable=reachable, free=free)
        return []

    def _followed(self, q: Array, goals: Array) -> tuple[list[JointPath], str]:
        """Return ways from joints (n, dof) before goals (n, 4, 4), nearest first, or why there is none."""
        ways: list[JointPath] = []
        why, blocked = "", 0
        for i in np.argsort(np.abs(q - self.controller.target).sum(axis=1), kind="stable"):
            way = self._way(q[i], goals[i], self._strategy.setting)
            if isinstance(way, JointPath):
                ways.append(way)
            else:
                why = way[-1]
                blocked += INTO in why
            if len(ways) == WAYS or blocked == BLOCKED:
                break
        return ways, why

    def _driving(self, T_base_tool: Array) -> list[Command]:
        """Return the motion of the base while the hand holds on at a pose (4, 4): none."""
        return []

    def _frames(self, goal: Array, setting: PlannerSetting, pivot: float) -> KeyFrames:
        """Return the frames of the hand on its path to a goal (4, 4) and along the joint."""
        return KeyFrames.of(goal, setting, self._part.motions(self._strategy, pivot))

    def _way(self, q: Array, goal: Array, setting: PlannerSetting) -> JointPath | list[str]:
        """Return the path from joints (n,) before a goal (4, 4) to the end, or why there is none."""
        layouts = (self._frames(goal, setting, pivot) for pivot in self._strategy.pivots)
        end = self._start + self._delta(self._keypoints.link)
        beside = [f"{self.config.objects[0]}/{knob}" for knob in self._knobs_beside()]

        def blocked(path: Array) -> str:
            return self._part.runs_into(self._start, end, path) or self._part.brushes(path, beside)

        return joint_path(
            self.controller, self.config.objects[0], self._strategy, q, layouts, blocked, self._touchable()
        )

    def _free_path(self, ways: list[JointPath]) -> Array | None:
        """Return the path (m, n) to the first frame of the best way that has one; put that way first in the list."""
        result = None
        for way in list(ways):
            result = self.controller.plan_to_joints(way.approach[0])
            if result.ok:
                ways.remove(way)
                ways.insert(0, way)
                return result.path if self._strategy.grips else self._clear_of_part(way, result.path)
        if result is not None:
            failure = plan_failure(result)
            self.fail(failure.stage, failure.reason, failure.detail)
        return None

    def _clear_of_part(self, way: JointPath, path: Array) -> Array:
        """Return a path (m, n) on which fingers that close on the way leave the part alone, or the given one.

        Paths are planned for the fingers as they are. Some fingertips reach further when they close, and a mug may
        stand between open fingers somewhere on the way; closed before they set out, they go around it.
        """
        scene, arm = self.scene, self.controller.arm
        closed = Preshape.at(gripper_of(self), 0.0).joints
        loose = [o.name for o in scene.instance.objects if not o.fixed and o.solid]
        bodies = [body for name in loose for body in scene.world.subtree(scene.body_of(name))]
        meets = grazes(scene, arm, bodies, path, closed) and not has_between_fingers(self)
        if not meets and not grazes(scene, arm, scene.world.subtree(self._part.body), path, closed):
            return path
        self.controller.fingers = closed
        result = self.controller.plan_to_joints(way.approach[0])
        self.controller.fingers = {}
        self._closes_first = meets and result.ok
        return result.path if result.ok else path

    def is_done(self) -> bool:
        """Return whether no command is left; a part that has moved before the contact is approached anew."""
        coming = bool(self.manip_list) and self.manip_list[0] is self._coming
        done = super().is_done()
        if not coming or done or self.manip_list[0] is self._coming or not self._part.has_moved_from(self._start):
            return done
        speed = self.scene.world.joint_velocity(f"{self.config.objects[0]}/{self._keypoints.link.joint}")
        if abs(speed) > STILL and self._waited < SETTLING * self.scene.instance.fps and self._coming is not None:
            self._waited += 1
            self.manip_list.insert(0, self._coming)
        elif self._replans < REPLANS:
            self._replans += 1
            self.manip_list, self.failure = [], None
            self.simple_generate_manip_cmds()
        return not self.manip_list

    def _commands(self, way: JointPath, path: Array) -> list[Command]:
        """Return the commands: approach, motion along the joint, release, retreat."""
        config = self.config
        own = config.ignore_substring
        without = (*own, *self._touchable())
        start, contact = way.frames.approach[0], way.frames.approach[-1]
        end = (way.frames.actuation or [contact])[-1]
        coming = "open_gripper" if self._strategy.grips else "close_gripper"
        commands = [self.stay("update_pose_cost_metric"), self.stay("update_specific", ignore_substring=own)]
        if not self._held:
            # Closed at once, the fingers would take along what is still between them, such as a placed mug.
            leaves = coming == "close_gripper" and has_between_fingers(self)
            if self._closes_first:
                commands += [self.stay("close_gripper", until_still=True)] * self.frames(CLOSE_FRAMES)
            self._coming = command_at(start, "open_gripper" if leaves else coming, path=path)
            commands.append(self._coming)
            commands += [command_at(start, coming, until_still=True)] * (self.frames(CLOSE_FRAMES) if leaves else 0)
        commands.append(command_at(contact, "update_specific", ignore_substring=without))
        if len(way.frames.approach) > 1:
            commands.append(command_at(contact, coming, straight=True, path=way.approach, pace=APPROACH_PACE))
        if self._strategy.grips:
            commands += [command_at(contact, "close_gripper", until_still=True)] * self.frames(CLOSE_FRAMES)
        if way.frames.actuation:
            ends = {"until_shut": True} if self._passes_zero() else {}
            commands.append(command_at(end, "close_gripper", path=way.actuation, pace=PACE, **ends))
        commands += self._driving(contact)
        # The hand keeps hold of a lid that would fall shut again, as published hands do with everything they open.
        falls = self._falls(self._keypoints.link) and abs(self._start + self._delta(self._keypoints.link)) < BALANCED
        if self._strategy.grips and (config.hold or falls):
            return commands + [command_at(end, "close_gripper")] * self.frames(HOLD_FRAMES)
        if self._strategy.grips:
            commands += [command_at(end, "open_gripper", until_still=True)] * self.frames(OPEN_FRAMES)
        commands.append(command_at(way.back, coming, straight=True, path=way.retreat))
        commands.append(command_at(way.back, "update_specific", ignore_substring=own))
        return commands

    def _touchable(self) -> tuple[str, ...]:
        """Return the obstacles of the object that the hand may touch: all but the knobs beside one that it turns."""
        name = self.config.objects[0]
        kept = tuple(f"{name}/{knob}/" for knob in self._knobs_beside())
        return tuple(o for o in self.controller.obstacles_of(name) if not (kept and o.startswith(kept)))

    def _knobs_beside(self) -> tuple[str, ...]:
        """Return the other knobs of the object, by body, if the hand turns one of several."""
        link = self._keypoints.link
        joints = self.scene.assets[self.config.objects[0]].joints
        return tuple(m.name for m in joints if m.name != link.name and is_knob(m)) if is_knob(link) else ()

    def _passes_zero(self) -> bool:
        """Return whether a joint closed by a task's setting could be pushed beyond zero, which counts as closed."""
        low, high = self._keypoints.link.range
        mode, threshold = self._strategy.setting.success_mode or self.mode, self._strategy.setting.success_threshold
        return self._given_setting() is not None and mode == "zero" and low < -threshold and high > threshold

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return whether the first command is done; a joint that does not stop at zero is left once it reaches zero."""
        command = self.manip_list[0]
        if not command.params.get("until_shut") or not holds(self.scene, self.checks()[0]):
            return super().is_subtask_done(t_eps, o_eps)
        back = self.controller.commanded_pose @ translation(-BACK * self.controller.arm.spec.approach)
        self.manip_list[1:-1] = [command_at(back, "close_gripper", straight=True)]
        return True


class Close(ArticulatedSkill[CloseConfig]):
    """The published close: closed fingers push, or, with ``grasp``, take hold of the handle."""

    Config: ClassVar = CloseConfig
    action: ClassVar[Action] = "close"
    mode: ClassVar = "zero"


class Rotate(ArticulatedSkill[RotateConfig]):
    """The published rotate: turn a knob or a tap."""

    Config: ClassVar = RotateConfig
    action: ClassVar[Action] = "turn"
