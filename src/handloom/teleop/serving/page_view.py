"""Contents of the page: the scene, the state of the session, the goals and their status."""

import threading
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from handloom.retarget import ExecutionState
from handloom.scene import Scene
from handloom.teleop.serving.picture_stream import PictureStream
from handloom.teleop.session.live_input import LiveInput
from handloom.teleop.session.operator_source import OperatorSource
from handloom.values import Check, EpisodeRecord

STATE_RATE = 12.0
"""States sent per second while time runs."""


class PageView:
    """Collects facts from the simulation and publishes them with the state of the session.

    Args:
        live: Input of the operator.
        pictures: Renders the scene.
        publish: Sends a state to every page.
        task: Name of the task.
        keeps_failures: Whether failed attempts may be saved.
        policy: Name of the policy that drives while no one corrects it; empty for none.
        saved: Number of demonstrations of earlier sessions.
    """

    def __init__(
        self,
        live: LiveInput,
        pictures: PictureStream,
        publish: Callable[[dict[str, Any]], None],
        *,
        task: str,
        keeps_failures: bool = False,
        policy: str = "",
        saved: int = 0,
    ) -> None:
        self._live, self._pictures, self._publish = live, pictures, publish
        self._lock = threading.Lock()
        self._facts: dict[str, Any] = {"task": task, "phase": "loading", "saved": saved, "waiting": 0}
        self._facts |= {"keeps_failures": keeps_failures, "policy": policy, "leader": ""}
        self._source: OperatorSource | None = None
        self._touching: frozenset[str] = frozenset()
        """Arms whose fingers touched something in the last frame."""
        self._sent = 0.0
        self._scene: Scene | None = None

    def show(self, **facts: Any) -> None:
        """Change facts and send them; may be called from any thread."""
        with self._lock:
            self._facts |= facts
            waits = list(self._live.latencies)
            drawn = list(self._pictures.drawn)
            state = {
                **self._facts,
                "arms": [] if self._source is None else _arms(self._source, self._touching),
                "state": str(self._live.state),
                "used": self._live.used,
                "said": self._live.instruction,
                "wait_ms": round(1e3 * median(waits), 1) if waits else None,
                "pictures_per_s": _rate(drawn),
            }
            self._sent = time.monotonic()
            # Before another thread changes facts: pages keep the last state they get, and none follows while time is
            # stopped.
            self._publish(state)

    def scene(self, scene: Scene, facts: dict[str, Any]) -> None:
        """A scene begins."""
        self._scene, self._source = scene, None
        cameras = self._cameras(scene)
        limit = scene.instance.max_frames / scene.instance.fps
        self.show(
            **facts,
            phase="ready",
            cameras=cameras,
            seconds=0.0,
            limit=limit,
            outcome=None,
            recording=False,
            mark="",
        )
        self._pictures.show(scene)

    def cameras_changed(self) -> None:
        """Update the page because other views are rendered from now on; may be called from any thread."""
        scene = self._scene
        self.show(**({} if scene is None else {"cameras": self._cameras(scene)}))

    def _cameras(self, scene: Scene) -> list[dict[str, Any]]:
        cameras = self._pictures.cameras_of(scene)
        return [{"name": c.name, "width": c.width, "height": c.height, "slope": c.width / c.fx} for c in cameras]

    def frame(self, source: OperatorSource, frame: int) -> None:
        """A frame is about to be executed."""
        scene = self._scene
        if scene is None:
            return
        self._source = source
        running = self._live.state == ExecutionState.RUNNING
        soon = frame and time.monotonic() - self._sent < 1.0 / STATE_RATE
        if soon and source.is_catching_up:
            return  # An operator who goes back is waiting: spend no time on showing frames seen before.
        self._touching = _touching(source)
        self._pictures.offer(scene.world.save_state())
        if soon and running:
            return
        self.show(
            phase="driving",
            seconds=round(frame / scene.instance.fps, 2),
            recording=source.recording and running,
            base=bool(source.robot.bases),
            mark=source.marks[-1][1] if source.marks else "",
            suggestions=list(source.suggestions),
            progress=round(source.judge.progress, 3),
            done=[
                {"skill": s.skill, "words": s.instruction, "objects": list(s.objects)} for s in source.judge.timeline
            ],
            goals=[
                {"words": about or "the task", "terms": [[source.judge.words(term), held] for term, held in terms]}
                for about, terms in _by_object(source.judge.terms)
            ],
        )

    def outcome(self, record: EpisodeRecord, *, may_save: bool) -> None:
        """An attempt has ended."""
        if self._scene is not None:
            self._pictures.offer(self._scene.world.save_state())
        outcome = {"success": record.success, "text": _words(record), "may_save": may_save}
        self.show(phase="over", recording=False, outcome=outcome)

    def finishing(self) -> None:
        """The session has ended; pending takes are being written and merged."""
        self.show(phase="finishing", recording=False)

    def saving(self, waiting: int, problem: str) -> None:
        """Show the number of demonstrations being written, and any problem."""
        told = f"Not written yet: {problem}. Nothing is lost: press Save to try again." if problem else ""
        self.show(waiting=waiting, problem=told)

    def not_saved(self, why: str) -> None:
        """The demonstration could not be written; it still exists and may be saved again."""
        self.show(phase="over", problem=f"Not saved: {why}. Nothing is lost: press Save to try again.")

    def saved(self, episodes: int) -> None:
        """Show the number of demonstrations after one was written."""
        self.show(saved=episodes)


