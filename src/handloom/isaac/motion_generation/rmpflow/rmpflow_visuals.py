"""RMPflow's own model of the robot as visible spheres: the published debugging methods."""

import numpy as np

from handloom.arrays import Array
from handloom.isaac.motion_generation.world_interface import Cuboid, Sphere

MARK = 0.05
"""Edge of the cube that marks the end effector [m]."""


class RmpFlowVisuals:
    """Spheres of the policy and a marker at its end effector, which follow the policy's own state.

    There is no stage to draw on: the objects that ``get_..._as_prims`` return hold the poses, for the caller to draw.
    ``visualize_...`` creates them, ``stop_...`` and ``delete_...`` remove them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._spheres: list[Sphere] = []
        self._mark: Cuboid | None = None

    def get_internal_robot_joint_states(self) -> tuple[Array, Array, Array, Array]:
        """Return positions and velocities of the active joints (n,) and of the watched joints (0,)."""
        raise NotImplementedError

    def collision_spheres(self, active_joint_positions: Array) -> tuple[Array, Array]:
        """Return centres (k, 3) and radii (k,) [m] of the spheres."""
        raise NotImplementedError

    def get_end_effector_pose(self, active_joint_positions: Array) -> tuple[Array, Array]:
        """Return position (3,) [m] and rotation (3, 3) of the end effector."""
        raise NotImplementedError

    def get_collision_spheres_as_prims(self) -> list[Sphere]:
        """Return the collision spheres at the poses given by the policy's own state."""
        if not self._spheres:
            _, radii = self.collision_spheres(self.get_internal_robot_joint_states()[0])
            self._spheres = [Sphere(f"rmpflow_sphere_{k}", radius=float(r)) for k, r in enumerate(radii) if r > 0]
        self._place_visuals()
        return self._spheres

    def get_end_effector_position_as_prim(self) -> Cuboid:
        """Return a cube at the end-effector pose given by the policy's own state."""
        if self._mark is None:
            self._mark = Cuboid("rmpflow_end_effector", size=MARK)
        self._place_visuals()
        return self._mark

    def visualize_collision_spheres(self) -> None:
        """Create the spheres and keep them updated."""
        self.get_collision_spheres_as_prims()

    def visualize_end_effector_position(self) -> None:
        """Create the marker and keep it updated."""
        self.get_end_effector_position_as_prim()

    def stop_visualizing_collision_spheres(self) -> None:
        """Take the spheres away."""
        self._spheres = []

    def stop_visualizing_end_effector(self) -> None:
        """Take the mark away."""
        self._mark = None

    delete_collision_sphere_prims = stop_visualizing_collision_spheres
    delete_end_effector_prim = stop_visualizing_end_effector

    def _place_visuals(self) -> None:
        """Move the visible objects to the policy's own state."""
        if not self._spheres and self._mark is None:
            return
        q = self.get_internal_robot_joint_states()[0]
        if self._spheres:
            centers, radii = self.collision_spheres(q)
            for sphere, center in zip(self._spheres, centers[np.asarray(radii) > 0], strict=True):
                sphere.set_world_pose(center)
        if self._mark is not None:
            self._mark.set_world_pose(self.get_end_effector_pose(q)[0])
