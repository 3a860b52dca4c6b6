"""Materials of OBJ files: colours and images, with the options that may precede an image's name."""

import re
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from handloom.errors import FileError
from handloom.objects.importers.import_options import ImportOptions, ReportDraft

_WORDS = {"-blendu": 1, "-blendv": 1, "-boost": 1, "-mm": 2, "-texres": 1, "-clamp": 1, "-bm": 1, "-imfchan": 1}
"""Ignored options of a map > number of words that follow."""
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
MAX_BYTES = 4_000_000
"""Largest file of materials."""


@dataclass(frozen=True)
class TextureReference:
    """An image named in a line of a material."""

    file: str
    """Path with slashes, as written."""
    repeat: tuple[float, float] = (1.0, 1.0)
    """Factor on texture coordinates (``-s``)."""
    offset: tuple[float, float] = (0.0, 0.0)
    """Then added to them (``-o``)."""


@dataclass(frozen=True)
class ObjMaterial:
    """A material that an OBJ file uses."""

    name: str
    color: tuple[float, float, float] | None
    """Diffuse colour ``Kd``, sRGB of 0 to 1; None: not given."""
    texture: TextureReference | None
    """Image ``map_Kd``; None: there is none."""
    picture: Path | None
    """Its file; None: not given or not found."""


def texture_reference(argument: str) -> TextureReference:
    """Return the image given after ``map_Kd``; names may contain spaces, options have one to three numbers."""
    words = argument.split()
    repeat, offset = (1.0, 1.0), (0.0, 0.0)
    while words and (words[0] in _WORDS or words[0] in {"-s", "-o", "-t"}):
        option, *words = words
        if option in _WORDS:
            words = words[_WORDS[option] :]
            continue
        numbers: list[float] = []
        while words and len(numbers) < 3 and _NUMBER.fullmatch(words[0]):
            numbers.append(float(words.pop(0)))
        if option == "-s" and numbers:
            repeat = (numbers[0], numbers[1] if len(numbers) > 1 else 1.0)
        elif option == "-o" and numbers:
            offset = (numbers[0], numbers[1] if len(numbers) > 1 else 0.0)
    return TextureReference(" ".join(words).strip('"').replace("\\", "/"), repeat, offset)


def find_texture(name: str, folder: Path) -> Path | None:
    """Return an image named by a file in ``folder``: from there or, for a path of the author's machine, by its tail."""
    parts = PureWindowsPath(name).parts
    for k in range(len(parts)):
        place = folder.joinpath(*parts[k:])
        if place.is_file():
            return place
    beside = folder / "textures" / parts[-1] if parts else folder
    return beside if beside.is_file() else None


def used_materials(file: Path, options: ImportOptions, draft: ReportDraft) -> list[ObjMaterial]:
    """Return the materials of the faces of an OBJ file, in the order of their first use.

    Raises:
        FileError: A file of materials is too large.
        NotAllowedError: A file of materials or an image lies elsewhere.
    """
    text = file.read_text(encoding="utf-8", errors="replace")
    names = dict.fromkeys(found.strip() for found in re.findall(r"^[ \t]*usemtl[ \t]+(.+)$", text, re.MULTILINE))
    known: dict[str, ObjMaterial] = {}
    for line in re.findall(r"^[ \t]*mtllib[ \t]+(.+)$", text, re.MULTILINE):
        whole = file.parent / line.strip()
        for library in [whole] if whole.is_file() else [file.parent / word for word in line.split()]:
            if library.is_file():
                options.demand_inside(library, file)
                known |= _read_library(library, options, draft)
    return [known[name] for name in names if name in known]


def _read_library(library: Path, options: ImportOptions, draft: ReportDraft) -> dict[str, ObjMaterial]:
    if library.stat().st_size > MAX_BYTES:
        raise FileError(f"{library}: a materials file may have at most {MAX_BYTES / 1e6:.0f} MB")
    found: dict[str, ObjMaterial] = {}
    blocks = re.split(r"^[ \t]*newmtl[ \t]+", library.read_text(encoding="utf-8", errors="replace"), flags=re.MULTILINE)
    for block in blocks[1:]:
        name, *lines = block.splitlines()
        color, reference, picture = None, None, None
        for key, _, rest in (line.strip().partition(" ") for line in lines):
            words = rest.split()
            if key.lower() == "kd" and len(words) >= 3 and all(_NUMBER.fullmatch(word) for word in words[:3]):
                red, green, blue = (min(max(float(word), 0.0), 1.0) for word in words[:3])
                color = (red, green, blue)
            elif key.lower() == "map_kd" and words:
                reference = texture_reference(rest)
                picture = find_texture(reference.file, library.parent)
                if picture is not None:
                    options.demand_inside(picture, library)
                else:
                    draft.say_missing(reference.file, library.parent)
        found[name.strip()] = ObjMaterial(name.strip(), color, reference, picture)
    return found
