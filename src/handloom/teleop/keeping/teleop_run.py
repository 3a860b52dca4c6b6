"""The run of one or more operators: assignment of scenes, and conversion of takes to episodes of the dataset."""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handloom.dataset import folder_name, remove_unfinished
from handloom.engine.policy.policies import policy_factory
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.merge_run import attempts_in, merge_run
from handloom.engine.runs.run_directory import RunDirectory
from handloom.episode import run_episode
from handloom.errors import HandloomError, InputError
from handloom.retarget import DeviceRecording
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.tasks import SamplingError, Task, sample_task, worded_skills
from handloom.teleop.keeping.operator_session import FINISH, OnFrame, OperatorSession, View
from handloom.teleop.keeping.saver import BackgroundSaver, InlineSaver, SaveJob
from handloom.teleop.keeping.scene_ahead import SceneAhead
from handloom.teleop.keeping.still import without_pauses
from handloom.teleop.keeping.takes import Take, Takes
from handloom.teleop.session.live_input import LiveInput
from handloom.teleop.session.operator_source import OperatorInput, OperatorSource, RecordedInput, ResumedInput
from handloom.values import EpisodeRecord

LAST_SCENE = 10**6
"""Scenes beyond this number are not offered."""
logger = logging.getLogger("handloom.teleop")


