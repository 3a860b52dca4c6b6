"""The archives of a hundred episodes in one file: an uncompressed zip, which any tool opens.

Seven small files per episode would be seven million for a million episodes. Every full hundred of archives in
``extras/`` is therefore one file, which is never rewritten; archives after the last full hundred stay in folders. The
name of a pack contains the number of its first episode, and inside, folders are numbered from 0, so that a pack can
move to another dataset unchanged. One episode can be read without the others.
"""

import os
import re
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from handloom.dataset.files.durable import atomic_write, file_errors
from handloom.dataset.files.reading import checked_size
from handloom.errors import FileError

PACK = 100
"""Episodes per pack."""
PACK_BYTES = 2**30
"""Largest pack [bytes]; a larger hundred stays in folders. All zip tools read files of twice this size."""
CHUNK = 100_000
"""Episodes whose packs share a folder."""
ARCHIVES, LABELS = "episodes", "labels"
"""Kinds of packs: archives with their ``episode.json``, and the labels of the same episodes, which may come later."""

_PACK = re.compile(r"(episodes|labels)-(\d{6,9})\.zip")
_MEMBER = re.compile(rb"(\d{3})/([a-z_]{1,40}\.[a-z]{1,10})")
_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
_DATE = (1 << 5) | 1
"""1980-01-01, the earliest date that a zip file can hold."""
_VERSION, _UNIX, _RIGHTS = 20, 3 << 8, 0o100644 << 16
MOST_MEMBERS = 100_000
"""Maximum number of files in a pack."""


def pack_name(kind: str, first: int) -> str:
    """Return the path of a pack below ``extras/``, e.g. ``chunk-000/episodes-000100.zip``."""
    return f"chunk-{first // CHUNK:03d}/{kind}-{first:06d}.zip"


def write_pack(target: Path, episodes: Iterable[Iterable[tuple[str, bytes]]]) -> None:
    """Write the files of consecutive episodes as a pack; equal files give equal bytes.

    Args:
        target: The pack.
        episodes: Name and content of the files of each episode.
    """
    entries: list[bytes] = []
    with atomic_write(target) as partial, open(partial, "wb") as file:
        for number, files in enumerate(episodes):
            for name, content in files:
                path, at = f"{number:03d}/{name}".encode(), file.tell()
                facts = (0, 0, 0, _DATE, zlib.crc32(content), len(content), len(content), len(path), 0)
                file.write(_LOCAL.pack(b"PK\3\4", _VERSION, *facts) + path)
                file.write(content)
                entries.append(
                    _CENTRAL.pack(b"PK\1\2", _UNIX | _VERSION, _VERSION, *facts, 0, 0, 0, _RIGHTS, at) + path
                )
        start, central, count = file.tell(), b"".join(entries), len(entries)
        if start + len(central) >= 2**32 or count > MOST_MEMBERS:
            raise FileError(
                f"{target} would contain {count} files of {start} bytes, which is more than a pack can hold"
            )
        file.write(central + _END.pack(b"PK\5\6", 0, 0, min(count, 0xFFFF), min(count, 0xFFFF), len(central), start, 0))


@dataclass(frozen=True, kw_only=True)
class PackedFile:
    """Position of a file in a pack."""

    at: int
    """Offset of its content [bytes]."""
    size: int
    """[bytes]"""
    crc: int


@dataclass(frozen=True, kw_only=True)
class ArchivePack:
    """A pack and its directory."""

    path: Path
    first: int
    """Number of its first episode."""
    count: int
    """Number of episodes."""
    files: dict[tuple[int, str], PackedFile]
    """Entries by the number of the episode within the pack and the name of the file."""

    def read(self, file: PackedFile) -> bytes:
        """Return the content of a file.

        Raises:
            FileError: It has changed.
        """
        with file_errors("read", self.path), open(self.path, "rb") as stream:
            stream.seek(file.at)
            content = stream.read(file.size)
        if len(content) != file.size or zlib.crc32(content) != file.crc:
            raise FileError(f"{self.path} is damaged (a checksum differs); restore it or make it again")
        return content


