r"""Safe paths from untrusted text: names of files, and files below a folder.

A body, a task, a joint or a camera may be called ``/home/me``, ``../..`` or ``a\b``. ``safe_name`` turns any text into
one part of a path; ``below`` resolves a relative path of a document in a folder, and refuses paths that lead out of it.
Paths that may lie in several folders go through ``handloom.config.search``.
"""

import hashlib
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

from handloom.errors import NotAllowedError

MOST_BYTES = 120
"""Longest safe name [bytes]; file systems allow 255, and file extensions are added to it."""
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$|clock\$)(\..*)?", re.IGNORECASE)
"""Device names on Windows, with any extension."""
_ENDING = re.compile(r"(?<=[^.])\.[A-Za-z0-9]{1,8}$")
_OTHER = re.compile(r"[^\w .,+=@()\[\]-]")


def safe_name(text: str) -> str:
    """Turn any text into a name for a file or folder: one part of a path, on every system.

    Plain names stay unchanged. A changed name gets eight digits of the text's hash, before the extension, so that two
    texts never get the same name.
    """
    clean = _OTHER.sub("_", text).lstrip(". ").rstrip(". ")
    if _DEVICE.fullmatch(clean):
        clean = f"_{clean}"
    if clean and clean == text and len(clean.encode("utf-8", "surrogatepass")) <= MOST_BYTES:
        return clean
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem, ending = (clean[: found.start()], found[0]) if (found := _ENDING.search(clean)) else (clean, "")
    room = MOST_BYTES - 9 - len(ending)
    short = stem.encode("utf-8", "ignore")[:room].decode("utf-8", "ignore").rstrip(". ")
    return f"{short or 'unnamed'}_{digits}{ending}"


def below(root: Path, name: str, *, what: str) -> Path:
    r"""Resolve a relative path of a document in a folder; the file need not exist.

    Args:
        root: The folder.
        name: Parts joined by ``/``.
        what: Start of the error message: the file in question.

    Raises:
        NotAllowedError: The path is absolute, contains ``..``, ``\`` or a null byte, or leads out of the folder by a
            link.
    """
    parts = PurePosixPath(name).parts
    windows = PureWindowsPath(name)
    odd = not parts or ".." in parts or "\\" in name or "\0" in name
    if odd or name.startswith("~") or windows.is_absolute() or windows.drive or windows.root:
        raise NotAllowedError(f"{what}: {_shown(name)} is not a path inside {root}")
    place = root.joinpath(*parts)
    try:
        inside = place.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # A loop of links, or a name that is too long.
        inside = False
    if not inside:
        raise NotAllowedError(f"{what}: {_shown(name)} leads out of {root} by a link; replace the link by a copy")
    return place


def _shown(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:77]}...")
