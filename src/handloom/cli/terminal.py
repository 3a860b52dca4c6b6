"""What the terminal can take: streams that are closed or lack characters, and text without control characters."""

import os
import sys
from contextlib import suppress


def plain(text: str) -> str:
    """Return a text without control sequences: no cursor moves, no colours, no change of writing direction."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def mend_streams() -> None:
    """Give closed standard streams a place to go, and let the others replace what their encoding does not have.

    A file that is opened while standard output is closed gets its number, and what libraries print goes into the file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            with suppress(OSError):
                mode = "r" if number == 0 else "w"
                setattr(sys, name, open(_occupied(number), mode, encoding="utf-8"))  # noqa: SIM115 - stays open
        elif number > 0 and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def discard_output() -> None:
    """Throw away what standard output cannot take, so that the end of the process does not try again."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _occupied(number: int) -> int:
    """Return a descriptor of the empty device: this number, unless it is taken by now."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    if descriptor == number:
        return number
    try:
        os.fstat(number)
    except OSError:
        os.dup2(descriptor, number)
        os.close(descriptor)
        return number
    return descriptor
