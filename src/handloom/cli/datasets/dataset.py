"""``handloom verify|merge|render``: verbs that read a finished run or a dataset."""

import secrets
import sys
from collections.abc import Iterable, Iterator
from json import dumps
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress, track

from handloom.cli.flags import Backend, Codec, Labels, OptionalFile, OptionalNumber, OptionalOutput, Preset, Run, Runs
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import compile_kernels, cores
from handloom.config import own_code
from handloom.dataset import merge_datasets
from handloom.dataset.files.storage import url_of
from handloom.dataset.lerobot.file_list import FILE_LIST, check_files, refuse_strange_files
from handloom.dataset.merging.merge_shards import merge_shards
from handloom.engine import InlineExecutor, ProcessExecutor, RunDirectory, merge_run, verify_dataset
from handloom.engine.rerender import RenderOverrides, drawn_settings, read_cameras, rerender_run
from handloom.engine.runs.shards import shard_urls
from handloom.engine.trust import sampled_archives
from handloom.engine.verification.verify import (
    Verification,
    archives_of,
    dataset_faults,
    dataset_of,
    sampled_faults,
)
from handloom.errors import FileError, InputError
from handloom.kernels import GENERATE
from handloom.render.backends import drawing_for


def worker_executor(workers: int | None) -> InlineExecutor | ProcessExecutor:
    """Return the executor for ``--workers``: one worker process per core by default; 0 runs in this process."""
    return InlineExecutor() if workers == 0 else ProcessExecutor(cores() if workers is None else workers)


def checked_dataset(path: Path, *, skip_hashes: bool) -> Path:
    """Return the dataset (or the dataset of the run) at a path, after comparing its files with their hashes."""
    root = dataset_of(path)
    check_files(root, hashes=not skip_hashes)
    if skip_hashes:
        print(plain(f"note: the files of {root} were not compared with their hashes, as requested"), file=sys.stderr)
    elif not (root / FILE_LIST).is_file():
        print(plain(f"note: {root} has no {FILE_LIST}, so its files have no hashes to compare with"), file=sys.stderr)
    return root


def checked_run(path: Path) -> RunDirectory:
    """Open the run at a path; refuse links that lead out of it, because verbs also write there."""
    directory = RunDirectory.open(path)
    refuse_strange_files(directory.path)
    return directory


def _allow(*, code: bool, outside: bool) -> None:
    """Grant only the permissions given on the command line."""
    if code:
        own_code.allow_code()
    if outside:
        own_code.allow_outside()


MOST_FAULTS = 100
"""Faults shown in the text output; JSON lists all of them."""


def verify(
    path: Run,
    *,
    sample: OptionalNumber = None,
    seed: OptionalNumber = None,
    workers: OptionalNumber = None,
    allow_code: bool = False,
    allow_outside: bool = False,
    json: bool = False,
) -> int:
    """Re-simulate and re-judge every episode, recompute all tables, and compare every bit; check every file.

    Args:
        path: A run folder or a dataset.
        sample: Check only this many randomly chosen episodes and their files, against the dataset's certificate, if
            any.
        seed: Seed of the random choice; default: a new one each time, which is printed.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the archives refer to, such as an object my_module:my_function.
        allow_outside: Let the archives refer to robots and objects outside their own and surrounding folders.
        json: Print one JSON object instead of a table.
    """
    _allow(code=allow_code, outside=allow_outside)
    chosen = None if sample is None else _drawn(path, sample, seed)
    faults = list(dataset_faults(path) if chosen is None else sampled_faults(path, chosen))
    try:
        total = len(archives_of(path) if chosen is None else chosen)
    except FileError:  # The faults explain why.
        total = 0
    count = workers if workers is not None else min(cores(), max(total, 1))
    executor = InlineExecutor() if count == 0 else ProcessExecutor(count)
    console = Console(stderr=True, quiet=json)
    replays = verify_dataset(path, executor, archives=chosen) if total else ()
    verdicts = list(track(replays, "replaying", total=total, console=console, transient=True))
    verdicts.sort(key=lambda verdict: verdict.episode)
    good = sum(verdict.good for verdict in verdicts)
    if json:
        rows = [{"episode": v.episode, "verdict": v.verdict, "frames": v.frames, "detail": v.detail} for v in verdicts]
        told = {"compared": _united(v.compared for v in verdicts), "not_compared": _united(_gaps(path, verdicts))}
        print(dumps({"episodes": total, "verified": good, "faults": faults, "rows": rows, **told}))
    else:
        for verdict in verdicts:
            if verdict.verdict != "exact":
                print(plain(f"{verdict.episode}  {verdict.verdict}: {verdict.detail}"))
        for fault in faults[:MOST_FAULTS]:
            print(plain(f"fault: {fault}"))
        if len(faults) > MOST_FAULTS:
            print(f"and {len(faults) - MOST_FAULTS} more faults")
        exact = sum(verdict.verdict == "exact" for verdict in verdicts)
        print(
            f"{exact} of {total} episodes replay bit for bit"
            + (f", {good - exact} within tolerance" if good > exact else "")
        )
        if compared := _united(verdict.compared for verdict in verdicts):
            files = "files, tables and statistics of the whole dataset" if chosen is None else "files of these episodes"
            print(plain(f"compared: {', '.join(compared)}; {files}"))
        for gap in _united(_gaps(path, verdicts)):
            print(plain(f"not compared: {gap}"))
    return 0 if total and good == total and not faults else 1


