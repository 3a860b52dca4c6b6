"""Assets of model files with joints, annotated or not."""

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.objects.choices import Value
from handloom.objects.geometry import Reach, posed, vertices_of
from handloom.objects.importers.import_options import ImportOptions, ReportDraft
from handloom.objects.keypoints import joint_keypoints
from handloom.objects.object_asset import ObjectAsset, SpecSource
from handloom.objects.parts import Keypoint, Link, Quat, point

_KINDS = {mujoco.mjtJoint.mjJNT_HINGE: "hinge", mujoco.mjtJoint.mjJNT_SLIDE: "slide"}


def annotated_links(model: mujoco.MjModel, draft: ReportDraft) -> tuple[Link, ...]:
    """Return one link per hinge or slide joint, with a contact point found from the geometry.

    The head of a hinged part is its point furthest from the axis, that of a sliding part its point furthest along the
    motion; the tail lies behind it on the part. The contact axis is the way the head moves when the joint opens.
    """
    data = posed(model)
    links = []
    for joint in range(model.njnt):
        body = int(model.jnt_bodyid[joint])
        kind = _KINDS.get(mujoco.mjtJoint(model.jnt_type[joint]))
        if kind is None or model.body_jntnum[body] != 1:
            draft.kept.append(f"joint {model.joint(joint).name!r}, without an annotation: not one hinge or slide")
            continue
        links.append(_annotated(model, data, joint, body, kind))
        draft.converted.append(
            f"contact point of {model.joint(joint).name!r} computed from the shape of the moving part"
        )
    return tuple(links)


def _annotated(model: mujoco.MjModel, data: mujoco.MjData, joint: int, body: int, kind: str) -> Link:
    cloud = _moving_vertices(model, data, body)
    axis, anchor = model.jnt_axis[joint].copy(), model.jnt_pos[joint].copy()
    low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
    sign = 1.0 if abs(high) >= abs(low) else -1.0
    if kind == "hinge":
        head = _edge_point(cloud, lambda p: np.linalg.norm(np.cross(p - anchor, axis), axis=1))
        out = head - anchor
        tail = head - 0.5 * (out - (out @ axis) * axis)
        outward, along = sign * np.cross(axis, out), axis
    else:
        head = _edge_point(cloud, lambda p: sign * p @ axis)
        outward = sign * axis
        across = np.eye(3)[np.argmin(np.abs(axis))]
        along = np.cross(axis, across)
        tail = head + 0.05 * np.cross(axis, across)
    w, x, y, z = model.body_quat[body].tolist()
    quat: Quat = (w, x, y, z)
    return Link(
        name=model.body(body).name,
        kind="hinge" if kind == "hinge" else "slide",
        parent=model.body(int(model.body_parentid[body])).name,
        origin=point(model.body_pos[body]),
        quat=quat,
        anchor=point(anchor),
        axis=point(axis),
        range=(float(low), float(high)),
        head=point(head),
        tail=point(tail),
        contact_axis=point(along / np.linalg.norm(along)),
        normal=point(outward / np.linalg.norm(outward)),
        damping=float(model.dof_damping[model.jnt_dofadr[joint]]),
        frictionloss=float(model.dof_frictionloss[model.jnt_dofadr[joint]]),
    )


def _moving_vertices(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Array:
    """Return the corners (n, 3) of everything rigidly fixed to a body, in its frame."""
    fixed = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == model.body_weldid[body]]
    rotation, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
    clouds = [(vertices_of(model, data, g) - origin) @ rotation for g in fixed]
    return np.concatenate([*clouds, np.zeros((1, 3))]) if clouds else np.array([[0.05, 0.0, 0.0]])


def _edge_point(cloud: Array, reach: Callable[[Array], Array]) -> Array:
    """Return the middle of the corners that reach furthest, or one of them where they surround the axis (a knob)."""
    far = reach(cloud)
    outer = cloud[far >= far.max() - 0.05 * max(float(np.ptp(far)), 1e-9)]
    middle = outer.mean(axis=0)
    return middle if reach(middle[None])[0] > 0.8 * far.max() else outer[0]


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
    """Return what ``make_object`` needs to import the file again."""
    given: dict[str, Value] = {"path": str(path), "scale": options.scale}
    for name in ("unit", "up", "mass", "substance", "info_name", "allow_outside"):
        value = getattr(options, name)
        if value not in {None, "plastic", False}:
            given[name] = value
    return given
