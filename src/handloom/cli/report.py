"""``handloom report RUN``: what became of a run."""

from json import dumps
from pathlib import Path

import tyro

from handloom.engine import RunDirectory, RunReport, report_of


def run(path: tyro.conf.Positional[Path], *, workers: int = 1, json: bool = False) -> None:
    """Print funnel, failure reasons and rates of a run.

    Args:
        path: A run folder.
        workers: Worker count the robot hours per day are given for.
        json: Print one JSON object instead of text.
    """
    report = report_of(RunDirectory.open(path).receipts().values())
    if json:
        print(dumps(report.to_json(workers=workers)))
    else:
        print_report(report, workers=workers)


def print_report(report: RunReport, *, workers: int) -> None:
    """Print the figures of a run for people."""
    print("funnel:  " + " > ".join(f"{stage} {count}" for stage, count in report.funnel.items()))
    for reason, count in report.failure_reasons.items():
        print(f"  {count:>5}  {reason}: {report.failure_examples[reason]}")
    work = sum(report.worker_seconds.values())
    if not report.episodes or not work:
        return
    seconds = report.robot_hours * 3600.0
    stages = ", ".join(f"{name} {1000 * spent / seconds:.0f}" for name, spent in report.worker_seconds.items())
    print(f"success: {report.episodes} of {report.attempts} attempts ({report.success_rate:.0%})")
    print(f"data:    {seconds:.0f} s of demonstrations, {report.realtime_factor:.2f}x real time per core")
    print(f"         {report.robot_hours_per_day(workers):.0f} robot-hours per day with {workers} worker(s)")
    print(f"work:    ms per demonstrated second: {stages}")
