"""A run on disk: manifest, journals, finished episodes, the dataset made of them."""

import fcntl
import gc
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from handloom.dataset.files.durable import PARTIAL, atomic_write, file_errors, write_json
from handloom.dataset.files.reading import read_json
from handloom.dataset.files.replacing import foreign_files, remove_dataset
from handloom.dataset.files.shapes import Count
from handloom.dataset.lerobot.file_list import FILE_LIST
from handloom.engine.runs.journal import Journal, Receipt
from handloom.engine.runs.ledger import PACK, ledger_parts, pack_journals, read_part
from handloom.engine.runs.run_settings import RunSettings
from handloom.errors import ConfigError, FileError

MANIFEST = "run.yaml"

DATASETS = ("dataset", "failures")
"""Datasets of a run, which hold what cannot be drawn again."""
OWN = {
    **dict.fromkeys((*DATASETS, "rendered"), ""),
    "episodes": r"episode_\d+",
    "journal": r"unit_\d+\.jsonl|ledger_\d+\.parquet",
    "inputs": r"episode_\d+.*\.jsonl",
    "report": r"index\.html|[a-z0-9_]+\.png",
    "videos": r"scene_\d+_.*\.mp4",
    **dict.fromkeys(("evaluation.json", "finished.json", "contact_sheet.png", "scenes.parquet"), ""),
    **dict.fromkeys((f"{name}.flags.json" for name in (*DATASETS, "rendered")), ""),
}
"""What commands write into the folder of a run, beside its manifest, locks and stop files; for folders that are no
datasets, the names of what is in them."""
ALL = (0, 1)
"""The shard that is the whole run."""


class RunDirectory:
    """The folder of one run; everything in it is either whole or not there."""

    def __init__(self, path: Path, settings: RunSettings) -> None:
        self.path = path
        self.settings = settings

    @classmethod
    def begin(cls, path: Path, settings: RunSettings) -> "RunDirectory":
        """Start a run, or continue an existing one with the same settings; that one keeps its unit size.

        Raises:
            ConfigError: Another run, or something else, is in that folder.
        """
        if not (path / MANIFEST).is_file():
            if path.exists() and (not path.is_dir() or any(_foreign(path))):
                raise ConfigError(f"{path} is not empty and holds no run; choose another folder with -o")
            with file_errors("write", path):
                path.mkdir(parents=True, exist_ok=True)
            with cls(path, settings).locked(".begin", wait=True):  # Shards may begin at the same moment.
                if not (path / MANIFEST).is_file():
                    with atomic_write(path / MANIFEST) as partial:
                        partial.write_text(settings.to_yaml(), encoding="utf-8")
                    return cls(path, settings)
        present = cls.open(path)
        if present.settings.fingerprint() != settings.fingerprint():
            raise ConfigError(
                f"{path} holds another run: {_difference(present.settings, settings)}; "
                "choose another folder with -o, replace it with --overwrite, or continue it with the same options"
            )
        # Where the task lies is the user's word, not that of a manifest that may come from elsewhere.
        present.settings = present.settings.model_copy(update={"task_path": settings.task_path})
        return present

    @classmethod
    def discard(cls, path: Path) -> None:
        """Delete the run in a folder, if there is one, so that another can begin there.

        Raises:
            ConfigError: Something else is in that folder; nothing is deleted then.
            FileError: Another process is writing to the run, or it cannot be deleted.
        """
        if not (path / MANIFEST).is_file():
            return  # ``begin`` refuses a folder with other things in it.
        run = cls.open(path)
        with run.locked():
            entries = sorted(entry for entry in path.iterdir() if entry.name != MANIFEST)
            others = [name for entry in entries for name in _others_in(entry)]
            if others:
                raise ConfigError(
                    f"{path} holds a run and other things, so --overwrite deletes nothing: {', '.join(others[:3])}; "
                    "move them away, or choose another folder with -o"
                )
            with file_errors("delete", path):
                # The manifest goes last: a run that is half deleted is still known as one.
                for entry in [*entries, path / MANIFEST]:
                    _remove_own(entry)

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """Open the run in a folder, or the one a dataset folder inside it belongs to."""
        for folder in (path, path.parent):
            if (folder / MANIFEST).is_file():
                return cls(folder, RunSettings.read(folder / MANIFEST))
        raise FileError(f"{path} holds no run: there is no {MANIFEST} in it; give the folder after -o of generate")

    @property
    def episodes(self) -> Path:
        """Folder of finished episodes."""
        return self.path / "episodes"

    @property
    def dataset(self) -> Path:
        """Folder of the dataset."""
        return self.path / "dataset"

    @property
    def failures(self) -> Path:
        """Folder of the dataset of failed episodes."""
        return self.path / "failures"

    def journal(self, unit: int) -> Journal:
        """Return the journal of a work unit."""
        return Journal(self.path / "journal" / f"unit_{unit:06d}.jsonl")

    def receipts(self) -> dict[int, Receipt]:
        """Return what is known of every finished attempt, by attempt index."""
        found: dict[int, Receipt] = {}
        collects = gc.isenabled()
        gc.disable()  # Nothing is garbage while a million receipts are made, and looking for it takes half of the time.
        try:
            for part in ledger_parts(self.path / "journal"):
                found.update((receipt.episode, receipt) for receipt in read_part(part))
        finally:
            if collects:
                gc.enable()
        for file in sorted((self.path / "journal").glob("unit_*.jsonl")):
            found.update(Journal(file).read())
        return dict(sorted(found.items()))

    def pack_journals(self, *, at_least: int = PACK) -> int:
        """Pack the journals of finished units, if there are many; return how many. Only for whoever holds the run."""
        return pack_journals(self.path / "journal", self.settings.unit_size, at_least=at_least)

    def counted(self) -> dict[int, Receipt]:
        """Return the attempts that count: all of them, or those of the goal when that was reached.

        Workers may have been ahead of the goal when it was; what they finished is kept for a later, larger one.
        """
        receipts = self.receipts()
        if not self._finished.is_file():
            return receipts
        end = read_json(self._finished, dict[str, Count]).get("attempts", 0)
        return {episode: receipt for episode, receipt in receipts.items() if episode < end}

    def note_finished(self, attempts: int | None) -> None:
        """Write down with how many attempts the goal was reached; None when it is not reached yet."""
        if attempts is None:
            self._finished.unlink(missing_ok=True)
        elif not self._finished.is_file() or read_json(self._finished) != {"attempts": attempts}:
            write_json(self._finished, {"attempts": attempts})

    @property
    def _finished(self) -> Path:
        return self.path / "finished.json"

    def stop_file(self, shard: tuple[int, int] = ALL) -> Path:
        """While this file exists, workers of a shard start no further attempt."""
        return self.path / f"stop{_suffix(shard)}"

    @contextmanager
    def held(self, shard: tuple[int, int] = ALL) -> Iterator[None]:
        """Hold a shard against a second process; the whole run is held against shards, too."""
        if shard == ALL:
            with self.locked():
                yield
        else:
            with self.locked(shared=True), self.locked(_suffix(shard)):
                yield

    @contextmanager
    def locked(self, part: str = "", *, wait: bool = False, shared: bool = False) -> Iterator[None]:
        """Hold the run against a second one in the same folder; the lock goes with the process, however it ends.

        Args:
            part: What is held: nothing for the run as a whole, else a word that ends the name of the lock.
            wait: Wait for another that holds it instead of refusing.
            shared: Allow other holders that share it.
        """
        name = self.path / f"lock{part}"
        how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        with ExitStack() as stack:
            with file_errors("lock", name):  # What is done while it is held has errors of its own.
                file = stack.enter_context(open(name, "w", encoding="utf-8", opener=_no_link))
                try:
                    fcntl.flock(file, how)
                except BlockingIOError as error:
                    raise FileError(
                        f"another handloom is writing to {self.path}; wait for it, or choose another folder with -o"
                    ) from error
            yield


