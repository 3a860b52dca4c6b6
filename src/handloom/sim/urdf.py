"""URDF files: their XML, joints and links; shapes and masses are not read here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from handloom.arrays import Array
from handloom.errors import FileError, unknown_name
from handloom.sim.model_file import read_xml
from handloom.spatial import make_pose, matrix_from_quat, matrix_from_rotvec

MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, kw_only=True, eq=False)
class UrdfJoint:
    """A joint and its child link."""

    name: str
    kind: str
    """``revolute``, ``continuous``, ``prismatic`` or ``fixed``."""
    parent: str
    child: str
    T_parent_child: Array
    """Pose of the child at joint value zero (4, 4)."""
    axis: Array
    """Unit axis in the child (3,)."""
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    """Maximum speed [rad/s or m/s]."""
    mimic: tuple[str, float, float] | None = None
    """Joint it follows, multiplier, offset."""

    def pose(self, value: float) -> Array:
        """Return ``T_parent_child`` (4, 4) at a joint value [rad or m]."""
        if self.kind == "fixed":
            return self.T_parent_child
        move = self.axis * value
        turned = self.kind != "prismatic"
        return self.T_parent_child @ (
            make_pose(matrix_from_rotvec(move), np.zeros(3)) if turned else make_pose(np.eye(3), move)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Urdf:
    """Links in order, parents first, and the parent joint of each."""

    path: Path
    root: str
    joints: tuple[UrdfJoint, ...]

    @property
    def links(self) -> tuple[str, ...]:
        """Names, the root first."""
        return (self.root, *(joint.child for joint in self.joints))

    def joint(self, name: str) -> UrdfJoint:
        """Return a joint by its name."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise unknown_name(f"joint of {self.path}", name, (joint.name for joint in self.joints))

    def with_frame(self, name: str, parent: str, T_parent_frame: Array) -> "Urdf":
        """Return the same robot with one more frame."""
        if parent not in self.links:
            raise unknown_name(f"frame of {self.path}", parent, self.links)
        joint = UrdfJoint(
            name=f"{name}_fixed", kind="fixed", parent=parent, child=name, T_parent_child=T_parent_frame, axis=_X
        )
        return replace(self, joints=(*self.joints, joint))

    def pose(self, link: str, values: Mapping[str, float]) -> Array:
        """Return ``T_root_link`` (4, 4) of joint values [rad or m] by name; joints not given are at 0."""
        if link not in self.links:
            raise unknown_name(f"link of {self.path}", link, self.links)
        T = np.eye(4)
        for joint in self.above(link):
            T = joint.pose(values.get(joint.name, 0.0)) @ T
        return T

    def above(self, link: str) -> list[UrdfJoint]:
        """Return the joints between a link and the root, the link's own first."""
        by_child, found = {joint.child: joint for joint in self.joints}, []
        while link in by_child:
            found.append(by_child[link])
            link = by_child[link].parent
        return found

    def with_joint(self, changed: UrdfJoint) -> "Urdf":
        """Return the same robot with one joint replaced by name."""
        return replace(self, joints=tuple(changed if j.name == changed.name else j for j in self.joints))


_X = np.array([1.0, 0.0, 0.0])


def urdf_element(file: Path) -> ElementTree.Element:
    """Return the ``<robot>`` element of a URDF file.

    Raises:
        FileError: It cannot be read, or it is not a URDF file.
    """
    try:
        robot = ElementTree.fromstring(read_xml(file))
    except ElementTree.ParseError as error:
        raise FileError(f"{file}:{error.position[0]}: not valid XML: {error}") from error
    if robot.tag != "robot":
        raise FileError(f"{file}: a URDF file starts with <robot>, this one with <{robot.tag}>")
    return robot


def mujoco_compiler(robot: ElementTree.Element) -> ElementTree.Element:
    """Return the ``<mujoco><compiler>`` element, MuJoCo's settings in a URDF file; it is added if there is none."""
    settings = robot.find("mujoco")
    settings = ElementTree.SubElement(robot, "mujoco") if settings is None else settings
    compiler = settings.find("compiler")
    return ElementTree.SubElement(settings, "compiler") if compiler is None else compiler


