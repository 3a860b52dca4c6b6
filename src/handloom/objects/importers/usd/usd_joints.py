"""Joints of USD files: those of the physics schema, and those of annotations beside the file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import FileError, require, suggest
from handloom.objects.geometry import posed
from handloom.objects.importers.import_options import ImportOptions, ReportDraft
from handloom.objects.importers.usd.usd_meshes import UsdSurfaces
from handloom.objects.parts import Link, Point, point
from handloom.safe_paths import below
from handloom.spatial import matrix_from_quat, rotvec_from_matrix

FASTEST = 100.0
"""Highest frequency of a spring with its load [rad/s]: a fifth of a radian in a physics step of 2 ms."""
_NO_WAY = 1e-9
"""A joint whose limits are this close is fixed [rad or m]."""
_ALONG = 0.7
"""Two axes with at least this cosine count as the same, up to sign."""
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True, eq=False)
class UsdJoint:
    """A revolute or prismatic joint in the object frame, at the pose in the file."""

    parent: str
    """Path of the body that carries it."""
    child: str
    """Path of the body it moves."""
    hinge: bool
    """Revolute; else prismatic."""
    position: Array
    """Point of the axis (3,) [m]."""
    axis: Array
    """Unit vector (3,)."""
    range: tuple[float, float]
    """Limits relative to the pose in the file [rad or m]."""
    R_object_joint: Array
    """Orientation (3, 3) of the joint's frame on the body that carries it."""
    feel: "UsdFeel"
    """Resistance of the joint to motion."""


@dataclass(frozen=True, kw_only=True)
class UsdFeel:
    """Friction and drive of a joint, in metres, kilograms and radians."""

    stiffness: float = 0.0
    """Stiffness of the drive [N/m or N m/rad], or per unit of inertia [1/s^2]."""
    damping: float | None = None
    """Damping of the drive and of viscous friction [N s/m or N m s/rad], or per unit of inertia [1/s]; None: not
    given."""
    per_inertia: bool = False
    """Whether the drive's type is ``acceleration``."""
    target: float = 0.0
    """Target of the drive, relative to the pose in the file [rad or m]."""
    max_force: float = np.inf
    """Largest force of the drive [N or N m]."""
    friction: float | None = None
    """Dry friction [N or N m]; None: not given."""
    coefficient: float | None = None
    """Dry friction per force that the joint carries, see ``felt``; None: not given."""


def read_joints(
    stage: Any, surfaces: UsdSurfaces, metres: float, unit: float, draft: ReportDraft
) -> tuple[list[UsdJoint], dict[str, str]]:
    """Return the joints, and for every body the one it is welded to (itself if to none).

    Args:
        stage: The stage.
        surfaces: Reader that locates its prims.
        metres: Metres per unit of length, with the requested scale.
        unit: Metres per unit of length, without.
        draft: Collects the report.
    """
    physics = require("pxr.UsdPhysics", extra="usd")
    joints: list[UsdJoint] = []
    welded: dict[str, str] = {}
    for prim in stage.Traverse():
        if not prim.IsA(physics.Joint):
            continue
        ends = [_target(physics.Joint(prim).GetBody0Rel()), _target(physics.Joint(prim).GetBody1Rel())]
        if physics.Joint(prim).GetJointEnabledAttr().Get() is False:
            draft.dropped.append(f"{prim.GetPath()}: a joint that is switched off")
        elif prim.IsA(physics.RevoluteJoint) or prim.IsA(physics.PrismaticJoint):
            if None in ends:
                draft.dropped.append(f"{prim.GetPath()}: a joint to the world; the scene holds the object")
                continue
            joint = _read(stage, physics, prim, surfaces, metres, unit, draft)
            if joint.range[1] - joint.range[0] > _NO_WAY:
                joints.append(joint)
                continue
            welded[str(ends[1])] = str(ends[0])
            draft.converted.append(f"{prim.GetPath()}: its limits leave it no way: both bodies in one")
        elif prim.IsA(physics.FixedJoint) and None not in ends:
            welded[str(ends[1])] = str(ends[0])
            draft.kept.append(f"{prim.GetPath()}: fixed joint, both bodies in one")
        elif None not in ends:
            draft.dropped.append(f"{prim.GetPath()}: {prim.GetTypeName()} is not supported; the parts stay loose")
    return joints, welded


