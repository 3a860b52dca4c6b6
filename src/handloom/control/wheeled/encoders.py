"""What the encoders of a base read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Encoders(NamedTuple):
    """Angles of the wheels and of the joints that steer them."""

    wheels: Array
    """(k,) [rad]."""
    steering: Array
    """(m,) [rad]; empty when nothing steers."""
