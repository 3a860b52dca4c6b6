"""A YAML file as plain values that remember the file and line each of them came from."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from handloom.config.search import find_file
from handloom.errors import ConfigError

MAX_NODES = 300_000
"""A task file has some hundred values; far more means a wrong file or a YAML alias bomb."""
MAX_BYTES = 8_000_000
MAX_DEPTH = 60

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Mark:
    """Where a value was written."""

    source: str
    """File name as the user gave it, or ``--set key=value``."""
    line: int | None = None
    """Line in the file, from 1; None when the source has no lines."""

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass
class Document:
    """Values of a YAML file and the place each one was written."""

    values: Any
    """Plain dicts, lists, strings, numbers, booleans and None."""
    path: Path
    """The file that was read."""
    marks: dict[KeyPath, Mark] = field(default_factory=dict)
    """Place of every key and list item, by its path."""

    def mark(self, path: KeyPath) -> Mark:
        """Return the place of ``path``, or of the nearest enclosing value that has one."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.marks:
                return self.marks[path[:end]]
        return Mark(str(self.path))


def read_document(path: str | Path) -> Document:
    """Read a YAML file and the files its top-level ``base:`` key names, nearest file winning.

    Mappings merge key by key; lists replace, except lists of mappings with a ``name``, which merge by name.

    Raises:
        ConfigError: The file is missing, unreadable, too large, not YAML, repeats a key, or inherits in a circle.
    """
    return _read(Path(path), ())


def _read(path: Path, parents: tuple[Path, ...]) -> Document:
    try:
        resolved = path.resolve(strict=True)
        text = _read_text(resolved, path)
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if resolved in parents:
        circle = " > ".join(str(p) for p in (*parents[parents.index(resolved) :], resolved))
        raise ConfigError(f"{path}: base files inherit in a circle: {circle}")
    document = _parse(text, path)
    if not isinstance(document.values, dict) or "base" not in document.values:
        return document
    base = document.values.pop("base")
    mark = document.mark(("base",))
    if not isinstance(base, str):
        raise ConfigError(f"{mark}: base: must be the name of a YAML file, got {base!r}")
    parent = _read(find_file(base, near=path.parent, what=f"{mark}: base"), (*parents, resolved))
    return _merged(parent, document)


def _read_text(resolved: Path, shown: Path) -> str:
    if resolved.is_dir():
        raise ConfigError(f"{shown}: is a folder, not a YAML file")
    size = resolved.stat().st_size
    if size > MAX_BYTES:
        raise ConfigError(f"{shown}: is {size / 1e6:.1f} MB; a config file has at most {MAX_BYTES / 1e6:.0f} MB")
    try:
        return resolved.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown}: is not UTF-8 text (byte {error.start}); is this a YAML file?") from error


def _parse(text: str, path: Path) -> Document:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        line = f":{at.line + 1}" if at else ""
        raise ConfigError(f"{path}{line}: not valid YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: values are nested more than {MAX_DEPTH} deep") from error
    document = Document(None, path, {(): Mark(str(path), 1)})
    if node is not None:
        document.values = _Builder(document).build(node, ())
    return document


class _Builder:
    """Turns composed YAML nodes into plain values while noting each line."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.loader = yaml.SafeLoader("")
        self.count = 0

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        mark = Mark(str(self.document.path), node.start_mark.line + 1)
        self.document.marks.setdefault(path, mark)
        self.count += 1
        if self.count > MAX_NODES:
            raise ConfigError(f"{mark}: more than {MAX_NODES} values; are YAML aliases expanding without end?")
        if len(path) > MAX_DEPTH:
            raise ConfigError(f"{mark}: values are nested more than {MAX_DEPTH} deep")
        if isinstance(node, yaml.MappingNode):
            return dict(self._items(node, path))
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, i)) for i, item in enumerate(node.value)]
        try:
            return self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise ConfigError(f"{mark}: {_dotted(path)}: cannot read the value {node.value!r}") from error

    def _items(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[Any, Any]]:
        self._flatten(node)
        seen: set[Any] = set()
        for key_node, value_node in node.value:
            mark = Mark(str(self.document.path), key_node.start_mark.line + 1)
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError(f"{mark}: {_dotted(path)}: a key must be a plain word")
            key = self.loader.construct_object(key_node)
            if key in seen:
                raise ConfigError(f"{mark}: {_dotted((*path, key))}: this key is given twice")
            seen.add(key)
            self.document.marks[(*path, key)] = mark
            yield key, self.build(value_node, (*path, key))

    def _flatten(self, node: yaml.MappingNode) -> None:
        """Resolve YAML's ``<<`` merge keys."""
        try:
            self.loader.flatten_mapping(node)
        except yaml.YAMLError as error:
            raise ConfigError(f"{self.document.path}:{node.start_mark.line + 1}: wrong use of '<<'") from error


def _dotted(path: KeyPath) -> str:
    return ".".join(str(part) for part in path) or "top level"


def _merged(parent: Document, child: Document) -> Document:
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
    if _named(a) and _named(b):
        places = {item["name"]: i for i, item in enumerate(a)}
        merged = [_copied(parent, item, (*path_a, i), (*path, i), out) for i, item in enumerate(a)]
        for i, item in enumerate(b):
            if item["name"] in places:
                k = places[item["name"]]
                merged[k] = _merge(parent, child, a[k], item, (*path_a, k), (*path_b, i), (*path, k), out)
            else:
                merged.append(_copied(child, item, (*path_b, i), (*path, len(merged)), out))
        return merged
    return _copied(child, b, path_b, path, out)


def _named(value: Any) -> bool:
    """Return whether this is a list of mappings with distinct names."""
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
