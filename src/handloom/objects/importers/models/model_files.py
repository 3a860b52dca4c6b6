"""MJCF and URDF files."""

import hashlib
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
from handloom.objects.importers.models.model_looks import dress_meshes, flatten_cube_maps
from handloom.objects.importers.models.model_pieces import join_objects
from handloom.objects.importers.models.normal_form import normal_form
from handloom.objects.object_asset import ObjectAsset
from handloom.safe_paths import safe_name
from handloom.sim.model_file import demand_files_inside, demand_parts_inside
from handloom.sim.urdf import mujoco_compiler, urdf_element

Loaded = TypeVar("Loaded")


@dataclass(frozen=True, kw_only=True)
class ImportedSource:
    """A model in normal form; can be pickled, and does not need the files it came from."""

    xml: str
    """MJCF with one root body ``object``."""
    files: tuple[tuple[str, bytes], ...] = ()
    """Meshes and textures by the name the XML uses."""

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
    """Read a MuJoCo model; includes are followed, meshes and textures are taken along."""
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
    """Leave one body of a scene, with what it needs."""
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
    # MuJoCo wants plain file names.
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
    """Compute what no body can have from the shapes: other readers of URDF files overlook it."""
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
        # MuJoCo takes a body without a centre of mass as one that its geoms weigh.
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
            if not texture.file and any(texture.cubefiles):  # One of six pictures is enough: see flatten_cube_maps.
                texture.file = next(file for file in (texture.cubefiles[4], *texture.cubefiles) if file)
        named = [e.file for e in (*spec.meshes, *spec.textures) if e.file]
        contents = read_parts(dict.fromkeys(named), path, [*folders, *options.folders], options)
        short = {name: safe_name(f"{index}_{Path(name).name}") for index, name in enumerate(contents)}
        for element in (*spec.meshes, *spec.textures):
            if element.file:
                # A mesh without a name is called after its file, and geoms refer to it by that.
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
    # Contents go in under the names the XML uses, so that the result is complete without the folder it came from.
    source = ImportedSource(xml=_to_xml(path, spec, files), files=tuple(sorted(files.items())))
    model = _load(path, lambda: source.spec().compile())
    return asset_from_source(path, source, model, annotated_links(model, draft), options)


def _to_xml(path: Path, spec: mujoco.MjSpec, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        spec.assets[name] = content
    _load(path, spec.compile)
    return spec.to_xml()
