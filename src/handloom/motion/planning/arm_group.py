"""The arms of a planner as one chain: their tools, and the relative poses of the tools."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.kinematics import Chain
from handloom.motion.kinematics.chain import ChainArrays
from handloom.motion.kinematics.joint_tree import body_id
from handloom.spatial import invert_pose, make_pose, pose_error


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmGroup:
    """One arm or several that move together.

    A configuration is the concatenation of the configurations of the arms. Tool poses (..., arms, 4, 4) are each
    in the base of their own arm, as everywhere in the planner.
    """

    chains: tuple[Chain, ...]
    columns: tuple[NDArray[np.int64], ...]
    """Slice of each arm's joints in a configuration."""
    T_first_base: Array
    """Base of each arm in the base of the first (arms, 4, 4)."""

    @classmethod
    def of(cls, chains: Sequence[Chain], model: mujoco.MjModel, data: mujoco.MjData) -> "ArmGroup":
        """Group arms of a model, with their bases at the poses of a state."""
        ends = np.cumsum([0, *(chain.dof for chain in chains)])
        columns = tuple(np.arange(begin, end) for begin, end in pairwise(ends.tolist()))
        group = cls(chains=tuple(chains), columns=columns, T_first_base=np.tile(np.eye(4), (len(chains), 1, 1)))
        return group.at(model, data)

    def at(self, model: mujoco.MjModel, data: mujoco.MjData) -> "ArmGroup":
        """Return the group with its bases at the poses of another state."""
        bodies = [body_id(model, chain.base) for chain in self.chains]
        T_world_base = make_pose(data.xmat[bodies].reshape(-1, 3, 3), data.xpos[bodies])
        return replace(self, T_first_base=invert_pose(T_world_base[0]) @ T_world_base)

    def __len__(self) -> int:
        return len(self.chains)

    @property
    def dof(self) -> int:
        """Joints of all arms."""
        return sum(chain.dof for chain in self.chains)

    def tools(self, q: Array) -> Array:
        """Return the tool poses (..., arms, 4, 4) at configurations (..., n)."""
        return np.stack(
            [chain.T_base_tool(q[..., c]) for chain, c in zip(self.chains, self.columns, strict=True)], axis=-3
        )

    def relative(self, T_base_tool: Array) -> Array:
        """Return all tool poses in the first tool's frame (..., arms, 4, 4)."""
        T_first_tool = self.T_first_base @ T_base_tool
        return invert_pose(T_first_tool[..., :1, :, :]) @ T_first_tool

    def shift(self, T_base_tool: Array, T_tool_tools: Array) -> tuple[Array, Array]:
        """Return the errors of tools (..., arms, 4, 4) relative to the first one: distance [m], angle [rad].

        Args:
            T_base_tool: Tool poses.
            T_tool_tools: Tool poses in the first tool's frame (arms, 4, 4) to keep.
        """
        distance, angle = pose_error(self.relative(T_base_tool), T_tool_tools)
        return distance.max(axis=-1), angle.max(axis=-1)

    def middle(self, T_base_tool: Array) -> Array:
        """Return the midpoint between the tools, in the base of each arm (..., arms, 3) [m]."""
        p_first = (self.T_first_base @ T_base_tool)[..., :3, 3].mean(axis=-2)
        T_base_first = invert_pose(self.T_first_base)
        return np.einsum("aij,...j->...ai", T_base_first[:, :3, :3], p_first) + T_base_first[:, :3, 3]

    def guide(self, arm: int, T_tool_tools: Array) -> ChainArrays:
        """Return the first arm as a chain from another arm's base to the target pose of that arm's tool."""
        arrays = self.chains[0].arrays
        T = make_pose(arrays.rotations, arrays.positions)
        T[0] = invert_pose(self.T_first_base[arm]) @ T[0]
        T[-1] = T[-1] @ T_tool_tools[arm]
        return ChainArrays(T[:, :3, :3].copy(), T[:, :3, 3].copy(), arrays.prismatic)


def no_arm(chain: Chain) -> ChainArrays:
    """Return an arm without joints, used if there is no second arm."""
    arrays = chain.arrays
    return ChainArrays(arrays.rotations[-1:].copy(), arrays.positions[-1:].copy(), arrays.prismatic[:0].copy())
