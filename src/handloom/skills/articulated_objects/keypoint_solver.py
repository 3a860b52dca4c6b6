"""Hand poses that satisfy a list of keypoint constraints: the published terms, solved without collisions or joints.

Every term is an angle between a vector of the hand and a vector of the object, or a point of the hand at a point of the
object. Many poses are started from evenly spread orientations and brought within all tolerances together by a few
damped Gauss-Newton steps; the arm's batched inverse kinematics then shows which of them can be reached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError, unknown_name
from handloom.objects.keypoints import CONTACT_AXIS, MOVE_AXIS, VERTICAL_AXIS
from handloom.skills.configs.articulated import KeypointConstraint
from handloom.spatial import make_pose, matrix_from_rotvec, random_rotations

INSIDE = 0.7
"""Solutions are brought within this fraction of each tolerance: inverse kinematics and sag need the rest."""
STEPS = 24
"""Number of Gauss-Newton steps; all but a few starts converge within ten."""
TURN = 0.5
"""Largest turn of a step [rad]."""
POINT_WEIGHT = 10.0
"""Length scale: one radian counts as much as this many tenths of a metre [1/m]."""
DAMPING = 1e-5
"""Added to the normal equations, which are singular if the terms leave a degree of freedom."""
PARALLEL = 1e-6
"""Wanted angles this near to 0 or half a turn [rad] make vectors parallel."""
LEAST = 0.03
"""Weight of a term that must yield to the others."""
AXIS_NAMES = {
    "link0_contact_axis": CONTACT_AXIS,
    CONTACT_AXIS: CONTACT_AXIS,
    MOVE_AXIS: MOVE_AXIS,
    VERTICAL_AXIS: VERTICAL_AXIS,
}
"""Accepted names of a ``target_axis`` > the annotation's axis."""


class ConstraintError(ConfigError):
    """A list of constraints that no hand pose satisfies; names the constraint that conflicts with the others."""

    def __init__(self, constraint: str, index: int, error: float, tolerance: float, *, angle: bool) -> None:
        unit, factor = ("deg", 180.0 / np.pi) if angle else ("mm", 1000.0)
        super().__init__(
            f"constraint_list[{index}] {constraint} conflicts with the others: it is "
            f"{factor * error:.1f} {unit} off at best, and its tolerance is {factor * tolerance:.2g} {unit}; "
            "change its target_inner_product or axis, or widen its tolerance"
        )
        self.constraint, self.index, self.error, self.tolerance = constraint, index, error, tolerance


@dataclass(frozen=True, kw_only=True, eq=False)
class Term:
    """One constraint as numbers."""

    name: str
    index: int
    """Its place in the list."""
    tool: Array
    """Point (3,) [m] or unit vector (3,) of the hand, in the tool frame."""
    target: Array
    """Point (3,) [m] or unit vector (3,) of the object, in the arm base."""
    angle: float | None
    """Wanted angle between the vectors [rad]; None: two points meet."""
    tolerance: float
    """[rad], or [m] along each axis of the base."""

    def error(self, T_base_tool: Array) -> Array:
        """Return how far (n,) poses (n, 4, 4) are from the target: [rad], or the largest of three offsets [m]."""
        R, p = T_base_tool[:, :3, :3], T_base_tool[:, :3, 3]
        if self.angle is None:
            return np.abs(R @ self.tool + p - self.target).max(axis=1)
        return np.abs(_angle(R @ self.tool, self.target) - self.angle)


