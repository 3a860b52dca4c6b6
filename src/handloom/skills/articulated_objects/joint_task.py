"""The work on one joint: which joint, how far it moves, by which strategies, and when it is done."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from handloom.errors import ConfigError
from handloom.judging.joint_terms import most_turn
from handloom.objects import Link
from handloom.objects.keypoints import Action, JointKeypoints, joint_keypoints, read_keypoints
from handloom.skills.articulated_objects.door_edges import by_edge, upper_edge
from handloom.skills.articulated_objects.joint_strategies import (
    LEAD,
    Job,
    Strategy,
    hand_point,
    holding,
    pushing,
    shut_end,
    shut_terms,
    turns_by_angle,
)
from handloom.skills.articulated_objects.lid_presses import along_hinge, leaning, lid_edge, over_edge, under_handle
from handloom.skills.configs.articulated import ArticulatedSkillConfig, PlannerSetting
from handloom.skills.picking.grasp_poses import gripper_of
from handloom.skills.skill import Skill
from handloom.values import Check

SHARES = 4
"""Number of fractions of a joint's range tried from ``amount`` down to ``least_amount``."""
LEVEL = 0.5
"""Largest vertical component of a level hinge axis, and minimum upward component of the face normal of a lying lid."""
BEYOND = 1.2
"""How far a stand-in is opened, as a multiple of the amount that the task counts as open."""
HEAVY = 1.6
"""The same for a lid that falls shut."""
ONCE = 1e-6
"""A fraction of frames smaller than any single frame."""
STILL = 0.05
"""Speed below which a joint counts as at rest [m/s or rad/s]."""


JointConfigT = TypeVar("JointConfigT", bound=ArticulatedSkillConfig)


