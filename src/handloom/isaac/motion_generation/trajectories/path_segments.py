"""Pieces of a task-space path: straight lines and arcs, and the arc that blends two lines."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from handloom.arrays import Array
from handloom.spatial import make_pose, matrix_from_rotvec, rotvec_from_matrix


class PathPiece(Protocol):
    """Poses for a fraction u from 0 to 1."""

    length: float
    """Metres moved."""
    angle: float
    """Radians turned."""
    blend_radius: float
    """Radius of the corner at its end [m]; 0 for a sharp corner."""

    def pose(self, u: float) -> Array:
        """Return the pose (4, 4)."""
        ...

    def direction_at_end(self) -> Array | None:
        """Return the unit direction of motion at the end (3,); None without motion."""
        ...


class LinePiece:
    """A straight line with uniform rotation."""

    def __init__(self, T_start: Array, T_end: Array) -> None:
        self.T_start, self.T_end, self.blend_radius = T_start, T_end, 0.0
        self.move = T_end[:3, 3] - T_start[:3, 3]
        self._turn = rotvec_from_matrix(T_start[:3, :3].T @ T_end[:3, :3])
        self.length, self.angle = float(np.linalg.norm(self.move)), float(np.linalg.norm(self._turn))

    def pose(self, u: float) -> Array:
        """Return the pose (4, 4)."""
        R = self.T_start[:3, :3] @ matrix_from_rotvec(u * self._turn)
        return make_pose(R, self.T_start[:3, 3] + u * self.move)

    def direction_at_end(self) -> Array | None:
        """Return the unit direction of motion (3,); None without motion."""
        return None if self.length < 1e-9 else self.move / self.length


@dataclass(frozen=True, eq=False)
class Arc:
    """Part of a circle."""

    center: Array
    first: Array
    """From the centre to the start (3,) [m]."""
    axis: Array
    """Unit normal (3,) of the arc's plane."""
    angle: float
    """[rad], positive."""

    def point(self, u: float) -> Array:
        """Return the point (3,) at a fraction."""
        return self.center + matrix_from_rotvec(u * self.angle * self.axis) @ self.first


class ArcPiece:
    """An arc; the frame keeps its orientation, turns with the arc, or turns uniformly to a target."""

    def __init__(self, arc: Arc, R_start: Array, R_end: Array | None, *, turns: bool) -> None:
        self.arc, self._R, self.blend_radius = arc, R_start, 0.0
        self._turns = turns
        self._turn = np.zeros(3) if R_end is None else rotvec_from_matrix(R_start.T @ R_end)
        self.length = float(np.linalg.norm(arc.first)) * arc.angle
        self.angle = arc.angle if turns else float(np.linalg.norm(self._turn))

    def pose(self, u: float) -> Array:
        """Return the pose (4, 4)."""
        if self._turns:
            return make_pose(matrix_from_rotvec(u * self.arc.angle * self.arc.axis) @ self._R, self.arc.point(u))
        return make_pose(self._R @ matrix_from_rotvec(u * self._turn), self.arc.point(u))

    def direction_at_end(self) -> Array | None:
        """Return the unit tangent at the end (3,)."""
        tangent = np.cross(self.arc.axis, self.arc.point(1.0) - self.arc.center)
        return tangent / np.linalg.norm(tangent)


def three_point_arc(start: Array, middle: Array, end: Array) -> Arc | None:
    """Return the arc from start through middle to end; None if they are collinear."""
    a, b = middle - start, end - start
    normal = np.cross(a, b)
    area = float(normal @ normal)
    if area < 1e-16 * max(float(a @ a), float(b @ b), 1e-12) ** 2 or area < 1e-24:
        return None
    center = start + np.cross(normal, a * (b @ b) - b * (a @ a)) / (2.0 * area)
    axis = normal / np.sqrt(area)
    first, last = start - center, end - center
    angle = float(np.arctan2(axis @ np.cross(first, last), first @ last))
    return Arc(center, first, axis, angle if angle > 0 else angle + 2.0 * np.pi)


def tangent_arc(start: Array, direction: Array, end: Array) -> Arc | None:
    """Return the arc that leaves start in a unit direction and ends at end; None if the end is on that line."""
    chord = end - start
    beside = chord - (chord @ direction) * direction
    height = float(np.linalg.norm(beside))
    if height < 1e-9:
        return None
    inward = beside / height
    radius = float(chord @ chord) / (2.0 * height)
    center, axis = start + radius * inward, np.cross(direction, inward)
    first, last = start - center, end - center
    angle = float(np.arctan2(axis @ np.cross(first, last), first @ last))
    return Arc(center, first, axis, angle if angle > 0 else angle + 2.0 * np.pi)


@dataclass(frozen=True, eq=False)
class Blend:
    """Two lines with their corner replaced by an arc that touches both."""

    before: LinePiece
    arc: ArcPiece
    after: LinePiece

    @classmethod
    def between(cls, one: LinePiece, two: LinePiece, radius: float) -> "Blend | None":
        """Return the blend; None if a line has no length or the second continues straight on or straight back.

        At most half of each line is replaced; the radius is reduced accordingly.
        """
        if one.length < 1e-9 or two.length < 1e-9:
            return None
        a, b = one.move / one.length, two.move / two.length
        bend = float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
        if bend < 1e-6 or bend > np.pi - 1e-6:
            return None
        trim = min(radius * np.tan(bend / 2.0), one.length / 2.0, two.length / 2.0)
        start, end = one.pose(1.0 - trim / one.length), two.pose(trim / two.length)
        arc = tangent_arc(start[:3, 3], a, end[:3, 3])
        if arc is None:
            return None
        after = LinePiece(end, two.T_end)
        after.blend_radius = two.blend_radius
        return cls(LinePiece(one.T_start, start), ArcPiece(arc, start[:3, :3], end[:3, :3], turns=False), after)
