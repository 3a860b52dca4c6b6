"""A gripper whose points attach to the surfaces they meet, with the published rules and names.

All its memory is in the state of the world: the points that hold are in the welds, the rest is in user data. It acts
after every physics step, as part of the physics. A restored state continues bit for bit, and a recorded episode
replays.

It differs from the published gripper in two ways. An object is held exactly where it was met; closing the remaining
gap, as published, would pull it with a jerk. And limits are compared with the force smoothed over 20 ms: the peak when
arm targets jump from frame to frame lasts one step of 2 ms, too short for a lip to come off.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.sim import World, add_attachment, add_user_data

Axis = Literal["X", "Y", "Z"]

AXES: dict[str, int] = {"X": 0, "Y": 1, "Z": 2}
SETTLE_STEPS = 10
"""Physics steps after attaching or releasing during which a point does nothing; published value."""
SHORTEST_RAY = 1e-3
"""[m]; published value."""
CLEARANCE_STEP = 1e-3
"""A ray that has hit the gripper itself starts this much further out [m]; published value."""
ACTION = 0.3
"""Actions below minus this open, above this close; published value."""
LONGEST_CLEARANCE = 0.2
"""A ray that is still inside the gripper this far out [m] has a wrong origin."""
SMOOTHING_S = 0.02
"""Time constant of the smoothed force [s]."""
TRYING, SINCE, SIGNAL, POINTS = 0, 1, 2, 3
"""Indices in the user data: whether free points try, since when [s], the last signal; then the points."""
SETTLE, CLEARANCE, FORCE, PER_POINT = 0, 1, slice(2, 5), 5
"""Indices of a point: steps left to settle, learned clearance [m], smoothed force in world (3,) [N]."""


class GripperStatus(StrEnum):
    """Status of a surface gripper; the published words."""

    OPEN = "Open"
    CLOSING = "Closing"
    CLOSED = "Closed"


@dataclass(frozen=True, kw_only=True)
class AttachmentPoint:
    """A point that holds, such as a suction cup."""

    body: str
    """Body fixed to the gripper; its origin is the start of the ray."""
    forward_axis: Axis = "Z"
    """Axis of the body that points to the object."""
    clearance_offset: float = 0.0
    """Offset of the ray's start along the axis [m]."""


