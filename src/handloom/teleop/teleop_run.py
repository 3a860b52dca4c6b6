"""Attempts of an operator, one scene after the other, kept in the folder of a run like scripted ones."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from handloom.dataset import folder_name, remove_unfinished
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.merge_run import merge_run
from handloom.engine.runs.run_directory import RunDirectory
from handloom.episode import run_episode
from handloom.errors import HandloomError, InputError
from handloom.retarget import DeviceRecording
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.tasks import SamplingError, Task, sample_task, worded_skills
from handloom.teleop.live_input import LiveInput
from handloom.teleop.operator_source import OperatorInput, OperatorSource, RecordedInput, ResumedInput
from handloom.teleop.saver import BackgroundSaver, InlineSaver, SaveJob
from handloom.teleop.still import without_pauses
from handloom.teleop.takes import Take, Takes
from handloom.values import EpisodeRecord

SAVE, DISCARD, RESET, FINISH, REWIND, UNDO = "save", "discard", "reset", "finish", "rewind", "undo"
"""What may become of an attempt: keep it; drop it and go on; begin the scene again; end the session; continue from some
seconds ago; continue with the attempt that was dropped last."""
LAST_SCENE = 10**6
"""Scenes beyond this number are not offered."""
logger = logging.getLogger("handloom.teleop")


class View(Protocol):
    """Shows an operator what happens; called by the simulation, and about saving by the saver."""

    def scene(self, scene: Scene, facts: dict[str, Any]) -> None:
        """A scene begins."""
        ...

    def frame(self, source: OperatorSource, frame: int) -> None:
        """A frame is about to be carried out."""
        ...

    def outcome(self, record: EpisodeRecord, *, may_save: bool) -> None:
        """An attempt is over."""
        ...

    def finishing(self) -> None:
        """The session is over; what waits is being written and merged."""
        ...

    def saving(self, waiting: int, problem: str) -> None:
        """So many demonstrations are being written; a problem is told if there is one."""
        ...

    def not_saved(self, why: str) -> None:
        """It could not be written; it is still there and may be saved again."""
        ...

    def saved(self, episodes: int) -> None:
        """One is written; so many there are by now."""
        ...


@dataclass
class TeleopRun:
    """An operator's session in the folder of a run.

    Every scene is an attempt of the run: what is saved gets images, an archive and a receipt by the same code as a
    scripted episode, so the dataset is the same kind of dataset and ``handloom verify`` replays it.
    """

    run: RunDirectory
    task: Task
    scale: float = 1.0
    """Metres of a tool per metre of a hand."""
    trim: float = 0.0
    """Pauses longer than this are cut out of demonstrations [s]; 0 cuts none."""
    background: bool = False
    """Save in another process while the operator continues with the next scene."""
    receipts: dict[int, Receipt] = field(default_factory=dict)
    """Attempts that are done, those of earlier sessions among them."""

    def __post_init__(self) -> None:
        """Go on where an earlier session of this run ended."""
        self.takes = Takes(self.run.path / "inputs")
        self.thrown: DeviceRecording | None = None
        """The attempt that was dropped last; it can be brought back."""
        self.unsaved: list[Take] = []
        """Takes that could not be written when the session ended; the next one tries again."""
        self._written: tuple[OperatorSource, Take] | None = None
        """The attempt that is being saved, and its take on the disk."""
        self._claimed: set[int] = set()
        """Scenes whose takes are being written."""
        self._noting = threading.Lock()
        self._view: View | None = None
        self.saver: InlineSaver | BackgroundSaver = InlineSaver(self._is_written)
        remove_unfinished(self.run.episodes)
        self.receipts = self.run.receipts()

    @property
    def saved(self) -> int:
        """Demonstrations so far."""
        return sum(receipt.success for receipt in list(self.receipts.values()))

    def carry_out(self, live: LiveInput, view: View) -> None:
        """Offer scenes until the operator finishes; then merge what was saved into the dataset.

        Takes that were being saved when an earlier session was killed are finished first.
        """
        self._view = view
        if self.background:
            self.saver = BackgroundSaver(self._is_written, view.saving)
        try:
            self.recover()
            episode, resumed = self._next_scene(), None
            while episode < LAST_SCENE:
                scene = self._scene(episode)
                if scene is not None:
                    found = self._scene_done(scene, live, view, resumed)
                    if found is FINISH:
                        break
                    if isinstance(found, DeviceRecording):  # An attempt that was dropped is wanted back.
                        episode, resumed = int(found.facts["episode"]), found
                        self.receipts = {e: r for e, r in self.receipts.items() if e != episode}
                        continue
                episode, resumed = self._next_scene(), None
        finally:
            view.finishing()
            self.unsaved = self.saver.close()
            self.merge()

    def _next_scene(self) -> int:
        return next(e for e in range(LAST_SCENE + 1) if e not in self.receipts and e not in self._claimed)

    def recover(self) -> int:
        """Make episodes of takes that are on the disk and became none; return how many there were."""
        takes = self.takes.unfinished(self.receipts)
        for take in takes:
            try:
                record = self._again(DeviceRecording.read(self.takes.path(take)))
            except HandloomError as error:
                logger.warning("teleop: %s was not saved and cannot be carried out again: %s", take.file_name, error)
                continue  # The file stays; the scene is offered again, and its next take has a number of its own.
            if self._may_save(record):
                self._submit(take, record)
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

    def _scene_done(
        self, scene: Scene, live: LiveInput, view: View, resumed: DeviceRecording | None
    ) -> str | DeviceRecording:
        """Let the operator try a scene until it is saved or discarded; return what became of it.

        That is FINISH when the session is over, and a recording when an attempt that was dropped is wanted back.
        """
        live.say("")
        while True:
            live.begin()
            instance = scene.instance
            facts = {"episode": instance.episode, "saved": self.saved, "instruction": instance.instruction}
            view.scene(scene, facts | {"may_undo": self.thrown is not None})
            source, record = self._attempt(scene, live, view.frame, resumed=resumed)
            if not live.is_decided:
                view.outcome(record, may_save=self._may_save(record))
            verdict = live.verdict()
            while verdict == SAVE and not self._is_saved(source, record, live.instruction, view):
                live.begin()  # The page says why; another verdict is awaited, and it may be to save once more.
                view.outcome(record, may_save=self._may_save(record))
                verdict = live.verdict()
            if verdict == SAVE:
                return SAVE
            if verdict == FINISH:
                if record.success:  # Whoever does not want it says so before: a success is never dropped by leaving.
                    self._is_saved(source, record, live.instruction, view)
                return FINISH  # A scene without a demonstration is offered again by the next session.
            resumed = source.earlier(live.back) if verdict == REWIND else None
            if verdict != REWIND:
                before, self.thrown = self.thrown, source.device_recording if record.frames else self.thrown
                if verdict == UNDO and before is not None:
                    return before
                if verdict == DISCARD:
                    self._note(Receipt(episode=instance.episode, success=False, stage="execute", reason="discarded"))
                    return DISCARD
            scene = build_scene(instance)

    def _is_saved(self, source: OperatorSource, record: EpisodeRecord, instruction: str, view: View) -> bool:
        """Save an attempt if it may be; whatever goes wrong is told, and the attempt is still there afterwards."""
        if not self._may_save(record):
            return False
        try:
            self.save(source, record, instruction=instruction)
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
        resumed: DeviceRecording | None = None,
    ) -> tuple[OperatorSource, EpisodeRecord]:
        instance = scene.instance
        source = OperatorSource(
            scene,
            worded_skills(self.task, instance),
            generator(instance.seed, instance.episode, "skills", task=self.task.name),
            operator=operator if resumed is None else ResumedInput(resumed, operator),
            scale=self.scale if scale is None else scale,
            on_frame=on_frame,
        )
        return source, run_episode(scene, source, goal=source.judge.goal)

    def save(self, source: OperatorSource, record: EpisodeRecord, *, instruction: str = "") -> None:
        """Write the device input and let the saver turn it into an episode; called again, it continues.

        Args:
            source: Who carried it out.
            record: What happened.
            instruction: What the robot was told, in the operator's words; empty keeps the task's.
        """
        recording = source.device_recording
        facts: dict[str, Any] = {**recording.facts, "scale": self.scale}
        if self.trim > 0.0:
            facts["trim"] = self.trim
            record = without_pauses(record, source.scene.world.model, self.trim)
        if instruction:
            facts["instruction"] = instruction
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        if self._written is None or self._written[0] is not source:
            self._written = source, self.takes.write(record.instance.episode, replace(recording, facts=facts))
        self._submit(self._written[1], record)

    def _submit(self, take: Take, record: EpisodeRecord) -> None:
        folder = self.run.episodes / folder_name(take.episode)
        self.saver.submit(SaveJob(take=take, record=record, settings=self.run.settings, folder=folder))
        self._claimed.add(take.episode)
        if self.thrown is not None and self.thrown.facts["episode"] == take.episode:
            self.thrown = None  # The scene has its demonstration: nothing may come back in its place.

    def _is_written(self, job: SaveJob, receipt: Receipt) -> None:
        self._note(receipt)
        if self._view is not None:
            self._view.saved(self.saved)

    def replay(self, recording: DeviceRecording) -> EpisodeRecord:
        """Carry out what devices said in an earlier session again and save the episode, which is the same bit for bit.

        Raises:
            InputError: The recording is of another task or seed, or is no recording of a session.
        """
        episode = recording.facts.get("episode")
        if isinstance(episode, int) and episode in self.receipts:
            raise InputError(f"scene {episode} of {self.run.path} is done; replay into another folder with -o")
        record = self._again(recording)
        if self._may_save(record):
            self._submit(self.takes.write(record.instance.episode, recording), record)
        return record

    def _again(self, recording: DeviceRecording) -> EpisodeRecord:
        """Carry out what devices said in an earlier session."""
        facts = recording.facts
        known = {"task": self.task.name, "seed": self.run.settings.seed}
        for name, value in known.items():
            if facts.get(name) != value:
                raise InputError(f"the recording is of {name} {facts.get(name)!r}, this run has {value!r}")
        episode, instruction = facts.get("episode"), facts.get("instruction", "")
        numbers = [facts.get("scale", 1.0), facts.get("trim", 0.0)]
        good = all(isinstance(number, int | float) for number in numbers)
        if not isinstance(episode, int) or not good or not isinstance(instruction, str):
            raise InputError("the recording does not say of which episode it is; was it made by handloom teleop?")
        scene = build_scene(sample_task(self.task, self.run.settings.seed, episode))
        operator = RecordedInput(recording)
        record = self._attempt(scene, operator, lambda source, frame: None, scale=float(numbers[0]))[1]
        record = without_pauses(record, scene.world.model, float(numbers[1]))
        if instruction:
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        return record

    def _note(self, receipt: Receipt) -> None:
        with self._noting:
            self.run.journal(receipt.episode // self.run.settings.unit_size).append(receipt)
            self.receipts = {**self.receipts, receipt.episode: receipt}
