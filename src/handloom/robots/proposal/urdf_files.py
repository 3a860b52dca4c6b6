"""A URDF file prepared for MuJoCo: ``package://`` resolved, meshes gathered and converted, speed limits read."""

import os
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.config.search import demand_inside
from handloom.errors import ConfigError, MissingExtraError, NotAllowedError, require
from handloom.sim.model_file import MODEL_PARENTS, read_xml
from handloom.sim.urdf import mujoco_compiler, urdf_element

READ_BY_MUJOCO = (".stl", ".obj", ".msh")
MOST_DRAWN = 8000
"""Maximum number of triangles of a converted visual mesh; CAD exports have a hundred thousand."""
PACKAGE_PATH = "ROS_PACKAGE_PATH"
"""Environment variable with the folders in which ROS looks for packages."""


@dataclass(frozen=True, kw_only=True)
class PreparedUrdf:
    """A URDF file in its own folder, with everything it needs."""

    file: Path
    speed_limits: Mapping[str, float]
    """Joint > largest speed [rad/s or m/s], if the file has one."""
    notes: Sequence[str] = field(default_factory=list)
    """Notes about dropped or converted parts."""


def prepare_urdf(
    path: Path, folder: Path, *, packages: Mapping[str, Path], folders: Sequence[Path] | None
) -> PreparedUrdf:
    """Write a URDF file and copies of its meshes into a folder, so that MuJoCo can read it.

    Args:
        path: The URDF file.
        folder: An empty folder.
        packages: Package > its folder, as the user gave them.
        folders: Folders that may contain the meshes, besides packages that the user named; None: any.

    Raises:
        FileError: It is not a URDF file.
        ConfigError: A mesh cannot be found; the message lists the folders searched.
        NotAllowedError: A mesh is elsewhere.
    """
    robot = urdf_element(path)
    meshes = _Meshes(path, folder, packages, folders)
    for parent in list(robot.iter()):
        for geometry in [child for child in parent if child.tag in ("visual", "collision")]:
            mesh = geometry.find("geometry/mesh")
            if mesh is not None and not meshes.gather(mesh, drawn=geometry.tag == "visual"):
                parent.remove(geometry)
    compiler = mujoco_compiler(robot)
    compiler.attrib |= {"strippath": "true", "discardvisual": "false", "fusestatic": "false", "balanceinertia": "true"}
    compiler.attrib.pop("meshdir", None)
    file = folder / path.name
    ET.ElementTree(robot).write(file, encoding="utf-8")
    impossible = _impossible_inertias(robot)
    if impossible:
        meshes.notes.append(f"the inertias of {', '.join(impossible)} are impossible; they were corrected")
    return PreparedUrdf(file=file, speed_limits=_speed_limits(robot), notes=meshes.notes)


def simplified(
    vertices: Array, faces: NDArray[np.integer], most: int = MOST_DRAWN
) -> tuple[Array, NDArray[np.integer]]:
    """Return a mesh of at most this many triangles: vertices in the same grid cell are merged into their mean.

    Args:
        vertices: Corners (n, 3) [m].
        faces: Triangles (m, 3).
        most: Maximum number of triangles.
    """
    if len(faces) <= most:
        return vertices, faces
    cell = float(np.ptp(vertices, axis=0).max()) / 400.0
    while True:
        _, cells, counts = np.unique(
            np.round(vertices / cell).astype(np.int64), axis=0, return_inverse=True, return_counts=True
        )
        cells = cells.reshape(-1)
        merged = cells[faces]
        whole = (merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 0] != merged[:, 2])
        merged = np.unique(merged[whole], axis=0)
        if len(merged) <= most:
            means = np.zeros((len(counts), 3))
            np.add.at(means, cells, vertices)
            return means / counts[:, None], merged
        cell *= 1.3


def _speed_limits(robot: ET.Element) -> dict[str, float]:
    limits: dict[str, float] = {}
    for joint in robot.iter("joint"):
        limit = joint.find("limit")
        try:
            speed = float(limit.get("velocity", "0")) if limit is not None else 0.0
        except ValueError:
            continue
        if 0.0 < speed < 1e3:
            limits[joint.get("name", "")] = speed
    return limits


def _impossible_inertias(robot: ET.Element) -> list[str]:
    """Return the links whose largest moment of inertia is more than the other two together."""
    found = []
    for link in robot.iter("link"):
        inertia = link.find("inertial/inertia")
        if inertia is None:
            continue
        try:
            xx, yy, zz, xy, xz, yz = (
                float(inertia.get(f"i{axes}", "0")) for axes in ("xx", "yy", "zz", "xy", "xz", "yz")
            )
        except ValueError:
            continue
        small, middle, large = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if large > (small + middle) * (1 + 1e-6):
            found.append(link.get("name", ""))
    return found


