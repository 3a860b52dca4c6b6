"""Conversion of any MuJoCo model to an object: one root body, no free joint, no parts of a scene."""

import itertools
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from handloom.errors import InputError
from handloom.objects.blueprint import ROOT
from handloom.objects.importers.import_options import ReportDraft, count

SIZES = (
    *("njmax", "nconmax"),
    *(f"nuser_{kind}" for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")),
)
"""Array sizes that belong to a scene."""
_COVERS = 0.8
"""A visible solid replaces a colliding one around it if it has at least this fraction of its length."""
_PLANES = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)


def normal_form(spec: mujoco.MjSpec, draft: ReportDraft, *, scale: float = 1.0) -> mujoco.MjSpec:
    """Return the model as an object; changes are recorded in the draft of the report.

    Args:
        spec: A loaded model; it is consumed.
        draft: Collects the report.
        scale: Factor on all lengths; masses follow with the third power.
    """
    _drop_scene(spec, draft)
    _drop_settings(spec, draft)
    _weigh_all_groups(spec)
    _drop_free_joints(spec, draft)
    spec = _one_root(spec, draft)
    if scale != 1.0:
        _scale(spec, scale)
        draft.converted.append(f"lengths scaled by {scale:g}, masses by {scale**3:g}")
    _sort_geoms(spec, draft)
    _name_joints(spec, draft)
    for body in spec.bodies:
        parent = body.parent
        if body.joints and parent is not None and parent.name not in {"", "world"}:
            spec.add_exclude(bodyname1=parent.name, bodyname2=body.name)
    return spec


def _drop_scene(spec: mujoco.MjSpec, draft: ReportDraft) -> None:
    planes = [g for g in spec.geoms if g.type in _PLANES]
    shown = {name for material in spec.materials for name in material.textures if name}
    skies = [t for t in spec.textures if t.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX and t.name not in shown]
    groups = {
        "floor": planes,
        "sky": skies,
        "light": list(spec.lights),
        "camera": list(spec.cameras),
        "keyframe": list(spec.keys),
        "sensor": list(spec.sensors),
        "actuator": list(spec.actuators),
        "existing contact exclusion": list(spec.excludes),
    }
    for noun, elements in groups.items():
        for element in elements:
            spec.delete(element)
        if elements and noun != "existing contact exclusion":
            draft.dropped.append(f"{count(len(elements), noun)}: part of a scene or a robot, not of an object")


def _drop_settings(spec: mujoco.MjSpec, draft: ReportDraft) -> None:
    """Remove simulation settings: they belong to the scene that will contain the object."""
    fresh = mujoco.MjSpec()
    owners = [(spec.option, fresh.option, name) for name in dir(fresh.option) if not name.startswith("_")]
    owners += [(spec, fresh, name) for name in SIZES]
    changed = 0
    for owner, default, name in owners:
        if not np.array_equal(getattr(owner, name), getattr(default, name)):
            setattr(owner, name, getattr(default, name))
            changed += 1
    for element in (*spec.bodies, *spec.geoms, *spec.joints, *spec.sites):
        element.userdata = []  # Their lengths would depend on the size of the scene.
    if changed:
        draft.dropped.append(f"{count(changed, 'setting')} of the simulation: they are the scene's")


def _weigh_all_groups(spec: mujoco.MjSpec) -> None:
    """Make geoms outside ``inertiagrouprange`` massless, since the groups are about to be reassigned."""
    low, high = (int(group) for group in spec.compiler.inertiagrouprange)
    for geom in spec.geoms:
        if not low <= geom.group <= high:
            geom.mass = 0.0
    spec.compiler.inertiagrouprange = [0, mujoco.mjNGROUP - 1]


