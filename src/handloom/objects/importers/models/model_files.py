"""MJCF and URDF files."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

import mujoco
import numpy as np

from handloom.errors import FileError, HandloomError, suggest
from handloom.objects.importers.asset_files import find_part, read_parts
from handloom.objects.importers.import_options import ImportOptions, ReportDraft, count
from handloom.objects.importers.models.model_asset import annotated_links, asset_from_source
from handloom.objects.importers.models.model_looks import add_alike, dress_meshes, flatten_cube_maps
from handloom.objects.importers.models.normal_form import normal_form
from handloom.objects.object_asset import ObjectAsset
from handloom.safe_paths import safe_name
from handloom.sim.model_file import demand_files_inside, demand_parts_inside
from handloom.sim.urdf import mujoco_compiler, urdf_element

MOST_PIECES = 32
"""Maximum number of objects of a file that collide separately; with more, all collide as one hull."""
_GROUP = re.compile(rb"^[ \t]*[og](?:[ \t][^\n]*)?$", re.MULTILINE)
_BARE_FACE = re.compile(rb"^[ \t]*f[ \t]+-?\d+[ \t]", re.MULTILINE)
_FULL_FACE = re.compile(rb"^[ \t]*f[ \t]+-?\d+/", re.MULTILINE)
_BEYOND_CORNERS = re.compile(rb"(?<=\d)/-?\d*(?:/-?\d*)?|^[ \t]*v[tn][^\n]*$", re.MULTILINE)
_COPIED = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap")
_COPIED += ("group", "rgba", "material", "density")


def join_objects(spec: mujoco.MjSpec, files: dict[str, bytes], draft: ReportDraft) -> None:
    """Draw all objects of OBJ files, and replace colliding geoms by the convex hulls of these objects.

    Args:
        spec: The model; changed.
        files: Contents of its files by name; modified.
        draft: Collects the report of conversions.
    """
    for mesh in list(spec.meshes):
        content = files.get(mesh.file, b"")
        if not mesh.file.endswith(".obj"):
            continue
        if _BARE_FACE.search(content) and _FULL_FACE.search(content):
            # Some faces with texture coordinates and normals and some without: MuJoCo miscounts.
            content = files[mesh.file] = _BEYOND_CORNERS.sub(b"", content)
            draft.dropped.append(f"{mesh.name}: texture coordinates, which only some of its faces have")
        if len(_GROUP.findall(content)) <= 1:
            continue
        files[mesh.file] = _GROUP.sub(b"", content)
        solid = [g for g in spec.geoms if g.meshname == mesh.name and (g.contype or g.conaffinity)]
        pieces = _pieces(content, mesh.name) if solid else []
        if not 1 < len(pieces) <= MOST_PIECES or not all(map(_has_volume, pieces)):
            continue
        shares = np.array([np.prod(np.ptp(vertices, axis=0)) for vertices in pieces])
        for k, vertices in enumerate(pieces):
            name = f"{mesh.name}_piece_{k}"
            part = spec.add_mesh(name=name, scale=mesh.scale, refpos=mesh.refpos, refquat=mesh.refquat)
            part.uservert = vertices.ravel()
            for geom in solid:
                new = add_alike(geom, name)
                for key in _COPIED:
                    setattr(new, key, getattr(geom, key))
                new.mass = geom.mass * shares[k] / shares.sum()
        for geom in solid:
            _keep_to_be_seen(spec, geom)
        draft.converted.append(f"{mesh.name}: collides as the {count(len(pieces), 'object')} of its file, each convex")


def _keep_to_be_seen(spec: mujoco.MjSpec, geom: "mujoco.MjsGeom") -> None:
    """Drop a geom that is replaced by pieces, or keep it visual only if its body shows nothing else."""
    if any(not (other.contype or other.conaffinity) for other in geom.parent.geoms):
        spec.delete(geom)
    else:
        geom.contype, geom.conaffinity, geom.mass = 0, 0, 0.0


def _pieces(content: bytes, name: str) -> list[np.ndarray]:
    """Return the corners (n, 3) of every object of an OBJ file that has faces; the name of the mesh is for errors."""
    vertices: list[list[float]] = []
    used: list[set[int]] = [set()]
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        kind, *words = line.split() or [""]
        try:
            if kind == "v":
                x, y, z = map(float, words[:3])
                vertices.append([x, y, z])
            elif kind in {"o", "g"}:
                used.append(set())
            elif kind == "f":
                corners = [int(word.partition("/")[0]) for word in words]
                used[-1] |= {corner - 1 if corner > 0 else len(vertices) + corner for corner in corners}
        except ValueError as error:
            raise FileError(
                f"mesh {name!r}, line {number} of its file: {line[:80]!r} is neither a vertex nor a face"
            ) from error
    corners = np.array(vertices, float).reshape(-1, 3)
    return [corners[sorted(index)] for index in used if index and min(index) >= 0 and max(index) < len(corners)]


def _has_volume(vertices: np.ndarray) -> bool:
    """Return whether points have a hull whose mass MuJoCo can compute."""
    middle = vertices - vertices.mean(axis=0)
    spread = np.linalg.svd(middle, compute_uv=False) if len(vertices) >= 4 else np.zeros(3)
    return bool(np.isfinite(vertices).all() and spread[-1] > 1e-3 * spread[0] > 0.0)


Loaded = TypeVar("Loaded")


@dataclass(frozen=True, kw_only=True)
class ImportedSource:
    """A model in normal form; can be pickled, and does not need the files it came from."""

    xml: str
    """MJCF with one root body ``object``."""
    files: tuple[tuple[str, bytes], ...] = ()
    """Meshes and textures by their names in the XML."""

    def spec(self) -> mujoco.MjSpec:
        """Return a new model."""
        return mujoco.MjSpec.from_string(self.xml, assets=dict(self.files))

    def fingerprint(self) -> str:
        """Return a hash of the XML and all files."""
        digest = hashlib.sha256(self.xml.encode())
        for name, content in self.files:
            digest.update(name.encode())
            digest.update(content)
        return digest.hexdigest()


def read_mjcf(path: Path, options: ImportOptions, draft: ReportDraft) -> ObjectAsset:
    """Read a MuJoCo model with its includes, meshes and textures."""
    if not options.allow_outside:
        demand_files_inside(path, options.bounds(path))
    spec = _load(path, lambda: mujoco.MjSpec.from_file(str(path)))
    if not options.allow_outside:
        demand_parts_inside(path, spec, options.bounds(path))
    if options.body is not None:
        _keep_body(path, spec, options.body, draft)
    folders = [path.parent / spec.meshdir, path.parent / spec.texturedir, path.parent]
    return _finish(path, spec, folders, options, draft)


def _keep_body(path: Path, spec: mujoco.MjSpec, name: str, draft: ReportDraft) -> None:
    """Keep only one body of a scene, with everything it needs."""
    roots = {body.name: body for body in spec.worldbody.bodies if body.name}
    if name not in roots:
        raise FileError(f"{path}: no body {name!r} of its own; {suggest(name, roots)}")
    others = [body for body in spec.worldbody.bodies if body.name != name]
    kept = [roots[name], *roots[name].find_all("body")]
    joints = {joint.name for body in kept for joint in body.joints}
    ties = [tie for tie in spec.equalities if tie.type != mujoco.mjtEq.mjEQ_JOINT or tie.name1 not in joints]
    groups = (spec.keys, spec.sensors, spec.actuators, spec.tendons, spec.excludes, spec.pairs, ties)
    for element in [element for group in groups for element in group]:
        spec.delete(element)
    for element in (*others, *spec.worldbody.geoms, *spec.worldbody.sites):
        spec.delete(element)
    materials = {geom.material for geom in spec.geoms if geom.material}
    textures = {t for m in spec.materials if m.name in materials for t in m.textures if t}
    meshes = {geom.meshname for geom in spec.geoms if geom.meshname}
    unused = [m for m in spec.materials if m.name not in materials]
    unused += [t for t in spec.textures if (t.name or Path(t.file).stem) not in textures]
    unused += [m for m in spec.meshes if (m.name or Path(m.file).stem) not in meshes]
    for element in unused:
        spec.delete(element)
    if others:
        draft.dropped.append(f"{count(len(others), 'other root')} of the scene beside {name!r}")


def read_urdf(path: Path, options: ImportOptions, draft: ReportDraft) -> ObjectAsset:
    """Read a URDF file; visual shapes are kept, links are not merged."""
    root = urdf_element(path)
    mujoco_compiler(root).attrib.update(discardvisual="false", fusestatic="false", strippath="false")
    folders = [path.parent, *path.parent.parents[:3], *options.folders]
    meshes = root.findall(".//mesh")
    contents = read_parts([m.attrib["filename"] for m in meshes], path, folders, options)
    # MuJoCo requires plain file names.
    short = {name: safe_name(f"{index}_{Path(name).name}") for index, name in enumerate(contents)}
    for mesh in meshes:
        mesh.attrib["filename"] = short[mesh.attrib["filename"]]
    files = {short[name]: content for name, content in contents.items()}
    text = ElementTree.tostring(root, encoding="unicode")
    spec = _load(path, lambda: mujoco.MjSpec.from_string(text, assets=files))
    places = {short[name]: find_part(name, path, folders, options) for name in contents}
    _mend_inertias(spec, draft)
    return _finish(path, spec, [], options, draft, files, places)


def _mend_inertias(spec: mujoco.MjSpec, draft: ReportDraft) -> None:
    """Replace impossible inertias by those of the shapes; other readers of URDF files overlook them."""
    spec.compiler.balanceinertia = True
    mended = 0
    for body in spec.bodies:
        full = np.asarray(body.fullinertia)
        given = full if np.all(np.isfinite(full)) else np.array([*body.inertia, 0.0, 0.0, 0.0])
        xx, yy, zz, xy, xz, yz = given
        least = float(np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[0])
        if not body.explicitinertial or (body.mass > 0.0 and least > 0.0):
            continue
        mended += 1
        solid = [geom for geom in body.geoms if geom.contype or geom.conaffinity]
        for geom in solid if body.mass > 0.0 else ():
            geom.mass = body.mass / len(solid)
        # MuJoCo computes the mass of a body without a centre of mass from its geoms.
        body.explicitinertial, body.ipos, body.fullinertia = False, np.full(3, np.nan), np.full(6, np.nan)
    if mended:
        draft.converted.append(f"{count(mended, 'impossible inertia')} computed from the shapes")


def _load(path: Path, read: Callable[[], Loaded]) -> Loaded:
    try:
        return read()
    except HandloomError:
        raise
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise FileError(f"{path}: MuJoCo cannot read it: {error}") from error


def _finish(
    path: Path,
    spec: mujoco.MjSpec,
    folders: list[Path],
    options: ImportOptions,
    draft: ReportDraft,
    files: dict[str, bytes] | None = None,
    places: dict[str, Path] | None = None,
) -> ObjectAsset:
    if files is None or places is None:
        for texture in spec.textures:
            if not texture.file and any(texture.cubefiles):  # One of six images is enough: see flatten_cube_maps.
                texture.file = next(file for file in (texture.cubefiles[4], *texture.cubefiles) if file)
        named = [e.file for e in (*spec.meshes, *spec.textures) if e.file]
        contents = read_parts(dict.fromkeys(named), path, [*folders, *options.folders], options)
        short = {name: safe_name(f"{index}_{Path(name).name}") for index, name in enumerate(contents)}
        for element in (*spec.meshes, *spec.textures):
            if element.file:
                # A mesh without a name is named after its file, and geoms refer to it by that name.
                element.name = element.name or Path(element.file).stem
                element.file = short[element.file]
        files = {short[name]: content for name, content in contents.items()}
        places = {short[name]: find_part(name, path, [*folders, *options.folders], options) for name in contents}
        spec.meshdir = spec.texturedir = ""
    dress_meshes(spec, places, files, options, draft)
    flatten_cube_maps(spec, files, draft)
    join_objects(spec, files, draft)
    if files:
        draft.kept.append(f"{count(len(files), 'file')} of meshes and textures")
    spec = _load(path, lambda: normal_form(spec, draft, scale=options.one_factor(path)))
    # Contents are added under the names in the XML, so that the result is complete without its original folder.
    source = ImportedSource(xml=_to_xml(path, spec, files), files=tuple(sorted(files.items())))
    model = _load(path, lambda: source.spec().compile())
    return asset_from_source(path, source, model, annotated_links(model, draft), options)


def _to_xml(path: Path, spec: mujoco.MjSpec, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        spec.assets[name] = content
    _load(path, spec.compile)
    return spec.to_xml()
