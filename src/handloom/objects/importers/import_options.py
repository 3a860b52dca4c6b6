"""How a file is to be read."""

from dataclasses import dataclass, field
from pathlib import Path

from handloom.errors import InputError
from handloom.objects.substances import substance


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Choices that a file leaves open."""

    category: str
    """Category for language and proxies, e.g. ``mug``."""
    scale: float = 1.0
    """Factor on all lengths."""
    unit: str = "m"
    """Length unit of mesh files: ``m``, ``cm`` or ``mm``."""
    up: str | None = None
    """Axis that points up in a mesh file, ``y`` or ``z``; None: z, but y for GLB as its standard says."""
    mass: float | None = None
    """Mass [kg] of a mesh file; None: from the substance."""
    substance: str = "plastic"
    """What a mesh file is made of."""
    info_name: str | None = None
    """Annotation folder of an articulated asset in the reference layout, e.g. ``open_v``."""
    folders: tuple[Path, ...] = field(default=())
    """Further folders to look for parts in."""

    def __post_init__(self) -> None:
        """Refuse what no importer understands."""
        if not 1e-6 < self.scale < 1e6:
            raise InputError(f"scale must be a positive number, got {self.scale}")
        if self.unit not in {"m", "cm", "mm"}:
            raise InputError(f"unit must be m, cm or mm, got {self.unit!r}")
        if self.up not in {None, "y", "z"}:
            raise InputError(f"up must be y or z, got {self.up!r}")
        if self.mass is not None and not self.mass > 0.0:
            raise InputError(f"mass must be > 0 kg, got {self.mass}")
        substance(self.substance)

    @property
    def metres(self) -> float:
        """Metres per unit of a mesh file, with the scale."""
        return self.scale * {"m": 1.0, "cm": 0.01, "mm": 0.001}[self.unit]
