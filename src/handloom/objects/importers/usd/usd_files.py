"""USD files, rigid and articulated, in the layout of the reference system (extras ``usd`` and ``meshes``)."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import FileError, HandloomError, require
from handloom.objects.blueprint import ROOT, Blueprint
from handloom.objects.importers.import_options import ImportOptions, ReportDraft, count, times
from handloom.objects.importers.meshes.mesh_blueprint import convex_parts
from handloom.objects.importers.meshes.mesh_looks import drawn
from handloom.objects.importers.models.model_asset import annotated_links, asset_from_source
from handloom.objects.importers.usd.usd_joints import (
    UsdJoint,
    apply_annotation,
    felt,
    ordered,
    read_annotation,
    read_joints,
    root_of,
)
from handloom.objects.importers.usd.usd_meshes import UsdSurfaces
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.parts import Link, Part, Surface, point

REFERENCE_LAYOUT = ("Aligned_obj", "instance")
"""Names of asset files in the reference layout, without ending."""
_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def read_usd(path: Path, options: ImportOptions, draft: ReportDraft) -> ObjectAsset:
    """Read a USD stage: its meshes as convex parts, its joints, and the annotation beside it."""
    stage, root = _open(path, options)
    geom, physics = require("pxr.UsdGeom", extra="usd"), require("pxr.UsdPhysics", extra="usd")
    annotation = read_annotation(path, options, draft)
    metres, up = _units(path, geom, stage, options, draft)
    unit = metres[0] / options.factors[0]
    if annotation:
        x, y, z = metres
        metres = x * annotation.scale, y * annotation.scale, z * annotation.scale
    if metres != (1.0, 1.0, 1.0):
        draft.converted.append(f"lengths scaled by {times(metres)} (unit, requested scale, scale of the annotation)")
    surfaces = UsdSurfaces(root, _Y_UP if up == "y" else np.eye(3), metres, path, options, draft)
    bodies = [str(p.GetPath()) for p in stage.Traverse() if p.HasAPI(physics.RigidBodyAPI)]
    joints, welded = read_joints(stage, surfaces, metres[0], unit, draft)
    if joints:
        options.one_factor(path)
    base, tree = ordered(joints, welded, bodies or [str(root.GetPath())])
    names = _names(base, tree)
    origins = {base: np.zeros(3), **{joint.child: joint.position for joint in tree}}
    parts, looks = _parts(stage, surfaces, bodies, welded, names, origins, options, draft)
    links = tuple(_link(joint, names, origins) for joint in tree)
    words = (options.category.replace("_", " "),)
    blueprint = Blueprint(words=words, color=None, parts=tuple(parts), links=links, surfaces=tuple(looks))
    model = blueprint.spec().compile()
    found = annotated_links(model, draft)
    if annotation:
        bodies_of, joints_of = {n: b for b, n in names.items()}, {joint.child: joint for joint in tree}
        found = apply_annotation(annotation, found, bodies_of, stage, surfaces, joints_of, origins, draft)
    feels = {names[joint.child]: joint.feel for joint in tree}
    links = tuple(felt(replace(link, frictionloss=0.05, damping=0.1), feels[link.name], model, draft) for link in found)
    blueprint = replace(blueprint, links=links)
    asset = asset_from_source(path, blueprint, blueprint.spec().compile(), links, options)
    return replace(asset, up=(0.0, 1.0, 0.0)) if path.stem in REFERENCE_LAYOUT and up != "y" else asset


def _units(
    path: Path, geom: Any, stage: Any, options: ImportOptions, draft: ReportDraft
) -> tuple[tuple[float, float, float], str]:
    """Return metres per unit along each axis, and the up axis: as requested, or as in the stage.

    Stages in the reference layout declare centimetres and y up, but mean metres in axes that the task turns upright.
    """
    unit, up = float(geom.GetStageMetersPerUnit(stage)), str(geom.GetStageUpAxis(stage)).lower()
    if path.stem in REFERENCE_LAYOUT:
        if (unit, up) != (1.0, "z") and options.unit is None and options.up is None:
            draft.converted.append(
                f"unit {unit:g} m and {up} up, which the stage says, left out as the reference system does: lengths "
                "are metres times scale, axes stay; --unit and --up override this"
            )
        unit, up = 1.0, "z"
    up = options.up or up
    if up == "y":
        draft.converted.append("y up turned to z up")
    return options.metres(unit), up


def _open(path: Path, options: ImportOptions) -> tuple[Any, Any]:
    usd = require("pxr.Usd", extra="usd")
    try:
        if not options.allow_outside:
            _demand_layers_inside(path, options)
        stage = usd.Stage.Open(str(path))
    except HandloomError:
        raise
    except Exception as error:  # USD errors, including messages that are not UTF-8.
        raise FileError(f"{path}: not a USD stage: {error}") from error
    return stage, stage.GetDefaultPrim() or stage.GetPseudoRoot()


def _demand_layers_inside(path: Path, options: ImportOptions) -> None:
    """Refuse a stage composed of files elsewhere, before composing it."""
    sdf, utils = require("pxr.Sdf", extra="usd"), require("pxr.UsdUtils", extra="usd")
    waiting, seen = [str(path)], set()
    while waiting:
        name = waiting.pop()
        layer = None if name in seen else sdf.Layer.FindOrOpen(name)
        seen.add(name)
        if layer is None:
            continue
        for part in {part for parts in utils.ExtractExternalReferences(name) for part in parts}:
            place = layer.ComputeAbsolutePath(part).partition("[")[0]
            if Path(place).is_file():
                options.demand_inside(Path(place), path)
                waiting += [place] if sdf.FileFormat.FindByExtension(place) else []


def _names(base: str, tree: list[UsdJoint]) -> dict[str, str]:
    """Return a short unique name for every body: ``object`` for the base, the prim's name for the others."""
    names = {base: ROOT}
    for joint in tree:
        stem = re.sub(r"\W+", "_", joint.child.rsplit("/", 1)[-1]).lower() or "link"
        name, number = stem, 2
        while name in names.values():
            name, number = f"{stem}_{number}", number + 1
        names[joint.child] = name
    return names


