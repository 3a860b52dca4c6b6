"""Converts a model to Handloom's conventions: one model with its gripper, collision geoms separate from visual ones."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.config.search import is_inside
from handloom.errors import ConfigError, MissingExtraError, unknown_name
from handloom.robots.proposal.arm_chains import ArmChain
from handloom.robots.proposal.urdf_files import simplified
from handloom.spatial import matrix_from_quat
from handloom.spatial.convex_pieces import convex_pieces

TIMESTEP = 1.0 / 510.0
GRIPPER_PREFIX = "gripper/"
"""Prefix of all names of a separately loaded gripper, by which its joints are recognized."""
COUPLING_SOLREF = [0.004, 1.0]
"""Stiffness of gears, which do not yield when a finger touches an object."""
COLLISION_GROUP, HIGHEST_VISIBLE_GROUP = 3, 2
OVERLAP_SAMPLES, OVERLAP_SHARE = 200, 0.95
"""Bodies that overlap in this fraction of random joint positions never collide on the real robot."""
CONCAVITY, MOST_PIECES, MOST_CORNERS = 0.08, 12, 32
MOST_CUT = 1500
"""Number of triangles of a mesh that is cut; the time grows with it."""
CONVEX_SHARE = 0.8
"""A mesh that fills this fraction of its hull stays in one piece."""


def read_model(file: Path, notes: list[str]) -> mujoco.MjSpec:
    """Read a model, fixed to the world, without gravity, keyframes and scene objects."""
    try:
        spec = mujoco.MjSpec.from_file(str(file))
    except ValueError as error:
        raise ConfigError(f"{file}: MuJoCo cannot read this model: {error}") from error
    if spec.compiler.degree and _means_radians(spec, file):
        notes.append(f"{file.name} does not declare angles in radians; its joint limits show that they are")
        spec.compiler.degree = False
    _name_files_in_full(spec)
    spec.compiler.fusestatic = False
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 50.0
    _drop_scene(spec, notes)
    for joint in list(spec.joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            notes.append("the base had a free joint; it is fixed now")
            spec.delete(joint)
    for key in list(spec.keys):
        spec.delete(key)
    for part in (*spec.bodies, *spec.joints, *spec.geoms, *spec.sites, *spec.cameras):
        part.userdata = []  # Data of other programs, for which scenes would have to reserve space.
    spec.njmax = spec.nconmax = -1
    spec.nuser_body = spec.nuser_jnt = spec.nuser_geom = spec.nuser_site = spec.nuser_cam = -1
    for coupling in spec.equalities:
        if coupling.type == mujoco.mjtEq.mjEQ_JOINT:
            coupling.solref = COUPLING_SOLREF
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0
    return spec


def _means_radians(spec: mujoco.MjSpec, file: Path) -> bool:
    """Return whether a file without an angle unit, such as an included part, is in radians."""
    if re.search(rb"\bangle\s*=", file.read_bytes()):
        return False
    hinges = [joint.range for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_HINGE]
    return bool(hinges) and 0.0 < float(np.abs(hinges).max()) <= 2.01 * np.pi


def included_by(file: Path) -> tuple[str, ...]:
    """Return the models beside a file that include it."""
    found = []
    for other in sorted(file.parent.glob("*.xml")):
        if not other.is_file() or not is_inside(other, [file.parent]):
            continue  # A link may lead anywhere.
        named = re.search(rb"<include\s+file\s*=\s*[\"']" + re.escape(file.name.encode()), other.read_bytes())
        if other != file and named:
            found.append(other.name)
    return tuple(found)


def _name_files_in_full(spec: mujoco.MjSpec) -> None:
    """Name meshes and textures by their full paths, so that models from two folders can be combined."""
    for directory, objs in ((spec.meshdir, spec.meshes), (spec.texturedir, spec.textures)):
        for obj in objs:
            if obj.file:
                obj.file = str((Path(spec.modelfiledir) / (directory or "") / obj.file).resolve())
    spec.meshdir = spec.texturedir = ""
    spec.strippath = False


def _drop_scene(spec: mujoco.MjSpec, notes: list[str]) -> None:
    """Delete bodies that are not part of the robot: free bodies, and mocap bodies that drag its hand."""
    roots = [body for body in spec.bodies if body.parent == spec.worldbody]
    free = {mujoco.mjtJoint.mjJNT_FREE}
    arms = [root for root in roots if _joint_kinds(root) - free]
    if not arms:
        return
    world = spec.worldbody
    floor = [geom for geom in world.geoms if geom.type == mujoco.mjtGeom.mjGEOM_PLANE]
    others = [root for root in roots if root not in arms]
    for root in others:
        kinds = _joint_kinds(root)
        why = "is a free object of the scene" if kinds else "stands beside the arm"
        why = "drags the hand" if root.mocap else why
        notes.append(f"{root.name or 'a body'} {why}; it was left out")
    for part in (*floor, *world.lights, *world.cameras, *others):
        spec.delete(part)  # Welds that hold it are deleted as well.
    for part in (*spec.cameras, *spec.lights):
        if part.targetbody and spec.body(part.targetbody) is None:
            spec.delete(part)
    if others and len(arms) == 1 and np.any(arms[0].pos):
        notes.append(f"{arms[0].name} stood at {np.round(arms[0].pos, 3).tolist()} m in its scene; now at the origin")
        arms[0].pos = [0.0, 0.0, 0.0]


def _joint_kinds(root: mujoco.MjsBody) -> set[mujoco.mjtJoint]:
    return {joint.type for body in (root, *root.find_all("body")) for joint in body.joints}


def attach_gripper(spec: mujoco.MjSpec, gripper: mujoco.MjSpec, at: str | None, notes: list[str]) -> None:
    """Attach a separately loaded gripper to a body of an arm; by default, to the only end body.

    Raises:
        NotFoundError: There is no such body.
        ConfigError: No body was given, and there are several candidates.
    """
    ends = [body.name for body in spec.bodies[1:] if body.name and not body.bodies]
    if at is None:
        if len(ends) != 1:
            raise ConfigError(
                f"choose the body that carries the gripper with --at; the end bodies are {', '.join(ends)}"
            )
        at = ends[0]
        notes.append(f"the gripper was put on {at}, the only end body")
    bodies = {body.name: body for body in spec.bodies[1:]}
    if at not in bodies:
        raise unknown_name("body", str(at), sorted(bodies))
    spec.attach(gripper, prefix=GRIPPER_PREFIX, frame=bodies[at].add_frame())


def separate_collision(spec: mujoco.MjSpec, arms: Iterable[ArmChain], notes: list[str]) -> None:
    """Hide collision geoms, enable their contacts, and add missing ones.

    Models separate collision from visual geoms by various group conventions; here, contact bits decide.
    """
    needed = {name for arm in arms for name in (arm.hand_body, *_jointed(spec, (*arm.joints, *arm.gripper_joints)))}
    for body in spec.bodies[1:]:
        solid = [geom for geom in body.geoms if geom.contype or geom.conaffinity]
        seen = [geom for geom in body.geoms if geom not in solid and geom.group <= HIGHEST_VISIBLE_GROUP]
        if not solid and seen and body.name in needed:
            notes.append(f"{body.name} had no collision geom; its visual geoms collide")
            for geom in seen:
                geom.contype = geom.conaffinity = 1
        for geom in solid:
            if not (geom.contype & 1 or geom.conaffinity & 1):
                geom.conaffinity |= 1
            if seen:
                geom.group = COLLISION_GROUP
            elif geom.group > HIGHEST_VISIBLE_GROUP:
                geom.group = 0


def _jointed(spec: mujoco.MjSpec, joints: Iterable[str]) -> set[str]:
    return {spec.joint(name).parent.name for name in joints}


def exclude_permanent_overlaps(spec: mujoco.MjSpec, model: mujoco.MjModel, notes: list[str]) -> None:
    """Exclude contacts between bodies that overlap in every configuration, as hulls of neighbours often do."""
    data, rng, count = mujoco.MjData(model), np.random.default_rng(0), Counter[tuple[int, int]]()
    lower, upper = np.where(model.jnt_limited[:, None], model.jnt_range, (-np.pi, np.pi)).T
    for _ in range(OVERLAP_SAMPLES):
        data.qpos[model.jnt_qposadr] = rng.uniform(lower, upper)
        mujoco.mj_fwdPosition(model, data)
        touching = {tuple(sorted(model.geom_bodyid[list(c.geom)].tolist())) for c in data.contact if c.dist < 0}
        count.update(touching)
    pairs = sorted(pair for pair, times in count.items() if times >= OVERLAP_SHARE * OVERLAP_SAMPLES)
    for first, second in pairs:
        names = model.body(first).name, model.body(second).name
        spec.add_exclude(bodyname1=names[0], bodyname2=names[1])
    if pairs:
        listed = ", ".join(f"{model.body(a).name} and {model.body(b).name}" for a, b in pairs)
        notes.append(f"these overlap in every pose, so their contacts are off: {listed}")


def cut_jaws(spec: mujoco.MjSpec, model: mujoco.MjModel, arm: ArmChain, notes: list[str]) -> bool:
    """Cut the meshes of a hand and its fingers into convex pieces; return whether any was cut.

    MuJoCo collides with convex hulls: the hull of a bent jaw fills the space where the other one closes.
    """
    hand = model.body(arm.hand_body).id
    cut = False
    for g in range(model.ngeom):
        body = int(model.geom_bodyid[g])
        solid = model.geom_contype[g] or model.geom_conaffinity[g]
        if not solid or model.geom_type[g] != mujoco.mjtGeom.mjGEOM_MESH or hand not in _path(model, body):
            continue
        mesh = int(model.geom_dataid[g])
        vertices, faces = _surface(model, mesh)
        if _volume(vertices, faces) > CONVEX_SHARE * _hull_volume(model, mesh):
            continue
        geom = spec.body(model.body(body).name).geoms[g - int(model.body_geomadr[body])]
        name = geom.meshname
        try:
            surface = simplified(vertices, faces, MOST_CUT)
            limits = {"concavity": CONCAVITY, "most": MOST_PIECES, "most_vertices": MOST_CORNERS}
            pieces = convex_pieces(*surface, **limits)
        except MissingExtraError as error:
            notes.append(f"the mesh {name} is not convex and was not cut into convex pieces: {error}")
            continue
        _replace_by_pieces(spec, geom, pieces)
        notes.append(f"the mesh {name} is not convex; {len(pieces)} convex pieces collide instead")
        cut = True
    return cut


def _replace_by_pieces(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, pieces: list[Array]) -> None:
    body = geom.parent
    known = {mesh.name for mesh in spec.meshes}
    for corners in pieces:
        name = next(
            f"{geom.meshname}_piece{k}" for k in range(len(known) + 1) if f"{geom.meshname}_piece{k}" not in known
        )
        known.add(name)
        spec.add_mesh(name=name, uservert=corners.ravel().tolist())
        piece = body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, pos=geom.pos, quat=geom.quat, mass=0.0)
        piece.contype, piece.conaffinity, piece.group = geom.contype, geom.conaffinity, COLLISION_GROUP
        piece.friction, piece.solref, piece.solimp = geom.friction, geom.solref, geom.solimp
    if geom.group == COLLISION_GROUP:
        spec.delete(geom)
    else:
        geom.contype = geom.conaffinity = 0


def _surface(model: mujoco.MjModel, mesh: int) -> tuple[Array, NDArray[np.integer]]:
    """Return vertices (n, 3) [m] and triangles (m, 3) of a mesh in the frame of its file."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    R = matrix_from_quat(model.mesh_quat[mesh])
    return model.mesh_vert[first : first + count] @ R.T + model.mesh_pos[mesh], model.mesh_face[face : face + faces]


def _volume(vertices: Array, faces: NDArray[np.integer]) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return abs(float(np.sum(np.cross(a, b) * c) / 6.0))


def _hull_volume(model: mujoco.MjModel, mesh: int) -> float:
    """Return the volume of a mesh's hull [m^3], which MuJoCo stores as a graph; 0 without a hull."""
    start = int(model.mesh_graphadr[mesh])
    if start < 0:
        return 0.0
    corners, faces = (int(n) for n in model.mesh_graph[start : start + 2])
    first = start + 2 + 3 * corners + 3 * faces
    triangles = model.mesh_graph[first : first + 3 * faces].reshape(-1, 3)
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    a, b, c = (vertices[triangles[:, i]] - vertices[triangles].mean(axis=(0, 1)) for i in range(3))
    return float(np.sum(np.abs(np.sum(np.cross(a, b) * c, axis=1))) / 6.0)


def _path(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body and its ancestors."""
    path = [body]
    while path[-1] > 0:
        path.append(int(model.body_parentid[path[-1]]))
    return path
