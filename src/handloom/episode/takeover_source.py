"""A policy with expert takeover: if it fails, the expert continues from a state that the policy reached."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.episode.loop import apply_targets
from handloom.episode.observer import movable_objects
from handloom.episode.policy_source import PolicySource, TrainedPolicy
from handloom.judging.checks import grasped
from handloom.judging.judge import Step
from handloom.scene import Scene, build_scene
from handloom.skills.deeds import make_judge, steps_of
from handloom.skills.registry import checked_config, skill_class
from handloom.skills.schedule import Schedule, Stages
from handloom.values import Failure, FunnelStage, SkillSpan

PATIENCE = 8.0
"""Time without progress after which a policy counts as stuck [s]."""
DONE = "policy_succeeded"
"""Failure reason of an attempt in which the policy succeeded by itself."""

Lane = tuple[str, str]
"""Robot and arm."""


class TakeoverSource:
    """Lets a policy attempt a task; the expert finishes it if the policy fails.

    The policy is tried first, in a separate scene, until it succeeds or is stuck. The same commands bring the attempt's
    scene to a moment between the policy's last success and that point; then the expert does the rest of the task. Only
    the expert's part belongs to the demonstration. If the policy succeeds, nothing is executed, and ``failure`` reports
    it.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task.
        rng: Random generator for the policy, the moment of the takeover and the expert.
        policy: The policy.
        retries: How often the expert may retry a skill.
    """

    def __init__(
        self, scene: Scene, stages: Stages, rng: np.random.Generator, *, policy: TrainedPolicy, retries: int = 2
    ) -> None:
        self.recording = False
        self._scene, self._stages, self._rng, self._retries = scene, _without_mistakes(stages), rng, retries
        self._judge = make_judge(scene, stages, None)
        self._expert: Schedule | None = None
        self._at = 0
        self._failure: Failure | None = None
        self._commands, done = tried(scene, stages, rng, policy)
        if done is None:
            detail = "the policy completed the task; there was nothing to take over"
            self._failure = Failure(stage=FunnelStage.SUCCESS, reason=DONE, detail=detail)
        else:
            self._at = int(rng.integers(done, len(self._commands) + 1))

    @property
    def failure(self) -> Failure | None:
        """Reason of the failure."""
        return self._failure or (self._expert.failure if self._expert else None)

    @property
    def timeline(self) -> Sequence[SkillSpan]:
        """Timeline of the policy up to the takeover, as a mistake, and of the expert, as its recovery."""
        if self._expert is None:
            return ()
        span = next(iter(self._expert.timeline), None)
        if span is None:
            return ()
        policy = SkillSpan(
            robot=span.robot,
            arm=span.arm,
            skill=span.skill,
            objects=span.objects,
            start=0,
            end=self._at,
            success=False,
            kind="mistake",
        )
        return [policy, *(replace(span, kind=span.kind or "recovery") for span in self._expert.timeline)]

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None at the end."""
        if self._failure is not None:
            return None
        if frame < self._at:
            self._judge.look(frame, fully=False)
            return self._commands[frame]
        if self._expert is None:
            self._judge.look(frame, fully=False)
            self._expert = self._relieved()
            self.recording = True
        targets = self._expert.next(frame)
        self.recording = self._expert.recording
        return targets

    def _relieved(self) -> Schedule:
        """Return the expert for the remaining task, with the hands in the state left by the policy."""
        scene = self._scene
        held = {
            (robot, arm.name): [
                name for name in movable_objects(scene) if grasped(scene, robot=robot, arm=arm.name, object=name)
            ]
            for robot, parts in scene.robots.items()
            for arm in parts.arms
        }
        done = Counter((span.robot, span.arm) for span in self._judge.timeline)
        left = left_to_do(self._stages, steps_of(scene, self._stages, None), done, held)
        expert = Schedule(scene, left, self._rng, retries=self._retries)
        expert.take_over(held)
        return expert


def tried(
    scene: Scene, stages: Stages, rng: np.random.Generator, policy: TrainedPolicy
) -> tuple[list[Array], int | None]:
    """Let a policy try a task in a separate scene, until it succeeds or is stuck.

    Returns:
        Its commands (controls,) frame by frame, and the frame of its last intermediate success, 0 if none; None if it
        completed the task.
    """
    own = build_scene(scene.instance)
    source = PolicySource(own, stages, rng, policy=policy)
    commands: list[Array] = []
    patience = round(PATIENCE * scene.instance.fps)
    while True:
        targets = source.next(len(commands))
        last = max((span.end for span in source.timeline), default=0)
        if targets is None:
            return commands, None if source.failure is None else last
        apply_targets(own, targets)
        commands.append(targets)
        own.world.step(scene.instance.substeps)
        if len(commands) - last >= patience:
            return commands, last


def left_to_do(
    stages: Stages, steps: Sequence[Step], done: Counter[Lane], held: dict[Lane, list[str]]
) -> list[dict[str, list[dict[str, list[Any]]]]]:
    """Return the remaining stages; objects that were picked up and lost are picked up again.

    Args:
        stages: The skills of the task, as its file nests them.
        steps: Effect of each on the scene, in the same order.
        done: Number of completed steps with an effect, by robot and arm.
        held: Object in each hand.
    """
    lanes: dict[Lane, list[Step]] = defaultdict(list)
    for step in steps:
        lanes[step.robot, step.arm].append(step)
    first = {lane: _first_left(own, done[lane], held.get(lane, [])) for lane, own in lanes.items()}
    seen: Counter[Lane] = Counter()
    left = []
    for stage in stages:
        robots = {}
        for robot, blocks in stage.items():
            kept = []
            for block in blocks:
                arms = {}
                for arm, skills in block.items():
                    start = max(0, first.get((robot, arm), 0) - seen[robot, arm])
                    seen[robot, arm] += len(skills)
                    arms |= {arm: list(skills)[start:]} if skills[start:] else {}
                kept += [arms] if arms else []
            robots |= {robot: kept} if kept else {}
        left += [robots] if robots else []
    return left


def _without_mistakes(stages: Stages) -> Stages:
    """Return the stages without skills that fail on purpose: a mistake has already happened."""

    def meant(config: Any) -> bool:
        return skill_class(checked_config(config).name).kind != "mistake"

    return [
        {
            robot: [
                {arm: [skill for skill in skills if meant(skill)] for arm, skills in block.items()} for block in blocks
            ]
            for robot, blocks in stage.items()
        }
        for stage in stages
    ]


def _first_left(steps: Sequence[Step], done: int, held: Sequence[str]) -> int:
    """Return the index of an arm's first remaining skill."""
    changing = [k for k, step in enumerate(steps) if step.terms]
    if done == 0:
        return 0
    last = changing[min(done, len(changing)) - 1]
    lost = steps[last].skill.endswith("pick") and steps[last].objects[0] not in held
    return last if lost else last + 1
