"""Objects of one OBJ file that a model names: MuJoCo reads the first alone, and they are often convex pieces."""

import re

import mujoco
import numpy as np

from handloom.errors import FileError
from handloom.objects.importers.import_options import ReportDraft, count
from handloom.objects.importers.models.model_looks import add_alike

MOST_PIECES = 32
"""Objects of a file that collide one by one; with more, all collide as one hull."""
_GROUP = re.compile(rb"^[ \t]*[og](?:[ \t][^\n]*)?$", re.MULTILINE)
_BARE_FACE = re.compile(rb"^[ \t]*f[ \t]+-?\d+[ \t]", re.MULTILINE)
_FULL_FACE = re.compile(rb"^[ \t]*f[ \t]+-?\d+/", re.MULTILINE)
_BEYOND_CORNERS = re.compile(rb"(?<=\d)/-?\d*(?:/-?\d*)?|^[ \t]*v[tn][^\n]*$", re.MULTILINE)
_COPIED = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap")
_COPIED += ("group", "rgba", "material", "density")


def join_objects(spec: mujoco.MjSpec, files: dict[str, bytes], draft: ReportDraft) -> None:
    """Draw all objects of OBJ files, and let geoms that collide do so object by object, each as its convex hull.

    Args:
        spec: The model; changed.
        files: Contents of its files by their names; changed.
        draft: Collects what was converted.
    """
    for mesh in list(spec.meshes):
        content = files.get(mesh.file, b"")
        if not mesh.file.endswith(".obj"):
            continue
        if _BARE_FACE.search(content) and _FULL_FACE.search(content):
            # Some faces with texture coordinates and normals and some without: MuJoCo miscounts.
            content = files[mesh.file] = _BEYOND_CORNERS.sub(b"", content)
            draft.dropped.append(f"{mesh.name}: texture coordinates, which only some of its faces have")
        if len(_GROUP.findall(content)) <= 1:
            continue
        files[mesh.file] = _GROUP.sub(b"", content)
        solid = [g for g in spec.geoms if g.meshname == mesh.name and (g.contype or g.conaffinity)]
        pieces = _pieces(content, mesh.name) if solid else []
        if not 1 < len(pieces) <= MOST_PIECES or not all(map(_has_volume, pieces)):
            continue
        shares = np.array([np.prod(np.ptp(vertices, axis=0)) for vertices in pieces])
        for k, vertices in enumerate(pieces):
            name = f"{mesh.name}_piece_{k}"
            part = spec.add_mesh(name=name, scale=mesh.scale, refpos=mesh.refpos, refquat=mesh.refquat)
            part.uservert = vertices.ravel()
            for geom in solid:
                new = add_alike(geom, name)
                for key in _COPIED:
                    setattr(new, key, getattr(geom, key))
                new.mass = geom.mass * shares[k] / shares.sum()
        for geom in solid:
            _keep_to_be_seen(spec, geom)
        draft.converted.append(f"{mesh.name}: collides as the {count(len(pieces), 'object')} of its file, each convex")


def _keep_to_be_seen(spec: mujoco.MjSpec, geom: "mujoco.MjsGeom") -> None:
    """Drop a geom that pieces collide for, or let it only be drawn where its body shows nothing else."""
    if any(not (other.contype or other.conaffinity) for other in geom.parent.geoms):
        spec.delete(geom)
    else:
        geom.contype, geom.conaffinity, geom.mass = 0, 0, 0.0


def _pieces(content: bytes, name: str) -> list[np.ndarray]:
    """Return the corners (n, 3) of every object of an OBJ file that has faces; the name of the mesh is for errors."""
    vertices: list[list[float]] = []
    used: list[set[int]] = [set()]
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        kind, *words = line.split() or [""]
        try:
            if kind == "v":
                x, y, z = map(float, words[:3])
                vertices.append([x, y, z])
            elif kind in {"o", "g"}:
                used.append(set())
            elif kind == "f":
                corners = [int(word.partition("/")[0]) for word in words]
                used[-1] |= {corner - 1 if corner > 0 else len(vertices) + corner for corner in corners}
        except ValueError as error:
            raise FileError(
                f"mesh {name!r}, line {number} of its file: {line[:80]!r} is no corner and no face"
            ) from error
    corners = np.array(vertices, float).reshape(-1, 3)
    return [corners[sorted(index)] for index in used if index and min(index) >= 0 and max(index) < len(corners)]


def _has_volume(vertices: np.ndarray) -> bool:
    """Return whether points have a hull that MuJoCo can weigh."""
    middle = vertices - vertices.mean(axis=0)
    spread = np.linalg.svd(middle, compute_uv=False) if len(vertices) >= 4 else np.zeros(3)
    return bool(np.isfinite(vertices).all() and spread[-1] > 1e-3 * spread[0] > 0.0)
