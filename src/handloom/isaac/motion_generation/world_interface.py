"""Obstacles under their published names, and the world model of kinematics solvers, planners and policies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.motion_generation.published_log import warn
from handloom.sim import World
from handloom.spatial import invert_pose, make_pose, matrix_from_quat, quat_from_matrix


class MotionObstacle:
    """A solid at a pose; with a World and the name of a body, it follows that body.

    Args:
        name: Name, used in messages.
        position: Centre in the world (3,) [m].
        orientation: Quaternion wxyz (4,).
        world: World that holds ``body``.
        body: Body whose pose is read at every ``update_world``.
    """

    def __init__(
        self,
        name: str = "",
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        *,
        world: World | None = None,
        body: str = "",
    ) -> None:
        self.name = name or type(self).__name__.lower()
        self._world, self._body = world, body
        self._T = _pose(position, orientation)

    def get_world_pose(self) -> tuple[Array, Array]:
        """Return position (3,) [m] and quaternion wxyz (4,)."""
        T = self.T_world_obstacle()
        return T[:3, 3].copy(), quat_from_matrix(T[:3, :3])

    def set_world_pose(self, position: ArrayLike | None = None, orientation: ArrayLike | None = None) -> None:
        """Set its pose; planners see it at the next ``update_world``."""
        at, turned = self.get_world_pose()
        self._T = _pose(at if position is None else position, turned if orientation is None else orientation)

    def T_world_obstacle(self) -> Array:  # noqa: N802 - frame notation
        """Return its pose (4, 4)."""
        if self._world is None:
            return self._T
        body = self._world.bodies[self._body]
        data = self._world.data
        return make_pose(data.xmat[body].reshape(3, 3), data.xpos[body])


class Cuboid(MotionObstacle):
    """A box with full side lengths ``size * scale`` [m]."""

    def __init__(self, name: str = "", *, size: float = 1.0, scale: ArrayLike = (1.0, 1.0, 1.0), **pose: Any) -> None:
        super().__init__(name, **pose)
        self.sides = float(size) * np.asarray(scale, float)
        _demand_positive(self.name, *self.sides)


class Sphere(MotionObstacle):
    """A ball [m]."""

    def __init__(self, name: str = "", *, radius: float = 0.5, **pose: Any) -> None:
        super().__init__(name, **pose)
        self.radius = float(radius)
        _demand_positive(self.name, radius)


class Capsule(MotionObstacle):
    """A capsule along z; ``height`` is the distance between the centres of its caps [m]."""

    def __init__(self, name: str = "", *, radius: float = 0.5, height: float = 1.0, **pose: Any) -> None:
        super().__init__(name, **pose)
        self.radius, self.height = float(radius), float(height)
        _demand_positive(self.name, radius, height)


class Cylinder(Capsule):
    """A cylinder along z with its full height [m]; no algorithm here supports it, as published."""


class Cone(Capsule):
    """A cone along z with its full height [m]; no algorithm here supports it, as published."""


class GroundPlane(MotionObstacle):
    """The plane z = 0 of its own frame."""


GROUND = (50.0, 50.0, 0.001)
"""Sides of the box used for a ground plane, with its top on the plane [m]."""


@dataclass
class KeptObstacle:
    """An obstacle inside a world interface."""

    obstacle: MotionObstacle
    kind: str
    """``cuboid``, ``sphere`` or ``capsule``."""
    size: tuple[float, float, float]
    """Full side lengths; radius; or radius and height [m]."""
    T_obstacle_solid: Array
    static: bool
    T_base: Array
    """Pose in the robot's base (4, 4), as of the last update."""
    enabled: bool = True


