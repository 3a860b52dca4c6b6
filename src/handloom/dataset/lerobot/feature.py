"""One feature of a dataset per frame: a column of numbers, or a camera stream."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.video.video_codec import DepthRange, codec_named
from handloom.errors import InputError, unknown_name

COLUMN_DTYPES = {"float32": np.float32, "float64": np.float64, "int64": np.int64, "bool": np.bool_}
"""Column types that every LeRobot reader from 0.4 on understands."""

BOOKKEEPING = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""Columns the format itself adds to every frame."""


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One column of numbers, or one camera stream, as LeRobot's ``info.json`` describes it."""

    name: str
    """Key in the dataset, e.g. ``observation.state`` or ``observation.images.head``."""
    dtype: str
    """A column type (``float32``, ``float64``, ``int64``, ``bool``) or ``video``."""
    shape: tuple[int, ...]
    """``(n,)`` for a column, ``(height, width, channels)`` for a video."""
    names: tuple[str, ...] | None = None
    """Names of the entries, e.g. joint names; ``("height", "width", "channels")`` for a video."""
    codec: str | None = None
    """Name in ``video_codec.CODECS``; videos only."""
    depth: DepthRange | None = None
    """Conversion from metres to codes; depth videos only."""

    def __post_init__(self) -> None:
        """Refuse features that dataset readers cannot read."""
        plain = re.fullmatch(r"[^\s/\\.][^/\\]{0,199}", self.name) and self.name.isprintable()
        if not plain or self.name.endswith(" "):
            raise InputError(
                f"a feature's name must be a file name without '/', '\\\\', spaces or a leading dot, got {self.name!r}"
            )
        if self.name in BOOKKEEPING:
            raise InputError(f"feature {self.name!r} is written by the dataset itself; choose another name")
        if self.is_video:
            self._check_video()
            return
        if self.dtype not in COLUMN_DTYPES:
            raise InputError(f"feature {self.name!r}: {unknown_name('column type', self.dtype, COLUMN_DTYPES)}")
        if len(self.shape) != 1 or self.shape[0] < 1:
            raise InputError(f"feature {self.name!r}: a column has shape (n,), n >= 1, got {self.shape}; flatten it")
        if self.names is not None and len(self.names) != self.shape[0]:
            raise InputError(f"feature {self.name!r}: {len(self.names)} names for {self.shape[0]} entries")

    def _check_video(self) -> None:
        """Refuse a stream whose size a decoder would change."""
        codec = codec_named(self.codec or "")
        if len(self.shape) != 3 or min(self.shape) < 1 or self.shape[2] != codec.channels:
            shape = f"(height, width, {codec.channels})"
            raise InputError(f"feature {self.name!r}: a {codec.name} video has shape {shape}, got {self.shape}")
        if self.shape[0] % 2 or self.shape[1] % 2:
            raise InputError(f"feature {self.name!r}: coded sizes are even, got {self.shape}; use video_feature")
        if (self.depth is not None) != codec.is_depth:
            raise InputError(f"feature {self.name!r}: a depth range belongs to a depth codec, and only there")

    @property
    def is_video(self) -> bool:
        """Whether this is a camera stream."""
        return self.dtype == "video"

    @property
    def is_segmentation(self) -> bool:
        """Whether this is a stream of instance ids."""
        return self.is_video and codec_named(self.codec or "").is_segmentation

    @property
    def is_colour(self) -> bool:
        """Whether this is a stream of colour images."""
        return self.is_video and self.depth is None and not self.is_segmentation

    def as_array(self, values: Any, *, length: int) -> NDArray[Any]:
        """Return a column as an array ``(length, n)`` of this feature's type; raise an error if it does not fit."""
        array = np.asarray(values)
        if array.ndim == 1 and self.shape == (1,):
            array = array[:, None]
        if array.shape != (length, *self.shape):
            raise InputError(f"feature {self.name!r}: expected shape {(length, *self.shape)}, got {array.shape}")
        target = COLUMN_DTYPES[self.dtype]
        if not np.can_cast(array.dtype, target, casting="same_kind"):
            raise InputError(f"feature {self.name!r}: cannot store {array.dtype} as {self.dtype}")
        # A value too large for the column becomes infinite here and is refused below, with its location.
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, dtype=target)
        if not np.isfinite(array).all():
            frame, entry = np.argwhere(~np.isfinite(array))[0]
            raise InputError(f"feature {self.name!r}: entry {entry} of frame {frame} is {array[frame, entry]}")
        return array

    def to_json(self) -> dict[str, Any]:
        """Return a plain description that ``from_json`` reads back."""
        return {
            "name": self.name,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "names": None if self.names is None else list(self.names),
            "codec": self.codec,
            "depth": None if self.depth is None else self.depth.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Feature":
        """Read what ``to_json`` wrote."""
        return cls(
            name=value["name"],
            dtype=value["dtype"],
            shape=tuple(value["shape"]),
            names=None if value["names"] is None else tuple(value["names"]),
            codec=value["codec"],
            depth=None if value["depth"] is None else DepthRange(**value["depth"]),
        )


def column_feature(name: str, names: Sequence[str], *, dtype: str = "float32") -> Feature:
    """Return a column with one entry per name."""
    return Feature(name=name, dtype=dtype, shape=(len(names),), names=tuple(names))


def video_feature(
    name: str, *, height: int, width: int, codec: str = "h264", depth: DepthRange | None = None
) -> Feature:
    """Return a camera stream.

    Chroma is stored at half resolution, so coded sizes are even: if the height or width of an image is odd, its
    last row or column is duplicated, and the feature states the coded size, which every reader returns.
    """
    chosen = codec_named(codec)
    if height < 1 or width < 1:
        raise InputError(f"video {name!r}: height and width must be >= 1, got {height} x {width}")
    return Feature(
        name=name,
        dtype="video",
        shape=(height + height % 2, width + width % 2, chosen.channels),
        names=("height", "width", "channels"),
        codec=codec,
        depth=(depth or DepthRange()) if chosen.is_depth else depth,
    )


@dataclass(frozen=True, kw_only=True)
class FeatureTable:
    """All features of a dataset, in the order of their columns, and its frame rate."""

    fps: int
    """Frames per second."""
    features: tuple[Feature, ...]
    """Columns and videos."""

    def __post_init__(self) -> None:
        """Refuse tables with duplicate names."""
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
        """Describe the first difference between two tables; empty if they are equal."""
        if self is other:
            return ""
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
