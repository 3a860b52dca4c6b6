"""Which geoms are mirrors, and the camera that stands behind one."""

import numpy as np
from numpy.typing import NDArray

from handloom.render.cpu.layout import BOX, G_MIRROR, G_POS, G_ROT, G_SIZE, G_TYPE, PLANE, V_AXES, V_EYE

# Each mirror is one more picture where it is seen; the clearest come first.
MAX_MIRRORS = 4


def mirror_rows(geoms: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the rows of planes and boxes with reflectance, the strongest first."""
    flat = np.isin(geoms[:, G_TYPE], (PLANE, BOX)) & (geoms[:, G_MIRROR] > 0)
    rows = np.flatnonzero(flat)
    return rows[np.argsort(-geoms[rows, G_MIRROR], kind="stable")][:MAX_MIRRORS].astype(np.int32)


def mirrored_view(view: NDArray[np.float32], mirror: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the camera row mirrored in a plane, or in the upper face of a box."""
    normal = mirror[[G_ROT + 2, G_ROT + 5, G_ROT + 8]].astype(float)
    height = float(mirror[G_SIZE + 2]) if mirror[G_TYPE] == BOX else 0.0
    point = mirror[G_POS : G_POS + 3].astype(float) + height * normal
    out = view.copy()
    eye, axes = view[V_EYE : V_EYE + 3].astype(float), view[V_AXES : V_AXES + 9].reshape(3, 3).astype(float)
    out[V_EYE : V_EYE + 3] = eye - 2 * ((eye - point) @ normal) * normal
    out[V_AXES : V_AXES + 9] = (axes - 2 * np.outer(normal, normal @ axes)).ravel()
    return out
