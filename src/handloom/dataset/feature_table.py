"""Everything a dataset holds per frame."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handloom.dataset.feature import Feature
from handloom.errors import InputError, unknown_name


@dataclass(frozen=True, kw_only=True)
class FeatureTable:
    """All features of a dataset, in the order of their columns, and its frame rate."""

    fps: int
    """Frames per second."""
    features: tuple[Feature, ...]
    """Columns and videos."""

    def __post_init__(self) -> None:
        """Refuse tables that name something twice."""
        if isinstance(self.fps, bool) or not isinstance(self.fps, int) or self.fps < 1:
            raise InputError(f"fps must be an integer >= 1, got {self.fps!r}")
        names = [feature.name for feature in self.features]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"features named twice: {', '.join(twice)}")
        if not self.columns:
            raise InputError("a dataset needs at least one column of numbers")

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, name: str) -> Feature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise unknown_name("feature", name, (feature.name for feature in self.features))

    @property
    def columns(self) -> tuple[Feature, ...]:
        """The features that are numbers."""
        return tuple(feature for feature in self.features if not feature.is_video)

    @property
    def videos(self) -> tuple[Feature, ...]:
        """The features that are camera streams."""
        return tuple(feature for feature in self.features if feature.is_video)

    def difference(self, other: "FeatureTable") -> str:
        """Return the first difference between two tables in words; empty when they are equal."""
        if self.fps != other.fps:
            return f"fps {self.fps} and {other.fps}"
        mine, theirs = {f.name: f for f in self}, {f.name: f for f in other}
        for name in [*mine, *theirs]:
            if mine.get(name) != theirs.get(name):
                return f"feature {name!r}: {_short(mine.get(name))} and {_short(theirs.get(name))}"
        return "" if list(mine) == list(theirs) else "the order of the features"

    def to_json(self) -> dict[str, Any]:
        """Return a plain description that ``from_json`` reads back."""
        return {"fps": self.fps, "features": [feature.to_json() for feature in self.features]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "FeatureTable":
        """Read what ``to_json`` wrote."""
        return cls(fps=value["fps"], features=tuple(Feature.from_json(item) for item in value["features"]))


def _short(feature: Feature | None) -> str:
    """Return a feature's type in a few words."""
    if feature is None:
        return "missing"
    return f"{feature.codec or feature.dtype} {list(feature.shape)} {list(feature.names or ())}"
