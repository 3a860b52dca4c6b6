"""Objects shipped in Python packages: find them, import them, keep them as self-contained folders.

A package may be installed (``robosuite``, ``pybullet_data``, ``gymnasium_robotics``, ``metaworld``) or any folder with
models in it, such as a checkout of a collection. Its code is not imported. Every free-standing body in a MJCF file and
every URDF file is an object, except robots and objects that cannot be grasped.
"""

import difflib
import fnmatch
import importlib.util
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco

from handloom.child_process import call_apart
from handloom.config.search import demand_inside, enclosing_folders
from handloom.errors import HandloomError, InputError, NotFoundError, suggest
from handloom.objects.importers.import_object import Imported, import_object
from handloom.objects.importers.models.model_files import ImportedSource
from handloom.objects.object_asset import PARENTS
from handloom.safe_paths import below, safe_name
from handloom.sim.model_file import demand_files_inside
from handloom.sim.urdf import urdf_element

MOST_JOINTS = 6
"""A model with more joints is a machine, not an object."""
ROBOT_WORDS = ("wheel", "finger", "gripper", "knuckle", "torso", "thigh", "shoulder", "wrist", "pelvis", "motor")
"""Parts that exclude a model from being an object."""
NAMELESS = {"obj", "object", "body"}
"""Bodies with such a name are named after their file."""
MARKERS = {"goal", "target"}
"""Bodies with such a name only mark a target place."""
SMALLEST, LARGEST = 0.004, 3.0
"""Smallest and largest longest side of an accepted object [m]: a grain of rice, a wardrobe."""
LIGHTEST = 1e-4
"""Minimum mass of an accepted object [kg]."""
MOST_NAMES = 40
"""Maximum number of names listed in a message."""
REPORT = "report.txt"
LISTING_SECONDS = 120.0
"""CPU time limit for searching a package [s]."""


@dataclass(frozen=True, kw_only=True)
class PackagedObject:
    """An object in the files of a package."""

    name: str
    """Unique in the package: the name of the file, or of the body with the file's before it."""
    path: Path
    """The file."""
    package: Path
    """Folder of the package, which contains all files referred to."""
    body: str | None = None
    """The body, if a file has several."""


def package_folder(source: str) -> Path:
    """Return the folder of an installed package, by name, or the folder given; no code of it runs.

    Raises:
        NotFoundError: There is no such package or folder.
    """
    if Path(source).expanduser().is_dir():
        return Path(source).expanduser().resolve()
    name = source.replace("-", "_")
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise NotFoundError(
            f"no installed package and no folder {source!r}; pip install {source}, or give a folder with models in it"
        )
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def packaged_objects(folder: Path, patterns: Sequence[str] = ()) -> tuple[PackagedObject, ...]:
    """Return the objects below a folder by name, those whose names match a pattern (``can``, ``mug_*``) if given.

    Raises:
        NotFoundError: There are no objects, or a pattern matches none.
    """
    read = "handloom.objects.importers.object_packages:find_objects"
    found: tuple[PackagedObject, ...] = call_apart(read, folder, what=str(folder), seconds=LISTING_SECONDS)
    if not found:
        raise NotFoundError(
            f"{folder}: no objects in MJCF or URDF files there; `handloom object import` reads one file"
        )
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(obj.name, pattern) for obj in found):
            known = [obj.name for obj in found]
            few = known if len(known) <= MOST_NAMES else difflib.get_close_matches(pattern, known, n=MOST_NAMES)
            hint = suggest(pattern, few) or f"it has {len(known)}, which --list shows"
            raise NotFoundError(f"{folder}: no object {pattern!r}; {hint}")
    return tuple(
        obj for obj in found if not patterns or any(fnmatch.fnmatchcase(obj.name, pattern) for pattern in patterns)
    )


def find_objects(folder: Path) -> tuple[PackagedObject, ...]:
    """Search the model files of a folder; ``packaged_objects`` calls this in a child process."""
    found: dict[str, PackagedObject] = {}
    robots: set[Path] = set()
    around = (folder, *enclosing_folders(folder, most=PARENTS))
    files = sorted(file for ending in ("*.xml", "*.mjcf", "*.urdf") for file in folder.rglob(ending))
    for file in files:
        try:
            demand_inside(file, around, what=str(folder))  # A symbolic link may lead anywhere.
            demand_files_inside(file, around)
            bodies = _bodies_of_urdf(file) if file.suffix == ".urdf" else _bodies_of_mjcf(file)
        except (HandloomError, ValueError, OSError):
            continue  # A part of another file, or no model at all.
        if file.suffix == ".urdf" and not bodies and file.parent != folder:
            robots.add(file.parent)  # Files beside a robot are its parts.
        for body in bodies:
            name = _name(found, folder, file, body)
            if name not in found:
                found[name] = PackagedObject(name=name, path=file, package=folder, body=body)
    kept = [obj for obj in found.values() if obj.path.suffix != ".urdf" or obj.path.parent not in robots]
    return tuple(sorted(kept, key=lambda obj: obj.name))


