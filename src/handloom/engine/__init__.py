"""The data engine: work ledger, executors, attempts to episodes to datasets.

Names are imported on first use, so that a worker process that only needs an executor starts quickly.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_OWNERS = {
    "executors.executor": ("Executor", "InlineExecutor", "ProcessExecutor"),
    "generate": ("Goal", "RunOutcome", "generate_run"),
    "report": ("RunReport", "Tally", "report_of"),
    "runs.journal": ("Receipt",),
    "runs.merge_run": ("merge_run",),
    "runs.run_directory": ("RunDirectory",),
    "runs.run_settings": ("RunSettings",),
    "verification.verify": ("Verification", "verify_dataset"),
}
"""Module of this folder > the names in ``__all__`` that it defines."""
_OWNER = {name: owner for owner, names in _OWNERS.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it."""
    if name not in _OWNER:
        raise AttributeError(f"module 'handloom.engine' has no attribute {name!r}; its names: {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"handloom.engine.{_OWNER[name]}"), name)
    globals()[name] = value
    return value
