"""Writes the archives of a dataset: every full hundred as a pack, the rest as folders."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

from handloom.dataset.episodes import archive_pack
from handloom.dataset.episodes.archive_pack import ARCHIVES, LABELS, pack_name, write_pack
from handloom.dataset.episodes.episode_files import EXTRAS
from handloom.dataset.episodes.episode_folder import SHEET, EpisodeFolder, folder_name
from handloom.dataset.files.durable import link_or_copy
from handloom.dataset.lerobot.merge_plan import MergePlan
from handloom.dataset.lerobot.planned_episodes import PlannedEpisode

Kept = Callable[[int], EpisodeFolder]
"""Opens the archive of an existing episode of a dataset, by its index, after checking its files."""

_KINDS = (ARCHIVES, LABELS)


class ExtrasWriter:
    """Puts archives, sheets and labels of planned episodes into ``extras/``.

    Args:
        work: Folder in which the files are made; files finished by an interrupted call are kept.
        plan: The dataset.
        kept: Opens the archives of existing episodes; the last of them may belong to a hundred that becomes full.
    """

    def __init__(self, work: Path, plan: MergePlan, *, kept: Kept | None = None) -> None:
        self.work, self.plan = work, plan
        self.known: dict[str, dict[str, Any]] = {}
        """Size and hash of files that have been verified, by their paths in the dataset."""
        self.packed: list[int] = []
        """Indices of episodes that were in folders and are now in packs."""
        self._kept = kept
        self._hundred: int | None = None
        self._members: list[tuple[PlannedEpisode, EpisodeFolder]] = []
        self._in_packs = self._planned_packs()
        # Reading, hashing and writing archives release the GIL, so tables are written on a second core.
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="archives")
        self._writing: Future[None] | None = None

    def _planned_packs(self) -> dict[int, set[str]]:
        """Return the kinds of files that go into packs, by the index of the full hundred."""
        found: dict[int, set[str]] = {}
        for hundred, members in groupby(self.plan.episodes, key=lambda e: e.episode_index // archive_pack.PACK):
            if self.plan.episode_count >= (hundred + 1) * archive_pack.PACK:
                sizes = [episode.extra_bytes for episode in members]
                sizes += [self._sizes(index) for index in self._kept_in(hundred)]
                totals = (sum(size[kind] for size in sizes) for kind in range(len(_KINDS)))
                found[hundred] = {
                    kind for kind, total in zip(_KINDS, totals, strict=True) if 0 < total <= archive_pack.PACK_BYTES
                }
        return found

    def _kept_in(self, hundred: int) -> range:
        """Return the indices of the existing episodes of a hundred."""
        first = hundred * archive_pack.PACK
        return range(first, max(first, min(self.plan.kept, first + archive_pack.PACK)))

    def _sizes(self, index: int) -> tuple[int, int]:
        assert self._kept is not None
        episode = self._kept(index)
        archive, labels = (
            sum(episode.files.size(name) for name in names)
            for names in (episode.archive_files(), episode.label_files())
        )
        return archive, labels

    def add(self, planned: PlannedEpisode, episode: EpisodeFolder) -> None:
        """Write the files of the next episode; packs are written in the background."""
        hundred = planned.episode_index // archive_pack.PACK
        if hundred != self._hundred:
            self._write()
            self._hundred = hundred
        self._members.append((planned, episode))

    def finish(self) -> None:
        """Wait until everything is written.

        Raises:
            FileError: An archive has changed, or it cannot be written.
        """
        self._write()
        self.close()

    def close(self) -> None:
        """Wait for pending writes."""
        writing, self._writing = self._writing, None
        self._pool.shutdown(wait=True)
        if writing is not None:
            writing.result()

    def _write(self) -> None:
        """Start writing the current hundred, once the previous one is written."""
        if self._writing is not None:
            self._writing.result()
        members, self._members = self._members, []
        if self._hundred is not None and members:
            self._writing = self._pool.submit(self._write_hundred, self._hundred, members)

    def _write_hundred(self, hundred: int, members: list[tuple[PlannedEpisode, EpisodeFolder]]) -> None:
        in_packs = self._in_packs.get(hundred, set())
        kept = [] if self._kept is None or not in_packs else [(i, self._kept(i)) for i in self._kept_in(hundred)]
        self.packed += [index for index, _ in kept]
        for kind in _KINDS:
            target = self.work / EXTRAS / pack_name(kind, hundred * archive_pack.PACK)
            if kind in in_packs and not target.is_file():
                write_pack(target, (_contents(episode, kind) for _, episode in (*kept, *members)))
            for planned, episode in members if kind not in in_packs else ():
                present = planned.extra_bytes[_KINDS.index(kind)] > 0
                for name in _names(episode, kind) if present else ():
                    self._link(planned.episode_index, episode, name)

    def _link(self, index: int, episode: EpisodeFolder, name: str) -> None:
        target = self.work / EXTRAS / folder_name(index) / name
        if target.is_file():
            return
        if episode.files.packed:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(episode.extra_bytes(name))
            return
        link_or_copy(episode.path / name if name == SHEET else episode.checked_file(name), target)
        if name in episode.sheet["files"] and name not in episode.copies:
            self.known[f"{EXTRAS}/{target.parent.name}/{name}"] = dict(episode.sheet["files"][name])


def _names(episode: EpisodeFolder, kind: str) -> tuple[str, ...]:
    return episode.archive_files() if kind == ARCHIVES else episode.label_files()


def _contents(episode: EpisodeFolder, kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an episode that go into a pack, each checked against its hash."""
    for name in _names(episode, kind):
        yield name, episode.extra_bytes(name)
