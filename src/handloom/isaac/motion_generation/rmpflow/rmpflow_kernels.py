"""RMPflow: leaf policies defined in task spaces, summed in joint space and solved for an acceleration.

A leaf is a space ``x = phi(q)`` with Jacobian J, a metric M and a desired acceleration a in that space. The root gets
``sum J'MJ`` and ``sum J'M (a - J' qd)`` with the curvature ``J' qd`` (time derivative of J, times qd), which comes from
one pass over the links that propagates velocities and bias accelerations. If the solution exceeds the maximum norm, it
is replaced by the nearest acceleration of that norm under the metric: ``(M + lambda I) a = f`` for the lambda that
fits. Cheng et al. 2018 (RMPflow). About 40 us for seven joints, 55 spheres and four obstacles.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.isaac.motion_generation.rmpflow.rmpflow_space import (
    Bodies,
    Links,
    Points,
    distance_to,
    make_state,
    move_links,
    place_point,
    point_jacobian,
    turn_jacobian,
)
from handloom.kernels import inner_kernel, kernel


class PolicyGoal(NamedTuple):
    """Targets of the policy: k tools to poses, all joints to a configuration."""

    link: NDArray[np.int64]
    """Links of the tools (k,), -1 without a tool frame that moves."""
    T: Array
    """Poses of the tools in their links (k, 4, 4)."""
    position: Array
    """(k, 3) [m]."""
    R: Array
    """Target axes of the tools, as columns (k, 3, 3)."""
    has_position: NDArray[np.bool_]
    """(k,)."""
    has_rotation: NDArray[np.bool_]
    """(k,)."""
    q: Array
    """Configuration wanted (n,)."""


class Leaves(NamedTuple):
    """Parameters, one row of numbers per leaf in the order of the published files' keys."""

    cspace: Array
    limit: Array
    cap: Array
    target: Array
    axis: Array
    collision: Array
    damping: Array
    most: float
    """Maximum norm of the acceleration."""


class Policy(NamedTuple):
    """Everything that an acceleration depends on besides the state."""

    links: Links
    spheres: Points
    """Spheres that keep away from the world."""
    world: Bodies
    controllers: Points
    """Spheres that keep away from the robot's own base."""
    base: Bodies
    goal: PolicyGoal
    leaves: Leaves


@inner_kernel
def gate(z):
    """Return ``1 / (1 + exp(z))``: 1 far below zero, 0 far above."""
    return 1.0 / (1.0 + math.exp(min(max(z, -500.0), 500.0)))


@inner_kernel
def add_scalar(s, g, metric, pull):
    """Add a scalar leaf whose gradient at the point of ``s.J`` is g (3,); curvature is subtracted from ``pull``."""
    n, row = s.f.shape[0], s.work
    for k in range(n):
        row[k] = g[0] * s.J[0, k] + g[1] * s.J[1, k] + g[2] * s.J[2, k]
    for k in range(n):
        if row[k] != 0.0:
            s.f[k] += row[k] * metric * pull
            for j in range(n):
                s.M[k, j] += metric * row[k] * row[j]


@inner_kernel
def add_point(s, along, across, d, ax, ay, az):
    """Add a leaf at the point of ``s.J``: metric ``across I + along d d'`` for unit vector d, pull minus curvature."""
    n, J = s.f.shape[0], s.J
    dot = along * (d[0] * ax + d[1] * ay + d[2] * az)
    fx, fy, fz = across * ax + dot * d[0], across * ay + dot * d[1], across * az + dot * d[2]
    for k in range(n):
        s.f[k] += J[0, k] * fx + J[1, k] * fy + J[2, k] * fz
        dk = d[0] * J[0, k] + d[1] * J[1, k] + d[2] * J[2, k]
        for j in range(n):
            dj = d[0] * J[0, j] + d[1] * J[1, j] + d[2] * J[2, j]
            inner = J[0, k] * J[0, j] + J[1, k] * J[1, j] + J[2, k] * J[2, j]
            s.M[k, j] += across * inner + along * dk * dj


