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
from handloom.spatial.convex_pieces import convex_pieces

_RECIPE = "coacd threshold 0.05, 24 parts, 24 vertices, seed 0"
"""Changes whenever the pieces of an unchanged mesh would."""
CONCAVITY = 0.05
"""Largest concavity a part may keep, as CoACD counts it; its own default for simulation."""
MOST_PARTS = 24
MOST_VERTICES = 24
"""Hulls of 24 corners have at most 44 faces; the ray caster's cost grows with faces."""


def cached_hulls(vertices: Array, faces: NDArray[np.int32], cut: Callable[[], list[Array]]) -> list[Array]:
    """Return the pieces (each (n, 3) [m]) of a surface from the cache, or cut and keep them."""
    digest = hashlib.sha256(_RECIPE.encode())
    digest.update(np.ascontiguousarray(vertices).tobytes())
    digest.update(np.ascontiguousarray(faces).tobytes())
    file = user_cache() / "hulls" / f"{digest.hexdigest()}.npz"
    if file.is_file():
        with np.load(file) as stored:
            return [stored[name] for name in sorted(stored.files)]
    pieces = cut()
    file.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and renamed, so that another worker never reads half a file.
    handle, aside = tempfile.mkstemp(dir=file.parent, suffix=".npz")
    with os.fdopen(handle, "wb") as stream:
        np.savez(stream, allow_pickle=False, **{f"{k:03d}": piece for k, piece in enumerate(pieces)})
    os.replace(aside, file)
    return pieces


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceMesh:
    """A surface with one colour per triangle."""

    source: str
    """File, or place in one; error messages begin with it."""
    vertices: Array
    """Corners (n, 3) [m]."""
    faces: NDArray[np.integer]
    """Triangles (m, 3)."""
    colors: Array
    """sRGB of every triangle (m, 3), 0 to 1."""
    solid: bool = True
    """It collides."""

    def __post_init__(self) -> None:
        """Refuse what is no surface."""
        if not np.isfinite(self.vertices).all():
            raise FileError(f"{self.source}: some of its {len(self.vertices)} vertices are no finite numbers")
        if not np.isfinite(self.colors).all():
            raise FileError(f"{self.source}: some of its colours are no finite numbers")
        if len(self.faces) and not (self.faces.min() >= 0 and self.faces.max() < len(self.vertices)):
            raise FileError(f"{self.source}: a triangle names a vertex that is not there; it has {len(self.vertices)}")


def convex_parts(
    meshes: Sequence[SourceMesh], draft: ReportDraft, *, material: str, mass: float | None, body: str = "object"
) -> list[Part]:
    """Return convex parts of some meshes, each of the mean colour of the surface it stands for.

    Args:
        meshes: Surfaces in the frame of the body.
        draft: Collects what was done.
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
                Part(shape="hull", vertices=corners, color=rgb, substance=material, body=body, solid=mesh.solid)
            )
    if not parts:
        raise FileError(f"{draft.source}: there is no triangle in it")
    faces = sum(len(mesh.faces) for mesh in meshes)
    draft.converted.append(
        f"{faces} triangles of {count(len(meshes), 'mesh')} became {count(len(parts), 'convex part')} in mean colours"
    )
    return _weighed(parts, mass)


def _decomposed(mesh: SourceMesh) -> list[Array]:
    """Return the corners of convex pieces; a mesh that is convex already stays in one piece."""
    trimesh = require("trimesh", extra="meshes")
    surface = trimesh.Trimesh(mesh.vertices, mesh.faces.astype(np.int32), process=True)
    whole, faces = convex_hull(mesh.vertices)
    volume = _volume(whole, faces)
    if len(whole) <= MOST_VERTICES and (surface.is_volume and surface.volume > 0.99 * volume):
        return [whole]
    vertices, faces = np.asarray(surface.vertices, float), np.asarray(surface.faces, np.int32)
    return cached_hulls(vertices, faces, lambda: _cut(vertices, faces))


def _cut(vertices: Array, faces: NDArray[np.int32]) -> list[Array]:
    """Return the corners of the pieces that a surface is cut into."""
    pieces = convex_pieces(vertices, faces, concavity=CONCAVITY, most=MOST_PARTS, most_vertices=MOST_VERTICES)
    return [convex_hull(corners)[0] for corners in pieces]


def _volume(vertices: Array, faces: NDArray[np.int32]) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.sum(np.cross(a, b) * c) / 6.0)


def _nearest_hull(mesh: SourceMesh, hulls: Sequence[Array]) -> NDArray[np.intp]:
    """Return for every triangle (m,) the hull whose surface or inside its middle is nearest to."""
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
    """Fill the parts so that they weigh the mass together."""
    if mass is None:
        return parts
    volumes = [_volume(*convex_hull(part.vertices)) for part in parts]
    solid = sum(v * substance(p.substance).density for v, p in zip(volumes, parts, strict=True))
    return [replace(part, fill=mass / solid) for part in parts]
