"""A YAML file as plain values, each with the file and line it came from."""

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handloom.config.parsing import KeyPath, Mark, dotted, parse_text
from handloom.config.search import find_file, searched
from handloom.errors import ConfigError, NotAllowedError, suggest

MAX_BYTES = 8_000_000
"""Largest file that is read."""
MAX_BASES = 20
"""Longest chain of base files."""


@dataclass
class Document:
    """Values of a YAML file and the file and line of each."""

    values: Any
    """Plain dicts, lists, strings, numbers, booleans and None."""
    path: Path
    """The file they were read from."""
    marks: dict[KeyPath, Mark] = field(default_factory=dict)
    """File and line of every key and list item, by its path."""
    written: dict[KeyPath, KeyPath] = field(default_factory=dict)
    """Path of an expanded entry > path of the entry that the user wrote for it; others are where they were written."""

    def as_written(self, path: KeyPath) -> KeyPath:
        """Return a path as the user wrote it in the file, before short forms were expanded."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.written:
                return (*self.written[path[:end]], *path[end:])
        return path

    def mark(self, path: KeyPath) -> Mark:
        """Return the place of ``path``, or of the nearest enclosing value that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.marks:
                return self.marks[path[:end]]
        return Mark(str(self.path))


def read_document(
    path: str | Path,
    *,
    shipped: Path | None = None,
    allow_outside: bool = False,
    foreign_tags: bool = False,
    text: str | None = None,
    inherit: bool = True,
) -> Document:
    """Read a YAML file and the files its top-level ``base:`` key names, nearest file winning.

    Mappings merge key by key; lists replace, except lists of mappings with a ``name``, which merge by name; an entry
    ``{name: NAME, drop: true}`` removes the base's entry.

    Args:
        path: The file.
        shipped: Folder whose files can be a ``base`` from anywhere; searched last.
        allow_outside: A ``base`` may lie outside the folders around the file.
        foreign_tags: Take values with a tag of another program, such as ``!!python/name``, as text instead of
            refusing them.
        text: Content to use instead of the file's, such as an editor's current text; None reads the file.
        inherit: Whether ``base:`` is followed; False leaves it among the values.

    Raises:
        ConfigError: The file is missing, unreadable, too large, not YAML, repeats a key, or has circular inheritance.
    """
    given = Path(path)
    if not inherit:
        written = given.read_text(encoding="utf-8") if text is None else text
        values, marks = parse_text(written, str(given), foreign_tags=foreign_tags)
        return Document(values, given, marks)
    return _read(given, (), shipped=shipped, allow_outside=allow_outside, foreign_tags=foreign_tags, text=text)


def one_of_scene(document: Document, index: int, *, shipped: Path | None, allow_outside: bool) -> Document:
    """Return one entry of a file's ``tasks`` list merged over the part that all tasks share, the file's ``scene``.

    They merge like a file and its base, and ``scene`` may have its own ``base``.
    """
    scene = _with_base(
        _part(document, ("scene",)), (), document.path, shipped=shipped, allow_outside=allow_outside, foreign_tags=False
    )
    return merge_documents(scene, _part(document, ("tasks", index)))


def _part(document: Document, keys: KeyPath) -> Document:
    """Return a value inside a document as a separate document."""
    values, depth = document.values, len(keys)
    for key in keys:
        values = values[key]
    marks = {path[depth:]: mark for path, mark in document.marks.items() if path[:depth] == keys}
    return Document(values, document.path, marks)


