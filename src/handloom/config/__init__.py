"""YAML to frozen typed configs: errors with file and line, did-you-mean, overrides, interpolation, inheritance."""

from handloom.config.document import Document, merge_documents, one_of_scene, read_document
from handloom.config.loading import apply_overrides, load_config, parse_config
from handloom.config.model import (
    Angles,
    Config,
    Degrees,
    Metres,
    Position,
    Quaternion,
    UnusedKey,
    field_docs,
    mistake_at,
    unused_keys,
)
from handloom.config.own_code import allow_code, allow_outside, forbid_code, import_named
from handloom.config.parsing import Mark
from handloom.config.search import find_file

__all__ = [
    "Angles",
    "Config",
    "Degrees",
    "Document",
    "Mark",
    "Metres",
    "Position",
    "Quaternion",
    "UnusedKey",
    "allow_code",
    "allow_outside",
    "apply_overrides",
    "field_docs",
    "find_file",
    "forbid_code",
    "import_named",
    "load_config",
    "merge_documents",
    "mistake_at",
    "one_of_scene",
    "parse_config",
    "read_document",
    "unused_keys",
]