class WorldInterface:
    """Published interface: add, move, disable and remove obstacles; unsupported calls warn and return False."""

    def __init__(self) -> None:
        self._T_world_base, self._base_moved = np.eye(4), False
        self._kept: dict[int, KeptObstacle] = {}
        self.world_version = 0
        """Increases with every change of the obstacles or their poses."""

    def set_robot_base_pose(self, robot_position: ArrayLike, robot_orientation: ArrayLike) -> None:
        """Place the robot's base in the world: position (3,) [m], quaternion wxyz (4,)."""
        T = _pose(robot_position, robot_orientation)
        if not np.array_equal(T, self._T_world_base):
            self._T_world_base, self._base_moved = T, True

    @property
    def obstacles(self) -> tuple[KeptObstacle, ...]:
        """All obstacles that were added and not removed."""
        return tuple(self._kept.values())

    def update_world(self, updated_obstacles: Sequence[MotionObstacle] | None = None) -> None:
        """Read the current poses of the obstacles.

        Args:
            updated_obstacles: Update only these; None, or a moved base, updates all non-static ones.
        """
        only = None if updated_obstacles is None or self._base_moved else {id(item) for item in updated_obstacles}
        T_base_world = invert_pose(self._T_world_base)
        for key, kept in self._kept.items():
            if (kept.static and not self._base_moved) or (only is not None and key not in only):
                continue
            kept.T_base = T_base_world @ kept.obstacle.T_world_obstacle() @ kept.T_obstacle_solid
        self._base_moved = False
        self.world_version += 1

    def add_obstacle(self, obstacle: MotionObstacle, static: bool = False) -> bool:
        """Add an obstacle of any kind; False, with a warning, if its kind is not supported."""
        adders: dict[type[MotionObstacle], Any] = {
            Cuboid: self.add_cuboid,
            Sphere: self.add_sphere,
            Cylinder: self.add_cylinder,
            Cone: self.add_cone,
            Capsule: self.add_capsule,
            GroundPlane: self.add_ground_plane,
        }
        for kind, add in adders.items():
            if isinstance(obstacle, kind):
                return add(obstacle, static)
        return warn(f"{type(obstacle).__name__} is not an obstacle type; use Cuboid, Sphere, Capsule or GroundPlane")

    def add_cuboid(self, cuboid: Cuboid, static: bool = False) -> bool:
        """Add a box."""
        x, y, z = (float(side) for side in cuboid.sides)
        return self._add(cuboid, "cuboid", (x, y, z), static)

    def add_sphere(self, sphere: Sphere, static: bool = False) -> bool:
        """Add a ball."""
        return self._add(sphere, "sphere", (sphere.radius, 0.0, 0.0), static)

    def add_capsule(self, capsule: Capsule, static: bool = False) -> bool:
        """Add a capsule."""
        return self._add(capsule, "capsule", (capsule.radius, capsule.height, 0.0), static)

    def add_cylinder(self, cylinder: Cylinder, static: bool = False) -> bool:
        """Cylinders are not supported: warns, returns False."""
        del static
        return warn(f"{cylinder.name}: {type(self).__name__} does not support cylinders; it is ignored")

    def add_cone(self, cone: Cone, static: bool = False) -> bool:
        """Cones are not supported: warns, returns False."""
        del static
        return warn(f"{cone.name}: {type(self).__name__} does not support cones; it is ignored")

    def add_ground_plane(self, ground_plane: GroundPlane, static: bool = True) -> bool:
        """Add a plane as a thin box of 50 m x 50 m with its top on the plane; it is always static."""
        del static
        return self._add(ground_plane, "cuboid", GROUND, True, make_pose(np.eye(3), (0.0, 0.0, -GROUND[2] / 2)))

    def disable_obstacle(self, obstacle: MotionObstacle) -> bool:
        """Disable an obstacle; False if it was never added."""
        return self._switch(obstacle, False)

    def enable_obstacle(self, obstacle: MotionObstacle) -> bool:
        """Enable an obstacle again; False if it was never added."""
        return self._switch(obstacle, True)

    def remove_obstacle(self, obstacle: MotionObstacle) -> bool:
        """Remove an obstacle; False if it was never added."""
        self.world_version += 1
        return self._kept.pop(id(obstacle), None) is not None

    def reset(self) -> None:
        """Forget every obstacle."""
        self._kept.clear()
        self.world_version += 1

    def _add(
        self,
        obstacle: MotionObstacle,
        kind: str,
        size: tuple[float, float, float],
        static: bool,
        T_obstacle_solid: Array | None = None,
    ) -> bool:
        if id(obstacle) in self._kept:
            return warn(f"{obstacle.name}: was added before")
        inside = np.eye(4) if T_obstacle_solid is None else T_obstacle_solid
        T = invert_pose(self._T_world_base) @ obstacle.T_world_obstacle() @ inside
        self._kept[id(obstacle)] = KeptObstacle(obstacle, kind, size, inside, static, T)
        self.world_version += 1
        return True

    def _switch(self, obstacle: MotionObstacle, enabled: bool) -> bool:
        kept = self._kept.get(id(obstacle))
        if kept is None:
            return False
        kept.enabled = enabled
        self.world_version += 1
        return True


def _pose(position: ArrayLike, orientation: ArrayLike) -> Array:
    p, q = np.asarray(position, float), np.asarray(orientation, float)
    if p.shape != (3,) or q.shape != (4,) or not np.all(np.isfinite(np.r_[p, q])):
        raise InputError(
            f"a pose must be a position (3,) and a quaternion wxyz (4,), got {position!r} and {orientation!r}"
        )
    if not np.linalg.norm(q) > 1e-9:
        raise InputError("a quaternion must have length 1, got zero")
    return make_pose(matrix_from_quat(q / np.linalg.norm(q)), p)


def _demand_positive(name: str, *sizes: float) -> None:
    if not all(np.isfinite(size) and size > 0 for size in sizes):
        raise InputError(
            f"obstacle {name!r}: sizes must be positive numbers of metres, got {', '.join(map(str, sizes))}"
        )
