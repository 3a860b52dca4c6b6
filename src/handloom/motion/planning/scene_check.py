"""Both collision checkers for one robot among obstacles, kept consistent."""

from collections.abc import Iterable
from dataclasses import replace

from handloom.arrays import Array
from handloom.motion.collision import (
    CollisionRobot,
    CollisionWorld,
    ExactChecker,
    Obstacle,
    PathCollision,
    SphereChecker,
)


class SceneCheck:
    """Spheres for searching, exact solids for verification; only changed parts are rebuilt."""

    def __init__(self, robot: CollisionRobot, world: CollisionWorld, *, per_unit: float) -> None:
        self.robot = robot
        self._world, self._per_unit = world, per_unit
        self._version = world.version
        self._all: tuple[Obstacle, ...] = tuple(world)
        self._ignored: tuple[str, ...] = ()
        self._released: tuple[str, ...] = ()
        self._selected: dict[tuple[str, ...], tuple[Obstacle, ...]] = {(): self._all}
        self._spheres: dict[tuple[tuple[str, ...], float], SphereChecker] = {}
        self._exact: ExactChecker | None = None

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """All obstacles, with those ignored by the last selection disabled."""
        return self._selected[self._ignored]

    @property
    def exact(self) -> ExactChecker:
        """The exact checker of the last selection, compiled on first access."""
        if self._exact is None:
            self._exact = ExactChecker(self.robot.tree, self.robot.parts, self._all, self.robot.ignored)
            self._exact.place(self._selected[self._ignored])
            self._exact.leave_behind(self._released)
        return self._exact

    def refresh(self, ignore: Iterable[str] = (), *, released: Iterable[str] = ()) -> None:
        """Update from the current obstacles, then select. Unchanged parts are kept."""
        now = tuple(self._world)
        if len(now) != len(self._all) or any(a is not b for a, b in zip(now, self._all, strict=True)):
            self._all, self._selected, self._spheres = now, {}, {}
        if self._version != self._world.version:
            self._exact, self._version = None, self._world.version
        self.select(ignore, released=released)

    def select(self, ignore: Iterable[str], *, released: Iterable[str] = ()) -> None:
        """Ignore obstacles whose name contains one of the texts; all others are as of the last refresh.

        Objects in ``released`` are no longer part of the robot for the exact checker. Spheres still include them, which
        costs exact checks but does not affect the result.
        """
        self._ignored, self._released = tuple(ignore), tuple(released)
        if self._ignored not in self._selected:
            self._selected[self._ignored] = tuple(
                replace(o, enabled=False) if o.enabled and any(text in o.name for text in self._ignored) else o
                for o in self._all
            )
        if self._exact is not None:
            self._exact.place(self._selected[self._ignored])
            self._exact.leave_behind(self._released)

    def spheres(self, padding: float) -> SphereChecker:
        """Return the sphere checker of the last selection, with some padding [m]."""
        bare = (self._ignored, 0.0)
        if bare not in self._spheres:
            obstacles = self._selected[self._ignored]
            self._spheres[bare] = SphereChecker(self.robot, obstacles, padding=0.0, per_unit=self._per_unit)
        key = (self._ignored, padding)
        if key not in self._spheres:
            self._spheres[key] = self._spheres[bare].with_more_padding(padding)
        return self._spheres[key]

    def first_collision(
        self, path: Array, *, step: float, allowed: dict[frozenset[str], float] | None = None
    ) -> PathCollision | None:
        """Return the exact collision of a path, or None; spheres avoid most of the exact checks.

        If spheres leave out a pair of bodies because it is too close together, all exact checks are made.
        """
        proof = None if self.robot.coarse else self.spheres(0.0).configurations_free
        return self.exact.first_collision(path, step=step, allowed=allowed, surely_free=proof)