class JointTask(Skill[JointConfigT]):
    """Base of skills that work on one joint of an object."""

    action: ClassVar[Action] = "open"
    mode: ClassVar[str] = "abs"
    """``success_mode`` if the config has none."""
    loosened_by: ClassVar = {"fingers_only": "collision_valid: false allows other contacts"}
    may_lean = True
    """Whether tilted hands are tried if upright ones fail."""

    _share: float
    """Fraction of its range by which the joint is currently moved."""
    _start: float
    """Position of the joint at the start of the skill [m or rad]."""
    _strategy: Strategy
    """Current strategy."""
    _keypoints: JointKeypoints
    """Current contact of the hand with the part."""

    @property
    def end(self) -> tuple[str, float]:
        """The joint of the scene that is moved, and its position at the end of the plan [m or rad]."""
        link = self._keypoints.link
        return f"{self.config.objects[0]}/{link.joint}", self._start + self._delta(link)

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the joint is at its target and at rest, and only fingers touched the moving part."""
        config, arm, name = self.config, self.controller.arm, self.config.objects[0]
        joint, setting = self._keypoints.link.joint, self._strategy.setting
        state = {
            "start": self._start,
            "threshold": setting.success_threshold,
            "mode": setting.success_mode or self.mode,
        }
        if config.planner_setting is None and turns_by_angle(config, self._keypoints.link):
            state["most"] = most_turn(self._delta(self._keypoints.link))
        once = ONCE if config.momentary else 0.0
        terms = [Check(name="joint_state", arguments={"object": name, "joint": joint, **state}, share=once)]
        if config.process_valid:
            terms.append(Check(name="joint_still", arguments={"object": name, "joint": joint, "speed": STILL}))
            terms.append(self.calm(name))
        if config.collision_valid:
            touch = {"robot": arm.robot_name, "arm": arm.name, "object": name, "base": self._keypoints.link.parent}
            terms.append(Check(name="fingers_only", arguments=touch, share=1.0))
        return tuple(terms)

    def _tried(self, link: Link) -> Iterator[tuple[float, Strategy]]:
        """Yield the fraction of the joint's range and the strategy of each possible motion, first choice first.

        A tilted hand slips off more easily, so a smaller motion comes before more tilt.
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

    def _doing(self) -> Action:
        """Return the motion of the joint."""
        return self.action

    def _given_setting(self) -> PlannerSetting | None:
        """Return the setting of the task; None if it has none, or one of an asset that another stands in for.

        Axes, signs and lengths of a setting belong to one asset's annotation; a stand-in has its own.
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
        """Return the annotation that the task names; None if there is none, or if a stand-in lacks it."""
        file = None if self.config.obj_info_path is None else Path(self.config.obj_info_path)
        stands_in = self.scene.assets[self.config.objects[0]].parameters.get("path") is None
        return None if file is None or (stands_in and not file.is_file()) else file

    def _annotation(self) -> JointKeypoints:
        """Return the keypoints of the joint, from a file if the config names one."""
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
            # It would fall shut before the hand arrives; its weight bends the arm, and its knob turns in the hand.
            amount = HEAVY * abs(given.success_threshold) + self._start - low
        delta = amount * (1.0 if abs(high) >= abs(low) else -1.0)
        return float(np.clip(self._start + delta, low, high)) - self._start

    def _stands_in(self) -> bool:
        return self.scene.assets[self.config.objects[0]].stands_in

    def _falls(self, link: Link) -> bool:
        """Return whether a stand-in's lid falls shut when nothing holds it."""
        if link.kind != "hinge" or self._doing() != "open" or not self._stands_in():
            return False
        up = self.scene.world.body_pose(f"{self.config.objects[0]}/{link.name}")[2, :3]
        axis, face = float(up @ np.asarray(link.axis)), float(up @ np.asarray(link.normal))
        return abs(axis) < LEVEL < face

    def _strategies(self, link: Link) -> Iterator[Strategy]:
        """Yield strategies for moving the joint, first choice first: the task's own, then the object's.

        A setting was tested on one robot; an arm that cannot follow it uses a strategy of the object. Without
        instructions, a joint that no finger can push shut is shut by its handle. The task's own success criterion takes
        precedence.
        """
        config, shuts = self.config, self._doing() == "close"
        fingers, given = self.controller.arm.suction is None, self._given_setting()
        holds = fingers and (config.grasp if config.grasp is not None else not shuts)
        if given is not None:
            yield Strategy(grips=holds, setting=given, contact=hand_point(self.controller.arm.spec), told=True)
        lead = 1.0 if turns_by_angle(config, link) else LEAD
        job = Job(link=link, delta=self._delta(link), shuts=shuts, gripper=gripper_of(self), lead=lead)
        own = [pushing(job)] if not holds else []
        own += [self._pressed_by(job)] if shuts and not holds and link.kind == "hinge" else []
        own += [self._held_by(job)] if holds or (fingers and config.grasp is None) else []
        told = config.planner_setting
        kept = {} if told is None else {"success_threshold": told.success_threshold, "success_mode": told.success_mode}
        if told is None and shuts:
            kept = {f"success_{key}": value for key, value in shut_terms(link, self._start).items()}
        least = config.least_amount if told is None and not shuts else None
        for strategy in (m for strategies in own for m in strategies):
            if least is not None:  # The hand aims for more than is required.
                enough = least * (link.range[1] - link.range[0])
                kept = {"success_threshold": min(strategy.setting.success_threshold, enough)}
            yield replace(strategy, setting=strategy.setting.model_copy(update=kept))

    def _pressed_by(self, job: Job) -> Iterator[Strategy]:
        """Yield strategies for shutting a hinged part with short arms: with the side of fingers, then tilted."""
        body, link = f"{self.config.objects[0]}/{job.link.name}", job.link
        up = self.scene.world.body_pose(body)[2, :3]
        if (lid := lid_edge(self.scene, body, link, job.delta)) is not None:
            yield from over_edge(job, lid)
        elif (leaf := upper_edge(self.scene, body, link)) is not None:
            yield from along_hinge(job, leaf)
        elif abs(float(up @ np.asarray(link.axis))) < LEVEL:
            yield from under_handle(job, up)
        yield from leaning(job)

    def _held_by(self, job: Job) -> Iterator[Strategy]:
        """Yield strategies for grasping: the handle, the edge of a door that is ajar, the handle at an angle."""
        body = f"{self.config.objects[0]}/{job.link.name}"
        edge = None if job.shuts else upper_edge(self.scene, body, job.link)
        square, *askew = holding(job)
        yield square
        if edge is not None:
            yield from by_edge(job, edge, self._start - shut_end(job.link))
        yield from askew
