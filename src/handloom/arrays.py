"""The array type used in almost every module."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Double-precision numbers of any shape; the docstring gives the shape."""
