"""Model files that may come from anybody: what an MJCF or URDF file names, and whether MuJoCo can read it."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

import mujoco

from handloom.child_process import call_apart
from handloom.config.search import demand_inside
from handloom.errors import ConfigError, FileError

MAX_BYTES = 64_000_000
"""Largest XML file that is read."""
MODEL_PARENTS = 3
"""How many folders around a robot's model its meshes may be in."""
MAX_FILES = 500
"""Most files a model may include."""
MOST = {"nbody": 1_000, "njnt": 300, "ngeom": 5_000, "nmeshvert": 5_000_000, "ntexdata": 500_000_000}
"""Largest robot: several humanoids. It is compiled many times, so that what one compilation bears is not enough."""
_DIRECTORY = re.compile(rb"""\b(?:meshdir|texturedir|assetdir)\s*=\s*("[^"]*"|'[^']*')""")
_FILE = re.compile(rb"""\bfile\w*\s*=\s*("[^"]*"|'[^']*')""")


def rehearse_model(path: Path, folders: Sequence[Path] | None) -> None:
    """Let a child process with bounded time and memory read and compile a robot's model first.

    Args:
        path: MJCF or URDF file.
        folders: Where the files may be that it names; None: anywhere.

    Raises:
        FileError: It cannot be read, or not within the bounds.
        ConfigError: MuJoCo cannot read it, or it is too large for a robot.
        NotAllowedError: It names a file elsewhere.
    """
    call_apart("handloom.sim.model_file:check_model", path, folders, what=str(path))


def check_model(path: Path, folders: Sequence[Path] | None) -> None:
    """Refuse a model file that leads elsewhere, that MuJoCo cannot compile, or that is too large for a robot."""
    if folders is not None:
        demand_files_inside(path, folders)
    try:
        model = mujoco.MjSpec.from_file(str(path)).compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ConfigError(f"{path}: MuJoCo cannot read this model: {error}") from error
    for name, most in MOST.items():
        if getattr(model, name) > most:
            raise ConfigError(f"{path}: has {name} = {getattr(model, name)}; robots with up to {most} are read")


def demand_files_inside(path: Path, folders: Sequence[Path]) -> None:
    """Refuse an XML model that includes itself, or that names a file outside some folders.

    MuJoCo reads XML that XML parsers refuse, so that the text is searched for whatever may name a file, comments
    included, and every place is looked at in which MuJoCo might find it.

    Raises:
        FileError: Includes form a circle, are too many or too large, or the file has a document type.
        NotAllowedError: A file is elsewhere.
    """
    _Walk(path, folders).visit(path, ())


class _Walk:
    """Follows the includes of a model."""

    def __init__(self, main: Path, folders: Sequence[Path]) -> None:
        self.main, self.folders = main, folders
        self.seen: set[Path] = set()

    def visit(self, file: Path, chain: tuple[Path, ...]) -> None:
        """Check the files that one file names, and those it includes."""
        real = file.resolve()
        if real in chain:
            raise FileError(f"{self.main}: {file.name} includes itself: {' > '.join(f.name for f in (*chain, real))}")
        if real in self.seen:
            return
        self.seen.add(real)
        if len(self.seen) > MAX_FILES:
            raise FileError(f"{self.main}: more than {MAX_FILES} files are included")
        text = read_xml(file)
        directories = ["", *(_value(found) for found in _DIRECTORY.findall(text))]
        for name in dict.fromkeys(_value(found) for found in _FILE.findall(text)):
            for place in self._places(name, file, directories):
                demand_inside(place, self.folders, what=f"{file}: {name!r}")
                if _is_xml(place):
                    self.visit(place, (*chain, real))

    def _places(self, name: str, file: Path, directories: list[str]) -> Iterator[Path]:
        """Yield the files that a name may mean."""
        for folder in dict.fromkeys((self.main.parent, file.parent)):
            for directory in directories:
                place = folder / directory / name
                try:
                    if place.is_file():
                        yield place
                except (OSError, ValueError):
                    continue


def read_xml(file: Path) -> bytes:
    """Return the content of an XML file.

    Raises:
        FileError: It cannot be read, is too large, or brings a document type, whose entities can grow without end.
    """
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise FileError(f"{file}: is {size / 1e6:.0f} MB; a model file has at most {MAX_BYTES / 1e6:.0f} MB")
        text = file.read_bytes()
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{file}: cannot be read: {error.strerror}") from error
    if b"\0" in text[:4096]:  # A document type in UTF-16 would not be found below.
        raise FileError(f"{file}: is not UTF-8 text; is this an XML file?")
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", text):
        raise FileError(f"{file}: has a document type (<!DOCTYPE ...>), which model files do not need; take it out")
    return text


def _is_xml(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _value(quoted: bytes) -> str:
    return unescape(quoted[1:-1].decode("utf-8", "replace")).strip()