def read_urdf(path: str | Path) -> Urdf:
    """Read a URDF file.

    Raises:
        FileError: The file is invalid; the message names file, element and fault.
    """
    file = Path(path)
    robot = urdf_element(file)
    links = [element.get("name", "") for element in robot.findall("link")]
    joints = [_joint(file, element, links) for element in robot.findall("joint")]
    parents: dict[str, UrdfJoint] = {}
    for joint in joints:
        if joint.child in parents:
            raise FileError(f"{file}: <link name={joint.child!r}> has two parent joints: {parents[joint.child].name!r} "
                            f"and {joint.name!r}; a link has one parent")  # fmt: skip
        parents[joint.child] = joint
    roots = [link for link in links if link not in parents]
    if len(roots) != 1:
        found = ", ".join(roots) or "none, the joints form a circle"
        raise FileError(f"{file}: a robot has one root link, without a parent joint; found {found}")
    ordered, waiting = [], list(joints)
    reached = {roots[0]}
    while waiting:
        ready = [joint for joint in waiting if joint.parent in reached]
        if not ready:
            raise FileError(f"{file}: <joint name={waiting[0].name!r}> is not connected to {roots[0]!r}")
        ordered += ready
        reached |= {joint.child for joint in ready}
        waiting = [joint for joint in waiting if joint not in ready]
    return Urdf(path=file, root=roots[0], joints=tuple(ordered))


def _joint(file: Path, element: ElementTree.Element, links: list[str]) -> UrdfJoint:
    name, kind = element.get("name", ""), element.get("type", "")
    where = f"{file}: <joint name={name!r}>"
    if kind not in (*MOVING, "fixed"):
        raise FileError(f"{where} has the type {kind!r}; supported are revolute, continuous, prismatic and fixed")
    ends = []
    for tag in ("parent", "child"):
        found = element.find(tag)
        link = "" if found is None else found.get("link", "")
        if link not in links:
            raise FileError(f"{where} has the {tag} {link!r}, but there is no such <link>")
        ends.append(link)
    origin, axis, limit, mimic = (element.find(tag) for tag in ("origin", "axis", "limit", "mimic"))
    position = _numbers(where, origin, "xyz", "0 0 0")
    T = make_pose(matrix_from_rpy(_numbers(where, origin, "rpy", "0 0 0")), position)
    along = _numbers(where, axis, "xyz", "1 0 0")
    if kind in MOVING and not np.linalg.norm(along) > 1e-9:
        raise FileError(f"{where}: <axis xyz> has length zero")
    if kind in {"revolute", "prismatic"} and limit is None:
        raise FileError(f"{where} is {kind} and needs <limit lower upper velocity>")
    lower, upper, velocity = -np.inf, np.inf, np.inf
    if limit is not None:
        velocity = _number(where, limit, "velocity", np.inf)
        if kind != "continuous":
            lower, upper = _number(where, limit, "lower", 0.0), _number(where, limit, "upper", 0.0)
            if lower > upper:
                raise FileError(f"{where}: <limit> has lower {lower} above upper {upper}")
    follows = None
    if mimic is not None:
        follows = (mimic.get("joint", ""), _number(where, mimic, "multiplier", 1.0), _number(where, mimic, "offset", 0))
    return UrdfJoint(
        name=name,
        kind=kind,
        parent=ends[0],
        child=ends[1],
        T_parent_child=T,
        axis=along / max(float(np.linalg.norm(along)), 1e-12),
        lower=lower,
        upper=upper,
        velocity=velocity,
        mimic=follows,
    )


def matrix_from_rpy(rpy: Array) -> Array:
    """Return the rotation (3, 3) of URDF's roll, pitch, yaw: about fixed x, then y, then z [rad]."""
    roll, pitch, yaw = (matrix_from_rotvec(angle * axis) for angle, axis in zip(rpy, np.eye(3), strict=True))
    return yaw @ pitch @ roll


def matrix_from_wxyz(quat: tuple[float, float, float, float]) -> Array:
    """Return the rotation (3, 3) of a quaternion of any length."""
    values = np.array(quat, float)
    return matrix_from_quat(values / np.linalg.norm(values))


def _numbers(where: str, element: ElementTree.Element | None, name: str, default: str) -> Array:
    text = default if element is None else element.get(name, default)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (3,) or not np.all(np.isfinite(values)):
        raise FileError(f"{where}: {name}={text!r} should be three numbers")
    return values


def _number(where: str, element: ElementTree.Element, name: str, default: float) -> float:
    text = element.get(name)
    if text is None:
        return float(default)
    try:
        return float(text)
    except ValueError:
        raise FileError(f"{where}: {name}={text!r} should be a number") from None