def _drawn(path: Path, count: int, seed: int | None) -> tuple[Path, ...]:
    """Return randomly chosen archives, and print the seed so that the choice can be repeated."""
    if count < 1:
        raise InputError(f"--sample takes at least 1 episode, got {count}")
    seed = secrets.randbelow(2**31) if seed is None else seed
    total, archives = sampled_archives(path, count, seed)
    print(f"note: {len(archives)} of {total} episodes, chosen with --seed {seed}", file=sys.stderr)
    return archives


def _united(parts: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(part for some in parts for part in some))


def _gaps(path: Path, verdicts: Iterable[Verification]) -> Iterator[tuple[str, ...]]:
    """Yield the parts that were not compared."""
    yield from (verdict.not_compared for verdict in verdicts)
    if dataset_of(path) == path / "dataset":
        others = [path / name for name in ("failures", "rendered") if (path / name / "meta" / "info.json").is_file()]
        yield tuple(f"{other}: handloom verify {other}" for other in others)


def merge(
    paths: Runs,
    *,
    output: OptionalOutput = None,
    drop_flagged: bool = False,
    only_flagged: bool = False,
    skip_hashes: bool = False,
) -> None:
    """Merge the finished attempts of a sharded run, or merge several datasets into a new one.

    Args:
        paths: One run folder; or, with -o, runs and datasets in the desired order; or the URL to which all shards of a
            run were uploaded, or URLs of datasets, which are merged file by file (extra cloud).
        output: Folder or URL of the new dataset; for uploaded shards, the default is dataset/ below their URL.
        drop_flagged: Leave out the episodes flagged in handloom view; needs -o.
        only_flagged: Keep only the flagged episodes; needs -o.
        skip_hashes: Use the files even if they do not match their recorded hashes.
    """
    if drop_flagged and only_flagged:
        raise InputError("--drop-flagged and --only-flagged leave nothing; give one of them")
    if output is None and (drop_flagged or only_flagged):
        raise InputError("--drop-flagged and --only-flagged make a new dataset; give its folder with -o")
    if urls := [url for path in paths if (url := url_of(path))]:
        if len(urls) != len(paths) or drop_flagged or only_flagged:
            raise InputError(
                "URLs can be merged only with URLs; to merge with local folders, download the datasets first"
            )
        target = url_of(output) if output is not None else f"{urls[0].rstrip('/')}/dataset"
        merge_shards(shard_urls(urls), target or Path(output or "").resolve().as_uri())
        print(f"dataset: {target or output}")
        return
    if output is None:
        if len(paths) != 1:
            raise InputError("give one run folder, or several datasets and -o for the new one")
        directory = checked_run(paths[0])
        with directory.locked():
            merge_run(directory, directory.counted(), hashes=not skip_hashes)
        print(f"dataset: {directory.dataset}")
        return
    datasets = [checked_dataset(path, skip_hashes=skip_hashes) for path in paths]
    flagged = True if only_flagged else False if drop_flagged else None
    print(f"dataset: {merge_datasets(datasets, output, flagged=flagged)}")


def render(
    path: Run,
    *,
    output: OptionalOutput = None,
    preset: Preset = "balanced",
    backend: Backend = "cpu",
    codec: Codec = "h264",
    size: Annotated[tuple[int, int] | None, tyro.conf.arg(metavar="WIDTH HEIGHT", help_behavior_hint="")] = None,
    cameras: OptionalFile = None,
    relight: OptionalNumber = None,
    retexture: OptionalNumber = None,
    depth: bool = False,
    segmentation: bool = False,
    labels: Labels = (),
    workers: OptionalNumber = None,
    allow_code: bool = False,
    allow_outside: bool = False,
    skip_hashes: bool = False,
) -> None:
    """Render the recorded states of a run into a new dataset: other cameras, lights, textures, presets.

    Args:
        path: A run folder.
        output: Folder of the new dataset; default: rendered/ in the run.
        preset: Image quality: fast, balanced or quality.
        backend: Renderer: cpu, or cuda for NVIDIA GPUs (extra gpu); the images are the same.
        codec: Video codec: h264 or av1.
        size: Width and height of every camera [px]; by default as recorded.
        cameras: YAML file whose key cameras, written as in a task, replaces the recorded cameras.
        relight: Seed of new lights; the default keeps the recorded ones.
        retexture: Seed of new textures of the same kinds; the default keeps the recorded ones.
        depth: Also write a depth stream per camera, which LeRobot 0.6 and later can read.
        segmentation: Also write a stream of instance ids per camera.
        labels: Kinds of labels to write beside the archives, or all; default: those of the run.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the archives refer to, such as an object my_module:my_function.
        allow_outside: Let the archives refer to robots and objects outside their own and surrounding folders.
        skip_hashes: Use the files even if they do not match their recorded hashes.
    """
    _allow(code=allow_code, outside=allow_outside)
    directory = checked_run(path)
    views = read_cameras(cameras) if cameras else ()
    look = RenderOverrides(cameras=views, size=size, relight=relight, retexture=retexture)
    # Refuses unknown kinds at once.
    how = {"preset": preset, "backend": backend, "codec": codec, "depth": depth, "segmentation": segmentation}
    how["labels"] = labels or None
    drawn_settings(directory.settings, **how)
    executor = worker_executor(workers)
    checked_dataset(directory.path, skip_hashes=skip_hashes)
    total = len(archives_of(directory.path))
    compile_kernels((*GENERATE, "labels") if labels else None)
    drawing = drawing_for(backend, workers=0 if workers == 0 else executor.workers)
    with drawing, Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("drawing", total=total)
        dataset = rerender_run(
            directory,
            output or directory.path / "rendered",
            executor,
            look=look,
            on_episode=lambda: progress.advance(bar),
            **how,
        )
    print(f"dataset: {dataset}")
