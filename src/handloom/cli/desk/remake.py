"""``handloom remake``: a dataset once more, from its certificate."""

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from handloom.cli.flags import OptionalNumber, Output
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import compile_kernels, cores
from handloom.config import own_code
from handloom.engine import InlineExecutor, ProcessExecutor
from handloom.engine.lineage import remake
from handloom.kernels import GENERATE


def run(
    certificate: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CERTIFICATE")],
    *,
    output: Output,
    workers: OptionalNumber = None,
    allow_code: bool = False,
    allow_outside: bool = False,
) -> int:
    """Make a dataset again from its certificate: the same task, seed and attempts, then compare all bytes.

    Args:
        certificate: certificate.json, or the dataset that it lies in.
        output: Folder of the new run; its dataset/ is the dataset.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the task names, such as a skill my_module:MySkill.
        allow_outside: Let the task name files outside the folders around the certificate.
    """
    if allow_code:
        own_code.allow_code()
    if allow_outside:
        own_code.allow_outside()
    compile_kernels((*GENERATE, "labels"))
    executor = InlineExecutor() if workers == 0 else ProcessExecutor(workers if workers is not None else cores())
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("making it again", total=None)
        made = remake(certificate, output, executor, on_receipts=lambda news: progress.advance(bar, len(news)))
    print(plain(f"dataset: {made.dataset}"))
    for line in made.elsewhere:
        print(plain(f"note: {line}"))
    print("the same bytes" if made.same else "other bytes than were certified")
    return 0 if made.same else 1