@dataclass
class TeleopRun:
    """The operators' sessions in the folder of a run.

    Every scene is an attempt of the run. A saved attempt gets images, an archive and a receipt by the same code as a
    scripted episode, so the dataset has the same format and ``handloom verify`` replays it. Several operators have a
    scene each; no scene is offered twice.
    """

    run: RunDirectory
    task: Task
    scale: float = 1.0
    """Metres of tool motion per metre of hand motion."""
    trim: float = 0.0
    """Pauses longer than this are cut out of demonstrations [s]; 0 cuts none."""
    background: bool = False
    """Save in another process while the operator continues with the next scene."""
    policy: str = ""
    """Name of the policy that drives while no one corrects it; empty for none."""
    receipts: dict[int, Receipt] = field(default_factory=dict)
    """Finished attempts, including those of earlier sessions."""

    def __post_init__(self) -> None:
        """Continue where an earlier session of this run ended."""
        self.takes = Takes(self.run.path / "inputs")
        self.unsaved: list[Take] = []
        """Takes that could not be written when the session ended; the next session tries again."""
        self.sessions: list[OperatorSession] = []
        """The active operators."""
        self._submitted: set[int] = set()
        """Scenes whose takes are being written, or were written in this session."""
        self._claimed: set[int] = set()
        """Scenes in which operators are working."""
        self._noting = threading.Lock()
        self._ahead = SceneAhead(self._build)
        self.saver: InlineSaver | BackgroundSaver = InlineSaver(self._is_written)
        remove_unfinished(self.run.episodes)
        self.receipts = self.run.receipts()

    @property
    def saved(self) -> int:
        """Demonstrations so far."""
        return sum(receipt.success for receipt in list(self.receipts.values()))

    def carry_out(self, live: LiveInput, view: View) -> None:
        """Let one operator work until the end of the session; see ``carry_out_all``."""
        self.carry_out_all([(live, view)])

    def carry_out_all(self, operators: Sequence[tuple[LiveInput, View]]) -> None:
        """Offer scenes to operators until all of them have finished; then merge what was saved into the dataset.

        Takes that were being saved when an earlier session was killed are finished first.
        """
        self.sessions = [OperatorSession(self, live, view) for live, view in operators]
        if self.background:
            self.saver = BackgroundSaver(self._is_written, self._tell_saving)
        try:
            self.recover()
            self._work()
        finally:
            for session in self.sessions:
                session.view.finishing()
            self._ahead.close()
            self.unsaved = self.saver.close()
            self.merge()

    def _work(self) -> None:
        """Let every operator work, the first one in this thread; an error in one session ends all of them."""
        errors: list[BaseException] = []

        def work(session: OperatorSession) -> None:
            try:
                session.work()
            except BaseException as error:
                errors.append(error)
                for other in self.sessions:
                    other.live.end(FINISH, for_good=True)

        first, *others = self.sessions
        threads = [threading.Thread(target=work, args=(session,), name="operator", daemon=True) for session in others]
        for thread in threads:
            thread.start()
        if not threads:
            return first.work()
        work(first)
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def claim(self, episode: int | None = None) -> int | None:
        """Assign a scene to an operator: a given one, or the next free one; None if there are no more."""
        with self._noting:
            if episode is None:
                episode = self._next_free()
            elif not self.has_demonstration(episode):  # It was dropped and is being brought back.
                self.receipts = {e: r for e, r in self.receipts.items() if e != episode}
            if episode is not None:
                self._claimed.add(episode)
            return episode

    def _next_free(self) -> int | None:
        """Return the first free scene."""
        taken = self._claimed | self._submitted
        return next((e for e in range(LAST_SCENE) if e not in self.receipts and e not in taken), None)

    def look_ahead(self) -> None:
        """Build the scene for the next operator who leaves one."""
        with self._noting:
            episode = self._next_free()
        if episode is not None:
            self._ahead.begin(episode)

    def release(self, episode: int) -> None:
        """Release the scene of an operator."""
        with self._noting:
            self._claimed.discard(episode)

    def has_demonstration(self, episode: int) -> bool:
        """Return whether a scene was saved; a new take then replaces it only when saved."""
        receipt = self.receipts.get(episode)
        return episode in self._submitted or (receipt is not None and receipt.take > 0)

    def discard(self, episode: int) -> None:
        """Discard a scene; an existing demonstration of it stays."""
        if not self.has_demonstration(episode):
            self._note(Receipt(episode=episode, success=False, stage="execute", reason="discarded"))

    def recover(self) -> int:
        """Convert the takes on disk that have no episode; return their number."""
        takes = self.takes.unfinished({episode: receipt.take for episode, receipt in self.receipts.items()})
        for session in self.sessions if takes else ():  # The page has no scene yet, and shows the reason.
            session.view.saving(len(takes), "")
        for take in takes:
            try:
                record = self._again(DeviceRecording.read(self.takes.path(take)))
            except HandloomError as error:
                logger.warning("teleop: %s was not saved and cannot be replayed: %s", take.file_name, error)
                continue  # The file stays; the scene is offered again, and its next take gets its own number.
            if self.may_save(record):
                self.submit(take, record)
            elif take.episode not in self.receipts:
                # Another version saved it and judged it differently: it stays in inputs/.
                reason = record.failure.reason if record.failure else "no_frames"
                self._note(
                    Receipt(episode=take.episode, success=False, stage="execute", reason=reason, take=take.number)
                )
        return len(takes)

    def merge(self) -> None:
        """Merge the saved episodes into the dataset of the run, and saved failures into theirs."""
        if self.receipts:
            merged = {*attempts_in(self.run.dataset), *attempts_in(self.run.failures)}
            again = {e for e in merged if (self.run.episodes / folder_name(e)).is_dir()}
            merge_run(self.run, dict(sorted(self.receipts.items())), replaced=again)

    def scene_of(self, episode: int) -> Scene | None:
        """Return a scene; None if it cannot be sampled, which is recorded."""
        if (scene := self._ahead.take(episode)) is not None:
            return scene
        try:
            return self._build(episode)
        except SamplingError as error:
            failure = error.failure
            self._note(Receipt(episode=episode, success=False, stage=failure.stage, reason=failure.reason))
            return None

    def _build(self, episode: int) -> Scene:
        return build_scene(sample_task(self.task, self.run.settings.seed, episode))

    def may_save(self, record: EpisodeRecord) -> bool:
        """Return whether an attempt may be saved."""
        return bool(record.frames) and (record.success or self.run.settings.keep_failures)

    def attempt(
        self,
        scene: Scene,
        operator: OperatorInput,
        on_frame: OnFrame,
        *,
        scale: float | None = None,
        resumed: DeviceRecording | None = None,
        corrects: bool | None = None,
    ) -> tuple[OperatorSource, EpisodeRecord]:
        """Let an operator perform the task in a scene.

        Args:
            scene: The scene in its initial state.
            operator: The operator's devices.
            on_frame: Called before every frame.
            scale: Metres of tool motion per metre of hand motion, if not those of the session.
            resumed: Recording of
                the earlier part.
            corrects: Whether a recording contains a policy's targets; None lets the policy of the run drive.
        """
        instance = scene.instance
        stages = worded_skills(self.task, instance)
        policy = None
        if corrects is None and self.policy:
            rng = generator(instance.seed, instance.episode, "skills", task=self.task.name)
            policy = policy_factory(self.policy)(scene, stages, rng)
        source = OperatorSource(
            scene,
            stages,
            generator(instance.seed, instance.episode, "skills", task=self.task.name),
            operator=operator if resumed is None else ResumedInput(resumed, operator),
            scale=self.scale if scale is None else scale,
            on_frame=on_frame,
            policy=policy,
            corrects=bool(corrects),
        )
        return source, run_episode(scene, source, goal=source.judge.goal)

    def take_of(
        self, source: OperatorSource, record: EpisodeRecord, *, instruction: str = ""
    ) -> tuple[DeviceRecording, EpisodeRecord]:
        """Return the data to save of an attempt: device samples, and the episode record without pauses.

        Args:
            source: Performed the attempt.
            record: The episode record.
            instruction: Instruction in the operator's words; empty keeps the task's.
        """
        recording = source.device_recording
        facts: dict[str, Any] = {**recording.facts, "scale": self.scale}
        if self.policy:
            facts["policy"] = self.policy
        if self.trim > 0.0:
            facts["trim"] = self.trim
            record = without_pauses(record, source.scene.world.model, self.trim)
        if instruction:
            facts["instruction"] = instruction
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        return replace(recording, facts=facts), record

    def submit(self, take: Take, record: EpisodeRecord) -> None:
        """Have the saver convert a take on disk to an episode."""
        folder = self.run.episodes / folder_name(take.episode)
        self.saver.submit(SaveJob(take=take, record=record, settings=self.run.settings, folder=folder))
        self._submitted.add(take.episode)

    def _is_written(self, job: SaveJob, receipt: Receipt) -> None:
        self._note(receipt)
        for session in self.sessions:
            session.view.saved(self.saved)

    def _tell_saving(self, waiting: int, problem: str) -> None:
        for session in self.sessions:
            session.view.saving(waiting, problem)

    def replay(self, recording: DeviceRecording) -> EpisodeRecord:
        """Replay the device samples of an earlier session and save the episode, which is the same bit for bit.

        Raises:
            InputError: The recording belongs to another task or seed, or does not come from a session.
        """
        episode = recording.facts.get("episode")
        if isinstance(episode, int) and episode in self.receipts:
            raise InputError(f"scene {episode} of {self.run.path} is done; replay into another folder with -o")
        record = self._again(recording)
        if self.may_save(record):
            self.submit(self.takes.write(record.instance.episode, recording), record)
        return record

    def _again(self, recording: DeviceRecording) -> EpisodeRecord:
        """Replay the device samples of an earlier session."""
        facts = recording.facts
        known = {"task": self.task.name, "seed": self.run.settings.seed}
        for name, value in known.items():
            if facts.get(name) != value:
                raise InputError(f"the recording belongs to {name} {facts.get(name)!r}, this run has {value!r}")
        episode, instruction = facts.get("episode"), facts.get("instruction", "")
        numbers = [facts.get("scale", 1.0), facts.get("trim", 0.0)]
        good = all(isinstance(number, int | float) for number in numbers)
        if not isinstance(episode, int) or not good or not isinstance(instruction, str):
            raise InputError("the recording has no episode number; was it made by handloom teleop?")
        scene = self._build(episode)
        operator = RecordedInput(recording)
        corrects = facts.get("corrects") is True
        record = self.attempt(scene, operator, lambda source, frame: None, scale=float(numbers[0]), corrects=corrects)[
            1
        ]
        record = without_pauses(record, scene.world.model, float(numbers[1]))
        if instruction:
            record = replace(record, instance=replace(record.instance, instruction=instruction))
        return record

    def _note(self, receipt: Receipt) -> None:
        with self._noting:
            self.run.journal(receipt.episode // self.run.settings.unit_size).append(receipt)
            self.receipts = {**self.receipts, receipt.episode: receipt}
