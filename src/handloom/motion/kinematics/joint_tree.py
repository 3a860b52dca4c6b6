"""The moving joints of a compiled model in a normal form: every joint turns about, or slides along, its own z axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.spatial import invert_pose, make_pose, matrix_from_quat, matrix_from_rotvec, translation

WORLD = -1
"""Index of the link with everything that no chosen joint moves."""

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, kw_only=True)
class JointTree:
    """Chosen joints of a model and the rigid links between them.

    Link k is everything that moves with joint k but with no chosen joint after it. With ``T_root_link(-1)`` the
    identity, ``T_root_link(k) = T_root_link(parent[k]) T_parent_joint[k] Z(q[k])``, where ``Z`` turns about z by q
    [rad] or slides along z by q [m]. Joints that were not chosen are held at the reference configuration. Axis
    directions, anchors and reference offsets of the model are folded into the constant transforms.
    """

    joint_names: tuple[str, ...]
    """Joint names in the model, in the order of q."""
    parent: NDArray[np.int64]
    """Parent link of each joint (n,); -1 is the root."""
    T_parent_joint: Array
    """Constant pose of each joint frame in its parent link (n, 4, 4)."""
    prismatic: NDArray[np.bool_]
    """True where a joint slides (n,)."""
    lower: Array
    """Lower limits (n,) [rad or m]; -inf if unlimited."""
    upper: Array
    """Upper limits (n,) [rad or m]; inf if unlimited."""
    qpos_index: NDArray[np.int64]
    """Index of each joint in ``MjData.qpos`` (n,)."""
    dof_index: NDArray[np.int64]
    """Index of each joint in ``MjData.qvel`` (n,)."""
    body_link: NDArray[np.int64]
    """Link of each body of the model (nbody,)."""
    T_link_body: Array
    """Constant pose of each body in its link (nbody, 4, 4)."""

    @classmethod
    def from_model(
        cls, model: mujoco.MjModel, joints: Sequence[str], *, root: str | None = None, qpos: Array | None = None
    ) -> "JointTree":
        """Build the tree of the named joints.

        Args:
            model: Any compiled model.
            joints: Names of hinge and slide joints, in the order of q; a parent comes before its children.
            root: Body whose frame is the root; None is the world. No chosen joint may move it.
            qpos: Reference configuration (nq,) for all other joints; None means the model's ``qpos0``.
        """
        reference = model.qpos0 if qpos is None else np.asarray(qpos, float)
        if reference.shape != (model.nq,):
            raise InputError(f"qpos must have {model.nq} values for this model, got shape {reference.shape}")
        ids = [_joint_id(model, name) for name in joints]
        if len(set(ids)) != len(ids):
            raise InputError(f"a joint is listed twice: {', '.join(joints)}")
        data = mujoco.MjData(model)
        data.qpos[:] = reference
        mujoco.mj_kinematics(model, data)
        return _Builder(model, data, ids, root).build(tuple(joints))

    @property
    def dof(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @cached_property
    def sampling_box(self) -> tuple[Array, Array]:
        """Finite limits (n,), (n,) for sampling configurations: +-pi or +-1 m for an unlimited joint."""
        span = np.where(self.prismatic, 1.0, np.pi)
        return (
            np.where(np.isfinite(self.lower), self.lower, -span),
            np.where(np.isfinite(self.upper), self.upper, span),
        )

    def T_root_links(self, q: Array) -> Array:  # noqa: N802 - frame notation
        """Return the poses of all links (n, 4, 4) at one configuration (n,)."""
        T = np.empty((self.dof, 4, 4))
        for k in range(self.dof):
            before = np.eye(4) if self.parent[k] == WORLD else T[self.parent[k]]
            T[k] = before @ self.T_parent_joint[k] @ _motion_along_z(q[k], self.prismatic[k])
        return T


@dataclass(frozen=True)
class _Builder:
    """Traverses the bodies of a model once and combines all constant transforms."""

    model: mujoco.MjModel
    data: mujoco.MjData
    ids: list[int]
    root: str | None

    def build(self, names: tuple[str, ...]) -> JointTree:
        model, n = self.model, len(self.ids)
        parent, T_parent_joint = np.full(n, WORLD, np.int64), np.empty((n, 4, 4))
        body_link, T_link_body = np.full(model.nbody, WORLD, np.int64), np.empty((model.nbody, 4, 4))
        T_link_body[0] = invert_pose(self._T_world_root())
        for body in range(1, model.nbody):
            up = model.body_parentid[body]
            link, T = body_link[up], T_link_body[up] @ self._T_parent_body(body)
            for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
                if joint in self.ids:
                    k = self.ids.index(joint)
                    if link != WORLD and link > k:
                        raise InputError(f"joint {names[k]!r} must be listed after {names[link]!r}, which moves it")
                    parent[k], T_parent_joint[k] = link, T @ _T_body_joint(model, joint)
                    link, T = k, invert_pose(_T_body_joint(model, joint)) @ self._unturn(joint)
                else:
                    T = T @ self._held_motion(joint)
            body_link[body], T_link_body[body] = link, T
        self._refuse_moving_root(body_link)
        limited = model.jnt_limited[self.ids].astype(bool)
        return JointTree(
            joint_names=names,
            parent=parent,
            T_parent_joint=T_parent_joint,
            prismatic=model.jnt_type[self.ids] == SLIDE,
            lower=np.where(limited, model.jnt_range[self.ids, 0], -np.inf),
            upper=np.where(limited, model.jnt_range[self.ids, 1], np.inf),
            qpos_index=model.jnt_qposadr[self.ids].astype(np.int64),
            dof_index=model.jnt_dofadr[self.ids].astype(np.int64),
            body_link=body_link,
            T_link_body=T_link_body,
        )

    def _T_world_root(self) -> Array:  # noqa: N802 - frame notation
        if self.root is None:
            return np.eye(4)
        body = body_id(self.model, self.root)
        return make_pose(self.data.xmat[body].reshape(3, 3), self.data.xpos[body])

    def _refuse_moving_root(self, body_link: NDArray[np.int64]) -> None:
        if self.root is not None and body_link[body_id(self.model, self.root)] != WORLD:
            raise InputError(f"the root body {self.root!r} is moved by a chosen joint, so nothing can be fixed to it")

    def _T_parent_body(self, body: int) -> Array:  # noqa: N802 - frame notation
        """Return the pose of a body in its parent before its own joints move."""
        mocap = self.model.body_mocapid[body]
        if mocap >= 0:
            return make_pose(matrix_from_quat(self.data.mocap_quat[mocap]), self.data.mocap_pos[mocap])
        return make_pose(matrix_from_quat(self.model.body_quat[body]), self.model.body_pos[body])

    def _unturn(self, joint: int) -> Array:
        """Return the motion by minus the joint's reference, since MuJoCo moves by ``qpos - qpos0``."""
        return _joint_motion(self.model, joint, -self.model.qpos0[self.model.jnt_qposadr[joint]])

    def _held_motion(self, joint: int) -> Array:
        """Return the motion of a joint that was not chosen, at the reference configuration."""
        address, kind = self.model.jnt_qposadr[joint], int(self.model.jnt_type[joint])
        if kind in {HINGE, SLIDE}:
            return _joint_motion(self.model, joint, self.data.qpos[address] - self.model.qpos0[address])
        body = self.model.jnt_bodyid[joint]
        up = self.model.body_parentid[body]
        if self.model.body_jntnum[body] > 1:
            raise InputError(f"body {self.model.body(body).name!r} mixes a ball joint with others; split the body")
        # Free and ball joints: the motion is the one that MuJoCo computed for the reference configuration.
        T_world_parent = make_pose(self.data.xmat[up].reshape(3, 3), self.data.xpos[up])
        T_world_body = make_pose(self.data.xmat[body].reshape(3, 3), self.data.xpos[body])
        return invert_pose(T_world_parent @ self._T_parent_body(body)) @ T_world_body