@dataclass(frozen=True, kw_only=True, eq=False)
class KeypointFrame:
    """Positions of the keypoints of hand and object."""

    tool: Mapping[str, Array]
    """Points (3,) of the hand in the tool frame [m]."""
    points: Mapping[str, Array]
    """Points (3,) of the object in the arm base [m]."""
    axes: Mapping[str, Array]
    """Unit vectors (3,) of the object in the arm base."""
    R_base_link: Array
    """Orientation (3, 3) of the moving link."""

    def terms(self, constraints: Sequence[KeypointConstraint]) -> list[Term]:
        """Return the constraints as numbers.

        Raises:
            ConfigError: A constraint lacks a key, or names a point or an axis that is not there.
        """
        return [self._term(constraint, index) for index, constraint in enumerate(constraints)]

    def _term(self, c: KeypointConstraint, index: int) -> Term:
        where = f"constraint_list[{index}] {c.name}"
        if c.name == "fingers_contact_with_link0":
            tool = self._point(self.tool, where, c, "keypoint_name")
            target = self._point(self.points, where, c, "target_keypoint_name")
            return Term(name=c.name, index=index, tool=tool, target=target, angle=None, tolerance=c.tolerance)
        tool = self._vector(self.tool, where, c, "axis")
        if c.name == "hand_parallel_to_link0_edge_door":
            target = self._vector(self.points, where, c, "cross_target_axis1")
        elif c.name == "hand_parallel_to_axis_computed_by_keypoints":
            target = self._vector(self.points, where, c, "target_axis")
        elif c.name == "fingers_orthogonal_to_link0":
            across = self._vector(self.points, where, c, "cross_target_axis1")
            target = np.cross(across, self._axis(where, c))
            if np.linalg.norm(target) < 1e-6:
                raise ConfigError(f"{where}: its keypoints lie along its target_axis, so that they have no normal")
        else:
            target = self._axis(where, c)
        if c.target_inner_product is None:
            raise ConfigError(f"{where} needs a target_inner_product, the wanted cosine")
        angle = float(np.arccos(np.clip(c.target_inner_product, -1.0, 1.0)))
        unit = target / np.linalg.norm(target)
        return Term(name=c.name, index=index, tool=tool, target=unit, angle=angle, tolerance=c.tolerance)

    def _axis(self, where: str, c: KeypointConstraint) -> Array:
        if c.target_axis is None:
            raise ConfigError(f"{where} needs a target_axis: {', '.join(AXIS_NAMES)} or three numbers")
        if not isinstance(c.target_axis, str):
            vector = self.R_base_link @ np.asarray(c.target_axis, float)
            if np.linalg.norm(vector) < 1e-9:
                raise ConfigError(f"{where}: target_axis has no length")
            return vector / np.linalg.norm(vector)
        name = AXIS_NAMES.get(c.target_axis)
        if name is None:
            raise unknown_name(f"target_axis of {where}", c.target_axis, AXIS_NAMES)
        if name not in self.axes:
            raise ConfigError(f"{where}: this joint has no {name}; it has {', '.join(self.axes)}")
        return self.axes[name]

    def _vector(self, points: Mapping[str, Array], where: str, c: KeypointConstraint, key: str) -> Array:
        start = self._point(points, where, c, f"{key}_from_keypoint_name")
        end = self._point(points, where, c, f"{key}_to_keypoint_name")
        length = float(np.linalg.norm(end - start))
        if length < 1e-9:
            raise ConfigError(f"{where}: {key}_from_keypoint_name and {key}_to_keypoint_name are the same point")
        return (end - start) / length

    def _point(self, points: Mapping[str, Array], where: str, c: KeypointConstraint, key: str) -> Array:
        name = getattr(c, key)
        if name is None:
            raise ConfigError(f"{where} needs {key}: one of {', '.join(points)}")
        if name not in points:
            raise unknown_name(f"{key} of {where}", name, points)
        return points[name]


def solve_terms(terms: Sequence[Term], count: int, rng: np.random.Generator) -> Array:
    """Return at most ``count`` hand poses T_base_tool (n, 4, 4) that satisfy every term.

    Raises:
        ConstraintError: There is no such pose; the error names the term that conflicts with the others.
    """
    T = _descend(terms, count, rng)
    kept = T[_satisfied(terms, T)]
    if len(kept):
        return kept
    raise _conflict(terms, count, rng)


def _conflict(terms: Sequence[Term], count: int, rng: np.random.Generator) -> ConstraintError:
    """Return the error for the term that conflicts with the others, and its residual when they hold."""
    worst, error = terms[0], np.inf
    for term in terms:
        others = [t for t in terms if t is not term]
        T = _descend(terms, count, rng, least=term)
        kept = _satisfied(others, T)
        if kept.any() and (off := float(term.error(T[kept]).min()) / term.tolerance) < error:
            worst, error = term, off
    if not np.isfinite(error):  # More than one conflicts: name the one with the largest residual.
        T = _descend(terms, count, rng)
        offs = [float(term.error(T).min()) / term.tolerance for term in terms]
        worst, error = terms[int(np.argmax(offs))], max(offs)
    return ConstraintError(
        worst.name, worst.index, error * worst.tolerance, worst.tolerance, angle=worst.angle is not None
    )


def _satisfied(terms: Sequence[Term], T: Array) -> NDArray[np.bool_]:
    return np.all([term.error(T) <= term.tolerance for term in terms], axis=0) if terms else np.ones(len(T), bool)


