"""Measures of a scene that success terms use: boxes around objects, rest, stacking."""

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import StateError, unknown_name
from handloom.scene.scene import Scene

Geom = mujoco.mjtGeom
UNIT_CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
GRID = 9
"""Sample points per side of a box, to estimate how much of it is inside another."""
ROCKS = 0.5
"""Observation time of rocking objects [s]."""


BASE = "base"
"""Name of the fixed part of an object with joints in published files."""


def world_box(scene: Scene, name: str, part: str | None = None) -> Array:
    """Return the exact current box of an object, or of one of its bodies.

    Args:
        scene: The scene.
        name: Object or fixture.
        part: Body of the object, with or without the object's name in front; the last part of a longer path is used.
            ``base`` is the fixed part of an object with joints.
    """
    model = scene.world.model
    geoms = _geoms_of(scene, part_bodies(scene, name, part))
    solid = geoms[(model.geom_contype[geoms] != 0) | (model.geom_conaffinity[geoms] != 0)]
    boxes = geom_boxes(model, scene.world.data, solid if solid.size else geoms)
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


def _geoms_of(scene: Scene, bodies: Sequence[str]) -> NDArray[np.intp]:
    """Return the indices of the geoms of bodies."""
    model, indices = scene.world.model, [scene.world.body_index(body) for body in bodies]
    return np.concatenate([np.arange(model.body_geomnum[b]) + model.body_geomadr[b] for b in indices])


def part_bodies(scene: Scene, name: str, part: str | None = None) -> Sequence[str]:
    """Return the bodies of an object, or of one of its parts, named as in ``world_box``."""
    bodies = scene.world.subtree(scene.body_of(name))
    if part and part.rstrip("/").rpartition("/")[2] == BASE and f"{name}/{BASE}" not in bodies:
        bodies = [scene.body_of(name)]  # An open door would enlarge its box.
    elif part:
        wanted = f"{name}/{part.rstrip('/').rpartition('/')[2]}"
        if wanted not in bodies:
            wanted = _part_of_stand_in(scene, name, part)
        if wanted not in bodies:
            raise unknown_name(f"part of {name}", wanted, bodies)
        bodies = scene.world.subtree(wanted)
    return bodies


def _part_of_stand_in(scene: Scene, name: str, part: str) -> str:
    """Return the body of a substitute asset that corresponds to a part of the missing file, else the whole."""
    asset = scene.assets.get(name)
    if asset is None or not asset.stands_in:
        return f"{name}/{part}"
    moves = asset.articulated and "link" in part
    return f"{name}/{asset.joints[0].name}" if moves else scene.body_of(name)


def local_box(scene: Scene, name: str, part: str | None = None) -> tuple[Array, Array]:
    """Return the box (2, 3) [m] around the solid geoms of an object or of one of its bodies, and its frame (4, 4).

    The axes are the body's own, so that a rotated object has no larger box.
    """
    world, root = scene.world, scene.body_of(name)
    body = f"{name}/{part.rstrip('/').rpartition('/')[2]}" if part else root
    T = world.body_pose(body)
    model, indices = world.model, [world.body_index(b) for b in world.subtree(body)]
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] in indices]
    solid = [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]] or geoms
    corners = []
    for g in solid:
        points = geom_points(model, g)
        points = points @ world.data.geom_xmat[g].reshape(3, 3).T + world.data.geom_xpos[g]
        corners.append((points - T[:3, 3]) @ T[:3, :3])
    points = np.concatenate(corners)
    return np.stack([points.min(axis=0), points.max(axis=0)]), T


def geom_points(model: mujoco.MjModel, geom: int) -> Array:
    """Return points (n, 3) that bound a geom, in its frame: the vertices of a mesh, else the corners of its box."""
    if int(model.geom_type[geom]) in (Geom.mjGEOM_MESH, Geom.mjGEOM_SDF):
        return _vertices(model, geom)
    return model.geom_aabb[geom, :3] + model.geom_aabb[geom, 3:] * UNIT_CUBE


def share_inside(scene: Scene, name: str, target: str, part: str | None = None) -> float:
    """Return the fraction of an object's own bounding box, 0 to 1, that lies inside the bounding box of a target."""
    box, T = local_box(scene, name)
    room, T_target = local_box(scene, target, part)
    ticks = (np.arange(GRID) + 0.5) / GRID
    grid = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    points = (box[0] + grid * (box[1] - box[0])) @ T[:3, :3].T + T[:3, 3]
    points = (points - T_target[:3, 3]) @ T_target[:3, :3]
    return float(np.mean(np.all((points > room[0]) & (points < room[1]), axis=1)))