def _words(record: EpisodeRecord) -> str:
    """Describe in a sentence how an attempt ended."""
    if record.failure is None:
        return "The task is done."
    instance = record.instance
    if record.frames >= instance.max_frames - 1:
        limit = instance.max_frames / instance.fps
        return f"Time is up: {limit:.0f} s. Go back a few seconds, or try again; --seconds allows more."
    return str(record.failure)


def _touching(source: OperatorSource) -> frozenset[str]:
    """Return the arms whose fingers touch something other than their own hand."""
    world, found = source.scene.world, set[str]()
    bodies = world.model.geom_bodyid[world.data.contact.geom]
    for arm in source.robot.arms:
        fingers = [world.body_index(name) for name in arm.arm.finger_bodies]
        if np.any(np.isin(bodies, fingers).sum(axis=-1) == 1):
            found.add(arm.name)
    return frozenset(found)


def _arms(source: OperatorSource, touching: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": arm.name,
            "robot": arm.arm.robot_name,
            "device": arm.device,
            "engaged": arm.is_engaged,
            "held_up": arm.is_held_up,
            "closed": round(arm.closedness, 3),
            "positions_only": arm.follows_positions,
            "joining": arm.is_joining,
            "touching": arm.name in touching,
            "joints": [round(float(q), 4) for q in arm.follower.q],
            "lower": [round(float(q), 4) for q in arm.follower.chain.lower],
            "upper": [round(float(q), 4) for q in arm.follower.chain.upper],
            "joint_names": list(arm.arm.spec.joint_names),
            "driver": "policy" if source.corrects and not arm.is_engaged else "you",
        }
        for arm in source.robot.arms
    ]


def _by_object(terms: Sequence[tuple[Check, bool]]) -> list[tuple[str, list[tuple[Check, bool]]]]:
    """Return the terms of a goal by the object they refer to."""
    about: dict[str, list[tuple[Check, bool]]] = {}
    for term, held in terms:
        given = term.arguments
        about.setdefault(str(given.get("object") or given.get("container") or ""), []).append((term, held))
    return list(about.items())


def _rate(moments: list[float]) -> float | None:
    """Return events per second over the last three seconds."""
    recent = [moment for moment in moments if moment > time.monotonic() - 3.0]
    return round((len(recent) - 1) / (recent[-1] - recent[0]), 1) if len(recent) > 2 else None
