"""What the joints of a robot transmit, computed from the solved dynamics."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.sim import World

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
    couplings to other joints; not gravity, contacts or welds, which act on the links.
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
    then torque (3), in the frame of the body that receives it. The weight of gravity-compensated links counts as
    carried.

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
