"""The outcome of a run: funnel, reasons, rates."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from handloom.engine.runs.journal import Receipt
from handloom.values import FunnelStage

DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """Figures of a run, computed from receipts alone."""

    attempts: int
    episodes: int
    """Successful attempts."""
    funnel: dict[str, int]
    """Number of attempts that passed each stage."""
    failure_reasons: dict[str, int]
    """Typed reason > number of attempts, most frequent first."""
    failure_examples: dict[str, str]
    """Typed reason > the detail of its first occurrence."""
    robot_hours: float
    """Simulated time of the demonstrations [h]."""
    worker_seconds: dict[str, float]
    """Wall time of the workers by stage [s]."""
    cpu_seconds: float
    """CPU time of the workers [s]."""
    skill_seconds: dict[str, float]
    """Mean simulated time per skill and demonstration [s]."""
    disturbed: dict[str, int]
    """Object not involved in the task > attempts in which it was moved by more than 5 cm or fell over."""
    disturbed_attempts: int
    """Attempts in which that happened to any such object."""

    @property
    def success_rate(self) -> float:
        """Fraction of attempts that became demonstrations; 0 without attempts."""
        return self.episodes / self.attempts if self.attempts else 0.0

    @property
    def realtime_factor(self) -> float:
        """Seconds of demonstration per second of wall time on one core; 0 before any work."""
        work = sum(self.worker_seconds.values())
        return self.robot_hours * 3600.0 / work if work else 0.0

    @property
    def cpu_realtime_factor(self) -> float:
        """The same per second of CPU time: the rate of an otherwise idle machine."""
        return self.robot_hours * 3600.0 / self.cpu_seconds if self.cpu_seconds else 0.0

    def robot_hours_per_day(self, workers: int = 1) -> float:
        """Return the hours of demonstrations that a number of workers make per day."""
        return self.realtime_factor * workers * DAY / 3600.0

    def to_json(self, *, workers: int = 1) -> dict[str, object]:
        """Return the figures under their JSON names."""
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
            "cpu_realtime_factor": self.cpu_realtime_factor,
            "worker_seconds": self.worker_seconds,
            "skill_seconds": self.skill_seconds,
            "disturbed": self.disturbed,
            "disturbed_attempts": self.disturbed_attempts,
        }


class Tally:
    """Adds up receipts as they arrive; the cost of a report does not depend on their number."""

    def __init__(self, receipts: Iterable[Receipt] = ()) -> None:
        self._attempts = 0
        self._wins = 0
        self._seconds = 0.0
        self._cpu_seconds = 0.0
        self._lost: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._work: defaultdict[str, float] = defaultdict(float)
        self._skills: defaultdict[str, float] = defaultdict(float)
        self._disturbed: Counter[str] = Counter()
        self._disturbing = 0
        self.add(receipts)

    def add(self, receipts: Iterable[Receipt]) -> None:
        """Count further attempts."""
        work, skills = self._work, self._skills
        for receipt in receipts:
            self._attempts += 1
            for stage, seconds in receipt.seconds.items():
                work[stage] += seconds
            self._cpu_seconds += receipt.cpu_seconds
            self._disturbed.update(receipt.disturbed)
            self._disturbing += bool(receipt.disturbed)
            if receipt.success:
                self._wins += 1
                self._seconds += receipt.frames / receipt.fps
                for skill, seconds in receipt.skills.items():
                    skills[skill] += seconds
            else:
                self._lost[receipt.stage] += 1
                self._reasons[receipt.reason] += 1
                self._examples.setdefault(receipt.reason, receipt.detail)

    def report(self) -> RunReport:
        """Return the figures so far."""
        return RunReport(
            attempts=self._attempts,
            episodes=self._wins,
            funnel=self._funnel(),
            failure_reasons=dict(self._reasons.most_common()),
            failure_examples=dict(self._examples),
            robot_hours=self._seconds / 3600.0,
            worker_seconds=dict(self._work),
            cpu_seconds=self._cpu_seconds,
            skill_seconds={name: seconds / self._wins for name, seconds in self._skills.items()},
            disturbed=dict(self._disturbed.most_common()),
            disturbed_attempts=self._disturbing,
        )

    def _funnel(self) -> dict[str, int]:
        """Return the number of attempts that passed each stage, in order."""
        funnel, left = {"attempts": self._attempts}, self._attempts
        for stage in FunnelStage:
            left -= self._lost[stage]
            funnel[str(stage)] = left
        return funnel


def report_of(receipts: Iterable[Receipt]) -> RunReport:
    """Add up receipts."""
    return Tally(receipts).report()
