"""A demonstration split into segments of each hand's path, each relative to one object."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.episode.columns import asked_controls
from handloom.episode.observer import movable_objects
from handloom.errors import FileError, InputError
from handloom.judging.checks import grasped
from handloom.motion.kinematics import Chain
from handloom.scene import Scene, SceneArm, build_scene
from handloom.values import EpisodeRecord

STILL = 1e-5
"""Targets that change by less than this per frame count as still [m or rad]."""
PAUSE = 20
"""Longest pause that is kept [frames]; operators stop to think."""
TAIL = 5
"""Frames kept after the last motion."""
TAKEN = 8
"""Frames after fingers have closed on an object, or released it, that still belong to the grasp or placement."""
FLICKER = 3
"""A held object is searched up to this many frames before and after the beginning of a segment."""
GRIPS = 0.02
"""Change of a gripper's target, as a fraction of its stroke, that counts as opening or closing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WaySegment:
    """A segment of a hand's path that belongs to one object."""

    start: int
    """First row of the path."""
    stop: int
    """One past the last row."""
    object: str | None
    """The object; None for a segment relative to the base of the arm."""
    T_world_object: Array
    """Pose of the object, or of the base, at the beginning of the segment (4, 4)."""
    contact: int
    """First row in which the hand or a held object touches the object, or the gripper moves; ``stop`` if none."""
    held: str
    """Object in the hand at the start of the segment; empty if none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HandWay:
    """The commands of one hand in a demonstration."""

    robot: str
    arm: str
    T_world_base: Array
    """Pose of the arm's base (4, 4)."""
    T_world_tcp: Array
    """Commanded poses of the point between the fingers (n, 4, 4)."""
    joints: Array
    """Commanded joints (n, dof) [rad or m]."""
    gripper: Array
    """Targets of the gripper (n, g) [m or rad]."""
    segments: tuple[WaySegment, ...]

    @cached_property
    def length(self) -> Array:
        """Length of the path up to each row (n,) [m]."""
        steps = np.linalg.norm(np.diff(self.T_world_tcp[:, :3, 3], axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Demonstration:
    """The paths of all hands, synchronized row by row, without pauses."""

    name: str
    """Its name in messages."""
    rows: int
    hands: tuple[HandWay, ...]
    start_poses: dict[str, Array]
    """T_world_object (4, 4) of every object in the first state."""

    @classmethod
    def of_record(cls, record: EpisodeRecord, name: str) -> "Demonstration":
        """Split a recorded episode into segments.

        Segments come from the sub-tasks of the record: those of the expert, or those achieved by the operator. A hand
        without sub-tasks is segmented by the grasps and releases of its fingers.

        Raises:
            FileError: The record does not fit the scene of its instance.
            InputError: Joints other than those of arms and grippers are driven.
        """
        scene = build_scene(record.instance)
        if record.states.shape[1:] != scene.world.save_state().shape:
            raise FileError(
                f"{name}: its states do not fit the scene of its instance; it was recorded by another version of "
                "Handloom or with another robot folder: record or generate it again"
            )
        controls = asked_controls(scene, record)
        arms = [arm for robot in scene.robots.values() for arm in robot.arms]
        _refuse_other_motion(name, arms, controls)
        frames = _moving_frames(controls)
        watched = _Watched(scene, record, controls, frames)
        start = {obj.name: scene.object_pose(obj.name) for obj in record.instance.objects}
        hands = tuple(watched.hand(arm) for arm in arms)
        return cls(name=name, rows=len(frames), hands=hands, start_poses=start)


class _Part(NamedTuple):
    """A sub-task of a hand."""

    start: int
    objects: tuple[str, ...]


class _Watched:
    """Evaluates the states of a record, row by row."""

    def __init__(self, scene: Scene, record: EpisodeRecord, controls: Array, frames: NDArray[np.intp]) -> None:
        self._scene, self._record, self._frames = scene, record, frames
        self._controls = controls[frames]
        self._bodies = {o.name: scene.world.subtree(scene.body_of(o.name)) for o in record.instance.objects}

    def hand(self, arm: SceneArm) -> HandWay:
        """Return the path of a hand."""
        self._go(0)
        chain = tcp_chain(self._scene, arm)
        joints, T_world_base = self._controls[:, arm.ctrl_index], arm.T_world_base
        gripper = self._controls[:, arm.gripper_ctrl_index]
        parts = [
            _Part(int(np.searchsorted(self._frames, span.start)), span.objects)
            for span in sorted(self._record.timeline, key=lambda span: (span.start, span.end))
            if (span.robot, span.arm) == (arm.robot_name, arm.name) and span.end > span.start
        ]
        if not any(part.objects for part in parts):
            parts = list(self._grasps(arm))
        starts = [0, *(part.start for part in parts[1:]), len(self._frames)]
        segments = [
            self._segment(arm, part.objects, start, stop, gripper)
            for part, start, stop in zip(parts or [_Part(0, ())], starts[:-1] or [0], starts[1:], strict=True)
            if stop > start
        ]
        return HandWay(
            robot=arm.robot_name,
            arm=arm.name,
            T_world_base=T_world_base,
            T_world_tcp=T_world_base @ chain.T_base_tool(joints, threads=1),
            joints=joints,
            gripper=gripper,
            segments=tuple(segments),
        )

    def _segment(self, arm: SceneArm, objects: tuple[str, ...], start: int, stop: int, gripper: Array) -> WaySegment:
        held = self._held_about(arm, start)
        others = [name for name in objects if name != held]
        obj = others[0] if others else None
        self._go(start)
        T = arm.T_world_base if obj is None else self._scene.object_pose(obj)
        contact = self._contact(arm, obj, held, start, stop, gripper)
        return WaySegment(start=start, stop=stop, object=obj, T_world_object=T, contact=contact, held=held)

    def _contact(self, arm: SceneArm, obj: str | None, held: str, start: int, stop: int, gripper: Array) -> int:
        span = np.abs(arm.spec.gripper_open - arm.spec.gripper_closed)
        works = np.flatnonzero(np.any(np.abs(gripper[start:stop] - gripper[start]) > GRIPS * span, axis=1))
        last = start + int(works[0]) if len(works) else stop
        if obj is None:
            return last
        ours = [*arm.finger_bodies, *self._bodies.get(held, ())]
        for row in range(start, last):
            self._go(row)
            if self._scene.world.touching(ours, self._bodies[obj]):
                return row
        return last

    def _held_about(self, arm: SceneArm, start: int) -> str:
        """Return the object that a hand holds at the beginning of a segment; contacts may be lost briefly."""
        for row in (start, start - FLICKER, start + FLICKER):
            self._go(max(row, 0))
            for name in movable_objects(self._scene):
                if self._holds(arm, name):
                    return name
        return ""

    def _grasps(self, arm: SceneArm) -> Iterator[_Part]:
        """Yield a segment up to every grasp of an object, and one up to its release."""
        held, begin = "", 0
        for row in range(len(self._frames)):
            self._go(row)
            now = held if held and self._holds(arm, held) else ""
            now = now or next((name for name in movable_objects(self._scene) if self._holds(arm, name)), "")
            if now == held:
                continue
            if now and not held:
                yield _Part(begin, (now,))
            elif held:
                yield _Part(begin, (held, *self._touched_by(held)))
            held, begin = now, min(row + TAKEN, len(self._frames))

    def _touched_by(self, held: str) -> tuple[str, ...]:
        """Return the movable object that an object lies on or in, if any."""
        world = self._scene.world
        others = [name for name in movable_objects(self._scene) if name != held]
        return tuple(name for name in others if world.touching(self._bodies[held], self._bodies[name]))[:1]

    def _holds(self, arm: SceneArm, name: str) -> bool:
        return grasped(self._scene, robot=arm.robot_name, arm=arm.name, object=name)

    def _go(self, row: int) -> None:
        self._scene.world.restore_state(self._record.states[self._frames[min(row, len(self._frames) - 1)]])


def tcp_chain(scene: Scene, arm: SceneArm) -> Chain:
    """Return an arm from its base to the point between its fingers."""
    world, tcp = scene.world, arm.prefix + arm.spec.tcp_site
    return Chain.from_model(world.model, tcp, arm.base_body, arm.joint_names, qpos=world.data.qpos)


def _moving_frames(controls: Array) -> NDArray[np.intp]:
    """Return the frames (n,) of a demonstration in which something moves, including short pauses."""
    moves = np.any(np.abs(np.diff(controls, axis=0, prepend=controls[:1])) > STILL, axis=1)
    moves[0] = True
    since = np.arange(len(moves)) - np.maximum.accumulate(np.where(moves, np.arange(len(moves)), 0))
    last = int(np.flatnonzero(moves)[-1])
    keep = since < PAUSE
    keep[last + TAIL + 1 :] = False
    return np.flatnonzero(keep)


def _refuse_other_motion(name: str, arms: list[SceneArm], controls: Array) -> None:
    driven = np.zeros(controls.shape[1], bool)
    for arm in arms:
        driven[arm.ctrl_index] = driven[arm.gripper_ctrl_index] = True
    if np.any(np.ptp(controls[:, ~driven], axis=0) > STILL):
        raise InputError(
            f"{name} drives a base or a lift; only paths of arms and grippers can be transferred to new scenes"
        )
