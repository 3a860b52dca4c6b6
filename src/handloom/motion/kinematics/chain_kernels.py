"""Forward kinematics and Jacobian of a chain in normal form (``JointTree``): each joint acts along its own z."""

import math

import numpy as np

from handloom.kernels import inner_kernel, kernel


@inner_kernel
def forward(chain, q, R, p, axes, origins):
    """Pose of the tool and of every joint axis, all in the base frame.

    With ``W = R F_k`` the frame of joint k before it moves, a hinge combines the first two columns of W with sine and
    cosine of q, and a slide joint moves the origin along the third. About 60 multiplications per joint.

    Args:
        chain: ``ChainArrays``.
        q: Configuration (n,).
        R: Receives the rotation of the tool (3, 3).
        p: Receives the position of the tool (3,).
        axes: Receives the joint axes (n, 3).
        origins: Receives a point on each axis (n, 3).
    """
    n = q.shape[0]
    for i in range(3):
        p[i] = 0.0
        for j in range(3):
            R[i, j] = 1.0 if i == j else 0.0
    for k in range(n):
        _append(R, p, chain.rotations[k], chain.positions[k])
        for i in range(3):
            axes[k, i] = R[i, 2]
            origins[k, i] = p[i]
        if chain.prismatic[k]:
            for i in range(3):
                p[i] += R[i, 2] * q[k]
        else:
            sine, cosine = math.sin(q[k]), math.cos(q[k])
            for i in range(3):
                x, y = R[i, 0], R[i, 1]
                R[i, 0] = cosine * x + sine * y
                R[i, 1] = cosine * y - sine * x
    _append(R, p, chain.rotations[n], chain.positions[n])


@kernel(inline="always")
def _append(R, p, F, f):
    """Multiply the pose (R, p) by the constant pose (F, f) from the right, in place."""
    for i in range(3):
        a, b, c = R[i, 0], R[i, 1], R[i, 2]
        p[i] += a * f[0] + b * f[1] + c * f[2]
        R[i, 0] = a * F[0, 0] + b * F[1, 0] + c * F[2, 0]
        R[i, 1] = a * F[0, 1] + b * F[1, 1] + c * F[2, 1]
        R[i, 2] = a * F[0, 2] + b * F[1, 2] + c * F[2, 2]


@inner_kernel
def jacobian(prismatic, p, axes, origins, J):
    """Geometric Jacobian (6, n) from the results of ``forward``: velocity of the tool, then angular velocity."""
    for k in range(axes.shape[0]):
        x, y, z = axes[k, 0], axes[k, 1], axes[k, 2]
        if prismatic[k]:
            J[0, k], J[1, k], J[2, k] = x, y, z
            J[3, k], J[4, k], J[5, k] = 0.0, 0.0, 0.0
        else:
            a, b, c = p[0] - origins[k, 0], p[1] - origins[k, 1], p[2] - origins[k, 2]
            J[0, k], J[1, k], J[2, k] = y * c - z * b, z * a - x * c, x * b - y * a
            J[3, k], J[4, k], J[5, k] = x, y, z


@kernel
def forward_batch(chain, q, T):
    """Poses of the tool (m, 4, 4) at configurations (m, n)."""
    n = q.shape[1]
    R, p = np.empty((3, 3)), np.empty(3)
    axes, origins = np.empty((n, 3)), np.empty((n, 3))
    for row in range(q.shape[0]):
        forward(chain, q[row], R, p, axes, origins)
        T[row, :3, :3] = R
        T[row, :3, 3] = p
        T[row, 3, :] = 0.0
        T[row, 3, 3] = 1.0


@kernel
def jacobian_batch(chain, q, J):
    """Jacobians of the tool (m, 6, n) at configurations (m, n)."""
    n = q.shape[1]
    R, p = np.empty((3, 3)), np.empty(3)
    axes, origins = np.empty((n, 3)), np.empty((n, 3))
    for row in range(q.shape[0]):
        forward(chain, q[row], R, p, axes, origins)
        jacobian(chain.prismatic, p, axes, origins, J[row])
