"""User data in the state of a world: saved, restored, recorded and replayed with it."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError

_PREFIX = "user:"


def add_user_data(spec: mujoco.MjSpec, name: str, size: int) -> None:
    """Reserve numbers in the state, zero at first; ``World.user_data(name)`` reads and writes them.

    Call it on the spec that will be compiled, after other specs have been attached to it: attaching gives names a
    prefix and drops sizes.

    Args:
        spec: The spec to change.
        name: Name of the numbers.
        size: How many.
    """
    if spec.numeric(_PREFIX + name) is not None:
        raise InputError(f"user data {name!r} is already reserved")
    spec.add_numeric(name=_PREFIX + name, size=size, data=np.zeros(size))
    spec.nuserdata = max(spec.nuserdata, 0) + size


def user_data(model: mujoco.MjModel, data: mujoco.MjData, *, after: int) -> dict[str, NDArray[np.float64]]:
    """Return the reserved numbers by name, as views of the state.

    Args:
        model: Compiled model.
        data: Its data.
        after: Number of leading entries that belong to attachments.
    """
    found: dict[str, NDArray[np.float64]] = {}
    for index in range(model.nnumeric):
        name = model.numeric(index).name
        if name.startswith(_PREFIX):
            size = int(model.numeric_size[index])
            if after + size > model.nuserdata:
                raise InputError(f"no room for user data {name!r}: call add_user_data on the spec that is compiled")
            found[name.removeprefix(_PREFIX)] = data.userdata[after : after + size]
            after += size
    return found
