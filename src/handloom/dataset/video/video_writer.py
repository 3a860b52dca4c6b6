"""Encode one episode of one camera while it is being rendered."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.error import FFmpegError
from av.video.frame import PictureType
from numpy.typing import NDArray

from handloom.dataset.files.durable import file_errors
from handloom.dataset.lerobot.feature import Feature
from handloom.dataset.video.video_codec import ID_COLOURS, codec_named
from handloom.errors import InputError, StateError
from handloom.kernels import kernel

# BT.601 in studio range, times 2^16: the default of decoders for a small video without colour information.
# Luma is 16 + 219/255 (0.299 R + 0.587 G + 0.114 B); chroma 128 + 224/255 (B - Y') / 1.772 and (R - Y') / 1.402.
_Y_RED, _Y_GREEN, _Y_BLUE = np.int32(16829), np.int32(33039), np.int32(6416)
_U_RED, _U_GREEN, _U_BLUE = np.int32(-9714), np.int32(-19070), np.int32(28784)
_V_RED, _V_GREEN, _V_BLUE = np.int32(28784), np.int32(-24103), np.int32(-4681)
_CHROMA = np.int32((128 << 18) + (1 << 17))
# Luma is rounded up. FFmpeg's usual conversion back to RGB, which lerobot's readers use, truncates and comes out 1.1
# levels too dark; an exact one does not. Half a step up leaves both within a level: measured on rendered scenes, the
# mean error is 0.93 and 0.90 instead of 1.39 and 0.68.
_LUMA = np.int32((16 << 16) + (1 << 16) - 1)


@kernel
def colour_planes(rgb: NDArray[np.uint8], y: NDArray[np.uint8], u: NDArray[np.uint8], v: NDArray[np.uint8]) -> None:
    """Fill the planes of an image for ``yuv420p``.

    Integer arithmetic only, so the same image gives the same planes on every machine. Chroma is the mean of blocks of
    2 x 2 pixels. Two rows at a time are split into colours first, because the compiler then processes sixteen or
    more pixels at once: 0.02 ms for 224 x 224 instead of 0.09.

    Args:
        rgb: Image ``(h, w, 3)``; h and w even.
        y: Luma, ``(h, w or more)``.
        u: Chroma, ``(h / 2, w / 2 or more)``.
        v: The same.
    """
    height, width = rgb.shape[0], rgb.shape[1]
    pixels = rgb.reshape((height, 3 * width))
    colours = np.empty((2, 3, width), np.uint8)
    sums = np.empty((3, width // 2), np.int32)
    for row in range(height // 2):
        for k in range(2):
            _split(pixels[2 * row + k], colours[k, 0], colours[k, 1], colours[k, 2])
            _luma(colours[k, 0], colours[k, 1], colours[k, 2], y[2 * row + k])
        for colour in range(3):
            _block_sums(colours[0, colour], colours[1, colour], sums[colour])
        _chroma(sums[0], sums[1], sums[2], u[row], v[row])


@kernel
def _split(
    pixels: NDArray[np.uint8], red: NDArray[np.uint8], green: NDArray[np.uint8], blue: NDArray[np.uint8]
) -> None:
    """Split a row of pixels ``(3 w,)`` into its colours ``(w,)``."""
    for i in range(red.size):
        red[i], green[i], blue[i] = pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]


@kernel
def _luma(red: NDArray[np.uint8], green: NDArray[np.uint8], blue: NDArray[np.uint8], y: NDArray[np.uint8]) -> None:
    """Fill a row of luma from rows of colours ``(w,)``."""
    for i in range(red.size):
        total = _Y_RED * np.int32(red[i]) + _Y_GREEN * np.int32(green[i]) + _Y_BLUE * np.int32(blue[i])
        y[i] = np.uint8((total + _LUMA) >> np.int32(16))


@kernel
def _block_sums(upper: NDArray[np.uint8], lower: NDArray[np.uint8], sums: NDArray[np.int32]) -> None:
    """Sum one colour over blocks of 2 x 2 pixels of two rows."""
    for i in range(sums.size):
        a, b = 2 * i, 2 * i + 1
        sums[i] = np.int32(upper[a]) + np.int32(upper[b]) + np.int32(lower[a]) + np.int32(lower[b])


@kernel
def _chroma(
    red: NDArray[np.int32],
    green: NDArray[np.int32],
    blue: NDArray[np.int32],
    u: NDArray[np.uint8],
    v: NDArray[np.uint8],
) -> None:
    """Fill a row of both chroma planes from sums over blocks ``(w / 2,)``."""
    for i in range(red.size):
        u[i] = np.uint8((_U_RED * red[i] + _U_GREEN * green[i] + _U_BLUE * blue[i] + _CHROMA) >> np.int32(18))
        v[i] = np.uint8((_V_RED * red[i] + _V_GREEN * green[i] + _V_BLUE * blue[i] + _CHROMA) >> np.int32(18))


HIGHEST_LEVEL = 186
"""Level 6.2, in thirtieths."""
SEQUENCE_PARAMETERS = 33
"""Type of the HEVC unit whose level readers check."""
LEVEL_AT = 14
"""Offset of its level: after two bytes of header, one of layers and eleven of profile."""


def bound_level(path: Path) -> None:
    """Write the highest real level into the sequence parameters of a closed HEVC MP4 file.

    A level bounds the bit rate, and x265 puts "no bound" (8.5) into lossless streams; Rerun treats such a file as if it
    had no video. Decoders ignore the level, so the highest real one, 6.2, is written instead.
    """
    content = bytearray(path.read_bytes())
    box = content.rfind(b"hvcC") + 4
    arrays, at = content[box + 22], box + 23
    for _ in range(arrays):
        kind, count, at = content[at] & 0x3F, int.from_bytes(content[at + 1 : at + 3], "big"), at + 3
        for _ in range(count):
            size, at = int.from_bytes(content[at : at + 2], "big"), at + 2
            if kind == SEQUENCE_PARAMETERS:
                level = at + _escaped(bytes(content[at : at + size]), LEVEL_AT)
                content[level] = min(content[level], HIGHEST_LEVEL)
            at += size
    path.write_bytes(content)


def _escaped(unit: bytes, index: int) -> int:
    """Return the position of byte ``index`` of a unit, accounting for the 3 inserted after every two zeros."""
    place, zeros = 0, 0
    for _ in range(index):
        zeros = zeros + 1 if unit[place] == 0 else 0
        place += 1
        if zeros == 2 and unit[place] == 3:
            place, zeros = place + 1, 0
    return place


MUX_OPTIONS = {"fflags": "+bitexact"}
"""Keeps dates and library versions out of the container, so that equal frames give equal files."""


class VideoWriter:
    """A streaming encoder: frames go in one at a time; the result is an MP4 that starts with a keyframe.

    Memory use is a few frames, regardless of the length. Frame ``i`` has the time ``i / fps`` exactly.

    Example::

        feature = video_feature("observation.images.head", height=224, width=224)
        with VideoWriter(Path("head.mp4"), feature, fps=30) as video:
            for image in images:  # (224, 224, 3) uint8
                video.add(image)
    """

    def __init__(self, path: Path, feature: Feature, *, fps: int) -> None:
        self.path = path
        self.feature = feature
        self.frame_count = 0
        self._codec = codec_named(feature.codec or "")
        height, width = feature.shape[:2]
        with file_errors("write", path), quiet_encoder():
            self._container = av.open(str(path), "w", format="mp4", options=MUX_OPTIONS)
            self._stream: Any = self._container.add_stream(
                self._codec.encoder, rate=fps, options=dict(self._codec.options)
            )
            self._stream.width, self._stream.height = width, height
            self._stream.pix_fmt = self._codec.encoder_format or self._codec.pixel_format
            self._stream.codec_context.thread_count = 1
            self._stream.codec_context.time_base = Fraction(1, fps)
        self._open = True

    def add(self, image: NDArray[Any]) -> None:
        """Encode the next frame.

        Args:
            image: Colour ``(h, w, 3)`` uint8, depth ``(h, w)`` or ``(h, w, 1)`` [m] for a depth stream, or ids
                ``(h, w)`` uint8 for a stream of ids. An odd size is extended by its last row or column to the size in
                the feature.
        """
        if not self._open:
            raise StateError(f"the video {self.path} is closed; no more frames can be added")
        frame = self._frame(image)
        frame.pts, frame.time_base = self.frame_count, self._stream.codec_context.time_base
        # Readers seek to an episode's first frame, so it must be decodable on its own.
        frame.pict_type = PictureType.I if self.frame_count == 0 else PictureType.NONE
        with file_errors("write", self.path):
            if self.frame_count == 0:
                with quiet_encoder():  # The encoder opens, and prints, at its first frame.
                    packets = self._stream.encode(frame)
            else:
                packets = self._stream.encode(frame)
            self._container.mux(packets)
        self.frame_count += 1

    def close(self) -> None:
        """Flush the encoder and finish the file; closing twice is allowed."""
        if not self._open:
            return
        self._open = False
        with file_errors("write", self.path):
            try:
                if self.frame_count:
                    self._container.mux(self._stream.encode(None))
            finally:
                self._container.close()
            if self._codec.is_depth and self.frame_count:
                bound_level(self.path)

    @property
    def header(self) -> str:
        """SHA-256 of the stream's parameter sets; only videos with equal headers may share a file."""
        return hashlib.sha256(bytes(self._stream.codec_context.extradata or b"")).hexdigest()

    def abandon(self) -> None:
        """Close the file regardless of its content, for an episode that is discarded."""
        if self._open:
            self._open = False
            with suppress(OSError, FFmpegError):
                self._container.close()

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _frame(self, image: NDArray[Any]) -> av.VideoFrame:
        """Return the image as a frame of the coded size."""
        height, width, channels = self.feature.shape
        if self._codec.is_depth:
            depth = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
            self._check(
                depth, expected=(height, width), dtype="floating [m]", good=np.issubdtype(depth.dtype, np.floating)
            )
            assert self.feature.depth is not None
            codes = np.ascontiguousarray(_extended(self.feature.depth.codes(depth), height, width))
            return av.VideoFrame.from_ndarray(codes, format=self._codec.pixel_format)
        if self._codec.is_segmentation:
            self._check(image, expected=(height, width), dtype="uint8", good=image.dtype == np.uint8)
            return av.VideoFrame.from_ndarray(ID_COLOURS[_extended(image, height, width)], format="rgb24")
        self._check(image, expected=(height, width, channels), dtype="uint8", good=image.dtype == np.uint8)
        frame = av.VideoFrame(width, height, self._codec.pixel_format)
        buffers: Any = frame.planes
        planes = [np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size) for plane in buffers]
        colour_planes(np.ascontiguousarray(_extended(image, height, width)), *planes)
        return frame

    def _check(self, image: NDArray[Any], *, expected: tuple[int, ...], dtype: str, good: bool) -> None:
        """Refuse an image whose size or type differs from the feature's."""
        coded = tuple(n + n % 2 for n in image.shape[:2]) + image.shape[2:]
        if not good or coded != expected:
            raise InputError(
                f"{self.feature.name!r}, frame {self.frame_count}: expected {dtype} images of shape {expected}, "
                f"got {image.dtype} {image.shape}"
            )


def _extended(image: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    """Return the image with its last row and column repeated up to the coded size."""
    rows, columns = height - image.shape[0], width - image.shape[1]
    if not rows and not columns:
        return image
    return np.pad(image, ((0, rows), (0, columns), *[(0, 0)] * (image.ndim - 2)), mode="edge")


@contextmanager
def quiet_encoder() -> Iterator[None]:
    """Open an encoder without its side effects: the AV1 library prints, and as root makes the process real-time.

    Such a process blocks its core for every other program, and hangs if two of its threads wait by spinning.
    """
    had = os.environ.get("SVT_LOG")
    os.environ["SVT_LOG"] = had or "1"  # The library can be configured only by this variable.
    policy = (os.sched_getscheduler(0), os.sched_getparam(0)) if hasattr(os, "sched_getscheduler") else None
    try:
        yield
    finally:
        if had is None:
            os.environ.pop("SVT_LOG", None)
        if policy is not None:
            os.sched_setscheduler(0, *policy)
