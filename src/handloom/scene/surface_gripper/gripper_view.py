"""Many surface grippers at once, with the published names."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.errors import InputError
from handloom.scene.surface_gripper.surface_gripper import SurfaceGripper

PROPERTIES = ("max_grip_distance", "coaxial_force_limit", "shear_force_limit", "retry_interval")


class GripperView:
    """Surface grippers that are commanded and read together.

    Args:
        grippers: The grippers, of one world or of several.
    """

    def __init__(self, grippers: Sequence[SurfaceGripper]) -> None:
        self.grippers = tuple(grippers)

    @property
    def count(self) -> int:
        """Number of grippers."""
        return len(self.grippers)

    def apply_gripper_action(self, values: ArrayLike, indices: ArrayLike | None = None) -> None:
        """Apply one action each (n,): below -0.3 opens, above 0.3 closes, anything between has no effect."""
        for gripper, value in zip(self._chosen(indices), self._given("values", values, indices), strict=True):
            gripper.apply_action(float(value))

    def get_surface_gripper_status(self, indices: ArrayLike | None = None) -> list[str]:
        """Return ``Open``, ``Closing`` or ``Closed`` of each."""
        return [gripper.status.value for gripper in self._chosen(indices)]

    def get_gripped_objects(self, indices: ArrayLike | None = None) -> list[list[str]]:
        """Return the bodies held by each."""
        return [list(gripper.gripped_objects) for gripper in self._chosen(indices)]

    def get_surface_gripper_properties(self, indices: ArrayLike | None = None) -> tuple[list[float], ...]:
        """Return grip distances [m], coaxial and shear limits [N] and retry intervals [s], a list (n,) each."""
        chosen = self._chosen(indices)
        return tuple([float(getattr(gripper.properties, name)) for gripper in chosen] for name in PROPERTIES)

    def set_surface_gripper_properties(
        self,
        max_grip_distance: ArrayLike | None = None,
        coaxial_force_limit: ArrayLike | None = None,
        shear_force_limit: ArrayLike | None = None,
        retry_interval: ArrayLike | None = None,
        indices: ArrayLike | None = None,
    ) -> None:
        """Set the given properties, one number for all or one each (n,); None leaves a property unchanged."""
        given = zip(
            PROPERTIES, (max_grip_distance, coaxial_force_limit, shear_force_limit, retry_interval), strict=True
        )
        for name, values in given:
            if values is None:
                continue
            for gripper, value in zip(self._chosen(indices), self._given(name, values, indices), strict=True):
                gripper.set_properties(**{name: float(value)})

    def _chosen(self, indices: ArrayLike | None) -> list[SurfaceGripper]:
        if indices is None:
            return list(self.grippers)
        wanted = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        outside = wanted[(wanted < 0) | (wanted >= self.count)]
        if len(outside):
            raise InputError(f"indices {outside.tolist()} are not among {self.count} grippers")
        return [self.grippers[index] for index in wanted]

    def _given(self, name: str, values: ArrayLike, indices: ArrayLike | None) -> NDArray[np.float64]:
        numbers, wanted = np.asarray(values, np.float64), len(self._chosen(indices))
        if numbers.ndim > 1 or numbers.size not in {1, wanted}:
            raise InputError(f"{name} has shape {numbers.shape} for {wanted} grippers")
        return np.broadcast_to(numbers.reshape(-1), wanted)
