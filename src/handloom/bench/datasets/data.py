"""Quality of demonstrations for training: visibility, arm motion, landing of objects, instructions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.bench.result import BenchResult
from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.warmup import warm_up
from handloom.episode.columns import recorded_qpos
from handloom.errors import InputError
from handloom.render import Renderer
from handloom.scene import Scene, SceneArm
from handloom.tasks import SamplingError, Task, library, load_task, sample_task, worded_skills
from handloom.tasks.sampling.wording import faults_of_sentence
from handloom.values import EpisodeRecord, SkillSpan

EVERY = 10
"""Only every tenth frame is rendered, because rendering takes most of the time."""
SEEN = 0.0008
"""Fraction of an image above which an object counts as visible: 40 of 224 x 224 pixels."""
STILL = 0.01
"""Joint speed [rad/s or m/s] below which an arm counts as idle."""
CARRY = frozenset(("pick", "manualpick", "dexpick", "place", "dexplace"))
"""Skills for which an end near the start indicates a detour; others move back and forth on purpose."""
WORD_SCENES = 200
"""Number of scenes per task whose sentences are checked."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Figures of one demonstration."""

    coverage: float
    """Mean fraction of the main image covered by the handled objects."""
    seen: float
    """Fraction of images in which the handled object is visible."""
    idle: float
    """Fraction of the dataset's frames in which no part of the robots moves."""
    path_ratio: float
    """Length of the tools' paths divided by the straight distances between grasps and releases."""
    wrist_turn: float
    """Largest rotation of a last arm joint within a skill [rad]."""
    fall: float
    """Largest height that an object falls from release to rest [m]."""
    landing: float
    """Deepest overlap of an object with the surface it lands on [m]."""


def run(names: Sequence[str] = (), seeds: int = 5, seed: int = 1, overrides: Sequence[str] = ()) -> BenchResult:
    """Measure demonstrations of every task; one row per task, means over the demonstrations.

    Args:
        names: Tasks of the library or YAML files; none means the whole library.
        seeds: Attempts per task; only successful attempts are measured.
        seed: Seed of the run.
        overrides: Changes to every task, such as ``data.variant=randomized``.
    """
    if seeds < 1:
        raise InputError(f"a task needs at least 1 seed to be measured, got {seeds}")
    tasks = [load_task(name, overrides=overrides) for name in names or library()]
    warm_up()
    return BenchResult(bench="data", rows=tuple(_row(task, seeds, seed) for task in tasks))


def _row(task: Task, seeds: int, seed: int) -> dict[str, Any]:
    audits: list[Audit] = []
    for episode in range(seeds):
        try:
            scene, record = simulate(task, seed, episode, Stopwatch())
        except SamplingError:
            continue
        if record.success:
            audits.append(audit(scene, record))
    return {
        "name": task.name,
        "demonstrations": len(audits),
        "coverage_percent": _mean(audits, "coverage", 100.0),
        "seen_percent": _mean(audits, "seen", 100.0),
        "idle_percent": _mean(audits, "idle", 100.0),
        "path_ratio": _mean(audits, "path_ratio"),
        "wrist_turn_deg": _mean(audits, "wrist_turn", 180.0 / np.pi),
        "fall_mm": _mean(audits, "fall", 1000.0),
        "landing_depth_mm": max((1000.0 * a.landing for a in audits if np.isfinite(a.landing)), default=None),
        "corrupt_sentences": len(corrupt_sentences(task, seed, WORD_SCENES)),
    }


def _mean(audits: Sequence[Audit], key: str, factor: float = 1.0) -> float | None:
    """Return the mean of a figure over the demonstrations in which it is defined."""
    return mean_or_none([factor * getattr(audit, key) for audit in audits])


def mean_or_none(values: Sequence[float] | Array) -> float | None:
    """Return the mean of the finite values; None if there is none."""
    finite = [float(value) for value in values if np.isfinite(value)]
    return sum(finite) / len(finite) if finite else None


def corrupt_sentences(task: Task, seed: int, scenes: int) -> list[str]:
    """Return every sentence of sampled scenes that is not plain English, with its fault."""
    found: list[str] = []
    for episode in range(scenes):
        try:
            instance = sample_task(task, seed, episode)
        except SamplingError:
            continue
        texts = [instance.instruction, instance.detailed_instruction]
        for stage in worded_skills(task, instance):
            texts += [s.instruction for blocks in stage.values() for b in blocks for arm in b.values() for s in arm]
        for text in texts:
            found += [f"{text} ({fault})" for fault in faults_of_sentence(text)]
    return found


