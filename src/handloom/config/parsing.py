"""YAML text to plain values, noting the line each of them was written on."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from handloom.errors import ConfigError

KeyPath = tuple[str | int, ...]
"""Keys and list indices from the top of a file down to a value."""


class Mark(NamedTuple):
    """Where a value was written."""

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
"""A task file has some hundred values; far more means a wrong file or a YAML alias bomb."""
MAX_DEPTH = 60

Pairs = dict[str, tuple[yaml.Node, yaml.Node]]

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NODES = {
    yaml.ScalarEvent: yaml.ScalarNode,
    yaml.SequenceStartEvent: yaml.SequenceNode,
    yaml.MappingStartEvent: yaml.MappingNode,
}
_TAGS = {yaml.SequenceNode: "tag:yaml.org,2002:seq", yaml.MappingNode: "tag:yaml.org,2002:map"}
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_DATE = "tag:yaml.org,2002:timestamp"
_AS_TEXT = frozenset((_TEXT, _DATE))


def parse_text(text: str, source: str, *, foreign_tags: bool = False) -> tuple[Any, dict[KeyPath, Mark]]:
    """Return the values of a YAML text and the place of each.

    Args:
        text: The text.
        source: What error messages and marks call it.
        foreign_tags: Take values with a tag that YAML does not define as text instead of refusing them.

    Raises:
        ConfigError: The text is not YAML, nests or repeats too much, or gives a key twice.
    """
    marks: dict[KeyPath, Mark] = {(): Mark(source, 1)}
    try:
        node = _Composer(text, source).compose()
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        line = f":{at.line + 1}" if at else ""
        what = error.problem or error.context
        if at and "\t" in "".join(text.splitlines()[at.line : at.line + 1]):
            what = "there is a tab in this line; YAML is indented with spaces"
        raise ConfigError(f"{source}{line}: not valid YAML: {what}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise ConfigError(f"{source}: not valid YAML: {str(error).splitlines()[0]}") from error
    return (None if node is None else _Builder(source, marks, foreign_tags).build(node, ())), marks


_RESOLVER = yaml.SafeLoader("")
"""Knows which plain words are numbers, dates, truth values and null."""


@lru_cache(maxsize=4096)
def _plain_tag(value: str, implicit: tuple[bool, bool]) -> str:
    """Return the tag of a scalar without one; the same few thousand words fill all files of a kind."""
    return _RESOLVER.resolve(yaml.ScalarNode, value, implicit)


class _Composer:
    """Makes nodes of parse events, at most ``MAX_DEPTH`` deep.

    The C library's own composer recurses without a limit, and a file of nested brackets ends the process.
    """

    def __init__(self, text: str, source: str) -> None:
        self.loader = _Loader(text)
        self.source = source
        self.anchors: dict[str, yaml.Node] = {}
        self.count = 0

    def compose(self) -> yaml.Node | None:
        """Return the root node, or None for an empty file."""
        loader = self.loader
        loader.get_event()
        if loader.check_event(yaml.StreamEndEvent):
            return None
        loader.get_event()
        node = self._node(0)
        loader.get_event()
        if not loader.check_event(yaml.StreamEndEvent):
            line = loader.get_event().start_mark.line + 1
            raise ConfigError(f"{self.source}:{line}: a second document starts here; a config file has one")
        return node

    def _node(self, depth: int) -> yaml.Node:
        event = self.loader.get_event()
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise ConfigError(f"{self._at(event)}: not valid YAML: the alias *{event.anchor} has no anchor")
            return self.anchors[event.anchor]
        self.count += 1
        if self.count > MAX_NODES:
            raise ConfigError(f"{self._at(event)}: more than {MAX_NODES} values; is this a config file?")
        if depth > MAX_DEPTH:
            raise ConfigError(f"{self._at(event)}: values are nested more than {MAX_DEPTH} deep")
        node = self._started(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        kind, check, deeper = type(node), self.loader.check_event, depth + 1
        if kind is yaml.ScalarNode:
            return node
        if kind is yaml.SequenceNode:
            while not check(yaml.SequenceEndEvent):
                node.value.append(self._node(deeper))
        else:
            while not check(yaml.MappingEndEvent):
                key = self._node(deeper)
                node.value.append((key, self._node(deeper)))
        self.loader.get_event()
        return node

    def _at(self, event: Any) -> str:
        return f"{self.source}:{event.start_mark.line + 1}"

    def _started(self, event: Any) -> yaml.Node:
        """Return the node of an event, lists and mappings still empty."""
        kind = _NODES[type(event)]
        scalar = kind is yaml.ScalarNode
        tag = event.tag
        if tag is None or tag == "!":
            tag = _plain_tag(event.value, event.implicit) if scalar else _TAGS[kind]
        return kind(tag, event.value if scalar else [], event.start_mark, event.end_mark)


@lru_cache(maxsize=4096, typed=True)
def _constructed(tag: str, text: str) -> str | int | float | None:
    """Return the value of a scalar."""
    value = yaml.SafeLoader("").construct_object(yaml.ScalarNode(tag, text))
    if not isinstance(value, str | int | float | None):
        raise ValueError("not a plain value")
    return value


class _Builder:
    """Turns nodes into plain values while noting each line."""

    def __init__(self, source: str, marks: dict[KeyPath, Mark], foreign_tags: bool) -> None:
        self.source = source
        self.marks = marks
        self.foreign_tags = foreign_tags
        self.count = 0
        self.merged: dict[int, Pairs | None] = {}

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        if path not in self.marks:
            self.marks[path] = self._mark(node)
        self.count += 1
        if self.count > MAX_NODES:
            raise ConfigError(
                f"{self._mark(node)}: more than {MAX_NODES} values; are YAML aliases expanding without end?"
            )
        if len(path) > MAX_DEPTH:
            raise ConfigError(f"{self._mark(node)}: values are nested more than {MAX_DEPTH} deep")
        if isinstance(node, yaml.MappingNode):
            return {key: self._item(*pair, (*path, key)) for key, pair in self._pairs(node, path).items()}
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, i)) for i, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _item(self, key_node: yaml.Node, value_node: yaml.Node, path: KeyPath) -> Any:
        self.marks[path] = self._mark(key_node)
        return self.build(value_node, path)

    def _pairs(self, node: yaml.MappingNode, path: KeyPath) -> Pairs:
        """Return the keys of a mapping by YAML's merge rule: its own win over ``<<``, earlier mappings over later."""
        if id(node) in self.merged:
            known = self.merged[id(node)]
            if known is None:
                raise ConfigError(f"{self._mark(node)}: {dotted(path)}: '<<' merges a mapping into itself")
            return known
        self.merged[id(node)] = None
        pairs: Pairs = {}
        sources: list[yaml.MappingNode] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                sources += self._sources(value_node, path)
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError(f"{self._mark(key_node)}: {dotted(path)}: a key must be a plain word")
            key = key_node.value  # Always text, also where YAML reads a number, a date or yes and no.
            if key in pairs:
                raise ConfigError(f"{self._mark(key_node)}: {dotted((*path, key))}: this key is given twice")
            pairs[key] = (key_node, value_node)
        for source in sources:
            for key, pair in self._pairs(source, path).items():
                pairs.setdefault(key, pair)
        self.merged[id(node)] = pairs
        return pairs

    def _sources(self, node: yaml.Node, path: KeyPath) -> Iterator[yaml.MappingNode]:
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(source, yaml.MappingNode):
                raise ConfigError(f"{self._mark(source)}: {dotted(path)}: '<<' takes a mapping or a list of mappings")
            yield source

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        if node.tag in _AS_TEXT or (self.foreign_tags and node.tag not in yaml.SafeLoader.yaml_constructors):
            return node.value
        try:
            value = _constructed(node.tag, node.value)
        except (yaml.YAMLError, ValueError, OverflowError, TypeError) as error:
            shown = node.value if len(node.value) <= 40 else f"{node.value[:40]}..."
            raise ConfigError(f"{self._mark(node)}: {dotted(path)}: cannot read the value {shown!r}") from error
        return value

    def _mark(self, node: yaml.Node) -> Mark:
        return Mark(self.source, node.start_mark.line + 1)
