"""Distances of an arm to obstacles, and their derivatives with respect to its joints."""

from collections.abc import Iterable
from typing import NamedTuple

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, CollisionWorld, ExactChecker
from handloom.motion.collision.obstacle import T_body_geom
from handloom.motion.kinematics import Chain, JointTree
from handloom.motion.kinematics.joint_tree import body_id
from handloom.spatial import invert_pose, make_pose, quat_from_matrix


class Distances(NamedTuple):
    """Pairs of solids that are near each other."""

    distance: Array
    """Signed distance of each pair (k,) [m]; negative where they overlap."""
    gradient: Array
    """Derivative of the distance with respect to the joints (k, n) [m/rad or 1]."""


class Clearance(ExactChecker):
    """Measures distances of an arm to the fixed surroundings, the rest of its robot and itself.

    Movable objects are ignored: a hand is meant to touch them. All poses are in the frame of the arm's base, so that a
    driving base only changes obstacle poses. Fingers keep the positions that they had at construction.

    Args:
        model: Compiled model with the arm in it.
        data: Present state.
        chain: The arm.
        ignore: Obstacles whose name contains one of these texts are ignored.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, chain: Chain, *, ignore: Iterable[str] = ()) -> None:
        self._base = body_id(model, chain.base)
        qpos = data.qpos.copy()
        tree = JointTree.from_model(model, chain.joint_names, root=chain.base, qpos=qpos)
        robot = CollisionRobot.from_model(model, JointTree.from_model(model, chain.joint_names, qpos=qpos), qpos=qpos)
        root = int(model.body_rootid[self._base])
        counts = (model.body_weldid == 0) | (model.body_rootid == root)
        left_out = np.flatnonzero((tree.body_link >= 0) | ~counts).tolist()
        obstacles = tuple(CollisionWorld.from_model(model, data, exclude_bodies=left_out, ignore=ignore))
        super().__init__(tree, robot.parts, obstacles, robot.ignored)
        geoms = np.array([obstacle.geom for obstacle in obstacles], np.intp)
        self._carriers = model.geom_bodyid[geoms]
        """Body of the model that carries each obstacle (k,)."""
        self._T_carrier_obstacle = np.array([T_body_geom(model, geom) for geom in geoms]).reshape(-1, 4, 4)
        self._places = np.array([self._model.body(f"obstacle:{o.name}").id for o in obstacles], np.intp)
        self._T_base_carrier = np.full((len(geoms), 4, 4), np.nan)
        self.update(data)

    def update(self, data: mujoco.MjData) -> None:
        """Update the obstacle poses; obstacles that have not moved relative to the arm's base cost nothing."""
        T_base_world = invert_pose(make_pose(data.xmat[self._base].reshape(3, 3), data.xpos[self._base]))
        T_world_carrier = make_pose(data.xmat[self._carriers].reshape(-1, 3, 3), data.xpos[self._carriers])
        T_base_carrier = T_base_world @ T_world_carrier
        moved = np.flatnonzero(np.any(T_base_carrier != self._T_base_carrier, axis=(1, 2)))
        self._T_base_carrier = T_base_carrier
        if len(moved):
            T = T_base_world @ (T_world_carrier[moved] @ self._T_carrier_obstacle[moved])
            self._model.body_pos[self._places[moved]] = T[:, :3, 3]
            self._model.body_quat[self._places[moved]] = quat_from_matrix(T[:, :3, :3])

    def near(self, q: Array, within: float) -> Distances:
        """Return the pairs that are nearer than a distance [m] at a configuration (n,)."""
        geoms, distances = self._contacts(q, within)
        chosen = np.flatnonzero(distances < within)
        if not len(chosen):
            return Distances(np.empty(0), np.empty((0, self.tree.dof)))
        model, data = self._model, self._data
        mujoco.mj_comPos(model, data)
        rows = np.empty((len(chosen), self.tree.dof))
        J = np.empty((3, model.nv))
        for row, k in enumerate(chosen):
            contact = data.contact[k]
            normal = contact.frame[:3]  # From the first geom to the second.
            rows[row] = 0.0
            for sign, geom in ((-1.0, geoms[k, 0]), (1.0, geoms[k, 1])):
                point = contact.pos + 0.5 * sign * contact.dist * normal
                mujoco.mj_jac(model, data, J, None, point, model.geom_bodyid[geom])
                # All joints have one coordinate, so velocities have the same indices as positions.
                rows[row] += sign * (normal @ J)[self._qpos]
        return Distances(distances[chosen].copy(), rows)