def surface_height(scene: Scene, name: str, points: Array) -> float:
    """Return the maximum height [m] of an object's solids at points (n, 2); -inf if no point is over it."""
    world = scene.world
    bodies = [world.body_index(body) for body in world.subtree(scene.body_of(name))]
    solid = (world.model.geom_contype > 0) | (world.model.geom_conaffinity > 0)
    mine = solid & np.isin(world.model.geom_bodyid, bodies)
    top, down = world_box(scene, name)[1, 2] + 0.1, np.array([0.0, 0.0, -1.0])
    highest, geom = -np.inf, np.zeros(1, np.int32)
    for x, y in points:
        z = top
        # Rays pass through other objects, such as one held above the target.
        while (drop := mujoco.mj_ray(world.model, world.data, np.array([x, y, z]), down, None, 1, -1, geom)) >= 0.0:
            z -= drop
            if mine[geom[0]]:
                highest = max(highest, z)
                break
            z -= 1e-6
    return float(highest)


def room_above(scene: Scene, name: str) -> float:
    """Return the free height [m] above an object under a roof that covers all of it; inf if nothing fixed does."""
    world, box = scene.world, world_box(scene, name)
    loose = {obj.name for obj in scene.instance.objects if not obj.fixed}
    owner = [world.model.body(body).name.partition("/")[0] for body in world.model.geom_bodyid]
    solid = (world.model.geom_contype > 0) | (world.model.geom_conaffinity > 0)
    roofs = solid & np.array([obj not in loose and obj not in scene.robots for obj in owner])
    up, geom, rooms = np.array([0.0, 0.0, 1.0]), np.zeros(1, np.int32), list[float]()
    for x, y in [box.mean(axis=0)[:2], *((box[i, 0], box[j, 1]) for i in range(2) for j in range(2))]:
        z = top = float(box[1, 2])
        while (rise := mujoco.mj_ray(world.model, world.data, np.array([x, y, z]), up, None, 1, -1, geom)) >= 0.0:
            z += rise
            if roofs[geom[0]]:
                break
            z += 1e-6
        rooms.append(z - top if rise >= 0.0 else np.inf)
    return max(rooms)


def geom_box(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    """Return the world box (2, 3) [m] of one geom: its support in the six axis directions."""
    return geom_boxes(model, data, np.array([geom]))[0]


def geom_boxes(model: mujoco.MjModel, data: mujoco.MjData, geoms: NDArray[np.intp]) -> Array:
    """Return the world boxes (n, 2, 3) [m] of geoms (n): their supports in the six axis directions."""
    bodies, kinds, size = model.geom_bodyid[geoms], model.geom_type[geoms], model.geom_size[geoms]
    R_world_body, R_body_geom = data.xmat[bodies].reshape(-1, 3, 3), np.empty((len(geoms), 9))
    for quaternion, R in zip(model.geom_quat[geoms], R_body_geom, strict=True):
        mujoco.mju_quat2Mat(R, quaternion)
    R = R_world_body @ R_body_geom.reshape(-1, 3, 3)
    centre = data.xpos[bodies] + _turned(R_world_body, model.geom_pos[geoms])
    boxes = np.empty((len(geoms), 2, 3))
    for kind in dict.fromkeys(kinds.tolist()):
        these = np.flatnonzero(kinds == kind)
        if kind in (Geom.mjGEOM_MESH, Geom.mjGEOM_SDF):
            for i in these:
                points = _vertices(model, int(geoms[i])) @ R[i].T + centre[i]
                boxes[i] = points.min(axis=0), points.max(axis=0)
            continue
        middle, reach = centre[these], _reach(kind, R[these], size[these])
        if reach is None:
            # Planes and height fields use the bounds stored by MuJoCo.
            aabb = model.geom_aabb[geoms[these]]
            middle, reach = middle + _turned(R[these], aabb[:, :3]), _turned(np.abs(R[these]), aabb[:, 3:])
        boxes[these, 0], boxes[these, 1] = middle - reach, middle + reach
    return boxes


def _reach(kind: int, R: Array, size: Array) -> Array | None:
    """Return the half extents of primitives of one kind along the axes of the world (n, 3) [m]."""
    axis = np.abs(R[:, :, 2])
    if kind == Geom.mjGEOM_BOX:
        return _turned(np.abs(R), size)
    if kind == Geom.mjGEOM_SPHERE:
        return np.repeat(size[:, :1], 3, axis=1)
    if kind == Geom.mjGEOM_CAPSULE:
        return size[:, :1] + size[:, 1:2] * axis
    if kind == Geom.mjGEOM_CYLINDER:
        return size[:, :1] * np.sqrt(np.maximum(0.0, 1.0 - axis**2)) + size[:, 1:2] * axis
    if kind == Geom.mjGEOM_ELLIPSOID:
        return np.sqrt(_turned((R * size[:, None]) ** 2, np.ones_like(size)))
    return None


def _turned(R: Array, vectors: Array) -> Array:
    """Return R (n, 3, 3) times vectors (n, 3), row by row."""
    return np.matmul(R, vectors[:, :, None])[:, :, 0]


def _vertices(model: mujoco.MjModel, geom: int) -> Array:
    """Return the vertices (n, 3) [m] of a mesh geom, in its frame."""
    mesh = int(model.geom_dataid[geom])
    first = model.mesh_vertadr[mesh]
    return model.mesh_vert[first : first + model.mesh_vertnum[mesh]].astype(float)


def box_overlap(a: Array, b: Array) -> float:
    """Return the intersection over union of two boxes, 0 to 1; 0 for boxes that only touch."""
    sides = np.maximum(0.0, np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]))
    common = float(np.prod(sides))
    union = float(np.prod(a[1] - a[0]) + np.prod(b[1] - b[0])) - common
    return common / union if union > 0.0 else 0.0


