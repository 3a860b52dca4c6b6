"""Untrusted model files: which files an MJCF or URDF file refers to, and whether MuJoCo can read it."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from pathlib import Path

import mujoco

from handloom.child_process import call_apart
from handloom.config.search import demand_inside
from handloom.errors import ConfigError, FileError

MAX_BYTES = 64_000_000
"""Largest XML file that is read."""
MODEL_PARENTS = 3
"""Number of folder levels above a robot's model in which its meshes may be."""
MAX_FILES = 500
"""Maximum number of files a model may include."""
MAX_DIRECTORIES = 50
"""Maximum number of folders for meshes and textures that a model may name."""
MOST = {"nbody": 1_000, "njnt": 300, "ngeom": 5_000, "nmeshvert": 5_000_000, "ntexdata": 500_000_000}
"""Size limit for a robot: several humanoids. Robots are compiled many times, so the limit is stricter than for a single
compilation."""
_DIRECTORY = re.compile(rb"""\b(?:meshdir|texturedir|assetdir)\s*=\s*("[^"]*"|'[^']*')""")
_FILE = re.compile(rb"""\bfile\w*\s*=\s*("[^"]*"|'[^']*')""")
_NAMED = {"quot": '"', "amp": "&", "apos": "'", "lt": "<", "gt": ">"}
_CHARACTER = re.compile(r"&(quot|amp|apos|lt|gt|#x[0-9a-fA-F]+|#[0-9]+);")


def rehearse_model(path: Path, folders: Sequence[Path] | None) -> None:
    """Let a child process with bounded time and memory read and compile a robot's model first.

    Args:
        path: MJCF or URDF file.
        folders: Folders that may contain the files it names; None: any.

    Raises:
        FileError: It cannot be read within these limits.
        ConfigError: MuJoCo cannot read it, or it is too large for a robot.
        NotAllowedError: It names a file elsewhere.
    """
    call_apart("handloom.sim.model_file:check_model", path, folders, what=str(path))


def check_model(path: Path, folders: Sequence[Path] | None) -> None:
    """Refuse a model file that refers to files elsewhere, does not compile, or is too large for a robot."""
    if folders is not None:
        demand_files_inside(path, folders)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        if folders is not None:
            demand_parts_inside(path, spec, folders)
        model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ConfigError(f"{path}: MuJoCo cannot read this model: {error}") from error
    for name, most in MOST.items():
        if getattr(model, name) > most:
            raise ConfigError(f"{path}: has {name} = {getattr(model, name)}; the limit for robots is {most}")


def demand_files_inside(path: Path, folders: Sequence[Path]) -> None:
    r"""Refuse an XML model that includes itself, or that names a file outside some folders.

    MuJoCo reads XML that XML parsers refuse, so the text is searched for anything that may name a file, including
    comments, in every location where MuJoCo might look: it treats ``\`` as ``/``, drops ``a/..`` without checking
    whether ``a`` is a link, and looks for the meshes of an included file in the mesh folders of all files.

    Raises:
        FileError: Includes form a circle, are too many or too large, or the file has a document type.
        NotAllowedError: A file is elsewhere.
    """
    _Walk(path, folders).check()


def demand_parts_inside(path: Path, spec: mujoco.MjSpec, folders: Sequence[Path]) -> None:
    """Refuse a parsed but uncompiled model with meshes, textures or similar files outside some folders.

    Raises:
        NotAllowedError: A file is elsewhere.
    """
    named = [part.file for part in (*spec.meshes, *spec.hfields, *spec.skins, *spec.textures)]
    named += [file for texture in spec.textures for file in texture.cubefiles]
    directories = dict.fromkeys(("", spec.meshdir, spec.texturedir))
    for name in dict.fromkeys(filter(None, named)):
        for place in _places(name, [path.parent], directories):
            demand_inside(place, folders, what=f"{path}: {name!r}")


