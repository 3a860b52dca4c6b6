"""The video codecs a dataset may use, as one literal table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from handloom.errors import unknown_name


@dataclass(frozen=True, kw_only=True)
class VideoCodec:
    """How one kind of camera stream is encoded.

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
    """Channels of the image that goes in."""
    is_depth: bool = False
    """Whether the image is depth [m] instead of colour."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Encoder options."""


CODECS: Mapping[str, VideoCodec] = {
    # Measured on rendered 224x224 scenes: ultrafast takes 0.29 ms and 2.7 kB per frame with a mean error of 1.3/255,
    # superfast 0.55 ms, 2.2 kB and 1.3, veryfast at 23 0.58 ms, 1.2 kB and 1.7. With a keyframe every second frame the
    # slower presets have little left to gain, and baseline profile is what every decoder reads fastest. That was at crf
    # 20, which the grain of wooden tables takes to 1.9, some frames above 2; 18 costs 3 % of time and 9 % of space.
    "h264": VideoCodec(
        name="h264",
        encoder="libx264",
        stored_name="h264",
        pixel_format="yuv420p",
        options={"preset": "ultrafast", "crf": "18", "g": "2", "bf": "0", "sc_threshold": "0"},
    ),
    # LeRobot's own default: smallest files, twice the time. The library counts preset 12 as 11 and says so.
    "av1": VideoCodec(
        name="av1",
        encoder="libsvtav1",
        stored_name="av1",
        pixel_format="yuv420p",
        options={"preset": "11", "crf": "30", "g": "2", "svtav1-params": "lp=1"},
    ),
    # Every code comes back exactly; LeRobot 0.6 reads it, 0.4 does not.
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
}


def codec_named(name: str) -> VideoCodec:
    """Return a codec by name, or say which exist."""
    if name not in CODECS:
        raise unknown_name("video codec", name, CODECS)
    return CODECS[name]
