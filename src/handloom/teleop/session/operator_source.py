"""An operator as the source of an episode: device input becomes targets, frame by frame."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget import (
    ControllersSource,
    DeviceFrame,
    DeviceRecording,
    ExecutionState,
    PolicySnapshot,
    TeleopSession,
    TeleopSessionConfig,
)
from handloom.scene import Scene
from handloom.skills.deeds import make_judge
from handloom.skills.schedule import Stages
from handloom.teleop.control.robot_teleop import RobotTeleop
from handloom.values import MARK, Failure, SkillSpan

TICK_RATE = 60
"""Target rate of device samples [1/s]; the actual one is a multiple of the frame rate of the dataset."""


class OperatorInput(Protocol):
    """The device samples, tick by tick."""

    def frame(self, tick: int, time_ns: int) -> DeviceFrame | None:
        """Return the samples of a tick, waiting for it in real time; None when the operator is done.

        Args:
            tick: Number of the tick.
            time_ns: Its time on the clock of the episode [ns].
        """
        ...

    def marks(self, frame: int) -> Sequence[str]:
        """Return the names that the operator gives to sub-tasks starting at a frame; empty ones are chosen here."""
        ...


class RecordedInput:
    """Plays a recording of devices, one frame per tick, to its end.

    Args:
        recording: The recording.
    """

    def __init__(self, recording: DeviceRecording) -> None:
        self._recording = recording
        self._marks = recorded_marks(recording)

    def frame(self, tick: int, time_ns: int) -> DeviceFrame | None:
        """Return the recorded samples of a tick."""
        return self._recording.frames[tick] if tick < len(self._recording) else None

    def marks(self, frame: int) -> Sequence[str]:
        """Return the recorded names of a frame."""
        return [text for at, text in self._marks if at == frame]


class ResumedInput:
    """Plays a recording as fast as it can be simulated, then lets the operator continue from there.

    Args:
        recording: The earlier part.
        operator: Continues from there.
    """

    def __init__(self, recording: DeviceRecording, operator: OperatorInput) -> None:
        self._past, self._operator = RecordedInput(recording), operator
        self.ticks = len(recording)
        """Number of ticks played before the operator takes over."""
        self._frames = recording.facts.get("frames", 0)

    def frame(self, tick: int, time_ns: int) -> DeviceFrame | None:
        """Return the recorded samples of a tick, then one that releases everything, then the operator's."""
        if tick < self.ticks:
            return self._past.frame(tick, time_ns)
        if tick == self.ticks:
            return DeviceFrame(time_ns=time_ns, state=ExecutionState.STOPPED)
        return self._operator.frame(tick, time_ns)

    def marks(self, frame: int) -> Sequence[str]:
        """Return the names given at a frame."""
        return self._past.marks(frame) if frame < self._frames else self._operator.marks(frame)


def recorded_marks(recording: DeviceRecording) -> list[tuple[int, str]]:
    """Return the frames and names of sub-tasks marked while recording.

    Raises:
        InputError: They have another format.
    """
    given = recording.facts.get("marks", [])
    if not isinstance(given, list) or not all(
        isinstance(mark, list) and [type(value) for value in mark] == [int, str] for mark in given
    ):
        raise InputError("the recording's marks are not a list of [frame, words]; was it made by handloom teleop?")
    return [(frame, text) for frame, text in given]


CORRECTION = "correction"
"""Name, in place of a skill, and kind of a span in which a person drove instead of a policy."""