def _drop_free_joints(spec: mujoco.MjSpec, draft: ReportDraft) -> None:
    free = [j for j in spec.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    for joint in free:
        spec.delete(joint)
    if free:
        draft.converted.append("free joint removed: the scene adds one if the object may move")


def _one_root(spec: mujoco.MjSpec, draft: ReportDraft) -> mujoco.MjSpec:
    """Make the only root body the object; several bodies, or loose geoms, are put under a new one."""
    roots = list(spec.worldbody.bodies)
    if not roots and not list(spec.worldbody.geoms):
        raise InputError("the model has no body and no geom, so there is no object in it")
    if len(roots) == 1 and not list(spec.worldbody.geoms) and not roots[0].joints:
        root = roots[0]
        if np.any(root.pos) or not np.allclose(root.quat, [1.0, 0.0, 0.0, 0.0]):
            draft.converted.append(
                f"the frame of body {root.name!r} becomes the object frame; its placement is dropped"
            )
        root.pos, root.quat = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        _rename(spec, spec.bodies, root, ROOT)
        return spec
    wrapped = mujoco.MjSpec()
    wrapped.modelname = spec.modelname
    frame = wrapped.worldbody.add_body(name=ROOT).add_frame()
    wrapped.attach(spec, prefix="part/", frame=frame)
    draft.converted.append(
        f"{count(len(roots), 'root body').replace('bodys', 'bodies')} and loose geoms put under one root"
    )
    return wrapped


def _scale(spec: mujoco.MjSpec, scale: float) -> None:
    for element in (*spec.bodies, *spec.geoms, *spec.joints, *spec.sites, *spec.frames):
        element.pos = np.asarray(element.pos) * scale
    for element in (*spec.geoms, *spec.sites):
        element.size = np.asarray(element.size) * scale
    for geom in spec.geoms:
        geom.fromto = np.asarray(geom.fromto) * scale
        if np.isfinite(geom.mass):
            geom.mass *= scale**3
    for mesh in spec.meshes:
        mesh.scale = np.asarray(mesh.scale) * scale
    for body in spec.bodies:
        body.ipos = np.asarray(body.ipos) * scale
        body.mass *= scale**3
        body.inertia = np.asarray(body.inertia) * scale**5
        body.fullinertia = np.asarray(body.fullinertia) * scale**5
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_SLIDE:
            joint.range = np.asarray(joint.range) * scale


def _sort_geoms(spec: mujoco.MjSpec, draft: ReportDraft) -> None:
    """Visible geoms go to group 2; a collision geom is visible only if its body has no visual geom."""
    hidden = 0
    for body in spec.bodies:
        geoms = list(body.geoms)
        looks = [g for g in geoms if not (g.contype or g.conaffinity)]
        shown = [not looks or g in looks or _is_shown_beside(g, looks) for g in geoms]
        for geom, seen in zip(geoms, shown, strict=True):
            geom.group = 2 if seen else 3
            hidden += not seen
    solid = sum(bool(g.contype or g.conaffinity) for g in spec.geoms)
    draft.kept.append(f"{count(len(list(spec.geoms)), 'geom')}, {solid} of them solid, {hidden} of those not drawn")
    meshes = [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_MESH]
    if meshes:
        draft.kept.append(f"triangles of {count(len(meshes), 'mesh')}, as they are drawn")
    hulls = sum(bool(g.contype or g.conaffinity) for g in meshes)
    if hulls:
        draft.converted.append(f"{count(hulls, 'mesh')} replaced by the convex hull, in collisions")


def _is_shown_beside(geom: mujoco.MjsGeom, looks: Sequence[mujoco.MjsGeom]) -> bool:
    """Return whether a colliding geom is also visible: in the group of visual geoms, with none replacing it.

    A table top and its legs may share a group although the legs do not collide.
    """
    alike = [look for look in looks if look.group == geom.group]
    if not alike or mujoco.mjtGeom.mjGEOM_MESH in {geom.type, *(look.type for look in looks)}:
        return False
    centre, longest = _extent(geom)
    for other, length in map(_extent, alike):
        if length >= _COVERS * longest and np.linalg.norm(other - centre) < longest / 2.0:
            return False
    return True


def _extent(geom: mujoco.MjsGeom) -> tuple[np.ndarray, float]:
    """Return approximate centre (3,) and longest side of a simple solid [m]."""
    if np.all(np.isfinite(geom.fromto)):
        ends = np.asarray(geom.fromto).reshape(2, 3)
        return ends.mean(axis=0), float(np.linalg.norm(ends[1] - ends[0]))
    return np.asarray(geom.pos), 2.0 * float(np.nanmax(geom.size))


def _name_joints(spec: mujoco.MjSpec, draft: ReportDraft) -> None:
    """Name the joint of a body with one degree of freedom ``<body>_joint``, as in the library."""
    for index, body in enumerate(spec.bodies):
        if not body.joints or body.name == "world":
            continue
        if not body.name:
            body.name = f"link_{index}"
        joints = list(body.joints)
        if len(joints) == 1 and joints[0].name != f"{body.name}_joint":
            draft.converted.append(f"joint {joints[0].name or 'without a name'!r} renamed '{body.name}_joint'")
            _rename(spec, spec.joints, joints[0], f"{body.name}_joint")


def _rename(spec: mujoco.MjSpec, siblings: Sequence[Any], element: Any, name: str) -> None:
    """Rename a body or a joint: an element that already has the name gets a number, and equalities are kept."""
    names = {other.name for other in siblings}
    if name in names and element.name != name:
        number = next(n for n in itertools.count(2) if f"{name}_{n}" not in names)
        _rename(spec, siblings, next(other for other in siblings if other.name == name), f"{name}_{number}")
    old, element.name = element.name, name
    of_joints = isinstance(element, mujoco.MjsJoint)
    for tie in spec.equalities:
        if (tie.type == mujoco.mjtEq.mjEQ_JOINT) == of_joints and tie.objtype != mujoco.mjtObj.mjOBJ_SITE:
            tie.name1, tie.name2 = (name if old and end == old else end for end in (tie.name1, tie.name2))
