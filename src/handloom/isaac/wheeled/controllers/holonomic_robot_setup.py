"""Reads the wheels of a holonomic base from a model: joints, radii, roller angles, positions."""

from typing import NamedTuple

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.sim import World
from handloom.spatial import quat_from_axis_angle, relative_pose

RADIUS = "isaacmecanumwheel:radius"
"""Published name of the attribute that holds the wheel radius [m]."""
ANGLE = "isaacmecanumwheel:angle"
"""Published name of the attribute that holds the roller angle [deg]."""


class HolonomicParams(NamedTuple):
    """The arguments of a ``HolonomicController``, in their published order."""

    wheel_radius: Array
    """(n,) [m]."""
    wheel_positions: Array
    """(n, 3) [m], in the base."""
    wheel_orientations: Array
    """(n, 4), wxyz: turns ``wheel_axis`` into the axle, in the base."""
    mecanum_angles: Array
    """(n,) [deg]."""
    wheel_axis: Array
    """(3,)."""
    up_axis: Array
    """(3,)."""


class HolonomicRobotSetup:
    """Finds the wheel joints of a base by their attributes, in the current state of the world.

    A model marks a wheel joint by two numbers of ``<custom>``, ``isaacmecanumwheel:radius:JOINT`` and
    ``isaacmecanumwheel:angle:JOINT``, or by user data on the joint itself, ``<joint user="radius angle" .../>``.

    Args:
        world: The world that holds the robot.
        prefix: Name prefix of the robot's parts.
        com_body: Reference body for the wheel poses, without the prefix; "" takes the robot's root.

    Raises:
        InputError: No joint carries the attributes, or one of the two is missing.
        NotFoundError: ``com_body`` does not exist.
    """

    def __init__(self, world: World, prefix: str = "", com_body: str = "") -> None:
        self._world = world
        self._prefix = prefix
        numbers = _custom_numbers(world)
        self._wheels: dict[str, tuple[float, float]] = {}
        for joint, index in world.joints.items():
            marks = _marks(world, numbers, prefix, joint, index) if joint.startswith(prefix) else None
            if marks is not None:
                self._wheels[joint] = marks
        if not self._wheels:
            raise InputError(
                f"no joint of {prefix or 'the model'!r} is marked as a wheel; "
                f'add <custom><numeric name="{RADIUS}:JOINT" data="0.04"/> and the same with {ANGLE} [deg]'
            )
        self._base = prefix + com_body if com_body else self._root()
        if self._base not in world.bodies:
            raise unknown_name("body", self._base, world.bodies)

    def get_holonomic_controller_params(self) -> HolonomicParams:
        """Return radius, positions, orientations, angles, wheel axis and up axis, ready for a controller."""
        world = self._world
        T_world_base = world.body_pose(self._base)
        positions, orientations = [], []
        for joint in self._wheels:
            index = world.joint_index(joint)
            T_world_anchor = np.eye(4)
            T_world_anchor[:3, 3] = world.data.xanchor[index]
            positions.append(relative_pose(T_world_base, T_world_anchor)[:3, 3])
            orientations.append(_turn_x_to(T_world_base[:3, :3].T @ world.data.xaxis[index]))
        radius, angles = np.array(list(self._wheels.values())).T
        return HolonomicParams(
            wheel_radius=radius,
            wheel_positions=np.array(positions),
            wheel_orientations=np.array(orientations),
            mecanum_angles=angles,
            wheel_axis=np.array([1.0, 0.0, 0.0]),
            up_axis=np.array([0.0, 0.0, 1.0]),
        )

    def get_articulation_controller_params(self) -> tuple[str, ...]:
        """Return the names of the wheel joints, without the prefix, in the order of the parameters."""
        return tuple(joint.removeprefix(self._prefix) for joint in self._wheels)

    @property
    def wheel_dof_names(self) -> tuple[str, ...]:
        """Names of the wheel joints, without the prefix."""
        return self.get_articulation_controller_params()

    @property
    def wheel_radius(self) -> Array:
        """(n,) [m]."""
        return self.get_holonomic_controller_params().wheel_radius

    @property
    def wheel_positions(self) -> Array:
        """(n, 3) [m], in the base."""
        return self.get_holonomic_controller_params().wheel_positions

    @property
    def wheel_orientations(self) -> Array:
        """(n, 4), wxyz, in the base."""
        return self.get_holonomic_controller_params().wheel_orientations

    @property
    def mecanum_angles(self) -> Array:
        """(n,) [deg]."""
        return self.get_holonomic_controller_params().mecanum_angles

    @property
    def wheel_axis(self) -> Array:
        """(3,)."""
        return self.get_holonomic_controller_params().wheel_axis

    @property
    def up_axis(self) -> Array:
        """(3,)."""
        return self.get_holonomic_controller_params().up_axis

    def _root(self) -> str:
        body = int(self._world.model.jnt_bodyid[self._world.joint_index(next(iter(self._wheels)))])
        while self._world.model.body_parentid[body] != 0:
            body = int(self._world.model.body_parentid[body])
        return self._world.bodies.label(body)


def _custom_numbers(world: World) -> dict[str, float]:
    model = world.model
    return {model.numeric(i).name: float(model.numeric(i).data[0]) for i in range(model.nnumeric)}


def _marks(world: World, numbers: dict[str, float], prefix: str, joint: str, index: int) -> tuple[float, float] | None:
    """Return radius [m] and angle [deg] of a wheel joint, or None for any other joint."""
    short = joint.removeprefix(prefix)
    radius, angle = (numbers.get(f"{prefix}{kind}:{short}") for kind in (RADIUS, ANGLE))
    user = world.model.jnt_user[index]
    if radius is None and angle is None:
        return (float(user[0]), float(user[1])) if len(user) >= 2 and user[0] > 0.0 else None
    if radius is None or angle is None:
        missing = RADIUS if radius is None else ANGLE
        raise InputError(f"joint {joint!r} lacks {missing}; a wheel needs {RADIUS} and {ANGLE}")
    return radius, angle


def _turn_x_to(direction: Array) -> Array:
    """Return the quaternion of the shortest rotation from x to a unit vector; from x to -x about z."""
    axis = np.cross([1.0, 0.0, 0.0], direction)
    sine = float(np.linalg.norm(axis))
    return quat_from_axis_angle(axis if sine > 1e-9 else [0.0, 0.0, 1.0], np.arctan2(sine, direction[0]))
