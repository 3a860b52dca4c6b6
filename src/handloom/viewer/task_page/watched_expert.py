"""The scripted expert with events about its tests, plans and execution, and which goal terms hold."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.engine.sources import RETRIES
from handloom.episode import run_episode
from handloom.episode.columns import STATE
from handloom.episode.disturbance import Disturbance
from handloom.judging import Judge
from handloom.motion.planning import Move, PlanResult
from handloom.scene import Scene, SceneArm
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.held_parts import Held
from handloom.skills.deeds import make_judge
from handloom.skills.schedule import HandPhase
from handloom.spatial import translation
from handloom.tasks import Task, worded_skills
from handloom.values import EpisodeRecord, Failure, SkillSpan
from handloom.viewer.scene3d.container import Container, event
from handloom.viewer.scene3d.recorded_motion import hand_entry
from handloom.viewer.scene3d.scene_geometry import body_poses

Emit = Callable[[bytes], None]
"""Receives one event, a file of ``container``."""
MOST_SHOWN = 96
"""Maximum number of candidates shown per plan."""
BATCH = 0.08
"""Interval at which frames are sent [s]."""
LOOK = 3
"""Frames between two evaluations of the goal terms."""


class WatchedController(ArmController):
    """An arm that reports its plans; it plans and moves exactly like any other."""

    def __init__(self, scene: Scene, arm: SceneArm, *, emit: Emit, frame: Callable[[], int]) -> None:
        super().__init__(scene, arm)
        self._emit, self._frame = emit, frame

    def plan(
        self, stages: Sequence[Move], scores: ArrayLike | None = None, *, ignore: Iterable[str] = ()
    ) -> PlanResult:
        """Plan as usual, and report the candidates and the result."""
        result = super().plan(stages, scores, ignore=ignore)
        tested = (
            stages[1] if len(stages) > 1 else stages[0]
        )  # The first move of a chain is only the approach to the pose.
        self._tell(np.asarray(tested.T_base_tool, float).reshape(-1, 4, 4), result)
        return result

    def plan_to_joints(self, goal: Array) -> PlanResult:
        """Plan as usual, and report the result."""
        result = super().plan_to_joints(goal)
        self._tell(np.zeros((0, 4, 4)), result)
        return result

    def plan_held(self, q: Array, T_base_tool: Array, kept: Held, *, ignore: Iterable[str] = ()) -> PlanResult:
        """Plan as usual, and report the result."""
        result = super().plan_held(q, T_base_tool, kept, ignore=ignore)
        self._tell(np.asarray(T_base_tool, float).reshape(-1, 4, 4), result)
        return result

    def _tell(self, T_base_tool: Array, result: PlanResult) -> None:
        container, arm = Container(), self.arm
        shown = _shown(len(T_base_tool), result.goal)
        path = np.zeros((0, 3), np.float32)
        if result.ok and len(result.path):
            T = arm.T_world_base @ self.chain.T_base_tool(_dense(result.path), threads=1)
            path = (T @ translation(arm.spec.T_tool_tcp[:3, 3]))[:, :3, 3].astype(np.float32)
        facts = {
            "kind": "plan",
            "frame": self._frame(),
            "ok": result.ok,
            "status": result.status.value,
            "reason": result.reason,
            "notes": list(result.notes),
            "counts": {name: value for name, value in asdict(result.counts).items() if value},
            "touches": [str(touch) for touch in result.touches[:3]],
            "chosen": int(np.flatnonzero(shown == result.goal)[0]) if result.ok and result.goal in shown else -1,
            "path": container.add(path),
            "hands": hand_entry(container, arm.T_world_base @ T_base_tool[shown], arm),
        }
        self._emit(container.packed(facts))


def _shown(count: int, goal: int) -> NDArray[np.intp]:
    """Return the candidates to show: the first ones, and the chosen one."""
    shown = np.arange(min(count, MOST_SHOWN))
    return np.append(shown, goal) if MOST_SHOWN <= goal < count else shown


def _dense(path: Array) -> Array:
    """Return a joint path with intermediate points, so that the tool's path appears as a curve."""
    steps = np.linspace(0.0, 1.0, 8, endpoint=False)[:, None]
    between = [a + steps * (b - a) for a, b in pairwise(path)]
    return np.concatenate([*between, path[-1:]])


