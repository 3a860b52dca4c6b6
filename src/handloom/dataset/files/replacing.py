"""The rule for existing outputs: only files written by Handloom are replaced or removed.

They are identified by the list of a dataset's files with their hashes. The user's own files in a dataset folder are
kept when the dataset is replaced; a folder that Handloom did not write, or in which one of its files has
changed, is refused. All functions here can be killed at any moment: ``settle`` continues from there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from handloom.dataset.files.durable import PARTIAL, file_errors, sha256_of, sync_folder
from handloom.dataset.lerobot.file_list import FILE_LIST, read_list
from handloom.errors import FileError

RECEIPT = "meta/merge.json"
"""Records the plan and versions with which a dataset was made, and marks a folder as Handloom's."""
REPLACED = f".replaced{PARTIAL}"
"""Suffix of a dataset's name while it is being replaced."""


def check_replaceable(out: Path) -> None:
    """Refuse a path whose contents may not be replaced.

    Raises:
        FileError: It is a file, a link, a folder that is not a Handloom dataset, or a dataset with changed files.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        what = "a link" if out.is_symlink() else "a file"
        raise FileError(
            f"{out} is {what}, but a dataset is a folder; nothing was changed; choose another folder with -o"
        )
    if not out.exists() or not any(out.iterdir()):
        return
    if not ((out / RECEIPT).is_file() and (out / FILE_LIST).is_file()):
        names = ", ".join(sorted(entry.name for entry in out.iterdir())[:3])
        raise FileError(
            f"{out} contains files that do not belong to a dataset written by Handloom ({names}), so it is not "
            f"replaced; nothing was "
            "changed; choose another folder with -o, or move them away"
        )
    for name, written in read_list(out).items():
        file = out / name
        if os.path.lexists(file) and (
            file.is_symlink() or file.stat().st_size != written["bytes"] or sha256_of(file) != written["sha256"]
        ):
            raise FileError(
                f"{file} was changed after it was written, and replacing the dataset would lose that; nothing was "
                "changed; choose another folder with -o, or move this one away"
            )


def foreign_files(dataset: Path) -> Iterator[str]:
    """Yield the files and links in a dataset folder that are not in its list, by their relative paths."""
    ours = {*read_list(dataset), FILE_LIST} if (dataset / FILE_LIST).is_file() else set()
    for folder, folders, files in os.walk(dataset):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for entry in (*files, *links):
            name = Path(folder, entry).relative_to(dataset).as_posix()
            if name not in ours and name.removesuffix(PARTIAL) not in ours:
                yield name


def swap_in(work: Path, out: Path) -> None:
    """Move a finished dataset into place; an existing one is removed, and foreign files in it are kept.

    Raises:
        FileError: A foreign file has the name of a new one.
    """
    sync_folder(work)
    if out.exists():
        for name in foreign_files(out) if any(out.iterdir()) else ():
            if os.path.lexists(work / name):
                raise FileError(
                    f"{out / name} is not one of the dataset's files and is in the way of a new one; move it away "
                    "and run again"
                )
        os.replace(out, _replaced(out))
    os.replace(work, out)
    sync_folder(out.parent)
    settle(out)


def settle(out: Path) -> None:
    """Finish a replacement of a dataset that was interrupted by a kill, if there is one."""
    old = _replaced(out)
    if not old.is_dir() or old.is_symlink():
        return
    with file_errors("write", out):
        if not out.exists() and (old / FILE_LIST).is_file():
            os.replace(old, out)  # The new one had not been renamed yet.
            return
        if (old / FILE_LIST).is_file():
            for name in list(foreign_files(old)):
                target = out / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(target):
                    os.replace(old / name, target)
        remove_dataset(old)


def remove_dataset(dataset: Path) -> None:
    """Remove the files of a dataset and the folders that become empty; foreign files stay where they are.

    The list is removed last, so that leftovers of a kill are still recognized as Handloom's.
    """
    with file_errors("delete", dataset):
        if (dataset / FILE_LIST).is_file():
            for name in sorted(read_list(dataset), reverse=True):
                (dataset / name).unlink(missing_ok=True)
                (dataset / f"{name}{PARTIAL}").unlink(missing_ok=True)
            (dataset / FILE_LIST).unlink()
        _remove_empty(dataset)


def remove_unnamed(work: Path) -> None:
    """Remove the leftovers of an interrupted merge; its receipt is removed last, so that this can also be interrupted.

    Raises:
        FileError: Something else is at that path.
    """
    if not os.path.lexists(work):
        return
    receipt = work / RECEIPT
    beginning = receipt.with_name(receipt.name + PARTIAL)
    others = [path for path in work.rglob("*") if not path.is_dir() and path not in (receipt, beginning)]
    if work.is_symlink() or not work.is_dir() or (others and not receipt.is_file()):
        raise FileError(f"{work} exists but is not an interrupted merge; move it away and run again")
    for path in (*others, beginning, receipt):
        path.unlink(missing_ok=True)
    _remove_empty(work)


def _remove_empty(folder: Path) -> None:
    """Remove a folder and its subfolders, except those with files."""
    for path, folders, _ in os.walk(folder, topdown=False):
        for name in (*folders, "."):
            part = Path(path, name)
            if not part.is_symlink() and part.is_dir() and not any(part.iterdir()):
                part.rmdir()


def _replaced(out: Path) -> Path:
    return out.with_name(out.name + REPLACED)