def root_of(body: str, welded: dict[str, str]) -> str:
    """Return the body that stands for a group welded together."""
    seen = {body}
    while body in welded:
        body = welded[body]
        if body in seen:
            raise FileError(f"fixed joints form a ring at {body}")
        seen.add(body)
    return body


def ordered(joints: list[UsdJoint], welded: dict[str, str], bodies: list[str]) -> tuple[str, list[UsdJoint]]:
    """Return the base and the joints from the base outwards, each turned so that its parent is nearer to the base."""
    groups = [root_of(body, welded) for body in bodies]
    ends = [(root_of(j.parent, welded), root_of(j.child, welded)) for j in joints]
    # Most joints meet at the base; in a tie between two bodies, it is the one that joints name first.
    base = max(groups, key=lambda g: (sum(g in end for end in ends), sum(g == parent for parent, _ in ends)))
    reached, result, rest = {base}, [], list(zip(joints, ends, strict=True))
    while rest:
        step = next(((j, e) for j, e in rest if (e[0] in reached) != (e[1] in reached)), None)
        if step is None:
            names = ", ".join(j.child for j, _ in rest)
            raise FileError(f"joints of {names} do not lead to the base {base}, or close a loop")
        joint, (parent, child) = step
        rest = [item for item in rest if item[0] is not joint]
        if child in reached:
            # Seen from the other side, the same motion is about the opposite axis.
            parent, child, joint = child, parent, replace(joint, axis=-joint.axis)
        reached.add(child)
        result.append(replace(joint, parent=parent, child=child))
    return base, result


def _target(relation: Any) -> str | None:
    targets = relation.GetTargets()
    return str(targets[0]) if targets else None


def _read(
    stage: Any, physics: Any, prim: Any, surfaces: UsdSurfaces, metres: float, unit: float, draft: ReportDraft
) -> UsdJoint:
    hinge = prim.IsA(physics.RevoluteJoint)
    joint = physics.RevoluteJoint(prim) if hinge else physics.PrismaticJoint(prim)
    parent, child = (stage.GetPrimAtPath(rel.GetTargets()[0]) for rel in (joint.GetBody0Rel(), joint.GetBody1Rel()))
    axis_local = np.eye(3)["XYZ".index(str(joint.GetAxisAttr().Get()))]
    R0, p0 = _frame(surfaces, parent, joint.GetLocalPos0Attr().Get(), joint.GetLocalRot0Attr().Get())
    R1, p1 = _frame(surfaces, child, joint.GetLocalPos1Attr().Get(), joint.GetLocalRot1Attr().Get())
    axis = R0 @ axis_local
    # Position of the joint in the pose of the file.
    shown = float(rotvec_from_matrix(R0.T @ R1) @ axis_local) if hinge else float((p1 - p0) @ axis)
    angle = np.pi / 180.0 if hinge else metres
    low, high = (float(v) * angle for v in (joint.GetLowerLimitAttr().Get(), joint.GetUpperLimitAttr().Get()))
    low, high = (max(low, -2 * np.pi), min(high, 2 * np.pi)) if hinge else (max(low, -2.0), min(high, 2.0))
    return UsdJoint(
        parent=str(parent.GetPath()),
        child=str(child.GetPath()),
        hinge=hinge,
        position=p0,
        axis=axis,
        range=(low - shown, high - shown),
        R_object_joint=R0,
        feel=_feel(physics, prim, physics.GetStageKilogramsPerUnit(stage), metres, unit, shown, draft),
    )


def _feel(
    physics: Any, prim: Any, kilograms: float, metres: float, unit: float, shown: float, draft: ReportDraft
) -> UsdFeel:
    """Return friction and drive of a joint; USD gives angles in degrees, also in denominators."""
    hinge = prim.IsA(physics.RevoluteJoint)
    axis = "angular" if hinge else "linear"
    force = kilograms * (unit * unit if hinge else unit)
    rate = force * 180.0 / np.pi if hinge else kilograms
    dry = _number(prim, f"physxJointAxis:{axis}:staticFrictionEffort")
    viscous = _number(prim, f"physxJointAxis:{axis}:viscousFrictionCoefficient")
    feel = UsdFeel(
        friction=None if dry is None else dry * force,
        coefficient=_number(prim, "physxJoint:jointFriction"),
        damping=None if viscous is None else viscous * rate,
    )
    if not prim.HasAPI(physics.DriveAPI, axis):
        return feel
    drive = physics.DriveAPI(prim, axis)
    per_inertia = str(drive.GetTypeAttr().Get()) == "acceleration"
    rate = 1.0 if per_inertia and not hinge else 180.0 / np.pi if per_inertia else rate
    most = float(drive.GetMaxForceAttr().Get())
    if not most > 0.0:
        return feel
    target = float(drive.GetTargetPositionAttr().Get()) * (np.pi / 180.0 if hinge else metres)
    if drive.GetTargetVelocityAttr().Get():
        draft.dropped.append(f"{prim.GetPath()}: the velocity that its drive is to keep")
    if per_inertia and viscous:
        draft.dropped.append(f"{prim.GetPath()}: viscous friction beside a drive that counts accelerations")
    beside = 0.0 if per_inertia else feel.damping or 0.0
    return replace(
        feel,
        stiffness=float(drive.GetStiffnessAttr().Get()) * rate,
        damping=float(drive.GetDampingAttr().Get()) * rate + beside,
        per_inertia=per_inertia,
        target=target - shown,
        max_force=most * force,
    )


