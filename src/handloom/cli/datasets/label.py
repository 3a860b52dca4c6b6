"""``handloom label``: exact per-frame labels for an existing dataset."""

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from handloom.cli.datasets.dataset import checked_dataset, worker_executor
from handloom.cli.flags import LabelName, OptionalNumber, Run
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import compile_kernels
from handloom.config import own_code
from handloom.dataset.lerobot.file_list import refuse_strange_files
from handloom.engine.labelling import label_dataset, label_faults, list_labels
from handloom.engine.trust import archives_of, dataset_of
from handloom.labels.kinds import SPARSE


def run(
    path: Run,
    *,
    labels: Annotated[tuple[LabelName, ...], tyro.conf.arg(help_behavior_hint="")] = (),
    again: bool = False,
    check: bool = False,
    workers: OptionalNumber = None,
    allow_code: bool = False,
    allow_outside: bool = False,
    skip_hashes: bool = False,
) -> int:
    """Write labels beside the archives of a dataset: boxes, masks, traces, words and others, from recorded states.

    Args:
        path: A run folder or a dataset.
        labels: Kinds of labels, or all; by default all except the images depth, normals and flow.
        again: Write labels again even if they already exist.
        check: Write nothing; compare existing labels with those computed from the recordings.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the archives refer to, such as an object my_module:my_function.
        allow_outside: Let the archives refer to robots and objects outside their own and surrounding folders.
        skip_hashes: Use the files even if they do not match their recorded hashes.
    """
    own_code.allow(code=allow_code, outside=allow_outside)
    root = _checked(path, skip_hashes=skip_hashes)
    total = len(archives_of(root))
    executor = worker_executor(workers)
    compile_kernels(("drawing", "labels"))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("comparing" if check else "labelling", total=total)
        advance = lambda: progress.advance(bar)  # noqa: E731 - one call of the display
        if check:
            faults = label_faults(root, executor, on_episode=advance)
        else:
            faults = ()
            label_dataset(root, labels or SPARSE, executor, again=again, on_episode=advance)
    for fault in faults:
        print(plain(f"fault: {fault}"))
    print(plain(f"labels of {total} episodes {'differ' if faults else 'agree'}" if check else f"labels: {root}/extras"))
    return 1 if faults else 0


def _checked(path: Path, *, skip_hashes: bool) -> Path:
    """Return the dataset; unlisted labels left by a killed call are tolerated."""
    root = dataset_of(path)
    refuse_strange_files(root)
    list_labels(root)
    return checked_dataset(root, skip_hashes=skip_hashes)
