"""Contacts of grains: with each other, and with solids."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel
from handloom.scene.grains.distance_kernels import distance, grid_sample, solid_sample

ROUNDS = 3
"""Passes over all contacts per physics step."""
VISCOSITY = 0.02
"""Fraction of the relative velocity of two touching grains removed in each pass of a physics step."""
FRICTION = 0.15
"""Friction between grains and solids: wet beads on plastic. Spilled grains come to rest; those in a vessel still
flow."""
SETTLED = 0.1
"""Weight of the newest push on an object: averaging over about ten steps (20 ms) preserves the total impulse without
the noise of single impacts."""
PAIR_REACH, SOLID_REACH = 2.2, 1.5
"""Before the first pass of a step, grains closer together than this many radii, centre to centre, may touch in that
step; grains farther than this from a solid in a pass do not touch it in a later pass."""
SLABS = 64
"""Maximum number of slabs into which grains are sorted to find neighbours."""
STRIDE = 8
"""Contacts of grains are visited with this stride: neighbours in the list share a grain, so the processor would stall
until the first one is written."""


@inner_kernel
def _into(pose, point, out):
    """Write a point (3,) of the world in the frame of a pose (4, 3), its rotation above its position."""
    dx, dy, dz = point[0] - pose[3, 0], point[1] - pose[3, 1], point[2] - pose[3, 2]
    for k in range(3):
        out[k] = pose[0, k] * dx + pose[1, k] * dy + pose[2, k] * dz


@kernel
def resolve(qpos, v, forces, grains, h, around, x0, R0, x1, R1):
    """Move grains out of each other and out of solids; change their velocities accordingly, and push the bodies.

    Position-based dynamics: MuJoCo has moved the grains by one step as if they were alone. A few passes over all
    contacts correct their positions, and every correction divided by the time step is a change of velocity. A contact
    of two grains moves each by half, so momentum is conserved; a contact with a solid pushes the body with the same
    impulse.

    Cost: 0.15 ms for 300 grains in a heap.

    Args:
        qpos: Joint positions (n, 3) [m] of the grains after the free step; corrected in place.
        v: Their velocities (n, 3) [m/s] after the free step; corrected in place.
        forces: Applied forces of all dofs; those of free bodies follow the push of the grains.
        grains: The grains, a ``GrainTable``.
        h: Length of the step [s].
        around: The solids, a ``Surroundings``.
        x0: Positions of all bodies of the model before the step (m, 3) [m].
        R0: Their rotations before the step, as the rows (m, 9).
        x1: Their positions after it.
        R1: Their rotations after it.
    """
    n, radius = len(v), grains.radius
    q, start = qpos + grains.origin, x0[grains.first : grains.first + n]
    free = q.copy()
    least, greatest, words = q[0].copy(), q[0].copy(), np.empty(n // 8 + 1, np.int64)
    for i in range(n):
        for a in range(3):
            least[a], greatest[a] = min(least[a], q[i, a]), max(greatest[a], q[i, a])
    axis, pairs, order = int(np.argmax(greatest - least)), np.empty((16 * n, 2), np.int64), np.empty(n, np.int64)
    scratch = np.empty(SLABS + 1, np.int64), np.empty((3, n)), words.view(np.uint8), words
    pair_count = find_pairs(q, PAIR_REACH * radius, axis, order, *scratch, pairs)
    before, now = np.empty((len(grains.bodies), 4, 3)), np.empty((len(grains.bodies), 4, 3))
    _gather(before, grains.bodies, x0, R0)
    _gather(now, grains.bodies, x1, R1)
    near, work = np.empty((n * len(grains.bodies), 2), np.int64), np.empty((4, 3))
    count = _find_near(q, least, greatest, radius, around, now, near, work[0])
    normal, touched, push = np.empty((count, 3)), np.zeros(count, np.bool_), np.zeros((len(grains.bodies), 6))
    for _ in range(ROUNDS):
        _leave_grains(q, pairs, pair_count, radius)
        count = _leave_solids(q, start, near, count, normal, touched, radius, around, before, now, push, work)
    for i in range(n):
        for a in range(3):
            qpos[i, a] = q[i, a] - grains.origin[i, a]
            v[i, a] += (q[i, a] - free[i, a]) / h
    _smooth(q, v, pairs, pair_count, radius)
    _land(v, near, count, normal, touched, q, before, now, h, work[0])
    for b in range(len(push)):
        if grains.dofs[b] >= 0:
            _apply(forces[grains.dofs[b] : grains.dofs[b] + 6], push[b], now[b], grains.mass / (h * h))


@inner_kernel
def _gather(poses, bodies, places, rotations):
    """Write the rotations, and in a last row the positions, of some bodies (b, 4, 3)."""
    for b in range(len(bodies)):
        for a in range(3):
            poses[b, 3, a] = places[bodies[b], a]
            for k in range(3):
                poses[b, a, k] = rotations[bodies[b], 3 * a + k]


@inner_kernel
def _apply(forces, push, pose, scale):
    """Let the applied forces (6,) of a free body follow a push: force in the world, torque in the body's frame."""
    for a in range(3):
        turn = push[3] * pose[0, a] + push[4] * pose[1, a] + push[5] * pose[2, a]
        forces[a] += SETTLED * (scale * push[a] - forces[a])
        forces[3 + a] += SETTLED * (scale * turn - forces[3 + a])