@dataclass(frozen=True, kw_only=True)
class SurfaceGripperProperties:
    """When a surface gripper attaches and releases; published names and defaults."""

    max_grip_distance: float = 0.01
    """Largest distance from a point at which an object is attached [m]."""
    coaxial_force_limit: float = -1.0
    """Pull along the axis above which a point releases [N]; 0 or less: no limit."""
    shear_force_limit: float = -1.0
    """Force across the axis above which a point releases [N]; 0 or less: no limit."""
    retry_interval: float = 0.0
    """Time for which free points keep trying after the command to close [s]; 0: once."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not np.isfinite(value):
                raise InputError(f"{name} must be a finite number, got {value}")
        for name in ("max_grip_distance", "retry_interval"):
            if getattr(self, name) < 0.0:
                raise InputError(f"{name} must not be negative, got {getattr(self, name)}")


def add_surface_gripper(
    spec: mujoco.MjSpec, name: str, points: Iterable[AttachmentPoint], bodies: Iterable[str]
) -> None:
    """Prepare a spec for a surface gripper; call it on the spec that is compiled, after everything has been added.

    Args:
        spec: The spec to change.
        name: Name of the gripper.
        points: Its points.
        bodies: Bodies that it can hold.
    """
    points, bodies = tuple(points), tuple(bodies)
    for point in points:
        for body in bodies:
            add_attachment(spec, body, point.body)
    add_user_data(spec, name, POINTS + PER_POINT * len(points))


class SurfaceGripper:
    """Points on one rigid body that attach to the objects hit by a short ray from each.

    Args:
        world: The world; ``add_surface_gripper`` prepared its model.
        name: Name given there.
        points: The points given there.
        properties: When it attaches and releases.
    """

    def __init__(
        self,
        world: World,
        name: str,
        points: Sequence[AttachmentPoint],
        *,
        properties: SurfaceGripperProperties | None = None,
    ) -> None:
        self.world, self.name, self.points = world, name, tuple(points)
        self.properties = properties or SurfaceGripperProperties()
        for point in self.points:
            if point.body not in world.bodies:
                raise unknown_name("body", point.body, world.bodies)
        self._holdable = {point.body: frozenset(world.attachable_to(point.body)) for point in self.points}
        self._state = world.user_data(name)
        self._memory = self._state[POINTS:].reshape(len(self.points), PER_POINT)
        self._own = {int(world.model.body(point.body).weldid[0]) for point in self.points}
        self._signal: tuple[int, float] | None = None
        world.after_step(self._update)

    # -- commands ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Start to attach, at the end of every physics step, the objects that the free points meet."""
        self._state[TRYING], self._state[SINCE] = 1.0, self.world.time

    def open(self) -> None:
        """Release everything."""
        for index, point in enumerate(self.points):
            self._let_go(index, point)
        self._state[TRYING] = 0.0

    def apply_action(self, value: float) -> None:
        """Open below -0.3, close above 0.3; anything between has no effect."""
        if not np.isfinite(value):
            raise InputError(f"an action must be a finite number, got {value}")
        if value < -ACTION:
            self.open()
        elif value > ACTION and self.status is GripperStatus.OPEN:
            self.close()

    def forward(self, action: str) -> None:
        """Carry out the published actions ``open`` and ``close``."""
        if action not in {"open", "close"}:
            raise unknown_name("action of a surface gripper", action, ("open", "close"))
        self.open() if action == "open" else self.close()

    def follow(self, joint: str, *, above: float) -> None:
        """Close whenever a joint, such as a valve, passes ``above`` [m or rad] and open when it returns."""
        self._signal = self.world.qpos_index(joint), above

    def set_properties(self, **changed: float) -> None:
        """Change properties by name; they are not part of the state."""
        try:
            self.properties = replace(self.properties, **changed)
        except TypeError:
            known = vars(self.properties)
            raise unknown_name("property", next(name for name in changed if name not in known), known) from None

    # -- behaviour -----------------------------------------------------------------------------------------------

    @property
    def status(self) -> GripperStatus:
        """Open, closing or closed; a gripper with only some points holding is closing."""
        holding = sum(self._held(point) is not None for point in self.points)
        if holding == len(self.points):
            return GripperStatus.CLOSED
        return GripperStatus.CLOSING if self._state[TRYING] or holding else GripperStatus.OPEN

    def is_closed(self) -> bool:
        """Return whether every point holds something."""
        return self.status is GripperStatus.CLOSED

    @property
    def gripped_objects(self) -> tuple[str, ...]:
        """Held bodies, each once, in the order of the points."""
        held = (self._held(point) for point in self.points)
        return tuple(dict.fromkeys(body for body in held if body is not None))

    def force(self, index: int = 0) -> Array:
        """Return pull along the axis and force across it (2,) [N] at a point, smoothed; zeros where nothing is held."""
        point = self.points[index]
        if self._held(point) is None:
            return np.zeros(2)
        axis, force = self._axis(point), self._memory[index, FORCE]
        coaxial = float(force @ axis)
        return np.array([coaxial, float(np.linalg.norm(force - coaxial * axis))])

    def _update(self) -> None:
        """Update the gripper at the end of a physics step."""
        if self._signal is not None:
            self._follow_signal(*self._signal)
        state, fresh = self._state, False
        for index, point in enumerate(self.points):
            body = self._held(point)
            if body is not None:
                self._feel(index, point, body)
            if self._memory[index, SETTLE] > 0.0:
                self._memory[index, SETTLE] -= 1.0
            elif body is not None:
                if self._overloaded(index):
                    self._let_go(index, point)
            elif state[TRYING]:
                if not fresh:
                    self.world.update_poses()
                    fresh = True
                self._try(index, point)
        waited = self.world.time - state[SINCE]
        if state[TRYING] and waited >= self.properties.retry_interval and not self._still_trying():
            state[TRYING] = 0.0

    def _follow_signal(self, place: int, above: float) -> None:
        now = float(self.world.data.qpos[place] > above)
        if now != self._state[SIGNAL]:
            self._state[SIGNAL] = now
            self.close() if now else self.open()

    def _still_trying(self) -> bool:
        """Return whether free points keep trying regardless of the interval: others hold, or none tried yet."""
        free = [index for index, point in enumerate(self.points) if self._held(point) is None]
        settling = bool((self._memory[free, SETTLE] > 0.0).any())
        return settling or 0 < len(free) < len(self.points)

    def _feel(self, index: int, point: AttachmentPoint, body: str) -> None:
        share = min(self.world.timestep / SMOOTHING_S, 1.0)
        smooth = self._memory[index, FORCE]
        smooth += share * (self.world.attachment_force(body, point.body) - smooth)

    def _overloaded(self, index: int) -> bool:
        coaxial, shear = self.force(index)
        limits = self.properties
        return bool(0.0 < limits.coaxial_force_limit < coaxial or 0.0 < limits.shear_force_limit < shear)

    def _try(self, index: int, point: AttachmentPoint) -> None:
        body = self._met(index, point)
        if body is not None:
            self.world.attach(body, point.body)
            self._memory[index, SETTLE] = SETTLE_STEPS
            self._memory[index, FORCE] = 0.0

    def _met(self, index: int, point: AttachmentPoint) -> str | None:
        """Return the body that the ray of a point meets, if it can be held."""
        model, data, axis = self.world.model, self.world.data, self._axis(point)
        learned = self._memory[index]
        geom = np.array([-1], np.int32)
        while point.clearance_offset + learned[CLEARANCE] < LONGEST_CLEARANCE:
            clearance = point.clearance_offset + learned[CLEARANCE]
            start = data.xpos[self.world.bodies[point.body]] + clearance * axis
            reach = max(self.properties.max_grip_distance - clearance, SHORTEST_RAY)
            distance = self._first_solid(start, axis, reach, geom)
            if distance > reach:
                return None
            hit = int(model.geom_bodyid[geom[0]])
            if int(model.body_weldid[hit]) in self._own:
                learned[CLEARANCE] += CLEARANCE_STEP
                continue
            name = self.world.bodies.label(hit)
            return name if name in self._holdable[point.body] else None
        raise InputError(
            f"surface gripper {self.name!r}: the ray of {point.body!r} does not leave the gripper within "
            f"{LONGEST_CLEARANCE} m along {point.forward_axis}; is forward_axis right?"
        )

    def _first_solid(self, start: Array, axis: Array, reach: float, geom: NDArray[np.int32]) -> float:
        """Return the distance [m] to the first colliding geom, infinite beyond ``reach``; set its index."""
        model, data, gone = self.world.model, self.world.data, 0.0
        while gone <= reach:
            further = mujoco.mj_ray(model, data, start + gone * axis, axis, None, True, -1, geom)
            if further < 0.0:
                return np.inf
            gone += further
            if model.geom_contype[geom[0]] or model.geom_conaffinity[geom[0]]:
                return gone
            gone += 1e-6
        return np.inf

    def _axis(self, point: AttachmentPoint) -> Array:
        matrix = self.world.data.xmat[self.world.bodies[point.body]].reshape(3, 3)
        return matrix[:, AXES[point.forward_axis]]

    def _held(self, point: AttachmentPoint) -> str | None:
        return self.world.held_by(point.body)

    def _let_go(self, index: int, point: AttachmentPoint) -> None:
        body = self._held(point)
        if body is not None:
            self.world.release(body, point.body)
            self._memory[index, SETTLE] = SETTLE_STEPS
