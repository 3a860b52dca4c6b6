"""Assets of model files with joints, annotated or not."""

from pathlib import Path

import mujoco
import numpy as np

from handloom.objects.choices import Value
from handloom.objects.geometry import Reach, posed
from handloom.objects.importers.import_options import ImportOptions, ReportDraft
from handloom.objects.importers.models.handle_finder import HandHold, find_hold
from handloom.objects.keypoints import joint_keypoints
from handloom.objects.object_asset import ObjectAsset, SpecSource
from handloom.objects.parts import Keypoint, Link, Quat, point

_OFF_AXIS = 0.005
"""A head this near to its axis belongs to a knob [m]."""
_KINDS = {mujoco.mjtJoint.mjJNT_HINGE: "hinge", mujoco.mjtJoint.mjJNT_SLIDE: "slide"}


def annotated_links(model: mujoco.MjModel, draft: ReportDraft) -> tuple[Link, ...]:
    """Return one link per hinge or slide joint, with points and axes proposed from its shape; see ``find_hold``."""
    data = posed(model)
    links = []
    for joint in range(model.njnt):
        body = int(model.jnt_bodyid[joint])
        kind = _KINDS.get(mujoco.mjtJoint(model.jnt_type[joint]))
        if kind is None or model.body_jntnum[body] != 1:
            draft.kept.append(f"joint {model.joint(joint).name!r}, without an annotation: not one hinge or slide")
            continue
        hold = find_hold(model, data, joint)
        links.append(_annotated(model, joint, body, hold))
        draft.converted.append(
            f"contact point of {model.joint(joint).name!r} computed from the shape of the moving part: its {hold.what}"
        )
    return tuple(links)


def _annotated(model: mujoco.MjModel, joint: int, body: int, hold: HandHold) -> Link:
    axis, anchor = model.jnt_axis[joint].copy(), model.jnt_pos[joint].copy()
    low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
    hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
    out = hold.head - anchor
    out = out - (out @ axis) * axis
    # Head to tail runs along the moving surface at right angles to a hinge.
    tail = hold.head - 0.5 * out if hinge and np.linalg.norm(out) > _OFF_AXIS else hold.head + 0.05 * hold.contact_axis
    w, x, y, z = model.body_quat[body].tolist()
    quat: Quat = (w, x, y, z)
    return Link(
        name=model.body(body).name,
        kind="hinge" if hinge else "slide",
        parent=model.body(int(model.body_parentid[body])).name,
        origin=point(model.body_pos[body]),
        quat=quat,
        anchor=point(anchor),
        axis=point(axis),
        range=(float(low), float(high)),
        head=point(hold.head),
        tail=point(tail),
        contact_axis=point(hold.contact_axis),
        normal=point(hold.normal),
        grip=None if hold.grip is None else point(hold.grip),
        push=None if hold.push is None else point(hold.push),
        damping=float(model.dof_damping[model.jnt_dofadr[joint]]),
        frictionloss=float(model.dof_frictionloss[model.jnt_dofadr[joint]]),
    )


def asset_from_source(
    path: Path, source: SpecSource, model: mujoco.MjModel, links: tuple[Link, ...], options: ImportOptions
) -> ObjectAsset:
    """Return the asset; its frame is that of the file, its name the category in words."""
    six = np.concatenate([np.eye(3), -np.eye(3)])
    data = posed(model)
    reach = np.maximum(Reach(model, data, solid=True)(six), Reach(model, data, solid=False)(six))
    aabb = np.stack([-reach[3:], reach[:3]])
    middle = aabb.mean(axis=0)
    keypoints = {
        "center": Keypoint(position=point(middle)),
        "top": Keypoint(position=point([*middle[:2], aabb[1, 2]])),
        "bottom": Keypoint(position=point([*middle[:2], aabb[0, 2]])),
    }
    axes = {}
    if links:
        annotation = joint_keypoints(links[0], 0)
        keypoints.update(annotation.points)
        axes.update(annotation.axes)
    name = options.category.replace("_", " ")
    return ObjectAsset(
        category=options.category,
        name=name,
        synonyms=(name,),
        color=None,
        parameters=_parameters(path, options),
        aabb=aabb,
        keypoints=keypoints,
        axes=axes,
        joints=links,
        rests="upright" if links else "any",
        source=source,
    )


def _parameters(path: Path, options: ImportOptions) -> dict[str, Value]:
    """Return the parameters with which ``make_object`` imports the file again."""
    given: dict[str, Value] = {"path": str(path), "scale": options.scale}
    for name in ("unit", "up", "mass", "substance", "info_name", "body", "allow_outside"):
        value = getattr(options, name)
        if value not in {None, "plastic", False}:
            given[name] = value
    return given
