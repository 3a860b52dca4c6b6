"""``handloom audit``: quality figures of a dataset."""

import math
from json import dumps
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from handloom.cli.flags import Run
from handloom.dataset.audit import audit_dataset
from handloom.engine.trust import dataset_of


def run(
    path: Run,
    *,
    action: Annotated[str, tyro.conf.arg(metavar="COLUMN")] = "action",
    state: Annotated[str, tyro.conf.arg(metavar="COLUMN")] = "observation.state",
    json: bool = False,
) -> int:
    """Check the quality of any LeRobot v3 dataset; exit with 1 if a figure needs attention.

    Args:
        path: A run folder or a dataset.
        action: Column of the actions.
        state: Column of the states.
        json: Print one JSON object instead of a table.
    """
    findings = audit_dataset(dataset_of(path), action=action, state=state)
    if json:
        rows = [
            {"name": f.name, "value": None if math.isnan(f.value) else f.value, "unit": f.unit, "fine": f.fine}
            for f in findings
        ]
        print(dumps({"dataset": str(path), "rows": rows}))
    else:
        table = Table("figure", "value", "unit", "look", box=None)
        for f in findings:
            table.add_row(f.name, f"{f.value:.3g}", f.unit, "" if f.fine else f.meaning)
        Console(width=140).print(table)
    return 0 if all(f.fine for f in findings) else 1
