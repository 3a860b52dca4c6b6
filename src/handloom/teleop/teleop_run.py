"""Attempts of an operator, one scene after the other, kept in the folder of a run like scripted ones."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from handloom.dataset import folder_name, remove_unfinished
from handloom.engine.attempt import Stopwatch, receipt_of, write_episode
from handloom.engine.journal import Receipt
from handloom.engine.merge_run import merge_run
from handloom.engine.run_directory import RunDirectory
from handloom.episode import run_episode
from handloom.errors import InputError
from handloom.retarget import DeviceRecording
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.tasks import SamplingError, Task, sample_task, worded_skills
from handloom.teleop.live_input import LiveInput
from handloom.teleop.operator_source import OperatorInput, OperatorSource, RecordedInput
from handloom.values import EpisodeRecord

SAVE, DISCARD, RESET, FINISH = "save", "discard", "reset", "finish"
"""What may become of an attempt: keep it; drop it and go on; begin the scene again; drop it and end the session."""
LAST_SCENE = 10**6
"""Scenes beyond this number are not offered."""


class View(Protocol):
    """Shows an operator what happens; everything here is called by the simulation."""

    def scene(self, scene: Scene, facts: dict[str, Any]) -> None:
        """A scene begins."""
        ...

    def frame(self, source: OperatorSource, frame: int) -> None:
        """A frame is about to be carried out."""
        ...

    def outcome(self, record: EpisodeRecord) -> None:
        """An attempt is over."""
        ...

    def saving(self, episode: int) -> None:
        """A demonstration is being written."""
        ...

    def saved(self, episodes: int) -> None:
        """It is written; so many there are by now."""
        ...


@dataclass
class TeleopRun:
    """An operator's session in the folder of a run.

    Every scene is an attempt of the run: what is saved gets pictures, an archive and a receipt by the same code as a
    scripted episode, so the dataset is the same kind of dataset and ``handloom verify`` replays it.
    """

    run: RunDirectory
    task: Task
    scale: float = 1.0
    """Metres of a tool per metre of a hand."""
    receipts: dict[int, Receipt] = field(default_factory=dict)
    """Attempts that are done, those of earlier sessions among them."""

    def __post_init__(self) -> None:
        """Go on where an earlier session of this run ended."""
        remove_unfinished(self.run.episodes)
        self.receipts = self.run.receipts()

    @property
    def saved(self) -> int:
        """Demonstrations so far."""
        return sum(receipt.success for receipt in self.receipts.values())

    def carry_out(self, live: LiveInput, view: View) -> None:
        """Offer scenes until the operator finishes; then merge what was saved into the dataset."""
        try:
            for episode in (e for e in range(LAST_SCENE) if e not in self.receipts):
                scene = self._scene(episode)
                if scene is not None and not self._scene_done(scene, live, view):
                    break
        finally:
            self.merge()

    def merge(self) -> None:
        """Merge what was saved into the dataset of the run, and failures that were kept into theirs."""
        if self.receipts:
            merge_run(self.run, dict(sorted(self.receipts.items())))

    def _scene(self, episode: int) -> Scene | None:
        try:
            return build_scene(sample_task(self.task, self.run.settings.seed, episode))
        except SamplingError as error:
            failure = error.failure
            self._note(Receipt(episode=episode, success=False, stage=failure.stage, reason=failure.reason))
            return None

    def _scene_done(self, scene: Scene, live: LiveInput, view: View) -> bool:
        """Let the operator try a scene until it is saved or discarded; return False when the session is over."""
        live.say("")
        while True:
            live.begin()
            instance = scene.instance
            facts = {"episode": instance.episode, "saved": self.saved, "instruction": instance.instruction}
            view.scene(scene, facts)
            source, record = self._attempt(scene, live, view.frame)
            view.outcome(record)
            verdict = live.verdict()
            while verdict == SAVE and not self._may_save(record):
                live.begin()  # The page says why; another verdict is awaited.
                verdict = live.verdict()
            if verdict == SAVE:
                view.saving(instance.episode)
                self.save(scene, source, record, instruction=live.instruction)
                view.saved(self.saved)
                return True
            if verdict == FINISH:
                return False  # The scene is offered again by the next session.
            if verdict != RESET:
                self._note(Receipt(episode=instance.episode, success=False, stage="execute", reason="discarded"))
                return True
            scene = build_scene(instance)

    def _may_save(self, record: EpisodeRecord) -> bool:
        return bool(record.frames) and (record.success or self.run.settings.keep_failures)

    def _attempt(
        self, scene: Scene, operator: OperatorInput, on_frame: Callable[[OperatorSource, int], None]
    ) -> tuple[OperatorSource, EpisodeRecord]:
        instance = scene.instance
        source = OperatorSource(
            scene,
            worded_skills(self.task, instance),
            generator(instance.seed, instance.episode, "skills", task=self.task.name),
            operator=operator,
            scale=self.scale,
            on_frame=on_frame,
        )
        return source, run_episode(scene, source, goal=source.judge.goal)

    def save(self, scene: Scene, source: OperatorSource, record: EpisodeRecord, *, instruction: str = "") -> None:
        """Write an attempt's episode and what its devices said.

        Args:
            scene: The scene.
            source: Who carried it out.
            record: What happened.
            instruction: What the robot was told, in the operator's words; empty keeps the task's.
        """
        episode, watch = record.instance.episode, Stopwatch()
        inputs = self.run.path / "inputs" / f"episode_{episode:06d}.jsonl"
        inputs.parent.mkdir(exist_ok=True)
        inputs.unlink(missing_ok=True)
        recording = source.device_recording
        facts = {**recording.facts, "scale": self.scale}
        if instruction:
            facts["instruction"] = instruction
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        replace(recording, facts=facts).write(inputs)
        write_episode(self.run.settings, scene, record, self.run.episodes / folder_name(episode), watch)
        self._note(receipt_of(record, watch))

    def replay(self, recording: DeviceRecording) -> EpisodeRecord:
        """Carry out what devices said in an earlier session again and save the episode, which is the same bit for bit.

        Raises:
            InputError: The recording is of another task or seed, or is no recording of a session.
        """
        facts = recording.facts
        known = {"task": self.task.name, "seed": self.run.settings.seed}
        for name, value in known.items():
            if facts.get(name) != value:
                raise InputError(f"the recording is of {name} {facts.get(name)!r}, this run has {value!r}")
        episode, scale = facts.get("episode"), facts.get("scale", 1.0)
        instruction = facts.get("instruction", "")
        if not isinstance(episode, int) or not isinstance(scale, int | float) or not isinstance(instruction, str):
            raise InputError("the recording does not say of which episode it is; was it made by handloom teleop?")
        self.scale = float(scale)
        scene = build_scene(sample_task(self.task, self.run.settings.seed, episode))
        source, record = self._attempt(scene, RecordedInput(recording), lambda source, frame: None)
        if self._may_save(record):
            self.save(scene, source, record, instruction=instruction)
        return record

    def _note(self, receipt: Receipt) -> None:
        self.receipts[receipt.episode] = receipt
        self.run.journal(receipt.episode // self.run.settings.unit_size).append(receipt)
