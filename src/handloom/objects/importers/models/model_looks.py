"""Look of a model's geoms: the colours and images named in the files of their meshes."""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from handloom.errors import FileError
from handloom.objects.importers.import_options import ImportOptions, ReportDraft
from handloom.objects.importers.meshes.mesh_blueprint import SourceMesh
from handloom.objects.importers.meshes.mesh_files import load_meshes
from handloom.objects.importers.meshes.mesh_looks import MOST_PIXELS, drawn
from handloom.objects.importers.meshes.obj_materials import ObjMaterial, TextureReference, used_materials
from handloom.objects.parts import Surface
from handloom.render.pictures import open_picture

READ_BY_MUJOCO = {".obj", ".stl", ".msh"}
UNCOLORED = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour of a geom without its own colour."""


def dress_meshes(
    spec: mujoco.MjSpec, places: dict[str, Path], files: dict[str, bytes], options: ImportOptions, draft: ReportDraft
) -> None:
    """Draw geoms without a material in the colours and images named in the file of their mesh.

    MuJoCo reads the coordinates of an OBJ file but not its materials, and no DAE files at all. The required files are
    added to ``files``.

    Args:
        spec: The model; changed.
        places: Name of a mesh file in the model > its path.
        files: Contents by such names; modified.
        options: Options that limit references to files.
        draft: Collects the report.
    """
    read = _read_by_us(spec, places, files, options, draft)
    seen = [geom for body in spec.bodies for geom in _seen(body) if not geom.material]
    for mesh in list(spec.meshes):
        bare = [geom for geom in seen if geom.meshname == mesh.name]
        place = places.get(mesh.file)
        if bare and mesh.name in read:
            _dress(spec, mesh, bare, read[mesh.name], files, draft)
        elif bare and place is not None and place.suffix.lower() == ".obj":
            materials = used_materials(place, options, draft)
            if not _is_simple(materials):
                _dress(spec, mesh, bare, load_meshes(place, options, draft, up="z"), files, draft)
            elif materials:
                _paint(spec, f"{mesh.name}_look", bare, materials[0], files)


def flatten_cube_maps(spec: mujoco.MjSpec, files: dict[str, bytes], draft: ReportDraft) -> None:
    """Turn cube maps of materials into flat images, which are drawn on every side of a geom.

    Args:
        spec: The model; changed.
        files: Contents of its files by name; modified.
        draft: Collects the report of conversions.
    """
    shown = {name for material in spec.materials for name in material.textures if name}
    flat = mujoco.mjtTexture.mjTEXTURE_2D
    for texture in [texture for texture in spec.textures if texture.name in shown and texture.type != flat]:
        texture.type = flat
        rows, columns = (int(size) for size in texture.gridsize)
        if texture.file in files and rows * columns > 1:
            name = f"{texture.name}_front.png"
            files[name] = _front(files[texture.file], rows, columns, "".join(texture.gridlayout))
            texture.file = name
            texture.gridsize = [1, 1]
            draft.converted.append(f"texture {texture.name!r}: the front of a cube map, shown on every side")


def _front(content: bytes, rows: int, columns: int, layout: str) -> bytes:
    """Return the image of the front in a grid of images of the sides of a cube."""
    place = layout.find("F") if "F" in layout[: rows * columns] else 0
    with open_picture(BytesIO(content)) as picture:
        width, height = picture.width // columns, picture.height // rows
        left, top = place % columns * width, place // columns * height
        return _png(picture.convert("RGB").crop((left, top, left + width, top + height)))


def _seen(body: "mujoco.MjsBody") -> list["mujoco.MjsGeom"]:
    """Return the visible geoms of a body: colliding ones only if there are no others."""
    looks = [geom for geom in body.geoms if not (geom.contype or geom.conaffinity)]
    return looks or list(body.geoms)


def _is_simple(materials: Sequence[ObjMaterial]) -> bool:
    """Return whether a mesh has one colour, one image with its own coordinates, or neither."""
    textures = [material.texture for material in materials if material.picture is not None]
    return len(materials) <= 1 and all(texture == TextureReference(texture.file) for texture in textures if texture)


def _paint(
    spec: mujoco.MjSpec, name: str, geoms: list["mujoco.MjsGeom"], material: ObjMaterial, files: dict[str, bytes]
) -> None:
    """Give geoms the one material of their mesh; a colour set in the model is kept if that has no image."""
    if material.picture is not None:
        with open_picture(material.picture) as picture:
            small = picture.convert("RGB")
        small.thumbnail((MOST_PIXELS, MOST_PIXELS))
        files[f"{name}.png"] = _png(small)
        _add_look(spec, name)
    for geom in geoms:
        if material.picture is not None:
            geom.material, geom.rgba = name, UNCOLORED
        elif material.color is not None and np.allclose(geom.rgba, UNCOLORED):
            geom.rgba = (*material.color, 1.0)


def _read_by_us(
    spec: mujoco.MjSpec, places: dict[str, Path], files: dict[str, bytes], options: ImportOptions, draft: ReportDraft
) -> dict[str, list[SourceMesh]]:
    """Convert meshes in formats that MuJoCo does not read to OBJ files; return their surfaces by mesh name."""
    found: dict[str, list[SourceMesh]] = {}
    for mesh in spec.meshes:
        place = places.get(mesh.file)
        if place is None or place.suffix.lower() in READ_BY_MUJOCO:
            continue
        # In models, GLB files use the axes of the model.
        up = "" if place.suffix.lower() == ".dae" else "z"
        found[mesh.name] = load_meshes(place, options, draft, up=up)
        if not found[mesh.name]:
            raise FileError(f"{place}: no surface in it")
        files.pop(mesh.file, None)
        mesh.file = f"{mesh.file}.obj"
        files[mesh.file] = _obj([replace(part, texcoords=None) for part in found[mesh.name]])
        draft.converted.append(f"{place.name} read as triangles")
    return found


def _add_look(spec: mujoco.MjSpec, name: str) -> None:
    """Add a material that shows the image ``<name>.png``."""
    spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, file=f"{name}.png")
    spec.add_material(name=name).textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name


def _dress(
    spec: mujoco.MjSpec,
    mesh: "mujoco.MjsMesh",
    geoms: list["mujoco.MjsGeom"],
    meshes: list[SourceMesh],
    files: dict[str, bytes],
    draft: ReportDraft,
) -> None:
    """Draw one mesh for each image, and one for all plain colours, if geoms show several at once."""
    light = [geom for geom in geoms if geom.contype or geom.conaffinity or not _weighs(spec, geom)]
    if len(light) < len(geoms):
        draft.dropped.append(f"colours of {mesh.name}: geoms that only weigh are drawn in one colour")
    shown = drawn(meshes, draft, material="plastic") if light else ()
    for k, surface in enumerate(shown):
        name = f"{mesh.name}_look_{k}"
        files[f"{name}.obj"], files[f"{name}.png"] = _obj([surface]), _png(Image.fromarray(surface.image))
        _add_look(spec, name)
        part = spec.add_mesh(name=name, file=f"{name}.obj", scale=mesh.scale, refpos=mesh.refpos, refquat=mesh.refquat)
        part.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        for geom in light:
            look = add_alike(geom, name)
            look.contype, look.conaffinity, look.material, look.rgba = 0, 0, name, UNCOLORED
    for geom in light:
        if not (geom.contype or geom.conaffinity):
            spec.delete(geom)


def _weighs(spec: mujoco.MjSpec, geom: "mujoco.MjsGeom") -> bool:
    """Return whether the mass of a body comes from this geom, among others."""
    low, high = (int(group) for group in spec.compiler.inertiagrouprange)
    given = geom.mass if np.isfinite(geom.mass) else geom.density
    return not geom.parent.explicitinertial and low <= geom.group <= high and given > 0.0


def add_alike(geom: "mujoco.MjsGeom", mesh: str) -> "mujoco.MjsGeom":
    """Add a massless geom with another mesh at the pose of a geom, and return it."""
    new = geom.parent.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, pos=geom.pos, mass=0.0)
    new.quat = geom.quat
    for name in ("axisangle", "xyaxes", "zaxis", "euler", "type"):
        setattr(new.alt, name, getattr(geom.alt, name))
    if geom.frame is not None:
        new.set_frame(geom.frame)
    return new


def _obj(meshes: Sequence[SourceMesh | Surface]) -> bytes:
    """Return surfaces as one OBJ file, with their texture coordinates."""
    lines: list[str] = []
    corners, coords = 1, 1
    for mesh in meshes:
        lines += [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.vertices.tolist()]
        faces = (mesh.faces + corners).tolist()
        corners += len(mesh.vertices)
        if mesh.texcoords is None:
            lines += [f"f {a} {b} {c}" for a, b, c in faces]
            continue
        lines += [f"vt {u:.9g} {v:.9g}" for u, v in mesh.texcoords.reshape(-1, 2).tolist()]
        lines += [
            f"f {a}/{coords + 3 * k} {b}/{coords + 3 * k + 1} {c}/{coords + 3 * k + 2}"
            for k, (a, b, c) in enumerate(faces)
        ]
        coords += 3 * len(faces)
    return ("\n".join(lines) + "\n").encode()


def _png(picture: Image.Image) -> bytes:
    stream = BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()
