"""Device samples: controllers, hands and heads at one moment, their checks and their JSON form."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.errors import InputError, suggest
from handloom.retarget.inputs import NUM_BODY_JOINTS, NUM_HAND_JOINTS

# Strict JSON has no such numbers, and a faithful recording of a broken tracker needs them.
_NON_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def array_field(value: Any, shape: tuple[int, ...], *, what: str, dtype: Any = np.float32) -> NDArray[Any]:
    """Return a field as a new array of fixed shape; NaN is kept for the nodes to handle."""
    try:
        # A number beyond float32 becomes infinity, which the nodes handle like any other invalid pose.
        with np.errstate(over="ignore"):
            array = np.array(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be numbers of shape {shape}, got {value!r}") from error
    if array.shape != shape:
        raise InputError(f"{what} must have shape {shape}, got {array.shape}")
    array.setflags(write=False)
    return array


def float_field(value: Any, *, what: str) -> float:
    """Return a field as a float; bools count as 0 and 1, text and None are rejected."""
    if not isinstance(value, (int, float, np.floating, np.integer)):
        raise InputError(f"{what} must be a number, got {value!r}")
    return float(value)


def bool_field(value: Any, *, what: str) -> bool:
    """Return a field as a bool; only True and False are accepted."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} must be True or False, got {value!r}")
    return bool(value)


def decoded(value: Any) -> Any:
    """Return a JSON value with ``"nan"``, ``"inf"`` and ``"-inf"`` as numbers, in nested lists too."""
    if isinstance(value, list):
        return [decoded(element) for element in value]
    return _NON_FINITE.get(value, value) if isinstance(value, str) else value


def encoded(value: Any) -> Any:
    """Return a field as strict JSON; the inverse of ``decoded``."""
    if isinstance(value, np.ndarray):
        return encoded(value.tolist())
    if isinstance(value, list):
        return [encoded(element) for element in value]
    if isinstance(value, float) and not np.isfinite(value):
        return "nan" if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


