"""Search for asset files, with messages that list the searched folders."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from handloom.errors import FileError, suggest
from handloom.objects.importers.import_options import ImportOptions

MAX_BYTES = 250_000_000
"""Largest total size of a model's meshes and textures; they are kept in memory, and sent to workers."""


def find_asset(path: str | Path, folders: Sequence[str | Path] = ()) -> Path:
    """Return an existing file: the path itself, or the path below one of the folders, in order.

    Raises:
        FileError: The file was not found; the message names it, the searched folders and files with a similar name.
    """
    try:
        wanted = Path(path).expanduser()
        places = [wanted] if wanted.is_absolute() or not folders else []
        places += [Path(folder).expanduser() / wanted for folder in folders]
        for place in places:
            if place.is_file():
                return place
    except (OSError, RuntimeError, ValueError) as error:
        raise FileError(f"no asset file {str(path)!r}: {error}") from error
    searched = [str(place.parent) for place in places]
    raise FileError(
        f"no asset file {wanted.name!r} ({wanted}); searched: {', '.join(searched)}{_near(wanted, places)}"
        "; a proxy of the same category can stand in: handloom.objects.proxy_object"
    )


def read_parts(files: Iterable[str], owner: Path, folders: Sequence[Path], options: ImportOptions) -> dict[str, bytes]:
    """Return the contents of the files that a model names, by the names it uses."""
    found: dict[str, bytes] = {}
    for name in files:
        found[name] = find_part(name, owner, folders, options).read_bytes()
        if sum(map(len, found.values())) > MAX_BYTES:
            raise FileError(f"{owner}: the files it names have more than {MAX_BYTES / 1e6:.0f} MB")
    return found


def find_part(name: str, owner: Path, folders: Sequence[Path], options: ImportOptions) -> Path:
    """Return the file that a model names.

    Package and file URLs are looked up by every tail of their path, so ``package://cabinet/meshes/door.obj`` is
    found as ``cabinet/meshes/door.obj``, ``meshes/door.obj`` or ``door.obj``.
    """
    plain = name.split("://", 1)[-1].lstrip("/") if "://" in name else name
    tails = [Path(*Path(plain).parts[k:]) for k in range(len(Path(plain).parts))]
    candidates = [Path(plain), *(folder / tail for tail in tails for folder in folders)]
    file = next((c for c in candidates if c.is_file()), None)
    if file is None:
        raise FileError(
            f"{owner} names the file {name!r}, which does not exist; searched: {', '.join(map(str, folders))}"
        )
    options.demand_inside(file, owner)
    return file


def _near(wanted: Path, places: Sequence[Path]) -> str:
    names = {file.name for place in places if place.parent.is_dir() for file in place.parent.iterdir()}
    hint = suggest(wanted.name, names) if 0 < len(names) <= 40 else ""
    return f"; there: {hint}" if hint else ""
