"""Obstacles around a robot: taken from a model or added by hand, enabled and disabled by name."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.motion.collision.obstacle import Obstacle, T_body_geom, geom_name, solid_geoms
from handloom.motion.collision.shape import Shape, ShapeKind, geom_shape, hull_shape
from handloom.spatial import make_pose


class HasModelAndData(Protocol):
    """A simulated world, such as ``handloom.sim.World``."""

    @property
    def model(self) -> mujoco.MjModel:
        """Compiled model."""
        ...

    @property
    def data(self) -> mujoco.MjData:
        """Present state."""
        ...


class CollisionWorld:
    """Named obstacles. Planners read it at every request; ``version`` reveals changes of the set of obstacles."""

    def __init__(self) -> None:
        self._obstacles: dict[str, Obstacle] = {}
        self.version = 0
        """Increases when obstacles are added or removed, but not when they are moved, enabled or disabled."""

    @classmethod
    def from_world(
        cls, world: HasModelAndData, *, exclude_bodies: Iterable[int] = (), ignore: Iterable[str] = ()
    ) -> "CollisionWorld":
        """Take all solids of a simulated world except those of some bodies, at their current poses.

        Args:
            world: The world; its data must be up to date (``mj_forward``).
            exclude_bodies: Indices of excluded bodies: those that the planner moves.
            ignore: Obstacles whose name contains one of these texts are added but disabled.
        """
        return cls.from_model(world.model, world.data, exclude_bodies=exclude_bodies, ignore=ignore)

    @classmethod
    def from_model(
        cls,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        *,
        exclude_bodies: Iterable[int] = (),
        ignore: Iterable[str] = (),
    ) -> "CollisionWorld":
        """As :meth:`from_world`, from a model and its data."""
        excluded, result = set(exclude_bodies), cls()
        for geom in solid_geoms(model):
            body = int(model.geom_bodyid[geom])
            if body in excluded:
                continue
            result._add(
                Obstacle(
                    name=f"{model.body(body).name}/{geom_name(model, geom)}",
                    body=model.body(body).name,
                    shape=geom_shape(model, geom),
                    T_world_obstacle=_T_world_geom(model, data, geom),
                    geom=geom,
                    contype=int(model.geom_contype[geom]),
                    conaffinity=int(model.geom_conaffinity[geom]),
                )
            )
        result.set_ignored(ignore)
        return result

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self._obstacles.values())

    def __len__(self) -> int:
        return len(self._obstacles)

    def __contains__(self, name: str) -> bool:
        return name in self._obstacles

    def __getitem__(self, name: str) -> Obstacle:
        if name not in self._obstacles:
            raise unknown_name("obstacle", name, self._obstacles)
        return self._obstacles[name]

    def add_box(self, name: str, sides: ArrayLike, T_world_box: ArrayLike) -> None:
        """Add a box with full side lengths (3,) [m]."""
        half = tuple(float(side) / 2 for side in np.asarray(sides, float))
        self._add_shape(name, Shape(kind=ShapeKind.BOX, size=half), T_world_box)  # pyright: ignore[reportArgumentType]

    def add_sphere(self, name: str, radius: float, position: ArrayLike) -> None:
        """Add a sphere with its radius [m] at a position (3,) [m]."""
        shape = Shape(kind=ShapeKind.SPHERE, size=(radius, 0.0, 0.0))
        self._add_shape(name, shape, make_pose(np.eye(3), position))

    def add_capsule(self, name: str, radius: float, length: float, T_world_capsule: ArrayLike) -> None:
        """Add a capsule along z with its radius and the distance between its cap centres [m]."""
        self._add_shape(name, Shape(kind=ShapeKind.CAPSULE, size=(radius, length / 2, 0.0)), T_world_capsule)

    def add_cylinder(self, name: str, radius: float, length: float, T_world_cylinder: ArrayLike) -> None:
        """Add a cylinder along z with its radius and full length [m]."""
        self._add_shape(name, Shape(kind=ShapeKind.CYLINDER, size=(radius, length / 2, 0.0)), T_world_cylinder)

    def add_plane(self, name: str, T_world_plane: ArrayLike) -> None:
        """Add the half space below the z axis of a frame."""
        self._add_shape(name, Shape(kind=ShapeKind.PLANE), T_world_plane)

    def add_convex(self, name: str, points: ArrayLike, T_world_points: ArrayLike) -> None:
        """Add the convex hull of points (n, 3) [m]."""
        self._add_shape(name, hull_shape(points), T_world_points)

    def add_height_field(self, name: str, heights: ArrayLike, sides: ArrayLike, T_world_field: ArrayLike) -> None:
        """Add ground with heights (rows along y, columns along x) [m] over full sides (2,) [m], centred on a frame."""
        grid, (x, y) = np.asarray(heights, float), np.asarray(sides, float)
        if grid.ndim != 2 or min(grid.shape) < 2:
            raise InputError(f"a height field needs at least 2 x 2 heights, got shape {grid.shape}")
        shape = Shape(kind=ShapeKind.HEIGHT_FIELD, size=(float(x) / 2, float(y) / 2, 0.0), heights=grid)
        self._add_shape(name, shape, T_world_field)

    def remove(self, name: str) -> None:
        """Forget an obstacle."""
        self[name]
        del self._obstacles[name]
        self.version += 1

    def move(self, name: str, T_world_obstacle: ArrayLike) -> None:
        """Move an obstacle to another pose (4, 4)."""
        self._obstacles[name] = replace(self[name], T_world_obstacle=_pose(T_world_obstacle))

    def enable(self, name: str, enabled: bool = True) -> None:
        """Enable or disable an obstacle."""
        self._obstacles[name] = replace(self[name], enabled=enabled)

    def set_ignored(self, ignore: Iterable[str]) -> tuple[str, ...]:
        """Disable obstacles whose names contain one of the texts and enable all others; return the disabled ones."""
        texts = tuple(ignore)
        for name, obstacle in self._obstacles.items():
            self._obstacles[name] = replace(obstacle, enabled=not any(text in name for text in texts))
        return tuple(o.name for o in self if not o.enabled)

    def update_from(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Move every obstacle that was taken from this model to its current pose."""
        for name, obstacle in self._obstacles.items():
            if obstacle.geom >= 0:
                T = _T_world_geom(model, data, obstacle.geom)
                # An unmoved obstacle remains the same object, so that the checkers detect no change.
                if not np.array_equal(T, obstacle.T_world_obstacle):
                    self._obstacles[name] = replace(obstacle, T_world_obstacle=T)

    def _add_shape(self, name: str, shape: Shape, T_world_shape: ArrayLike) -> None:
        self._add(Obstacle(name=name, body=name, shape=shape, T_world_obstacle=_pose(T_world_shape)))

    def _add(self, obstacle: Obstacle) -> None:
        if obstacle.name in self._obstacles:
            raise InputError(f"there is already an obstacle named {obstacle.name!r}; remove or move it")
        self._obstacles[obstacle.name] = obstacle
        self.version += 1


def _pose(T: ArrayLike) -> Array:
    pose = np.array(T, float)
    if pose.shape != (4, 4) or not np.all(np.isfinite(pose)):
        raise InputError(f"a pose must be a finite 4x4 matrix, got shape {pose.shape}")
    return pose


def _T_world_geom(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:  # noqa: N802 - frame notation
    body = model.geom_bodyid[geom]
    # Computed from the body pose, since geom_xpos is stale after mj_kinematics on a restored state.
    return make_pose(data.xmat[body].reshape(3, 3), data.xpos[body]) @ T_body_geom(model, geom)
