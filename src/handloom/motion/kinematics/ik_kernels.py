"""Projected Levenberg-Marquardt descent on a pose error, from many starting points.

The residual of a configuration is ``e = (position error [m], w * rotation error [rad])`` with ``w`` in metres. One
step solves ``(J'J + damping I) dq = J'e + damping * preference`` and is clipped at the joint limits; joints that the
gradient pushes further out of a limit are frozen (the projection). ``preference`` is the desired redundant motion; zero
gives the classic step. One step takes about 1.5 us for seven joints.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.kernels import inner_kernel, kernel
from handloom.motion.kinematics.chain_kernels import forward, jacobian
from handloom.motion.kinematics.turn_kernels import axis_between, rotation_between

# Values of ``ik_options.Orientation``.
FREE, FULL, AXIS = 0, 1, 2

DAMPING_START = 1e-3
DAMPING_SMALLEST = 1e-7
DAMPING_DOWN, DAMPING_UP = 0.2, 8.0
MOST_DAMPING_TRIES = 4

STALLED = 1e-3
"""A step that lowers the squared error by a smaller fraction than this, far from the target, ends the descent: it is in
a local minimum or at a limit, and trying another starting point is a better use of time."""


class IkProblem(NamedTuple):
    """The part of a request that is the same for all targets."""

    lower: Array
    """Lower limits (n,)."""
    upper: Array
    """Upper limits (n,)."""
    middle: Array
    """Configuration that ``limit_bias`` pulls to (n,)."""
    orientation: int
    """FREE, FULL or AXIS."""
    tool_axis: Array
    """Unit axis in the tool frame (3,)."""
    position_axes: Array
    """1 for each axis of the target frame that counts, otherwise 0 (3,)."""
    partial: bool
    """True when an entry of ``position_axes`` is 0."""
    position_tolerance: float
    """Accepted distance [m], already tightened."""
    rotation_tolerance: float
    """Accepted angle [rad], already tightened."""
    rotation_weight: float
    """Metres per radian."""
    iterations: int
    """Steps per starting point."""
    seed_bias: float
    """Pull to the seed, 0 to 1."""
    limit_bias: float
    """Pull to the middle, 0 to 1."""
    bias_steps: int
    """Refinement steps with the pull."""


class IkTargets(NamedTuple):
    """A batch of targets."""

    R: Array
    """Rotations (m, 3, 3) in the base."""
    p: Array
    """Positions (m, 3) in the base [m]."""
    seed: Array
    """Starting point number 0 of each target (m, n)."""

    def part(self, begin: int, end: int) -> "IkTargets":
        """Return the targets ``begin <= t < end``, sharing memory."""
        return IkTargets(*(values[begin:end] for values in self))


class IkFound(NamedTuple):
    """What a batch receives."""

    q: Array
    """Solutions (m, most, n); row 0 contains the closest attempt until there is one."""
    counts: NDArray[np.int64]
    """Solutions so far (m,)."""
    used: NDArray[np.int64]
    """Starting points tried (m,)."""
    errors: Array
    """Distance [m] and angle [rad] of row 0 (m, 2); infinity before the first attempt."""

    def part(self, begin: int, end: int) -> "IkFound":
        """Return the results of the targets ``begin <= t < end``, sharing memory."""
        part = slice(begin, end)
        return IkFound(self.q[part], self.counts[part], self.used[part], self.errors[part])


class IkScratch(NamedTuple):
    """Work arrays of a descent, created once per batch."""

    R: Array
    p: Array
    axes: Array
    origins: Array
    error: Array
    J: Array
    H: Array
    gradient: Array
    step: Array
    trial: Array
    tool_axis: Array


@kernel
def make_scratch(n):
    """Return the work arrays of a descent with n joints."""
    return IkScratch(
        np.empty((3, 3)),
        np.empty(3),
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty(6),
        np.empty((6, n)),
        np.empty((n, n)),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.zeros(3),
    )


@inner_kernel
def pose_residual(problem, Rg, pg, w):
    """Fill ``w.error`` for the tool pose in the scratch; return the distance [m] and angle [rad] that count."""
    e = w.error
    for i in range(3):
        e[i] = pg[i] - w.p[i]
    if problem.partial:
        x, y, z = e[0], e[1], e[2]
        for i in range(3):
            e[i] = problem.position_axes[i] * (Rg[0, i] * x + Rg[1, i] * y + Rg[2, i] * z)
    distance = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    angle = 0.0
    if problem.orientation == FULL:
        angle = rotation_between(Rg, w.R, e[3:6])
    elif problem.orientation == AXIS:
        angle = axis_between(problem, Rg, w.R, e[3:6], w.tool_axis)
    else:
        e[3], e[4], e[5] = 0.0, 0.0, 0.0
    for i in range(3, 6):
        e[i] *= problem.rotation_weight
    return distance, angle


@inner_kernel
def pose_jacobian(problem, Rg, prismatic, w):
    """Fill ``w.J`` with the derivative of the weighted task coordinates at the scratch's pose."""
    J, weight, current = w.J, problem.rotation_weight, w.tool_axis
    jacobian(prismatic, w.p, w.axes, w.origins, J)
    for k in range(J.shape[1]):
        if problem.partial:
            x, y, z = J[0, k], J[1, k], J[2, k]
            for i in range(3):
                J[i, k] = problem.position_axes[i] * (Rg[0, i] * x + Rg[1, i] * y + Rg[2, i] * z)
        if problem.orientation == FULL:
            for i in range(3, 6):
                J[i, k] *= weight
        elif problem.orientation == AXIS:
            # Rotation about the axis itself is free, so that component does not count.
            along = J[3, k] * current[0] + J[4, k] * current[1] + J[5, k] * current[2]
            for i in range(3):
                J[3 + i, k] = weight * (J[3 + i, k] - along * current[i])
        else:
            J[3, k], J[4, k], J[5, k] = 0.0, 0.0, 0.0


