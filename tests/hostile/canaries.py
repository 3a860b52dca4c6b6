"""A home with things in it that no file from elsewhere may touch, and a witness who sees when one does.

The kernel tells (inotify) whenever any process opens, changes, creates or removes a canary, whatever path it took and
in whatever language it is written. Without inotify, contents are compared, and nothing is said about reading.
"""

import ctypes
import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from file_parts import mjcf, obj, png, stl, task, usda, write

TOKEN = "canary7f3a"
"""What stands in every canary and must never come out."""
_OPEN, _CHANGES = 0x20, 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_EVENT = struct.Struct("iIII")
_OURS = ("download", "work", ".cache", ".config")


class Home:
    """Folders as a user has them: ``home/download*`` has the stranger's files, ``home/work*`` is where one works."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.outside, self.private = self.root / "outside", self.home / "private"
        for folder in (self.outside, self.private):
            _fill(folder)

    def case(self, number: int) -> tuple[Path, Path]:
        """Return a new folder for the stranger's files, and one to work in."""
        files, work = self.home / f"download{number}" / "files", self.home / f"work{number}"
        files.mkdir(parents=True)
        work.mkdir()
        (work / "stranger.py").write_text("open('ran', 'w')\n\ndef brick(c): ...\n\nclass Policy: ...\n")
        return files, work

    def clear(self) -> None:
        """Remove the folders of all cases."""
        for folder in self.home.iterdir():
            if folder.name.startswith(("download", "work")):
                shutil.rmtree(folder, ignore_errors=True)

    @property
    def canaries(self) -> list[Path]:
        """All canaries: files and folders."""
        return [path for top in (self.outside, self.private) for path in (top, *sorted(top.rglob("*")))]


def _fill(folder: Path) -> None:
    from handloom.robots.load import ZOO_FOLDER

    write(folder / "victim" / "thesis.txt", f"{TOKEN}: years of work\n")
    write(folder / "secret.txt", f"{TOKEN}: a: b\n")
    write(folder / "secret.yaml", f"{TOKEN}: {TOKEN}\n")
    write(folder / "secret.json", f'{{"{TOKEN}": 1}}')
    write(folder / "secret.npy", TOKEN)
    write(folder / "Kps" / "info.json", f'{{"object_keypoints": "{TOKEN}"}}')
    mjcf(folder / "model.xml", f"<body name='{TOKEN}'><joint/><geom size='.1'/></body>")
    write(folder / "mesh.stl", TOKEN.encode().ljust(80, b"\0") + stl()[80:])
    write(folder / "mesh.obj", f"# {TOKEN}\no {TOKEN}\n" + obj())
    write(folder / "skin.mtl", f"newmtl {TOKEN}\nKd 1 0 0\n")
    write(folder / "picture.png", png(9, 9, b"\0" * 9 * 28) + TOKEN.encode())
    usda(folder / "stage.usda", more=f'def Xform "{TOKEN}" {{}}\n')
    task(folder / "task.yaml", name=TOKEN)
    shutil.copytree(ZOO_FOLDER / "so101", folder / "robot")
    settings = folder / "robot" / "robot.yaml"
    settings.write_text(f"{settings.read_text()}\n# {TOKEN}\n")


class Witness:
    """Sees what happens to canaries. ``seen`` returns what happened since it was last asked."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._contents = self._read()
        self._places: dict[int, Path] = {}
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            self._file = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, AttributeError):  # Not Linux.
            self._file = -1
            return
        for place in home.canaries:
            self._places[libc.inotify_add_watch(self._file, os.fsencode(place), _OPEN | _CHANGES)] = place
        for place in (home.root, home.home):
            self._places[libc.inotify_add_watch(self._file, os.fsencode(place), 0x40 | 0x80 | 0x100 | 0x200)] = place
        self.seen()

    @property
    def sees_reading(self) -> bool:
        """Whether opening a canary is seen."""
        return self._file >= 0

    def seen(self) -> list[str]:
        """Return what happened to canaries, one line each; the folders of cases are not canaries."""
        found = []
        for mask, place in self._events():
            if place.parent in (self._home.root, self._home.home) and place.name.startswith(_OURS):
                continue
            found.append(f"{'opened' if mask & _OPEN else 'changed'} {place.relative_to(self._home.root)}")
        if not self.sees_reading and self._read() != self._contents:
            found.append("changed a canary")
        return sorted(set(found))

    def _events(self) -> Iterator[tuple[int, Path]]:
        while self.sees_reading:
            try:
                content = os.read(self._file, 1 << 16)
            except BlockingIOError:
                return
            while content:
                watch, mask, _, length = _EVENT.unpack_from(content)
                name = os.fsdecode(content[_EVENT.size : _EVENT.size + length].rstrip(b"\0"))
                content = content[_EVENT.size + length :]
                place = self._places.get(watch, self._home.root / "more than can be told")
                yield mask, place / name if name else place

    def _read(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self._home.canaries if path.is_file()}

    def close(self) -> None:
        """Look no more."""
        if self.sees_reading:
            os.close(self._file)


@contextmanager
def witnessed(root: Path) -> Iterator[tuple[Home, Witness]]:
    """Make a home with canaries below a folder, and be in it until the block ends."""
    from handloom.cache import user_cache

    cache, before, here = str(user_cache()), dict(os.environ), Path.cwd()
    home = Home(root)
    witness = Witness(home)
    os.environ |= {"HANDLOOM_CACHE": cache, "HOME": str(home.home)}
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "ROS_PACKAGE_PATH"):
        os.environ.pop(name, None)
    try:
        yield home, witness
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
        witness.close()
