"""A run on disk: manifest, journals, finished episodes, and the dataset made from them."""

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
"""Datasets of a run, whose content cannot be rendered again."""
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
"""Names that commands write into the folder of a run, apart from its manifest, locks and stop files; for folders that
are not datasets, the names of their entries."""
ALL = (0, 1)
"""The only shard of an undivided run."""


class RunDirectory:
    """The folder of one run; everything in it is either complete or absent."""

    def __init__(self, path: Path, settings: RunSettings) -> None:
        self.path = path
        self.settings = settings

    @classmethod
    def begin(cls, path: Path, settings: RunSettings) -> "RunDirectory":
        """Start a run, or continue an existing one with the same settings, which keeps its unit size.

        Raises:
            ConfigError: The folder contains another run or other files.
        """
        if not (path / MANIFEST).is_file():
            if path.exists() and (not path.is_dir() or any(_foreign(path))):
                raise ConfigError(f"{path} is not empty and contains no run; choose another folder with -o")
            with file_errors("write", path):
                path.mkdir(parents=True, exist_ok=True)
            with cls(path, settings).locked(".begin", wait=True):  # Shards may start at the same moment.
                if not (path / MANIFEST).is_file():
                    with atomic_write(path / MANIFEST) as partial:
                        partial.write_text(settings.to_yaml(), encoding="utf-8")
                    return cls(path, settings)
        present = cls.open(path)
        if present.settings.fingerprint() != settings.fingerprint():
            raise ConfigError(
                f"{path} contains another run: {_difference(present.settings, settings)}; "
                "choose another folder with -o, replace it with --overwrite, or continue it with the same options"
            )
        # The location of the task is given by the user, not by a manifest that may come from elsewhere.
        present.settings = present.settings.model_copy(update={"task_path": settings.task_path})
        return present

    @classmethod
    def discard(cls, path: Path) -> None:
        """Delete the run in a folder, if there is one, so that another can start there.

        Raises:
            ConfigError: Something else is in that folder; nothing is deleted then.
            FileError: Another process is writing to the run, or it cannot be deleted.
        """
        if not (path / MANIFEST).is_file():
            return  # ``begin`` refuses a folder that contains other files.
        run = cls.open(path)
        with run.locked():
            entries = sorted(entry for entry in path.iterdir() if entry.name != MANIFEST)
            others = [name for entry in entries for name in _others_in(entry)]
            if others:
                raise ConfigError(
                    f"{path} contains other files besides a run, so --overwrite deletes nothing: "
                    f"{', '.join(others[:3])}; "
                    "move them away, or choose another folder with -o"
                )
            with file_errors("delete", path):
                # The manifest is deleted last, so that a half-deleted run is still recognized as a run.
                for entry in [*entries, path / MANIFEST]:
                    _remove_own(entry)

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """Open the run in a folder, or the run that a dataset folder belongs to."""
        for folder in (path, path.parent):
            if (folder / MANIFEST).is_file():
                return cls(folder, RunSettings.read(folder / MANIFEST))
        raise FileError(
            f"{path} contains no run: there is no {MANIFEST} in it; give the folder passed to generate with -o"
        )

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
        """Return the receipts of all finished attempts, by attempt index."""
        found: dict[int, Receipt] = {}
        collects = gc.isenabled()
        gc.disable()  # A million receipts create no garbage, but garbage collection would take half the time.
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
        """Pack the journals of finished units, if there are many; return their number. Needs the run's lock."""
        return pack_journals(self.path / "journal", self.settings.unit_size, at_least=at_least)

    def counted(self) -> dict[int, Receipt]:
        """Return the attempts that count: all of them, or those of the goal once it has been reached.

        Workers may have been ahead of the goal at that point; their extra attempts are kept for a later, larger goal.
        """
        receipts = self.receipts()
        if not self._finished.is_file():
            return receipts
        end = read_json(self._finished, dict[str, Count]).get("attempts", 0)
        return {episode: receipt for episode, receipt in receipts.items() if episode < end}

    def note_finished(self, attempts: int | None) -> None:
        """Record the number of attempts that reached the goal; None if it has not been reached yet."""
        if attempts is None:
            self._finished.unlink(missing_ok=True)
        elif not self._finished.is_file() or read_json(self._finished) != {"attempts": attempts}:
            write_json(self._finished, {"attempts": attempts})

    @property
    def _finished(self) -> Path:
        return self.path / "finished.json"

    def stop_file(self, shard: tuple[int, int] = ALL) -> Path:
        """While this file exists, workers of a shard start no new attempts."""
        return self.path / f"stop{_suffix(shard)}"

    @contextmanager
    def held(self, shard: tuple[int, int] = ALL) -> Iterator[None]:
        """Lock a shard against a second process; locking the whole run also excludes shards."""
        if shard == ALL:
            with self.locked():
                yield
        else:
            with self.locked(shared=True), self.locked(_suffix(shard)):
                yield

    @contextmanager
    def locked(self, part: str = "", *, wait: bool = False, shared: bool = False) -> Iterator[None]:
        """Lock the run against a second process in the same folder; the lock ends with the process, however it ends.

        Args:
            part: Part to lock: empty for the whole run, otherwise the suffix of the lock's name.
            wait: Wait for another holder instead of refusing.
            shared: Allow other shared holders.
        """
        name = self.path / f"lock{part}"
        how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        with ExitStack() as stack:
            with file_errors("lock", name):  # Errors in the body are not about the lock.
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
    """Yield entries of a run folder without a manifest that are not leftovers of a run that was just starting."""
    for entry in path.iterdir():
        if not entry.name.startswith(("lock.", MANIFEST)) and not (path / MANIFEST).is_file():
            yield entry


def _others_in(entry: Path) -> list[str]:
    """Return parts of an entry of a run's folder that no Handloom command wrote."""
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
    """Remove an entry of a run's folder; if a kill interrupts it, the rest is still recognized as part of a run."""
    if not entry.is_dir():
        entry.unlink(missing_ok=True)
    elif (entry / FILE_LIST).is_file() and PARTIAL not in entry.name:
        remove_dataset(entry)
    else:
        shutil.rmtree(entry)


def _suffix(shard: tuple[int, int]) -> str:
    return "" if shard == ALL else f".{shard[0]}-{shard[1]}"


def _difference(there: RunSettings, given: RunSettings) -> str:
    """Describe briefly how two manifests differ."""
    a, b = there.model_dump(), given.model_dump()
    for key in a:
        if key not in ("task", "arena", "task_path", "unit_size") and a[key] != b[key]:
            return f"its {key} is {a[key]!r}, now {b[key]!r}"
    for part in ("task", "arena"):
        for key in sorted({*a[part], *b[part]}):
            if a[part].get(key) != b[part].get(key):
                return f"its {part} differs in {key!r}"
    return "its manifest differs"
