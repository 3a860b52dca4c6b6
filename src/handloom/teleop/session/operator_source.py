"""An operator as the command source of an episode: device input becomes targets, frame by frame."""

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
    """What the devices say, tick after tick."""

    def frame(self, tick: int, time_ns: int) -> DeviceFrame | None:
        """Return the samples of a tick, waiting for it where time matters; None when the operator is done.

        Args:
            tick: Number of the tick.
            time_ns: Its time on the clock of the episode [ns].
        """
        ...

    def marks(self, frame: int) -> Sequence[str]:
        """Return the names that the operator gives to what is recorded from a frame on; empty ones are chosen here."""
        ...


class RecordedInput:
    """Plays a recording of devices, one frame per tick, and ends where it ends.

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
        recording: What was done before.
        operator: Continues from there.
    """

    def __init__(self, recording: DeviceRecording, operator: OperatorInput) -> None:
        self._past, self._operator = RecordedInput(recording), operator
        self.ticks = len(recording)
        """Ticks played before the operator takes over."""
        self._frames = recording.facts.get("frames", 0)

    def frame(self, tick: int, time_ns: int) -> DeviceFrame | None:
        """Return the recorded samples of a tick, then one that lets go of everything, then the operator's."""
        if tick < self.ticks:
            return self._past.frame(tick, time_ns)
        if tick == self.ticks:
            return DeviceFrame(time_ns=time_ns, state=ExecutionState.STOPPED)
        return self._operator.frame(tick, time_ns)

    def marks(self, frame: int) -> Sequence[str]:
        """Return the names given at a frame."""
        return self._past.marks(frame) if frame < self._frames else self._operator.marks(frame)


def recorded_marks(recording: DeviceRecording) -> list[tuple[int, str]]:
    """Return the frames and names of stretches that were marked while recording.

    Raises:
        InputError: They are written otherwise than this program writes them.
    """
    given = recording.facts.get("marks", [])
    if not isinstance(given, list) or not all(
        isinstance(mark, list) and [type(value) for value in mark] == [int, str] for mark in given
    ):
        raise InputError("the recording's marks are no list of [frame, words]; was it made by handloom teleop?")
    return [(frame, text) for frame, text in given]


CORRECTION = "correction"
"""Name in the place of a skill, and kind, of a stretch in which a person drove in place of a policy."""


class Autopilot(Protocol):
    """A policy that drives while no one corrects it."""

    def command(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None asks for nothing."""
        ...

    def interrupt(self) -> None:
        """Someone else has moved the robot."""
        ...


class OperatorSource:
    """Lets an operator carry out a task until its goals are achieved, the operator ends it, or the frames are used up.

    Commands depend on the scene and the samples alone, so that a recording of the samples gives the episode again, bit
    for bit. Frames before an arm is first engaged are not part of the demonstration.

    With a policy, the policy drives whenever no arm is engaged, within the speeds of the joints; a hand continues from
    where the policy was, and the policy from where the hand was. What the policy asked for is kept with the samples.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task; the operator is judged by what they do to the world.
        rng: Draws what the terms draw.
        operator: The operator's devices.
        scale: Metres of a tool per metre of a hand.
        on_frame: Told before every frame.
        policy: Drives while no one else does; without one the robot stands still.
        corrects: Whether a policy drove, where a recording says what it asked for.
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
        """Told when the targets of a frame are there."""
        self.frames: list[DeviceFrame] = []
        """Samples so far, one entry per tick."""
        self.marks: list[tuple[int, str]] = []
        """Frames from which the names given by the operator apply, and the names."""
        self.corrections: list[tuple[int, int]] = []
        """Frames, first and one past the last, in which a person drove in place of a policy."""
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
        """The scene it runs in."""
        return self._scene

    @property
    def timeline(self) -> list[SkillSpan]:
        """What was achieved when, and what the operator named."""
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
        """Names of sub-tasks in the task's own words that were not given yet, in their order."""
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
        """Return what the devices said until some time ago [s], whole frames of it."""
        whole = self.device_recording
        frames = max(0, len(self.frames) // self._ticks - round(seconds * self._scene.instance.fps))
        kept = tuple(self.frames[: frames * self._ticks])
        facts = {**whole.facts, "frames": frames, "marks": [list(mark) for mark in self.marks if mark[0] < frames]}
        return DeviceRecording(frames=kept, end_time_ns=self._time_ns(len(kept)), title=whole.title, facts=facts)

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None when the goals are achieved or the attempt is over."""
        self._done = frame
        self.judge.look(frame)
        for text in self._operator.marks(frame):
            if self.marks and self.marks[-1][0] == frame:
                self.marks.pop()  # Two names in one frame: the later one holds.
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
        """Whether a person drives at the moment, and not the policy."""
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
        """Return targets (controls,) that no arm has to exceed the speed of its joints for."""
        world, fps = self._scene.world, self._scene.instance.fps
        if targets.shape != (world.model.nu,):
            raise InputError(f"the policy of the recording asks for {len(targets)} controls, here are {world.model.nu}")
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
