"""``handloom render RUN``: draw recorded episodes, again or for the first time."""

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from handloom.cli.checked_dataset import checked_dataset, checked_run
from handloom.cli.generate import cores
from handloom.cli.warmup import compile_kernels
from handloom.config import own_code
from handloom.engine import InlineExecutor, ProcessExecutor
from handloom.engine.render_overrides import RenderOverrides, read_cameras
from handloom.engine.rerender import drawn_settings, rerender_run
from handloom.engine.verify import archives_of


def run(
    path: tyro.conf.Positional[Path],
    *,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    preset: str = "balanced",
    codec: str = "h264",
    size: tuple[int, int] | None = None,
    cameras: Path | None = None,
    relight: int | None = None,
    retexture: int | None = None,
    depth: bool = False,
    workers: int | None = None,
    allow_code: bool = False,
    skip_hashes: bool = False,
) -> None:
    """Draw the recorded states of a run into a new dataset: other cameras, lights, textures, presets; the same motion.

    Args:
        path: A run folder.
        output: Folder of the new dataset; default: rendered/ in the run.
        preset: How much work goes into a picture: fast, balanced or quality.
        codec: Video codec: h264 or av1.
        size: Width and height of every camera [px]; default as recorded.
        cameras: YAML file whose key cameras, written as in a task, replaces the recorded ones.
        relight: Seed of new lights; default keeps the recorded ones.
        retexture: Seed of new textures of the same kinds; default keeps the recorded ones.
        depth: Also write a depth stream per camera, which LeRobot reads from 0.6 on.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the archives name, such as an object my_module:my_function.
        skip_hashes: Use the files even if they are not those that were written.
    """
    if allow_code:
        own_code.allow_code()
    directory = checked_run(path)
    views = read_cameras(cameras) if cameras else ()
    look = RenderOverrides(cameras=views, size=size, relight=relight, retexture=retexture)
    drawn_settings(directory.settings, preset=preset, codec=codec, depth=depth)  # Refuses unknown words at once.
    executor = InlineExecutor() if workers == 0 else ProcessExecutor(workers if workers is not None else cores())
    checked_dataset(directory.path, skip_hashes=skip_hashes)
    total = len(archives_of(directory.path))
    compile_kernels()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("drawing", total=total)
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
