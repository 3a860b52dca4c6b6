"""Options and report of an import."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from handloom.config.search import demand_inside, enclosing_folders
from handloom.errors import InputError, unknown_name
from handloom.objects.materials import substance
from handloom.objects.object_asset import PARENTS

UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001}
"""Metres per unit."""
OPTIONS: Final = ("allow_outside", "body", "info_name", "mass", "scale", "substance", "unit", "up")
"""Allowed parameters of an imported object besides its path."""
TASK_OPTIONS: Final = ("body", "substance", "unit", "up")
"""Allowed parameters of an asset file in a task."""
LARGEST = 5.0
"""Largest plausible side of an object without a given unit [m]: longer than a table, shorter than a part in
centimetres."""


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Choices that a file leaves open."""

    category: str
    """Category for language and proxies, e.g. ``mug``."""
    scale: float | tuple[float, float, float] = 1.0
    """Factor on all lengths, or one for each axis of the file."""
    unit: str | None = None
    """Length unit of the file: ``m``, ``cm`` or ``mm``; None: the unit of a USD stage, but metres in the reference
    layout; metres for a mesh file, unless that makes it as large as a house."""
    up: str | None = None
    """Axis of the file that becomes up, ``y`` or ``z``; None: the up axis of a USD stage, but unchanged for assets in
    the reference layout; z for a mesh file, but y for GLB as in its standard."""
    mass: float | None = None
    """Mass [kg] of a mesh file; None: from the substance."""
    substance: str = "plastic"
    """Substance of a mesh file."""
    info_name: str | None = None
    """Annotation folder of an articulated asset in the reference layout, e.g. ``open_v``."""
    body: str | None = None
    """Body of a MJCF scene that is the object; None: all of the file."""
    allow_outside: bool = False
    """Whether parts may lie outside the parent folders of the file and ``folders``."""
    folders: tuple[Path, ...] = field(default=())
    """Further folders in which to look for parts."""

    def __post_init__(self) -> None:
        """Refuse options that no importer supports."""
        if not all(1e-6 < factor < 1e6 for factor in self.factors):
            raise InputError(f"scale must be a positive number, got {self.scale}")
        if self.unit is not None and self.unit not in UNITS:
            raise InputError(f"unit must be m, cm or mm, got {self.unit!r}")
        if self.up not in {None, "y", "z"}:
            raise InputError(f"up must be y or z, got {self.up!r}")
        if self.mass is not None and not self.mass > 0.0:
            raise InputError(f"mass must be > 0 kg, got {self.mass}")
        substance(self.substance)

    @property
    def factors(self) -> tuple[float, float, float]:
        """Factor on each axis of the file."""
        return self.scale if isinstance(self.scale, tuple) else (self.scale, self.scale, self.scale)

    def one_factor(self, owner: Path) -> float:
        """Return the factor on all axes.

        Raises:
            InputError: They differ, and a model with joints or its own frames does not support that.
        """
        if len(set(self.factors)) > 1:
            raise InputError(
                f"{owner}: models with joints, MJCF and URDF files scale by one factor, got {list(self.factors)}"
            )
        return self.factors[0]

    def metres(self, unit: float | None = None) -> tuple[float, float, float]:
        """Return the metres per unit along each axis of the file, with the scale.

        Args:
            unit: Metres per unit if none was given.
        """
        metres = UNITS[self.unit] if self.unit is not None else 1.0 if unit is None else unit
        x, y, z = self.factors
        return metres * x, metres * y, metres * z

    def bounds(self, owner: Path) -> tuple[Path, ...]:
        """Return the folders in which the parts of a file may be."""
        return (*enclosing_folders(owner.parent, most=PARENTS), *self.folders)

    def demand_inside(self, part: Path, owner: Path) -> None:
        """Refuse a part of a file that lies elsewhere and was not allowed.

        Raises:
            NotAllowedError: It does; the message says how to allow it.
        """
        if not self.allow_outside:
            demand_inside(part, self.bounds(owner), what=str(owner))

    def demand_plausible(self, path: Path, longest: float) -> None:
        """Refuse a mesh file without a unit that would be implausibly large.

        Args:
            path: The file.
            longest: Its longest side [m], if its unit is the metre.

        Raises:
            InputError: It is too large; the message proposes units.
        """
        if self.unit is not None or not longest > LARGEST:
            return
        sizes = {unit: longest * factor for unit, factor in UNITS.items() if longest * factor <= LARGEST}
        proposed = ", ".join(f"--unit {unit} makes it {1000 * size:.3g} mm" for unit, size in reversed(sizes.items()))
        raise InputError(
            f"{path}: in metres its longest side is {longest:.3g} m; mesh files do not state their unit: "
            f"{proposed or 'give a --scale'}; --unit m takes it as it is (in a task: parameters: {{unit: mm}})"
        )


def demand_known(options: Iterable[str], known: Iterable[str] = OPTIONS) -> None:
    """Refuse names that are not options of an asset file.

    Raises:
        NotFoundError: The message lists the valid names.
    """
    for name in options:
        if name not in known:
            raise unknown_name("option of an asset file", name, known)


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What was kept, converted and dropped; one sentence each."""

    source: str
    """The file."""
    kept: tuple[str, ...] = ()
    """Kept unchanged."""
    converted: tuple[str, ...] = ()
    """Kept in another form."""
    dropped: tuple[str, ...] = ()
    """Left out."""

    def text(self) -> str:
        """Return the report as readable text."""
        rows = [(kind, line) for kind in ("kept", "converted", "dropped") for line in getattr(self, kind)]
        return "\n".join([self.source, *(f"  {kind:<10} {line}" for kind, line in rows)])


class ReportDraft:
    """Collects the sentences of a report during an import."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.kept: list[str] = []
        self.converted: list[str] = []
        self.dropped: list[str] = []

    def say_missing(self, texture: str, *places: Path) -> None:
        """Report once that an image is missing; its material's colour is shown."""
        line = f"texture {texture!r}: not found in {', '.join(map(str, places))}; the colour of its material is shown"
        if line not in self.dropped:
            self.dropped.append(line)

    def finish(self) -> ImportReport:
        """Return the finished report."""
        return ImportReport(
            source=self.source, kept=tuple(self.kept), converted=tuple(self.converted), dropped=tuple(self.dropped)
        )


def count(number: int, noun: str) -> str:
    """Return for example ``1 mesh`` or ``3 meshes``."""
    plural = f"{noun}es" if noun.endswith(("s", "sh", "ch", "x")) else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def times(factors: tuple[float, float, float]) -> str:
    """Return the factors of the three axes as text: a single number if they are equal."""
    return f"{factors[0]:g}" if len(set(factors)) == 1 else " x ".join(f"{factor:g}" for factor in factors)
