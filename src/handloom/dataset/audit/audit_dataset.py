"""Quality figures of a dataset, to check before training: idle time, jerk, jumps, near-duplicates, blur."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.episodes.archive import LABEL_FILES
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.errors import InputError

BLURRED = 1e-4
"""Variance of the Laplacian of brightness (0 to 1) below which an image is blurred or empty."""
DARK, BRIGHT = 0.12, 0.92
"""Mean brightness, 0 to 1, below which an image is too dark and above which too bright."""
FLAT = 0.02
"""Standard deviation of brightness below which an image counts as empty."""


@dataclass(kw_only=True)
class PictureFigures:
    """Figures of one camera."""

    sharpness: list[float] = field(default_factory=list)
    brightness: list[float] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Add an image (h, w, 3)."""
        gray = picture.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32) / 255.0
        laplacian = -4 * gray[1:-1, 1:-1] + gray[:-2, 1:-1] + gray[2:, 1:-1] + gray[1:-1, :-2] + gray[1:-1, 2:]
        self.sharpness.append(float(laplacian.var()))
        self.brightness.append(float(gray.mean()))
        self.spread.append(float(gray.std()))

    def share(self, which: str) -> float:
        """Return the fraction of images that are ``blurred``, ``dark``, ``bright`` or ``empty``."""
        tests = {
            "blurred": np.array(self.sharpness) < BLURRED,
            "dark": np.array(self.brightness) < DARK,
            "bright": np.array(self.brightness) > BRIGHT,
            "empty": np.array(self.spread) < FLAT,
        }
        return float(tests[which].mean()) if self.brightness else float("nan")


Numbers = NDArray[np.float64]

IDLE = 1e-3
"""Motion per frame below which a channel counts as still, as a fraction of its range."""
JUMP = 0.25
"""Change of an action between frames that counts as a jump, as a fraction of the range."""
NARROW = 1e-6
"""Range below which a channel counts as constant and is ignored."""
BINS = 10
"""Number of bins for start positions along a channel's range."""


@dataclass(kw_only=True)
class MotionFigures:
    """Sums over episodes; episodes are processed one after another."""

    low: Numbers
    """Minimum action of every channel (n,)."""
    high: Numbers
    fps: int
    frames: int = 0
    idle: int = 0
    jumps: int = 0
    clipped: int = 0
    longest_idle: int = 0
    jerks: list[float] = field(default_factory=list)
    """Per episode: root mean square of the third difference of its actions, in ranges per second cubed."""
    starts: list[Numbers] = field(default_factory=list)
    """First state of every episode as fractions of the range."""
    hashes: Counter[str] = field(default_factory=Counter)
    """Episodes with the same actions."""

    def add(self, actions: NDArray[np.floating], states: NDArray[np.floating]) -> None:
        """Add an episode: actions and states (k, n)."""
        wide = self.high - self.low > NARROW
        shares = (actions.astype(np.float64) - self.low)[:, wide] / (self.high - self.low)[wide]
        self.frames += len(shares)
        steps = np.abs(np.diff(shares, axis=0))
        if len(steps) and steps.shape[1]:
            still = steps.max(axis=1) < IDLE
            self.idle += int(still.sum())
            self.longest_idle = max(self.longest_idle, _longest(still))
            self.jumps += int((steps > JUMP).any(axis=1).sum())
        if len(shares) > 3 and shares.shape[1]:
            self.jerks.append(float(np.sqrt(np.mean(np.diff(shares, n=3, axis=0) ** 2)) * self.fps**3))
        self.clipped += int(((shares <= 0.0) | (shares >= 1.0)).any(axis=1).sum()) if shares.shape[1] else 0
        self.starts.append(states[0].astype(np.float64))
        self.hashes[hashlib.sha256(np.ascontiguousarray(np.round(actions, 6)).tobytes()).hexdigest()] += 1

    @property
    def duplicates(self) -> int:
        """Episodes with the same actions as an earlier one."""
        return sum(count - 1 for count in self.hashes.values())

    def start_concentration(self) -> float:
        """Return the largest fraction of episodes that start in one tenth of the range of the channel that varies most.

        Evenly distributed starts give 0.1 to 0.3; identical starts give 1.
        """
        starts = np.array(self.starts)
        if len(starts) < 2:
            return float("nan")
        spread = np.ptp(starts, axis=0)
        channel = int(np.argmax(spread))
        if spread[channel] < NARROW:
            return 1.0
        counts, _ = np.histogram(starts[:, channel], bins=BINS)
        return float(counts.max() / len(starts))


