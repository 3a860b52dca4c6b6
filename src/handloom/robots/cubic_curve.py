"""A smooth curve through given points."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


class CubicCurve:
    """The cubic spline through points (x_i, y_i), with continuous third derivative at the second and last but one.

    Those end conditions ("not a knot") are the usual default of spline libraries, so curves agree with theirs. The
    unknowns are the second derivatives m_i; with h_i = x_{i+1} - x_i, continuity of the slope asks for

        h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 ((y_{i+1} - y_i) / h_i - (y_i - y_{i-1}) / h_{i-1}).

    Args:
        x: At least four ascending abscissae (n,).
        y: Ordinates (n,).
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        self.x, self.y = np.array(x, float), np.array(y, float)
        if self.x.ndim != 1 or self.x.shape != self.y.shape or len(self.x) < 4:
            raise InputError(f"a cubic curve needs four or more points, got shapes {self.x.shape} and {self.y.shape}")
        if not (np.all(np.diff(self.x) > 0) and np.all(np.isfinite(self.y))):
            raise InputError("a cubic curve needs ascending abscissae and finite ordinates")
        self._curvature = self._second_derivatives()

    def _second_derivatives(self) -> Array:
        n, h = len(self.x), np.diff(self.x)
        slope = np.diff(self.y) / h
        A, b = np.zeros((n, n)), np.zeros(n)
        for i in range(1, n - 1):
            A[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
            b[i] = 6 * (slope[i] - slope[i - 1])
        A[0, :3] = h[1], -(h[0] + h[1]), h[0]
        A[-1, -3:] = h[-1], -(h[-2] + h[-1]), h[-2]
        return np.linalg.solve(A, b).astype(np.float64)

    def __call__(self, x: ArrayLike) -> Array:
        """Return ordinates at abscissae of any shape, all inside the given points."""
        at = np.asarray(x, float)
        if np.any(at < self.x[0]) or np.any(at > self.x[-1]):
            raise InputError(f"the curve is known from {self.x[0]:g} to {self.x[-1]:g}, asked for {at.min():g}")
        i = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, len(self.x) - 2)
        h = self.x[i + 1] - self.x[i]
        left, right = (self.x[i + 1] - at) / h, (at - self.x[i]) / h
        bend = (left**3 - left) * self._curvature[i] + (right**3 - right) * self._curvature[i + 1]
        return left * self.y[i] + right * self.y[i + 1] + bend * h**2 / 6
