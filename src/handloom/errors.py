"""Errors a user can act on. Every error raised on purpose derives from HandloomError."""

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class HandloomError(Exception):
    """Base class of all errors that Handloom raises on purpose; the message is written for the user."""


class InputError(HandloomError, ValueError):
    """An argument has a wrong value, shape or length. Nothing was changed."""


class ConfigError(HandloomError, ValueError):
    """A YAML file, an override or a path in it is wrong; the message starts with file and line."""


class NotFoundError(HandloomError, LookupError):
    """A name that does not exist; the message lists the existing names."""


class StateError(HandloomError, RuntimeError):
    """A call that is not possible in the current state, such as use before initialisation."""


class FileError(HandloomError, OSError):
    """A file or folder cannot be read, written or trusted."""


class MachineError(StateError):
    """The machine failed, not the input: memory, files, devices or time. A retry may succeed.

    Args:
        message: What happened.
        kind: ``memory``, ``files``, ``devices``, ``time``, or ``killed`` if a process was killed from outside.
    """

    def __init__(self, message: str, *, kind: str = "devices") -> None:
        super().__init__(message)
        self.kind = kind


class NotAllowedError(HandloomError):
    """A file needs a permission that the user has not given; the message says how to give it."""


class MissingExtraError(HandloomError, ImportError):
    """An optional package is not installed; the message says which extra provides it."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt name: the closest known name first, then all names.

    Args:
        name: The given name.
        known: The existing names.

    Returns:
        For example ``did you mean 'table'? known: cube, table``; empty if there are no known names.
    """
    names = sorted(set(known))
    if not names:
        return ""
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    start = f"did you mean {near[0]!r}? " if near else ""
    return f"{start}known: {', '.join(names)}"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> NotFoundError:
    """Build the error for a name that does not exist, e.g. ``no robot named 'f3'; did you mean 'fr3'?``."""
    hint = suggest(name, known)
    return NotFoundError(f"no {kind} named {name!r}" + (f"; {hint}" if hint else f"; no {kind} is defined"))


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional package, or raise an error that names the extra to install.

    Args:
        module: Dotted module name, e.g. ``"ray"``.
        extra: The extra of Handloom that installs it, e.g. ``"ray"``.

    Raises:
        MissingExtraError: The package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this needs the package {module!r}, which is not installed; try: pip install 'handloom[{extra}]'"
        ) from error