def _longest(still: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max()) if len(edges) else 0


EPISODES_LOOKED_AT = 20
"""Episodes whose images are examined."""
PICTURES = 3
"""Images examined per episode and camera."""
FEW = 20
"""Number of episodes below which variety is not required."""
MOTION = {
    "idle": ("share of frames", "no action changes by 0.1 % of its range: cut pauses, or a policy learns to wait"),
    "longest pause": ("s", "the longest idle stretch"),
    "jerk": ("ranges/s^3", "third derivative of actions, 95th percentile over episodes: smooth or re-time them"),
    "jumps": ("share of frames", "an action changes by a quarter of its range in one frame: look for lost frames"),
    "clipped": ("share of frames", "an action is at the end of its range: limits or scaling clip it"),
    "duplicates": ("episodes", "the same actions as an earlier episode: drop them"),
    "starts": ("largest share in one tenth", "episodes start in the same state: vary the start"),
    "lengths": ("longest over median", "episodes much longer than the others often contain mistakes"),
}
"""Figure of motion > unit, meaning and advice. Grippers and other switches are excluded."""


@dataclass(frozen=True, kw_only=True)
class AuditFinding:
    """One figure, and whether it needs attention."""

    name: str
    value: float
    unit: str
    fine: bool
    meaning: str
    """Meaning of the figure, and advice if it is poor."""


def audit_dataset(root: Path, *, action: str = "action", state: str = "observation.state") -> tuple[AuditFinding, ...]:
    """Return the figures of any LeRobot v3 dataset.

    Args:
        root: The dataset.
        action: Column of the actions.
        state: Column of the states; the actions if the column does not exist.

    Raises:
        InputError: There is no such column, or no episode.
    """
    dataset = DatasetReader(root)
    names = [feature.name for feature in dataset.table.columns]
    if action not in names:
        raise InputError(f"{root} has no column {action!r}; name one of: {', '.join(names)}")
    if not dataset.episodes:
        raise InputError(f"{root} has no episodes")
    return (*_motion(dataset, action, state if state in names else action), *_pictures(dataset), *_words(dataset),
            *_labels(dataset))  # fmt: skip


def _motion(dataset: DatasetReader, action: str, state: str) -> Iterator[AuditFinding]:
    ranges = [(frames.min(axis=0), frames.max(axis=0)) for frames in _columns(dataset, action)]
    low = np.min([r[0] for r in ranges], axis=0).astype(np.float64)
    high = np.max([r[1] for r in ranges], axis=0).astype(np.float64)
    smooth = ~_switches(dataset, action, low, high)
    figures = MotionFigures(low=low[smooth], high=high[smooth], fps=dataset.fps)
    for actions, states in zip(_columns(dataset, action), _columns(dataset, state), strict=True):
        figures.add(actions[:, smooth], states)
    frames = max(figures.frames, 1)
    jerk = float(np.percentile(figures.jerks, 95)) if figures.jerks else float("nan")
    lengths = np.array([episode.length for episode in dataset.episodes])
    starts = figures.start_concentration()
    found = {
        "idle": (figures.idle / frames, 0.3),
        "longest pause": (figures.longest_idle / dataset.fps, 3.0),
        "jerk": (jerk, 400.0),
        "jumps": (figures.jumps / frames, 0.005),
        "clipped": (figures.clipped / frames, 0.2),
        "duplicates": (float(figures.duplicates), 0.0),
        "starts": (starts, 0.6 if len(lengths) >= FEW else 1.0),
        "lengths": (float(lengths.max() / max(np.median(lengths), 1)), 3.0),
    }
    for name, (value, most) in found.items():
        unit, meaning = MOTION[name]
        yield AuditFinding(name=name, value=value, unit=unit, fine=not value > most, meaning=meaning)


