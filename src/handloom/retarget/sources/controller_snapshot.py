"""One sample of one motion controller, as a device layer delivers it."""

from dataclasses import dataclass, fields
from typing import ClassVar

from numpy.typing import ArrayLike

from handloom.retarget.sources.snapshot import Snapshot
from handloom.retarget.sources.snapshot_fields import array_field, bool_field, float_field

_SHAPES = {"grip_position": (3,), "grip_orientation": (4,), "aim_position": (3,), "aim_orientation": (4,)}
_BOOLS = ("grip_is_valid", "aim_is_valid")


@dataclass(frozen=True, kw_only=True, eq=False)
class ControllerSnapshot(Snapshot):
    """A controller at one moment; the fields are the slots of ``ControllerInput`` in their order.

    Wrong shapes and kinds raise ``InputError``; NaN and zero quaternions are kept, because trackers send
    them and the nodes know how to hold.
    """

    label: ClassVar[str] = "a controller sample"

    grip_position: ArrayLike = (0.0, 0.0, 0.0)
    """Palm in the session frame (3,) [m], stored as float32."""
    grip_orientation: ArrayLike = (0.0, 0.0, 0.0, 0.0)
    """Palm in the session frame, xyzw (4,)."""
    grip_is_valid: bool = False
    """Whether the device vouches for the grip pose."""
    aim_position: ArrayLike = (0.0, 0.0, 0.0)
    """Origin of the pointing ray (3,) [m]."""
    aim_orientation: ArrayLike = (0.0, 0.0, 0.0, 0.0)
    """Pointing ray along -z, xyzw (4,)."""
    aim_is_valid: bool = False
    """Whether the device vouches for the aim pose."""
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
        """Bring every field to its stored kind, or refuse it."""
        for field in fields(self):
            value, what = getattr(self, field.name), f"controller field {field.name!r}"
            if field.name in _SHAPES:
                value = array_field(value, _SHAPES[field.name], what=what)
            elif field.name in _BOOLS:
                value = bool_field(value, what=what)
            else:
                value = float_field(value, what=what)
            object.__setattr__(self, field.name, value)
