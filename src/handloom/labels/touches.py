"""Contacts of robots and objects, and the grasps they form."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset.episodes.episode_outcome import Scalar
from handloom.labels import arrow_rows
from handloom.labels.cameras import pixels_of
from handloom.labels.motion import EpisodeMotion, motion_of
from handloom.scene import Scene
from handloom.spatial import invert_pose
from handloom.values import MARK, CameraSpec, EpisodeRecord, SkillSpan

TOUCHING = 1e-3
"""Distance up to which surfaces count as touching [m]; resting objects hover by less than this in physics."""
LEAST_HOLD = 0.3
"""Time for which fingers must hold an object for it to count as a grasp [s]."""
GAP = 0.1
"""Loss of contact shorter than this does not end a grasp [s]."""
RECTANGLE_HEIGHT = 0.02
"""Height of a grasp rectangle across the closing direction [m]: about a finger's width."""


def contact_column(motion: EpisodeMotion) -> pa.Array:
    """Return the column ``contacts``: the points at which a movable body touches anything, in every frame."""
    found, model = motion.contacts, motion.scene.world.model
    bodies = model.geom_bodyid[found.geoms]
    moves = model.body_weldid[bodies] != 0
    keep = (found.distance <= TOUCHING) & moves.any(axis=1)
    frame, bodies = found.frame[keep], bodies[keep]
    labels = [model.body(k).name or "world" for k in range(model.nbody)]
    owners = [label.partition("/")[0] for label in labels]
    parts = [label.partition("/")[2] or "object" for label in labels]
    fields = {
        "first": arrow_rows.names(owners, bodies[:, 0]),
        "first_part": arrow_rows.names(parts, bodies[:, 0]),
        "second": arrow_rows.names(owners, bodies[:, 1]),
        "second_part": arrow_rows.names(parts, bodies[:, 1]),
        "point_world": arrow_rows.vectors(found.position[keep]),
        "normal_world": arrow_rows.vectors(found.normal[keep]),
        "distance": arrow_rows.numbers(found.distance[keep]),
    }
    return arrow_rows.ragged(np.bincount(frame, minlength=motion.frames), fields)


@dataclass(frozen=True, kw_only=True, eq=False)
class Grasp:
    """An executed grasp: pose of the closed fingers on the object."""

    robot: str
    arm: str
    object: str
    part: str
    """Body of the object that was held."""
    body: int
    """Its id in the model."""
    start: int
    """First frame of the hold."""
    stop: int
    """One past its last frame."""
    T_body_grasp: Array
    """Tool centre on the body (4, 4) with GraspNet axes: x approach, y closing."""
    width: float
    """Opening of the gripper [m]."""


def grasps_of(motion: EpisodeMotion) -> tuple[Grasp, ...]:
    """Return every grasp of the episode, in order of time: two fingers, or a suction cup, on one body for a while."""
    found = []
    fps = motion.record.instance.fps
    model, world = motion.scene.world.model, motion.scene.world
    bodies = model.geom_bodyid[motion.contacts.geoms]
    close = motion.contacts.distance <= TOUCHING
    for robot, arm in motion.arms():
        fingers = np.array([world.body_index(name) for name in arm.finger_bodies], np.int64)
        T_world_tcp = motion.T_world_tcp(arm)
        needed = min(2, len(fingers)) if arm.suction is None else 1
        for body in _touched(bodies[close], fingers, owners=motion.scene.assets, model=model):
            hands = np.zeros((motion.frames, len(fingers)), bool)
            for first, second in ((0, 1), (1, 0)):
                mine = close & (bodies[:, second] == body) & np.isin(bodies[:, first], fingers)
                hands[motion.contacts.frame[mine], np.searchsorted(np.sort(fingers), bodies[mine, first])] = True
            for start, stop in _stretches(hands.sum(axis=1) >= needed, gap=round(GAP * fps)):
                if stop - start < LEAST_HOLD * fps:
                    continue
                owner, _, part = model.body(body).name.partition("/")
                T_tool = invert_pose(motion.T_world_body[start, body]) @ T_world_tcp[start]
                T_tool[:3, :3] = T_tool[:3, :3] @ arm.spec.R_ee_graspnet
                found.append(
                    Grasp(
                        robot=robot,
                        arm=arm.name,
                        object=owner,
                        part=part,
                        body=int(body),
                        start=start,
                        stop=stop,
                        T_body_grasp=T_tool,
                        width=_opening(motion, arm, start),
                    )
                )
    return tuple(sorted(found, key=lambda grasp: (grasp.start, grasp.robot, grasp.arm, grasp.object)))


def _touched(bodies: NDArray[np.int64], fingers: NDArray[np.int64], *, owners: object, model: object) -> list[int]:
    """Return the bodies of objects that any of the fingers touches."""
    beside = [bodies[np.isin(bodies[:, k], fingers), 1 - k] for k in (0, 1)]
    found = np.unique(np.concatenate(beside))
    return [int(body) for body in found if model.body(int(body)).name.partition("/")[0] in owners]  # pyright: ignore