@inner_kernel
def _leave_grains(q, pairs, count, radius):
    """Move overlapping grains apart, each by half."""
    near = 4.0 * radius * radius
    for begin in range(STRIDE):
        for k in range(begin, count, STRIDE):
            i, j = pairs[k, 0], pairs[k, 1]
            dx, dy, dz = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
            d2 = dx * dx + dy * dy + dz * dz
            if d2 >= near or d2 == 0.0:
                continue
            s = radius / math.sqrt(d2) - 0.5
            q[i, 0] -= s * dx
            q[i, 1] -= s * dy
            q[i, 2] -= s * dz
            q[j, 0] += s * dx
            q[j, 1] += s * dy
            q[j, 2] += s * dz


@inner_kernel
def _leave_solids(q, start, near, count, normal, touched, radius, around, before, now, push, work):
    """Move grains out of solids; move the pairs that may still touch in this step to the front and return their number.

    Args:
        q: Centres (n, 3) [m], corrected in place.
        start: Centres (n, 3) [m] before the step.
        near: Grain and body (p, 2) of every pair that may touch.
        count: Number of these pairs.
        normal: Unit normals (p, 3) in the world of the pairs that touched, written.
        touched: Whether each pair touched (p,), written.
        radius: Of a grain [m].
        around: The solids, a ``Surroundings``.
        before: Poses (b, 4, 3) of the bodies before the step.
        now: The same after it.
        push: Sum of all moves against each body [m], and of their moments about its origin (b, 6) [m^2].
        work: Scratch (4, 3).
    """
    nodes, solids, kept = around.nodes, around.solids, 0
    here, there, slope, out = work[0], work[1], work[2], work[3]
    for k in range(count):
        i, b = near[k, 0], near[k, 1]
        R, g = now[b], around.grid[b]
        _into(R, q[i], here)
        if g >= 0:
            grid = around.node_count[g], around.node_origin[g], around.node_cell[g]
            d = grid_sample(nodes, around.node_first[g], *grid, here[0], here[1], here[2], slope)
        else:
            first, last = around.solid_first[b], around.solid_first[b + 1]
            d = solid_sample(solids, first, last, here[0], here[1], here[2], radius, slope)
        if d >= SOLID_REACH * radius and not touched[k]:
            continue
        near[kept, 0], near[kept, 1], touched[kept] = i, b, touched[k]
        normal[kept, 0], normal[kept, 1], normal[kept, 2] = normal[k, 0], normal[k, 1], normal[k, 2]
        kept += 1
        if d >= radius:
            continue
        size = math.sqrt(slope[0] ** 2 + slope[1] ** 2 + slope[2] ** 2)
        if size == 0.0:
            continue
        for a in range(3):
            slope[a] /= size
        _into(before[b], start[i], there)
        _correction(here, there, slope, radius - d, out)
        touched[kept - 1] = True
        for a in range(3):
            normal[kept - 1, a] = R[a, 0] * slope[0] + R[a, 1] * slope[1] + R[a, 2] * slope[2]
            there[a] = R[a, 0] * out[0] + R[a, 1] * out[1] + R[a, 2] * out[2]
            push[b, a] -= there[a]
            q[i, a] += there[a]
        rx, ry, rz = q[i, 0] - R[3, 0], q[i, 1] - R[3, 1], q[i, 2] - R[3, 2]
        push[b, 3] -= ry * there[2] - rz * there[1]
        push[b, 4] -= rz * there[0] - rx * there[2]
        push[b, 5] -= rx * there[1] - ry * there[0]
    return kept


@inner_kernel
def _correction(here, there, slope, depth, out):
    """Write the move of a grain out of a solid (3,) and back along its surface, limited by friction [m]."""
    along = 0.0
    for k in range(3):
        along += (here[k] - there[k]) * slope[k]
    slip = 0.0
    for k in range(3):
        out[k] = here[k] - there[k] - along * slope[k]
        slip += out[k] * out[k]
    slip = math.sqrt(slip)
    back = 1.0 if slip <= FRICTION * depth else FRICTION * depth / slip
    for k in range(3):
        out[k] = depth * slope[k] - back * out[k]


@inner_kernel
def _smooth(q, v, pairs, count, radius):
    """Apply the drag between touching grains."""
    reach = (2.05 * radius) ** 2
    for k in range(count):
        i, j = pairs[k, 0], pairs[k, 1]
        d2 = (q[j, 0] - q[i, 0]) ** 2 + (q[j, 1] - q[i, 1]) ** 2 + (q[j, 2] - q[i, 2]) ** 2
        if d2 < reach:
            for a in range(3):
                change = VISCOSITY * (v[j, a] - v[i, a])
                v[i, a] += change
                v[j, a] -= change


