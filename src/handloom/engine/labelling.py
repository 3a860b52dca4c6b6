"""Adds labels to a dataset that exists, or compares those it has with what its recordings give."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from handloom.config.own_code import with_permission
from handloom.dataset.episodes.archive import LABEL_FILES
from handloom.dataset.files.durable import atomic_write, file_errors, sha256_of
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.file_list import FILE_LIST, longer_list, read_list, write_list
from handloom.engine.executors.executor import MAX_TRIES, Executor, with_retries
from handloom.engine.trust import archives_of, dataset_of, trusted_record
from handloom.episode.columns import rendered_frames
from handloom.errors import FileError, StateError
from handloom.labels import EpisodeLabeller, chosen_kinds
from handloom.labels.episode_labels import label_metadata
from handloom.labels.kinds import KINDS, LABEL_FILE, PICTURE_FILE, WORDS_FILE
from handloom.scene import build_scene


@dataclass(frozen=True, kw_only=True)
class _Job:
    archive: str
    kinds: tuple[str, ...]
    again: bool
    check: bool


def label_dataset(
    path: Path,
    kinds: Sequence[str],
    executor: Executor,
    *,
    again: bool = False,
    on_episode: Callable[[], None] = lambda: None,
) -> Path:
    """Write labels beside the archives of a dataset; called again after a kill, it goes on.

    Args:
        path: A dataset, or a run.
        kinds: Kinds of labels, or ``all``.
        executor: Runs the episodes.
        again: Also of episodes that have these labels.
        on_episode: Called after each episode.

    Returns:
        The dataset.
    """
    root = dataset_of(path)
    wanted = chosen_kinds(kinds)
    jobs = [_Job(archive=str(folder), kinds=wanted, again=again, check=False) for folder in archives_of(path)]
    if not jobs:
        raise FileError(f"{root} has no archives, so there is nothing to make labels of")
    for _ in _results(jobs, executor):
        on_episode()
    list_labels(root, changed=True)
    return root


def label_faults(path: Path, executor: Executor, *, on_episode: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Return where the labels of a dataset are not those that its recordings give; empty when all are."""
    jobs = [_Job(archive=str(folder), kinds=(), again=False, check=True) for folder in archives_of(path)]
    found: list[str] = []
    for faults in _results(jobs, executor):
        found += faults
        on_episode()
    return tuple(found)


def _results(jobs: list[_Job], executor: Executor) -> Iterator[tuple[str, ...]]:
    failed = ""
    for finished in with_retries(executor, with_permission(label_episode), jobs):
        if finished.crash:
            failed = f"labelling {finished.item.archive} failed {MAX_TRIES} times: {finished.crash}"
        else:
            yield finished.result
    if failed:
        raise StateError(f"{failed}; the other episodes are done, the same command continues from there")


def label_episode(job: _Job) -> tuple[str, ...]:
    """Write, or compare, the labels of one archive; return what differs."""
    folder = Path(job.archive)
    present = labels_present(folder)
    kinds = present if job.check else tuple(dict.fromkeys((*job.kinds, *present)))
    if not kinds or (not job.check and not job.again and set(job.kinds) <= set(present)):
        return ()
    with damage_named(folder), tempfile.TemporaryDirectory(prefix="labels-") as scratch:
        _, record = trusted_record(folder)
        scene = build_scene(record.instance)
        labeller = EpisodeLabeller(scene, record, chosen_kinds(kinds), Path(scratch))
        if labeller.images and record.instance.cameras:
            for number, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
                labeller.add(number, images)
        made = labeller.finish()
        if job.check:
            names = [name for name in made if sha256_of(Path(scratch) / name) != sha256_of(folder / name)]
            return tuple(f"{folder / name} is not what the recording gives" for name in names)
        with file_errors("write", folder):
            for name in made:
                with atomic_write(folder / name) as partial:
                    shutil.copyfile(Path(scratch) / name, partial)
    return ()


def labels_present(folder: Path) -> tuple[str, ...]:
    """Return the kinds of labels that an archive has.

    Raises:
        FileError: A label file is none.
    """
    found = list(label_metadata(folder / LABEL_FILE)["kinds"]) if (folder / LABEL_FILE).is_file() else []
    files = {WORDS_FILE, PICTURE_FILE}
    if not found:
        found = [kind for kind, row in KINDS.items() if row.file == WORDS_FILE and (folder / WORDS_FILE).is_file()]
    return tuple(k for k in found if KINDS[k].file not in files or (folder / KINDS[k].file).is_file())


def list_labels(root: Path, *, changed: bool = False) -> None:
    """Bring the list of files up to date with the labels; the rest of it stays.

    Args:
        root: The dataset; one without a list is left as it is.
        changed: Also take in labels that are listed and were written again.
    """
    if not (root / FILE_LIST).is_file():
        return
    listing = read_list(root)
    files = [file for name in LABEL_FILES for file in sorted((root / "extras").glob(f"episode_*/{name}"))]
    added = {
        name: {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
        for file in files
        if changed or file.relative_to(root).as_posix() not in listing
        for name in [file.relative_to(root).as_posix()]
    }
    if added:
        write_list(root, longer_list(listing, added))
