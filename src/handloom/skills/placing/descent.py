"""How far an object can move straight down, and where above a container it gets deepest."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.measures import geom_box, local_box
from handloom.skills.arms.candidates import Chosen
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.picking.grasp_poses import UNBOUNDED
from handloom.skills.skill import Skill
from handloom.spatial import invert_pose, translation

LOWERED = (1.0, 0.75, 0.5, 0.25)
"""Fractions of the way down to contact, tried in this order."""
SWAY = 0.009
"""Release height above the bottom of a container in another hand [m]: hand and container sway a little."""
GAP = 5e-4
"""Distance that is left between the object and its support [m]."""
STEPS = 60
"""Steps of the descent; each is as long as the nearest distance, so a few are enough above flat objects."""
REACH = 0.3
"""Largest distance checked below the object [m]."""
NEARLY = 0.01
"""Tolerance below the maximum depth within which an object counts as fitting into a compartment [m]."""
BESIDE_POSES = np.zeros((4, 4, 4))
"""Shifts of a pose by half a centimetre to all four sides [m]."""
BESIDE_POSES[:, :2, 3] = [[0.005, 0.0], [-0.005, 0.0], [0.0, 0.005], [0.0, -0.005]]
SOUGHT = 0.03
"""Distance from a task's place within which a deeper one is searched [m]: half a cup of an egg box, the wall of a
mug."""
SPACING = 0.015
"""Spacing of the places that are checked there [m]."""
GRID = np.stack(np.meshgrid(*[np.arange(-SOUGHT, SOUGHT + 1e-9, SPACING)] * 2, indexing="ij"), axis=-1)
"""Shifts (m, m, 2) [m]."""
FOOT = 0.01
"""Height of the part of an object that counts as its lowest [m]."""


class Descent:
    """An object in the current scene, to be moved straight down from poses.

    Args:
        scene: The scene.
        name: The object.
    """

    def __init__(self, scene: Scene, name: str) -> None:
        self._model, state = scene.world.model, scene.world.data
        self._data = mujoco.MjData(self._model)
        self._data.qpos[:], self._data.mocap_pos[:], self._data.mocap_quat[:] = (
            state.qpos,
            state.mocap_pos,
            state.mocap_quat,
        )
        joint = self._model.body_jntadr[scene.world.body_index(scene.body_of(name))]
        self._start = int(self._model.jnt_qposadr[joint])
        mujoco.mj_kinematics(self._model, self._data)
        self._own, others = solid_geoms(scene, name)
        self._others = np.array(others, int)
        boxes = [geom_box(self._model, self._data, g) for g in others]
        self._boxes = np.array(boxes).reshape(-1, 2, 3)

    def height(self, T_world_object: Array) -> float:
        """Return how far the object at a pose (4, 4) can move straight down before it touches anything but robots [m].

        The object is repeatedly moved down by its distance from everything else, so that it never jumps through a wall.
        0 if it touches already, ``REACH`` if nothing is below.
        """
        model, data, start = self._model, self._data, self._start
        data.qpos[start : start + 3] = T_world_object[:3, 3]
        mujoco.mju_mat2Quat(data.qpos[start + 3 : start + 7], np.ascontiguousarray(T_world_object[:3, :3]).ravel())
        mujoco.mj_kinematics(model, data)
        pairs = [(a, int(b)) for a in self._own for b in self._others[self._may_meet(a)]]
        dropped = 0.0
        for _ in range(STEPS):
            # Planes have no distance function; a floor is far below everything that stands on it.
            apart = min((mujoco.mj_geomDistance(model, data, a, b, REACH, None) for a, b in pairs), default=REACH)
            if apart <= 2 * GAP or dropped >= REACH:
                break
            dropped += apart - GAP
            data.qpos[start + 2] = T_world_object[2, 3] - dropped
            mujoco.mj_kinematics(model, data)
        return min(dropped, REACH)

    def _may_meet(self, geom: int) -> NDArray[np.bool_]:
        """Return which of the others a geom that moves straight down may touch."""
        a, b = geom_box(self._model, self._data, geom), self._boxes
        beside = np.any(a[0, :2] > b[:, 1, :2] + GAP, axis=1) | np.any(b[:, 0, :2] > a[1, :2] + GAP, axis=1)
        return ~beside & (b[:, 0, 2] < a[1, 2]) & (b[:, 1, 2] > a[0, 2] - REACH)


def drop_height(scene: Scene, name: str, T_world_object: Array) -> float:
    """Return how far an object at a pose (4, 4) can move straight down before it touches anything but robots [m]."""
    return Descent(scene, name).height(T_world_object)


def deepest(scene: Scene, name: str, T_world_object: Array) -> NDArray[np.bool_]:
    """Return the poses (n, 4, 4) at which an object sinks deepest: in other orientations it lands on the walls.

    Among these, poses at which it also does so a little off its place come first: arms are not exact.
    """
    descent = Descent(scene, name)
    drops = np.array([descent.height(pose) for pose in T_world_object])
    fits = drops >= drops.max() - NEARLY
    roomy = fits.copy()
    for k in np.flatnonzero(fits):
        moved = [T_world_object[k] + beside for beside in BESIDE_POSES]
        roomy[k] = min(descent.height(pose) for pose in moved) >= drops.max() - NEARLY
    return roomy if roomy.any() else fits


def deeper_places(scene: Scene, name: str, T_world_object: Array, within: Array, hollow: Array) -> tuple[Array, Array]:
    """Return the shifts of poses (n, 4, 4) at which an object sinks deeper, and the resulting depths.

    Shifts are level (n, 2) [m]; depths (n,) [m] are below the poses. Among places of the same depth, the one with the
    most of them around it is chosen, then the nearest.

    Args:
        scene: The scene.
        name: The object.
        T_world_object: Its poses.
        within: Rectangle (2, 2) in the world [m], low and high, that keeps its origin.
        hollow: Rectangle (2, 2) that its lowest part must enter: beside a container it would sink even deeper.
    """
    descent, far = Descent(scene, name), np.linalg.norm(GRID, axis=-1)
    shifts, depths = np.zeros((len(T_world_object), 2)), np.zeros(len(T_world_object))
    feet = _feet(scene, name, T_world_object[:, :3, :3])
    for k, pose in enumerate(T_world_object):
        at = pose[:2, 3] + GRID
        enters = np.all((at + feet[k] >= hollow[0]) & (at + feet[k] <= hollow[1]), axis=-1)
        inside = np.all((at >= within[0]) & (at <= within[1]), axis=-1) & enters
        if not inside.any():
            continue
        drops = np.full(inside.shape, -1.0)
        for i, j in np.argwhere(inside):
            moved = pose.copy()
            moved[:2, 3] = at[i, j]
            drops[i, j] = descent.height(moved)
        deep = drops >= drops.max() - NEARLY
        around = np.pad(deep, 1).astype(int)
        room = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        best = np.unravel_index(np.argmax(np.where(deep, room - far, -np.inf)), deep.shape)
        shifts[k], depths[k] = GRID[best], drops[best]
    return shifts, depths


def _feet(scene: Scene, name: str, R_world_object: Array) -> Array:
    """Return the horizontal offset of an object's lowest part from its origin (n, 2) [m] for its orientations."""
    low, high = local_box(scene, name)[0]
    corners = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
    turned = np.einsum("nij,cj->nci", R_world_object, corners)
    lowest = turned[..., 2] <= turned[..., 2].min(axis=1, keepdims=True) + FOOT
    return np.einsum("nc,nci->ni", lowest / lowest.sum(axis=1, keepdims=True), turned[..., :2])


