"""Solver settings and measured joint forces under their published names; the solver is the world's, not the robot's."""

import warnings

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.sim import World


class SolverSettings:
    """Iterations, thresholds and self-collision of a robot, as far as MuJoCo supports them.

    MuJoCo has one solver per world, so the number of iterations applies to the whole world. Settings that exist only in
    PhysX are stored and returned, with a warning that they have no effect.

    Args:
        world: The world.
        bodies: Indices of the robot's bodies (n,).
    """

    def __init__(self, world: World, bodies: NDArray[np.int64]) -> None:
        self.world = world
        self._body_set = frozenset(bodies.tolist())
        self._unused: dict[str, float] = {}

    def set_solver_position_iteration_count(self, count: int) -> None:
        """Set the maximum number of solver iterations, for the whole world."""
        if not isinstance(count, int | np.integer) or count < 1:
            raise InputError(f"the number of solver iterations must be an integer >= 1, got {count!r}")
        self.world.model.opt.iterations = int(count)

    def get_solver_position_iteration_count(self) -> int:
        """Return the maximum number of solver iterations of the world."""
        return int(self.world.model.opt.iterations)

    def set_solver_velocity_iteration_count(self, count: int) -> None:
        """Store a setting that exists only in PhysX."""
        self._keep_unused("solver_velocity_iteration_count", count)

    def get_solver_velocity_iteration_count(self) -> int:
        """Return a setting that exists only in PhysX."""
        return int(self._unused.get("solver_velocity_iteration_count", 0))

    def set_stabilization_threshold(self, threshold: float) -> None:
        """Store a setting that exists only in PhysX."""
        self._keep_unused("stabilization_threshold", threshold)

    def get_stabilization_threshold(self) -> float:
        """Return a setting that exists only in PhysX."""
        return self._unused.get("stabilization_threshold", 0.0)

    def set_sleep_threshold(self, threshold: float) -> None:
        """Store a setting without effect: bodies never sleep in a World, whose states must be exact."""
        self._keep_unused("sleep_threshold", threshold)

    def get_sleep_threshold(self) -> float:
        """Return a setting without effect."""
        return self._unused.get("sleep_threshold", 0.0)

    def _keep_unused(self, setting: str, value: float) -> None:
        self._unused[setting] = value
        warnings.warn(f"{setting} = {value} is stored but has no effect on MuJoCo", stacklevel=3)

    def get_enabled_self_collisions(self) -> bool:
        """Return whether two bodies may collide: not neighbours, not excluded, and with matching collision bits."""
        model = self.world.model
        geoms = [geom for geom in range(model.ngeom) if int(model.geom_bodyid[geom]) in self._body_set]
        excluded = set(model.exclude_signature.tolist())
        return any(
            self._may_collide(first, second, excluded)
            for index, first in enumerate(geoms)
            for second in geoms[index + 1 :]
        )

    def _may_collide(self, first: int, second: int, excluded: set[int]) -> bool:
        model = self.world.model
        bodies = sorted(int(model.geom_bodyid[geom]) for geom in (first, second))
        a, b = (int(model.body_weldid[body]) for body in bodies)
        parent_a, parent_b = (int(model.body_weldid[model.body_parentid[body]]) for body in (a, b))
        filtering = not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
        # MuJoCo lets a body collide with its parent only when that is part of the world.
        neighbours = filtering and ((a == parent_b and a != 0) or (b == parent_a and b != 0))
        contype, conaffinity = model.geom_contype, model.geom_conaffinity
        bits = (contype[first] & conaffinity[second]) | (contype[second] & conaffinity[first])
        return bool(bits) and a != b and not neighbours and (bodies[0] << 16) + bodies[1] not in excluded

    def set_enabled_self_collisions(self, flag: bool) -> None:
        """Accept the current setting only; MuJoCo decides at compile time which bodies may collide."""
        if flag != self.get_enabled_self_collisions():
            raise InputError(
                f"self-collision is {'off' if flag else 'on'} in the compiled model and cannot be changed afterwards; "
                "use contype and conaffinity or <contact><exclude> in the spec"
            )


_JOINT_ROWS = tuple(
    kind.value
    for kind in (
        mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF,
        mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON,
        mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT,
        mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON,
    )
)
_JOINT_EQUALITIES = (mujoco.mjtEq.mjEQ_JOINT.value, mujoco.mjtEq.mjEQ_TENDON.value)


def joint_efforts(world: World) -> Array:
    """Return the effort that every joint transmits along its degree of freedom (nv,) [N m or N].

    This is what a sensor at the joint would feel: drive, spring, damper and applied effort, friction, stop and
    couplings to other joints; it excludes gravity, contacts and welds, which act on the links.
    """
    world.refresh()
    model, data = world.model, world.data
    effort = data.qfrc_actuator + data.qfrc_applied + data.qfrc_spring + data.qfrc_damper
    if data.nefc:
        inside = np.isin(data.efc_type, _JOINT_ROWS)
        equality = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY.value
        inside[equality] = np.isin(model.eq_type[data.efc_id[equality]], _JOINT_EQUALITIES)
        transmitted = np.zeros(model.nv)
        mujoco.mj_mulJacTVec(model, data, transmitted, np.where(inside, data.efc_force, 0.0))
        effort = effort + transmitted
    return effort


def joint_wrenches(world: World, base_body: int, joints: NDArray[np.int64]) -> Array:
    """Return the wrench that enters the base and each joint's body from its parent (n + 1, 6) [N, N m].

    Row 0 is the base body at its origin, row i + 1 the body of joint i at the joint's anchor; each row is force (3),
    then torque (3), in the frame of the body that receives it. The weight of gravity-compensated links is included as a
    load.

    Args:
        world: The world.
        base_body: Index of the robot's base.
        joints: Indices of the joints in the model (n,).
    """
    world.refresh()
    model, data = world.model, world.data
    mujoco.mj_rnePostConstraint(model, data)
    bodies = np.concatenate([[base_body], model.jnt_bodyid[joints]])
    points = np.concatenate([data.xpos[[base_body]], data.xanchor[joints]])
    # MuJoCo gives torque and force in world axes about the centre of mass of the whole kinematic tree.
    centres = data.subtree_com[model.body_rootid[bodies]]
    torques, forces = data.cfrc_int[bodies, :3], data.cfrc_int[bodies, 3:]
    torques = torques + np.cross(centres - points, forces)
    R_world_body = data.xmat[bodies].reshape(-1, 3, 3)
    return np.concatenate(
        [np.einsum("nji,nj->ni", R_world_body, forces), np.einsum("nji,nj->ni", R_world_body, torques)], axis=1
    )
