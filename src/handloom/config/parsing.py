"""YAML text to plain values, with the line of each."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from handloom.errors import ConfigError

KeyPath = tuple[str | int, ...]
"""Keys and list indices from the top of a file down to a value."""


class Mark(NamedTuple):
    """File and line of a value."""

    source: str
    """File name as the user gave it, or ``--set key=value``."""
    line: int | None = None
    """Line in the file, from 1; None when the source has no lines."""

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


def dotted(path: KeyPath) -> str:
    """Return a path as users write it, e.g. ``robots.0.name``."""
    return ".".join(str(part) for part in path) or "top level"


MAX_NODES = 300_000
"""A task file has a few hundred values; far more means a wrong file or a YAML alias bomb."""
MAX_DEPTH = 60
MAX_NUMBER = 100
"""Maximum number of characters in a number. YAML reads ``1:30`` as 90, in a time that grows with the square of the
length."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_DATE = "tag:yaml.org,2002:timestamp"
_AS_TEXT = frozenset((_TEXT, _DATE))
_NUMBERS = frozenset(("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"))
_SEQUENCE = "tag:yaml.org,2002:seq"
_MAPPING = "tag:yaml.org,2002:map"
_ENDS = frozenset((yaml.SequenceEndEvent, yaml.MappingEndEvent))


class _Node(NamedTuple):
    """A value as written. PyYAML's own nodes store two positions each and take three times as long."""

    tag: str
    value: Any
    """Text of a scalar; otherwise a list of nodes, keys and values alternating for a mapping."""
    line: int
    """From 1."""
    kind: str
    """``_SEQUENCE``, ``_MAPPING`` or ``_TEXT`` for a scalar with any tag."""


Pairs = dict[str, tuple[_Node, _Node]]


