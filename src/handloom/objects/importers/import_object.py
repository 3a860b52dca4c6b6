"""One function for all file formats."""

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from handloom.child_process import call_apart
from handloom.errors import FileError, InputError, suggest
from handloom.objects.geometry import geom_ids
from handloom.objects.importers.asset_files import find_asset
from handloom.objects.importers.import_options import ImportOptions, ImportReport, ReportDraft
from handloom.objects.importers.proxy import category_of_path
from handloom.objects.object_asset import ObjectAsset

Reader = Callable[[Path, ImportOptions, ReportDraft], ObjectAsset]

READERS: Final[dict[str, str]] = {
    ".xml": "handloom.objects.importers.models.model_files:read_mjcf",
    ".mjcf": "handloom.objects.importers.models.model_files:read_mjcf",
    ".urdf": "handloom.objects.importers.models.model_files:read_urdf",
    ".obj": "handloom.objects.importers.meshes.mesh_files:read_mesh",
    ".stl": "handloom.objects.importers.meshes.mesh_files:read_mesh",
    ".ply": "handloom.objects.importers.meshes.mesh_files:read_mesh",
    ".glb": "handloom.objects.importers.meshes.mesh_files:read_mesh",
    ".gltf": "handloom.objects.importers.meshes.mesh_files:read_mesh",
    ".dae": "handloom.objects.importers.meshes.mesh_files:read_mesh",
    ".usd": "handloom.objects.importers.usd.usd_files:read_usd",
    ".usda": "handloom.objects.importers.usd.usd_files:read_usd",
    ".usdc": "handloom.objects.importers.usd.usd_files:read_usd",
}
"""File ending > ``module:function``."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An object read from a file."""

    asset: ObjectAsset
    """The object; its frame is that of the file."""
    report: ImportReport
    """Report of what was kept, converted and dropped."""


def import_object(
    path: str | Path,
    *,
    category: str | None = None,
    scale: float | Sequence[float] = 1.0,
    unit: str | None = None,
    up: str | None = None,
    mass: float | None = None,
    substance: str = "plastic",
    info_name: str | None = None,
    body: str | None = None,
    folders: Sequence[str | Path] = (),
    allow_outside: bool = False,
    seconds: float = 300.0,
) -> Imported:
    """Read an object from a MJCF, URDF, OBJ, STL, PLY, GLB, DAE or USD file.

    Args:
        path: The file; relative paths are looked up in ``folders``.
        category: Category for language; by default taken from the folders of the reference layout, else the file name.
        scale: Factor on all lengths, or one for each axis of the file.
        unit: Length unit of the file, ``m``, ``cm`` or ``mm``; None: the unit of a DAE file or a USD stage, but metres
            in the reference layout; metres for other mesh files, but one that would be larger than 5 m is refused with
            a proposed unit.
        up: Axis of the file that becomes up; None: the up axis of a DAE file or a USD stage, but unchanged in the
            reference layout; z for other mesh files, but y for GLB.
        mass: Mass of a mesh file [kg]; None: from the substance.
        substance: Substance of a mesh file, see ``handloom.objects.materials``.
        info_name: Annotation folder of an articulated USD asset, e.g. ``open_v``.
        body: Body of a MJCF scene that is the object; None: all of the file.
        folders: Where to look.
        allow_outside: Whether files that it includes or refers to may lie outside ``folders``, its own folder and three
            parent folders.
        seconds: Time limit for reading [s]; cutting a surface with holes into convex parts takes a minute or two. A
            child process reads the file, since a corrupt file can hang or crash its reader.

    Raises:
        NotAllowedError: The file refers to another one in a forbidden place.
        FileError: The file or a part of it is missing or cannot be read; the message names the searched folders.
        InputError: There is no importer for this extension, or an option is invalid.
        MissingExtraError: The format needs an optional package.
    """
    file = find_asset(path, folders)
    if file.suffix.lower() not in READERS:
        raise InputError(f"{file}: no importer for {file.suffix!r} files; {suggest(file.suffix, READERS)}")
    options = ImportOptions(
        category=category or category_of_path(file),
        scale=_factors(scale),
        unit=unit,
        up=up,
        mass=mass,
        substance=substance,
        info_name=info_name,
        body=body,
        folders=tuple(Path(folder) for folder in folders),
        allow_outside=allow_outside,
    )
    more = f"handloom object import {file} --seconds 1800 grants more, and its convex parts are kept for later"
    read = "handloom.objects.importers.import_object:read_file"
    return call_apart(read, file, options, what=str(file), seconds=seconds, more=more)


def _factors(scale: float | Sequence[float]) -> float | tuple[float, float, float]:
    if not isinstance(scale, Sequence):
        return scale
    if len(scale) != 3:
        raise InputError(f"scale must be one number, or three for the axes of the file, got {list(scale)}")
    return float(scale[0]), float(scale[1]), float(scale[2])


def read_file(file: Path, options: ImportOptions) -> Imported:
    """Read a file in this process; ``import_object`` calls this in a child process."""
    draft = ReportDraft(str(file))
    module, _, function = READERS[file.suffix.lower()].partition(":")
    read: Reader = getattr(importlib.import_module(module), function)
    asset = read(file, options, draft)
    if not (np.isfinite(asset.aabb).all() and math.isfinite(asset.mass)):
        raise FileError(f"{file}: its size or its mass is not a finite number")
    if geom_ids(asset.model, solid=True):
        asset.rest_poses  # noqa: B018 - computed on access, and as dependent on the file
    return Imported(asset=replace(asset), report=draft.finish())  # A copy: without the compiled model.