def _name(found: dict[str, PackagedObject], folder: Path, file: Path, body: str | None) -> str:
    """Return the name of a file or of a body; of several scenes with a body of the same name, the first counts."""
    if body is not None:
        return file.stem if body.lower().rstrip("0123456789") in NAMELESS else body
    return "_".join(file.relative_to(folder).with_suffix("").parts) if file.stem in found else file.stem


def _bodies_of_urdf(file: Path) -> list[str | None]:
    """Return [None] for a URDF file that is an object, else nothing."""
    root = urdf_element(file)
    joints = [j for j in root.iter("joint") if j.get("type") in {"revolute", "prismatic", "continuous"}]
    names = [element.get("name", "") for element in (*root.iter("link"), *root.iter("joint"))]
    shapes = [*root.iter("collision"), *root.iter("visual")]
    if "robot" in file.stem.lower() or not shapes or root.find(".//collision/geometry/plane") is not None:
        return []
    return [] if len(joints) > MOST_JOINTS or _is_robot(names) else [None]


def _bodies_of_mjcf(file: Path) -> list[str | None]:
    """Return the names of the bodies in a MJCF file that are objects; [None] for a file with only one body."""
    spec = mujoco.MjSpec.from_file(str(file))
    driven = {actuator.target for actuator in spec.actuators}
    roots = list(spec.worldbody.bodies)
    objects = [body for body in roots if _is_object(body, driven)]
    if len(roots) == 1 and objects and not list(spec.worldbody.geoms):
        return [None]
    return [body.name for body in objects if body.name]


def _is_object(body: mujoco.MjsBody, driven: set[str]) -> bool:
    bodies = [body, *body.find_all("body")]
    joints = [joint for part in bodies for joint in part.joints]
    geoms = [geom for part in bodies for geom in part.geoms]
    solid = any(geom.contype or geom.conaffinity for geom in geoms)
    names = [element.name for element in (*bodies, *joints)]
    moved = body.mocap or any(joint.name in driven for joint in joints)
    return (
        solid and not moved and body.name.lower() not in MARKERS and len(joints) <= MOST_JOINTS and not _is_robot(names)
    )


def _is_robot(names: Iterable[str]) -> bool:
    return any(word in name.lower() for name in names for word in ROBOT_WORDS)


def add_object(
    found: PackagedObject, library: Path, added: dict[str, str], *, scale: float = 1.0, seconds: float = 60.0
) -> Imported:
    """Import an object and write it into a library as ``<name>/<name>.xml`` with its meshes and textures.

    A folder of that name is replaced if it holds nothing but such an object.

    Args:
        found: The object.
        library: Folder to write to.
        added: Fingerprint > name of the objects added so far; this object is added to it.
        scale: Factor on all lengths.
        seconds: Time limit for reading [s].

    Raises:
        InputError: The object is too small, too large or too light, was added under another name, or its name is taken.
        HandloomError: The object cannot be imported; the message says why.
    """
    imported = import_object(
        found.path, category=found.name, body=found.body, scale=scale, folders=[found.package], seconds=seconds
    )
    longest = float(imported.asset.extent.max())
    if not SMALLEST <= longest <= LARGEST:
        raise InputError(f"{1000 * longest:.3g} mm long; --scale makes it another size")
    if not imported.asset.mass >= LIGHTEST:
        raise InputError(f"its mass is {imported.asset.mass:.1g} kg")
    source = imported.asset.source
    assert isinstance(source, ImportedSource)  # Only MJCF and URDF files are listed.
    same = added.setdefault(source.fingerprint(), found.name)
    if same != found.name:
        raise InputError(f"the same as {same}")
    folder = library / safe_name(found.name)
    _clear(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in source.files:
        below(folder, name, what=str(found.path)).write_bytes(content)
    (folder / f"{folder.name}.xml").write_text(source.xml, encoding="utf-8")
    (folder / REPORT).write_text(imported.report.text() + "\n", encoding="utf-8")
    return imported


def _clear(folder: Path) -> None:
    """Delete an object that was added before, file by file; a folder with anything else in it is left alone."""
    if not folder.exists() and not folder.is_symlink():
        return
    model = folder / f"{folder.name}.xml"
    text = model.read_bytes() if folder.is_dir() and not folder.is_symlink() and model.is_file() else b""
    own = {model.name, REPORT, *(os.fsdecode(name) for name in re.findall(rb'file="([^"/]*)"', text))}
    entries = sorted(folder.iterdir()) if text else [folder]
    others = [entry for entry in entries if entry.name not in own or entry.is_symlink() or not entry.is_file()]
    if others or not (folder / REPORT).is_file():
        there = f" ({others[0].name})" if text and others else ""
        raise InputError(
            f"{folder} contains other files{there} or is not a folder; move it away, or choose another folder with -o"
        )
    for entry in entries:
        entry.unlink()
