"""Both collision checkers for one robot among obstacles, kept in step."""

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
    """Spheres for searching, exact solids for judging; rebuilt only as far as the world changed."""

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
        """All obstacles, with those switched off that were last selected not to count."""
        return self._selected[self._ignored]

    @property
    def exact(self) -> ExactChecker:
        """The exact checker of what was last selected, compiled when it is first asked for."""
        if self._exact is None:
            self._exact = ExactChecker(self.robot.tree, self.robot.parts, self._all, self.robot.ignored)
            self._exact.place(self._selected[self._ignored])
            self._exact.leave_behind(self._released)
        return self._exact

    def refresh(self, ignore: Iterable[str] = (), *, released: Iterable[str] = ()) -> None:
        """Take over the obstacles as they are now, then select. What did not change is kept."""
        now = tuple(self._world)
        if len(now) != len(self._all) or any(a is not b for a, b in zip(now, self._all, strict=True)):
            self._all, self._selected, self._spheres = now, {}, {}
        if self._version != self._world.version:
            self._exact, self._version = None, self._world.version
        self.select(ignore, released=released)

    def select(self, ignore: Iterable[str], *, released: Iterable[str] = ()) -> None:
        """Ignore obstacles whose name contains one of the texts; the others are as of the last refresh.

        Objects in ``released`` do not count as parts of the robot for the exact checker. Spheres still see them there,
        which costs exact checks but decides nothing.
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
        """Return the sphere checker of what was last selected, with some padding [m]."""
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
        """Return where a path collides exactly, or None; spheres spare most of the exact checks.

        Where spheres leave out a pair of bodies because it is too close together for them, nothing is spared.
        """
        proof = None if self.robot.coarse else self.spheres(0.0).configurations_free
        return self.exact.first_collision(path, step=step, allowed=allowed, surely_free=proof)