class Autopilot(Protocol):
    """A policy that drives while no one corrects it."""

    def command(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None commands nothing."""
        ...

    def interrupt(self) -> None:
        """Handle that someone else has moved the robot."""
        ...


class OperatorSource:
    """Lets an operator perform a task until its goals are achieved, the operator ends it, or the frames are used up.

    Commands depend only on the scene and the samples, so that a recording of the samples reproduces the episode, bit
    for bit. Frames before an arm is first engaged are not part of the demonstration.

    With a policy, the policy drives whenever no arm is engaged, within the speed limits of the joints; the hand
    continues from the policy's position, and the policy from the hand's. The policy's targets are stored with the
    samples.

    Args:
        scene: The scene in its initial state.
        stages: The skills of the task; the operator is judged by their effect on the world.
        rng: Random generator of the terms.
        operator: The operator's devices.
        scale: Metres of tool motion per metre of hand motion.
        on_frame: Called before every frame.
        policy: Drives while no one else does; without one, the robot holds.
        corrects: Whether a policy drove whose targets are in the recording.
    """

    def __init__(
        self,
        scene: Scene,
        stages: Stages,
        rng: np.random.Generator,
        *,
        operator: OperatorInput | None = None,
        scale: float = 1.0,
        on_frame: Callable[["OperatorSource", int], None] = lambda source, frame: None,
        policy: Autopilot | None = None,
        corrects: bool = False,
    ) -> None:
        if operator is None:
            raise InputError("the source 'teleop' is a person: use handloom teleop TASK")
        self.failure: Failure | None = None
        self.recording = False
        self.judge = make_judge(scene, stages, rng)
        self.robot = RobotTeleop(scene, scale=scale)
        self.on_targets: Callable[[], None] = lambda: None
        """Called when the targets of a frame are known."""
        self.frames: list[DeviceFrame] = []
        """Samples so far, one entry per tick."""
        self.marks: list[tuple[int, str]] = []
        """Start frames and names of the operator's sub-tasks."""
        self.corrections: list[tuple[int, int]] = []
        """Spans of frames (first, one past the last) in which a person drove instead of a policy."""
        self._policy, self.corrects = policy, corrects or policy is not None
        self._done = 0
        self._suggestions = _words(stages)
        fps = scene.instance.fps
        self._ticks = max(1, round(TICK_RATE / fps))
        self._rate = self._ticks * fps
        self._scene, self._operator, self._on_frame = scene, operator, on_frame
        self._sample = DeviceFrame(time_ns=0)
        config = TeleopSessionConfig("handloom teleop", self.robot.graph, devices=lambda: self._sample)
        self._session = TeleopSession(config).__enter__()  # It holds no resources to close.

    @property
    def scene(self) -> Scene:
        """The scene of the episode."""
        return self._scene

    @property
    def timeline(self) -> list[SkillSpan]:
        """The achieved goals with their times, and the operator's sub-tasks."""
        ends = [*(frame for frame, _ in self.marks[1:]), self._done]
        about = {"robot": "", "arm": "", "skill": MARK, "objects": (), "success": True}
        named = [
            SkillSpan(**about, start=start, end=end, instruction=text)
            for (start, text), end in zip(self.marks, ends, strict=False)
            if end > start
        ]
        corrected = [
            SkillSpan(
                robot="", arm="", skill=CORRECTION, objects=(), success=True, start=start, end=end, kind=CORRECTION
            )
            for start, end in self.corrections
        ]
        return [*self.judge.timeline, *named, *corrected]

    @property
    def suggestions(self) -> tuple[str, ...]:
        """The task's own names of sub-tasks that have not been used yet, in order."""
        given = {text for _, text in self.marks}
        return tuple(text for text in self._suggestions if text not in given)

    @property
    def device_recording(self) -> DeviceRecording:
        """Device input recorded so far, with its end marker."""
        instance = self._scene.instance
        facts: dict[str, Any] = {"task": instance.task, "seed": instance.seed, "episode": instance.episode}
        facts["rate_hz"] = self._rate
        facts["frames"] = len(self.frames) // self._ticks
        if self.corrects:
            facts["corrects"] = True
        if self.marks:
            facts["marks"] = [list(mark) for mark in self.marks]
        return DeviceRecording(
            frames=tuple(self.frames),
            end_time_ns=self._time_ns(len(self.frames)),
            title="handloom teleop",
            facts=facts,
        )

    def earlier(self, seconds: float) -> DeviceRecording:
        """Return the device samples up to some time ago [s], in whole frames."""
        whole = self.device_recording
        frames = max(0, len(self.frames) // self._ticks - round(seconds * self._scene.instance.fps))
        kept = tuple(self.frames[: frames * self._ticks])
        facts = {**whole.facts, "frames": frames, "marks": [list(mark) for mark in self.marks if mark[0] < frames]}
        return DeviceRecording(frames=kept, end_time_ns=self._time_ns(len(kept)), title=whole.title, facts=facts)

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None when the goals are achieved or the attempt has ended."""
        self._done = frame
        self.judge.look(frame)
        for text in self._operator.marks(frame):
            if self.marks and self.marks[-1][0] == frame:
                self.marks.pop()  # Of two names in one frame, the later one applies.
            self.marks.append((frame, text or next(iter(self.suggestions), f"Step {len(self.marks) + 1}.")))
        self._on_frame(self, frame)
        if self.judge.achieved:
            return None
        if frame >= self._scene.instance.max_frames - 1:
            self.failure = self.judge.failure(frame)
            return None
        targets = np.full(self._scene.world.model.nu, np.nan)
        for _ in range(self._ticks):
            tick = len(self.frames)
            sample = self._operator.frame(tick, self._time_ns(tick))
            if sample is None:
                self.failure = self.judge.failure(frame)
                return None
            targets = self._tick(sample)
        if self.corrects:
            targets = self._driven_by_policy(frame, targets)
        self.on_targets()
        return targets

    @property
    def is_catching_up(self) -> bool:
        """Whether an earlier attempt is being replayed and more than one frame of it is left."""
        past = self._operator.ticks if isinstance(self._operator, ResumedInput) else 0
        return len(self.frames) + self._ticks <= past

    @property
    def is_corrected(self) -> bool:
        """Whether a person currently drives, and not the policy."""
        return any(arm.is_engaged for arm in self.robot.arms)

    def _driven_by_policy(self, frame: int, targets: Array) -> Array:
        """Return the targets (controls,) of the policy, or those given if a person drives."""
        sample = self.frames[-1]
        if self.is_corrected:
            if self._policy is not None:
                self._policy.interrupt()
            before = self.corrections.pop() if self.corrections and self.corrections[-1][1] == frame else (frame, frame)
            self.corrections.append((before[0], frame + 1))
            return targets
        if sample.state != ExecutionState.RUNNING:
            return targets
        if sample.policy is None:
            asked = None if self._policy is None else self._policy.command(frame)
            if asked is None:
                return targets
            self.frames[-1] = sample = replace(sample, policy=PolicySnapshot(targets=asked))
        self.recording = True
        wanted = self._within_speeds(np.array(sample.policy.targets, float))  # pyright: ignore[reportOptionalMemberAccess]
        for arm in self.robot.arms:
            arm.follow_from(wanted)
        return wanted

    def _within_speeds(self, targets: Array) -> Array:
        """Return targets (controls,) that no arm needs to exceed its joint speed limits to follow."""
        world, fps = self._scene.world, self._scene.instance.fps
        if targets.shape != (world.model.nu,):
            raise InputError(
                f"the policy of the recording has {len(targets)} controls, this scene has {world.model.nu}"
            )
        for driven in self.robot.arms:
            index = driven.arm.ctrl_index
            present, reach = world.data.ctrl[index], driven.arm.spec.speed_limit / fps
            targets[index] = np.clip(targets[index], present - reach, present + reach)
        return targets

    def _tick(self, sample: DeviceFrame) -> Array:
        self.frames.append(sample)
        self._sample = sample
        outputs = self._session.step(self.robot.inputs())
        running = sample.state == ExecutionState.RUNNING
        heard = [device for device in ControllersSource.devices if getattr(sample, device) is not None]
        found = {
            device: getattr(sample, device.replace("controller", "leader")) for device in ControllersSource.devices
        }
        leaders = {device: leader for device, leader in found.items() if leader is not None}
        targets = self.robot.targets(outputs, 1.0 / self._rate, running=running, heard=heard, leaders=leaders)
        self.recording |= any(arm.is_engaged for arm in self.robot.arms)
        return targets

    def _time_ns(self, tick: int) -> int:
        return round(tick * 1_000_000_000 / self._rate)


def _words(stages: Stages) -> tuple[str, ...]:
    """Return the sub-tasks of a task in words, in the order of its file."""
    configs = [
        config
        for stage in stages
        for blocks in stage.values()
        for block in blocks
        for skills in block.values()
        for config in skills
    ]
    said = [config.instruction or " ".join([config.name, *config.objects]) for config in configs]
    return tuple(dict.fromkeys(said))
