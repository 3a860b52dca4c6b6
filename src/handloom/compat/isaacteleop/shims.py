"""Published names that need code of their own: steps of the rate limiters, and a clutch that two releases define."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.retarget import RateLimiterConfig, SO101PoseClutchRetargeter, SO101PositionClutchRetargeter
from handloom.retarget.quaternions import Quat, conjugate, multiply, rotvec, toward


def clamped_dt(prev_ns: int | None, now_ns: int, nominal: float, lo: float, hi: float) -> float:
    """Return the believed frame period [s] between two times [ns], see ``RateLimiterConfig.dt``."""
    return RateLimiterConfig(nominal_dt=nominal, min_dt=lo, max_dt=hi).dt(prev_ns, now_ns)


def clamped_position(target: ArrayLike, previous: ArrayLike, max_step: float) -> Array:
    """Return the point at most ``max_step`` [m] from ``previous`` on the line to ``target`` (3,)."""
    end, start = np.asarray(target, float), np.asarray(previous, float)
    distance = float(np.linalg.norm(end - start))
    return end if distance <= max_step else start + (end - start) * (max_step / distance)


def clamped_orientation(target: ArrayLike, previous: ArrayLike, max_step: float) -> Array:
    """Return the rotation at most ``max_step`` [rad] from ``previous`` on the shorter arc to ``target``, xyzw (4,)."""
    start, end = _wxyz(previous), _wxyz(target)
    angle = float(np.linalg.norm(rotvec(multiply(conjugate(start), end))))
    w, x, y, z = toward(start, end, 1.0 if angle <= max_step else max_step / angle)
    return np.array((x, y, z, w))


def _wxyz(xyzw: ArrayLike) -> Quat:
    x, y, z, w = np.asarray(xyzw, float).tolist()
    return w, x, y, z


class SO101ClutchRetargeter(SO101PoseClutchRetargeter):
    """The clutch of the revision that the arguments belong to.

    With a ``home_base_T_ee`` it is that of release 1.5, ``SO101PoseClutchRetargeter``, which needs one. Without, it is
    that of the published SO-101 page, ``SO101PositionClutchRetargeter``, which takes the live end effector as its home.
    The names of the ports of both are here.
    """

    ROBOT_EE_POS_INPUT = SO101PositionClutchRetargeter.ROBOT_EE_POS_INPUT
    ROBOT_BASE_POS_INPUT = SO101PositionClutchRetargeter.ROBOT_BASE_POS_INPUT

    def __new__(cls, name: str, home_base_T_ee: Any = None, *_: Any, **settings: Any) -> Any:
        """Return a clutch of either class."""
        if home_base_T_ee is not None and not isinstance(home_base_T_ee, str):
            return super().__new__(cls)
        if isinstance(home_base_T_ee, str):  # The page has the device in this place.
            settings["input_device"] = home_base_T_ee
        return SO101PositionClutchRetargeter(name, **settings)
