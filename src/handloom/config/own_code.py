"""Code outside the package that a file refers to, such as ``my_module:MySkill``: imported only if the user allowed it.

A task, a graph, a robot folder or an archive may come from anyone. Names in Handloom's own tables are always imported.
Any other name needs the user's permission: ``--allow-code``, the name itself on the command line, or the folder of the
code under ``allow_code`` in the user's settings file.

The same permission covers files: archives and runs may refer to robots and objects elsewhere only with
``--allow-outside``. No file can grant either.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from handloom.config.loading import load_config
from handloom.config.model import Config
from handloom.errors import InputError, NotAllowedError


class UserSettings(Config):
    """The user's settings for all commands, in ``settings.yaml``."""

    allow_code: tuple[str, ...] = ()
    """Folders with Python code that files may refer to."""


@dataclass(frozen=True, kw_only=True)
class Permission:
    """Which code outside the package may run. Plain values, so that it can be sent to workers on other machines."""

    everything: bool = False
    names: frozenset[str] = frozenset()
    """Names given by the user, e.g. ``my_module:MySource``."""
    folders: tuple[str, ...] = ()
    """Folders whose code may run."""
    outside: bool = False
    """Whether archives and runs may name files outside their own folders."""
    places: tuple[str, ...] = ()
    """Folders whose files they may name in any case: those of a task that the user gave."""


_permission: ContextVar[Permission | None] = ContextVar("permission", default=None)
"""None: the settings file decides."""


class _Change:
    """A changed permission: permanent, or for the duration of a ``with`` block."""

    def __init__(self, permission: Permission) -> None:
        self._token = _permission.set(permission)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _permission.reset(self._token)


def allow_code(*names: str) -> _Change:
    """Let files refer to code outside the package from here on, or within a ``with`` block.

    Args:
        names: The only names that are allowed, e.g. ``my_module:MySkill``; none: all of them.
    """
    now = _present()
    return _Change(replace(now, names=now.names | set(names)) if names else replace(now, everything=True))


def forbid_code() -> _Change:
    """Import nothing outside the package, whatever is in the settings file, from here on or within a ``with`` block."""
    return _Change(replace(_present(), everything=False, names=frozenset(), folders=()))


def allow_outside() -> _Change:
    """Let archives and runs name files outside their own folders from here on, or within a ``with`` block."""
    return _Change(replace(_present(), outside=True))


def allow(*, code: bool, outside: bool = False) -> None:
    """Grant, from here on, the permissions of a command's flags ``--allow-code`` and ``--allow-outside``."""
    if code:
        allow_code()
    if outside:
        allow_outside()


def allow_folders(folders: Iterable[Path]) -> _Change:
    """Let archives and runs name files in some folders from here on, or within a ``with`` block."""
    now = _present()
    return _Change(replace(now, places=(*now.places, *map(str, folders))))


def is_outside_allowed() -> bool:
    """Return whether archives and runs may name files outside their own folders."""
    return _present().outside


def allowed_folders() -> tuple[Path, ...]:
    """Return the folders whose files archives and runs may name from anywhere."""
    return tuple(map(Path, _present().places))


def with_permission(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that runs with the current permission wherever it is called, even in another process."""
    return partial(_run_with, _present(), function)


def _run_with(permission: Permission, function: Callable[[Any], Any], item: Any) -> Any:
    with _Change(permission):
        return function(item)


def import_named(kind: str, name: str, table: Mapping[str, str], *, own: str) -> Any:
    """Import a class or function: a built-in one by its name in a table, or a user's own by ``module:name``.

    Args:
        kind: Kind of the object, for messages, e.g. ``"skill"``.
        name: A key of the table, or e.g. ``"my_module:MySkill"``.
        table: Built-in names: name > ``module:name``.
        own: How users refer to their own, e.g. ``"my_module:MySkill"``.

    Raises:
        NotAllowedError: It is not built in, and the user did not allow it.
        InputError: There is no such module or name, or importing it fails.
    """
    if name not in table:
        if not is_allowed(name):
            raise NotAllowedError(refusal(kind, name))
        if "" not in sys.path and os.getcwd() not in sys.path:
            sys.path.append("")  # Last, so that a file in the working folder cannot pose as an installed package.
    module, _, attribute = table.get(name, name).partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        what = str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{kind} {name!r} cannot be imported: {what}; write it as {own}") from error


def all_code_allowed() -> bool:
    """Return whether files may name any code at all."""
    return _present().everything


def is_allowed(name: str) -> bool:
    """Return whether code outside the package may be imported by this name."""
    permission = _present()
    if permission.everything or name in permission.names:
        return True
    places = _code_places(name)
    folders = [Path(folder).expanduser().resolve() for folder in permission.folders]
    return bool(places) and all(any(place.is_relative_to(folder) for folder in folders) for place in places)


def refusal(kind: str, name: str) -> str:
    """Return a message with the code that a name would run and how to allow it."""
    file = code_file(name)
    place = "Python code that was not found in any file" if file is None else file
    return (
        f"{kind} {name!r} would run {place}; look at it first, then allow it with --allow-code (generate, sample, "
        "verify, render), with handloom.config.allow_code() in Python, or by its folder under allow_code in "
        f"{settings_file()}"
    )


def code_file(name: str) -> Path | None:
    """Return the file or package folder that importing ``module:name`` would run first; None when there is none.

    Only the first part of a dotted module is looked up: finding the rest would run it. Modules that are frozen or
    built into Python have no file.
    """
    return next(iter(_code_places(name)), None)


def _code_places(name: str) -> tuple[Path, ...]:
    """Return the location of a name's code: a file, a package folder, or all folders of a package without a file."""
    top = name.partition(":")[0].partition(".")[0]
    try:
        spec = importlib.util.find_spec(top) or PathFinder.find_spec(top, [os.getcwd()])
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    own = [spec.origin] if spec.has_location and spec.origin else []
    return tuple(Path(place).resolve() for place in spec.submodule_search_locations or own)


def settings_file() -> Path:
    """Return the path of the user's settings: ``handloom/settings.yaml`` in ``XDG_CONFIG_HOME``, else ``~/.config``."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config")) / "handloom" / "settings.yaml"


def _present() -> Permission:
    """Return the permission in force."""
    given = _permission.get()
    if given is not None:
        return given
    try:
        file = settings_file().expanduser()
    except RuntimeError:  # There is no home folder.
        return Permission()
    return Permission(folders=load_config(file, UserSettings).allow_code if file.is_file() else ())
