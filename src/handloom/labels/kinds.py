"""The kinds of labels: their names, columns and requirements."""

from collections.abc import Iterable
from dataclasses import dataclass

from handloom.dataset.episodes.archive import LABEL_FILES
from handloom.errors import unknown_name

LABELS_VERSION = 1
"""Version of the labels, incremented when columns change their meaning."""
LABEL_FILE, PICTURE_FILE, WORDS_FILE = LABEL_FILES
"""Files of an episode: one row per frame; one row per frame and camera; its language labels."""
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class LabelKind:
    """One kind of labels."""

    columns: tuple[str, ...]
    """Columns of the file that it writes."""
    file: str = LABEL_FILE
    images: tuple[str, ...] = ()
    """Images that must be rendered for it: ``geoms``, ``depth``, ``normals``."""
    contacts: bool = False
    """Whether it needs contacts."""


KINDS: dict[str, LabelKind] = {
    "steps": LabelKind(columns=("subtask", "step", "progress", "acting")),
    "objects": LabelKind(columns=("objects",)),
    "cameras": LabelKind(columns=("cameras",)),
    "boxes": LabelKind(columns=("boxes",), images=("geoms",)),
    "masks": LabelKind(columns=("masks",), images=("geoms",)),
    "points": LabelKind(columns=("points",), images=("depth",)),
    "contacts": LabelKind(columns=("contacts",), contacts=True),
    "traces": LabelKind(columns=("traces",)),
    "grasps": LabelKind(columns=("grasps",), contacts=True),
    "words": LabelKind(columns=(), file=WORDS_FILE),
    "depth": LabelKind(columns=("depth",), file=PICTURE_FILE, images=("depth",)),
    "normals": LabelKind(columns=("normals",), file=PICTURE_FILE, images=("normals",)),
    "flow": LabelKind(columns=("flow",), file=PICTURE_FILE, images=("depth", "geoms")),
}
"""Name > kind, with its columns and requirements. docs/reference/labels.md explains every column."""
SPARSE = tuple(name for name, kind in KINDS.items() if kind.file != PICTURE_FILE)
"""All labels that are not images: the default of ``--labels``."""


def chosen_kinds(names: Iterable[str]) -> tuple[str, ...]:
    """Return kinds by name in the order of the table; ``all`` is every one.

    Raises:
        NotFoundError: There is no such kind.
    """
    given = set(names)
    for name in given - {ALL}:
        if name not in KINDS:
            raise unknown_name("label", name, (*KINDS, ALL))
    return tuple(name for name in KINDS if name in given or ALL in given)


def images_for(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the images required by kinds of labels."""
    return tuple(dict.fromkeys(image for kind in kinds for image in KINDS[kind].images))
