"""Evaluation of a policy on unseen scenes: success rate with confidence interval, progress, videos of failures."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from handloom.dataset import DatasetReader, record_of_archive, video_feature
from handloom.dataset.video.video_writer import VideoWriter
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.trust import demand_trusted
from handloom.episode.columns import rendered_frames
from handloom.safe_paths import safe_name
from handloom.scene import build_scene
from handloom.seeding import TEST_SEEDS

SURE = 1.959964
"""Standard deviations to either side that cover 95 % of a normal distribution."""

FAULTS = ("_error", "action_not_finite")
"""Suffix of failure reasons that are errors in the policy's code, independent of its training."""


def is_fault(reason: str) -> bool:
    """Return whether a policy failed because of an error in its own code."""
    return reason.endswith(FAULTS)


@dataclass(frozen=True, kw_only=True)
class PolicyEvaluation:
    """Outcome of a policy's attempts."""

    scenes: int
    successes: int
    success_rate: float
    interval: tuple[float, float]
    """Wilson's 95 % interval of the rate."""
    achieved: dict[str, int]
    """Skill of the task > scenes in which its success terms were reached, in order."""
    failure_reasons: dict[str, int]
    """Terms missing at the end, most frequent first."""
    faults: int
    """Scenes that ended in an error of the policy or the program, which do not reflect the policy's quality."""
    failed_episodes: tuple[int, ...]
    seed: int
    """Run seed of the scenes; scene ``i`` is its attempt ``i``."""
    mean_seconds: float
    """Simulated time of the successes [s]."""
    disturbed: dict[str, int]
    """Object not involved in the task > scenes in which it was moved by more than 5 cm or fell over."""
    disturbed_scenes: int
    """Scenes in which that happened to any such object."""

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return asdict(self)


def evaluation_of(receipts: Iterable[Receipt], *, seed: int) -> PolicyEvaluation:
    """Add up the receipts of a policy's run."""
    known = list(receipts)
    wins = [receipt for receipt in known if receipt.success]
    achieved: Counter[str] = Counter(name for receipt in known for name in receipt.skills)
    reasons = Counter(receipt.reason for receipt in known if not receipt.success)
    return PolicyEvaluation(
        scenes=len(known),
        successes=len(wins),
        success_rate=len(wins) / len(known) if known else 0.0,
        interval=wilson(len(wins), len(known)),
        achieved=dict(achieved.most_common()),
        failure_reasons=dict(reasons.most_common()),
        faults=sum(reasons[reason] for reason in reasons if is_fault(reason)),
        failed_episodes=tuple(receipt.episode for receipt in known if not receipt.success),
        seed=seed,
        mean_seconds=float(np.mean([receipt.frames / receipt.fps for receipt in wins])) if wins else 0.0,
        disturbed=dict(Counter(name for receipt in known for name in receipt.disturbed).most_common()),
        disturbed_scenes=sum(bool(receipt.disturbed) for receipt in known),
    )


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a rate; valid also near 0 and 1 and for few trials."""
    if trials == 0:
        return 0.0, 1.0
    rate, z = successes / trials, SURE
    middle = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    low, high = ((middle + sign * spread) / (1 + z * z / trials) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def evaluation_seed(seed: int) -> int:
    """Return the run seed of the ``seed``-th set of test scenes, which ``generate`` uses only on request."""
    return TEST_SEEDS + seed


def failure_videos(run: RunDirectory, folder: Path, *, most: int) -> Iterator[Path]:
    """Render videos of the first failures, all cameras side by side, and yield their files."""
    if most < 1 or not (run.failures / "meta" / "info.json").is_file():
        return
    failures = DatasetReader(run.failures)
    folder.mkdir(parents=True, exist_ok=True)
    for episode in failures.episodes[:most]:
        record = record_of_archive(failures.archive(episode.index, check=False))
        demand_trusted(record.instance, failures.archive_folder(episode.index))
        scene = build_scene(record.instance)
        reason = record.failure.reason if record.failure else ""
        file = folder / safe_name(f"scene_{record.instance.episode:04d}_{reason}.mp4")
        frames = rendered_frames(scene, record, preset="fast")
        first = _side_by_side(next(frames))
        feature = video_feature("failure", height=first.shape[0], width=first.shape[1])
        with VideoWriter(file, feature, fps=record.instance.fps) as video:
            video.add(first)
            for images in frames:
                video.add(_side_by_side(images))
        yield file


def _side_by_side(images: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return one image of all cameras, each scaled to the smallest height."""
    pictures = [np.asarray(kinds["rgb"]) for kinds in images.values()]
    height = min(len(picture) for picture in pictures)
    return np.concatenate([picture[:height] for picture in pictures], axis=1)
