"""The data engine: work ledger, executors, attempts to episodes to datasets."""

from handloom.engine.executors.executor import Executor, InlineExecutor, ProcessExecutor
from handloom.engine.generate import Goal, RunOutcome, generate_run
from handloom.engine.report import RunReport, Tally, report_of
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.merge_run import merge_run
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.verification.verify import Verification, verify_dataset

__all__ = [
    "Executor",
    "Goal",
    "InlineExecutor",
    "ProcessExecutor",
    "Receipt",
    "RunDirectory",
    "RunOutcome",
    "RunReport",
    "RunSettings",
    "Tally",
    "Verification",
    "generate_run",
    "merge_run",
    "report_of",
    "verify_dataset",
]
