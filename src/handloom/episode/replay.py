"""Simulates a recorded episode again and compares every bit."""

from collections import Counter
from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.episode.loop import USER_INPUTS
from handloom.errors import FileError, StateError
from handloom.judging import Judge, holds, standing_goals
from handloom.scene import Scene, build_scene
from handloom.values import Check, EpisodeRecord

HOPELESS = 1.0
"""A difference this large [m, rad or a speed] means another episode; the rest is not simulated."""


@dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """Comparison of a replay with the recording."""

    frames: int
    """Frames replayed."""
    first_difference: int | None
    """First frame after which the states differ in any bit; None when all are identical."""
    largest_difference: float
    """Largest absolute difference of any state entry."""
    success_again: bool
    """Whether every success term of the timeline held again at its frame, and lasting ones also at the end."""
    same_model: bool = True
    """Whether the instance still compiles to the model it was recorded with."""

    @property
    def exact(self) -> bool:
        """Whether the replay equals the recording, bit for bit, and succeeds again."""
        return self.first_difference is None and self.success_again


def replay(record: EpisodeRecord, scene: Scene | None = None) -> ReplayReport:
    """Build the scene from the instance alone, apply the recorded inputs, and compare all states.

    Args:
        record: What happened.
        scene: The scene of the record's instance, just built, for further use by the caller; its state is overwritten.

    Raises:
        FileError: The recording does not fit the scene built from its instance.
    """
    scene = scene or build_scene(record.instance)
    world = scene.world
    if record.states.shape[1:] != world.save_state().shape:
        raise FileError(
            f"the recording has states of {record.states.shape[1]} numbers, the scene built from its instance has "
            f"{len(world.save_state())}; was it written with another version of Handloom or another robot folder?"
        )
    same_model = record.model_hash == world.model_hash()
    first, largest, success = None, 0.0, True
    judged = [span for span in record.timeline if span.success]
    held: Counter[int] = Counter()
    judge = Judge(scene, record.goal)
    for frame in range(record.frames + 1):
        state = world.save_state()
        difference = float(np.abs(state - record.states[frame]).max(initial=0.0))
        if difference > largest or np.isnan(difference):
            largest = difference
        if first is None and state.tobytes() != np.ascontiguousarray(record.states[frame]).tobytes():
            first = frame
        if not largest < HOPELESS:
            success = False
            break
        if frame:
            judge.look(frame, fully=False)
        for span in judged:
            if span.start < frame <= span.end:
                held.update(id(check) for check in span.checks if check.share and holds(scene, check))
            if span.end == frame:
                success &= all(_fulfilled(scene, check, held[id(check)], frame - span.start) for check in span.checks)
        if frame == record.frames and record.success:
            success &= all(holds(scene, check) for _, goals in standing_goals(record.timeline) for check in goals)
            success &= judge.missing() is None
        if frame < record.frames and not _step(scene, record.applied[frame]):
            success, first = False, frame if first is None else first
            break
    return ReplayReport(
        frames=record.frames,
        first_difference=first,
        largest_difference=largest,
        success_again=success,
        same_model=same_model,
    )


def _fulfilled(scene: Scene, check: Check, held: int, frames: int) -> bool:
    """Return whether a success term holds now or, if it has a share, held in enough of the skill's frames."""
    return held >= check.share * frames if check.share else holds(scene, check)


def _step(scene: Scene, inputs: np.ndarray) -> bool:
    """Apply one frame's inputs and step; return whether physics stayed stable."""
    world = scene.world
    mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(inputs), USER_INPUTS)
    try:
        world.step(scene.instance.substeps)
    except StateError:
        return False
    return True