def _switches(dataset: DatasetReader, action: str, low: np.ndarray, high: np.ndarray) -> NDArray[np.bool_]:
    """Return whether each channel (n,) is a switch, such as a gripper: 9 of 10 values are at an end of the range."""
    at_end, total = np.zeros(len(low)), 0
    for frames in _columns(dataset, action):
        share = (frames - low) / np.maximum(high - low, 1e-12)
        at_end += ((share < 0.02) | (share > 0.98)).sum(axis=0)
        total += len(frames)
    return at_end > 0.9 * total


def _columns(dataset: DatasetReader, name: str) -> Iterator[np.ndarray]:
    for episode in dataset.episodes:
        yield dataset.frames(episode.index)[name]


def _pictures(dataset: DatasetReader) -> Iterator[AuditFinding]:
    count = len(dataset.episodes)
    step = max(1, count // EPISODES_LOOKED_AT)
    for feature in dataset.table.videos:
        if not feature.is_colour:
            continue
        figures = PictureFigures()
        for index in range(0, count, step):
            length = dataset.episode(index).length
            for frame in sorted({k * (length - 1) // max(PICTURES - 1, 1) for k in range(PICTURES)}):
                figures.add(dataset.image(index, feature.name, frame))
        camera = feature.name.removeprefix("observation.images.")
        for kind, advice in (
            ("blurred", "focus, exposure or codec"),
            ("dark", "light or exposure"),
            ("bright", "exposure"),
            ("empty", "the camera shows nothing"),
        ):
            share = figures.share(kind)
            meaning = f"images of {camera} that are {kind}: {advice}"
            yield AuditFinding(name=f"{kind} ({camera})", value=share, unit="share", fine=share < 0.05, meaning=meaning)


def _words(dataset: DatasetReader) -> Iterator[AuditFinding]:
    count = len(dataset.episodes)
    told = Counter(task for episode in dataset.episodes for task in episode.tasks)
    words = float(np.mean([len(task.split()) for task in told])) if told else 0.0
    yield AuditFinding(name="instructions", value=len(told), unit="different", fine=len(told) > 1 or count < FEW,
                  meaning="a single wording teaches a policy to ignore words")  # fmt: skip
    yield AuditFinding(name="words", value=words, unit="per instruction", fine=words >= 3.0,
                  meaning="an instruction of one or two words carries little information")  # fmt: skip
    most = max(told.values()) / max(count, 1) if told else 1.0
    fine = most <= 0.5 or count < FEW
    yield AuditFinding(name="most common instruction", value=most, unit="share of episodes", fine=fine,
                       meaning="instructions are unevenly distributed")  # fmt: skip


def _labels(dataset: DatasetReader) -> Iterator[AuditFinding]:
    """Compare the sub-tasks in the labels with those in the frames, if both exist."""
    agree = total = 0
    for episode in dataset.episodes:
        files = dataset.archive_files(episode.index)
        if not dataset.subtasks or not files.has(LABEL_FILES[0]):
            continue
        with files.parquet(LABEL_FILES[0]) as stored:
            if "subtask" not in stored.schema_arrow.names:
                continue
            told = stored.read(columns=["subtask"], use_threads=False)["subtask"].to_pylist()
        numbers = dataset.rows(episode.index)["subtask_index"].to_pylist()
        total += len(numbers)
        agree += sum(
            label == dataset.subtasks[number] or (label is None and dataset.subtasks[number] == "idle")
            for label, number in zip(told, numbers, strict=True)
        )
    if total:
        yield AuditFinding(name="label agreement", value=agree / total, unit="share of frames", fine=agree == total,
                      meaning="labels and frames should name the same sub-task; otherwise label again")  # fmt: skip
