"""Task spaces of RMPflow's leaves: links with velocities and bias accelerations, points on them, obstacle distances."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel

BOX, CAPSULE = 0, 1


class Links(NamedTuple):
    """Planned joints in normal form (``JointTree``)."""

    parent: NDArray[np.int64]
    R: Array
    p: Array
    prismatic: NDArray[np.bool_]
    lower: Array
    """Lower limits, buffers included (n,)."""
    upper: Array


class Points(NamedTuple):
    """Spheres that move with links."""

    link: NDArray[np.int64]
    """-1 for the base (k,)."""
    offset: Array
    """Centre in the link (k, 3) [m]."""
    radius: Array


class Bodies(NamedTuple):
    """Obstacles in the base frame."""

    kind: NDArray[np.int64]
    """BOX or CAPSULE (m,); a sphere is a capsule of no length."""
    R: Array
    """(m, 3, 3)."""
    p: Array
    """(m, 3) [m]."""
    size: Array
    """Half side lengths of a box; radius and half length along z of a capsule (m, 3) [m]."""


class State(NamedTuple):
    """Work arrays: pose, velocities and bias accelerations of every link, and the root."""

    R: Array
    p: Array
    w: Array
    v: Array
    dw: Array
    dv: Array
    axis: Array
    origin: Array
    M: Array
    f: Array
    J: Array
    L: Array
    x: Array
    xd: Array
    c: Array
    g: Array
    work: Array


@kernel
def make_state(n):
    """Return work arrays for n joints."""
    return State(
        np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
        np.empty((n, 3)), np.empty((n, 3)), np.empty((n, n)), np.empty(n), np.empty((3, n)), np.empty((n, n)),
        np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(n),
    )  # fmt: skip


@inner_kernel
def cross(a, b, i):
    """Return component i of ``a x b``."""
    j, k = (i + 1) % 3, (i + 2) % 3
    return a[j] * b[k] - a[k] * b[j]


@inner_kernel
def carry(s, link, x, v, dv):
    """Write velocity v (3,) and bias acceleration dv (3,) of a point x (3,) that moves with a link."""
    if link < 0:
        for i in range(3):
            v[i], dv[i] = 0.0, 0.0
        return
    rx, ry, rz = x[0] - s.p[link, 0], x[1] - s.p[link, 1], x[2] - s.p[link, 2]
    a, b, c = s.w[link, 0], s.w[link, 1], s.w[link, 2]
    d, e, f = s.dw[link, 0], s.dw[link, 1], s.dw[link, 2]
    i, j, k = b * rz - c * ry, c * rx - a * rz, a * ry - b * rx
    v[0], v[1], v[2] = s.v[link, 0] + i, s.v[link, 1] + j, s.v[link, 2] + k
    dv[0] = s.dv[link, 0] + e * rz - f * ry + b * k - c * j
    dv[1] = s.dv[link, 1] + f * rx - d * rz + c * i - a * k
    dv[2] = s.dv[link, 2] + d * ry - e * rx + a * j - b * i


@inner_kernel
def _place_joint(links, s, k, up):
    """Write the frame of joint k before it moves, its axis and its origin."""
    R, p, F, f = s.R[k], s.p[k], links.R[k], links.p[k]
    for i in range(3):
        if up < 0:
            p[i] = f[i]
            for j in range(3):
                R[i, j] = F[i, j]
        else:
            a, b, c = s.R[up, i, 0], s.R[up, i, 1], s.R[up, i, 2]
            p[i] = s.p[up, i] + a * f[0] + b * f[1] + c * f[2]
            for j in range(3):
                R[i, j] = a * F[0, j] + b * F[1, j] + c * F[2, j]
    for i in range(3):
        s.axis[k, i], s.origin[k, i] = R[i, 2], p[i]


@inner_kernel
def move_links(links, q, qd, s):
    """Pose, angular and linear velocity and bias accelerations (those at zero joint acceleration) of every link."""
    for k in range(q.shape[0]):
        up, R, p = links.parent[k], s.R[k], s.p[k]
        _place_joint(links, s, k, up)
        axis, w, dw, rate = s.axis[k], s.w[k], s.dw[k], qd[k]
        for i in range(3):
            w[i] = s.w[up, i] if up >= 0 else 0.0
            dw[i] = s.dw[up, i] if up >= 0 else 0.0
        x, y, z = cross(w, axis, 0) * rate, cross(w, axis, 1) * rate, cross(w, axis, 2) * rate
        if links.prismatic[k]:
            for i in range(3):
                p[i] += axis[i] * q[k]
            carry(s, up, p, s.v[k], s.dv[k])
            s.dv[k, 0] += 2.0 * x
            s.dv[k, 1] += 2.0 * y
            s.dv[k, 2] += 2.0 * z
            for i in range(3):
                s.v[k, i] += axis[i] * rate
        else:
            sine, cosine = math.sin(q[k]), math.cos(q[k])
            for i in range(3):
                a, b = R[i, 0], R[i, 1]
                R[i, 0], R[i, 1] = cosine * a + sine * b, cosine * b - sine * a
            carry(s, up, p, s.v[k], s.dv[k])
            dw[0] += x
            dw[1] += y
            dw[2] += z
            for i in range(3):
                w[i] += axis[i] * rate


@inner_kernel
def place_point(s, link, offset):
    """Write position, velocity and bias acceleration of a point of a link to ``s.x``, ``s.xd`` and ``s.c``."""
    R = s.R[link]
    for i in range(3):
        s.x[i] = s.p[link, i] + R[i, 0] * offset[0] + R[i, 1] * offset[1] + R[i, 2] * offset[2]
    carry(s, link, s.x, s.xd, s.c)


@inner_kernel
def point_jacobian(links, s, link):
    """Write the Jacobian of the point in ``s.x`` on a link to ``s.J`` (3, n)."""
    J, n = s.J, s.f.shape[0]
    for k in range(n):
        J[0, k], J[1, k], J[2, k] = 0.0, 0.0, 0.0
    k = link
    while k >= 0:
        a, b, c = s.axis[k, 0], s.axis[k, 1], s.axis[k, 2]
        if links.prismatic[k]:
            J[0, k], J[1, k], J[2, k] = a, b, c
        else:
            x, y, z = s.x[0] - s.origin[k, 0], s.x[1] - s.origin[k, 1], s.x[2] - s.origin[k, 2]
            J[0, k], J[1, k], J[2, k] = b * z - c * y, c * x - a * z, a * y - b * x
        k = links.parent[k]


@inner_kernel
def turn_jacobian(links, s, link, x, y, z):
    """Write the derivative of a direction (x, y, z) fixed to a link to ``s.J`` (3, n)."""
    J, n = s.J, s.f.shape[0]
    for k in range(n):
        J[0, k], J[1, k], J[2, k] = 0.0, 0.0, 0.0
    k = link
    while k >= 0:
        if not links.prismatic[k]:
            a, b, c = s.axis[k, 0], s.axis[k, 1], s.axis[k, 2]
            J[0, k], J[1, k], J[2, k] = b * z - c * y, c * x - a * z, a * y - b * x
        k = links.parent[k]


@inner_kernel
def distance_to(bodies, b, s):
    """Return the distance of ``s.x`` from obstacle b and its curvature along ``s.xd``; write its gradient to ``s.g``.

    The curvature is ``xd' H xd`` for the Hessian H of the distance. Inside a box the distance is negative and H zero.
    """
    R, p, size, g = bodies.R[b], bodies.p[b], bodies.size[b], s.g
    dx, dy, dz = s.x[0] - p[0], s.x[1] - p[1], s.x[2] - p[2]
    speed = s.xd[0] ** 2 + s.xd[1] ** 2 + s.xd[2] ** 2
    if bodies.kind[b] == CAPSULE:
        along = R[0, 2] * dx + R[1, 2] * dy + R[2, 2] * dz
        inside = abs(along) < size[1]
        nearest = min(max(along, -size[1]), size[1])
        x, y, z = dx - nearest * R[0, 2], dy - nearest * R[1, 2], dz - nearest * R[2, 2]
        length = math.sqrt(x * x + y * y + z * z)
        scale = 1.0 / max(length, 1e-9)
        g[0], g[1], g[2] = x * scale, y * scale, z * scale
        out = g[0] * s.xd[0] + g[1] * s.xd[1] + g[2] * s.xd[2]
        slide = R[0, 2] * s.xd[0] + R[1, 2] * s.xd[1] + R[2, 2] * s.xd[2]
        left = speed - out * out - (slide * slide if inside else 0.0)
        return length - size[0], left * scale
    squared, deepest, face, left = 0.0, -1e9, 0, 0.0
    g[0], g[1], g[2] = 0.0, 0.0, 0.0
    for i in range(3):
        at = R[0, i] * dx + R[1, i] * dy + R[2, i] * dz
        excess = abs(at) - size[i]
        if excess > deepest:
            deepest, face = excess, i
        if excess > 0.0:
            squared += excess * excess
            moves = R[0, i] * s.xd[0] + R[1, i] * s.xd[1] + R[2, i] * s.xd[2]
            left += moves * moves
            signed = excess if at > 0 else -excess
            for j in range(3):
                g[j] += signed * R[j, i]
    if squared > 0.0:
        length = math.sqrt(squared)
        for j in range(3):
            g[j] /= length
        out = g[0] * s.xd[0] + g[1] * s.xd[1] + g[2] * s.xd[2]
        return length, (left - out * out) / length
    at = R[0, face] * dx + R[1, face] * dy + R[2, face] * dz
    for j in range(3):
        g[j] = R[j, face] if at > 0 else -R[j, face]
    return deepest, 0.0