@inner_kernel
def freeze_at_limits(problem, q, w):
    """Compute the gradient J'e and drop joints at a limit that it pushes further out."""
    J, e = w.J, w.error
    for k in range(q.shape[0]):
        g = 0.0
        for i in range(6):
            g += J[i, k] * e[i]
        if (q[k] <= problem.lower[k] and g < 0.0) or (q[k] >= problem.upper[k] and g > 0.0):
            g = 0.0
            for i in range(6):
                J[i, k] = 0.0
        w.gradient[k] = g


@inner_kernel
def damped_step(w, damping):
    """Solve ``(J'J + damping I) step = gradient`` by Cholesky; J is (6, n), so the matrix is positive definite."""
    J, H, x, n = w.J, w.H, w.step, w.step.shape[0]
    for a in range(n):
        for b in range(a + 1):
            s = 0.0
            for i in range(6):
                s += J[i, a] * J[i, b]
            H[a, b] = s
        H[a, a] += damping
    for a in range(n):
        for b in range(a + 1):
            s = H[a, b]
            for k in range(b):
                s -= H[a, k] * H[b, k]
            H[a, b] = math.sqrt(s) if a == b else s / H[b, b]
    for a in range(n):
        s = w.gradient[a]
        for k in range(a):
            s -= H[a, k] * x[k]
        x[a] = s / H[a, a]
    for a in range(n - 1, -1, -1):
        s = x[a]
        for k in range(a + 1, n):
            s -= H[k, a] * x[k]
        x[a] = s / H[a, a]


@inner_kernel
def clipped_trial(problem, q, w):
    """Write ``q + step``, clipped at the limits, to ``w.trial``."""
    for k in range(q.shape[0]):
        w.trial[k] = min(max(q[k] + w.step[k], problem.lower[k]), problem.upper[k])


@kernel
def descend(chain, problem, Rg, pg, q, w):
    """Reduce the pose error from q (n,), in place; return the remaining distance [m] and angle [rad]."""
    damping = DAMPING_START
    forward(chain, q, w.R, w.p, w.axes, w.origins)
    distance, angle = pose_residual(problem, Rg, pg, w)
    cost = distance**2 + (problem.rotation_weight * angle) ** 2
    for _ in range(problem.iterations):
        if distance <= problem.position_tolerance and angle <= problem.rotation_tolerance:
            break
        pose_jacobian(problem, Rg, chain.prismatic, w)
        freeze_at_limits(problem, q, w)
        improved = 0.0
        for _ in range(MOST_DAMPING_TRIES):
            damped_step(w, damping)
            clipped_trial(problem, q, w)
            forward(chain, w.trial, w.R, w.p, w.axes, w.origins)
            new_distance, new_angle = pose_residual(problem, Rg, pg, w)
            new_cost = new_distance**2 + (problem.rotation_weight * new_angle) ** 2
            if new_cost < cost:
                improved = (cost - new_cost) / cost
                q[:] = w.trial
                cost, distance, angle = new_cost, new_distance, new_angle
                damping = max(damping * DAMPING_DOWN, DAMPING_SMALLEST)
                break
            damping *= DAMPING_UP
        near = distance < 10.0 * problem.position_tolerance and angle < 10.0 * problem.rotation_tolerance
        if improved == 0.0 or (improved < STALLED and not near):
            break
    return distance, angle


