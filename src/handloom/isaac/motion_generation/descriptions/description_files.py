"""Third-party robot descriptions: Reading and writing of Lula robot description YAML and XRDF, each used with a URDF.

Both formats contain the planned joints, the positions of the other joints, acceleration limits, and the collision
spheres of the links. Geometry, position and velocity limits come from the URDF.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, field_validator, model_validator

from handloom.config import Config, Metres, Position, Quaternion, UnusedKey, load_config, read_document
from handloom.config.references import resolved
from handloom.errors import ConfigError, unknown_name

Positive = Annotated[float, Field(gt=0.0)]


class CollisionSphere(Config):
    """A sphere in the frame of its link."""

    center: Position
    radius: Metres
    """[m]; must be positive after buffers are added."""


class FixedJoint(Config):
    """Position of a joint that is not planned."""

    name: str
    rule: Literal["fixed"]
    value: float


class LulaFile(Config):
    """A Lula robot description."""

    api_version: float | str = 1.0
    cspace: list[str] = Field(min_length=1)
    """Planned joints, in the order of configurations."""
    root_link: str
    subtree_root_link: Annotated[str | None, UnusedKey("the whole URDF is read")] = None
    default_q: list[float]
    """Default configuration, to which policies return [rad or m]."""
    acceleration_limits: list[Positive] | None = None
    jerk_limits: list[Positive] | None = None
    cspace_to_urdf_rules: list[FixedJoint] | None = None
    composite_task_spaces: Annotated[list[Any] | None, UnusedKey("tasks name their frames")] = None
    collision_spheres: list[dict[str, list[CollisionSphere] | None]] | None = None

    @model_validator(mode="after")
    def _one_value_per_joint(self) -> "LulaFile":
        for name in ("default_q", "acceleration_limits", "jerk_limits"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.cspace):
                raise ValueError(f"{name} has {len(values)} values for {len(self.cspace)} joints of cspace")
        return self

    def spheres(self) -> dict[str, list[CollisionSphere]]:
        """Return the spheres of each link."""
        found: dict[str, list[CollisionSphere]] = {}
        for entry in self.collision_spheres or []:
            for link, spheres in entry.items():
                found.setdefault(link, []).extend(spheres or [])
        return found


class XrdfTransform(Config):
    """A constant transform."""

    position: Position = (0.0, 0.0, 0.0)
    orientation: dict[str, Any] | None = None
    """``{w: 1, xyz: [0, 0, 0]}``."""
    quaternion: dict[str, Any] | None = None
    """The same quantity under another name."""
    euler_rpy: Position | None = None
    """Roll, pitch, yaw as in URDF [rad]."""

    def quat(self) -> Quaternion | None:
        """Return the quaternion wxyz, or None if the rotation is given as angles."""
        given = self.orientation or self.quaternion
        if given is None:
            return None if self.euler_rpy is not None else (1.0, 0.0, 0.0, 0.0)
        w, x, y, z = (float(value) for value in (given.get("w", 1.0), *given.get("xyz", (0.0, 0.0, 0.0))))
        return (w, x, y, z)


class AddFrame(Config):
    """A frame that the URDF does not have."""

    frame_name: str
    parent_frame_name: str
    joint_name: str = ""
    joint_type: Literal["FIXED", "fixed"] = "FIXED"
    fixed_transform: XrdfTransform = XrdfTransform()


class RemoveMimic(Config):
    """A joint that no longer follows another."""

    joint_name: str
    position_limits: tuple[float, float] | None = None
    velocity_limit: float | None = None
    velocity_limits: float | None = None


class Modifier(Config):
    """A change of the URDF; exactly one key."""

    add_frame: AddFrame | None = None
    set_base_frame: str | None = None
    remove_mimic_attributes: RemoveMimic | None = None

    @model_validator(mode="after")
    def _one_change(self) -> "Modifier":
        if sum(value is not None for value in (self.add_frame, self.set_base_frame, self.remove_mimic_attributes)) != 1:
            raise ValueError("a modifier has exactly one of add_frame, set_base_frame, remove_mimic_attributes")
        return self


class XrdfCSpace(Config):
    """The planned joints."""

    joint_names: list[str] = Field(min_length=1)
    acceleration_limits: list[Positive] | None = None
    jerk_limits: list[Positive] | None = None

    @model_validator(mode="after")
    def _one_limit_per_joint(self) -> "XrdfCSpace":
        for name in ("acceleration_limits", "jerk_limits"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.joint_names):
                raise ValueError(f"{name} has {len(values)} values for {len(self.joint_names)} joints of joint_names")
        return self


class XrdfCollision(Config):
    """The spheres to use, and how much they are enlarged."""

    geometry: str
    buffer_distance: dict[str, float] = Field(default_factory=dict)
    """Link > distance added to its radii [m]."""
    ignore: dict[str, list[str]] = Field(default_factory=dict)
    """Link > links it may touch; self-collision only."""


class XrdfGeometry(Config):
    """A group of spheres, optionally extending other groups."""

    spheres: dict[str, list[CollisionSphere]] = Field(default_factory=dict)
    clone: list[str] = Field(default_factory=list)


class XrdfFile(Config):
    """An XRDF file, version 1.0 or 2.0."""

    format: Literal["xrdf"]
    format_version: Literal[1, 2] = 1
    modifiers: list[Modifier] = Field(default_factory=list)
    default_joint_positions: dict[str, float] = Field(default_factory=dict)
    cspace: XrdfCSpace
    tool_frames: list[str] = Field(default_factory=list)
    collision: XrdfCollision | None = None
    """Version 1."""
    world_collision: XrdfCollision | None = None
    """Version 2."""
    self_collision: XrdfCollision | None = None
    geometry: dict[str, XrdfGeometry] = Field(default_factory=dict)

    @field_validator("format_version", mode="before")
    @classmethod
    def _version_number(cls, given: Any) -> Any:
        try:
            return int(float(given))
        except (TypeError, ValueError):
            return given

    def spheres(self, which: XrdfCollision | None) -> dict[str, list[tuple[Position, float]]]:
        """Return centre and radius, buffers included, of the spheres of each link."""
        if which is None:
            return {}
        found: dict[str, list[tuple[Position, float]]] = {}
        for link, spheres in self._group(which.geometry, ()).items():
            more = which.buffer_distance.get(link, 0.0)
            for sphere in spheres:
                if sphere.radius + more <= 0.0:
                    raise ValueError(f"a sphere of {link!r} has radius {sphere.radius} with buffer {more}")
            found[link] = [(sphere.center, sphere.radius + more) for sphere in spheres]
        return found

    def _group(self, name: str, inside: tuple[str, ...]) -> dict[str, list[CollisionSphere]]:
        if name in inside:
            raise ValueError(f"geometry groups clone each other in a cycle: {' > '.join((*inside, name))}")
        if name not in self.geometry:
            raise unknown_name("geometry group", name, self.geometry)
        group, found = self.geometry[name], {}
        for other in group.clone:
            for link, spheres in self._group(other, (*inside, name)).items():
                found.setdefault(link, []).extend(spheres)
        for link, spheres in group.spheres.items():
            found.setdefault(link, []).extend(spheres)
        return found


def read_description(path: str | Path) -> LulaFile | XrdfFile:
    """Read a Lula robot description or an XRDF file; the format is detected from the content.

    Raises:
        ConfigError: The file is invalid; the message has the file, line and fault.
    """
    values = resolved(read_document(path))
    if not isinstance(values, dict):
        raise ConfigError(f"{path}:1: expected a robot description (cspace, root_link, ...) or an XRDF file")
    return load_config(path, XrdfFile if "format" in values else LulaFile)


def description_text(values: Mapping[str, Any]) -> str:
    """Return a description as YAML: numbers rounded as in the published editor, short lists on one line."""
    return yaml.dump(_rounded(values), sort_keys=False, default_flow_style=None, width=120)


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) else value