def stacked(
    scene: Scene, *, lower: str, upper: str, gap: float, xy_tolerance: float = 0.04, z_tolerance: float = 0.005
) -> bool:
    """Return whether one object stands on another: its centre above the other's, at the right height.

    The published test has only an upper limit for the height, so an object pressed into the lower one passes.

    Args:
        scene: The scene.
        lower: Object below.
        upper: Object above.
        gap: Height of the upper centre over the lower one [m].
        xy_tolerance: Largest horizontal distance of the centres [m].
        z_tolerance: Largest deviation from ``gap`` [m], up or down.
    """
    offset = scene.object_pose(upper)[:3, 3] - scene.object_pose(lower)[:3, 3]
    return bool(np.hypot(offset[0], offset[1]) < xy_tolerance and abs(offset[2] - gap) < z_tolerance)


def gripper_open(scene: Scene, *, robot: str, arm: str, tolerance: float = 0.05) -> bool:
    """Return whether every drive joint of a gripper is near its open position.

    The published tolerance is 1e-4, which a driven joint under load does not reach.

    Args:
        scene: The scene.
        robot: Name of the robot.
        arm: ``left`` or ``right``.
        tolerance: Largest distance from open [m or rad].
    """
    side = scene.robot(robot).arm(arm)
    measured = scene.world.data.qpos[side.gripper_qpos_index]
    return bool(np.all(np.abs(measured - side.spec.gripper_open) < tolerance))


def lying_still(scene: Scene, *, objects: Sequence[str], speed: float = 0.05, rocking: float = 0.0) -> bool:
    """Return whether every object's centre moves slower than ``speed`` [m/s], or only rocks in place.

    The contact model has no rolling friction, so a cup leaning in a bowl rocks forever.

    Args:
        scene: The scene; its state is preserved.
        objects: The objects.
        speed: The speed [m/s].
        rocking: Largest distance [m] that faster ones may move in the next half second; 0 allows none.
    """
    fast = [name for name in objects if not _slower(scene, name, speed)]
    return not fast or (rocking > 0.0 and _rock(scene, fast, rocking))


def _slower(scene: Scene, name: str, speed: float) -> bool:
    return float(np.linalg.norm(scene.world.body_velocity(scene.body_of(name))[:3])) < speed


def _rock(scene: Scene, names: Sequence[str], distance: float) -> bool:
    """Return whether objects stay within a distance [m] of their positions for half a second; the state is restored."""
    world, state = scene.world, scene.world.save_state()
    before = {name: scene.object_pose(name)[:3, 3].copy() for name in names}
    try:
        for _ in range(math.ceil(ROCKS * scene.instance.fps)):
            world.step(scene.instance.substeps)
            far = [float(np.linalg.norm(scene.object_pose(name)[:3, 3] - at)) for name, at in before.items()]
            if max(far) > distance:
                return False
    except StateError:
        return False
    finally:
        world.restore_state(state)
    return True
