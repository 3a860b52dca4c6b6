"""What the encoders of a base read."""

from typing import NamedTuple

from handloom.arrays import Array


class Encoders(NamedTuple):
    """Angles of the wheels and of the joints that steer them."""

    wheels: Array
    """(k,) [rad]."""
    steering: Array
    """(m,) [rad]; empty when nothing steers."""