def _no_link(name: str, flags: int) -> int:
    """Open a file, but not through a link: the run may come from elsewhere."""
    return os.open(name, flags | os.O_NOFOLLOW, 0o666)


def _foreign(path: Path) -> Iterator[Path]:
    """Yield what is in the folder of a run without its manifest and is not left by one that was just beginning."""
    for entry in path.iterdir():
        if not entry.name.startswith(("lock.", MANIFEST)) and not (path / MANIFEST).is_file():
            yield entry


def _others_in(entry: Path) -> list[str]:
    """Return what an entry of a run's folder is, or holds, that no command of ours wrote."""
    name = entry.name.partition(PARTIAL)[0]
    known = name in OWN or name in (MANIFEST, "lock", "stop") or name.startswith(("lock.", "stop."))
    if PARTIAL in entry.name:
        known |= re.fullmatch(r"(.+)\.(replaced|more|[0-9a-f]{8})", name) is not None and name.partition(".")[0] in OWN
    if not known or entry.is_symlink():
        return [entry.name]
    if not entry.is_dir():
        return []
    if name in (*DATASETS, "rendered") and PARTIAL not in entry.name:
        if (entry / FILE_LIST).is_file():
            return [f"{entry.name}/{other}" for other in foreign_files(entry)]
        return [f"{entry.name}/{file.name}" for file in entry.rglob("*") if not file.is_dir()]
    inside = re.compile(OWN.get(name, "") or ".*")
    return [
        f"{entry.name}/{child.name}"
        for child in entry.iterdir()
        if not inside.fullmatch(child.name.partition(PARTIAL)[0]) or child.is_symlink()
    ]


def _remove_own(entry: Path) -> None:
    """Remove an entry of a run's folder; what a kill leaves of it is still known to be ours."""
    if not entry.is_dir():
        entry.unlink(missing_ok=True)
    elif (entry / FILE_LIST).is_file() and PARTIAL not in entry.name:
        remove_dataset(entry)
    else:
        shutil.rmtree(entry)


def _suffix(shard: tuple[int, int]) -> str:
    return "" if shard == ALL else f".{shard[0]}-{shard[1]}"


def _difference(there: RunSettings, given: RunSettings) -> str:
    """Say in a few words what differs between two manifests."""
    a, b = there.model_dump(), given.model_dump()
    for key in a:
        if key not in ("task", "arena", "task_path", "unit_size") and a[key] != b[key]:
            return f"its {key} is {a[key]!r}, now {b[key]!r}"
    for part in ("task", "arena"):
        for key in sorted({*a[part], *b[part]}):
            if a[part].get(key) != b[part].get(key):
                return f"its {part} differs in {key!r}"
    return "its manifest differs"
