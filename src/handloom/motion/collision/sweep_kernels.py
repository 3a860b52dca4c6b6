"""How far a robot can move before anything could touch."""

import math

from handloom.kernels import kernel


@kernel
def free_fraction(step, anchor, axis, prismatic, centre, radius, moves, body, pairs, distances, horizon, one_chain):
    """Return how far along ``step`` the robot may go before any two solids could touch, as a fraction of it.

    A hinge moves a point by at most its distance from the axis times the angle; a slide joint by its travel. Two
    bodies approach each other only through joints that move one of them but not the other. A pair ``d`` apart is
    therefore safe while the sum over those joints of ``|step| * (arm + radius + 2 d)`` stays below d: the arm is
    measured now, and it can grow by d on either side until then. Pairs beyond the horizon count as that far apart.

    Args:
        step: Direction of motion in joint space (n,).
        anchor: A point on each joint axis (n, 3) [m].
        axis: Unit joint axes (n, 3).
        prismatic: True where a joint slides (n,).
        centre: Centre of a sphere around each body (b, 3) [m].
        radius: Radius of that sphere (b,) [m].
        moves: Whether joint k moves body b (n, b).
        body: Body of each geom, -1 for obstacles (geoms,).
        pairs: Geoms of each pair within the horizon (c, 2).
        distances: Distance of each pair (c,) [m].
        horizon: Distance up to which pairs are listed [m].
        one_chain: Whether all joints follow one another. Then joints between two bodies also move the outer one, and
            its own speed bounds how fast they approach; otherwise both may move and share the horizon.
    """
    fraction, spare = math.inf, horizon if one_chain else 0.5 * horizon
    for b in range(radius.shape[0]):
        rate = _approach_rate(step, anchor, axis, prismatic, centre, radius, moves, b, -1, horizon)
        fraction = min(fraction, spare / max(rate, 1e-12))
    for c in range(distances.shape[0]):
        i, j = body[pairs[c, 0]], body[pairs[c, 1]]
        if i < 0:
            i, j = j, i
        rate = _approach_rate(step, anchor, axis, prismatic, centre, radius, moves, i, j, distances[c])
        fraction = min(fraction, distances[c] / max(rate, 1e-12))
    return fraction


@kernel
def _approach_rate(step, anchor, axis, prismatic, centre, radius, moves, i, j, distance):
    """Return how fast body i can approach body j (-1: the world) per unit of motion along ``step``."""
    rate = 0.0
    for k in range(step.shape[0]):
        other = j >= 0 and moves[k, j]
        if moves[k, i] == other or step[k] == 0.0:
            continue
        b = j if other else i
        if prismatic[k]:
            rate += abs(step[k])
            continue
        x, y, z = centre[b, 0] - anchor[k, 0], centre[b, 1] - anchor[k, 1], centre[b, 2] - anchor[k, 2]
        along = x * axis[k, 0] + y * axis[k, 1] + z * axis[k, 2]
        arm = math.sqrt(max(x * x + y * y + z * z - along * along, 0.0))
        rate += abs(step[k]) * (arm + radius[b] + 2.0 * distance)
    return rate
