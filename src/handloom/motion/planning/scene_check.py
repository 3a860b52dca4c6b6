"""Both collision checkers for one robot among obstacles, kept in step."""

from collections.abc import Iterable
from dataclasses import replace

from handloom.motion.collision import CollisionRobot, CollisionWorld, ExactChecker, Obstacle, SphereChecker


class SceneCheck:
    """Spheres for searching, exact solids for judging; rebuilt only as far as the world changed."""

    def __init__(self, robot: CollisionRobot, world: CollisionWorld, *, per_unit: float) -> None:
        self.robot = robot
        self._world, self._per_unit = world, per_unit
        self._version = world.version
        self._all: tuple[Obstacle, ...] = tuple(world)
        self._obstacles = self._all
        self._ignored: tuple[str, ...] = ()
        self._spheres: dict[tuple[tuple[str, ...], float], SphereChecker] = {}
        self.exact = ExactChecker(robot.tree, robot.parts, self._all, robot.ignored)
        """The exact checker of what was last selected."""

    def refresh(self, ignore: Iterable[str] = ()) -> None:
        """Take over the obstacles as they are now, then select."""
        self._all, self._spheres = tuple(self._world), {}
        if self._version != self._world.version:
            self.exact = ExactChecker(self.robot.tree, self.robot.parts, self._all, self.robot.ignored)
            self._version = self._world.version
        self._select(tuple(ignore))

    def select(self, ignore: Iterable[str]) -> None:
        """Leave out the obstacles whose name contains one of the texts; the rest is as of the last refresh."""
        if tuple(ignore) != self._ignored:
            self._select(tuple(ignore))

    def _select(self, ignore: tuple[str, ...]) -> None:
        self._ignored = ignore
        self._obstacles = tuple(
            replace(o, enabled=False) if any(text in o.name for text in ignore) else o for o in self._all
        )
        self.exact.place(self._obstacles)

    def spheres(self, padding: float) -> SphereChecker:
        """Return the sphere checker of what was last selected, with some padding [m]."""
        key = (self._ignored, padding)
        if key not in self._spheres:
            self._spheres[key] = SphereChecker(self.robot, self._obstacles, padding=padding, per_unit=self._per_unit)
        return self._spheres[key]