def _stretches(held: NDArray[np.bool_], *, gap: int) -> list[tuple[int, int]]:
    """Return first and one past the last frame of every span, bridging short losses."""
    frames = np.flatnonzero(held)
    if not len(frames):
        return []
    cuts = np.flatnonzero(np.diff(frames) > gap + 1)
    starts = frames[np.concatenate([[0], cuts + 1])]
    ends = frames[np.concatenate([cuts, [len(frames) - 1]])] + 1
    return [(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def _opening(motion: EpisodeMotion, arm: object, frame: int) -> float:
    spec = arm.spec  # pyright: ignore[reportAttributeAccessIssue]
    drive = motion.qpos[frame, arm.gripper_qpos_index[0]]  # pyright: ignore[reportAttributeAccessIssue]
    share = (drive - spec.gripper_closed[0]) / (spec.gripper_open[0] - spec.gripper_closed[0])
    return float(spec.gripper_min_width + np.clip(share, 0.0, 1.0) * (spec.gripper_max_width - spec.gripper_min_width))


def grasp_column(motion: EpisodeMotion, grasps: Sequence[Grasp], cameras: Sequence[CameraSpec]) -> pa.Array:
    """Return the column ``grasps``: every grasp of the episode on its object, as point and rectangle in each image.

    Grasps are fixed to the object, so frames before the grasp show where the object will be held.
    """
    frames = motion.frames
    rows = [(camera, grasp) for camera in cameras for grasp in grasps]
    which = arrow_rows.every_frame(frames, rows)
    world, center, corners = [], [], []
    for camera, grasp in rows:
        T = motion.T_world_body[:, grasp.body] @ grasp.T_body_grasp
        y, z = grasp.width / 2, RECTANGLE_HEIGHT / 2
        local = np.array([[0, 0, 0], [0, -y, -z], [0, y, -z], [0, y, z], [0, -y, z]], float)
        points = np.einsum("kij,nj->kni", T[:, :3, :3], local) + T[:, None, :3, 3]
        pixels, _ = pixels_of(camera, motion.T_world_camera(camera), points)
        world.append(points[:, 0])
        center.append(pixels[:, 0])
        corners.append(pixels[:, 1:].reshape(frames, 8))
    stacked = [np.stack(v, axis=1).reshape(-1, n) if v else np.zeros((0, n)) for v, n in
               ((world, 3), (center, 2), (corners, 8))]  # fmt: skip
    fields = {
        "camera": arrow_rows.names([camera.name for camera, _ in rows], which),
        "robot": arrow_rows.names([grasp.robot for _, grasp in rows], which),
        "arm": arrow_rows.names([grasp.arm for _, grasp in rows], which),
        "object": arrow_rows.names([grasp.object for _, grasp in rows], which),
        "part": arrow_rows.names([grasp.part for _, grasp in rows], which),
        "start": arrow_rows.numbers(np.array([g.start for _, g in rows], np.int64)[which], dtype=np.int64),
        "stop": arrow_rows.numbers(np.array([g.stop for _, g in rows], np.int64)[which], dtype=np.int64),
        "width": arrow_rows.numbers(np.array([g.width for _, g in rows])[which]),
        "point_world": arrow_rows.vectors(stacked[0]),
        "pixel": arrow_rows.vectors(stacked[1]),
        "rectangle": arrow_rows.vectors(stacked[2]),
    }
    return arrow_rows.ragged(np.full(frames, len(rows)), fields)


FAILURE_FRAME, FAILURE_SKILL, PAIRS = "failure_frame", "failure_skill", "mistake_pairs"


def failure_facts(scene: Scene, record: EpisodeRecord) -> dict[str, Scalar]:
    """Return further columns of the episode table; none for an episode without mistakes.

    ``failure_frame`` is the frame of the demonstration in which the attempt failed: the last one in which
    the object of the failed skill was held, if it was lost on the way, otherwise the last frame of that skill.
    ``failure_skill`` names it; empty if time ran out. ``mistake_pairs`` is JSON: a list of spans, first frame and one
    past the last, of each mistake and of the skill that recovered from it.

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: The recorded episode.
    """
    facts: dict[str, Scalar] = {}
    if record.failure is not None:
        failed = _failed_span(record)
        facts[FAILURE_SKILL] = record.failure.skill or (failed.skill if failed else "")
        facts[FAILURE_FRAME] = _shown(record, _moment(scene, record, failed))
    if pairs := mistake_pairs(record):
        facts[PAIRS] = json.dumps(pairs)
    return facts


def _failed_span(record: EpisodeRecord) -> SkillSpan | None:
    """Return the skill that failed; the last one if every skill succeeded but the goal was missed."""
    spans = [span for span in record.timeline if span.skill != MARK]
    failed = [span for span in spans if not span.success and span.kind != "mistake"]
    return max(failed or spans, key=lambda span: (span.end, span.start), default=None)


def _moment(scene: Scene, record: EpisodeRecord, failed: SkillSpan | None) -> int:
    """Return the frame of the recording in which the failure occurred."""
    last = record.frames - 1
    if failed is None:
        return last
    end = min(max(failed.end - 1, 0), last)
    kept = record.kept
    for grasp in reversed(grasps_of(motion_of(scene, record, contacts=True))):
        let_go = int(kept[min(grasp.stop, len(kept)) - 1])
        if grasp.object in failed.objects and failed.start <= let_go < end:
            return let_go
    return end


def _shown(record: EpisodeRecord, frame: int) -> int:
    """Return the index of a frame in the demonstration, which omits some frames."""
    return max(int((record.kept <= frame).sum()) - 1, 0)


def mistake_pairs(record: EpisodeRecord) -> list[dict[str, object]]:
    """Return every mistake with the recovery of the same arm that follows it, in frames of the demonstration."""
    pairs: list[dict[str, object]] = []
    for mistake in (span for span in record.timeline if span.kind == "mistake"):
        after = [
            span
            for span in record.timeline
            if span.kind == "recovery" and (span.robot, span.arm) == (mistake.robot, mistake.arm)
            and span.start >= mistake.end
        ]  # fmt: skip
        if after:
            recovery = min(after, key=lambda span: span.start)
            pairs.append(
                {
                    "skill": mistake.skill,
                    "objects": list(mistake.objects),
                    "mistake": [_shown(record, mistake.start), _shown(record, mistake.end - 1) + 1],
                    "recovery": [_shown(record, recovery.start), _shown(record, recovery.end - 1) + 1],
                }
            )
    return pairs
