"""Paths of a frame through space: lines, arcs, rotations, blends; and composites of these with joint motions."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.motion_generation.published_log import warn
from handloom.isaac.motion_generation.trajectories.path_segments import (
    ArcPiece,
    Blend,
    LinePiece,
    PathPiece,
    three_point_arc,
)
from handloom.isaac.motion_generation.trajectories.path_segments import tangent_arc as arc_from_tangent
from handloom.spatial import make_pose, matrix_from_quat


@dataclass(frozen=True, eq=False)
class Rotation3:
    """A rotation, from a quaternion wxyz."""

    w: float
    x: float
    y: float
    z: float

    def matrix(self) -> Array:
        """Return the rotation as a matrix (3, 3)."""
        quat = np.array([self.w, self.x, self.y, self.z], float)
        if not np.linalg.norm(quat) > 1e-9:
            raise InputError("a rotation's quaternion has length zero")
        return matrix_from_quat(quat / np.linalg.norm(quat))


@dataclass(frozen=True, eq=False)
class Pose3:
    """A rotation and a translation [m]."""

    rotation: Rotation3 | ArrayLike
    translation: ArrayLike

    def matrix(self) -> Array:
        """Return the pose as a matrix (4, 4)."""
        return make_pose(rotation_matrix(self.rotation), np.asarray(self.translation, float))


PoseLike = Pose3 | ArrayLike


def rotation_matrix(rotation: Any) -> Array:
    """Return a rotation given as Rotation3, quaternion wxyz (4,) or matrix (3, 3) as a matrix."""
    if isinstance(rotation, Rotation3):
        return rotation.matrix()
    values = np.asarray(rotation, float)
    return Rotation3(*values).matrix() if values.shape == (4,) else values


def pose_matrix(pose: Any) -> Array:
    """Return a pose given as Pose3 or matrix as a matrix (4, 4)."""
    T = pose.matrix() if isinstance(pose, Pose3) else np.asarray(pose, float)
    if T.shape != (4, 4) or not np.all(np.isfinite(T)):
        raise InputError(f"a pose must be a Pose3 or a finite 4x4 matrix, got shape {T.shape}")
    return T


class TransitionMode(IntEnum):
    """Transition of a composite path to its next part."""

    SKIP = 0
    """Omit the first point of the new part."""
    FREE = 1
    """Any joint motion."""
    LINEAR_TASK_SPACE = 2
    """A straight line of the frame; only allowed to a task-space part."""


class TaskSpacePathSpec:
    """A path under construction; each ``add_`` appends a segment and returns False, with a warning, if it cannot.

    Args:
        initial_pose: Where the path starts.
    """

    def __init__(self, initial_pose: PoseLike) -> None:
        self.initial_pose = pose_matrix(initial_pose)
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._segments: list[PathPiece] = []

    @property
    def _end(self) -> Array:
        return self._segments[-1].pose(1.0) if self._segments else self.initial_pose

    def add_linear_path(self, target_pose: PoseLike, blend_radius: float = 0.0) -> bool:
        """Move on a straight line to a pose, with uniform rotation."""
        T = pose_matrix(target_pose)
        return self._append("add_linear_path", (T, blend_radius), LinePiece(self._end, T), blend_radius)

    def add_translation(self, target_position: ArrayLike, blend_radius: float = 0.0) -> bool:
        """Move on a straight line to a position (3,) without turning."""
        T = make_pose(self._end[:3, :3], _point(target_position))
        return self._append("add_translation", (T[:3, 3], blend_radius), LinePiece(self._end, T), blend_radius)

    def add_rotation(self, target_rotation: Rotation3 | ArrayLike) -> bool:
        """Turn on the spot."""
        T = make_pose(rotation_matrix(target_rotation), self._end[:3, 3])
        return self._append("add_rotation", (T[:3, :3],), LinePiece(self._end, T))

    def add_three_point_arc(
        self, target_position: ArrayLike, intermediate_position: ArrayLike, constant_orientation: bool = True
    ) -> bool:
        """Move on the arc through a point to a position, either without turning or turning with the arc."""
        target, middle = _point(target_position), _point(intermediate_position)
        arc = three_point_arc(self._end[:3, 3], middle, target)
        if arc is None:
            return warn("the three points of the arc are collinear")
        piece = ArcPiece(arc, self._end[:3, :3], None, turns=not constant_orientation)
        return self._append("add_three_point_arc", (target, middle, constant_orientation), piece)

    def add_three_point_arc_with_orientation_target(
        self, target_pose: PoseLike, intermediate_position: ArrayLike
    ) -> bool:
        """Move on the arc through a point to a pose, with uniform rotation."""
        T, middle = pose_matrix(target_pose), _point(intermediate_position)
        arc = three_point_arc(self._end[:3, 3], middle, T[:3, 3])
        if arc is None:
            return warn("the three points of the arc are collinear")
        piece = ArcPiece(arc, self._end[:3, :3], T[:3, :3], turns=False)
        return self._append("add_three_point_arc_with_orientation_target", (T, middle), piece)

    def add_tangent_arc(self, target_position: ArrayLike, constant_orientation: bool = True) -> bool:
        """Move to a position on the arc that continues the direction of the segment before."""
        target = _point(target_position)
        piece = self._tangent_piece(target, None, not constant_orientation)
        return piece is not None and self._append("add_tangent_arc", (target, constant_orientation), piece)

    def add_tangent_arc_with_orientation_target(self, target_pose: PoseLike) -> bool:
        """As ``add_tangent_arc``, with uniform rotation to a pose."""
        T = pose_matrix(target_pose)
        piece = self._tangent_piece(T[:3, 3], T[:3, :3], False)
        return piece is not None and self._append("add_tangent_arc_with_orientation_target", (T,), piece)

    def _tangent_piece(self, target: Array, R: Array | None, turns: bool) -> ArcPiece | None:
        direction = self._segments[-1].direction_at_end() if self._segments else None
        arc = None if direction is None else arc_from_tangent(self._end[:3, 3], direction, target)
        if arc is None:
            warn("a tangent arc needs a preceding segment of nonzero length and a target off its line")
            return None
        return ArcPiece(arc, self._end[:3, :3], R, turns=turns)

    def _append(self, name: str, given: tuple[Any, ...], piece: PathPiece, blend_radius: float = 0.0) -> bool:
        if piece.length < 1e-9 and piece.angle < 1e-9:
            return warn(f"{name}: the target is the current end of the path")
        piece.blend_radius = max(0.0, float(blend_radius))
        self._segments.append(piece)
        self._calls.append((name, given))
        return True

    def starting_at(self, pose: Array) -> "TaskSpacePathSpec":
        """Return the same segments from a different start."""
        moved = TaskSpacePathSpec(pose)
        for name, given in self._calls:
            getattr(moved, name)(*given)
        return moved

    def generate_path(self) -> "TaskSpacePath":
        """Return the path, with corners blended where radii were given."""
        if not self._segments:
            raise InputError("a task-space path needs at least one segment")
        pieces: list[PathPiece] = []
        for piece in self._segments:
            before = pieces[-1] if pieces else None
            # The radius belongs to the corner at the end of the segment it was given for.
            if isinstance(before, LinePiece) and isinstance(piece, LinePiece) and before.blend_radius > 0:
                blend = Blend.between(before, piece, before.blend_radius)
                if blend is not None:
                    pieces[-1] = blend.before
                    pieces += [blend.arc, blend.after]
                    continue
            pieces.append(piece)
        return TaskSpacePath(tuple(pieces))


@dataclass(frozen=True)
class PathDomain:
    """The range of a path's parameter."""

    lower: float
    upper: float

    @property
    def span(self) -> float:
        """Length of the range."""
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class TaskSpacePath:
    """Poses over a parameter s that grows with metres moved or radians turned, whichever is larger."""

    segments: tuple[PathPiece, ...]
    _edges: Array = field(init=False)

    def __post_init__(self) -> None:
        """Measure the segments."""
        spans = [max(segment.length, segment.angle) for segment in self.segments]
        object.__setattr__(self, "_edges", np.cumsum([0.0, *spans]))

    def domain(self) -> PathDomain:
        """Return the range of s."""
        return PathDomain(0.0, float(self._edges[-1]))

    def pose(self, s: float) -> Array:
        """Return the pose (4, 4) at s."""
        if not 0.0 <= s <= self._edges[-1] + 1e-9:
            raise InputError(f"s must be between 0 and {self._edges[-1]:.6g}, got {s}")
        k = int(np.clip(np.searchsorted(self._edges, s, side="right") - 1, 0, len(self.segments) - 1))
        width = self._edges[k + 1] - self._edges[k]
        return self.segments[k].pose(float(np.clip((s - self._edges[k]) / width, 0.0, 1.0)))

    def eval(self, s: float) -> Pose3:
        """Return the pose at s."""
        T = self.pose(s)
        return Pose3(T[:3, :3], T[:3, 3])

    def corners(self) -> Array:
        """Return s at the ends of all segments (k + 1,)."""
        return self._edges.copy()

    def path_length(self) -> float:
        """Return metres moved."""
        return float(sum(segment.length for segment in self.segments))

    def accumulated_rotation(self) -> float:
        """Return radians turned."""
        return float(sum(segment.angle for segment in self.segments))

    def min_position(self) -> Array:
        """Return the lower corner of the bounding box of all positions (3,) [m], from 512 samples."""
        return self._positions().min(axis=0)

    def max_position(self) -> Array:
        """Return the upper corner of the bounding box of all positions (3,) [m], from 512 samples."""
        return self._positions().max(axis=0)

    def _positions(self) -> Array:
        at = np.union1d(np.linspace(0.0, self._edges[-1], 512), self._edges)
        return np.array([self.pose(s)[:3, 3] for s in at])


