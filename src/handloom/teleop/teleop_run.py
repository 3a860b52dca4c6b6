"""Attempts of an operator, one scene after the other, kept in the folder of a run like scripted ones."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from handloom.dataset import folder_name, remove_unfinished
from handloom.dataset.durable import remove_folder
from handloom.engine.attempt import Stopwatch, receipt_of, write_episode
from handloom.engine.journal import Receipt
from handloom.engine.merge_run import merge_run
from handloom.engine.run_directory import RunDirectory
from handloom.episode import run_episode
from handloom.errors import HandloomError, InputError
from handloom.retarget import DeviceRecording
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.tasks import SamplingError, Task, sample_task, worded_skills
from handloom.teleop.live_input import LiveInput
from handloom.teleop.operator_source import OperatorInput, OperatorSource, RecordedInput
from handloom.teleop.takes import Take, Takes
from handloom.values import EpisodeRecord

SAVE, DISCARD, RESET, FINISH = "save", "discard", "reset", "finish"
"""What may become of an attempt: keep it; drop it and go on; begin the scene again; drop it and end the session."""
PAUSES = (0.2, 1.0)
"""How long to wait before a save that failed is tried again [s]."""
LAST_SCENE = 10**6
"""Scenes beyond this number are not offered."""


logger = logging.getLogger("handloom.teleop")


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

    def not_saved(self, why: str) -> None:
        """It could not be written; it is still there and may be saved again."""
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
        self.takes = Takes(self.run.path / "inputs")
        self._written: dict[OperatorSource, Take] = {}
        """The take of the attempt that is being saved."""
        remove_unfinished(self.run.episodes)
        self.receipts = self.run.receipts()

    @property
    def saved(self) -> int:
        """Demonstrations so far."""
        return sum(receipt.success for receipt in self.receipts.values())

    def carry_out(self, live: LiveInput, view: View) -> None:
        """Offer scenes until the operator finishes; then merge what was saved into the dataset.

        Takes that were being saved when an earlier session was killed are finished first.
        """
        try:
            self.recover()
            for episode in (e for e in range(LAST_SCENE) if e not in self.receipts):
                scene = self._scene(episode)
                if scene is not None and not self._scene_done(scene, live, view):
                    break
        finally:
            self.merge()

    def recover(self) -> int:
        """Make episodes of takes that are on the disk and became none; return how many there were."""
        takes = self.takes.unfinished(self.receipts)
        for take in takes:
            try:
                scene, record = self._again(DeviceRecording.read(self.takes.path(take)))
            except HandloomError as error:
                logger.warning("teleop: %s was not saved and cannot be carried out again: %s", take.file_name, error)
                continue  # The file stays; the scene is offered again, and its next take has a number of its own.
            if self._may_save(record):
                self._finish(take, scene, record)
            else:  # It was saved by another version, which judged otherwise: it stays in inputs/.
                reason = record.failure.reason if record.failure else "no_frames"
                self._note(
                    Receipt(episode=take.episode, success=False, stage="execute", reason=reason, take=take.number)
                )
        return len(takes)

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
            while verdict == SAVE and not self._is_saved(scene, source, record, live.instruction, view):
                live.begin()  # The page says why; another verdict is awaited, and it may be to save once more.
                verdict = live.verdict()
            if verdict == SAVE:
                view.saved(self.saved)
                return True
            if verdict == FINISH:
                if record.success:  # Whoever does not want it says so before: a success is never dropped by leaving.
                    self._is_saved(scene, source, record, live.instruction, view)
                return False  # A scene without a demonstration is offered again by the next session.
            if verdict != RESET:
                self._note(Receipt(episode=instance.episode, success=False, stage="execute", reason="discarded"))
                return True
            scene = build_scene(instance)

    def _is_saved(
        self, scene: Scene, source: OperatorSource, record: EpisodeRecord, instruction: str, view: View
    ) -> bool:
        """Save an attempt if it may be; whatever goes wrong is told, and the attempt is still there afterwards."""
        if not self._may_save(record):
            return False
        view.saving(record.instance.episode)
        try:
            self.save(scene, source, record, instruction=instruction)
        except Exception as error:
            logger.exception("teleop: a demonstration could not be saved")
            view.not_saved(str(error) or type(error).__name__)
            return False
        return True

    def _may_save(self, record: EpisodeRecord) -> bool:
        return bool(record.frames) and (record.success or self.run.settings.keep_failures)

    def _attempt(
        self,
        scene: Scene,
        operator: OperatorInput,
        on_frame: Callable[[OperatorSource, int], None],
        *,
        scale: float | None = None,
    ) -> tuple[OperatorSource, EpisodeRecord]:
        instance = scene.instance
        source = OperatorSource(
            scene,
            worded_skills(self.task, instance),
            generator(instance.seed, instance.episode, "skills", task=self.task.name),
            operator=operator,
            scale=self.scale if scale is None else scale,
            on_frame=on_frame,
        )
        return source, run_episode(scene, source)

    def save(self, scene: Scene, source: OperatorSource, record: EpisodeRecord, *, instruction: str = "") -> None:
        """Write what the devices said, then the episode, then its receipt; called again, it goes on where it failed.

        Args:
            scene: The scene.
            source: Who carried it out.
            record: What happened.
            instruction: What the robot was told, in the operator's words; empty keeps the task's.
        """
        recording = source.device_recording
        facts = {**recording.facts, "scale": self.scale}
        if instruction:
            facts["instruction"] = instruction
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        if source not in self._written:
            self._written = {source: self.takes.write(record.instance.episode, replace(recording, facts=facts))}
        for pause in PAUSES:
            try:
                return self._finish(self._written[source], scene, record)
            except (OSError, MemoryError) as error:
                logger.warning("teleop: saving failed and is tried again: %s", error)
                time.sleep(pause)
        self._finish(self._written[source], scene, record)

    def _finish(self, take: Take, scene: Scene, record: EpisodeRecord) -> None:
        """Make the episode of a take that is on the disk."""
        watch, folder = Stopwatch(), self.run.episodes / folder_name(take.episode)
        remove_folder(folder)  # Without a receipt it is of another take, or of this one and half known.
        write_episode(self.run.settings, scene, record, folder, watch)
        self._note(replace(receipt_of(record, watch), take=take.number))

    def replay(self, recording: DeviceRecording) -> EpisodeRecord:
        """Carry out what devices said in an earlier session again and save the episode, which is the same bit for bit.

        Raises:
            InputError: The recording is of another task or seed, or is no recording of a session.
        """
        episode = recording.facts.get("episode")
        if isinstance(episode, int) and episode in self.receipts:
            raise InputError(f"scene {episode} of {self.run.path} is done; replay into another folder with -o")
        scene, record = self._again(recording)
        if self._may_save(record):
            self._finish(self.takes.write(record.instance.episode, recording), scene, record)
        return record

    def _again(self, recording: DeviceRecording) -> tuple[Scene, EpisodeRecord]:
        """Carry out what devices said in an earlier session."""
        facts = recording.facts
        known = {"task": self.task.name, "seed": self.run.settings.seed}
        for name, value in known.items():
            if facts.get(name) != value:
                raise InputError(f"the recording is of {name} {facts.get(name)!r}, this run has {value!r}")
        episode, scale = facts.get("episode"), facts.get("scale", 1.0)
        instruction = facts.get("instruction", "")
        if not isinstance(episode, int) or not isinstance(scale, int | float) or not isinstance(instruction, str):
            raise InputError("the recording does not say of which episode it is; was it made by handloom teleop?")
        scene = build_scene(sample_task(self.task, self.run.settings.seed, episode))
        operator = RecordedInput(recording)
        record = self._attempt(scene, operator, lambda source, frame: None, scale=float(scale))[1]
        if instruction:
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        return scene, record

    def _note(self, receipt: Receipt) -> None:
        self.receipts[receipt.episode] = receipt
        self.run.journal(receipt.episode // self.run.settings.unit_size).append(receipt)