def find_pack(extras: Path, kind: str, index: int) -> ArchivePack | None:
    """Return the pack that contains an episode; None if it is in a folder of its own.

    Args:
        extras: Folder of packs and archives.
        kind: ``ARCHIVES`` or ``LABELS``.
        index: Number of the episode.
    """
    chunk = index // CHUNK
    for number in (chunk, chunk - 1):  # The previous pack may extend into this chunk.
        folder = extras / f"chunk-{number:03d}"
        firsts = _firsts(str(folder), kind, _stamp(folder)) if number >= 0 else ()
        place = bisect_right(firsts, index)
        if place:
            pack = open_pack(extras / pack_name(kind, firsts[place - 1]))
            return pack if index < pack.first + pack.count else None
    return None


def packs_in(extras: Path, kind: str) -> list[Path]:
    """Return the packs of a kind below a folder, in order."""
    found = [file for file in extras.glob("chunk-*/*.zip") if (name := _PACK.fullmatch(file.name)) and name[1] == kind]
    return sorted(found, key=first_of)


def first_of(pack: Path) -> int:
    """Return the number of the first episode of a pack, by its name."""
    return int(pack.stem.rpartition("-")[2])


def _stamp(folder: Path) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return -1


@lru_cache(maxsize=64)
def _firsts(folder: str, kind: str, stamp: int) -> tuple[int, ...]:
    """Return the numbers of the first episodes of the packs in a folder; ``stamp`` changes with it."""
    if stamp < 0:
        return ()
    with file_errors("read", Path(folder)):
        names = [_PACK.fullmatch(name) for name in os.listdir(folder)]
    return tuple(sorted(int(name[2]) for name in names if name and name[1] == kind))


def open_pack(path: Path) -> ArchivePack:
    """Read the directory of a pack.

    Raises:
        FileError: It is not a pack made by ``write_pack``.
    """
    with file_errors("read", path):
        facts = os.stat(path)
    return _opened(str(path), facts.st_mtime_ns, facts.st_size, facts.st_ino)


@lru_cache(maxsize=16)
def _opened(name: str, _time: int, size: int, _node: int) -> ArchivePack:
    path = Path(name)
    if checked_size(path) != size:
        raise FileError(f"{path} changed while it was being read; run the same command again")
    with file_errors("read", path), open(path, "rb") as stream:
        try:
            files = _members(stream, size)
        except (struct.error, ValueError) as error:
            raise FileError(f"{path} is not a pack of archives ({error}); restore it or make it again") from error
    count = 1 + max((number for number, _ in files), default=-1)
    return ArchivePack(path=path, first=first_of(path), count=count, files=files)


def _members(stream: BinaryIO, size: int) -> dict[tuple[int, str], PackedFile]:
    """Read the directory of a pack; every entry is checked against the file."""
    stream.seek(max(size - _END.size, 0))
    mark, *_, length, start, comment = _END.unpack(stream.read(_END.size))
    if mark != b"PK\5\6" or comment or start + length + _END.size != size or length > 100 * MOST_MEMBERS:
        raise ValueError("it does not end like a zip file without a comment")
    stream.seek(start)
    directory, at, after = stream.read(length), 0, 0
    files: dict[tuple[int, str], PackedFile] = {}
    while at < length:
        mark, _, _, _, method, _, _, crc, stored, plain, letters, *rest, offset = _CENTRAL.unpack_from(directory, at)
        path = directory[at + _CENTRAL.size : at + _CENTRAL.size + letters]
        name = _MEMBER.fullmatch(path)
        content = offset + _LOCAL.size + letters
        if mark != b"PK\1\2" or method or stored != plain or any(rest[:2]) or name is None:
            raise ValueError(f"the entry {path[:80]!r} does not belong in a pack")
        if offset != after or content + plain > start:
            raise ValueError(f"the file {path!r} does not start where the previous one ends")
        key = int(name[1]), name[2].decode()
        if key in files:
            raise ValueError(f"the file {path!r} appears twice")
        files[key] = PackedFile(at=content, size=plain, crc=crc)
        at, after = at + _CENTRAL.size + letters, content + plain
    if after != start:
        raise ValueError("there are bytes between its files")
    return files