def _number(prim: Any, name: str) -> float | None:
    """Return an attribute of a schema that this USD version need not know, if the file gives it."""
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    return float(value) if isinstance(value, int | float) and np.isfinite(value) and value >= 0.0 else None


def felt(link: Link, feel: UsdFeel, model: mujoco.MjModel, draft: ReportDraft) -> Link:
    """Return a link with the friction and the drive of its joint; a drive becomes a spring and a damper.

    The friction of PhysX joints is a coefficient on force and torque that the joint carries; here these are the weight
    of its load, and that weight times its distance from the axis [m].

    Args:
        link: The link.
        feel: The joint's values in the file.
        model: The object, for masses and inertias.
        draft: Collects the report.
    """
    joint = model.joint(link.joint)
    inertia = float(model.dof_M0[joint.dofadr[0]]) if feel.per_inertia else 1.0
    friction, said = feel.friction, [] if feel.friction is None else [f"friction {feel.friction:.3g}"]
    if friction is None and feel.coefficient is not None:
        friction = feel.coefficient * _carried(model, link)
        said.append(f"friction {friction:.3g}, {feel.coefficient:g} of its load")
    damping = None if feel.damping is None else feel.damping * inertia
    if damping is not None:
        said.append(f"damping {damping:.3g}")
    stiffness = feel.stiffness * inertia
    if stiffness > 0.0:
        said.append(f"spring {stiffness:.3g} towards {feel.target:.3g}")
        stiffness = _bounded(link, feel, stiffness, float(model.dof_M0[joint.dofadr[0]]), draft)
    draft.kept += [f"{link.joint}: {', '.join(said)} (N, m, rad)"] if said else []
    if friction is None:
        draft.converted.append(
            f"{link.joint}: no friction in the file: {link.frictionloss:g} (N, m), to stay where left"
        )
    return replace(
        link,
        frictionloss=link.frictionloss if friction is None else friction,
        damping=link.damping if damping is None else damping,
        stiffness=stiffness,
        rest=feel.target if stiffness else 0.0,
    )


def _carried(model: mujoco.MjModel, link: Link) -> float:
    """Return the sum of the force [N] and torque [N m] carried by a link's joint at the pose in the file."""
    data = posed(model)
    body, joint = model.body(link.name).id, model.joint(link.joint).id
    out = data.subtree_com[body] - data.xanchor[joint]
    lever = float(np.linalg.norm(out - (out @ data.xaxis[joint]) * data.xaxis[joint])) if link.kind == "hinge" else 0.0
    return float(model.body_subtreemass[body]) * float(np.linalg.norm(model.opt.gravity)) * (1.0 + lever)


def _bounded(link: Link, feel: UsdFeel, stiffness: float, inertia: float, draft: ReportDraft) -> float:
    """Return the stiffness of a spring that is never stronger than its drive and that physics steps can follow."""
    farthest = max(abs(end - feel.target) for end in link.range)
    if stiffness * farthest > feel.max_force:
        stiffness = feel.max_force / farthest
        draft.converted.append(
            f"{link.joint}: spring of {stiffness:.3g}, so that its largest force is the {feel.max_force:.3g} of the "
            "drive"
        )
    if stiffness > FASTEST**2 * inertia:
        stiffness = FASTEST**2 * inertia
        draft.converted.append(
            f"{link.joint}: spring of {stiffness:.3g}, the stiffest that is simulated for its inertia"
        )
    return stiffness