@inner_kernel
def add_collisions(links, points, bodies, c, s):
    """Add one leaf per pair of a sphere and a nearby obstacle."""
    reach = c[6]
    for k in range(points.link.shape[0]):
        link, ready = points.link[k], False
        if link < 0:
            continue  # The base cannot move away.
        place_point(s, link, points.offset[k])
        for b in range(bodies.kind.shape[0]):
            apart, bend = distance_to(bodies, b, s)
            x = max(apart - points.radius[k], 0.0)
            if x > reach or c[7] == 0.0:
                continue
            g = s.g
            xd = g[0] * s.xd[0] + g[1] * s.xd[1] + g[2] * s.xd[2]
            curvature = g[0] * s.c[0] + g[1] * s.c[1] + g[2] * s.c[2] + bend
            open_gate = gate(xd / c[3])
            near = (x / reach - 1.0) ** 2
            pull = c[4] * math.exp(-x / c[5]) - c[0] * open_gate * xd / (x / c[1] + c[2])
            metric = open_gate * near * c[7] / (x / c[8] + c[9])
            if not ready:
                point_jacobian(links, s, link)
                ready = True
            add_scalar(s, g, metric, pull - curvature)


@inner_kernel
def add_joint_leaves(links, goal, leaves, q, qd, s):
    """Add the pull to a configuration, its inertia, joint limits and the velocity cap."""
    n, c, squared = q.shape[0], leaves.cspace, 0.0
    for k in range(n):
        squared += (goal.q[k] - q[k]) ** 2
    far = math.sqrt(squared)
    scale = 1.0 if far < c[3] else c[3] / far
    a, v = leaves.limit, leaves.cap
    for k in range(n):
        s.M[k, k] += c[0] + c[4]
        s.f[k] += c[0] * (c[1] * scale * (goal.q[k] - q[k]) - c[2] * qd[k])
        width = links.upper[k] - links.lower[k]
        if width < 1e9:
            for side in range(2):
                sign = 1.0 if side == 0 else -1.0
                x = max((q[k] - links.lower[k] if side == 0 else links.upper[k] - q[k]) / width, 0.0)
                xd = sign * qd[k] / width
                push = a[5] / ((x / a[6]) ** 2 + a[7]) - a[4] * xd
                metric = gate(xd / a[3]) * a[0] / (x / a[1] + a[2])
                J = sign / width
                s.M[k, k] += J * metric * J
                s.f[k] += J * metric * push
        excess = abs(qd[k]) - (v[0] - v[1])
        if excess > 0.0:
            metric = v[3] / (1.0 - min(excess / v[1], 1.0 - 1e-6) ** 2)
            s.M[k, k] += metric
            s.f[k] -= metric * v[2] * excess * (1.0 if qd[k] > 0 else -1.0)


@inner_kernel
def add_tool_leaves(links, goal, tool, leaves, s):
    """Add the pull to a position, the pull of the axes to directions, drag and inertia of one of the tools."""
    if goal.link[tool] < 0:
        return
    none, link, T = s.g, goal.link[tool], goal.T[tool]
    place_point(s, link, T[:3, 3])
    point_jacobian(links, s, link)
    cx, cy, cz = s.c[0], s.c[1], s.c[2]
    none[0], none[1], none[2] = 0.0, 0.0, 0.0
    d = leaves.damping
    fast = math.sqrt(s.xd[0] ** 2 + s.xd[1] ** 2 + s.xd[2] ** 2)
    drag = -d[0] * fast
    add_point(s, 0.0, d[1] * fast, none, drag * s.xd[0] - cx, drag * s.xd[1] - cy, drag * s.xd[2] - cz)
    add_point(s, 0.0, d[2], none, -cx, -cy, -cz)
    far = 0.0
    if goal.has_position[tool]:
        t, e = leaves.target, s.g
        for i in range(3):
            e[i] = goal.position[tool, i] - s.x[i]
        far = math.sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2)
        pull, brake = t[0] / (far + t[2]), t[1]
        ax, ay, az = pull * e[0] - brake * s.xd[0], pull * e[1] - brake * s.xd[1], pull * e[2] - brake * s.xd[2]
        for i in range(3):
            e[i] /= max(far, 1e-9)
        alpha = (1.0 - t[4]) * math.exp(-(far**2) / (2.0 * t[3] ** 2)) + t[4]
        beta = math.exp(-(far**2) / (2.0 * t[8] ** 2))
        boost = beta * t[7] + 1.0 - beta
        add_point(s, boost * (1.0 - alpha) * t[6], boost * alpha * t[5], e, ax - cx, ay - cy, az - cz)
    if goal.has_rotation[tool]:
        t, boost = leaves.axis, 1.0
        if goal.has_position[tool]:
            beta = math.exp(-(far**2) / (2.0 * t[4] ** 2))
            boost = beta * t[3] + 1.0 - beta
        w, dw, R = s.w[link], s.dw[link], s.R[link]
        for column in range(3):
            # The tip of a unit axis, as a point that only rotates: n' = w x n, bias dw x n + w x (w x n).
            nx = R[0, 0] * T[0, column] + R[0, 1] * T[1, column] + R[0, 2] * T[2, column]
            ny = R[1, 0] * T[0, column] + R[1, 1] * T[1, column] + R[1, 2] * T[2, column]
            nz = R[2, 0] * T[0, column] + R[2, 1] * T[1, column] + R[2, 2] * T[2, column]
            vx, vy, vz = w[1] * nz - w[2] * ny, w[2] * nx - w[0] * nz, w[0] * ny - w[1] * nx
            bx = dw[1] * nz - dw[2] * ny + w[1] * vz - w[2] * vy
            by = dw[2] * nx - dw[0] * nz + w[2] * vx - w[0] * vz
            bz = dw[0] * ny - dw[1] * nx + w[0] * vy - w[1] * vx
            turn_jacobian(links, s, link, nx, ny, nz)
            none[0], none[1], none[2] = 0.0, 0.0, 0.0
            add_point(
                s,
                0.0,
                boost * t[2],
                none,
                t[0] * (goal.R[tool, 0, column] - nx) - t[1] * vx - bx,
                t[0] * (goal.R[tool, 1, column] - ny) - t[1] * vy - by,
                t[0] * (goal.R[tool, 2, column] - nz) - t[1] * vz - bz,
            )


