"""What stands between a body twist and the wheels, for each kind of drive."""

from typing import Protocol

from handloom.arrays import Array
from handloom.control.wheeled.encoders import Encoders
from handloom.values import ArticulationAction


class WheelDrive(Protocol):
    """One kind of drive between a body twist and the wheels."""

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        ...

    def aim(self, twist: Array, /) -> float:
        """Choose the steering of a body twist for the next commands; return how long it takes at most [s]."""
        ...

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds [rad/s] and encoder readings."""
        ...
