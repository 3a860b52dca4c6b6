"""Forward kinematics of 16 configurations in parallel lanes.

Every inner loop runs over the 16 lanes of a row of 32-bit numbers and has no branches, so that the compiler turns
it into vector instructions. It only does so if it can prove that outputs do not alias inputs. A link is therefore
computed in place in a flat array with constant offsets and copied out afterwards, which is five times faster than loops
over rows of the result.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.kernels import inner_kernel, kernel
from handloom.motion.collision.collision_arrays import LANES

f4 = np.float32
ZERO, HALF, ONE, TWO = f4(0.0), f4(0.5), f4(1.0), f4(2.0)
TURN, PER_TURN = f4(2.0 * math.pi), f4(0.5 / math.pi)

POSE = 12 * LANES
"""Numbers per link: nine of its rotation, row by row, then three of its position, 16 lanes each."""

POINT = 3 * LANES
"""Numbers per point: three coordinates, 16 lanes each."""


class LaneScratch(NamedTuple):
    """Work arrays of a thread."""

    q: NDArray[np.float32]
    """Configurations (n, 16)."""
    pose: NDArray[np.float32]
    """Poses of all links (n + 1, 192); link 0 is the root."""
    work: NDArray[np.float32]
    """The link being computed (208,): its pose, then its joint value; or coordinates in an obstacle's frame."""
    point: NDArray[np.float32]
    """Centres of all groups in the root frame, then of up to three spheres being tested (g + 3, 48)."""


@kernel
def make_lanes(robot):
    """Return work arrays for a robot, with the root link at the origin."""
    n = robot.parent.shape[0]
    pose = np.zeros((n + 1, POSE), np.float32)
    for i in (0, 4, 8):
        for lane in range(LANES):
            pose[0, i * LANES + lane] = ONE
    return LaneScratch(
        np.zeros((n, LANES), np.float32),
        pose,
        np.zeros(POSE + LANES, np.float32),
        np.zeros((robot.group_link.shape[0] + 3, POINT), np.float32),
    )


@inner_kernel
def place_links(robot, lanes):
    """Forward kinematics of all links at the 16 configurations in ``lanes.q``."""
    pose, work, q, parent, before = lanes.pose, lanes.work, lanes.q, robot.parent, -1
    for k in range(parent.shape[0]):
        up = parent[k]
        if up != before:
            for i in range(POSE):
                work[i] = pose[up, i]
        for lane in range(LANES):
            work[POSE + lane] = q[k, lane]
        _move_by_joint(work, robot.joint, k, robot.prismatic[k])
        before = k + 1
        for i in range(POSE):
            pose[before, i] = work[i]


@inner_kernel
def _move_by_joint(work, joint, k, prismatic):
    """Replace the pose of a link in ``work`` with that of the next one, after joint k.

    Sine and cosine come from Taylor polynomials of the half angle, reduced to a quarter turn either way, and the
    double-angle formulas; their error stays below 3e-7.
    """
    F0, F1, F2 = joint[k, 0], joint[k, 1], joint[k, 2]
    F3, F4, F5 = joint[k, 3], joint[k, 4], joint[k, 5]
    F6, F7, F8 = joint[k, 6], joint[k, 7], joint[k, 8]
    f0, f1, f2 = joint[k, 9], joint[k, 10], joint[k, 11]
    slides = ONE if prismatic else ZERO
    turns = ONE - slides
    for lane in range(LANES):
        slide = work[POSE + lane] * slides
        angle = work[POSE + lane] * turns
        angle -= TURN * np.rint(angle * PER_TURN)
        h = angle * HALF
        z = h * h
        s = h * (ONE + z * (f4(-1 / 6) + z * (f4(1 / 120) + z * (f4(-1 / 5040) + z * f4(1 / 362880)))))
        c = ONE + z * (-HALF + z * (f4(1 / 24) + z * (f4(-1 / 720) + z * (f4(1 / 40320) + z * f4(-1 / 3628800)))))
        sine, cosine = TWO * s * c, ONE - TWO * s * s
        # Rows of rotation and position one by one; offsets are multiples of 16 lanes.
        a, b, c = work[lane], work[lane + 16], work[lane + 32]
        u, v, w = a * F0 + b * F3 + c * F6, a * F1 + b * F4 + c * F7, a * F2 + b * F5 + c * F8
        work[lane + 144] = work[lane + 144] + a * f0 + b * f1 + c * f2 + w * slide
        work[lane], work[lane + 16], work[lane + 32] = u * cosine + v * sine, v * cosine - u * sine, w
        a, b, c = work[lane + 48], work[lane + 64], work[lane + 80]
        u, v, w = a * F0 + b * F3 + c * F6, a * F1 + b * F4 + c * F7, a * F2 + b * F5 + c * F8
        work[lane + 160] = work[lane + 160] + a * f0 + b * f1 + c * f2 + w * slide
        work[lane + 48], work[lane + 64], work[lane + 80] = u * cosine + v * sine, v * cosine - u * sine, w
        a, b, c = work[lane + 96], work[lane + 112], work[lane + 128]
        u, v, w = a * F0 + b * F3 + c * F6, a * F1 + b * F4 + c * F7, a * F2 + b * F5 + c * F8
        work[lane + 176] = work[lane + 176] + a * f0 + b * f1 + c * f2 + w * slide
        work[lane + 96], work[lane + 112], work[lane + 128] = u * cosine + v * sine, v * cosine - u * sine, w


@inner_kernel
def place_point(pose, link, sphere, s, point, slot):
    """Write the centre of sphere s of a link, in the root frame, to a row of ``point``."""
    x, y, z = sphere[s, 0], sphere[s, 1], sphere[s, 2]
    for lane in range(LANES):
        point[slot, lane] = (
            pose[link, lane + 144] + pose[link, lane] * x + pose[link, lane + 16] * y + pose[link, lane + 32] * z
        )
        point[slot, lane + 16] = (
            pose[link, lane + 160] + pose[link, lane + 48] * x + pose[link, lane + 64] * y + pose[link, lane + 80] * z
        )
        point[slot, lane + 32] = (
            pose[link, lane + 176] + pose[link, lane + 96] * x + pose[link, lane + 112] * y + pose[link, lane + 128] * z
        )
