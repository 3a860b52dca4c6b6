"""What became of a run: funnel, reasons, rates."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from handloom.engine.receipt import Receipt
from handloom.values import Stage

DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """Figures of a run, computed from receipts alone."""

    attempts: int
    episodes: int
    """Successful attempts."""
    funnel: dict[str, int]
    """How many attempts came past each stage."""
    failure_reasons: dict[str, int]
    """Typed reason > how often, most frequent first."""
    failure_examples: dict[str, str]
    """Typed reason > the detail of its first occurrence."""
    robot_hours: float
    """Simulated time of the demonstrations [h]."""
    worker_seconds: dict[str, float]
    """Wall time of the workers by stage [s]."""
    skill_seconds: dict[str, float]
    """Mean simulated time per skill and demonstration [s]."""

    @property
    def success_rate(self) -> float:
        """Share of attempts that became demonstrations; 0 without attempts."""
        return self.episodes / self.attempts if self.attempts else 0.0

    @property
    def realtime_factor(self) -> float:
        """Seconds of demonstration per second of one core's work; 0 without work."""
        work = sum(self.worker_seconds.values())
        return self.robot_hours * 3600.0 / work if work else 0.0

    def robot_hours_per_day(self, workers: int = 1) -> float:
        """Return the hours of demonstrations that this many workers make in a day."""
        return self.realtime_factor * workers * DAY / 3600.0

    def to_json(self, *, workers: int = 1) -> dict[str, object]:
        """Return the figures under the names machines read."""
        return {
            "attempts": self.attempts,
            "episodes": self.episodes,
            "success_rate": self.success_rate,
            "funnel": self.funnel,
            "failure_reasons": self.failure_reasons,
            "failure_examples": self.failure_examples,
            "robot_hours": self.robot_hours,
            "robot_hours_per_day": self.robot_hours_per_day(workers),
            "realtime_factor": self.realtime_factor,
            "worker_seconds": self.worker_seconds,
            "skill_seconds": self.skill_seconds,
        }


def report_of(receipts: Iterable[Receipt]) -> RunReport:
    """Add up receipts."""
    all_receipts = list(receipts)
    wins = [receipt for receipt in all_receipts if receipt.success]
    losses = [receipt for receipt in all_receipts if not receipt.success]
    reasons = Counter(receipt.reason for receipt in losses)
    examples: dict[str, str] = {}
    for receipt in losses:
        examples.setdefault(receipt.reason, receipt.detail)
    work: Counter[str] = Counter()
    for receipt in all_receipts:
        work.update(receipt.seconds)
    skills: Counter[str] = Counter()
    for receipt in wins:
        skills.update(receipt.skills)
    return RunReport(
        attempts=len(all_receipts),
        episodes=len(wins),
        funnel=_funnel(losses, len(all_receipts)),
        failure_reasons=dict(reasons.most_common()),
        failure_examples=examples,
        robot_hours=sum(receipt.frames / receipt.fps for receipt in wins) / 3600.0,
        worker_seconds=dict(work),
        skill_seconds={name: seconds / len(wins) for name, seconds in skills.items()},
    )


def _funnel(losses: list[Receipt], attempts: int) -> dict[str, int]:
    """Return how many attempts came past each stage, in order."""
    lost = Counter(receipt.stage for receipt in losses)
    funnel, left = {"attempts": attempts}, attempts
    for stage in Stage:
        left -= lost[stage]
        funnel[str(stage)] = left
    return funnel
