"""Triangles of the model's meshes and height fields."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.render.cpu.bvh import TriangleMesh

# Corners whose normals differ from the face by more than this are creases and are shaded flat (cosine of 60 degrees).
CREASE_COSINE = 0.5


def _slice(values: NDArray, start: NDArray, count: NDArray, k: int) -> NDArray:
    """Return the part of a concatenated model array that belongs to item ``k``."""
    return values[start[k] : start[k] + count[k]]


def _face_normals(corners: Array) -> Array:
    """Return unit normals (k, 3) of triangles (k, 3, 3); zero for slivers."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.where(length > 1e-18, normals / np.maximum(length, 1e-18), 0.0)


def triangles_of_mesh(model: mujoco.MjModel, mesh: int) -> TriangleMesh:
    """Return the triangles of a mesh with smooth normals, flat across creases."""
    vertices = _slice(model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum, mesh).astype(float)
    faces = _slice(model.mesh_face, model.mesh_faceadr, model.mesh_facenum, mesh)
    corners = vertices[faces]
    flat = _face_normals(corners)
    solid = np.linalg.norm(flat, axis=1) > 0
    normal_ids = _slice(model.mesh_facenormal, model.mesh_faceadr, model.mesh_facenum, mesh)
    normals = _slice(model.mesh_normal, model.mesh_normaladr, model.mesh_normalnum, mesh).astype(float)[normal_ids]
    smooth = np.einsum("kij,kj->ki", normals, flat) > CREASE_COSINE
    normals = np.where(smooth[..., None], normals, flat[:, None, :])
    texcoords = np.full((len(faces), 3, 2), np.nan)
    if model.mesh_texcoordadr[mesh] >= 0:
        ids = _slice(model.mesh_facetexcoord, model.mesh_faceadr, model.mesh_facenum, mesh)
        texcoords = _slice(model.mesh_texcoord, model.mesh_texcoordadr, model.mesh_texcoordnum, mesh)[ids].astype(float)
    return TriangleMesh(corners[solid], normals[solid], texcoords[solid])


def triangles_of_height_field(model: mujoco.MjModel, field: int) -> TriangleMesh:
    """Return the triangles of a height field: its surface, four walls and the bottom."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    start = int(model.hfield_adr[field])
    size_x, size_y, top, base = (float(v) for v in model.hfield_size[field])
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns).astype(float) * top
    x, y = np.meshgrid(np.linspace(-size_x, size_x, columns), np.linspace(-size_y, size_y, rows))
    surface = np.stack([x, y, heights], axis=-1)
    a, b, c, d = surface[:-1, :-1], surface[:-1, 1:], surface[1:, 1:], surface[1:, :-1]
    ground = surface * [1, 1, 0] - [0, 0, base]
    quads = [(a, b, c, d)]
    for edge, below in (
        (surface[0], ground[0]),
        (surface[-1, ::-1], ground[-1, ::-1]),
        (surface[::-1, 0], ground[::-1, 0]),
        (surface[:, -1], ground[:, -1]),
    ):
        quads.append((below[:-1], below[1:], edge[1:], edge[:-1]))
    quads.append((ground[0, 0], ground[-1, 0], ground[-1, -1], ground[0, -1]))
    halves = [triangle for p, q, r, s in quads for triangle in ((p, q, r), (p, r, s))]
    corners = np.concatenate([np.stack(half, axis=-2).reshape(-1, 3, 3) for half in halves])
    normals = np.repeat(_face_normals(corners)[:, None, :], 3, axis=1)
    return TriangleMesh(corners, normals, np.full((len(corners), 3, 2), np.nan))
