"""Adds labels to an existing dataset, or compares its labels with those computed from the recordings."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handloom.config.own_code import with_permission
from handloom.dataset.episodes.archive import LABEL_FILES
from handloom.dataset.episodes.archive_pack import (
    ARCHIVES,
    LABELS,
    PACK_BYTES,
    open_pack,
    pack_name,
    packs_in,
    write_pack,
)
from handloom.dataset.episodes.episode_files import EXTRAS, EpisodeFiles
from handloom.dataset.episodes.episode_folder import folder_name
from handloom.dataset.files.durable import (
    atomic_folder,
    atomic_write,
    file_errors,
    interrupted_calls,
    json_bytes,
    name_of_call,
    remove_folder,
    sha256_of,
)
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.file_list import FILE_LIST, longer_list, read_list, write_list
from handloom.engine.executors.executor import MAX_TRIES, Executor, with_retries
from handloom.engine.trust import archives_of, dataset_of, trusted_record
from handloom.episode.columns import rendered_frames
from handloom.errors import FileError, StateError
from handloom.labels import EpisodeLabeller, chosen_kinds
from handloom.labels.episode_labels import label_metadata, stored_pictures
from handloom.labels.kinds import KINDS, LABEL_FILE, PICTURE_FILE, WORDS_FILE
from handloom.scene import build_scene


@dataclass(frozen=True, kw_only=True)
class _Job:
    archive: str
    kinds: tuple[str, ...]
    again: bool = False
    check: bool = False
    apart: str = ""
    """Folder for the labels of a packed archive until all are complete; empty: the archive's own folder."""


def label_dataset(
    path: Path,
    kinds: Sequence[str],
    executor: Executor,
    *,
    again: bool = False,
    on_episode: Callable[[], None] = lambda: None,
) -> Path:
    """Write labels beside the archives of a dataset; called again after a kill, it continues.

    Args:
        path: A dataset, or a run.
        kinds: Kinds of labels, or ``all``.
        executor: Runs the episodes.
        again: Also write them for episodes that already have these labels.
        on_episode: Called after each episode.

    Returns:
        The dataset.
    """
    root = dataset_of(path)
    wanted = chosen_kinds(kinds)
    # Named for the kinds written: only the same call resumes a killed one.
    work = name_of_call(root, json_bytes(["labels", wanted, again]))
    jobs = [
        _Job(
            archive=str(folder),
            kinds=wanted,
            again=again,
            apart=str(work / folder.name) if EpisodeFiles.at(folder).packed else "",
        )
        for folder in archives_of(path)
    ]
    if not jobs:
        raise FileError(f"{root} has no archives, so there is nothing to label")
    for _ in _results(jobs, executor):
        on_episode()
    _pack_labels(root, work)
    list_labels(root, changed=True)
    for left in {work, *interrupted_calls(root)}:
        remove_folder(left)
    return root


def _pack_labels(root: Path, work: Path) -> None:
    """Move the labels of packed archives from their separate folders into packs beside those of the archives."""
    made = {int(folder.name.rpartition("_")[2]) for folder in work.glob("episode_*")}
    for pack in map(open_pack, packs_in(root / EXTRAS, ARCHIVES)):
        members = range(pack.first, pack.first + pack.count)
        if not made & set(members):
            continue
        target = root / EXTRAS / pack_name(LABELS, pack.first)
        folders = [root / EXTRAS / folder_name(index) for index in members]
        contents = [_label_contents(work / folder.name, EpisodeFiles.at(folder)) for folder in folders]
        if sum(len(content) for files in contents for _, content in files) <= PACK_BYTES:
            write_pack(target, contents)
            continue
        for folder, files in zip(folders, contents, strict=True):
            for name, content in files:
                with atomic_write(folder / name) as partial:
                    partial.write_bytes(content)
        target.unlink(missing_ok=True)


def _label_contents(new: Path, present: EpisodeFiles) -> list[tuple[str, bytes]]:
    """Return the label files of an episode, preferring new ones."""
    files = EpisodeFiles(folder=new) if new.is_dir() else present
    return [(name, files.read(name)) for name in LABEL_FILES if files.has(name)]


def label_faults(path: Path, executor: Executor, *, on_episode: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Return the differences between the labels of a dataset and those computed from its recordings; empty if equal."""
    jobs = [_Job(archive=str(folder), kinds=(), check=True) for folder in archives_of(path)]
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
    """Write, or compare, the labels of one archive; return the differences."""
    folder, apart = Path(job.archive), Path(job.apart)
    if job.apart and apart.is_dir():
        return ()
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
            stored = EpisodeFiles.at(folder)
            again = EpisodeFiles(folder=Path(scratch))
            names = [name for name in made if not _same_labels(again, stored, name)]
            return tuple(f"{folder / name} differs from the labels computed from the recording" for name in names)
        if job.apart:
            with atomic_folder(apart) as whole:
                for name in made:
                    shutil.copyfile(Path(scratch) / name, whole / name)
            return ()
        with file_errors("write", folder):
            for name in made:
                with atomic_write(folder / name) as partial:
                    shutil.copyfile(Path(scratch) / name, partial)
    return ()


def _same_labels(made: EpisodeFiles, stored: EpisodeFiles, name: str) -> bool:
    """Return whether a label file equals the stored one; images packed by earlier versions are compared one by one."""
    if made.read(name) == stored.read(name):
        return True
    if name != PICTURE_FILE:
        return False
    with made.parquet(name) as new, stored.parquet(name) as old:
        kinds = [kind for kind in new.schema_arrow.names if kind in KINDS]
        if new.schema_arrow.names != old.schema_arrow.names or new.metadata.num_rows != old.metadata.num_rows:
            return False
    return all(
        a[:2] == b[:2] and np.array_equal(a[2], b[2], equal_nan=True)
        for kind in kinds
        for a, b in zip(stored_pictures(made, kind), stored_pictures(stored, kind), strict=True)
    )


def labels_present(folder: Path) -> tuple[str, ...]:
    """Return the kinds of labels that an archive has.

    Raises:
        FileError: A label file is invalid.
    """
    stored = EpisodeFiles.at(folder)
    found = list(label_metadata(stored)["kinds"]) if stored.has(LABEL_FILE) else []
    files = {WORDS_FILE, PICTURE_FILE}
    if not found:
        found = [kind for kind, row in KINDS.items() if row.file == WORDS_FILE and stored.has(WORDS_FILE)]
    return tuple(k for k in found if KINDS[k].file not in files or stored.has(KINDS[k].file))


def list_labels(root: Path, *, changed: bool = False) -> None:
    """Update the list of files with the labels, without other changes.

    Args:
        root: The dataset; without a list it is left unchanged.
        changed: Also update labels that are already listed but were rewritten.
    """
    if not (root / FILE_LIST).is_file():
        return
    listing = read_list(root)
    extras = root / EXTRAS
    files = [file for name in LABEL_FILES for file in sorted(extras.glob(f"episode_*/{name}"))]
    files += packs_in(extras, LABELS)
    added = {
        name: {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
        for file in files
        if changed or file.relative_to(root).as_posix() not in listing
        for name in [file.relative_to(root).as_posix()]
    }
    gone = [name for name in listing if f"/{LABELS}-" in name and not (root / name).is_file()]
    if added or gone:
        kept = {name: entry for name, entry in listing.items() if name not in gone}
        write_list(root, longer_list(kept, added))
