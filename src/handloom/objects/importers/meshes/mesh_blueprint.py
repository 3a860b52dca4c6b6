"""From triangle meshes to convex parts."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.cache import user_cache
from handloom.errors import FileError, require
from handloom.objects.geometry import convex_hull
from handloom.objects.importers.import_options import ReportDraft, count
from handloom.objects.materials import Rgb, substance
from handloom.objects.parts import Part, point
from handloom.spatial.convex_pieces import CLOSING, convex_pieces

_RECIPE = "coacd threshold 0.05, 24 parts, 24 vertices, seed 0, 6 nodes, 20 iterations, depth 2, unit size"
"""Key of the cache; changes whenever the pieces of an unchanged mesh would."""
CONCAVITY = 0.05
"""Largest concavity that a part may keep, in CoACD's measure; its own default for simulation."""
MOST_PARTS = 24
COARSE_CONCAVITY = 0.1
"""The same for a dented surface: with 0.05 decomposition takes five times as long, and ``MOST_PARTS`` parts lie no
closer to the surface."""
WORK = 1000.0
"""Maximum number of cells that a dented surface may pass through on the grid that closes it before decomposition.
Otherwise the grid is made coarser."""
COARSEST = 10
"""Cells of the coarsest such grid along the longest side of a surface."""
DENTED = 1.2
SOLID = 0.5
"""A surface is dented if its area is this many times that of its hull, and it fills this fraction of the hull. Hollow
vessels do not count: on a coarse grid their walls would fill their cavity."""
THINNEST = 0.002
"""Minimum thickness of a convex part [m], also given to a flat sheet."""
COARSE = 1500
"""Maximum number of triangles of a surface before decomposition; denser ones are thinned first, which moves the parts
by less than decomposition does."""
MOST_VERTICES = 24
"""Hulls of 24 corners have at most 44 faces; the ray caster's cost grows with faces."""


def cached_hulls(
    vertices: Array, faces: NDArray[np.int32], cut: Callable[[], list[Array]], *, recipe: str = ""
) -> list[Array]:
    """Return the pieces (each (n, 3) [m]) of a surface from the cache, or compute and cache them.

    Args:
        vertices: Corners of the surface (n, 3).
        faces: Its triangles (m, 3).
        cut: Cuts it.
        recipe: Special settings for this surface; empty for the usual ones.
    """
    digest = hashlib.sha256((_RECIPE + recipe).encode())
    digest.update(np.ascontiguousarray(vertices).tobytes())
    digest.update(np.ascontiguousarray(faces).tobytes())
    file = user_cache() / "hulls" / f"{digest.hexdigest()}.npz"
    if file.is_file():
        with np.load(file) as stored:
            return [stored[name] for name in sorted(stored.files)]
    pieces = cut()
    file.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary file and renamed, so that another worker never reads half a file.
    handle, aside = tempfile.mkstemp(dir=file.parent, suffix=".npz")
    with os.fdopen(handle, "wb") as stream:
        np.savez(stream, allow_pickle=False, **{f"{k:03d}": piece for k, piece in enumerate(pieces)})
    os.replace(aside, file)
    return pieces


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceMesh:
    """A surface with one colour per triangle."""

    source: str
    """File, or place in a file; error messages begin with it."""
    vertices: Array
    """Corners (n, 3) [m]."""
    faces: NDArray[np.integer]
    """Triangles (m, 3)."""
    colors: Array
    """sRGB of every triangle (m, 3), 0 to 1."""
    solid: bool = True
    """It collides."""
    texcoords: Array | None = None
    """Texture coordinates of every corner of every triangle (m, 3, 2), from the lower left; None without a texture."""
    textures: tuple[tuple[NDArray[np.bool_], Array], ...] = ()
    """Triangles (m,) with the image (h, w, 3) they show, sRGB of 0 to 1; the others have plain colours."""
    hull: bool = False
    """Whether it collides as its convex hull, according to the file."""

    def __post_init__(self) -> None:
        """Refuse data that is not a surface."""
        if not np.isfinite(self.vertices).all():
            raise FileError(f"{self.source}: some of its {len(self.vertices)} vertices are not finite numbers")
        if not np.isfinite(self.colors).all():
            raise FileError(f"{self.source}: some of its colours are not finite numbers")
        if len(self.faces) and not (self.faces.min() >= 0 and self.faces.max() < len(self.vertices)):
            raise FileError(f"{self.source}: a triangle refers to a missing vertex; it has {len(self.vertices)}")


