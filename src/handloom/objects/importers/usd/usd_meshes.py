"""Surfaces and colours of a USD stage."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import FileError, require
from handloom.objects.importers.import_options import ImportOptions, ReportDraft
from handloom.objects.importers.meshes.mesh_blueprint import SourceMesh
from handloom.render.pictures import open_picture

Index = NDArray[np.intp]

_GREY = (0.6, 0.6, 0.6)
# UsdPreviewSurface, then the names that Omniverse materials use.
_COLOR_INPUTS = ("diffuseColor", "diffuse_color_constant", "diffuse_tint")
_TEXTURE_INPUTS = ("diffuse_texture", "file")


class UsdSurfaces:
    """Reads meshes of a stage as triangles in the frame of its default prim.

    Args:
        root: The default prim.
        turn: Rotation (3, 3) from the stage's axes to z up.
        metres: Metres per unit along each axis of the stage, with the scale.
        path: The file; textures are searched in its folder.
        options: Options that limit the places of textures.
        draft: Collects what was found.
    """

    def __init__(
        self,
        root: Any,
        turn: Array,
        metres: tuple[float, float, float],
        path: Path,
        options: ImportOptions,
        draft: ReportDraft,
    ) -> None:
        self._geom, self._shade = (require(f"pxr.{m}", extra="usd") for m in ("UsdGeom", "UsdShade"))
        self._cache = self._geom.XformCache()
        self._root, self._turn, self._metres, self._draft = root, turn, metres, draft
        self._path, self._folder, self._options = path, path.parent, options

    def pose(self, prim: Any) -> tuple[Array, Array]:
        """Return rotation (3, 3) and position (3,) [m] of a prim in the object frame; scales are left out."""
        matrix = self._matrix(prim)
        rotation = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
        return self._turn @ rotation, self._turn @ (matrix[:3, 3] * self._metres)

    def points(self, prim: Any, local: Array) -> Array:
        """Return points (n, 3) [m] in the object frame of points in a prim's own frame and units."""
        matrix = self._matrix(prim)
        return ((local @ matrix[:3, :3].T + matrix[:3, 3]) * self._metres) @ self._turn.T

    def mesh(self, prim: Any) -> SourceMesh | None:
        """Return the triangles of a mesh prim, or None if there are none to see."""
        mesh = self._geom.Mesh(prim)
        counts, corners = mesh.GetFaceVertexCountsAttr().Get(), mesh.GetFaceVertexIndicesAttr().Get()
        points = mesh.GetPointsAttr().Get()
        if not counts or not corners or not points or mesh.ComputePurpose() == self._geom.Tokens.guide:
            self._draft.dropped.append(f"{prim.GetPath()}: no surface")
            return None
        source = f"{self._path}: {prim.GetPath()}"
        counts, corners = np.asarray(counts), np.asarray(corners)
        if counts.min() < 0 or counts.sum() != len(corners):
            raise FileError(f"{source}: its polygons have {counts.sum()} corners, {len(corners)} are given")
        faces, owner, slots = _fans(counts, corners)
        vertices = self.points(prim, np.asarray(points, float))
        textures: list[tuple[NDArray[np.bool_], Array]] = []
        uv = self._uv(prim, slots, corners)
        return SourceMesh(
            source=source,
            vertices=vertices,
            faces=faces,
            colors=self._colors(prim, owner, uv, textures),
            texcoords=uv,
            textures=tuple(textures),
            hull=prim.GetAttribute("physics:approximation").Get() == "convexHull",
        )

    def _matrix(self, prim: Any) -> Array:
        relative, _ = self._cache.ComputeRelativeTransform(prim, self._root)
        # USD stores row vectors: transpose for columns.
        return np.asarray(relative, float).T

    def _colors(
        self, prim: Any, owner: Index, uv: Array | None, textures: list[tuple[NDArray[np.bool_], Array]]
    ) -> Array:
        """Return sRGB (m, 3) of the triangles: bound material, materials of face subsets, display colour.

        The images of textured triangles are added to ``textures``, those of face subsets first.
        """
        binding = self._shade.MaterialBindingAPI(prim)
        everything = np.ones(len(owner), bool)
        colors = self._material_colors(binding.ComputeBoundMaterial()[0], uv, everything, textures)
        if colors is None:
            display = self._geom.Gprim(prim).GetDisplayColorAttr().Get()
            colors = np.tile(_srgb(np.asarray(display, float).mean(axis=0)) if display else _GREY, (len(owner), 1))
        for subset in binding.GetMaterialBindSubsets():
            mine = np.isin(owner, np.asarray(subset.GetIndicesAttr().Get()))
            bound = self._shade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial()[0]
            found = self._material_colors(bound, uv, mine, textures)
            if found is not None:
                colors[mine] = found[mine]
        return colors

    def _uv(self, prim: Any, slots: Index, corners: Index) -> Array | None:
        """Return texture coordinates (m, 3, 2) of the corners of every triangle."""
        primvar = self._geom.PrimvarsAPI(prim).GetPrimvar("st")
        if not primvar or not primvar.HasValue():
            return None
        values = np.asarray(primvar.ComputeFlattened(), float)
        if primvar.GetInterpolation() == self._geom.Tokens.faceVarying:
            return values[slots]
        if primvar.GetInterpolation() in {self._geom.Tokens.vertex, self._geom.Tokens.varying}:
            return values[corners[slots]]
        return None

    def _material_colors(
        self,
        material: Any,
        uv: Array | None,
        mine: NDArray[np.bool_],
        textures: list[tuple[NDArray[np.bool_], Array]],
    ) -> Array | None:
        if not material:
            return None
        count = len(mine)
        shaders = [self._shade.Shader(p) for p in _below(material.GetPrim()) if p.IsA(self._shade.Shader)]
        for shader in shaders:
            for name in _TEXTURE_INPUTS:
                value = shader.GetInput(name).Get() if shader.GetInput(name) else None
                if value and (image := self._texture(value)) is not None:
                    textures.insert(0, (mine, image))
                    return _sampled(image, None if uv is None else uv.mean(axis=1), count)
        for shader in shaders:
            for name in _COLOR_INPUTS:
                value = shader.GetInput(name).Get() if shader.GetInput(name) else None
                if value is not None:
                    return np.tile(_srgb(np.asarray(value, float)[:3]), (count, 1))
        return None

    def _texture(self, asset: Any) -> Array | None:
        name = getattr(asset, "path", str(asset))
        places = [Path(getattr(asset, "resolvedPath", "") or name), self._folder / name]
        places += [
            self._folder / below / Path(name).name for below in ("textures", "Materials", "Materials/textures", ".")
        ]
        file = next((place for place in places if place.is_file()), None)
        if file is None:
            self._draft.say_missing(name, *places[1:])
            return None
        self._options.demand_inside(file, self._path)
        with open_picture(file) as image:
            return np.asarray(image.convert("RGB"), float) / 255.0


