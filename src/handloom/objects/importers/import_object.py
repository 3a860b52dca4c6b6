"""One function for all file formats."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from handloom.errors import InputError, suggest
from handloom.objects.importers.asset_files import find_asset
from handloom.objects.importers.import_options import ImportOptions
from handloom.objects.importers.import_report import ImportReport, ReportDraft
from handloom.objects.importers.proxy import category_of_path
from handloom.objects.object_asset import ObjectAsset

Reader = Callable[[Path, ImportOptions, ReportDraft], ObjectAsset]

READERS: Final[dict[str, str]] = {
    ".xml": "handloom.objects.importers.model_files:read_mjcf",
    ".mjcf": "handloom.objects.importers.model_files:read_mjcf",
    ".urdf": "handloom.objects.importers.model_files:read_urdf",
    ".obj": "handloom.objects.importers.mesh_files:read_mesh",
    ".stl": "handloom.objects.importers.mesh_files:read_mesh",
    ".ply": "handloom.objects.importers.mesh_files:read_mesh",
    ".glb": "handloom.objects.importers.mesh_files:read_mesh",
    ".gltf": "handloom.objects.importers.mesh_files:read_mesh",
    ".usd": "handloom.objects.importers.usd_files:read_usd",
    ".usda": "handloom.objects.importers.usd_files:read_usd",
    ".usdc": "handloom.objects.importers.usd_files:read_usd",
}
"""File ending > ``module:function``."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An object read from a file."""

    asset: ObjectAsset
    """The object; its frame is that of the file."""
    report: ImportReport
    """What was kept, converted and dropped."""


def import_object(
    path: str | Path,
    *,
    category: str | None = None,
    scale: float = 1.0,
    unit: str | None = None,
    up: str | None = None,
    mass: float | None = None,
    substance: str = "plastic",
    info_name: str | None = None,
    folders: Sequence[str | Path] = (),
) -> Imported:
    """Read an object from a MJCF, URDF, OBJ, STL, PLY, GLB or USD file.

    Args:
        path: The file; relative paths are looked up in ``folders``.
        category: Category for language; by default taken from the folders of the reference layout, else the file name.
        scale: Factor on all lengths.
        unit: Length unit of a mesh file, ``m``, ``cm`` or ``mm``; None: metres, but a file that would be larger than
            5 m is refused, and a unit proposed.
        up: Axis that points up in a mesh file; None: z, but y for GLB.
        mass: Mass of a mesh file [kg]; None: from the substance.
        substance: What a mesh file is made of, see ``handloom.objects.substances``.
        info_name: Annotation folder of an articulated USD asset, e.g. ``open_v``.
        folders: Where to look.

    Raises:
        FileError: The file or a part of it is missing or cannot be read; the text names the folders searched.
        InputError: No importer for this ending, or a senseless option.
        MissingExtraError: The format needs an optional package.
    """
    file = find_asset(path, folders)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{file}: no importer for {file.suffix!r} files; {suggest(file.suffix, READERS)}")
    options = ImportOptions(
        category=category or category_of_path(file),
        scale=scale,
        unit=unit,
        up=up,
        mass=mass,
        substance=substance,
        info_name=info_name,
        folders=tuple(Path(folder) for folder in folders),
    )
    draft = ReportDraft(str(file))
    module, _, function = reader.partition(":")
    read: Reader = getattr(importlib.import_module(module), function)
    return Imported(asset=read(file, options, draft), report=draft.finish())
