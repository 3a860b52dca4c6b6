"""Collision checks between two arms that move at the same time."""

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.arm_controller import ArmController

MARGIN = 0.01
"""Distance that moving arms keep from each other [m]; drives follow their targets within a few millimetres."""
LOOK = 0.05
"""Distances are measured up to this [m]."""
STRIDE = 3
"""Frames between two collision checks: 0.1 s, during which no arm moves more than a few centimetres."""


class Traffic:
    """Looks ahead along the paths that arms are about to play.

    Every arm plans around the current positions of the others. This checks whether they stay clear of each other while
    all of them move.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._model = scene.world.model
        self._data = mujoco.MjData(self._model)
        self._geoms: dict[tuple[str, str], list[int]] = {}

    def blocked(self, mover: ArmController, path: Array, others: Sequence[ArmController], *, margin: float) -> bool:
        """Return whether an arm that starts on a path (frames, n) now comes too near to another arm.

        Args:
            mover: The arm.
            path: Its joint targets, frame by frame [rad].
            others: The other arms; each finishes its current path, then stays.
            margin: Distance to keep [m].
        """
        ways = [(mover, path), *((other, other.upcoming) for other in others)]
        self._data.qpos[:] = self._scene.world.data.qpos
        groups = [_Group(self._scene, arm, self._solids(arm), mover.ignored) for arm, _ in ways]
        for frame in range(0, max(len(way) for _, way in ways) + STRIDE - 1, STRIDE):
            for arm, way in ways:
                self._data.qpos[arm.arm.qpos_index] = way[min(frame, len(way) - 1)]
            mujoco.mj_kinematics(self._model, self._data)
            for group in groups:
                group.place(self._data)
            if any(self._near(groups[0].geoms, group.geoms, margin) for group in groups[1:]):
                return True
        return False

    def _near(self, first: NDArray[np.intp], second: NDArray[np.intp], margin: float) -> bool:
        """Return whether any solid of one group is nearer than the margin to one of the other."""
        centre, radius = self._data.geom_xpos, self._model.geom_rbound
        gap = np.linalg.norm(centre[first, None] - centre[None, second], axis=2)
        close = np.argwhere(gap - radius[first, None] - radius[None, second] < margin)
        return any(
            mujoco.mj_geomDistance(self._model, self._data, int(first[i]), int(second[j]), LOOK, None) < margin
            for i, j in close
        )

    def _solids(self, controller: ArmController) -> list[int]:
        """Return the solid geoms that the joints of an arm move."""
        arm = controller.arm
        key = (arm.robot_name, arm.name)
        if key not in self._geoms:
            self._geoms[key] = solid_geoms_of(self._scene, moving_bodies(self._scene, arm))
        return self._geoms[key]


class _Group:
    """The solids that move with one arm, including what it holds."""

    def __init__(self, scene: Scene, controller: ArmController, solids: list[int], ignored: Sequence[str]) -> None:
        world = scene.world
        # The target of the moving arm, such as an object that the other hand offers, may come near.
        names = [name for name in controller.held if not any(text.startswith(f"{name}/") for text in ignored)]
        held = [g for name in names for g in solid_geoms_of(scene, world.subtree(scene.body_of(name)))]
        self.geoms = np.array([*solids, *held], dtype=np.intp)
        self._held, self._hand = np.array(held, dtype=np.intp), world.body_index(controller.arm.tool_body)
        data = world.data
        R, p = data.xmat[self._hand].reshape(3, 3), data.xpos[self._hand]
        self._position = (data.geom_xpos[self._held] - p) @ R
        self._rotation = R.T @ data.geom_xmat[self._held].reshape(-1, 3, 3)

    def place(self, data: mujoco.MjData) -> None:
        """Move held objects along with the tool; forward kinematics alone would leave them behind."""
        R, p = data.xmat[self._hand].reshape(3, 3), data.xpos[self._hand]
        data.geom_xpos[self._held] = self._position @ R.T + p
        data.geom_xmat[self._held] = (R @ self._rotation).reshape(-1, 9)


def moving_bodies(scene: Scene, arm: SceneArm) -> tuple[str, ...]:
    """Return the bodies moved by the joints of an arm, including the hand and its fingers."""
    world = scene.world
    first = world.model.jnt_bodyid[world.joint_index(arm.joint_names[0])]
    return world.subtree(world.model.body(first).name)


def solid_geoms_of(scene: Scene, bodies: Sequence[str]) -> list[int]:
    """Return the geoms of some bodies that collide."""
    model = scene.world.model
    wanted = {scene.world.body_index(body) for body in bodies}
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return [g for g in range(model.ngeom) if solid[g] and int(model.geom_bodyid[g]) in wanted]