@inner_kernel
def solve_damped(s, damping, a):
    """Solve ``(M + damping I) a = f`` by Cholesky; return the lengths of a and of ``L^-1 a``."""
    L, M, n = s.L, s.M, a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            x = M[i, j] + (damping if i == j else 0.0)
            for k in range(j):
                x -= L[i, k] * L[j, k]
            L[i, j] = math.sqrt(max(x, 1e-12)) if i == j else x / L[j, j]
    for i in range(n):
        x = s.f[i]
        for k in range(i):
            x -= L[i, k] * a[k]
        a[i] = x / L[i, i]
    for i in range(n - 1, -1, -1):
        x = a[i]
        for k in range(i + 1, n):
            x -= L[k, i] * a[k]
        a[i] = x / L[i, i]
    squared, steep = 0.0, 0.0
    for i in range(n):
        squared += a[i] * a[i]
        x = a[i]
        for k in range(i):
            x -= L[i, k] * s.work[k]
        s.work[i] = x / L[i, i]
        steep += s.work[i] * s.work[i]
    return math.sqrt(squared), math.sqrt(steep)


@inner_kernel
def resolve(s, most, a):
    """Write the acceleration (n,) of the root; if it is longer than ``most``, the nearest one under the metric."""
    length, steep = solve_damped(s, 0.0, a)
    damping = 0.0
    for _ in range(60):
        if length <= most * (1.0 + 1e-12):
            break
        damping += (length / steep) ** 2 * (length - most) / most
        length, steep = solve_damped(s, damping, a)


@kernel
def accelerate(policy, q, qd, s, a):
    """Write the acceleration (n,) of a ``Policy``; metric and force stay in ``s.M`` and ``s.f``."""
    n = q.shape[0]
    for k in range(n):
        s.f[k] = 0.0
        for j in range(n):
            s.M[k, j] = 0.0
    links, leaves = policy.links, policy.leaves
    move_links(links, q, qd, s)
    add_joint_leaves(links, policy.goal, leaves, q, qd, s)
    for tool in range(policy.goal.link.shape[0]):
        add_tool_leaves(links, policy.goal, tool, leaves, s)
    add_collisions(links, policy.spheres, policy.world, leaves.collision, s)
    add_collisions(links, policy.controllers, policy.base, leaves.collision, s)
    resolve(s, leaves.most, a)


@kernel
def roll_out(policy, q, qd, step, count):
    """Integrate a ``Policy`` in place by explicit Euler: position with the old velocity, then velocity."""
    n = q.shape[0]
    s, a = make_state(n), np.empty(n)
    for _ in range(count):
        accelerate(policy, q, qd, s, a)
        for k in range(n):
            q[k] += step * qd[k]
            qd[k] += step * a[k]


@kernel
def nearest_gap(links, points, bodies, q):
    """Return the smallest distance between the moving spheres and an obstacle [m]; infinity without obstacles."""
    n, smallest = q.shape[0], math.inf
    s, rest = make_state(n), np.zeros(n)
    move_links(links, q, rest, s)
    for k in range(points.link.shape[0]):
        if points.link[k] < 0:
            continue
        place_point(s, points.link[k], points.offset[k])
        for b in range(bodies.kind.shape[0]):
            apart, _ = distance_to(bodies, b, s)
            smallest = min(smallest, apart - points.radius[k])
    return smallest