def parse_text(text: str, source: str, *, foreign_tags: bool = False) -> tuple[Any, dict[KeyPath, Mark]]:
    """Return the values of a YAML text and the file and line of each.

    Args:
        text: The text.
        source: Name of the text in error messages and marks.
        foreign_tags: Take values with a tag that YAML does not define as text instead of refusing them.

    Raises:
        ConfigError: The text is not YAML, is nested too deep or expands to too much, or repeats a key.
    """
    marks: dict[KeyPath, Mark] = {(): Mark(source, 1)}
    try:
        node = _Composer(text, source).compose()
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        line = f":{at.line + 1}" if at else ""
        what = error.problem or error.context
        if at and "\t" in "".join(text.splitlines()[at.line : at.line + 1]):
            what = "this line contains a tab; YAML is indented with spaces"
        raise ConfigError(f"{source}{line}: not valid YAML: {what}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise ConfigError(f"{source}: not valid YAML: {str(error).splitlines()[0]}") from error
    return (None if node is None else _Builder(source, marks, foreign_tags).build(node, ())), marks


_RESOLVER = yaml.SafeLoader("")
"""Decides which plain words are numbers, dates, booleans or null."""


@lru_cache(maxsize=4096)
def _plain_tag(value: str, implicit: tuple[bool, bool]) -> str:
    """Return the tag of a scalar without one; cached, since files of a kind repeat the same few thousand words."""
    return _RESOLVER.resolve(yaml.ScalarNode, value, implicit)


class _Composer:
    """Makes nodes of parse events, at most ``MAX_DEPTH`` deep.

    The C library's own composer recurses without a limit, so a file of nested brackets crashes the process.
    """

    def __init__(self, text: str, source: str) -> None:
        self.loader = _Loader(text)
        self.source = source
        self.anchors: dict[str, _Node] = {}
        self.count = 0

    def compose(self) -> _Node | None:
        """Return the root node, or None for an empty file."""
        loader = self.loader
        loader.get_event()
        if loader.check_event(yaml.StreamEndEvent):
            return None
        loader.get_event()
        node = self._root()
        loader.get_event()
        if not loader.check_event(yaml.StreamEndEvent):
            line = loader.get_event().start_mark.line + 1
            raise ConfigError(f"{self.source}:{line}: a second document starts here; a config file has one")
        return node

    def _root(self) -> _Node:
        """Return the node of the next events; the content of a list or mapping is added event by event."""
        next_event = self.loader.get_event
        outer: list[list[_Node]] = []
        inside: list[_Node] = []
        while True:
            event = next_event()
            kind = type(event)
            if kind is yaml.ScalarEvent and event.tag is None and event.anchor is None:
                value = event.value
                inside.append(_Node(_plain_tag(value, event.implicit), value, event.start_mark.line + 1, _TEXT))
                self._count(event)
            elif kind in _ENDS:
                inside = outer.pop()
            else:
                node = self._node(event, len(outer))
                inside.append(node)
                if node.kind is not _TEXT and kind is not yaml.AliasEvent:
                    outer.append(inside)
                    inside = node.value
            if not outer:
                return inside[0]

    def _node(self, event: Any, depth: int) -> _Node:
        """Return the node that an event begins; a list or mapping is still empty."""
        kind = type(event)
        if kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                raise ConfigError(f"{self._at(event)}: not valid YAML: the alias *{event.anchor} has no anchor")
            return self.anchors[event.anchor]
        self._count(event)
        if depth > MAX_DEPTH:
            raise ConfigError(f"{self._at(event)}: values are nested more than {MAX_DEPTH} deep")
        tag, line = event.tag, event.start_mark.line + 1
        if kind is yaml.ScalarEvent:
            if tag is None or tag == "!":
                tag = _plain_tag(event.value, event.implicit)
            node = _Node(tag, event.value, line, _TEXT)
        else:
            kind = _SEQUENCE if kind is yaml.SequenceStartEvent else _MAPPING
            node = _Node(kind if tag is None or tag == "!" else tag, [], line, kind)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _count(self, event: Any) -> None:
        self.count += 1
        if self.count > MAX_NODES:
            raise ConfigError(f"{self._at(event)}: more than {MAX_NODES} values; is this a config file?")

    def _at(self, event: Any) -> str:
        return f"{self.source}:{event.start_mark.line + 1}"


@lru_cache(maxsize=4096, typed=True)
def _constructed(tag: str, text: str) -> str | int | float | None:
    """Return the value of a scalar."""
    if tag in _NUMBERS and len(text) > MAX_NUMBER:
        raise ValueError("too long for a number")
    value = yaml.SafeLoader("").construct_object(yaml.ScalarNode(tag, text))
    if not isinstance(value, str | int | float | None):
        raise ValueError("not a plain value")
    return value


class _Builder:
    """Turns nodes into plain values and records the line of each."""

    def __init__(self, source: str, marks: dict[KeyPath, Mark], foreign_tags: bool) -> None:
        self.source = source
        self.marks = marks
        self.foreign_tags = foreign_tags
        self.count = 0
        self.merged: dict[int, Pairs | None] = {}
        self.lines: dict[int, Mark] = {}

    def build(self, node: _Node, path: KeyPath) -> Any:
        """Return the value of a node whose own line is already recorded."""
        if node.kind is _TEXT:
            return self._scalar(node, path)
        if node.kind is _SEQUENCE:
            items = node.value
            self._refuse_too_much(items, path)
            return [self._item(item, item, (*path, i)) for i, item in enumerate(items)]
        pairs = self._pairs(node, path)
        self._refuse_too_much([key for key, _ in pairs.values()], path)
        return {key: self._item(*pair, (*path, key)) for key, pair in pairs.items()}

    def _refuse_too_much(self, inside: list[_Node], path: KeyPath) -> None:
        """Count the content of a list or mapping at ``path`` before it is built."""
        self.count += len(inside)
        if inside and self.count > MAX_NODES:
            raise ConfigError(
                f"{self._mark(inside[0])}: more than {MAX_NODES} values; are YAML aliases expanding without end?"
            )
        if inside and len(path) >= MAX_DEPTH:
            raise ConfigError(f"{self._mark(inside[0])}: values are nested more than {MAX_DEPTH} deep")

    def _item(self, place: _Node, value: _Node, path: KeyPath) -> Any:
        """Return the value of an item or key of a list or mapping, and record the line where it begins."""
        known = self.lines.get(place.line)
        if known is None:
            known = self.lines[place.line] = self._mark(place)
        self.marks[path] = known
        if value.tag == _TEXT:
            return value.value
        return self._scalar(value, path) if value.kind is _TEXT else self.build(value, path)

    def _pairs(self, node: _Node, path: KeyPath) -> Pairs:
        """Return the keys of a mapping by YAML's merge rule: its own win over ``<<``, earlier mappings over later."""
        if id(node) in self.merged:
            known = self.merged[id(node)]
            if known is None:
                raise ConfigError(f"{self._mark(node)}: {dotted(path)}: '<<' merges a mapping into itself")
            return known
        self.merged[id(node)] = None
        pairs: Pairs = {}
        sources: list[_Node] = []
        for key_node, value_node in zip(node.value[::2], node.value[1::2], strict=True):
            if key_node.tag == _MERGE:
                sources += self._sources(value_node, path)
                continue
            if key_node.kind is not _TEXT:
                raise ConfigError(f"{self._mark(key_node)}: {dotted(path)}: a key must be a plain word")
            key = key_node.value  # Always text, even if YAML reads it as a number, a date or a boolean.
            if key in pairs:
                raise ConfigError(f"{self._mark(key_node)}: {dotted((*path, key))}: this key is given twice")
            pairs[key] = (key_node, value_node)
        for source in sources:
            for key, pair in self._pairs(source, path).items():
                pairs.setdefault(key, pair)
        self.merged[id(node)] = pairs
        return pairs

    def _sources(self, node: _Node, path: KeyPath) -> Iterator[_Node]:
        for source in node.value if node.kind is _SEQUENCE else [node]:
            if source.kind is not _MAPPING:
                raise ConfigError(f"{self._mark(source)}: {dotted(path)}: '<<' takes a mapping or a list of mappings")
            yield source

    def _scalar(self, node: _Node, path: KeyPath) -> Any:
        if node.tag in _AS_TEXT or (self.foreign_tags and node.tag not in yaml.SafeLoader.yaml_constructors):
            return node.value
        try:
            value = _constructed(node.tag, node.value)
        except (yaml.YAMLError, ValueError, OverflowError, TypeError) as error:
            shown = node.value if len(node.value) <= 40 else f"{node.value[:40]}..."
            raise ConfigError(f"{self._mark(node)}: {dotted(path)}: cannot read the value {shown!r}") from error
        return value

    def _mark(self, node: _Node) -> Mark:
        return Mark(self.source, node.line)