def _below(prim: Any) -> list[Any]:
    return [prim, *(p for child in prim.GetChildren() for p in _below(child))]


def _fans(counts: Index, corners: Index) -> tuple[NDArray[np.int32], Index, Index]:
    """Cut polygons into triangles: vertex ids (m, 3), owning polygon (m,), positions in the corner list (m, 3)."""
    starts = np.cumsum(counts) - counts
    slots, owner = [], []
    for polygon, (start, number) in enumerate(zip(starts, counts, strict=True)):
        for k in range(1, int(number) - 1):
            slots.append((start, start + k, start + k + 1))
            owner.append(polygon)
    index = np.asarray(slots, int).reshape(-1, 3)
    return corners[index].astype(np.int32), np.asarray(owner), index


def _sampled(image: Array, uv: Array | None, count: int) -> Array:
    """Return the texture's colour at every triangle, or its mean if there are no coordinates."""
    if uv is None:
        return np.tile(image.mean(axis=(0, 1)), (count, 1))
    height, width, _ = image.shape
    column = np.floor(uv[:, 0] % 1.0 * width).astype(int) % width
    row = np.floor((1.0 - uv[:, 1] % 1.0) * height).astype(int) % height
    return image[row, column]


def _srgb(linear: Array) -> Array:
    """Convert a linear colour, as USD stores constants, to sRGB."""
    c = np.clip(linear, 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)
