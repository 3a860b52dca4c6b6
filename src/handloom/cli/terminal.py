"""Output to any terminal: closed streams, limited encodings, and text without control characters."""

import os
import sys
from contextlib import suppress


def plain(text: str) -> str:
    """Return the text without control sequences (cursor movement, colours, changes of writing direction)."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def mend_streams() -> None:
    """Redirect closed standard streams to the null device, and replace characters that an encoding lacks.

    Otherwise a file opened while standard output is closed would get its descriptor, and library output with it.
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
    """Discard buffered text that standard output does not accept, so that the interpreter does not retry at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _occupied(number: int) -> int:
    """Return a descriptor of the null device: this number, unless it is already taken."""
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
