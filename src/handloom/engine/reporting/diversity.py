"""Diversity of the demonstrations of a dataset: positions, grasps and paths."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.dataset import DatasetReader, record_of_archive
from handloom.dataset.files.reading import damage_named
from handloom.engine.trust import demand_trusted
from handloom.robots import Arm, load_robot
from handloom.spatial import matrix_from_quat
from handloom.values import EpisodeRecord, SkillSpan

MOST_EPISODES = 200
"""Maximum number of points; more would only blacken the charts."""
LARGE = 2000
NEIGHBOURS = 5
"""Datasets with more episodes than this are examined in groups of this many consecutive episodes: opening a file with
thousands of episodes takes longer than reading some of them."""

PATH_POINTS = 60


@dataclass(frozen=True, kw_only=True)
class Diversity:
    """The parts of the demonstrations that can be drawn; empty if the columns lack them."""

    episodes: int
    """Number of demonstrations examined."""
    starts: dict[str, Array] = field(default_factory=dict)
    """Movable object > start positions (n, 2) [m]."""
    robots: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Robot > its position [m]."""
    approaches: dict[str, Array] = field(default_factory=dict)
    """Grasped object > approach direction of the hand (n, 3), in the object's frame."""
    paths: tuple[Array, ...] = ()
    """Paths of the hands in the world (m, 3) [m]."""

    @property
    def path_spread(self) -> float:
        """Distance between two hands at equal fractions of their time, root mean square [m]; 0 for fewer than two."""
        if len(self.paths) < 2:
            return 0.0
        paths = np.array([_resampled(path) for path in self.paths])
        centre = paths.mean(axis=0)
        # The mean over pairs follows from the spread around the mean path, without comparing every pair.
        return float(np.sqrt(2.0 * np.square(paths - centre).sum(axis=2).mean()))


def diversity_of(dataset: DatasetReader) -> Diversity:
    """Examine the demonstrations of a dataset, evenly sampled if there are many."""
    chosen = chosen_episodes(dataset.episode_count)
    starts: dict[str, list[Any]] = {}
    approaches: dict[str, list[Any]] = {}
    robots: dict[str, tuple[float, float]] = {}
    paths: list[Array] = []
    arms: dict[str, tuple[Arm, ...]] = {}
    for index in chosen:
        with damage_named(dataset.archive_folder(index)):
            record = record_of_archive(dataset.archive(index, check=False))
            demand_trusted(record.instance, dataset.archive_folder(index))
            hands = _Hands(dataset, index, record, _arms(record, arms))
            paths += hands.paths()
            for name, direction in hands.grasps():
                approaches.setdefault(name, []).append(direction)
        for obj in record.instance.objects:
            if not obj.fixed:
                starts.setdefault(obj.name, []).append(obj.position[:2])
        for robot in record.instance.robots:
            robots[robot.name] = robot.position[:2]
    return Diversity(
        episodes=len(chosen),
        starts={name: np.array(places) for name, places in starts.items()},
        robots=robots,
        approaches={name: np.array(vectors) for name, vectors in approaches.items()},
        paths=tuple(paths),
    )


def chosen_episodes(count: int) -> list[int]:
    """Return the episodes to examine: all, or evenly spaced ones; of a large dataset, evenly spaced groups."""
    if count <= LARGE:
        return np.unique(np.linspace(0, count - 1, min(count, MOST_EPISODES)).astype(int)).tolist()
    firsts = np.linspace(0, count - NEIGHBOURS, MOST_EPISODES // NEIGHBOURS).astype(int)
    return (firsts[:, None] + np.arange(NEIGHBOURS)).ravel().tolist()


def _arms(record: EpisodeRecord, known: dict[str, tuple[Arm, ...]]) -> dict[str, tuple[Arm, ...]]:
    """Return the arms of every robot by its name, loading robots that are not known yet."""
    for robot in record.instance.robots:
        if robot.name not in known:
            known[robot.name] = load_robot(robot.robot, overrides=robot.overrides).arms
    return known


class _Hands:
    """The hands of one demonstration, read from the canonical columns."""

    def __init__(
        self, dataset: DatasetReader, index: int, record: EpisodeRecord, arms: dict[str, tuple[Arm, ...]]
    ) -> None:
        self.dataset = dataset
        self.record = record
        self.arms = arms
        self.frames = dataset.frames(index)

    def paths(self) -> list[Array]:
        """Return the path (n, 3) of every hand that moved."""
        found = []
        for robot in self.record.instance.robots:
            name = self._column(robot.name, "observation.ee_pose.world")
            poses = self.frames.get(name)
            if poses is not None:
                hands = [poses[:, k : k + 3].astype(float) for k in range(0, poses.shape[1], 7)]
                found += [hand for hand in hands if np.ptp(hand, axis=0).max() > 0.02]
        return found

    def grasps(self) -> Iterator[tuple[str, Array]]:
        """Yield every object a hand closed on during a skill, and the direction the hand pointed in its frame."""
        seen: set[str] = set()
        for span in sorted(self.record.timeline, key=lambda span: span.start):
            if not span.objects or span.objects[0] in seen:
                continue
            direction = self._direction_when_closing(span)
            obj = next((o for o in self.record.instance.objects if o.name == span.objects[0]), None)
            if direction is not None and obj is not None:
                seen.add(obj.name)  # Later it is no longer at its pose in the instance.
                yield obj.name, matrix_from_quat(np.array(obj.quat)).T @ direction

    def _direction_when_closing(self, span: SkillSpan) -> Array | None:
        """Return the direction of a skill's hand when it closed (3,), in the world; None if it did not close."""
        poses = self.frames.get(self._column(span.robot, "observation.ee_pose.world"))
        action = self._column(span.robot, "action")
        if poses is None or action not in self.frames:
            return None
        arms = self.arms[span.robot]
        number = next((k for k, arm in enumerate(arms) if arm.name == span.arm), 0)
        names = self.dataset.table[action].names or ()
        grippers = [k for k, name in enumerate(names) if name.endswith("gripper")]
        if number >= len(grippers):
            return None
        first, last = np.searchsorted(self.record.kept, [span.start, span.end])
        opening = self.frames[action][first:last, grippers[number]]
        closing = np.flatnonzero((opening[:-1] >= 0.5) & (opening[1:] < 0.5))
        if not len(closing):
            return None
        quat = poses[first + closing[0], 7 * number + 3 : 7 * number + 7].astype(float)
        return matrix_from_quat(quat) @ arms[number].approach

    def _column(self, robot: str, name: str) -> str:
        return name if len(self.record.instance.robots) == 1 else f"{robot}.{name}"


def _resampled(path: Array) -> Array:
    """Return a path at equal fractions of its time (PATH_POINTS, 3)."""
    times = np.linspace(0, len(path) - 1, PATH_POINTS)
    return np.stack([np.interp(times, np.arange(len(path)), path[:, axis]) for axis in range(3)], axis=1)