class _WatchedSource:
    """The expert as a source of an episode; reports every frame."""

    def __init__(self, schedule: Schedule, judge: Judge, scene: Scene, emit: Emit) -> None:
        self._schedule, self._judge, self._emit = schedule, judge, emit
        self._world = scene.world
        self._look = mujoco.MjData(scene.world.model)  # The episode's own data is not touched.
        self._poses: list[NDArray[np.float32]] = []
        self._looks: list[list[Any]] = []
        self._first, self._sent = 0, time.monotonic()

    @property
    def failure(self) -> Failure | None:
        return self._schedule.failure

    @property
    def timeline(self) -> Sequence[SkillSpan]:
        return self._schedule.timeline

    @property
    def recording(self) -> bool:
        return self._schedule.recording

    @property
    def room(self) -> float:
        return self._schedule.room

    @property
    def phases(self) -> tuple[HandPhase, ...]:
        return self._schedule.phases

    def next(self, frame: int) -> Array | None:
        """Return the expert's targets; send the state periodically."""
        self.keep(frame)
        if time.monotonic() - self._sent > BATCH:
            self.flush()
        return self._schedule.next(frame)

    @property
    def frame(self) -> int:
        """Number of frames executed so far."""
        return self._first + max(len(self._poses) - 1, 0)

    def keep(self, frame: int) -> None:
        """Record all poses, and periodically which terms of the goal hold."""
        if frame % LOOK == 0:
            self._judge_at(frame)
        self._add(self._world.save_state())

    def finish(self, record: EpisodeRecord) -> None:
        """Send the frames after the expert has finished, with held targets, until the scene rests."""
        for state in record.states[self._first + len(self._poses) :]:
            self._add(np.ascontiguousarray(state))
        self._judge_at(record.frames)
        self.flush()

    def _judge_at(self, frame: int) -> None:
        self._judge.look(frame)
        self._looks.append([frame, [bool(held) for _, held in self._judge.terms]])

    def _add(self, state: Array) -> None:
        mujoco.mj_setState(self._world.model, self._look, state, STATE)
        mujoco.mj_kinematics(self._world.model, self._look)
        self._poses.append(body_poses(self._look))

    def flush(self) -> None:
        """Send the new states, the current activity, and the terms of the goal."""
        container = Container()
        facts = {
            "kind": "frames",
            "first": self._first,
            "count": len(self._poses),
            "poses": container.add(np.array(self._poses, np.float32).reshape(-1)),
            "doing": [
                {
                    "robot": robot,
                    "arm": arm,
                    "skill": skill.config.name,
                    "objects": list(skill.config.objects),
                    "command": skill.manip_list[0].function if skill.manip_list else "",
                }
                for robot, arm, skill in self._schedule.active
            ],
            "looks": self._looks,
        }
        self._emit(container.packed(facts))
        self._first += len(self._poses)
        self._poses, self._looks, self._sent = [], [], time.monotonic()


def terms_of(judge: Judge) -> list[dict[str, Any]]:
    """Return the terms of the goal in words, and whether each holds now."""
    return [
        {"words": judge.words(term) + (", at some time" if term.seconds else ""), "holds": bool(held)}
        for term, held in judge.terms
    ]


def run_expert(task: Task, scene: Scene, emit: Emit) -> EpisodeRecord:
    """Let the expert perform a task in a scene, as ``generate`` would, and report everything.

    Args:
        task: The task.
        scene: A scene of it, in its initial state.
        emit: Receives the events ``plan``, ``frames`` and finally ``end``.
    """
    instance = scene.instance
    seed, episode = instance.seed, instance.episode
    upset = task.config.disturbance.pushes or task.config.disturbance.drops
    stages, rng = worded_skills(task, instance), generator(seed, episode, "skills", task=task.name)
    make = partial(WatchedController, emit=emit, frame=lambda: source.frame)
    schedule = Schedule(scene, stages, rng, retries=RETRIES if upset else 0, controller=make)
    judge = make_judge(scene, stages, None, hold=0.0)
    source = _WatchedSource(schedule, make_judge(scene, stages, None, hold=0.0), scene, emit)
    noise = generator(seed, episode, "disturbance", task=task.name)
    disturbance = Disturbance(task.config.disturbance, scene, noise) if task.config.disturbance.any else None
    record = run_episode(scene, source, disturbance, goal=judge.goal)
    source.finish(record)
    emit(event("end", **outcome_of(record)))
    return record


def outcome_of(record: EpisodeRecord) -> dict[str, Any]:
    """Return how an episode ended: the typed reason and the timeline."""
    return {
        "success": record.success,
        "frames": record.frames,
        "fps": record.instance.fps,
        "failure": None if record.failure is None else failure_facts(record.failure),
        "spans": [
            {
                "robot": span.robot,
                "arm": span.arm,
                "skill": span.skill,
                "objects": list(span.objects),
                "start": span.start,
                "end": span.end,
                "success": span.success,
                "kind": span.kind,
            }
            for span in record.timeline
        ],
    }


def failure_facts(failure: Failure) -> dict[str, Any]:
    """Return a typed reason as JSON."""
    return {
        "stage": str(failure.stage),
        "reason": failure.reason,
        "detail": failure.detail,
        "skill": failure.skill,
        "counts": failure.counts,
    }