@dataclasses.dataclass(frozen=True, eq=False)
class Snapshot:
    """One sample of one device; the fields of a subclass are the slots of its group type, in order."""

    label: ClassVar[str]
    """How errors call it."""

    def slots(self) -> tuple[Any, ...]:
        """Return the values in the order of the group type."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def to_record(self) -> dict[str, Any]:
        """Return the fields as strict JSON values; ``from_record`` reads them back exactly."""
        return {field.name: encoded(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @classmethod
    def from_record(cls, record: Any) -> Self:
        """Read a mapping of field names to JSON values; unknown and missing fields are rejected."""
        if not isinstance(record, Mapping):
            raise InputError(f"{cls.label} must be a mapping of fields, got {type(record).__name__}")
        known = {field.name: field for field in dataclasses.fields(cls)}
        for name in record:
            if name not in known:
                raise InputError(f"{cls.label} has no field {name!r}; {suggest(str(name), known)}")
        missing = [n for n, field in known.items() if n not in record and field.default is dataclasses.MISSING]
        if missing:
            raise InputError(f"{cls.label} lacks the fields {', '.join(missing)}")
        return cls(**{name: decoded(value) for name, value in record.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot) or type(self) is not type(other):
            return False
        pairs = zip(self.slots(), other.slots(), strict=True)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(repr(self.to_record()))


_SHAPES = {"grip_position": (3,), "grip_orientation": (4,), "aim_position": (3,), "aim_orientation": (4,)}
_BOOLS = ("grip_is_valid", "aim_is_valid")


@dataclass(frozen=True, kw_only=True, eq=False)
class ControllerSnapshot(Snapshot):
    """A controller at one moment; the fields are the slots of ``ControllerInput`` in their order.

    Wrong shapes and types raise ``InputError``; NaN and zero quaternions are kept, because trackers send them and the
    nodes handle them.
    """

    label: ClassVar[str] = "a controller sample"

    grip_position: ArrayLike = (0.0, 0.0, 0.0)
    """Palm position in the session frame (3,) [m], stored as float32."""
    grip_orientation: ArrayLike = (0.0, 0.0, 0.0, 0.0)
    """Palm orientation in the session frame, xyzw (4,)."""
    grip_is_valid: bool = False
    """Whether the device marks the grip pose as valid."""
    aim_position: ArrayLike = (0.0, 0.0, 0.0)
    """Origin of the pointing ray (3,) [m]."""
    aim_orientation: ArrayLike = (0.0, 0.0, 0.0, 0.0)
    """Orientation of the pointing ray, which is along -z, xyzw (4,)."""
    aim_is_valid: bool = False
    """Whether the device marks the aim pose as valid."""
    primary_click: float = 0.0
    """A or X, 0 or 1."""
    secondary_click: float = 0.0
    """B or Y, 0 or 1."""
    thumbstick_x: float = 0.0
    """-1..1, right is positive."""
    thumbstick_y: float = 0.0
    """-1..1, up is positive."""
    thumbstick_click: float = 0.0
    """0 or 1."""
    menu_click: float = 0.0
    """0 or 1."""
    squeeze_value: float = 0.0
    """0..1."""
    trigger_value: float = 0.0
    """0..1."""

    def __post_init__(self) -> None:
        """Convert every field to its stored type, or reject it."""
        for field in fields(self):
            value, what = getattr(self, field.name), f"controller field {field.name!r}"
            if field.name in _SHAPES:
                value = array_field(value, _SHAPES[field.name], what=what)
            elif field.name in _BOOLS:
                value = bool_field(value, what=what)
            else:
                value = float_field(value, what=what)
            object.__setattr__(self, field.name, value)


@dataclass(frozen=True, kw_only=True, eq=False)
class HandSnapshot(Snapshot):
    """A hand at one moment; the fields are the slots of ``HandInput`` in their order."""

    label: ClassVar[str] = "a hand sample"

    joint_positions: ArrayLike
    """(26, 3) [m] in the session frame, OpenXR order."""
    joint_orientations: ArrayLike
    """(26, 4) xyzw."""
    joint_radii: ArrayLike
    """(26,) [m]."""
    joint_valid: ArrayLike
    """(26,) 0 or 1."""

    def __post_init__(self) -> None:
        """Convert every field to its stored type, or reject it."""
        n = NUM_HAND_JOINTS
        for name, shape, dtype in (
            ("joint_positions", (n, 3), np.float32),
            ("joint_orientations", (n, 4), np.float32),
            ("joint_radii", (n,), np.float32),
            ("joint_valid", (n,), np.uint8),
        ):
            value = array_field(getattr(self, name), shape, what=f"hand field {name!r}", dtype=dtype)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadSnapshot(Snapshot):
    """A head at one moment; the fields are the slots of ``HeadInput`` in their order."""

    label: ClassVar[str] = "a head sample"

    position: ArrayLike
    """(3,) [m] in the session frame."""
    orientation: ArrayLike
    """xyzw (4,)."""
    is_valid: bool = True
    """Whether the pose is valid."""
    is_tracked: bool = True
    """Whether the pose was measured rather than extrapolated."""

    def __post_init__(self) -> None:
        """Convert every field to its stored type, or reject it."""
        object.__setattr__(self, "position", array_field(self.position, (3,), what="head field 'position'"))
        object.__setattr__(self, "orientation", array_field(self.orientation, (4,), what="head field 'orientation'"))
        for name in ("is_valid", "is_tracked"):
            object.__setattr__(self, name, bool_field(getattr(self, name), what=f"head field {name!r}"))


@dataclass(frozen=True, kw_only=True, eq=False)
class PedalSnapshot(Snapshot):
    """A rudder with two toe pedals at one moment; the fields are the slots of ``Generic3AxisPedalInput``."""

    label: ClassVar[str] = "a pedal sample"

    left_pedal: float = 0.0
    """0..1."""
    right_pedal: float = 0.0
    """0..1."""
    rudder: float = 0.0
    """-1..1."""

    def __post_init__(self) -> None:
        """Convert every field to its stored type, or reject it."""
        for field in fields(self):
            value = float_field(getattr(self, field.name), what=f"pedal field {field.name!r}")
            object.__setattr__(self, field.name, value)


@dataclass(frozen=True, kw_only=True, eq=False)
class FullBodySnapshot(Snapshot):
    """A body at one moment; the fields are the slots of ``FullBodyInput`` in their order."""

    label: ClassVar[str] = "a body sample"

    joint_positions: ArrayLike
    """(24, 3) [m] in the session frame."""
    joint_orientations: ArrayLike
    """(24, 4) xyzw."""
    joint_valid: ArrayLike
    """(24,) 0 or 1."""

    def __post_init__(self) -> None:
        """Convert every field to its stored type, or reject it."""
        n = NUM_BODY_JOINTS
        for name, shape, dtype in (
            ("joint_positions", (n, 3), np.float32),
            ("joint_orientations", (n, 4), np.float32),
            ("joint_valid", (n,), np.uint8),
        ):
            value = array_field(getattr(self, name), shape, what=f"body field {name!r}", dtype=dtype)
            object.__setattr__(self, name, value)


MOST_JOINTS = 64
"""Maximum number of joints of a leader arm and of actuators of a robot."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderSnapshot(Snapshot):
    """A leader arm at one moment: its joint positions are the targets of the follower's joints.

    NaN is kept: the servo did not answer, and the follower holds.
    """

    label: ClassVar[str] = "a leader sample"

    joints: ArrayLike
    """(n,) [rad or m], base to wrist, in the convention of the follower."""
    gripper: float = 0.0
    """Closedness of the gripper, 0..1."""

    def __post_init__(self) -> None:
        """Convert every field to its stored type, or reject it."""
        object.__setattr__(self, "joints", vector_field(self.joints, what="leader field 'joints'"))
        object.__setattr__(self, "gripper", float_field(self.gripper, what="leader field 'gripper'"))


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicySnapshot(Snapshot):
    """A policy's command at one moment, which a person may correct."""

    label: ClassVar[str] = "a policy sample"

    targets: ArrayLike
    """Actuator targets (controls,) [rad or m]; NaN keeps the current one."""

    def __post_init__(self) -> None:
        """Convert the field to its stored type, or reject it."""
        object.__setattr__(self, "targets", vector_field(self.targets, what="policy field 'targets'"))


def vector_field(value: Any, *, what: str) -> NDArray[np.float64]:
    """Return a field as a new vector of 1 to ``MOST_JOINTS`` numbers; NaN is kept."""
    try:
        array = np.array(value, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be numbers, got {str(value)[:80]}") from error
    if array.ndim != 1 or not 1 <= len(array) <= MOST_JOINTS:
        raise InputError(f"{what} must have 1 to {MOST_JOINTS} numbers, got shape {array.shape}")
    array.setflags(write=False)
    return array
