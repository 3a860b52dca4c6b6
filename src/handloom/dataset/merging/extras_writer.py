"""Writes the archives of a dataset: every full hundred as a pack, what comes after it as folders."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

from handloom.dataset.episodes import archive_pack
from handloom.dataset.episodes.archive_pack import ARCHIVES, LABELS, pack_name, write_pack
from handloom.dataset.episodes.episode_files import EXTRAS
from handloom.dataset.episodes.episode_folder import SHEET, EpisodeFolder, folder_name
from handloom.dataset.files.durable import link_or_copy
from handloom.dataset.lerobot.merge_plan import MergePlan, PlannedEpisode

Kept = Callable[[int], EpisodeFolder]
"""Opens the archive of an episode that a dataset has already, by its number, after checking its files."""

_KINDS = (ARCHIVES, LABELS)


class ExtrasWriter:
    """Puts archives, sheets and labels of planned episodes into ``extras/``.

    Args:
        work: Folder that the files are made in; those that an interrupted call has finished are kept.
        plan: The dataset.
        kept: Opens the archives of episodes that the dataset has already; the first of them may belong to a hundred
            that becomes full.
    """

    def __init__(self, work: Path, plan: MergePlan, *, kept: Kept | None = None) -> None:
        self.work, self.plan = work, plan
        self.known: dict[str, dict[str, Any]] = {}
        """Size and hash of files that were compared with them, by their paths in the dataset."""
        self.packed: list[int] = []
        """Numbers of episodes that were in folders and are in packs now."""
        self._kept = kept
        self._hundred: int | None = None
        self._members: dict[str, list[list[tuple[str, bytes]]]] = {}
        self._in_packs = self._planned_packs()

    def _planned_packs(self) -> dict[int, set[str]]:
        """Return which kinds of files of every full hundred go into packs, by the number of the hundred."""
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
        """Return the numbers of the episodes of a hundred that the dataset has already."""
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
        """Put the files of the next episode where they belong."""
        hundred = planned.episode_index // archive_pack.PACK
        if hundred != self._hundred:
            self.finish()
            self._hundred = hundred
            self._members = {kind: [] for kind in self._in_packs.get(hundred, ()) if not self._is_there(kind)}
            if hundred in self._in_packs:
                self._add_kept(hundred)
        self._put(planned.episode_index, episode)

    def finish(self) -> None:
        """Write the packs of the present hundred."""
        members, self._members = self._members, {}
        for kind, episodes in members.items():
            write_pack(self._pack(kind), episodes)

    def _put(self, index: int, episode: EpisodeFolder) -> None:
        in_packs = self._in_packs.get(index // archive_pack.PACK, set())
        for kind, names in ((ARCHIVES, episode.archive_files()), (LABELS, episode.label_files())):
            if kind in self._members:
                self._members[kind].append([(name, episode.extra_bytes(name)) for name in names])
            elif kind not in in_packs:
                for name in names:
                    self._link(index, episode, name)

    def _add_kept(self, hundred: int) -> None:
        """Take up the episodes of a hundred that were in folders so far."""
        for index in self._kept_in(hundred):
            assert self._kept is not None
            episode = self._kept(index)
            self.packed.append(index)
            for kind, names in ((ARCHIVES, episode.archive_files()), (LABELS, episode.label_files())):
                if kind in self._members:
                    self._members[kind].append([(name, episode.extra_bytes(name)) for name in names])

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

    def _pack(self, kind: str) -> Path:
        return self.work / EXTRAS / pack_name(kind, (self._hundred or 0) * archive_pack.PACK)

    def _is_there(self, kind: str) -> bool:
        return self._pack(kind).is_file()
