"""Solver settings under their published names; the solver is the world's, not the robot's."""

import warnings

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError
from handloom.sim import World


class SolverSettings:
    """Iterations, thresholds and self-collision of a robot, as far as MuJoCo has them.

    MuJoCo has one solver per world, so the number of iterations holds for the whole world. What exists only in PhysX
    is kept and returned, and reported unused by a warning.

    Args:
        world: The world.
        bodies: Indices of the robot's bodies (n,).
    """

    def __init__(self, world: World, bodies: NDArray[np.int64]) -> None:
        self.world = world
        self._body_set = frozenset(bodies.tolist())
        self._unused: dict[str, float] = {}

    def set_solver_position_iteration_count(self, count: int) -> None:
        """Set the greatest number of solver iterations, for the whole world."""
        if not isinstance(count, int | np.integer) or count < 1:
            raise InputError(f"the solver needs a whole number of iterations >= 1, got {count!r}")
        self.world.model.opt.iterations = int(count)

    def get_solver_position_iteration_count(self) -> int:
        """Return the greatest number of solver iterations of the world."""
        return int(self.world.model.opt.iterations)

    def set_solver_velocity_iteration_count(self, count: int) -> None:
        """Keep a setting that only PhysX has."""
        self._keep_unused("solver_velocity_iteration_count", count)

    def get_solver_velocity_iteration_count(self) -> int:
        """Return a setting that only PhysX has."""
        return int(self._unused.get("solver_velocity_iteration_count", 0))

    def set_stabilization_threshold(self, threshold: float) -> None:
        """Keep a setting that only PhysX has."""
        self._keep_unused("stabilization_threshold", threshold)

    def get_stabilization_threshold(self) -> float:
        """Return a setting that only PhysX has."""
        return self._unused.get("stabilization_threshold", 0.0)

    def set_sleep_threshold(self, threshold: float) -> None:
        """Keep a setting without effect: bodies never sleep in a World, whose states must be exact."""
        self._keep_unused("sleep_threshold", threshold)

    def get_sleep_threshold(self) -> float:
        """Return a setting without effect."""
        return self._unused.get("sleep_threshold", 0.0)

    def _keep_unused(self, setting: str, value: float) -> None:
        self._unused[setting] = value
        warnings.warn(f"{setting} = {value} is kept but has no effect on MuJoCo", stacklevel=3)

    def get_enabled_self_collisions(self) -> bool:
        """Return whether two bodies of the robot may collide: not neighbours, not excluded, with matching bits."""
        model = self.world.model
        geoms = [geom for geom in range(model.ngeom) if int(model.geom_bodyid[geom]) in self._body_set]
        excluded = set(model.exclude_signature.tolist())
        return any(
            self._may_collide(first, second, excluded)
            for index, first in enumerate(geoms)
            for second in geoms[index + 1 :]
        )

    def _may_collide(self, first: int, second: int, excluded: set[int]) -> bool:
        model = self.world.model
        bodies = sorted(int(model.geom_bodyid[geom]) for geom in (first, second))
        a, b = (int(model.body_weldid[body]) for body in bodies)
        parent_a, parent_b = (int(model.body_weldid[model.body_parentid[body]]) for body in (a, b))
        filtering = not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
        # MuJoCo lets a body collide with its parent only when that is part of the world.
        neighbours = filtering and ((a == parent_b and a != 0) or (b == parent_a and b != 0))
        contype, conaffinity = model.geom_contype, model.geom_conaffinity
        bits = (contype[first] & conaffinity[second]) | (contype[second] & conaffinity[first])
        return bool(bits) and a != b and not neighbours and (bodies[0] << 16) + bodies[1] not in excluded

    def set_enabled_self_collisions(self, flag: bool) -> None:
        """Confirm the present setting; MuJoCo decides at compile time which bodies may collide."""
        if flag != self.get_enabled_self_collisions():
            raise InputError(
                f"self-collision is {'off' if flag else 'on'} in the compiled model and cannot be switched any more; "
                "use contype and conaffinity or <contact><exclude> in the spec"
            )
