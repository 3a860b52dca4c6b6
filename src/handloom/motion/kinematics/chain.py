"""The joints between a base and a tool, with their forward kinematics."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.motion.kinematics.chain_kernels import forward_batch, jacobian_batch
from handloom.motion.kinematics.joint_tree import HINGE, SLIDE, JointTree, body_id
from handloom.motion.threads import for_slices
from handloom.spatial import make_pose, matrix_from_quat

SMALLEST_SLICE = 4096
"""Forward kinematics takes less than a microsecond per row, so only large batches are worth a thread."""


class ChainArrays(NamedTuple):
    """Kernel input; the last transform leads from the last joint to the tool."""

    rotations: Array
    """Rotation of each joint frame in the one before it (n + 1, 3, 3)."""
    positions: Array
    """Position of each joint frame in the one before it (n + 1, 3) [m]."""
    prismatic: NDArray[np.bool_]
    """True where a joint slides (n,)."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A serial chain of hinge and slide joints from a base body to a tool frame."""

    base: str
    """Body whose frame is the reference of poses; ``world`` for the world."""
    tool: str
    """Site or body at the end of the chain."""
    joint_names: tuple[str, ...]
    """Names of the moving joints, base to tool."""
    lower: Array
    """Lower limits (n,) [rad or m]; -inf if unlimited."""
    upper: Array
    """Upper limits (n,) [rad or m]; inf if unlimited."""
    qpos_index: NDArray[np.int64]
    """Index of each joint in ``MjData.qpos`` (n,)."""
    dof_index: NDArray[np.int64]
    """Index of each joint in ``MjData.qvel`` (n,)."""
    arrays: ChainArrays
    """Constant transforms in the kernels' layout."""

    @classmethod
    def from_model(
        cls,
        model: mujoco.MjModel,
        tool: str,
        base: str = "world",
        joints: Sequence[str] | None = None,
        *,
        qpos: ArrayLike | None = None,
    ) -> "Chain":
        """Find the joints between two frames of a model.

        Args:
            model: Any compiled model.
            tool: Name of a site or, if no site has this name, of a body.
            base: Name of a body above the tool in the tree.
            joints: Joints that may move; None means every joint between base and tool. All others are held fixed.
            qpos: Configuration (nq,) at which the other joints are held; None means the model's ``qpos0``.
        """
        tool_body, T_body_tool = _tool_frame(model, tool)
        between = joints_between(model, base, tool_body)
        chosen = between if joints is None else tuple(joints)
        for name in chosen:
            if name not in between:
                raise unknown_name(f"joint between {base!r} and {tool!r}", name, between)
        if not chosen:
            raise InputError(f"no joint lies between {base!r} and {tool!r}, so the tool cannot move")
        held = None if qpos is None else np.asarray(qpos, float)
        tree = JointTree.from_model(model, [name for name in between if name in chosen], root=base, qpos=held)
        T = np.concatenate([tree.T_parent_joint, (tree.T_link_body[tool_body] @ T_body_tool)[None]])
        return cls(
            base=base,
            tool=tool,
            joint_names=tree.joint_names,
            lower=tree.lower,
            upper=tree.upper,
            qpos_index=tree.qpos_index,
            dof_index=tree.dof_index,
            arrays=ChainArrays(T[:, :3, :3].copy(), T[:, :3, 3].copy(), tree.prismatic),
        )

    @property
    def dof(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @cached_property
    def sampling_box(self) -> tuple[Array, Array]:
        """Finite limits (n,), (n,) for sampling configurations: +-pi or +-1 m for an unlimited joint."""
        span = np.where(self.arrays.prismatic, 1.0, np.pi)
        return (
            np.where(np.isfinite(self.lower), self.lower, -span),
            np.where(np.isfinite(self.upper), self.upper, span),
        )

    @property
    def middle(self) -> Array:
        """Midpoints of the joint ranges (n,)."""
        lower, upper = self.sampling_box
        return 0.5 * (lower + upper)

    def T_base_tool(self, q: ArrayLike, *, threads: int | None = None) -> Array:  # noqa: N802 - frame notation
        """Return the pose of the tool in the base (..., 4, 4) at configurations (..., n)."""
        rows, lead = self._rows(q)
        T = np.zeros((len(rows), 4, 4))
        for_slices(
            len(rows),
            lambda begin, end: forward_batch(self.arrays, rows[begin:end], T[begin:end]),
            threads=threads,
            smallest=SMALLEST_SLICE,
        )
        return T.reshape(*lead, 4, 4)

    def jacobian(self, q: ArrayLike) -> Array:
        """Return tool Jacobians (..., 6, n) in the base frame: rows 0-2 velocity [m/s], rows 3-5 rotation [rad/s]."""
        rows, lead = self._rows(q)
        J = np.empty((len(rows), 6, self.dof))
        jacobian_batch(self.arrays, rows, J)
        return J.reshape(*lead, 6, self.dof)

    def limit_excess(self, q: ArrayLike) -> Array:
        """Return the distance of configurations (..., n) outside the limits (..., n) [rad or m]; 0 inside."""
        rows, lead = self._rows(q)
        return np.maximum(0.0, np.maximum(self.lower - rows, rows - self.upper)).reshape(*lead, self.dof)

    def _rows(self, q: ArrayLike) -> tuple[Array, tuple[int, ...]]:
        """Return configurations as contiguous, writable rows, and their leading shape.

        Kernels are compiled once per layout, and read-only arrays count as a separate layout.
        """
        given = np.asarray(q, float)
        if given.shape[-1:] != (self.dof,):
            raise InputError(f"a configuration of {self.tool!r} must have {self.dof} values, got shape {given.shape}")
        return np.require(given.reshape(-1, self.dof), requirements=["C", "W"]), given.shape[:-1]


def joints_between(model: mujoco.MjModel, base: str, tool_body: int) -> tuple[str, ...]:
    """Return the names of the hinge and slide joints that move a body relative to a base body, base first."""
    stop, names, body = body_id(model, base), [], tool_body
    while body not in {stop, 0}:
        first = model.body_jntadr[body]
        here = range(first, first + model.body_jntnum[body]) if first >= 0 else ()
        names += [model.joint(j).name for j in reversed(here) if int(model.jnt_type[j]) in {HINGE, SLIDE}]
        body = model.body_parentid[body]
    if body != stop:
        raise InputError(f"the base {base!r} is not above body {model.body(tool_body).name!r} in the kinematic tree")
    return tuple(reversed(names))


def _tool_frame(model: mujoco.MjModel, tool: str) -> tuple[int, Array]:
    """Return the body that carries a site or body frame, and the frame's pose in that body."""
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, tool)
    if site >= 0:
        return int(model.site_bodyid[site]), make_pose(matrix_from_quat(model.site_quat[site]), model.site_pos[site])
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, tool)
    if body < 0:
        sites = [model.site(i).name for i in range(model.nsite)]
        bodies = [model.body(i).name for i in range(model.nbody)]
        raise unknown_name("site or body", tool, [*sites, *bodies])
    return body, np.eye(4)
