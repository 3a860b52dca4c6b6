"""Images from videos: strips of thumbnails, and single frames of streams that browsers cannot play."""

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray
from PIL import Image

from handloom.dataset.video.video_codec import HIGHEST_CODE, DepthRange
from handloom.errors import FileError, InputError
from handloom.viewer.episode_source import Camera, EpisodeSource

STRIP = 10
"""Number of images in a strip."""
STRIP_HEIGHT = 120
"""Their height [px]."""
QUALITY = 78
MOST_KEPT = 600
"""Number of images kept in memory; a strip takes about 20 kB."""
FAR = 0.5
"""Seek to frames further ahead than this [s]; decode up to closer ones."""
SOON = 0.002
"""Tolerance for the time of a frame [s]; they are at least 1 ms apart."""


class PictureCache:
    """A least-recently-used cache of JPEG files."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return an image, creating it if necessary."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


def strip(source: EpisodeSource, index: int) -> bytes:
    """Return ``STRIP`` images of an episode side by side, as JPEG."""
    cameras = [camera for camera in source.cameras.values() if camera.kind == "colour"]
    if not cameras:
        raise InputError(f"{source.name} has no camera")
    length = source.table().columns["length"][source.check(index)]
    frames = [round(position) for position in np.linspace(0, length - 1, STRIP)]
    images = pictures(source, index, cameras[0], frames)
    width = max(1, round(images[0].shape[1] * STRIP_HEIGHT / images[0].shape[0]))
    sheet = Image.new("RGB", (STRIP * width, STRIP_HEIGHT))
    for place, image in enumerate(images):
        small = Image.fromarray(image).resize((width, STRIP_HEIGHT), Image.Resampling.BILINEAR, reducing_gap=2.0)
        sheet.paste(small, (place * width, 0))
    return _jpeg(sheet)


def picture(source: EpisodeSource, index: int, camera: Camera, frame: int) -> bytes:
    """Return one frame as JPEG; depth is shown as brightness, near is bright."""
    length = source.table().columns["length"][source.check(index)]
    if not 0 <= frame < length:
        raise InputError(f"frame {frame} of episode {index} is out of range (0-{length - 1})")
    return _jpeg(Image.fromarray(pictures(source, index, camera, [frame])[0]))


def pictures(source: EpisodeSource, index: int, camera: Camera, frames: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Return frames (h, w, 3) of an episode, in increasing order."""
    place = source.video_place(index, camera.name)
    if place is None:
        return _stored(source, index, camera, frames)
    decoded = _frames(source, index, camera, frames)
    if camera.kind != "depth":
        return [frame.to_ndarray(format="rgb24") for frame in decoded]
    return [depth_colours(_metres(frame, source.features[camera.name])) for frame in decoded]


def depths(source: EpisodeSource, index: int, camera: Camera, frames: Sequence[int]) -> list[NDArray[np.float32]]:
    """Return depth images (h, w) [m] of a depth camera, in increasing order of frames."""
    return [_metres(frame, source.features[camera.name]) for frame in _frames(source, index, camera, frames)]


def _frames(source: EpisodeSource, index: int, camera: Camera, frames: Sequence[int]) -> list[Any]:
    place = source.video_place(index, camera.name)
    if place is None:
        raise FileError(f"{source.name}: {camera.name} has no video")
    file = source.video_file(camera.name, place.chunk, place.file)
    return _decoded(file, [place.start + frame / source.fps for frame in frames])


def _decoded(path: Path, times: Sequence[float]) -> list[Any]:
    """Return the frames of a video at given times [s], in increasing order."""
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            stream.thread_count = 1
            found, frames, last = [], iter(()), None
            for time in times:
                if last is None or last.time is None or time > last.time + FAR:
                    container.seek(max(0, int((time + SOON) / (stream.time_base or 1))), stream=stream)
                    frames = container.decode(stream)
                    last = next(frames, None)
                while last is not None and (last.time or 0.0) < time - SOON:
                    following = next(frames, None)
                    if following is None:
                        break
                    last = following
                if last is None:
                    raise FileError(f"{path} has no frame at {time:.3f} s; it is cut short")
                found.append(last)
            return found
    except (FFmpegError, IndexError) as error:
        raise FileError(f"{path} cannot be decoded: {error}") from error


def _metres(frame: Any, described: dict[str, Any]) -> NDArray[np.float32]:
    """Decode a frame of depth codes to metres; other writers may use eight bits."""
    info, defaults = described.get("info") or {}, DepthRange()
    codes = frame.to_ndarray(format="gray16le") if frame.format.name == "gray16le" else frame.to_ndarray()
    codes = codes[..., 0] if codes.ndim == 3 else codes
    if codes.dtype == np.uint8:
        codes = codes.astype(np.uint16) * (HIGHEST_CODE // 255)
    return DepthRange(
        depth_min=float(info.get("video.depth_min", defaults.depth_min)),
        depth_max=float(info.get("video.depth_max", defaults.depth_max)),
        shift=float(info.get("video.shift", defaults.shift)),
    ).metres(codes)


def depth_colours(depth: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return depth (h, w) [m] as colours (h, w, 3): near is warm and bright, far is dark blue, 0.2 to 3 m."""
    near = 1.0 - np.clip((np.log(np.maximum(depth, 0.01)) - np.log(0.2)) / (np.log(3.0) - np.log(0.2)), 0.0, 1.0)
    stops = np.array([[13, 16, 60], [48, 62, 160], [38, 150, 170], [120, 200, 110], [250, 210, 70], [255, 250, 220]])
    place = near * (len(stops) - 1)
    low = np.minimum(place.astype(int), len(stops) - 2)
    share = (place - low)[..., None]
    return ((1.0 - share) * stops[low] + share * stops[low + 1]).astype(np.uint8)


def _stored(source: EpisodeSource, index: int, camera: Camera, frames: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Return images stored in the table itself, as PNG or JPEG files."""
    rows = source.frames(index)
    if camera.name not in rows.column_names:
        raise FileError(f"{source.name}: episode {index} has no images of {camera.name}")
    column, found = rows.column(camera.name), []
    for frame in frames:
        value = column[frame].as_py()
        content = value.get("bytes") if isinstance(value, dict) else value
        if not isinstance(content, bytes):
            raise FileError(f"{source.name}: images of {camera.name} are not in the dataset's own files")
        try:
            with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as image:
                found.append(np.asarray(image.convert("RGB")))
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise FileError(f"{source.name}: an image of {camera.name} is damaged: {error}") from error
    return found


def _jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
