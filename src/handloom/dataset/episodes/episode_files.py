"""The files of one episode, in its own folder or in a pack."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset.episodes.archive_pack import ARCHIVES, LABELS, ArchivePack, PackedFile, find_pack
from handloom.dataset.files.parquet_files import open_parquet
from handloom.dataset.files.reading import JSON_LIMIT, checked_size, parse_json, read_bytes
from handloom.dataset.files.shapes import Plain
from handloom.errors import FileError

EXTRAS = "extras"
_FOLDER = re.compile(r"episode_(\d{6,9})")


@dataclass(frozen=True, kw_only=True)
class EpisodeFiles:
    """The files of an episode by name: ``"episode.json" in files``, ``for name in files``, ``len(files)``.

    An archive is called ``extras/episode_000012`` even if it is not a folder, also in errors and reports.
    """

    folder: Path
    packs: tuple[ArchivePack, ...] = ()
    """Packs that contain the episode: of archives, of labels."""
    index: int = 0
    """Number of the episode, if there are packs."""

    @classmethod
    def at(cls, folder: Path) -> "EpisodeFiles":
        """Return the files of an archive, or of an episode folder; there may be none."""
        name = _FOLDER.fullmatch(folder.name)
        if name is None or folder.parent.name != EXTRAS:
            return cls(folder=folder)
        index = int(name[1])
        found = (find_pack(folder.parent, kind, index) for kind in (ARCHIVES, LABELS))
        return cls(folder=folder, packs=tuple(pack for pack in found if pack), index=index)

    @property
    def packed(self) -> bool:
        """Whether the archive is in a pack."""
        return bool(self.packs)

    def exists(self) -> bool:
        """Return whether there is an archive, or a folder."""
        return any(self._in(pack) for pack in self.packs) or self.folder.is_dir()

    def names(self) -> tuple[str, ...]:
        """Return the names of the files."""
        packed = [name for pack in self.packs for name in self._in(pack)]
        loose = sorted(os.listdir(self.folder)) if self.folder.is_dir() else []
        return tuple(dict.fromkeys([*packed, *loose]))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the files."""
        return iter(self.names())

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.names())

    def __bool__(self) -> bool:
        """Return True; an archive without files is still one."""
        return True

    def __contains__(self, name: object) -> bool:
        """Return whether there is a file of this name."""
        return isinstance(name, str) and self.has(name)

    def has(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        return self._packed(name) is not None or os.path.isfile(f"{self.folder}/{name}")

    def size(self, name: str) -> int:
        """Return the size of a file [bytes]."""
        packed = self._packed(name)
        return checked_size(self.folder / name) if packed is None else packed[1].size

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        """Return the content of a file; fail if it is missing, not regular or larger than ``limit`` [bytes]."""
        packed = self._packed(name)
        if packed is None:
            file = self.folder / name
            return read_bytes(file, limit=checked_size(file) if limit is None else limit)
        pack, file = packed
        if limit is not None and file.size > limit:
            raise FileError(f"{self.folder / name} has {file.size} bytes, at most {limit} are read; it is damaged")
        return pack.read(file)

    def json(self, name: str, shape: Any = Plain, *, limit: int = JSON_LIMIT) -> Any:
        """Read a JSON file; raise an error if it is missing, damaged or of the wrong shape."""
        return parse_json(self.read(name, limit=limit), shape, source=str(self.folder / name))

    @contextmanager
    def parquet(self, name: str) -> Iterator[pq.ParquetFile]:
        """Open a Parquet file for reading; problems are raised as a ``FileError``."""
        content = None if self._packed(name) is None else pa.BufferReader(self.read(name))
        with open_parquet(self.folder / name, content=content) as file:
            yield file

    def _packed(self, name: str) -> tuple[ArchivePack, PackedFile] | None:
        for pack in self.packs:
            if (file := pack.files.get((self.index - pack.first, name))) is not None:
                return pack, file
        return None

    def _in(self, pack: ArchivePack) -> list[str]:
        return [name for number, name in pack.files if number == self.index - pack.first]