def _joint_id(model: mujoco.MjModel, name: str) -> int:
    """Return the index of a hinge or slide joint, or raise an error about the name."""
    known = {model.joint(j).name: j for j in range(model.njnt)}
    if name not in known:
        raise unknown_name("joint", name, known)
    if int(model.jnt_type[known[name]]) not in {HINGE, SLIDE}:
        raise InputError(f"joint {name!r} is neither a hinge nor a slide joint; motion moves only those")
    return known[name]


def body_id(model: mujoco.MjModel, name: str) -> int:
    """Return the index of a body, or raise an error that suggests existing ones."""
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    if index < 0:
        raise unknown_name("body", name, (model.body(b).name for b in range(model.nbody)))
    return index


def _T_body_joint(model: mujoco.MjModel, joint: int) -> Array:  # noqa: N802 - frame notation
    """Return a frame at the joint's anchor whose z is the joint's axis."""
    axis = model.jnt_axis[joint]
    return make_pose(rotation_of_z_to(axis), model.jnt_pos[joint])


def rotation_of_z_to(axis: Array) -> Array:
    """Return the smallest rotation (3, 3) that takes z to a unit vector."""
    sine = np.array([-axis[1], axis[0], 0.0])
    length = float(np.linalg.norm(sine))
    if length < 1e-12:
        return np.eye(3) if axis[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return matrix_from_rotvec(sine / length * np.arctan2(length, axis[2]))


def _joint_motion(model: mujoco.MjModel, joint: int, amount: float) -> Array:
    """Return the motion (4, 4) of a hinge or slide joint by an amount, in its body's frame before it moves."""
    axis, anchor = model.jnt_axis[joint], model.jnt_pos[joint]
    if int(model.jnt_type[joint]) == SLIDE:
        return translation(axis * amount)
    return translation(anchor) @ make_pose(matrix_from_rotvec(axis * amount), np.zeros(3)) @ translation(-anchor)


def _motion_along_z(amount: float, slides: bool) -> Array:
    """Return the motion (4, 4) of a joint in normal form."""
    if slides:
        return translation([0.0, 0.0, amount])
    return make_pose(matrix_from_rotvec([0.0, 0.0, amount]), np.zeros(3))
