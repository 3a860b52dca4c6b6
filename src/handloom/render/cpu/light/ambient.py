"""Ambient occlusion in closed form: the amount of free space above a surface point.

Two points are taken above the surface, at a small and a larger height. The distance from each to the nearest geom
equals its height in the open, and is less near a contact or in a corner. Distances are exact for box, sphere, capsule,
cylinder and plane (``turned_light`` has surfaces of revolution), and lower bounds for ellipsoids and convex meshes;
concave meshes are ignored. There is one loop per kind because a branch inside would not vectorise.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BEADS,
    BOX,
    CAPSULE,
    CYLINDER,
    FAR_GAP,
    G_BOX,
    G_HALF,
    G_TYPE,
    LANES,
    MESH,
    NEAR_GAP,
    ONE,
    PLANE,
    SPHERE,
    TINY,
    TRIANGLES,
    TURNED,
    ZERO,
)
from handloom.render.cpu.light.turned_light import close_in_turned
from handloom.render.cpu.rays.geom_frame import normal_of, point_of, position_of, rotation_of, size_of


@picture_kernel(inline="always")
def _lower(lanes, i, near, far):
    """Keep the smaller gaps."""
    lanes[i + NEAR_GAP] = min(near, lanes[i + NEAR_GAP])
    lanes[i + FAR_GAP] = min(far, lanes[i + FAR_GAP])


@picture_kernel(inline="always")
def _box_distance(x, y, z):
    """Return the signed distance of a point to a box, given its distance beyond each pair of faces."""
    inner = min(max(x, y, z), ZERO)
    x = max(x, ZERO)
    y = max(y, ZERO)
    z = max(z, ZERO)
    return np.sqrt(x * x + y * y + z * z) + inner


@picture_kernel
def _close_box(lanes, rotation, position, low, high, center, half):
    cx, cy, cz = center
    sx, sy, sz = half
    for i in range(LANES):
        x, y, z = point_of(lanes, i, rotation, position)
        dx, dy, dz = normal_of(lanes, i, rotation)
        x -= cx
        y -= cy
        z -= cz
        a = _box_distance(abs(x + low * dx) - sx, abs(y + low * dy) - sy, abs(z + low * dz) - sz)
        b = _box_distance(abs(x + high * dx) - sx, abs(y + high * dy) - sy, abs(z + high * dz) - sz)
        _lower(lanes, i, a, b)


@picture_kernel(inline="always")
def _cylinder_distance(x, y, z, radius, length):
    """Return the signed distance of a point to a cylinder."""
    x = np.sqrt(x * x + y * y) - radius
    z = abs(z) - length
    inner = min(max(x, z), ZERO)
    x = max(x, ZERO)
    z = max(z, ZERO)
    return np.sqrt(x * x + z * z) + inner


@picture_kernel
def _close_cylinder(lanes, rotation, position, low, high, radius, length):
    for i in range(LANES):
        x, y, z = point_of(lanes, i, rotation, position)
        dx, dy, dz = normal_of(lanes, i, rotation)
        a = _cylinder_distance(x + low * dx, y + low * dy, z + low * dz, radius, length)
        b = _cylinder_distance(x + high * dx, y + high * dy, z + high * dz, radius, length)
        _lower(lanes, i, a, b)


@picture_kernel(inline="always")
def _capsule_distance(x, y, z, radius, length):
    """Return the signed distance of a point to a capsule; a sphere is a capsule of length zero."""
    z = z - min(max(z, -length), length)
    return np.sqrt(x * x + y * y + z * z) - radius


@picture_kernel
def _close_capsule(lanes, rotation, position, low, high, radius, length):
    for i in range(LANES):
        x, y, z = point_of(lanes, i, rotation, position)
        dx, dy, dz = normal_of(lanes, i, rotation)
        a = _capsule_distance(x + low * dx, y + low * dy, z + low * dz, radius, length)
        b = _capsule_distance(x + high * dx, y + high * dy, z + high * dz, radius, length)
        _lower(lanes, i, a, b)


@picture_kernel(inline="always")
def _ellipsoid_distance(x, y, z, kx, ky, kz):
    """Return a first-order estimate of the distance to an ellipsoid with inverse radii (kx, ky, kz)."""
    x *= kx
    y *= ky
    z *= kz
    norm = np.sqrt(x * x + y * y + z * z)
    x *= kx
    y *= ky
    z *= kz
    return norm * (norm - ONE) / (np.sqrt(x * x + y * y + z * z) + TINY)


@picture_kernel
def _close_ellipsoid(lanes, rotation, position, low, high, size):
    kx, ky, kz = ONE / size[0], ONE / size[1], ONE / size[2]
    for i in range(LANES):
        x, y, z = point_of(lanes, i, rotation, position)
        dx, dy, dz = normal_of(lanes, i, rotation)
        a = _ellipsoid_distance(x + low * dx, y + low * dy, z + low * dz, kx, ky, kz)
        b = _ellipsoid_distance(x + high * dx, y + high * dy, z + high * dz, kx, ky, kz)
        _lower(lanes, i, a, b)


@picture_kernel
def _close_plane(lanes, rotation, position, low, high):
    for i in range(LANES):
        _, _, z = point_of(lanes, i, rotation, position)
        _, _, dz = normal_of(lanes, i, rotation)
        _lower(lanes, i, z + low * dz, z + high * dz)


@picture_kernel
def close_in(lanes, row, hulls, low, high):
    """Lower NEAR_GAP and FAR_GAP to the distance of the geom from the points ``low`` and ``high`` above the surface."""
    kind = int(row[G_TYPE])
    size = size_of(row)
    rotation = rotation_of(row)
    position = position_of(row)
    if kind in (TRIANGLES, BEADS):
        # The bounding box of a hollow object, or of a heap, gives no information about the space inside it.
        return
    if kind == TURNED:
        close_in_turned(lanes, row, hulls, low, high)
    elif kind in (BOX, MESH):
        center = (row[G_BOX], row[G_BOX + 1], row[G_BOX + 2])
        half = (row[G_HALF], row[G_HALF + 1], row[G_HALF + 2])
        _close_box(lanes, rotation, position, low, high, center, half)
    elif kind == CYLINDER:
        _close_cylinder(lanes, rotation, position, low, high, size[0], size[1])
    elif kind == CAPSULE:
        _close_capsule(lanes, rotation, position, low, high, size[0], size[1])
    elif kind == SPHERE:
        _close_capsule(lanes, rotation, position, low, high, size[0], ZERO)
    elif kind == PLANE:
        _close_plane(lanes, rotation, position, low, high)
    else:
        _close_ellipsoid(lanes, rotation, position, low, high, size)