@inner_kernel
def preference_cost(problem, seed, q):
    """Weighted squared distance of q from the seed and from the midpoints of the ranges."""
    cost = 0.0
    for k in range(q.shape[0]):
        cost += problem.seed_bias * (seed[k] - q[k]) ** 2 + problem.limit_bias * (problem.middle[k] - q[k]) ** 2
    return cost


@kernel
def pull_redundant_joints(chain, problem, Rg, pg, seed, q, w):
    """Move a solution along its redundancy towards the seed and the middle of the ranges, in place.

    A step solves the damped system with the pull as preference, then returns to the target; it is accepted only if the
    target is met and the preference is closer than before. Otherwise a shorter step is tried.
    """
    n, small, scale = q.shape[0], 1e-5, 1.0
    candidate, cost = np.empty(n), preference_cost(problem, seed, q)
    for _ in range(problem.bias_steps):
        forward(chain, q, w.R, w.p, w.axes, w.origins)
        pose_residual(problem, Rg, pg, w)
        pose_jacobian(problem, Rg, chain.prismatic, w)
        freeze_at_limits(problem, q, w)
        for k in range(n):
            pull = problem.seed_bias * (seed[k] - q[k]) + problem.limit_bias * (problem.middle[k] - q[k])
            w.gradient[k] += small * scale * pull
        damped_step(w, small)
        clipped_trial(problem, q, w)
        candidate[:] = w.trial
        distance, angle = descend(chain, problem, Rg, pg, candidate, w)
        closer = preference_cost(problem, seed, candidate)
        if distance <= problem.position_tolerance and angle <= problem.rotation_tolerance and closer < cost:
            q[:] = candidate
            cost, scale = closer, min(1.0, 2.0 * scale)
        else:
            scale *= 0.5
            if scale < 0.05:
                break


@inner_kernel
def already_found(found, count, q):
    """Return whether q is within 0.05 rad or m, in every joint, of one of the first ``count`` rows of ``found``."""
    for row in range(count):
        largest = 0.0
        for k in range(q.shape[0]):
            largest = max(largest, abs(found[row, k] - q[k]))
        if largest < 0.05:
            return True
    return False


@kernel
def solve_targets(chain, problem, targets, seeds, found):
    """Solve each target from all seeds in turn, until ``found.q.shape[1]`` distinct solutions are found.

    Args:
        chain: ``ChainArrays``.
        problem: ``IkProblem``.
        targets: ``IkTargets``.
        seeds: Further starting points (s, n) after the target's own, shared by all targets.
        found: ``IkFound``, updated.
    """
    n, most = targets.seed.shape[1], found.q.shape[1]
    w, q = make_scratch(n), np.empty(n)
    out_q, count, used, errors = found.q, found.counts, found.used, found.errors
    for t in range(targets.R.shape[0]):
        R, p, own = targets.R[t], targets.p[t], targets.seed[t]
        for s in range(seeds.shape[0] + 1):
            if count[t] == most:
                break
            seed = own if s == 0 else seeds[s - 1]
            for k in range(n):
                q[k] = min(max(seed[k], problem.lower[k]), problem.upper[k])
            distance, angle = descend(chain, problem, R, p, q, w)
            used[t] = s + 1
            solved = distance <= problem.position_tolerance and angle <= problem.rotation_tolerance
            if solved and problem.seed_bias + problem.limit_bias > 0.0:
                pull_redundant_joints(chain, problem, R, p, own, q, w)
                forward(chain, q, w.R, w.p, w.axes, w.origins)
                distance, angle = pose_residual(problem, R, p, w)
            if solved and not already_found(out_q[t], count[t], q):
                if count[t] == 0:
                    errors[t, 0], errors[t, 1] = distance, angle
                out_q[t, count[t]] = q
                count[t] += 1
            elif count[t] == 0:
                worst = errors[t, 0] + problem.rotation_weight * errors[t, 1]
                if not distance + problem.rotation_weight * angle >= worst:
                    errors[t, 0], errors[t, 1] = distance, angle
                    out_q[t, 0] = q
