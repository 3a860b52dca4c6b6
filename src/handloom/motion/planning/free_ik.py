"""Batched inverse kinematics with collision checks."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.kinematics import IkOptions, IkSolver
from handloom.motion.planning.arm_group import ArmGroup
from handloom.motion.planning.scene_check import SceneCheck

TIGHTEN_SEVERAL = 0.04
"""Factor on the tolerances for several arms: the errors of hands that carry an object together add up."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeIkResult:
    """One collision-free configuration per target, if there is one."""

    q: Array
    """Configurations (n, dof); only rows with ``free`` are collision-free."""
    reachable: NDArray[np.bool_]
    """Whether any configuration within limits reaches each target (n,)."""
    free: NDArray[np.bool_]
    """Whether the returned configuration reaches the target without collision (n,)."""


class FreeIk:
    """Finds several configurations per target and tests them together.

    With several arms, a target is one pose per arm and configurations are combined, nearest to the seed first.
    """

    def __init__(self, arms: ArmGroup, options: IkOptions, *, branches: int) -> None:
        close = options if len(arms) == 1 else replace(options, tighten=TIGHTEN_SEVERAL * options.tighten)
        self._solvers = tuple(IkSolver(chain, close) for chain in arms.chains)
        self._columns, self._branches, self._dof = arms.columns, branches, arms.dof

    def configurations(self, T_base_tool: Array, seed: Array, rng_seed: int) -> list[Array]:
        """Return for each target (n, arms, 4, 4) the configurations (k, dof) that reach it, nearest to the seed."""
        found = [
            solver.branches(T_base_tool[:, arm], self._branches, seed=seed[columns], rng_seed=rng_seed)
            for arm, (solver, columns) in enumerate(zip(self._solvers, self._columns, strict=True))
        ]
        return [self._combine(seed, [f.q[i, : f.count[i]] for f in found]) for i in range(len(T_base_tool))]

    def solve(
        self, scene: SceneCheck, T_base_tool: Array, seed: Array, *, padding: float, rng_seed: int
    ) -> FreeIkResult:
        """Return for each target the free configuration nearest to the seed, checked by spheres or else exactly."""
        options = self.configurations(T_base_tool, seed, rng_seed)
        reachable = np.array([len(q) > 0 for q in options], bool)
        result, free = np.tile(seed, (len(options), 1)), np.zeros(len(options), bool)
        roomy = scene.spheres(padding).configurations_free(np.concatenate([*options, np.empty((0, self._dof))]))
        first = np.cumsum([0, *map(len, options)])
        for i, configurations in enumerate(options):
            clear = np.flatnonzero(roomy[first[i] : first[i + 1]])
            chosen = clear[0] if len(clear) else _first_exact(scene, configurations)
            if chosen is not None:
                result[i], free[i] = configurations[chosen], True
            elif len(configurations):
                result[i] = configurations[0]
        return FreeIkResult(q=result, reachable=reachable, free=free)

    def _combine(self, seed: Array, per_arm: list[Array]) -> Array:
        """Return full configurations (k, dof) combined from those of each arm, nearest to the seed first."""
        near = [_nearest_first(q, seed[c]) for q, c in zip(per_arm, self._columns, strict=True)]
        counts = [len(q) for q in near]
        index = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, len(near))
        result = np.empty((len(index), self._dof))
        for arm, columns in enumerate(self._columns):
            result[:, columns] = near[arm][index[:, arm]]
        return _nearest_first(result, seed)[: max(self._branches, 1)] if len(near) > 1 else result


def _first_exact(scene: SceneCheck, configurations: Array) -> int | None:
    """Return the first configuration that is exactly free."""
    return next((k for k, q in enumerate(configurations) if scene.exact.is_free(q)), None)


def _nearest_first(q: Array, seed: Array) -> Array:
    return q[np.argsort(np.linalg.norm(q - seed, axis=1), kind="stable")]
