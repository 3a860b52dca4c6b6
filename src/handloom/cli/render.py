"""``handloom render RUN``: draw recorded episodes, again or for the first time."""

import os
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from handloom.cli.warmup import compile_kernels
from handloom.engine import InlineExecutor, ProcessExecutor, RunDirectory
from handloom.engine.rerender import Look, rerender_run
from handloom.engine.verify import archives_of


def run(
    path: tyro.conf.Positional[Path],
    *,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    preset: str = "balanced",
    codec: str = "h264",
    size: tuple[int, int] | None = None,
    relight: int | None = None,
    depth: bool = False,
    workers: int | None = None,
) -> None:
    """Draw the recorded states of a run into a new dataset: other sizes, lights or presets, the same motion.

    Args:
        path: A run folder.
        output: Folder of the new dataset; default: rendered/ in the run.
        preset: How much work goes into a picture: fast, balanced or quality.
        codec: Video codec: h264 or av1.
        size: Width and height of every camera [px]; default as recorded.
        relight: Seed of new lights; default keeps the recorded ones.
        depth: Also write a depth stream per camera, which LeRobot reads from 0.6 on.
        workers: Worker processes; default one per core; 0 runs in this process.
    """
    compile_kernels()
    directory = RunDirectory.open(path)
    total = len(archives_of(directory.path))
    count = workers if workers is not None else min(os.cpu_count() or 1, max(total, 1))
    executor = InlineExecutor() if count == 0 else ProcessExecutor(count)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("drawing", total=total)
        look = Look(size=size, relight=relight)
        dataset = rerender_run(
            directory,
            output or directory.path / "rendered",
            executor,
            look=look,
            preset=preset,
            codec=codec,
            depth=depth,
            on_episode=lambda: progress.advance(bar),
        )
    print(f"dataset: {dataset}")
