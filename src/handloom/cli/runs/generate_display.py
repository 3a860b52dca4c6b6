"""The progress display of a run (a bar in a terminal, otherwise lines), and the rule that stops a hopeless run."""

import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from handloom.cli.datasets.report import advice
from handloom.cli.terminal import plain
from handloom.engine import Goal, Receipt, Tally

FIRST_ATTEMPTS = 10
"""Attempts after which the user gets advice if most failed, and the run stops if all failed for the same reason."""
LEAST_STEP, MOST_LINES = 5, 20
"""Without a terminal: minimum attempts per printed line, and maximum lines in total."""


class GenerateDisplay:
    """Shows attempts, success rate, episodes per hour, robot hours per hour, time left and the most frequent failures.

    Args:
        goal: When the run ends.
        quiet: Show nothing.
        advise: Give advice if most of the first attempts fail.
    """

    def __init__(self, goal: Goal, *, quiet: bool = False, advise: bool = False) -> None:
        self.goal = goal
        self.advise = advise
        self.console = Console(stderr=True, quiet=quiet)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.console,
        )
        total = goal.successes if goal.successes is not None else goal.bound
        self.bar = self.progress.add_task("demonstrations" if goal.successes is not None else "attempts", total=total)
        self.line = Text("starting workers")
        self.live = Live(Group(self.progress, self.line), console=self.console, refresh_per_second=4, transient=True)
        self.begin = time.monotonic()
        self.tally: Tally | None = None
        self.told: set[str] = set()
        """Failure reasons that have already been explained."""
        self.step = max(LEAST_STEP, int(total) // MOST_LINES)
        self.next_line = self.step

    def __enter__(self) -> "GenerateDisplay":
        self.live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.live.__exit__(None, None, None)

    def note(self, text: str) -> None:
        """Show a line above the display."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def update(self, receipts: dict[int, Receipt]) -> None:
        """Show the state of the run after further attempts; the first call passes those made before a resume."""
        if self.tally is None:
            self.tally = Tally(receipts.values())
            before = self.tally.report()
            self.episodes_before, self.hours_before = before.episodes, before.robot_hours
        else:
            self.tally.add(receipts.values())
        report = self.tally.report()
        done = report.episodes if self.goal.successes is not None else report.attempts
        total = self.progress.tasks[self.bar].total
        self.progress.update(self.bar, completed=min(done, total or done))  # Workers may have made more than the goal.
        for receipt in receipts.values():
            if not receipt.success and receipt.reason not in self.told:
                self.told.add(receipt.reason)
                self.note(plain(f"attempt {receipt.episode} failed, {receipt.reason}: {receipt.detail}"))
        hours = max(time.monotonic() - self.begin, 1e-9) / 3600.0
        reasons = ", ".join(f"{name} {count}" for name, count in list(report.failure_reasons.items())[:3])
        self.line.plain = (
            f"{report.attempts} attempts, {report.success_rate:.0%} succeed, "
            f"{(report.episodes - self.episodes_before) / hours:,.0f} episodes/h, "
            f"{(report.robot_hours - self.hours_before) / hours:.2f} robot-hours/h, "
            f"{report.realtime_factor:.1f}x real time per core" + (f", failures: {reasons}" if reasons else "")
        )
        if not self.console.is_terminal and report.attempts >= self.next_line:
            self.next_line = report.attempts - report.attempts % self.step + self.step
            counted = f"{report.attempts} attempts, {report.episodes} succeeded"
            self.note(plain(counted + (f", failures: {reasons}" if reasons else "")))
        if self.advise and report.attempts >= FIRST_ATTEMPTS:
            self.advise = False
            if report.success_rate < 0.5:
                self.note(plain(advice(report)))


class HopelessRun:
    """Stops a run whose attempts 0 to 9 all failed for the same reason: most likely a mistake in the task.

    The rule does not depend on which attempts finish first, so the same run is treated the same on every
    machine.
    """

    def __init__(self, stop_file: Path, *, enabled: bool) -> None:
        self.stop_file = stop_file
        self.reason = ""
        """Why the run was stopped; empty otherwise."""
        self._enabled = enabled
        self._reasons: dict[int, str] = {}

    def update(self, receipts: dict[int, Receipt]) -> None:
        """Take further attempts into account."""
        if not self._enabled or len(self._reasons) == FIRST_ATTEMPTS:
            return
        first = {episode: r for episode, r in receipts.items() if episode < FIRST_ATTEMPTS}
        self._reasons |= {episode: "" if r.success else r.reason for episode, r in first.items()}
        found = set(self._reasons.values())
        if len(self._reasons) == FIRST_ATTEMPTS and len(found) == 1 and found != {""}:
            (self.reason,) = found
            self.stop_file.touch()
