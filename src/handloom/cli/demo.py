"""``handloom demo``: from nothing to a verified dataset, with a picture of it."""

from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli import generate, verify
from handloom.cli.generate import cores
from handloom.engine import RunDirectory
from handloom.engine.reporting import write_page
from handloom.engine.sheet import dataset_sheet


def run(
    *,
    task: str = "fr3_pick_place",
    episodes: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 10,
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/demo"),
) -> int:
    """Generate and verify a few demonstrations, draw them on one sheet, and say what to try next.

    Args:
        task: A task of the library, or a YAML file.
        episodes: How many demonstrations.
        output: Folder of the run.
    """
    failed = generate.run(task, n=episodes, output=output) or verify.run(output)
    if failed:
        return failed
    print(f"picture: {dataset_sheet(output / 'dataset', output / 'contact_sheet.png', episodes=episodes)}")
    print(f"page:    {write_page(RunDirectory.open(output), output / 'report', workers=cores())}")
    print(f"try:     handloom generate {task} -n 100 -o out/first")
    return 0