@inner_kernel
def _land(v, near, count, normal, touched, q, before, now, h, work):
    """Remove the velocities with which grains would bounce off solids."""
    for k in range(count):
        if not touched[k]:
            continue
        i, R = near[k, 0], before[near[k, 1]]
        _into(now[near[k, 1]], q[i], work)
        speed = 0.0
        for a in range(3):
            place = R[a, 0] * work[0] + R[a, 1] * work[1] + R[a, 2] * work[2] + R[3, a]
            speed += normal[k, a] * (v[i, a] - (q[i, a] - place) / h)
        if speed > 0.0:
            for a in range(3):
                v[i, a] -= speed * normal[k, a]


@inner_kernel
def _sort_along(q, axis, far, order, counts):
    """Write the grains ordered by slabs ``far`` [m] or more thick across an axis, and count those up to each slab."""
    n, slabs = len(q), len(counts) - 1
    least, greatest = q[0, axis], q[0, axis]
    for i in range(1, n):
        least, greatest = min(least, q[i, axis]), max(greatest, q[i, axis])
    scale = 1.0 / max(far, (greatest - least) / (slabs - 1))
    counts[:] = 0
    for i in range(n):
        counts[int((q[i, axis] - least) * scale) + 1] += 1
    for k in range(slabs):
        counts[k + 1] += counts[k]
    for i in range(n - 1, -1, -1):
        slab = int((q[i, axis] - least) * scale) + 1
        counts[slab] -= 1
        order[counts[slab]] = i
    # Each count is now that of the slabs before: the first index of the slab itself is one entry further.


@inner_kernel
def find_pairs(q, far, axis, order, counts, places, marks, words, pairs):
    """List the pairs (p, 2) of grains nearer than ``far`` [m]; return their number.

    Each grain is compared, in vector code, with the later ones in its own slab and with all of the next slab.

    Args:
        q: Centres (n, 3) [m].
        far: Distance [m].
        axis: Axis across which slabs are cut.
        order: Scratch (n,).
        counts: Scratch (slabs + 1,).
        places: Scratch (3, n): the centres in that order.
        marks: Scratch of bytes (n rounded up to 8,), ``words`` the same memory as integers of 8 bytes.
        words: See ``marks``.
        pairs: Written; pairs beyond its capacity are dropped.
    """
    n, count = len(q), 0
    _sort_along(q, axis, far, order, counts)
    for s in range(n):
        for a in range(3):
            places[a, s] = q[order[s], a]
    slab = 1
    for s in range(n):
        while slab < len(counts) - 1 and counts[slab + 1] <= s:
            slab += 1
        end = counts[slab + 2] if slab + 2 < len(counts) else n
        size = end - s - 1
        x, y, z = places[0, s], places[1, s], places[2, s]
        for t in range(size):
            dx, dy, dz = places[0, s + 1 + t] - x, places[1, s + 1 + t] - y, places[2, s + 1 + t] - z
            marks[t] = dx * dx + dy * dy + dz * dz < far * far
        for t in range(size, (size + 7) // 8 * 8):
            marks[t] = 0
        for word in range((size + 7) // 8):
            if words[word] != 0:
                for t in range(8 * word, 8 * word + 8):
                    if marks[t] != 0 and count < len(pairs):
                        pairs[count, 0], pairs[count, 1] = order[s], order[s + 1 + t]
                        count += 1
    return count


@inner_kernel
def _reaches(low, high, pose, body_low, body_high, margin):
    """Return whether a box in the world is closer than a margin [m] to the box around a body."""
    for k in range(3):
        middle, half = 0.0, margin
        for a in range(3):
            middle += pose[a, k] * (0.5 * (low[a] + high[a]) - pose[3, a])
            half += abs(pose[a, k]) * 0.5 * (high[a] - low[a])
        if middle - half > body_high[k] or middle + half < body_low[k]:
            return False
    return True


@inner_kernel
def _find_near(q, least, greatest, radius, around, now, near, here):
    """List grain and body (p, 2) of every pair that may touch in this step; return their number."""
    n, count, margin, solids = len(q), 0, 2.0 * radius, around.solids
    for b in range(len(now)):
        low, high = around.low[b], around.high[b]
        if not _reaches(least, greatest, now[b], low, high, margin):
            continue
        for i in range(n):
            _into(now[b], q[i], here)
            close = True
            for a in range(3):
                close = close and low[a] - margin < here[a] < high[a] + margin
            if close and around.grid[b] < 0:
                first, last = around.solid_first[b], around.solid_first[b + 1]
                close = distance(solids, first, last, here[0], here[1], here[2], margin) < margin
            if close:
                near[count, 0], near[count, 1] = i, b
                count += 1
    return count
