"""Join the videos of many episodes into one file, and extract one again, without re-encoding."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.error import FFmpegError

from handloom.dataset.files.durable import file_errors
from handloom.dataset.video.video_reader import open_video
from handloom.dataset.video.video_writer import MUX_OPTIONS
from handloom.errors import FileError


def join_videos(sources: Sequence[tuple[Path, int]], target: Path, *, fps: int, template: Path | None = None) -> None:
    """Write the packets of several videos one after another.

    Args:
        sources: Video files and the number of frames each must have.
        target: The MP4 to write.
        fps: Frames per second; frame ``k`` of the result has the time ``k / fps`` exactly.
        template: The video that defines the parameters of the result, including its bit rate; None for the first one.
    """
    with _copy_errors(target), _PacketSink(target, template or sources[0][0], fps=fps) as sink:
        for path, length in sources:
            sink.copy(path, length=length)


def cut_video(source: Path, target: Path, *, start: int, length: int, fps: int) -> None:
    """Write frames ``start`` to ``start + length`` of a video, beginning at a keyframe, as a separate video."""
    with _copy_errors(target), _PacketSink(target, source, fps=fps) as sink:
        sink.copy(source, start=start, length=length)


@contextmanager
def _copy_errors(target: Path) -> Iterator[None]:
    """Convert errors of the disk or the container format into a ``FileError``."""
    with file_errors("write", target):
        try:
            yield
        except FFmpegError as error:
            if isinstance(error, OSError):
                raise
            raise FileError(
                f"cannot copy a video into {target} ({error.strerror}); render its episodes again"
            ) from error


class _PacketSink:
    """An MP4 that collects packets of other files and numbers their frames consecutively."""

    def __init__(self, target: Path, template: Path, *, fps: int) -> None:
        self.fps = fps
        self.frame_count = 0
        self._container = av.open(str(target), "w", format="mp4", options=MUX_OPTIONS)
        with open_video(template) as (_, stream):
            # Opaque: parameters are copied unchanged, without looking up an encoder of that name.
            self._stream = self._container.add_stream_from_template(stream, opaque=True)
        self._stream.time_base = Fraction(1, fps)

    def copy(self, path: Path, *, length: int, start: int | None = None) -> None:
        """Append ``length`` frames of a file from ``start`` on; None takes the whole file of that length."""
        count = 0
        stop = None if start is None else start + length
        time_base = Fraction(1, self.fps)
        with closing(_packets(path, start=start or 0, stop=stop, fps=self.fps)) as packets:
            for packet in packets:
                if count == 0 and not packet.is_keyframe:
                    raise FileError(
                        f"{path}: frame {start or 0} starts an episode but is not a keyframe; render it again"
                    )
                packet.stream = self._stream
                packet.time_base = time_base
                packet.pts = packet.dts = self.frame_count + count
                packet.duration = 1
                self._container.mux(packet)
                count += 1
        if count != length:
            raise FileError(f"{path} has {count} frames, but its episode has {length}; render the episode again")
        self.frame_count += count

    def __enter__(self) -> "_PacketSink":
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()


def _packets(path: Path, *, start: int, stop: int | None, fps: int) -> Generator[Any, None, None]:
    """Yield the packets of frames ``start`` to ``stop``, or to the end."""
    with open_video(path) as (container, stream):
        frames_per_tick = float(fps * stream.time_base)
        if start:
            container.seek(round(start / frames_per_tick), stream=stream, backward=True)
        for packet in container.demux(stream):
            if packet.pts is None or packet.size == 0:
                continue
            number = round(packet.pts * frames_per_tick)
            if stop is not None and number >= stop:
                return
            if number >= start:
                yield packet