def convex_parts(
    meshes: Sequence[SourceMesh], draft: ReportDraft, *, material: str, mass: float | None, body: str = "object"
) -> list[Part]:
    """Return invisible convex collision parts of meshes, each in the mean colour of its surface.

    Args:
        meshes: Surfaces in the frame of the body.
        draft: Collects the report.
        material: Substance of all parts.
        mass: Mass of all parts together [kg]; None: from the density.
        body: Body the parts belong to.
    """
    parts: list[Part] = []
    for mesh in meshes:
        hulls = _decomposed(mesh)
        nearest = _nearest_hull(mesh, hulls)
        for index, hull in enumerate(hulls):
            mine = nearest == index
            color = mesh.colors[mine if mine.any() else slice(None)].mean(axis=0)
            corners = tuple(point(v) for v in hull)
            rgb: Rgb = (float(color[0]), float(color[1]), float(color[2]))
            parts.append(
                Part(
                    shape="hull",
                    vertices=corners,
                    color=rgb,
                    substance=material,
                    body=body,
                    solid=mesh.solid,
                    visible=False,
                )
            )
    if not parts:
        raise FileError(f"{draft.source}: it has no triangles")
    faces = sum(len(mesh.faces) for mesh in meshes)
    draft.converted.append(
        f"{faces} triangles of {count(len(meshes), 'mesh')} are drawn and collide as {count(len(parts), 'convex part')}"
    )
    return _weighed(parts, mass)


def thinned(vertices: Array, faces: NDArray, most: int) -> tuple[Array, NDArray[np.int32], NDArray[np.intp]]:
    """Return vertices and at most about ``most`` triangles of a surface, and which triangles they were.

    Vertices that share a cell of a grid become one; triangles that collapse are left out. The grid is as fine as the
    number allows.
    """
    faces = np.asarray(faces, np.int64)
    used, corners = np.unique(faces, return_inverse=True)
    points, corners = vertices[used], corners.reshape(-1, 3)
    if len(corners) <= most:
        return points, corners.astype(np.int32), np.arange(len(corners))
    size = max(float(np.ptp(points, axis=0).max()), 1e-12)
    cells = int(np.sqrt(most))
    while True:
        cell = np.floor((points - points.min(axis=0)) / size * cells).astype(np.int64)
        _, first, merged = np.unique(cell @ [1, 4096, 4096 * 4096], return_index=True, return_inverse=True)
        small = merged.ravel()[corners]
        whole = (small[:, 0] != small[:, 1]) & (small[:, 1] != small[:, 2]) & (small[:, 2] != small[:, 0])
        kept = np.flatnonzero(whole)
        _, unlike = np.unique(np.sort(small[kept], axis=1), axis=0, return_index=True)
        kept = kept[np.sort(unlike)]
        if len(kept) <= most or cells <= 4:
            return points[first], small[kept].astype(np.int32), kept
        cells = int(cells * 0.8)


