"""The live display of long work."""

import time

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from handloom.engine import Goal, Receipt, Tally


class GenerateDisplay:
    """Shows attempts, success rate, episodes per hour, robot hours per hour, time left and the top reasons."""

    def __init__(self, goal: Goal, *, quiet: bool = False) -> None:
        self.goal = goal
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

    def __enter__(self) -> "GenerateDisplay":
        self.live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.live.__exit__(None, None, None)

    def note(self, text: str) -> None:
        """Show a line above the display."""
        self.console.print(text)

    def update(self, receipts: dict[int, Receipt]) -> None:
        """Show the state of the run after these further attempts; those of an earlier call come first of all."""
        if self.tally is None:
            self.tally = Tally(receipts.values())
            before = self.tally.report()
            self.episodes_before, self.hours_before = before.episodes, before.robot_hours
        else:
            self.tally.add(receipts.values())
        report = self.tally.report()
        done = report.episodes if self.goal.successes is not None else report.attempts
        self.progress.update(self.bar, completed=done)
        hours = max(time.monotonic() - self.begin, 1e-9) / 3600.0
        reasons = ", ".join(f"{name} {count}" for name, count in list(report.failure_reasons.items())[:3])
        self.line.plain = (
            f"{report.attempts} attempts, {report.success_rate:.0%} succeed, "
            f"{(report.episodes - self.episodes_before) / hours:,.0f} episodes/h, "
            f"{(report.robot_hours - self.hours_before) / hours:.2f} robot-hours/h, "
            f"{report.realtime_factor:.1f}x real time per core" + (f", failures: {reasons}" if reasons else "")
        )