class CSpacePathSpec:
    """A path through configurations.

    Args:
        initial_c_space_position: Where it starts (n,).
    """

    def __init__(self, initial_c_space_position: ArrayLike) -> None:
        self.waypoints = [np.array(initial_c_space_position, float)]

    def add_c_space_waypoint(self, waypoint: ArrayLike) -> bool:
        """Append a configuration (n,); False, with a warning, if it has another size."""
        q = np.array(waypoint, float)
        if q.shape != self.waypoints[0].shape or not np.all(np.isfinite(q)):
            return warn(f"a waypoint must have {len(self.waypoints[0])} finite values, got shape {q.shape}")
        self.waypoints.append(q)
        return True


class CompositePathSpec:
    """Task-space and joint-space parts, one after another.

    Args:
        initial_c_space_position: Where it starts (n,).
    """

    def __init__(self, initial_c_space_position: ArrayLike) -> None:
        self.initial_q = np.array(initial_c_space_position, float)
        self.parts: list[tuple[TaskSpacePathSpec | CSpacePathSpec, TransitionMode]] = []

    def add_task_space_path_spec(self, path_spec: TaskSpacePathSpec, transition_mode: TransitionMode) -> bool:
        """Append a task-space part."""
        if not isinstance(path_spec, TaskSpacePathSpec):
            return warn(f"expected a TaskSpacePathSpec, got {type(path_spec).__name__}")
        self.parts.append((path_spec, TransitionMode(transition_mode)))
        return True

    def add_c_space_path_spec(self, path_spec: CSpacePathSpec, transition_mode: TransitionMode) -> bool:
        """Append a joint-space part; a line of the frame cannot lead there."""
        if not isinstance(path_spec, CSpacePathSpec) or transition_mode == TransitionMode.LINEAR_TASK_SPACE:
            return warn("a joint-space part needs a CSpacePathSpec and the transition SKIP or FREE")
        self.parts.append((path_spec, TransitionMode(transition_mode)))
        return True


def create_task_space_path_spec(initial_pose: PoseLike) -> TaskSpacePathSpec:
    """Return an empty path that starts at a pose."""
    return TaskSpacePathSpec(initial_pose)


def create_c_space_path_spec(initial_c_space_position: ArrayLike) -> CSpacePathSpec:
    """Return a path that starts at a configuration (n,)."""
    return CSpacePathSpec(initial_c_space_position)


def create_composite_path_spec(initial_c_space_position: ArrayLike) -> CompositePathSpec:
    """Return an empty composite path that starts at a configuration (n,)."""
    return CompositePathSpec(initial_c_space_position)


def _point(values: ArrayLike) -> Array:
    point = np.asarray(values, float)
    if point.shape != (3,) or not np.all(np.isfinite(point)):
        raise InputError(f"a position must have three finite values, got {values!r}")
    return point