def _decomposed(mesh: SourceMesh) -> list[Array]:
    """Return the corners of convex pieces; a mesh that is convex, flat or declared convex stays in one piece."""
    if not len(mesh.faces):
        return []
    corners = mesh.vertices[np.unique(mesh.faces)]
    thick = _thickened(corners)
    if mesh.hull or len(thick) > len(corners):
        return [_few_corners(thick)]
    trimesh = require("trimesh", extra="meshes")
    surface = trimesh.Trimesh(mesh.vertices, mesh.faces.astype(np.int32), process=True)
    whole, faces = convex_hull(corners)
    volume = _volume(whole, faces)
    if len(whole) <= MOST_VERTICES and (surface.is_volume and surface.volume > 0.99 * volume):
        return [whole]
    vertices, faces, _ = thinned(np.asarray(surface.vertices, float), np.asarray(surface.faces), COARSE)
    # Decomposed at unit size, so that the result serves the object at every scale.
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    unit = np.round((vertices - low) / size, 6)
    closing = closing_grid(unit, faces)
    recipe = "" if closing == CLOSING else f", closed at {closing}, threshold {COARSE_CONCAVITY}"
    pieces = cached_hulls(unit, faces, lambda: _cut(unit, faces, closing), recipe=recipe)
    return [_thickened(piece * size + low) for piece in pieces]


def closing_grid(vertices: Array, faces: NDArray[np.int32]) -> int:
    """Return the number of grid cells along its longest side with which an open surface of unit size is closed."""
    hull = convex_hull(vertices)
    area = _area(vertices, faces)
    dented = area > DENTED * _area(*hull) and abs(_volume(vertices, faces)) > SOLID * _volume(*hull)
    return min(CLOSING, max(COARSEST, int(np.sqrt(WORK / area)))) if dented else CLOSING


def _thickened(corners: Array) -> Array:
    """Return corners (n, 3) [m], doubled to both sides if they are flatter than ``THINNEST``."""
    middle = corners.mean(axis=0)
    _, _, axes = np.linalg.svd(corners - middle, full_matrices=False)
    for axis in axes:
        if np.ptp((corners - middle) @ axis) < 0.5 * THINNEST:
            corners = np.concatenate([corners + 0.5 * THINNEST * axis, corners - 0.5 * THINNEST * axis])
    return corners


def _few_corners(corners: Array) -> Array:
    """Return the corners of the hull; if there are many, only the extreme points of a set of directions."""
    whole = convex_hull(corners)[0]
    if len(whole) <= MOST_VERTICES:
        return whole
    k = np.arange(4 * MOST_VERTICES) + 0.5
    tilt, turn = np.arccos(1.0 - 2.0 * k / len(k)), np.pi * (1.0 + 5.0**0.5) * k
    directions = np.stack([np.cos(turn) * np.sin(tilt), np.sin(turn) * np.sin(tilt), np.cos(tilt)], axis=1)
    return convex_hull(whole[np.unique(np.argmax(whole @ directions.T, axis=0))])[0]


def _cut(vertices: Array, faces: NDArray[np.int32], closing: int) -> list[Array]:
    """Return the corners of the convex pieces of a surface, which is closed on a grid if it has holes."""
    concavity = CONCAVITY if closing == CLOSING else COARSE_CONCAVITY
    pieces = convex_pieces(
        vertices, faces, concavity=concavity, most=MOST_PARTS, most_vertices=MOST_VERTICES, closing=closing
    )
    return [convex_hull(corners)[0] for corners in pieces]


def _area(vertices: Array, faces: NDArray[np.int32]) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0


def _volume(vertices: Array, faces: NDArray[np.int32]) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.sum(np.cross(a, b) * c) / 6.0)


def _nearest_hull(mesh: SourceMesh, hulls: Sequence[Array]) -> NDArray[np.intp]:
    """Return, for every triangle (m,), the hull nearest to its middle."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    distance = []
    for hull in hulls:
        vertices, faces = convex_hull(hull)
        a, b, c = (vertices[faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-15)
        distance.append(np.max(middle @ normal.T - np.sum(normal * a, axis=1), axis=1))
    return np.argmin(distance, axis=0)


def _weighed(parts: list[Part], mass: float | None) -> list[Part]:
    """Fill the parts so that their total mass is the given one."""
    if mass is None:
        return parts
    volumes = [_volume(*convex_hull(part.vertices)) for part in parts]
    solid = sum(v * substance(p.substance).density for v, p in zip(volumes, parts, strict=True))
    return [replace(part, fill=mass / solid) for part in parts]
