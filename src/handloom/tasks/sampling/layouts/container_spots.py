"""Places in a container: offsets from its origin, and the file beside an asset that lists them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handloom.arrays import Array
from handloom.config import read_document
from handloom.errors import ConfigError
from handloom.spatial import quat_rotate
from handloom.values import ObjectInstance


@dataclass(frozen=True, eq=False)
class ContainerSpots:
    """Places of a container."""

    offsets: Array
    """From the container's origin (n, 3) [m]."""
    turns: bool = False
    """In the container's frame; otherwise along the world's axes, as offsets of a ``gap`` are published."""
    level: bool = False
    """Whether they leave the height open."""

    def offset(self, index: int, quat: Array) -> Array:
        """Return one of them along the world's axes (3,) [m]; its height is NaN if left open."""
        offset = quat_rotate(quat, self.offsets[index]) if self.turns else self.offsets[index].copy()
        if self.level:
            offset[2] = np.nan
        return offset


def gap_file(obj: ObjectInstance) -> tuple[float, ...]:
    """Return the offsets in ``gap.yaml`` beside an asset file: a list, or a list under ``gap``."""
    file = Path(str(obj.parameters.get("path", ""))).parent / "gap.yaml"
    if "path" not in obj.parameters or not file.is_file():
        return ()
    values = read_document(file).values
    values = values.get("gap") if isinstance(values, dict) else values
    if not isinstance(values, list) or not all(isinstance(v, int | float) for v in values):
        raise ConfigError(f"{file}: expected a list of offsets [m], got {values!r}")
    return tuple(float(value) for value in values)
