"""Open, close and turn doors, drawers, lids and knobs by contact alone."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Move
from handloom.objects import Link
from handloom.objects.keypoints import HEAD, LINK_CONTACT, Action, JointKeypoints, joint_keypoints, read_keypoints
from handloom.skills.arms.candidates import colliding, seen_from_base
from handloom.skills.articulated_objects.actuation import HandMotions, JointAxis, KeyFrames, perturbed
from handloom.skills.articulated_objects.door_edges import by_edge, upper_edge
from handloom.skills.articulated_objects.easing import easings, room_aside, shifted
from handloom.skills.articulated_objects.joint_paths import JointPath, joint_path
from handloom.skills.articulated_objects.joint_strategies import Job, Strategy, hand_point, holding, pushing, shut_end
from handloom.skills.articulated_objects.keypoint_solver import ConstraintError, KeypointFrame, solve_terms
from handloom.skills.configs.articulated import ArticulatedSkillConfig, CloseConfig, PlannerSetting, RotateConfig
from handloom.skills.picking.grasp_poses import gripper_of
from handloom.skills.skill import Skill, command_at, plan_failure
from handloom.spatial import invert_pose
from handloom.values import Check, Command, Failure, FunnelStage

CANDIDATES = 64
"""Hand poses that are solved for; the arm chooses among them."""
EASED = 24
"""Of these, how many are tried in each easing."""
WAYS = 3
"""Candidates with a whole way along the joint, nearest first, that a free path is sought to."""
SHARES = 4
"""How many fractions of a joint's range are tried from ``amount`` down to ``least_amount``."""
SEEDS = 4
"""Further starting points of the inverse kinematics, tried until there is a way."""
PACE, APPROACH_PACE = 0.5, 0.7
"""Fractions of the expert's pace while the hand moves a joint, and while it approaches one."""
CLOSE_FRAMES, OPEN_FRAMES = 40, 20
"""Frames the fingers get to close and to open at most; published: 40."""
HOLD_FRAMES = 10
"""Frames a hand that keeps hold of a handle waits until the joint has come to rest."""
LEVEL = 0.5
"""Largest upright part of a level hinge, and least upward part of the face of a lid that lies."""
BALANCED = 1.3
"""Angle up to which a lid that is let go falls shut [rad]."""
BEYOND = 1.2
"""How far a stand-in is opened, as a multiple of what the task counts as open."""
HEAVY = 1.6
"""The same of a lid that falls shut."""
ONCE = 1e-6
"""Fraction of the frames that any single one is more than."""
STILL = 0.05
"""Fastest motion of a joint that is at rest [m/s or rad/s]."""


JointConfigT = TypeVar("JointConfigT", bound=ArticulatedSkillConfig)