class _Meshes:
    """Finds the meshes that a URDF file names and puts copies of them side by side."""

    def __init__(self, path: Path, folder: Path, packages: Mapping[str, Path], folders: Sequence[Path] | None) -> None:
        self.path, self.folder, self.packages, self.folders = path, folder, packages, folders
        self.notes: list[str] = []
        self._copies: dict[Path, str] = {}

    def gather(self, mesh: ET.Element, *, drawn: bool) -> bool:
        """Copy one mesh and refer to the copy in the file; return False if it should be left out."""
        name = mesh.get("filename", "")
        source = self._found(name)
        if source not in self._copies:
            copy = f"{len(self._copies)}_{source.stem}"  # Two folders may have files of the same name.
            suffix = source.suffix.lower()
            if suffix in READ_BY_MUJOCO:
                copy += suffix
                shutil.copyfile(source, self.folder / copy)
            else:
                copy += ".stl"
                if not self._converted(source, self.folder / copy, drawn=drawn):
                    return False
            self._copies[source] = copy
        mesh.set("filename", self._copies[source])
        return True

    def _converted(self, source: Path, target: Path, *, drawn: bool) -> bool:
        """Write a mesh of another format as STL; a visual mesh may be dropped, with a note."""
        try:
            trimesh = require("trimesh", extra="meshes")
            if source.suffix.lower() == ".dae":
                require("collada", extra="meshes")
                read_xml(source)  # Refuses a document type.
            mesh = trimesh.load(source, force="mesh", resolver=self._resolver(trimesh, source))
            vertices, faces = simplified(mesh.vertices, mesh.faces) if drawn else (mesh.vertices, mesh.faces)
            trimesh.Trimesh(vertices, faces, process=False).export(target)
        except NotAllowedError:
            raise
        except MissingExtraError as error:
            if not drawn:
                raise ConfigError(f"{self.path}: {source.name} cannot be converted: {error}") from error
            self.notes.append(f"{source.name} is not drawn: {error}")
            return False
        except Exception as error:  # trimesh's readers raise many types of errors.
            if not drawn:
                raise ConfigError(f"{self.path}: {source} cannot be converted: {error}") from error
            self.notes.append(f"{source.name} is not drawn: it cannot be converted: {error}")
            return False
        fewer = f", {len(mesh.faces)} triangles became {len(faces)}" if len(faces) < len(mesh.faces) else ""
        self.notes.append(f"{source.name} was converted{fewer}; its colours are lost")
        return True

    def _resolver(self, trimesh: ModuleType, source: Path) -> Any:
        """Return a trimesh resolver restricted to files that the model itself may refer to."""
        allowed = self._allowed

        class Resolver(trimesh.resolvers.FilePathResolver):
            def get(self, name: str) -> bytes:
                return allowed(source.parent / name.strip(), name, folders).read_bytes()

        folders = None if self.folders is None else (*self.folders, source.parent)
        return Resolver(str(source))

    def _found(self, name: str) -> Path:
        if not name.startswith("package://"):
            place = self.path.parent / name.removeprefix("file://")
            if not place.is_file():
                raise ConfigError(f"{self.path}: mesh {name} not found; looked for {place}")
            return self._allowed(place, name, self.folders)
        package, _, rest = name.removeprefix("package://").partition("/")
        if package in self.packages:
            place = self.packages[package] / rest
            if place.is_file():
                return self._allowed(place, name, (self.packages[package],))
            raise ConfigError(f"{self.path}: {name}: {place} not found; is --package {package}= right?")
        around = [self.path.resolve().parent, *list(self.path.resolve().parents)[1 : MODEL_PARENTS + 2]]
        named = [Path(entry) for entry in os.environ.get(PACKAGE_PATH, "").split(os.pathsep) if entry]
        for root in (*around, *named):
            for place in (root / package / rest, *([root / rest] if root.name == package else [])):
                if place.is_file():
                    inside = None if self.folders is None else (*self.folders, *named)
                    return self._allowed(place, name, inside)
        looked = ", ".join(str(root) for root in (*around, *named))
        raise ConfigError(
            f"{self.path}: {name}: there is no folder {package} with this file in {looked}; give its folder with "
            f"--package {package}=FOLDER, or in {PACKAGE_PATH}"
        )

    def _allowed(self, place: Path, name: str, folders: Sequence[Path] | None) -> Path:
        if folders is not None:
            demand_inside(place, folders, what=f"{self.path}: {name}")
        return place.resolve()