def _parts(
    stage: Any,
    surfaces: UsdSurfaces,
    bodies: list[str],
    welded: dict[str, str],
    names: dict[str, str],
    origins: dict[str, np.ndarray],
    options: ImportOptions,
    draft: ReportDraft,
) -> tuple[list[Part], list[Surface]]:
    """Return the convex parts of every body, and its visible surfaces, each in the frame of its link."""
    geom, physics = require("pxr.UsdGeom", extra="usd"), require("pxr.UsdPhysics", extra="usd")
    base = next(iter(names))
    found: dict[str, list] = {}
    for prim in stage.Traverse():
        if not prim.IsA(geom.Mesh):
            continue
        owner = next((b for b in bodies if str(prim.GetPath()).startswith(f"{b}/") or str(prim.GetPath()) == b), base)
        group = root_of(owner, welded)
        group = group if group in names else base
        mesh = surfaces.mesh(prim)
        if mesh is not None:
            found.setdefault(group, []).append(replace(mesh, vertices=mesh.vertices - origins[group]))
    if not found:
        raise FileError(f"{stage.GetRootLayer().identifier}: no mesh in the stage")
    draft.kept.append(f"{count(sum(map(len, found.values())), 'mesh')}, {count(len(names) - 1, 'joint')}")
    parts: list[Part] = []
    looks: list[Surface] = []
    for group, meshes in found.items():
        authored = physics.MassAPI(stage.GetPrimAtPath(group)).GetMassAttr().Get() or None
        authored = authored and authored * physics.GetStageKilogramsPerUnit(stage)
        mass = options.mass if len(names) == 1 and options.mass else authored
        parts += convex_parts(meshes, draft, material=options.substance, mass=mass, body=names[group])
        looks += drawn(meshes, draft, material=options.substance, body=names[group])
    return parts, looks


def _link(joint: UsdJoint, names: dict[str, str], origins: dict[str, np.ndarray]) -> Link:
    """Return the link of a joint; its contact point is found later."""
    return Link(
        name=names[joint.child],
        kind="hinge" if joint.hinge else "slide",
        parent=names[joint.parent],
        origin=point(joint.position - origins[joint.parent]),
        axis=point(joint.axis),
        range=joint.range,
        head=(0.0, 0.0, 0.0),
        tail=(0.0, 0.0, 0.0),
        contact_axis=(0.0, 0.0, -1.0),
        normal=(0.0, -1.0, 0.0),
    )
