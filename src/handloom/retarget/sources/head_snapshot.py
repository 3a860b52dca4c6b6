"""One sample of the operator's head."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from handloom.retarget.sources.snapshot import Snapshot
from handloom.retarget.sources.snapshot_fields import array_field, bool_field


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadSnapshot(Snapshot):
    """A head at one moment; the fields are the slots of ``HeadInput`` in their order."""

    label: ClassVar[str] = "a head sample"

    position: ArrayLike
    """(3,) [m] in the session frame."""
    orientation: ArrayLike
    """xyzw (4,)."""
    is_valid: bool = True
    """Whether the pose means anything."""
    is_tracked: bool = True
    """Whether it was measured now rather than extrapolated."""

    def __post_init__(self) -> None:
        """Bring every field to its stored kind, or refuse it."""
        object.__setattr__(self, "position", array_field(self.position, (3,), what="head field 'position'"))
        object.__setattr__(self, "orientation", array_field(self.orientation, (4,), what="head field 'orientation'"))
        for name in ("is_valid", "is_tracked"):
            object.__setattr__(self, name, bool_field(getattr(self, name), what=f"head field {name!r}"))
