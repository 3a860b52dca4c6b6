"""Pose and velocity of a robot's base."""

from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.sim import World
from handloom.spatial import make_pose, matrix_from_quat, pos_quat_from_pose, quat_normalize


class ArticulationRoot:
    """The base of a robot: pose, velocity, gravity.

    Args:
        world: The world.
        bodies: Indices of the robot's bodies, base first.
    """

    def __init__(self, world: World, bodies: Iterable[int]) -> None:
        self.world = world
        self.bodies = np.array(list(bodies), dtype=np.int64)
        self.body = int(self.bodies[0])
        joint = int(world.model.body_jntadr[self.body])
        floating = joint >= 0 and world.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE.value
        self._qpos = int(world.model.jnt_qposadr[joint]) if floating else -1
        self._dof = int(world.model.jnt_dofadr[joint]) if floating else -1

    @property
    def name(self) -> str:
        """Name of the base body."""
        return self.world.bodies.label(self.body)

    @property
    def floating(self) -> bool:
        """Whether the base moves freely."""
        return self._qpos >= 0

    def pose(self) -> Array:
        """Return T_world_base (4, 4)."""
        return make_pose(self.world.data.xmat[self.body].reshape(3, 3), self.world.data.xpos[self.body])

    def place(self, position: ArrayLike | None, orientation: ArrayLike | None) -> None:
        """Move the base to a position [m] and an orientation wxyz; None leaves either unchanged.

        A base that is fixed in the model can only be set to its current pose: moving it would invalidate values that
        the compiler derived from it.
        """
        T_world_base = self.pose()
        if position is not None:
            T_world_base[:3, 3] = _numbers("position", position, 3)
        if orientation is not None:
            quat = _numbers("orientation", orientation, 4)
            if np.linalg.norm(quat) < 1e-9:
                raise InputError("orientation must be a quaternion wxyz other than zero")
            T_world_base[:3, :3] = matrix_from_quat(quat_normalize(quat))
        if self.floating or self.world.model.body_mocapid[self.body] >= 0:
            self.world.set_body_pose(self.name, T_world_base)
        elif not np.allclose(T_world_base, self.pose(), atol=1e-9):
            here, quat_here = pos_quat_from_pose(self.pose())
            raise InputError(
                f"the base {self.name!r} is fixed in the model at {np.round(here, 6).tolist()}, "
                f"orientation {np.round(quat_here, 6).tolist()}; place it in the spec before compiling"
            )

    def velocity(self) -> Array:
        """Return linear [m/s] and angular [rad/s] velocity of the base in world (6,)."""
        velocity = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(self.world.model, self.world.data, kind, self.body, velocity, 0)
        return np.concatenate([velocity[3:], velocity[:3]])

    def set_velocity(self, linear: ArrayLike | None, angular: ArrayLike | None) -> None:
        """Set linear [m/s] and angular [rad/s] velocity of a floating base in world; None leaves either unchanged."""
        new_linear = None if linear is None else _numbers("linear velocity", linear, 3)
        new_angular = None if angular is None else _numbers("angular velocity", angular, 3)
        if not self.floating:
            raise InputError(f"the base {self.name!r} is fixed, so it cannot be given a velocity")
        if new_linear is not None:
            self.world.data.qvel[self._dof : self._dof + 3] = new_linear
        if new_angular is not None:
            # A free joint keeps its angular velocity in the frame of the body.
            self.world.data.qvel[self._dof + 3 : self._dof + 6] = self.pose()[:3, :3].T @ new_angular
        self.world.forward()

    def set_gravity(self, enabled: bool) -> None:
        """Let gravity act on the links, or compensate it exactly."""
        model = self.world.model
        model.body_gravcomp[self.bodies] = 0.0 if enabled else 1.0
        model.flg_gravcomp = bool(np.any(model.body_gravcomp != 0.0))
        self.world.invalidate()


def _numbers(word: str, values: ArrayLike, count: int) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{word} must be {count} numbers, got {values!r}") from error
    if array.shape != (count,) or not np.all(np.isfinite(array)):
        raise InputError(f"{word} must be {count} finite numbers, got {values!r}")
    return array