def audit(scene: Scene, record: EpisodeRecord) -> Audit:
    """Measure one demonstration; the state of the scene is overwritten."""
    qpos = recorded_qpos(scene, record)
    pictures = range(0, record.frames, EVERY)
    shares = [_shares(scene, record, pictures, camera) for camera in range(len(record.instance.cameras))]
    landings = [_landing(scene, record, span) for span in record.timeline if span.skill == "place"]
    tools = {(r, a.name): _tool_path(a, qpos) for r, robot in scene.robots.items() for a in robot.arms}
    return Audit(
        coverage=_or_nan(shares[0]) if shares else np.nan,
        seen=_or_nan(_seen(np.max(shares, axis=0))) if shares else np.nan,
        idle=_idle(scene, qpos, record),
        path_ratio=_path_ratio(record, tools),
        wrist_turn=max((_wrist_turn(scene, span, qpos) for span in record.timeline), default=np.nan),
        fall=max((fall for fall, _ in landings), default=np.nan),
        landing=max((depth for _, depth in landings), default=np.nan),
    )


def _or_nan(values: Array) -> float:
    mean = mean_or_none(values)
    return np.nan if mean is None else mean


def _seen(share: Array) -> Array:
    return np.where(np.isnan(share), np.nan, share > SEEN)


def _shares(scene: Scene, record: EpisodeRecord, pictures: Sequence[int], camera: int) -> Array:
    """Return the fraction of a camera's image (k,) covered by the handled objects; NaN in frames without any."""
    renderer, spec = Renderer(scene.world.model, "fast", looks=scene.looks), record.instance.cameras[camera]
    shares = np.full(len(pictures), np.nan)
    for k, frame in enumerate(pictures):
        spans = [span for span in record.timeline if span.start <= frame < span.end and span.objects]
        if not spans:
            continue
        scene.world.restore_state(record.states[frame])
        geoms = renderer.render(scene.world.data, [spec], ("segmentation",))[spec.name]["segmentation"].astype(int)
        shares[k] = sum(np.isin(geoms, _geoms(scene, name)).mean() for name in {span.objects[0] for span in spans})
    return shares


def _geoms(scene: Scene, name: str) -> NDArray[np.intp]:
    world = scene.world
    bodies = [world.body_index(body) for body in world.subtree(scene.body_of(name))]
    return np.flatnonzero(np.isin(world.model.geom_bodyid, bodies))


def _idle(scene: Scene, qpos: Array, record: EpisodeRecord) -> float:
    """Return the fraction of the dataset's frames in which no robot joint moves."""
    joints = [i for robot in scene.robots.values() for arm in robot.arms for i in arm.qpos_index]
    fingers = [i for robot in scene.robots.values() for arm in robot.arms for i in arm.gripper_qpos_index]
    bases = [i for robot in scene.robots.values() if robot.base is not None for i in robot.base.qpos_index]
    speed = np.abs(np.diff(qpos[:, [*joints, *fingers, *bases]], axis=0)) * record.instance.fps
    return float(np.mean(np.all(speed < STILL, axis=1)[record.kept]))


def _tool_path(arm: SceneArm, qpos: Array) -> Array:
    return (arm.chain().T_base_tool(qpos[:, arm.qpos_index], threads=1) @ arm.spec.T_tool_tcp)[:, :3, 3]


def _path_ratio(record: EpisodeRecord, tools: dict[tuple[str, str], Array]) -> float:
    """Return the tools' path length divided by the straight distance, for skills that carry or fetch."""
    length = straight = 0.0
    for span in record.timeline:
        if span.skill in CARRY:
            way = tools[span.robot, span.arm][span.start : span.end + 1]
            length += float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
            straight += _straight(way)
    return length / straight if straight > 0.0 else np.nan


def _straight(way: Array) -> float:
    """Return the length of the shortest path through the lowest point of a skill, where it grasps or releases [m]."""
    turn = int(np.argmin(way[:, 2]))
    return float(np.linalg.norm(way[turn] - way[0]) + np.linalg.norm(way[-1] - way[turn]))


def _wrist_turn(scene: Scene, span: SkillSpan, qpos: Array) -> float:
    wrist = qpos[span.start : span.end + 1, scene.robot(span.robot).arm(span.arm).qpos_index[-1]]
    return float(np.ptp(wrist)) if len(wrist) else 0.0


def _landing(scene: Scene, record: EpisodeRecord, span: SkillSpan) -> tuple[float, float]:
    """Return the height an object fell after the last finger left it, and its penetration into others [m]."""
    world, name = scene.world, span.objects[0]
    mine = world.subtree(scene.body_of(name))
    fingers = scene.robot(span.robot).arm(span.arm).finger_bodies
    released, height, deepest = False, np.nan, 0.0  # A suction cup has no fingers, so the fall is unknown.
    for state in record.states[span.start : span.end + 1]:
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(state), mujoco.mjtState.mjSTATE_INTEGRATION)
        world.forward()
        held = world.touching(fingers, mine)
        height = float(scene.object_pose(name)[2, 3]) if held else height
        released = released or not held
        for contact in world.contacts():
            pair = contact.body_a, contact.body_b
            if sum(body in mine for body in pair) == 1 and not any(body in fingers for body in pair):
                deepest = max(deepest, -contact.distance)
    return (height - float(scene.object_pose(name)[2, 3]) if released else 0.0), deepest