def _descend(terms: Sequence[Term], count: int, rng: np.random.Generator, *, least: Term | None = None) -> Array:
    """Return poses (count, 4, 4) brought as near to the targets as the terms allow; the term ``least`` gives way."""
    R, p = random_rotations(rng, count), np.zeros((count, 3))
    # Each pose aims at its own point within the tolerances, so that solutions differ; if these points contradict each
    # other, it then continues until every term is within its tolerance.
    share = INSIDE if least is None else 0.0
    aims = [rng.uniform(-share, share, (count, 3)) * _spread(term) for term in terms]
    for k in range(STEPS):
        early = k < STEPS // 2
        rows, residuals = [], []
        for term, aim in zip(terms, aims, strict=True):
            row, residual = _linearised(term, aim if early else np.zeros_like(aim), R, p)
            if not early:
                residual = _beyond(residual, share * _slack(term), together=row.shape[1] > 1 and term.angle is not None)
                # A satisfied term does not pull.
                row = row * (np.abs(residual) > 0.0)[..., None] if share else row
            weight = (0.0 if early else LEAST) if term is least else 1.0
            rows.append(weight * row)
            residuals.append(weight * residual)
        J, r = np.concatenate(rows, axis=1), np.concatenate(residuals, axis=1)
        JT = np.swapaxes(J, 1, 2)
        step = -np.linalg.solve(JT @ J + DAMPING * np.eye(6), (JT @ r[..., None]))[..., 0]
        # Terms that contradict each other would cause erratic steps.
        step *= np.minimum(1.0, TURN / np.maximum(np.linalg.norm(step[:, :3], axis=1, keepdims=True), 1e-12))
        R = matrix_from_rotvec(step[:, :3]) @ R
        p = p + step[:, 3:]
    return make_pose(R, p)


def _spread(term: Term) -> float:
    """Return the largest offset of a target in each direction [m], or of a unit vector's end."""
    return term.tolerance if term.angle is None else term.tolerance / np.sqrt(3.0)


def _slack(term: Term) -> float:
    """Return the tolerance in units of the residuals."""
    return POINT_WEIGHT * term.tolerance if term.angle is None else term.tolerance


def _beyond(residual: Array, slack: float, *, together: bool) -> Array:
    """Return the excess of residuals (n, k) over a slack, for each one separately or for their norm."""
    if not together:
        return residual - np.clip(residual, -slack, slack)
    length = np.linalg.norm(residual, axis=1, keepdims=True)
    return residual * np.maximum(0.0, 1.0 - slack / np.maximum(length, 1e-12))


def _linearised(term: Term, aim: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """Return rows (n, k, 6) over turn and shift, in the base, and residuals (n, k) of one term."""
    a = R @ term.tool
    if term.angle is None:
        cross = np.zeros((len(a), 3, 3))
        cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = a[:, 2], -a[:, 1], a[:, 0]
        cross -= np.swapaxes(cross, 1, 2)
        row = np.concatenate([cross, np.broadcast_to(np.eye(3), cross.shape)], axis=2)
        return POINT_WEIGHT * row, POINT_WEIGHT * (a + p - term.target - aim)
    if min(term.angle, np.pi - term.angle) < PARALLEL:
        # Two angles count here, not one: the hand's vector goes to a direction near the target's.
        goal = np.cos(term.angle) * term.target + aim - (aim @ term.target)[:, None] * term.target
        turn = _across(a, goal) * _angle(a, goal)[:, None]
        flat = a[:, :, None] * a[:, None, :] - np.eye(3)
        return np.concatenate([flat, np.zeros_like(flat)], axis=2), turn
    wanted = np.clip(term.angle + aim[:, 0], 0.0, np.pi)
    row = np.concatenate([-_across(a, term.target), np.zeros((len(a), 3))], axis=1)[:, None]
    return row, (_angle(a, term.target) - wanted)[:, None]


def _across(a: Array, b: Array) -> Array:
    """Return unit axes (n, 3) that rotate vectors (n, 3) onto others; any perpendicular axis if they are parallel."""
    normal = np.cross(a, b)
    sine = np.linalg.norm(normal, axis=1, keepdims=True)
    across = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.where(sine > 1e-9, normal / np.maximum(sine, 1e-9), across)


def _angle(a: Array, b: Array) -> Array:
    """Return the angle (n,) [rad] between vectors (n, 3) and others, (n, 3) or one (3,)."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))