class ArticulatedSkill(Skill[JointConfigT]):
    """What opening, closing and turning share: a hand pose by keypoints, the joint's own path, a joint's state."""

    action: ClassVar[Action] = "open"
    mode: ClassVar[str] = "abs"
    """``success_mode`` where the config has none."""
    may_lean = True
    """Whether hands that lean are tried where others do not do."""

    def simple_generate_manip_cmds(self) -> None:
        """Solve for hand poses, choose one whose whole way is possible, and write the commands."""
        ways = self._prepare()
        if not ways:
            return
        path = ways[0].approach[:1] if self._held else self._free_path(ways)
        if path is not None:
            commands = self._commands(ways[0], path)
            self.manip_list = commands if self.failure is None else []

    @property
    def end(self) -> tuple[str, float]:
        """The joint of the scene that is moved, and where it is at the end of what was planned [m or rad]."""
        link = self._keypoints.link
        return f"{self.config.objects[0]}/{link.joint}", self._start + self._delta(link)

    def checks(self) -> tuple[Check, ...]:
        """Return: the joint stands where it should and rests, and nothing but fingers touched the moving part."""
        config, arm, name = self.config, self.controller.arm, self.config.objects[0]
        joint, setting = self._keypoints.link.joint, self._strategy.setting
        state = {
            "start": self._start,
            "threshold": setting.success_threshold,
            "mode": setting.success_mode or self.mode,
        }
        once = ONCE if config.momentary else 0.0
        terms = [Check(name="joint_state", arguments={"object": name, "joint": joint, **state}, share=once)]
        if config.process_valid:
            terms.append(Check(name="joint_still", arguments={"object": name, "joint": joint, "speed": STILL}))
            terms.append(self.calm(name))
        if config.collision_valid:
            touch = {"robot": arm.robot_name, "arm": arm.name, "object": name, "base": self._keypoints.link.parent}
            terms.append(Check(name="fingers_only", arguments=touch, share=1.0))
        return tuple(terms)

    def _prepare(self) -> list[JointPath]:
        """Return ways to move the joint with the first strategy that has any, best first; none after telling why."""
        name = self.config.objects[0]
        link = self._link()
        self._start = self.scene.world.joint_position(f"{name}/{link.joint}")
        self.controller.ignored = self.config.ignore_substring
        first: Failure | None = None
        for share, strategy in self._tried(link):
            self._share, self._strategy, self.failure = share, strategy, None
            self._keypoints = self._annotation()
            self._held = strategy.grips and self._has_hold(link)
            ways = self._held_ways() if self._held else self._free_ways()
            if ways:
                return ways
            first = first or self.failure
        self.failure = first
        return []

    def _tried(self, link: Link) -> Iterator[tuple[float, Strategy]]:
        """Yield by which fraction of its range and with which strategy the joint may be moved, first choice first.

        A hand that leans slips off more easily, so a smaller motion comes before a hand that leans more.
        """
        amount, least = self.config.amount, self.config.least_amount
        least = amount if least is None or self.config.by is not None or self._doing() == "close" else least
        found: dict[float, list[Strategy]] = {}
        for self._share in np.linspace(amount, least, SHARES if least < amount else 1).tolist():
            found[self._share] = [*self._strategies(link)]
        for strategies in zip_longest(*found.values()):
            if not self.may_lean and all(m is None or m.wider > 0.0 for m in strategies):
                return
            yield from ((share, m) for share, m in zip(found, strategies, strict=True) if m is not None)

    def _has_hold(self, link: Link) -> bool:
        """Return whether the fingers are closed on the moving part already."""
        arm, moving = self.controller.arm, [f"{self.config.objects[0]}/{link.name}"]
        return self.controller.gripper_state < 0 and bool(self.scene.world.touching(arm.finger_bodies, moving))

    def _held_ways(self) -> list[JointPath]:
        """Return the way along the joint from where the hand holds it."""
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
        """Return ways that begin with an empty hand: as told, or else eased where the fingers find no room."""
        try:
            goals = self._goals()
        except ConstraintError as error:
            self.fail(FunnelStage.REACH, "constraint_cannot_hold", str(error), candidates=CANDIDATES)
            return []
        ways = self._ways(goals)
        told, why = self._strategy, self.failure
        if ways or not told.grips or why is None or not why.counts.get("reachable"):
            return ways
        arm, outward = self.controller.arm, self._outward()
        head = self._in_world(self._keypoints.link.head)
        face = self.scene.world.body_pose(self._body)[:3, :3] @ np.asarray(self._keypoints.link.normal)
        room = room_aside(self.scene, self._body, head, face, arm.spec.gripper_max_width)
        for easing in easings(told.setting):
            # Where not even the goal is free, going less deep beyond it does not help.
            if (easing.aside and room <= 0.0) or not (easing.aside or why.counts["free"]):
                continue
            moved = shifted(
                goals[:EASED], arm.T_world_base[:3, :3].T @ outward, arm.spec.R_ee_graspnet[:, 1], easing.aside * room
            )
            self._strategy, self.failure = replace(told, setting=easing.setting), None
            if len(moved) and (ways := self._ways(moved)):
                return ways
        self._strategy, self.failure = told, why
        return []

    @property
    def _body(self) -> str:
        """Body of the moving part in the scene."""
        return f"{self.config.objects[0]}/{self._keypoints.link.name}"

    def _in_world(self, point: Sequence[float]) -> Array:
        """Return a point (3,) of the moving part in the world [m]."""
        T = self.scene.world.body_pose(self._body)
        return T[:3, :3] @ np.asarray(point) + T[:3, 3]

    def _outward(self) -> Array:
        """Return the unit vector (3,) in the world along which the joint is to move the head now."""
        link = self._keypoints.link
        axis = np.sign(self._delta(link)) * self.scene.world.body_pose(self._body)[:3, :3] @ np.asarray(link.axis)
        if link.kind == "slide":
            return axis
        way = np.cross(axis, self._in_world(link.head) - self._in_world(link.anchor))
        return way / max(float(np.linalg.norm(way)), 1e-9)

    def _doing(self) -> Action:
        """Return what is done to the joint."""
        return self.action

    def _given_setting(self) -> PlannerSetting | None:
        """Return the setting of the task; None if it has none, or one of an asset that another stands in for.

        Axes, signs and lengths of a setting are those of one asset's annotation; a stand-in has its own.
        """
        return None if self._stands_in() else self.config.planner_setting

    def _link(self) -> Link:
        """Return the moving part."""
        asset = self.scene.assets[self.config.objects[0]]
        if not asset.articulated:
            raise ConfigError(f"{self.config.name}: {self.config.objects[0]} ({asset.name}) has no joint")
        index = asset.joint_index(self.config.joint)
        file = self._annotation_file()
        return asset.joints[index] if file is None else read_keypoints(file, asset.joints[index], index).link

    def _annotation_file(self) -> Path | None:
        """Return the annotation that the task names; None without one, or where it is missing beside a stand-in."""
        file = None if self.config.obj_info_path is None else Path(self.config.obj_info_path)
        stands_in = self.scene.assets[self.config.objects[0]].parameters.get("path") is None
        return None if file is None or (stands_in and not file.is_file()) else file

    def _annotation(self) -> JointKeypoints:
        """Return the keypoints of the joint, from a file where the config names one."""
        link, file = self._link(), self._annotation_file()
        index = self.scene.assets[self.config.objects[0]].joint_index(self.config.joint)
        if file is None:
            return joint_keypoints(link, index, "open" if self._strategy.grips else self._doing())
        return read_keypoints(file, link, index)

    def _delta(self, link: Link) -> float:
        """Return how far the joint is to move [m or rad]."""
        given, (low, high) = self.config.planner_setting, link.range
        if self._doing() == "close":
            # A published setting counts a joint as closed at zero, wherever its part is then.
            return (shut_end(link) if given is None else min(max(0.0, low), high)) - self._start
        amount = self._share * (high - low) if given is None else BEYOND * abs(given.success_threshold)
        if given is None and self.config.by is not None:
            amount = np.deg2rad(self.config.by) if link.kind == "hinge" else self.config.by
        if given is not None and self._falls(link):
            # Until the hand is there, it has fallen shut; and its weight bends the arm and its knob turns in the hand.
            amount = HEAVY * abs(given.success_threshold) + self._start - low
        delta = amount * (1.0 if abs(high) >= abs(low) else -1.0)
        return float(np.clip(self._start + delta, low, high)) - self._start

    def _stands_in(self) -> bool:
        return self.scene.assets[self.config.objects[0]].stands_in

    def _falls(self, link: Link) -> bool:
        """Return whether a lid that stands in for another falls shut when nothing holds it."""
        if link.kind != "hinge" or self._doing() != "open" or not self._stands_in():
            return False
        up = self.scene.world.body_pose(f"{self.config.objects[0]}/{link.name}")[2, :3]
        axis, face = float(up @ np.asarray(link.axis)), float(up @ np.asarray(link.normal))
        return abs(axis) < LEVEL < face

    def _strategies(self, link: Link) -> Iterator[Strategy]:
        """Yield strategies of moving the joint, first choice first: the task's own, or those of the object.

        Where nothing says how, a joint that no finger can push shut is shut by its handle. The task's own success
        criterion takes precedence.
        """
        config, shuts = self.config, self._doing() == "close"
        fingers, given = self.controller.arm.suction is None, self._given_setting()
        holds = fingers and (config.grasp if config.grasp is not None else not shuts)
        if given is not None:
            yield Strategy(grips=holds, setting=given, contact=hand_point(self.controller.arm.spec))
            return
        job = Job(link=link, delta=self._delta(link), shuts=shuts, gripper=gripper_of(self))
        own = [pushing(job)] if not holds else []
        own += [self._held_by(job)] if holds or (fingers and config.grasp is None) else []
        told = config.planner_setting
        kept = {} if told is None else {"success_threshold": told.success_threshold, "success_mode": told.success_mode}
        least = config.least_amount if told is None and not shuts else None
        for strategy in (m for strategies in own for m in strategies):
            if least is not None:  # More is aimed at than is asked for.
                enough = least * (link.range[1] - link.range[0])
                kept = {"success_threshold": min(strategy.setting.success_threshold, enough)}
            yield replace(strategy, setting=strategy.setting.model_copy(update=kept))

    def _held_by(self, job: Job) -> Iterator[Strategy]:
        """Yield strategies of taking hold: of the handle, of the edge of a door that is ajar, of the handle askew."""
        name = f"{self.config.objects[0]}/{job.link.name}"
        edge = None if job.shuts else upper_edge(self.scene, name, job.link)
        square, *askew = holding(job)
        yield square
        if edge is not None:
            yield from by_edge(job, edge, self._start - shut_end(job.link))
        yield from askew

    def _goals(self) -> Array:
        """Return hand poses (n, 4, 4) at the goal that satisfy every constraint, with their random part."""
        setting, motions = self._strategy.setting, self._motions(1.0)
        terms = self._frame().terms(setting.constraint_list)
        T = solve_terms(terms, CANDIDATES, self.rng)
        arm = self.controller.arm.spec
        T, found = self.controller.attainable(
            T, point_tool=np.asarray(arm.keypoints.tool_head[:3]), axis_tool=arm.R_ee_graspnet[:, 1]
        )
        T = perturbed(T[found], setting.keypose_random_range, self.rng)
        if setting.modify_actuation_motion is not None:
            T = np.array([motions.end(pose, setting.modify_actuation_motion) for pose in T]).reshape(-1, 4, 4)
        return T

    def _frame(self) -> KeypointFrame:
        """Return where the keypoints of hand and object are now."""
        keypoints, name = self._keypoints, self.config.objects[0]
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        body = {
            k.body: T_base_world @ self.scene.world.body_pose(f"{name}/{k.body}") for k in keypoints.points.values()
        }
        points = {n: body[k.body][:3, :3] @ k.position + body[k.body][:3, 3] for n, k in keypoints.points.items()}
        points[LINK_CONTACT] += (
            self._strategy.lift * body[keypoints.link.name][:3, :3] @ np.asarray(keypoints.link.normal)
        )
        if self._strategy.place is not None:
            points[HEAD] = body[keypoints.link.name][:3] @ (*self._strategy.place, 1.0)
        axes = {n: body[a.body][:3, :3] @ np.asarray(a.direction) for n, a in keypoints.axes.items()}
        hand = self.controller.arm.spec.keypoints
        tool = {n: np.asarray(getattr(hand, n)[:3], float) for n in ("tool_head", "tool_tail", "tool_side")}
        return KeypointFrame(tool=tool, points=points, axes=axes, R_base_link=body[keypoints.link.name][:3, :3])

    def _motions(self, pivot: float) -> HandMotions:
        link, arm = self._keypoints.link, self.controller.arm
        T_base_world = invert_pose(arm.T_world_base)
        T = T_base_world @ self.scene.world.body_pose(f"{self.config.objects[0]}/{link.name}")
        axis, anchor = T[:3, :3] @ np.asarray(link.axis), T[:3, :3] @ np.asarray(link.anchor) + T[:3, 3]
        joint = JointAxis(axis=axis, anchor=anchor, pivot=pivot)
        return HandMotions(joint=joint, approach=arm.spec.approach, contact=self._strategy.contact)

    def _ways(self, goals: Array) -> list[JointPath]:
        """Return the ways that are continuous from the approach to the end, best first, at most ``WAYS``."""
        controller, chain = self.controller, self.controller.chain
        motions = self._motions(1.0)
        first = [KeyFrames.first(goal, self._strategy.setting, motions) for goal in goals]
        poses = np.array(first).reshape(-1, 4, 4)
        reachable, free, last = 0, 0, ""
        # Arms with a joint to spare reach a pose in many ways, and not all of them can follow the joint.
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
        detail += self._how_far()
        self.fail(stage, reason, detail, given=len(goals), reachable=reachable, free=free)
        return []

    def _how_far(self) -> str:
        """Say where the handle is, seen from the arm."""
        arm, link = self.controller.arm, self._keypoints.link
        T = self.scene.world.body_pose(f"{self.config.objects[0]}/{link.name}")
        x, y, z = (T[:3, :3] @ np.asarray(link.head) + T[:3, 3] - arm.T_world_base[:3, 3]).tolist()
        return f"; the handle of {link.name} is {seen_from_base(arm, x, y, z)}"

    def _followed(self, q: Array, goals: Array) -> tuple[list[JointPath], str]:
        """Return ways from joints (n, dof) before goals (n, 4, 4), nearest first, or why there is none."""
        ways: list[JointPath] = []
        why = ""
        for i in np.argsort(np.abs(q - self.controller.target).sum(axis=1), kind="stable"):
            way = self._way(q[i], goals[i], self._strategy.setting)
            if isinstance(way, JointPath):
                ways.append(way)
            else:
                why = way[-1]
            if len(ways) == WAYS:
                break
        return ways, why

    def _driving(self, T_base_tool: Array) -> list[Command]:
        """Return what the base does while the hand holds on at a pose (4, 4): nothing."""
        return []

    def _frames(self, goal: Array, setting: PlannerSetting, pivot: float) -> KeyFrames:
        """Return where the hand goes on its way to a goal (4, 4) and along the joint."""
        return KeyFrames.of(goal, setting, self._motions(pivot))

    def _way(self, q: Array, goal: Array, setting: PlannerSetting) -> JointPath | list[str]:
        """Return the way from joints (n,) before a goal (4, 4) to the end, or why there is none."""
        layouts = (self._frames(goal, setting, pivot) for pivot in self._strategy.pivots)
        return joint_path(self.controller, self.config.objects[0], self._strategy, q, layouts)

    def _free_path(self, ways: list[JointPath]) -> Array | None:
        """Return the path (m, n) to the first frame of the best way that has one, which is put first in the list."""
        result = None
        for way in list(ways):
            result = self.controller.plan_to_joints(way.approach[0])
            if result.ok:
                ways.remove(way)
                ways.insert(0, way)
                return result.path
        if result is not None:
            failure = plan_failure(result)
            self.fail(failure.stage, failure.reason, failure.detail)
        return None

    def _commands(self, way: JointPath, path: Array) -> list[Command]:
        """Return the commands: to the joint, along it, let go, back."""
        config, name = self.config, self.config.objects[0]
        own = config.ignore_substring
        without = (*own, *self.controller.obstacles_of(name))
        start, contact = way.frames.approach[0], way.frames.approach[-1]
        end = (way.frames.actuation or [contact])[-1]
        coming = "open_gripper" if self._strategy.grips else "close_gripper"
        commands = [self.stay("update_pose_cost_metric"), self.stay("update_specific", ignore_substring=own)]
        if not self._held:
            commands.append(command_at(start, coming, path=path))
        commands.append(command_at(contact, "update_specific", ignore_substring=without))
        if len(way.frames.approach) > 1:
            commands.append(command_at(contact, coming, straight=True, path=way.approach, pace=APPROACH_PACE))
        if self._strategy.grips:
            commands += [command_at(contact, "close_gripper", until_still=True)] * self.frames(CLOSE_FRAMES)
        if way.frames.actuation:
            commands.append(command_at(end, "close_gripper", path=way.actuation, pace=PACE))
        commands += self._driving(contact)
        # A lid that would fall shut again is held on to, as published hands do with whatever they open.
        falls = self._falls(self._keypoints.link) and abs(self._start + self._delta(self._keypoints.link)) < BALANCED
        if self._strategy.grips and (config.hold or falls):
            return commands + [command_at(end, "close_gripper")] * self.frames(HOLD_FRAMES)
        if self._strategy.grips:
            commands += [command_at(end, "open_gripper", until_still=True)] * self.frames(OPEN_FRAMES)
        commands.append(command_at(way.back, coming, straight=True, path=way.retreat))
        commands.append(command_at(way.back, "update_specific", ignore_substring=own))
        return commands


class Close(ArticulatedSkill[CloseConfig]):
    """The published close: closed fingers push, or, with ``grasp``, take hold of the handle."""

    Config: ClassVar = CloseConfig
    action: ClassVar[Action] = "close"
    mode: ClassVar = "zero"


class Rotate(ArticulatedSkill[RotateConfig]):
    """The published rotate: turn a knob or a tap."""

    Config: ClassVar = RotateConfig
    action: ClassVar[Action] = "turn"