def solid_geoms(scene: Scene, name: str) -> tuple[list[int], list[int]]:
    """Return the solid geoms of an object, and those of everything else but robots and planes."""
    model = scene.world.model
    bodies = {scene.world.body_index(body) for body in scene.world.subtree(scene.body_of(name))}
    robots = tuple(f"{robot}/" for robot in scene.robots)
    own, others = [], []
    for geom in range(model.ngeom):
        if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
            continue
        body = model.geom_bodyid[geom]
        if body in bodies:
            own.append(geom)
        elif model.geom_type[geom] not in UNBOUNDED and not model.body(body).name.startswith(robots):
            others.append(geom)
    return own, others


def lowered(
    skill: Skill[PlaceConfig], place: Array, chosen: Chosen, T_tool_object: Array, retreat: Array | None
) -> tuple[Array, Chosen]:
    """Return the place (4, 4) and its paths with the object lowered as far as the hand can reach.

    Args:
        skill: The place.
        place: Pose of the hand T_base_tool (4, 4).
        chosen: Its paths.
        T_tool_object: How the object is held (4, 4).
        retreat: How the hand draws back, in its own frame (3,) [m]; None if it stays.
    """
    if chosen.paths[0] is None:
        return place, chosen
    T_base_world = invert_pose(skill.controller.arm.T_world_base)
    drop = drop_height(skill.scene, skill.config.objects[0], invert_pose(T_base_world) @ place @ T_tool_object)
    if skill.config.target_held:
        drop = max(drop - SWAY, 0.0)
    for share in LOWERED:
        goal = place.copy()
        goal[:3, 3] -= share * drop * T_base_world[:3, 2]
        paths = _landing(skill, chosen.paths[0], goal, retreat)
        if paths is not None:
            return goal, Chosen(index=chosen.index, paths=paths)
    return place, chosen


def _landing(skill: Skill[PlaceConfig], before: Array, goal: Array, retreat: Array | None) -> tuple[Array, ...] | None:
    """Return the paths to and away from a place (4, 4) that was lowered; None if the hand does not fit."""
    planner, ignore = skill.controller.planner, skill.controller.ignored
    down = planner.plan_straight(before[-1], goal, ignore=ignore)
    if not down.ok:
        return None
    if retreat is None:
        return before, down.path
    away = goal @ translation(retreat)
    left = skill.controller.obstacles_of(skill.config.objects[0])
    back = planner.plan_straight(down.path[-1], away, ignore=ignore, released=left)
    return (before, down.path, back.path) if back.ok else None
