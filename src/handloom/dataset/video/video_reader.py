"""Decode frames of a dataset's videos by their exact index."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from handloom.dataset.files.durable import file_errors
from handloom.dataset.files.reading import checked_size, damage_named
from handloom.dataset.lerobot.feature import Feature
from handloom.errors import FileError, InputError

MOST_PIXELS = 2**26
"""Maximum image size that is decoded, 8192 x 8192."""


@dataclass(frozen=True, kw_only=True)
class PacketSheet:
    """Properties of a video, from its packets without decoding."""

    codec: str
    """FFmpeg's name of the codec, e.g. ``h264``."""
    pixel_format: str
    """Coded pixel format."""
    width: int
    """Coded width [px]."""
    height: int
    """Coded height [px]."""
    times: tuple[Fraction, ...]
    """Time of each frame [s], in file order."""
    keyframes: tuple[bool, ...]
    """Whether each frame decodes on its own."""
    reordered: bool
    """Whether any frame depends on a later one."""


def read_frames(
    path: Path, feature: Feature, *, start: int = 0, stop: int | None = None, fps: int
) -> Iterator[NDArray[Any]]:
    """Yield frames ``start`` to ``stop`` (exclusive) of a video, decoded.

    Args:
        path: The MP4 file.
        feature: The feature of the stream, which selects colour, depth or ids.
        start: Index of the first frame in the file.
        stop: Index after the last frame; None reads to the end.
        fps: Frames per second of the dataset.

    Yields:
        ``(h, w, 3)`` uint8 colour, ``(h, w)`` float32 depth [m], or ``(h, w)`` uint8 instance ids.
    """
    if start < 0 or (stop is not None and stop < start):
        raise InputError(f"frames {start} to {stop} are not a range")
    wanted = start
    with open_video(path) as (container, stream):
        if start:
            container.seek(round(Fraction(start, fps) / stream.time_base), stream=stream, backward=True)
        for frame in container.decode(stream):
            if stop is not None and wanted >= stop:
                return
            if (frame.height, frame.width) != feature.shape[:2] or frame.pts is None:
                raise FileError(
                    f"{path} contains a frame of {frame.width} x {frame.height} pixels; render the episode again"
                )
            number = round(frame.pts * frame.time_base * fps)
            if number < wanted:
                continue
            if number > wanted:
                raise FileError(
                    f"{path}: frame {wanted} is missing, the next one is {number}; render the episode again"
                )
            yield _image(frame, feature)
            wanted += 1
    if stop is not None and wanted < stop:
        raise FileError(f"{path} ends at frame {wanted}, but {stop} were expected; render the episode again")


def read_packets(path: Path) -> PacketSheet:
    """Read times, keyframes, size and codec from the packets of a video."""
    with open_video(path) as (container, stream):
        context = stream.codec_context
        times, keyframes, reordered = [], [], False
        for packet in container.demux(stream):
            if packet.pts is None or packet.size == 0:
                continue
            times.append(Fraction(packet.pts) * packet.time_base)
            keyframes.append(packet.is_keyframe)
            reordered |= packet.pts != packet.dts
        return PacketSheet(
            codec=_stored_name(context.name),
            pixel_format=str(context.pix_fmt),
            width=context.width,
            height=context.height,
            times=tuple(times),
            keyframes=tuple(keyframes),
            reordered=reordered,
        )


def _stored_name(decoder: str) -> str:
    """Return the codec of a decoder: the AV1 decoder library has another name."""
    return "av1" if "av1" in decoder or decoder == "libdav1d" else decoder


def _image(frame: av.VideoFrame, feature: Feature) -> NDArray[Any]:
    """Return a decoded frame as colour, as depth [m] or as ids."""
    if feature.depth is None:
        colour = frame.to_ndarray(format="rgb24")
        return np.ascontiguousarray(colour[..., 0]) if feature.is_segmentation else colour
    return feature.depth.metres(frame.to_ndarray(format="gray12le").astype(np.uint16))


@contextmanager
def open_video(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a video and its one stream for reading; a damaged file raises a ``FileError``.

    It is always read as MP4: a playlist of that name would lead to other files and machines.
    """
    checked_size(path)
    with file_errors("read", path), damage_named(path):
        try:
            with av.open(str(path), format="mp4") as container:
                if not container.streams.video:
                    raise FileError(f"{path} has no video stream; render the episode again")
                stream = container.streams.video[0]
                stream.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
                yield container, stream
        except FFmpegError as error:
            raise FileError(f"{path} is not a readable video ({error.strerror}); render the episode again") from error
