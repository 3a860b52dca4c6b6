"""One sample of one tracked hand."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from handloom.retarget.inputs.hand_input import NUM_HAND_JOINTS
from handloom.retarget.sources.snapshot import Snapshot
from handloom.retarget.sources.snapshot_fields import array_field


@dataclass(frozen=True, kw_only=True, eq=False)
class HandSnapshot(Snapshot):
    """A hand at one moment; the fields are the slots of ``HandInput`` in their order."""

    label: ClassVar[str] = "a hand sample"

    joint_positions: ArrayLike
    """(26, 3) [m] in the session frame, OpenXR order."""
    joint_orientations: ArrayLike
    """(26, 4) xyzw."""
    joint_radii: ArrayLike
    """(26,) [m]."""
    joint_valid: ArrayLike
    """(26,) 0 or 1."""

    def __post_init__(self) -> None:
        """Bring every field to its stored kind, or refuse it."""
        n = NUM_HAND_JOINTS
        for name, shape, dtype in (
            ("joint_positions", (n, 3), np.float32),
            ("joint_orientations", (n, 4), np.float32),
            ("joint_radii", (n,), np.float32),
            ("joint_valid", (n,), np.uint8),
        ):
            value = array_field(getattr(self, name), shape, what=f"hand field {name!r}", dtype=dtype)
            object.__setattr__(self, name, value)