def _read(
    path: Path,
    parents: tuple[Path, ...],
    named_by: str = "",
    *,
    shipped: Path | None,
    allow_outside: bool,
    foreign_tags: bool,
    text: str | None = None,
) -> Document:
    try:
        resolved = path.resolve(strict=text is None)
        text = _read_text(resolved, f"{named_by}{path}") if text is None else _checked_text(text, path)
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{named_by}{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if resolved in parents:
        circle = " > ".join(str(p) for p in (*parents[parents.index(resolved) :], resolved))
        raise ConfigError(f"{path}: circular inheritance of base files: {circle}")
    if len(parents) > MAX_BASES:
        raise ConfigError(f"{path}: more than {MAX_BASES} base files follow each other")
    values, marks = parse_text(text, str(path), foreign_tags=foreign_tags)
    return _with_base(
        Document(values, path, marks),
        (*parents, resolved),
        path,
        shipped=shipped,
        allow_outside=allow_outside,
        foreign_tags=foreign_tags,
    )


def _with_base(
    document: Document,
    parents: tuple[Path, ...],
    path: Path,
    *,
    shipped: Path | None,
    allow_outside: bool,
    foreign_tags: bool,
) -> Document:
    """Return a document merged over the file that its ``base`` names, and over that file's bases."""
    if not isinstance(document.values, dict) or "base" not in document.values:
        return document
    base = document.values.pop("base")
    mark = document.mark(("base",))
    if not isinstance(base, str):
        raise ConfigError(f"{mark}: base: must be the name of a YAML file, got {base!r}")
    file = _base_file(base, path.parent, shipped, f"{mark}: base", allow_outside=allow_outside)
    parent = _read(
        file,
        parents,
        f"{mark}: base: ",
        shipped=shipped,
        allow_outside=allow_outside,
        foreign_tags=foreign_tags,
    )
    return merge_documents(parent, document)


def _base_file(name: str, near: Path, shipped: Path | None, what: str, *, allow_outside: bool) -> Path:
    """Return the file that ``base`` names; the error suggests similar names."""
    try:
        return find_file(name, near=near, asset_root=shipped, what=what, allow_outside=allow_outside)
    except NotAllowedError:
        raise
    except ConfigError as error:
        own = [file.name for pattern in ("*.yaml", "*.yml") for file in near.glob(pattern)]
        ours = [file.relative_to(shipped).as_posix() for file in shipped.rglob("*.yaml")] if shipped is not None else []
        close = difflib.get_close_matches(name, sorted({*own, *ours}), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        setups = ", ".join(sorted(file for file in ours if file.startswith("setups/")))
        where = searched(near, allow_outside=allow_outside)
        library = f" and the task library; its setups: {setups}" if setups else ""
        raise ConfigError(f"{what}: {name} was not found; {hint}{where}{library}") from error


def _checked_text(text: str, path: Path) -> str:
    """Refuse text that cannot be encoded in a file."""
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise ConfigError(f"{path}: a config file may have at most {MAX_BYTES / 1e6:.0f} MB")
    return text


def _read_text(resolved: Path, shown: str) -> str:
    if resolved.is_dir():
        raise ConfigError(f"{shown}: is a folder, not a YAML file")
    if not resolved.is_file():
        raise ConfigError(f"{shown}: is a device or a pipe, not a YAML file")
    size = resolved.stat().st_size
    if size > MAX_BYTES:
        raise ConfigError(f"{shown} has {size / 1e6:.1f} MB; a config file may have at most {MAX_BYTES / 1e6:.0f} MB")
    try:
        return resolved.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown}: is not UTF-8 text (byte {error.start}); is this a YAML file?") from error


def merge_documents(parent: Document, child: Document) -> Document:
    """Return a document in which ``child`` is merged over ``parent``, as over a base file."""
    result = Document(None, child.path, {(): child.mark(())})
    result.values = _merge(parent, child, parent.values, child.values, (), (), (), result)
    return result


def _merge(
    parent: Document, child: Document, a: Any, b: Any, path_a: KeyPath, path_b: KeyPath, path: KeyPath, out: Document
) -> Any:
    """Merge ``b`` (child, at path_b) over ``a`` (parent, at path_a), noting marks at ``path`` of the result."""
    out.marks[path] = child.mark(path_b)
    if isinstance(a, dict) and isinstance(b, dict):
        merged = {}
        for key in [*a, *(k for k in b if k not in a)]:
            at = (*path, key)
            if key not in b:
                merged[key] = _copied(parent, a[key], (*path_a, key), at, out)
            elif key not in a:
                merged[key] = _copied(child, b[key], (*path_b, key), at, out)
            else:
                merged[key] = _merge(parent, child, a[key], b[key], (*path_a, key), (*path_b, key), at, out)
        return merged
    if isinstance(a, list) and isinstance(b, list) and _named(a) and _named(b):
        return _merge_named(parent, child, a, b, path_a, path_b, path, out)
    return _copied(child, b, path_b, path, out)


def _merge_named(
    parent: Document,
    child: Document,
    a: list[Any],
    b: list[Any],
    path_a: KeyPath,
    path_b: KeyPath,
    path: KeyPath,
    out: Document,
) -> list[Any]:
    """Merge two lists of mappings by name; one of ``b`` with ``drop: true`` removes the entry of that name."""
    names = [item["name"] for item in a]
    for i, item in enumerate(b):
        if item.get("drop") is True and item["name"] not in names:
            known = suggest(str(item["name"]), map(str, names))
            raise ConfigError(
                f"{child.mark((*path_b, i))}: {dotted((*path_b, i))}: drop: the base has no {item['name']!r}; {known}"
            )
    dropped = [item["name"] for item in b if item.get("drop") is True]
    changes = {item["name"]: i for i, item in enumerate(b) if item["name"] in names}
    merged: list[Any] = []
    for k, item in enumerate(a):
        at, name = (*path, len(merged)), item["name"]
        if name in dropped:
            continue
        if name in changes:
            i = changes[name]
            merged.append(_merge(parent, child, item, b[i], (*path_a, k), (*path_b, i), at, out))
        else:
            merged.append(_copied(parent, item, (*path_a, k), at, out))
    for i, item in enumerate(b):
        if item["name"] not in names:
            merged.append(_copied(child, item, (*path_b, i), (*path, len(merged)), out))
    return merged


def _named(value: Any) -> bool:
    """Return whether a value is a list of mappings with distinct names."""
    if not (isinstance(value, list) and value and all(isinstance(v, dict) and "name" in v for v in value)):
        return False
    names = [str(v["name"]) for v in value]
    return len(set(names)) == len(names)


def _copied(source: Document, value: Any, from_path: KeyPath, to_path: KeyPath, out: Document) -> Any:
    """Copy the marks of ``value`` and everything in it to the merged document."""
    out.marks[to_path] = source.mark(from_path)
    if isinstance(value, dict):
        return {k: _copied(source, v, (*from_path, k), (*to_path, k), out) for k, v in value.items()}
    if isinstance(value, list):
        return [_copied(source, v, (*from_path, i), (*to_path, i), out) for i, v in enumerate(value)]
    return value
