"""The work of one operator: scene after scene, each attempted until it is saved or dropped."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from handloom.retarget import DeviceRecording
from handloom.scene import Scene, build_scene
from handloom.teleop.keeping.takes import Take
from handloom.teleop.session.live_input import LiveInput
from handloom.teleop.session.operator_source import OperatorSource
from handloom.values import EpisodeRecord

if TYPE_CHECKING:
    from handloom.teleop.keeping.teleop_run import TeleopRun

SAVE, DISCARD, RESET, FINISH, REWIND, UNDO, AGAIN = "save", "discard", "reset", "finish", "rewind", "undo", "again"
"""Verdicts on an attempt: save it; drop it and go on; restart the scene; end the session; continue from some seconds
ago; continue the attempt dropped last; record the scene saved last again."""
logger = logging.getLogger("handloom.teleop")


class View(Protocol):
    """The operator's view; called by the simulation, and by the saver."""

    def scene(self, scene: Scene, facts: dict[str, Any]) -> None:
        """A scene begins."""
        ...

    def frame(self, source: OperatorSource, frame: int) -> None:
        """A frame is about to be executed."""
        ...

    def outcome(self, record: EpisodeRecord, *, may_save: bool) -> None:
        """An attempt has ended."""
        ...

    def finishing(self) -> None:
        """The session has ended; pending takes are being written and merged."""
        ...

    def saving(self, waiting: int, problem: str) -> None:
        """Show the number of demonstrations being written, and any problem."""
        ...

    def not_saved(self, why: str) -> None:
        """The demonstration could not be written; it still exists and may be saved again."""
        ...

    def saved(self, episodes: int) -> None:
        """Show the number of demonstrations after one was written."""
        ...


class OperatorSession:
    """The work of one operator in a run, which may have several operators.

    Args:
        teleop_run: The run, which assigns scenes and stores takes.
        live: Input of the operator.
        view: View of the operator.
    """

    def __init__(self, teleop_run: "TeleopRun", live: LiveInput, view: View) -> None:
        self._run, self.live, self.view = teleop_run, live, view
        self.thrown: DeviceRecording | None = None
        """The last dropped attempt, which can be brought back."""
        self._written: tuple[OperatorSource, Take] | None = None
        """The attempt being saved, and its take on disk."""
        self.last_saved: int | None = None
        """The last saved scene, which can be recorded again."""

    def may(self, verdict: str) -> bool:
        """Return whether there is an attempt to bring back, or a scene to record again."""
        return self.thrown is not None if verdict == UNDO else self.last_saved is not None

    def work(self) -> None:
        """Offer scenes until the operator finishes."""
        run = self._run
        episode, resumed = run.claim(), None
        while episode is not None:
            scene = run.scene_of(episode)
            found = None if scene is None else self._scene_done(scene, resumed)
            run.release(episode)
            if found == FINISH:
                return
            resumed = found if isinstance(found, DeviceRecording) else None
            wanted = int(resumed.facts["episode"]) if resumed is not None else None
            if found == AGAIN:
                wanted = self.last_saved
            episode = run.claim(wanted)

    def _scene_done(self, scene: Scene, resumed: DeviceRecording | None) -> str | DeviceRecording:
        """Let the operator attempt a scene until it is saved or discarded; return the verdict.

        The verdict is FINISH when the session is over, and a recording when a dropped attempt is to be brought back.
        """
        run, live, view = self._run, self.live, self.view
        live.say("")
        while True:
            live.begin()
            instance = scene.instance
            facts = {"episode": instance.episode, "saved": run.saved, "instruction": instance.instruction}
            facts |= {"may_undo": self.thrown is not None, "may_again": self.last_saved is not None}
            view.scene(scene, facts | {"is_again": run.has_demonstration(instance.episode)})
            run.look_ahead()  # Time is stopped until the operator has seen the scene and starts.
            source, record = run.attempt(scene, live, view.frame, resumed=resumed)
            if not live.is_decided:
                view.outcome(record, may_save=run.may_save(record))
            verdict = live.verdict()
            while verdict == SAVE and not self._is_saved(source, record):
                live.begin()  # The page shows the reason; another verdict is awaited, which may be to save again.
                view.outcome(record, may_save=run.may_save(record))
                verdict = live.verdict()
            if verdict == SAVE:
                return SAVE
            if verdict == FINISH:
                if record.success:  # Finishing never drops a success; discard it first.
                    self._is_saved(source, record)
                return FINISH  # A scene without a demonstration is offered again in the next session.
            resumed = source.earlier(live.back) if verdict == REWIND else None
            if verdict != REWIND:
                before, self.thrown = self.thrown, source.device_recording if record.frames else self.thrown
                if verdict == UNDO and before is not None:
                    return before
                if verdict == AGAIN and self.last_saved is not None:
                    return AGAIN
                if verdict == DISCARD:
                    run.discard(instance.episode)
                    return DISCARD
            scene = build_scene(instance)

    def _is_saved(self, source: OperatorSource, record: EpisodeRecord) -> bool:
        """Save an attempt if allowed; if saving fails, report it and keep the attempt."""
        if not self._run.may_save(record):
            return False
        try:
            self._save(source, record)
        except Exception as error:
            logger.exception("teleop: a demonstration could not be saved")
            self.view.not_saved(str(error) or type(error).__name__)
            return False
        return True

    def _save(self, source: OperatorSource, record: EpisodeRecord) -> None:
        recording, record = self._run.take_of(source, record, instruction=self.live.instruction)
        if self._written is None or self._written[0] is not source:
            self._written = source, self._run.takes.write(record.instance.episode, recording)
        self._run.submit(self._written[1], record)
        self.last_saved = record.instance.episode
        if self.thrown is not None and self.thrown.facts["episode"] == self.last_saved:
            self.thrown = None  # The scene has its demonstration; no dropped attempt may replace it.


OnFrame = Callable[[OperatorSource, int], None]
