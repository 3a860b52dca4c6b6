"""The labelled entities: objects, their moving parts, and robots, with poses and 3D boxes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.labels import arrow_rows
from handloom.labels.motion import EpisodeMotion
from handloom.labels.surfaces import SeenSurface, Surfaces
from handloom.spatial import invert_pose, pos_quat_from_pose

BACKGROUND = ("plane",)
"""Categories of walls and floors, which appear only in masks."""
STILL = 1e-5
"""A part's box is recomputed only if the part moved relative to its object by more than this [m or 1]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Entity:
    """An object, a moving part of an object, or a robot."""

    owner: str
    """Object or robot."""
    part: str
    """Body that moves relative to the object; empty for the whole object."""
    body: int
    """Id of its root body."""
    surface: SeenSurface | None
    """Its visible surface; None for robots."""
    parts: NDArray[np.int64]
    """Indices of its parts in masks."""

    @property
    def name(self) -> str:
        """``cabinet``, ``cabinet/door``."""
        return f"{self.owner}/{self.part}" if self.part else self.owner


class Entities:
    """The entities of an episode and their poses.

    Args:
        motion: The motion of the episode.
        surfaces: Visible surfaces of its objects.
    """

    def __init__(self, motion: EpisodeMotion, surfaces: Surfaces) -> None:
        self.motion = motion
        self.surfaces = surfaces
        self._own_boxes: dict[str, tuple[Array, Array]] = {}

    @cached_property
    def objects(self) -> tuple[Entity, ...]:
        """Objects other than background, each followed by its moving parts."""
        found = []
        assets = self.motion.scene.assets
        for name in self.surfaces.objects:
            if assets[name].category in BACKGROUND:
                continue
            surface = self.surfaces.surface(name)
            found.append(self._entity(name, "", surface))
            found += [
                part
                for link in assets[name].joints
                if (part := self._entity(name, link.name, self._moving(surface, f"{name}/{link.name}"))).surface
                and len(part.surface.faces)  # pyright: ignore[reportOptionalMemberAccess]
            ]
        return tuple(found)

    @cached_property
    def robots(self) -> tuple[Entity, ...]:
        """The robots, each as one entity."""
        model = self.motion.scene.world.model
        found = []
        for name in self.motion.scene.robots:
            parts = [part for part in self.surfaces.parts if part.owner == name]
            if parts:
                root = int(model.body_rootid[parts[0].body])
                numbers = np.array([part.number for part in parts])
                found.append(Entity(owner=name, part="", body=root, surface=None, parts=numbers))
        return tuple(found)

    def _entity(self, owner: str, part: str, surface: SeenSurface) -> Entity:
        bodies = set(surface.bodies.tolist())
        numbers = [p.number for p in self.surfaces.parts if p.owner == owner and p.body in bodies]
        return Entity(owner=owner, part=part, body=int(surface.bodies[0]), surface=surface, parts=np.array(numbers))

    def _moving(self, surface: SeenSurface, body: str) -> SeenSurface:
        """Return the part of an object's surface that belongs to a body."""
        world = self.motion.scene.world
        carried = [world.body_index(name) for name in world.subtree(body)]
        mine = np.isin(surface.bodies[surface.rows], carried)
        faces = surface.faces[mine[surface.faces].all(axis=1)] if len(surface.faces) else surface.faces
        used = np.flatnonzero(mine)
        number = np.full(len(mine), -1, np.int64)
        number[used] = np.arange(len(used))
        rows = {body: row for row, body in enumerate(carried)}
        bodies = surface.bodies[surface.rows[used]]
        return SeenSurface(
            vertices=np.ascontiguousarray(surface.vertices[used]),
            rows=np.array([rows[int(body)] for body in bodies], np.int64),
            faces=number[faces],
            bodies=np.array(carried),
        )

    def own_box(self, entity: Entity) -> tuple[Array, Array]:
        """Return lower and upper corner (k, 3) [m] of an entity in its own frame, in every frame of the episode."""
        surface = entity.surface
        assert surface is not None
        if entity.name in self._own_boxes:
            return self._own_boxes[entity.name]
        low, high = np.zeros((2, self.motion.frames, 3))
        T = self.motion.T_world_body[:, surface.bodies]
        T_own = invert_pose(T[:, 0])[:, None] @ T
        measured: Array | None = None
        for k in range(self.motion.frames):
            if measured is None or np.abs(T_own[k] - measured).max() > STILL:
                measured = T_own[k]
                poses = T_own[k][surface.rows]
                corners = np.einsum("nij,nj->ni", poses[:, :3, :3], surface.vertices) + poses[:, :3, 3]
                low[k], high[k] = corners.min(axis=0), corners.max(axis=0)
            else:
                low[k], high[k] = low[k - 1], high[k - 1]
        self._own_boxes[entity.name] = low, high
        return low, high

    def object_column(self) -> pa.Array:
        """Return the column ``objects``: pose and box of every object and moving part in every frame."""
        motion, frames = self.motion, self.motion.frames
        T_base_world = invert_pose(motion.T_world_base)
        columns: dict[str, list[Any]] = {}
        for entity in self.objects:
            T = motion.T_world_body[:, entity.body]
            low, high = self.own_box(entity)
            position, opening = self.opening(entity)
            row = {
                "pose_world": pose7(T),
                "pose_base": pose7(T_base_world @ T),
                "box_center": (low + high) / 2,
                "box_size": high - low,
                "joint": position,
                "opening": opening,
            }
            for name, values in row.items():
                columns.setdefault(name, []).append(values)
        which = arrow_rows.every_frame(frames, self.objects)
        fields = {
            "object": arrow_rows.names([entity.owner for entity in self.objects], which),
            "part": arrow_rows.names([entity.part for entity in self.objects], which),
        }
        for name, values in columns.items():
            stacked = np.stack(values, axis=1)
            flat = stacked.reshape(-1, *stacked.shape[2:])
            fields[name] = arrow_rows.vectors(flat) if flat.ndim == 2 else arrow_rows.numbers(flat)
        return arrow_rows.ragged(np.full(frames, len(self.objects)), fields)

    def opening(self, entity: Entity) -> tuple[Array, Array]:
        """Return joint position [m or rad] and opening of a part, 0 closed to 1 open; NaN without a joint."""
        nothing = np.full(self.motion.frames, np.nan)
        if not entity.part:
            return nothing, nothing
        asset = self.motion.scene.assets[entity.owner]
        link = asset.joints[asset.joint_index(entity.part)]
        position = self.motion.qpos[:, self.motion.scene.world.qpos_index(f"{entity.owner}/{link.joint}")]
        low, high = link.range
        closed, opened = (low, high) if abs(low) <= abs(high) else (high, low)
        return position, np.clip((position - closed) / (opened - closed), 0.0, 1.0)


def pose7(T: Array) -> Array:
    """Return poses (..., 4, 4) as position [m] and quaternion wxyz (..., 7), with a non-negative scalar part."""
    position, quat = pos_quat_from_pose(T)
    return np.concatenate([position, np.where(quat[..., :1] < 0, -quat, quat)], axis=-1)
