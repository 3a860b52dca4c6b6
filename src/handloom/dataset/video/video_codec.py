"""Pixel formats: the video codecs, depth in metres as 12-bit codes, and instance ids as colours."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError, unknown_name

HIGHEST_CODE = 4095
"""12 bits: HEVC Main 12 stores them without loss."""


@dataclass(frozen=True, kw_only=True)
class DepthRange:
    """The depths of the 4096 codes: equal steps of ``log(depth + shift)``.

    The defaults are LeRobot's. Steps grow from 1.2 mm at the near end to 4.5 mm at the far end.
    """

    depth_min: float = 0.01
    """Depth of code 0 [m]."""
    depth_max: float = 10.0
    """Depth of code 4095 [m]; anything farther is stored as this."""
    shift: float = 3.5
    """Added before the logarithm [m]; larger values give more equal steps of depth."""

    def __post_init__(self) -> None:
        """Refuse ranges without a logarithm."""
        if not (math.isfinite(self.depth_max) and self.depth_max > self.depth_min and self.depth_min + self.shift > 0):
            raise InputError(f"a depth range needs depth_min < depth_max and depth_min + shift > 0, got {self}")

    def to_json(self) -> dict[str, float]:
        """Return plain numbers."""
        return asdict(self)

    def codes(self, depth: NDArray[np.floating]) -> NDArray[np.uint16]:
        """Return the codes ``(h, w)`` of a depth image ``(h, w)`` [m]; NaN is stored as the farthest code."""
        far = np.where(np.isnan(depth), self.depth_max, depth).astype(np.float64)
        near = np.clip(far, self.depth_min, self.depth_max)
        low, high = math.log(self.depth_min + self.shift), math.log(self.depth_max + self.shift)
        return np.rint((np.log(near + self.shift) - low) * (HIGHEST_CODE / (high - low))).astype(np.uint16)

    def metres(self, codes: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the depths [m] of codes."""
        low, high = math.log(self.depth_min + self.shift), math.log(self.depth_max + self.shift)
        depth = np.exp(codes.astype(np.float64) * ((high - low) / HIGHEST_CODE) + low) - self.shift
        return np.clip(depth, self.depth_min, self.depth_max).astype(np.float32)


ID_COLOURS = np.stack([np.arange(256) * step % 256 for step in (1, 97, 57)], axis=1).astype(np.uint8)
"""Colour (256, 3) of each stored instance id: red is the id, green and blue make ids visually distinct."""


@dataclass(frozen=True, kw_only=True)
class VideoCodec:
    """Encoding of one kind of camera stream.

    All have a keyframe at least every second frame (training reads single frames in random order) and no frame that
    needs a later one (readers without an ffmpeg program cannot reorder). The encoder runs on one thread, so that the
    bytes do not depend on the number of cores.
    """

    name: str
    """Name in feature tables."""
    encoder: str
    """FFmpeg's encoder."""
    stored_name: str
    """Value of ``video.codec`` in ``info.json``."""
    pixel_format: str
    """Coded pixel format."""
    channels: int = 3
    """Channels of the input image."""
    is_depth: bool = False
    """Whether the image is depth [m] instead of colour."""
    is_segmentation: bool = False
    """Whether the image is instance ids instead of colour."""
    encoder_format: str = ""
    """Pixel format passed to the encoder, if it has another name for the coded one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Encoder options."""


CODECS: Mapping[str, VideoCodec] = {
    # Measured on rendered 224x224 scenes: ultrafast takes 0.29 ms and 2.7 kB per frame with a mean error of 1.3/255,
    # superfast 0.55 ms, 2.2 kB and 1.3, veryfast at 23 0.58 ms, 1.2 kB and 1.7. With a keyframe every second frame
    # the slower presets gain little, and every decoder is fastest with the baseline profile. That was at crf 20;
    # the grain of wooden tables raises the error to 1.9, above 2 in some frames. 18 costs 3 % of time and 9 % of
    # space.
    "h264": VideoCodec(
        name="h264",
        encoder="libx264",
        stored_name="h264",
        pixel_format="yuv420p",
        options={"preset": "ultrafast", "crf": "18", "g": "2", "bf": "0", "sc_threshold": "0"},
    ),
    # LeRobot's own default: smallest files, twice the time. The library treats preset 12 as 11 and prints a message.
    "av1": VideoCodec(
        name="av1",
        encoder="libsvtav1",
        stored_name="av1",
        pixel_format="yuv420p",
        options={"preset": "11", "crf": "30", "g": "2", "svtav1-params": "lp=1"},
    ),
    # Lossless for every code; LeRobot 0.6 reads it, 0.4 does not.
    "depth": VideoCodec(
        name="depth",
        encoder="libx265",
        stored_name="hevc",
        pixel_format="gray12le",
        channels=1,
        is_depth=True,
        options={
            "preset": "ultrafast",
            "x265-params": "lossless=1:keyint=2:min-keyint=1:bframes=0:scenecut=0:pools=none:frame-threads=1:wpp=0"
            ":pmode=0:pme=0:repeat-headers=0:info=0:log-level=error",
        },
    ),
    # Ids must survive every reader exactly. All readers return RGB, and only a video encoded as RGB avoids a colour
    # conversion, which rounds. LeRobot reads it from 0.4 on.
    "segmentation": VideoCodec(
        name="segmentation",
        encoder="libx264rgb",
        stored_name="h264",
        pixel_format="gbrp",
        encoder_format="rgb24",
        is_segmentation=True,
        options={"preset": "ultrafast", "qp": "0", "g": "2", "bf": "0", "sc_threshold": "0"},
    ),
}


def codec_named(name: str) -> VideoCodec:
    """Return a codec by name; the error lists those that exist."""
    if name not in CODECS:
        raise unknown_name("video codec", name, CODECS)
    return CODECS[name]
