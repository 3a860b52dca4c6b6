"""Spheres that approximate the bodies of a robot, computed automatically and cached on disk."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.cache import user_cache
from handloom.errors import unknown_name
from handloom.motion.collision.obstacle import T_body_geom, solid_geoms
from handloom.motion.collision.shape import Shape, geom_shape
from handloom.motion.collision.sphere_cover import sphere_cover
from handloom.spatial import transform_points

COVER_VERSION = 7
"""Part of the content hash; increment it when the result of ``sphere_cover`` changes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SphereModel:
    """Spheres on bodies, in body coordinates."""

    bodies: tuple[str, ...]
    """Bodies with at least one sphere."""
    begin: NDArray[np.int64]
    """First sphere of each body (len(bodies) + 1,)."""
    centre: Array
    """Centres in their body (s, 3) [m]."""
    radius: Array
    """Radii (s,) [m]."""
    tolerance: float
    """Distance by which spheres may protrude from the solids [m]."""

    @classmethod
    def from_model(
        cls, model: mujoco.MjModel, bodies: Iterable[str] | None = None, *, tolerance: float = 0.01
    ) -> "SphereModel":
        """Cover the solids of some bodies.

        Covers are computed once per distinct solid and stored in the user's cache folder under a hash of shape and
        tolerance, so that a known robot takes a few milliseconds.

        Args:
            model: Any compiled model.
            bodies: Names of bodies; None means every body but the world.
            tolerance: Distance by which spheres may protrude from the solids [m].
        """
        names = [model.body(b).name for b in range(1, model.nbody)]
        chosen = names if bodies is None else list(bodies)
        for name in chosen:
            if name not in names:
                raise unknown_name("body", name, names)
        groups: dict[str, list[tuple[Array, Array]]] = {}
        for geom in solid_geoms(model):
            body = model.body(model.geom_bodyid[geom]).name
            if body in chosen:
                centres, radii = cached_cover(geom_shape(model, geom), tolerance)
                groups.setdefault(body, []).append((transform_points(T_body_geom(model, geom), centres), radii))
        counts = [sum(len(r) for _, r in covers) for covers in groups.values()]
        return cls(
            bodies=tuple(groups),
            begin=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            centre=np.concatenate([c for g in groups.values() for c, _ in g]) if groups else np.zeros((0, 3)),
            radius=np.concatenate([r for g in groups.values() for _, r in g]) if groups else np.zeros(0),
            tolerance=tolerance,
        )

    def __len__(self) -> int:
        return len(self.radius)

    def spheres_of(self, body: str) -> tuple[Array, Array]:
        """Return centres (n, 3) [m] and radii (n,) [m] of one body."""
        if body not in self.bodies:
            raise unknown_name("body with spheres", body, self.bodies)
        k = self.bodies.index(body)
        part = slice(self.begin[k], self.begin[k + 1])
        return self.centre[part], self.radius[part]


def cached_cover(shape: Shape, tolerance: float, *, least: float = 0.0) -> tuple[Array, Array]:
    """Return ``sphere_cover(shape, tolerance, least=least)``, from the user's cache folder if available."""
    file = _cover_file(shape, tolerance, least)
    if file.is_file():
        return _read_cover(file)
    centre, radius = sphere_cover(shape, tolerance, least=least)
    file.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary file and renamed, so that no worker reads a partial file.
    with NamedTemporaryFile(dir=file.parent, suffix=".npz", delete=False) as temporary:
        np.savez(temporary, centre=centre, radius=radius)
    Path(temporary.name).replace(file)
    return centre, radius


@lru_cache(maxsize=1024)
def _read_cover(file: Path) -> tuple[Array, Array]:
    """Return a stored cover; cached, because a planner is created for every arm in every episode."""
    with np.load(file) as stored:
        centre, radius = stored["centre"], stored["radius"]
    centre.flags.writeable = radius.flags.writeable = False
    return centre, radius


def _cover_file(shape: Shape, tolerance: float, least: float) -> Path:
    digest = hashlib.sha256(f"{COVER_VERSION} {shape.kind} {shape.size} {tolerance} {least}".encode())
    if shape.vertices is not None:
        digest.update(np.ascontiguousarray(shape.vertices).tobytes())
        digest.update(repr(shape.faces).encode())
    return user_cache() / "spheres" / f"{digest.hexdigest()[:24]}.npz"
