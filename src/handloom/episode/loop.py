"""Runs one episode: queries the source, clips targets, steps physics, records."""

import time
from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.episode.disturbance import Disturbance
from handloom.errors import StateError
from handloom.judging import Bystanders, Judge, not_lasting
from handloom.judging.lasting import REST, SETTLING, SHOWN_REST, Stillness, frames_of
from handloom.scene import Scene
from handloom.values import Check, EpisodeRecord, Failure, FunnelStage, SkillSpan


class Source(Protocol):
    """Provides the actuator targets frame by frame."""

    @property
    def failure(self) -> Failure | None:
        """Reason of the failure; None while it runs and after success."""
        ...

    @property
    def timeline(self) -> Sequence[SkillSpan]:
        """Timeline of the skills, with their own success terms; empty for sources without skills."""
        ...

    @property
    def recording(self) -> bool:
        """Whether the last requested frame belongs to the demonstration."""
        ...

    def next(self, frame: int) -> Array | None:
        """Return targets (controls,) [m or rad], NaN where there is no command; None at the end.

        Args:
            frame: Number of frames executed so far; the scene is in the state after them.
        """
        ...


USER_INPUTS = mujoco.mjtState.mjSTATE_USER
"""All external inputs of physics: controls, applied forces, welds, mocap."""


def run_episode(
    scene: Scene, source: Source, disturbance: Disturbance | None = None, *, goal: Sequence[Check] = ()
) -> EpisodeRecord:
    """Execute the commands of a source, at the frame rate of the scene, until it ends or the step budget is used up.

    After the source has ended successfully, the scene continues for a second with all targets held, and then every
    lasting goal is judged again: an object that slips out right after the lift is not a success, nor is a bowl that was
    filled and dragged away later.

    Args:
        scene: The scene in its first state.
        source: Source of the commands.
        disturbance: Noise on the executed command; the source's own command is recorded as well.
        goal: Goal terms of the task; all must hold at the end, regardless of the source's own report.
    """
    world, instance = scene.world, scene.instance
    model_hash = world.model_hash()
    states: list[Array] = [world.save_state()]
    asked: list[Array] = []
    applied: list[Array] = []
    kept: list[bool] = []
    failure: Failure | None = None
    seconds = {"plan": 0.0, "physics": 0.0}
    resting, rest = 0, frames_of(REST, instance.fps)
    shown, judge = frames_of(SHOWN_REST, instance.fps), Judge(scene, goal)
    wanted = world.data.ctrl.copy()
    stillness, bystanders = Stillness(scene), Bystanders(scene)
    while failure is None and (resting < rest or (resting < SETTLING * rest and stillness.waits)):
        if len(applied) >= instance.max_frames:
            detail = f"{instance.max_frames} frames were not enough; raise data.max_episode_length"
            failure = Failure(stage=FunnelStage.EXECUTE, reason="out_of_frames", detail=detail)
            break
        begin = time.perf_counter()
        targets = source.next(len(applied)) if resting == 0 else None
        seconds["plan"] += time.perf_counter() - begin
        failure, keep = source.failure, source.recording if targets is not None else resting < shown
        if targets is None:
            if failure is not None:
                break
            resting += 1
            targets = stopping_targets(scene)
        begin = time.perf_counter()
        if disturbance is not None:
            wanted = targets = np.where(np.isnan(targets), wanted, targets)
            phases = getattr(source, "phases", ())
            apply_targets(scene, disturbance.added(targets, getattr(source, "room", 0.0), phases))
        else:
            apply_targets(scene, targets)
        asked.append(targets)
        kept.append(keep)
        applied.append(user_inputs(scene))
        try:
            world.step(instance.substeps)
        except StateError as error:
            failure = Failure(stage=FunnelStage.EXECUTE, reason="unstable", detail=str(error))
        states.append(world.save_state())
        seconds["physics"] += time.perf_counter() - begin
        judge.look(len(applied), fully=False)
        if resting:
            stillness.look(source.timeline)
    return EpisodeRecord(
        instance=instance,
        states=np.array(states),
        asked=np.array(asked).reshape(-1, world.model.nu),
        applied=np.array(applied).reshape(-1, len(user_inputs(scene))),
        model_hash=model_hash,
        timeline=tuple(source.timeline),
        left_out=_gaps(kept),
        goal=tuple(goal),
        disturbed=bystanders.disturbed(goal, source.timeline),
        failure=failure or not_lasting(scene, source.timeline, states) or stillness.failure() or judge.missing(),
        stage_seconds=seconds,
    )


def stopping_targets(scene: Scene) -> Array:
    """Return targets (controls,) that keep all joint commands: NaN, and zero speed for bases."""
    targets = np.full(scene.world.model.nu, np.nan)
    for robot in scene.robots.values():
        if robot.base is not None:
            robot.base.drive_at(targets, np.zeros(3))
    return targets


def apply_targets(scene: Scene, targets: Array) -> None:
    """Write actuator targets (controls,), clipped to the actuators' ranges; NaN keeps the present target."""
    given = ~np.isnan(targets)
    scene.world.data.ctrl[given] = within_ranges(scene.world.model, targets)[given]


def within_ranges(model: mujoco.MjModel, targets: Array) -> Array:
    """Return actuator targets (..., controls) clipped to the actuators' ranges; NaN stays NaN."""
    low = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 0], -np.inf)
    high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 1], np.inf)
    return np.clip(targets, low, high)


def user_inputs(scene: Scene) -> Array:
    """Return all external inputs of physics (m,), controls first."""
    model, data = scene.world.model, scene.world.data
    inputs = np.empty(mujoco.mj_stateSize(model, USER_INPUTS))
    mujoco.mj_getState(model, data, inputs, USER_INPUTS)
    return inputs


def _gaps(kept: list[bool]) -> tuple[tuple[int, int], ...]:
    """Return the spans of frames, first and one past the last, that are not kept."""
    edges = np.flatnonzero(np.diff(np.array([True, *kept, True], dtype=int)))
    return tuple((int(start), int(stop)) for start, stop in edges.reshape(-1, 2))
