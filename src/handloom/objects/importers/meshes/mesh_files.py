"""OBJ, STL, PLY, GLB and DAE files (extra ``meshes``)."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import FileError, HandloomError, require
from handloom.objects.blueprint import Blueprint
from handloom.objects.importers.import_options import ImportOptions, ReportDraft, count, times
from handloom.objects.importers.meshes.mesh_blueprint import SourceMesh, convex_parts
from handloom.objects.importers.meshes.mesh_looks import drawn
from handloom.objects.importers.meshes.obj_materials import ObjMaterial, used_materials
from handloom.objects.importers.models.model_asset import asset_from_source
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.parts import axes, points
from handloom.render.pictures import open_picture
from handloom.sim.model_file import read_xml

_UP = {
    "x": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
"""Up axis of a file > rotation to z up. With x up, y is to the left and z to the front, as in Collada."""


def read_mesh(path: Path, options: ImportOptions, draft: ReportDraft) -> ObjectAsset:
    """Read a mesh file as one rigid object made of convex parts."""
    meshes = load_meshes(path, options, draft, up=options.up or "", scale=options.metres())
    if options.metres() != (1.0, 1.0, 1.0):
        draft.converted.append(f"lengths scaled by {times(options.metres())}")
    if meshes:
        corners = np.concatenate([mesh.vertices for mesh in meshes])
        options.demand_plausible(path, float(np.ptp(corners, axis=0).max()))
    draft.kept.append(f"{count(len(meshes), 'mesh')}, frame of the file")
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


def load_meshes(
    path: Path,
    options: ImportOptions,
    draft: ReportDraft,
    *,
    up: str = "",
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> list[SourceMesh]:
    """Return the surfaces of a mesh file, in the file's own unit, but in metres for a DAE file.

    Args:
        path: The file.
        options: Allowed references to other files; a requested unit replaces that of a DAE file.
        draft: Collects the report.
        up: Up axis; empty takes that of the format, z by default.
        scale: Factors on the axes of the file.
    """
    scene = _load(path, options)
    unit, said = _said_by_dae(path) if path.suffix.lower() == ".dae" else (1.0, "")
    unit = 1.0 if options.unit is not None else unit
    up = up or said or ("y" if path.suffix.lower() in {".glb", ".gltf"} else "z")
    turn = _UP[up]
    if up != "z":
        draft.converted.append(f"{up} up turned to z up")
    if unit != 1.0:
        draft.converted.append(f"unit of the file: {unit:g} m")
    materials: dict[str, ObjMaterial] = {}
    if path.suffix.lower() == ".obj":
        materials = {material.name: material for material in used_materials(path, options, draft)}
    meshes = []
    for geometry in scene.dump(concatenate=False):
        if not hasattr(geometry, "faces") or not len(geometry.faces):
            draft.dropped.append(f"{type(geometry).__name__.lower()}: not a surface")
            continue
        vertices = (np.asarray(geometry.vertices, float) * unit * scale) @ turn.T
        colors, note = _face_colors(geometry)
        faces = np.asarray(geometry.faces)
        texcoords, textures = _texture(geometry, materials)
        if path.suffix.lower() == ".dae":  # Read with three separate corners for every triangle.
            vertices, index = np.unique(vertices, axis=0, return_inverse=True)
            faces = index.reshape(-1)[faces]
        meshes.append(
            SourceMesh(
                source=str(path), vertices=vertices, faces=faces, colors=colors, texcoords=texcoords, textures=textures
            )
        )
        if note and note not in draft.converted:
            draft.converted.append(note)
    return meshes


def _load(path: Path, options: ImportOptions) -> Any:
    """Return a file as read by trimesh."""
    trimesh = require("trimesh", extra="meshes")
    resolver = _resolver(trimesh, path, options)
    try:
        if path.suffix.lower() == ".dae":
            require("collada", extra="meshes")
            scene = trimesh.load_scene(BytesIO(read_xml(path)), file_type="dae", resolver=resolver)
        else:
            scene = trimesh.load_scene(path, resolver=resolver)
    except HandloomError:
        raise
    except ImportError as error:  # A package that guesses the encoding of text.
        raise FileError(f"{path}: trimesh cannot read it: {_declared(path) or 'it is not text in UTF-8'}") from error
    except Exception as error:  # The readers of trimesh raise whatever the format's own package raises.
        what = _declared(path) or str(error) or type(error).__name__
        raise FileError(f"{path}: trimesh cannot read it: {what}") from error
    for part in resolver.parts:  # Trimesh continues without a texture that it may not read.
        options.demand_inside(part, path)
    return scene


def _said_by_dae(path: Path) -> tuple[float, str]:
    """Return metres per unit and the axis that is up, from a Collada file, which trimesh does not apply."""
    asset = ElementTree.fromstring(read_xml(path)).find("{*}asset")
    unit = None if asset is None else asset.find("{*}unit")
    up = "Y_UP" if asset is None else (asset.findtext("{*}up_axis") or "Y_UP").strip()
    try:
        metres = float("1" if unit is None else unit.get("meter", "1"))
    except ValueError:
        metres = 0.0
    if not 1e-6 <= metres <= 1e3 or up not in {"X_UP", "Y_UP", "Z_UP"}:
        raise FileError(f"{path}: its unit is {metres:g} m and its up_axis {up!r}; --unit and --up override this")
    return metres, up[0].lower()


def _resolver(trimesh: ModuleType, path: Path, options: ImportOptions) -> Any:
    """Return trimesh's resolver for the files that a mesh refers to: materials, textures, buffers."""

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
    """Return text about a wrong number of triangles in a binary STL file; empty for everything else."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(84)
    if path.suffix.lower() != ".stl" or start.lstrip().startswith(b"solid") or len(start) < 84:
        return ""
    declared = int.from_bytes(start[80:84], "little")
    return (
        "" if 84 + 50 * declared == size else f"it declares {declared} triangles and has room for {(size - 84) // 50}"
    )


def _texture(
    geometry: Any, materials: Mapping[str, ObjMaterial]
) -> tuple[Array | None, tuple[tuple[NDArray[np.bool_], Array], ...]]:
    """Return texture coordinates (m, 3, 2) and the image of a mesh, if it has both."""
    visual = geometry.visual
    if visual is None or visual.kind != "texture" or visual.uv is None:
        return None, ()
    uv = np.asarray(visual.uv, float)
    material = materials.get(str(getattr(visual.material, "name", "")))
    if material is not None and material.texture is not None and material.picture is not None:
        with open_picture(material.picture) as opened:
            image = opened.convert("RGB")
        uv = uv * material.texture.repeat + material.texture.offset
    else:
        image = _picture(visual)
    if image is None or len(uv) != len(geometry.vertices) or not np.isfinite(uv).all():
        return None, ()
    picture = np.asarray(image.convert("RGB"), float) / 255.0
    return uv[np.asarray(geometry.faces)], ((np.ones(len(geometry.faces), bool), picture),)


def _picture(visual: Any) -> Any:
    """Return the image of a textured surface as trimesh has read it, or None."""
    return getattr(visual.material, "baseColorTexture", None) or getattr(visual.material, "image", None)


def _face_colors(geometry: Any) -> tuple[np.ndarray, str]:
    """Return sRGB (m, 3) of every triangle, and a note on its source."""
    count_of = len(geometry.faces)
    visual = geometry.visual
    if visual is None or not visual.defined:
        return np.full((count_of, 3), 0.6), "no colours in the file: grey"
    if visual.kind == "texture":
        color, picture = visual.material.main_color, _picture(visual)
        if picture is None and color is not None:
            return np.tile(np.asarray(color, float)[:3] / 255.0, (count_of, 1)), ""
        if picture is None or color is None or visual.uv is None:
            return np.full((count_of, 3), 0.6), "a texture without coordinates: grey"
        return np.asarray(visual.to_color().vertex_colors)[geometry.faces, :3].mean(axis=1) / 255.0, ""
    return np.asarray(visual.face_colors)[:, :3] / 255.0, ""
