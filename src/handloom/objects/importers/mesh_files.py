"""OBJ, STL, PLY and GLB files (extra ``meshes``)."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import FileError, HandloomError, require
from handloom.objects.blueprint import Blueprint
from handloom.objects.importers.import_options import ImportOptions, ReportDraft, count, times
from handloom.objects.importers.mesh_blueprint import SourceMesh, convex_parts
from handloom.objects.importers.mesh_looks import drawn
from handloom.objects.importers.model_asset import asset_from_source
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.parts import axes, points

_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Turns y up to z up: x stays, y becomes z."""


def read_mesh(path: Path, options: ImportOptions, draft: ReportDraft) -> ObjectAsset:
    """Read a mesh file as one rigid object made of convex parts."""
    trimesh = require("trimesh", extra="meshes")
    meshes = _load(trimesh, path, options, draft)
    parts = convex_parts(meshes, draft, material=options.substance, mass=options.mass)
    surfaces = drawn(meshes, draft, material=options.substance)
    blueprint = Blueprint(
        words=(options.category.replace("_", " "),),
        color=None,
        parts=tuple(parts),
        surfaces=surfaces,
        keypoints=points(origin=(0.0, 0.0, 0.0)),
        axes=axes(up=(0.0, 0.0, 1.0)),
    )
    return asset_from_source(path, blueprint, blueprint.spec().compile(), (), options)


def _load(trimesh: ModuleType, path: Path, options: ImportOptions, draft: ReportDraft) -> list[SourceMesh]:
    resolver = _resolver(trimesh, path, options)
    try:
        scene = trimesh.load_scene(path, resolver=resolver)
    except HandloomError:
        raise
    except ImportError as error:  # A package that guesses the encoding of text.
        raise FileError(f"{path}: trimesh cannot read it: {_declared(path) or 'it is no text in UTF-8'}") from error
    except Exception as error:  # The readers of trimesh raise whatever the format's own package raises.
        what = _declared(path) or str(error) or type(error).__name__
        raise FileError(f"{path}: trimesh cannot read it: {what}") from error
    for part in resolver.parts:  # Trimesh goes on without a texture that it may not read.
        options.demand_inside(part, path)
    up = options.up or ("y" if path.suffix.lower() in {".glb", ".gltf"} else "z")
    turn = _Y_UP if up == "y" else np.eye(3)
    if up == "y":
        draft.converted.append("y up turned to z up")
    if options.metres() != (1.0, 1.0, 1.0):
        draft.converted.append(f"lengths scaled by {times(options.metres())}")
    meshes = []
    for geometry in scene.dump(concatenate=False):
        if not hasattr(geometry, "faces") or not len(geometry.faces):
            draft.dropped.append(f"{type(geometry).__name__.lower()}: not a surface")
            continue
        vertices = (np.asarray(geometry.vertices, float) * options.metres()) @ turn.T
        colors, note = _face_colors(geometry)
        faces = np.asarray(geometry.faces)
        texcoords, textures = _texture(geometry)
        meshes.append(
            SourceMesh(
                source=str(path), vertices=vertices, faces=faces, colors=colors, texcoords=texcoords, textures=textures
            )
        )
        if note and note not in draft.converted:
            draft.converted.append(note)
    if meshes:
        corners = np.concatenate([mesh.vertices for mesh in meshes])
        options.demand_plausible(path, float(np.ptp(corners, axis=0).max()))
    draft.kept.append(f"{count(len(meshes), 'mesh')}, frame of the file")
    return meshes


def _resolver(trimesh: ModuleType, path: Path, options: ImportOptions) -> Any:
    """Return what trimesh asks for the files that a mesh refers to: materials, textures, buffers."""

    class Resolver(trimesh.resolvers.FilePathResolver):
        def __init__(self) -> None:
            super().__init__(str(path))
            self.parts: list[Path] = []

        def get(self, name: str) -> bytes:
            self.parts.append(path.parent / name.strip())
            options.demand_inside(self.parts[-1], path)
            return self.parts[-1].read_bytes()

    return Resolver()


def _declared(path: Path) -> str:
    """Return how the number of triangles that a binary STL file declares is wrong; empty for everything else."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(84)
    if path.suffix.lower() != ".stl" or start.lstrip().startswith(b"solid") or len(start) < 84:
        return ""
    declared = int.from_bytes(start[80:84], "little")
    return (
        "" if 84 + 50 * declared == size else f"it declares {declared} triangles and has room for {(size - 84) // 50}"
    )


def _texture(geometry: Any) -> tuple[Array | None, tuple[tuple[NDArray[np.bool_], Array], ...]]:
    """Return texture coordinates (m, 3, 2) and the picture of a mesh, if it has both."""
    visual = geometry.visual
    if visual is None or visual.kind != "texture" or visual.uv is None:
        return None, ()
    image = getattr(visual.material, "baseColorTexture", None) or getattr(visual.material, "image", None)
    uv = np.asarray(visual.uv, float)
    if image is None or len(uv) != len(geometry.vertices) or not np.isfinite(uv).all():
        return None, ()
    picture = np.asarray(image.convert("RGB"), float) / 255.0
    return uv[np.asarray(geometry.faces)], ((np.ones(len(geometry.faces), bool), picture),)


def _face_colors(geometry: Any) -> tuple[np.ndarray, str]:
    """Return sRGB (m, 3) of every triangle, and what was done for it."""
    count_of = len(geometry.faces)
    visual = geometry.visual
    if visual is None or not visual.defined:
        return np.full((count_of, 3), 0.6), "no colours in the file: grey"
    if visual.kind == "texture" and (visual.uv is None or visual.material.main_color is None):
        return np.full((count_of, 3), 0.6), "a texture without coordinates: grey"
    if visual.kind == "texture":
        return np.asarray(visual.to_color().vertex_colors)[geometry.faces, :3].mean(axis=1) / 255.0, ""
    return np.asarray(visual.face_colors)[:, :3] / 255.0, ""