def _frame(surfaces: UsdSurfaces, prim: Any, position: Any, rotation: Any) -> tuple[Array, Array]:
    R, _ = surfaces.pose(prim)
    quat = [rotation.GetReal(), *rotation.GetImaginary()]
    return R @ matrix_from_quat(np.asarray(quat, float)), surfaces.points(prim, np.asarray(position, float)[None])[0]


@dataclass(frozen=True, kw_only=True)
class UsdAnnotation:
    """Annotation of one joint in an ``info.json``."""

    head: Point
    """Contact point in the frame and units of the link's prim."""
    tail: Point | None
    """Second point in the same frame; None: the link keeps its own."""
    contact_axis: Point
    """Unit vector in the frame of the link's prim."""
    rot_axis: Point | None
    """Unit vector in the joint's frame about which a setting turns; None: not given."""
    scale: float
    """Scale of the asset in a scene."""
    link: str
    """Last part of the link's prim path, or empty."""
    joint_index: int
    """Index of the joint."""


def read_annotation(path: Path, options: ImportOptions, draft: ReportDraft) -> UsdAnnotation | None:
    """Return the annotation of that name, or None if none was requested.

    Raises:
        FileError: It is missing or lacks a key; the message names the existing ones.
    """
    info_name = options.info_name
    if info_name is None:
        return None
    file = below(path.parent / "Kps", info_name, what=f"{path}: annotation") / "info.json"
    if not file.is_file():
        there = [p.name for p in (path.parent / "Kps").glob("*") if (p / "info.json").is_file()]
        raise FileError(f"no annotation {info_name!r} beside {path}: searched {file}; {suggest(info_name, there)}")
    options.demand_inside(file, path)
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        keypoints = values["object_keypoints"]
        annotation = UsdAnnotation(
            # Drawers may have only a contact point.
            head=point(keypoints.get("articulated_object_head", keypoints.get("link_contact_point"))),
            tail=point(keypoints["articulated_object_tail"]) if "articulated_object_tail" in keypoints else None,
            contact_axis=_axis(values["object_link0_contact_axis"]),
            rot_axis=_axis(values["object_link0_rot_axis"]) if "object_link0_rot_axis" in values else None,
            scale=float(np.ravel(values.get("object_scale", 1.0))[0]),
            link=str(values.get("object_link_path", "")).rsplit("/", 1)[-1],
            joint_index=int(values.get("joint_index", 0)),
        )
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise FileError(f"{file}: not an annotation: {type(error).__name__}: {error}") from error
    draft.kept.append(f"annotation {info_name!r}: contact points and axes of one joint")
    return annotation


def apply_annotation(
    annotation: UsdAnnotation,
    links: tuple[Link, ...],
    bodies: Mapping[str, str],
    stage: Any,
    surfaces: UsdSurfaces,
    joints: Mapping[str, UsdJoint],
    origins: Mapping[str, np.ndarray],
    draft: ReportDraft,
) -> tuple[Link, ...]:
    """Give the annotated link its points and axes, and put it first."""
    if not links:
        return links
    by_name = [link for link in links if bodies[link.name].rsplit("/", 1)[-1] == annotation.link]
    chosen = by_name[0] if by_name else links[min(annotation.joint_index, len(links) - 1)]
    prim = stage.GetPrimAtPath(bodies[chosen.name])
    rotation, _ = surfaces.pose(prim)
    points = np.array([annotation.head, annotation.tail or annotation.head])
    head, tail = surfaces.points(prim, points) - origins[bodies[chosen.name]]
    told = replace(chosen, head=point(head), contact_axis=point(rotation @ np.asarray(annotation.contact_axis)))
    if annotation.tail is not None:
        told = replace(told, tail=point(tail))
    if annotation.rot_axis is not None and told.kind == "hinge":
        turns = joints[bodies[chosen.name]].R_object_joint @ np.asarray(annotation.rot_axis)
        # Along the joint's axis it adds nothing, and across it a hinge cannot follow.
        told = replace(told, turns=point(turns)) if float(turns @ told.axis) < -_ALONG else told
    draft.converted = [line for line in draft.converted if f"'{chosen.joint}' computed" not in line]
    return (told, *(link for link in links if link is not chosen))


def _axis(text: str | list[float]) -> Point:
    """Return the unit vector of ``x``, ``-y`` and so on, or of three numbers."""
    if isinstance(text, str):
        sign = -1.0 if text.startswith("-") else 1.0
        return point(sign * np.asarray(_AXES[text.lstrip("+-").lower()]))
    vector = np.asarray(text, float)
    return point(vector / np.linalg.norm(vector))