class _Walk:
    """Follows the includes of a model."""

    def __init__(self, main: Path, folders: Sequence[Path]) -> None:
        self.main, self.folders = main, folders
        self.names: dict[Path, tuple[str, ...]] = {}
        """File > names it may refer to, as written."""
        self.directories: dict[str, None] = {"": None}
        """Folders of meshes and textures stated by any file."""
        self.seen: set[tuple[Path, int]] = set()

    def check(self) -> None:
        """Check the files that the model refers to, until no file adds another folder to search."""
        known = 0
        while known < len(self.directories):
            known = len(self.directories)
            self.visit(self.main, ())

    def visit(self, file: Path, chain: tuple[Path, ...]) -> None:
        """Check the files that one file names, and those it includes."""
        real = file.resolve()
        if real in chain:
            raise FileError(f"{self.main}: {file.name} includes itself: {' > '.join(f.name for f in (*chain, real))}")
        round_ = len(self.directories)
        if (real, round_) in self.seen:
            return
        self.seen.add((real, round_))
        if real not in self.names:
            self._read(file, real)
        for name in self.names[real]:
            for place in _places(name, (self.main.parent, file.parent), self.directories):
                demand_inside(place, self.folders, what=f"{file}: {name!r}")
                if _is_xml(place):
                    self.visit(place, (*chain, real))

    def _read(self, file: Path, real: Path) -> None:
        if len(self.names) >= MAX_FILES:
            raise FileError(f"{self.main}: more than {MAX_FILES} files are included")
        text = read_xml(file)
        self.names[real] = tuple(dict.fromkeys(name for found in _FILE.findall(text) for name in _values(found)))
        self.directories |= dict.fromkeys(name for found in _DIRECTORY.findall(text) for name in _values(found))
        if len(self.directories) > MAX_DIRECTORIES:
            raise FileError(f"{self.main}: more than {MAX_DIRECTORIES} folders of meshes and textures are named")


def _places(name: str, folders: Iterable[Path], directories: Iterable[str]) -> Iterator[Path]:
    """Yield the files to which a name may refer: as written or, with ``strippath``, without folders."""
    name = name.replace("\\", "/")
    ends = dict.fromkeys((name, name.rpartition("/")[2]))
    found = (
        os.path.join(folder, directory.replace("\\", "/"), end)
        for folder in dict.fromkeys(folders)
        for directory in tuple(directories)
        for end in ends
    )
    for place in dict.fromkeys(way for path in found for way in (path, os.path.normpath(path))):
        try:
            if os.path.isfile(place):
                yield Path(place)
        except (OSError, ValueError):
            continue


def read_xml(file: Path) -> bytes:
    """Return the content of an XML file.

    Raises:
        FileError: It cannot be read, is too large, or has a document type, whose entities can expand without limit.
    """
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise FileError(f"{file} has {size / 1e6:.0f} MB; a model file may have at most {MAX_BYTES / 1e6:.0f} MB")
        text = file.read_bytes()
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{file}: cannot be read: {error.strerror}") from error
    if b"\0" in text[:4096]:  # A document type in UTF-16 would not be found below.
        raise FileError(f"{file}: is not UTF-8 text; is this an XML file?")
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", text):
        raise FileError(f"{file}: has a document type (<!DOCTYPE ...>), which model files do not need; remove it")
    return text


def _is_xml(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _values(quoted: bytes) -> dict[str, None]:
    """Return the possible meanings of a value: names may have surrounding spaces and stray ampersands."""
    raw = os.fsdecode(quoted[1:-1])
    texts = (raw, _CHARACTER.sub(_character, raw), unescape(raw))
    lines = (text.replace("\r\n", "\n").replace("\r", "\n") for text in texts)
    return dict.fromkeys(way for text in (*texts, *lines) for way in (text, text.strip()) if way)


def _character(found: re.Match[str]) -> str:
    code = found[1]
    try:
        return _NAMED[code] if code in _NAMED else chr(int(f"0{code[1:]}", 16 if code[1] == "x" else 10))
    except (ValueError, OverflowError):
        return found[0]
