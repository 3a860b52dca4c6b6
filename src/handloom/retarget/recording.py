"""Recordings of device samples: the recorder, the recording, and its file."""

import bisect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from handloom.errors import FileError, InputError, StateError
from handloom.retarget.closing import Closing
from handloom.retarget.sources.device_frame import DeviceFrame

FORMAT = "handloom.device-frames"
VERSION = 1


def header_line(title: str, facts: dict[str, Any]) -> str:
    """Return the first line of a file."""
    return _line({"format": FORMAT, "version": VERSION, "title": title, "facts": facts})


def frame_line(frame: DeviceFrame) -> str:
    """Return the line of a frame."""
    return _line(frame.to_record())


def end_line(frames: int, time_ns: int) -> str:
    """Return the last line of a file."""
    return _line({"end": {"frames": frames, "time_ns": time_ns}})


def parsed_line(text: str, *, place: str) -> dict[str, Any]:
    """Read one line as a JSON object, or raise with its position."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise FileError(f"{place}: not a JSON line: {error}") from error
    if not isinstance(record, dict):
        raise FileError(f"{place}: a line must be a JSON object, got {type(record).__name__}")
    return record


def check_header(record: dict[str, Any], *, place: str) -> None:
    """Reject files with another format or a newer version."""
    if record.get("format") != FORMAT:
        raise FileError(f"{place}: not a device recording; its format is {record.get('format')!r}, not {FORMAT!r}")
    if record.get("version") != VERSION:
        raise FileError(f"{place}: version {record.get('version')!r} is unknown; this is version {VERSION}")


def parsed_frame(record: dict[str, Any], *, place: str) -> DeviceFrame:
    """Read a frame, or raise with its position."""
    try:
        return DeviceFrame.from_record(record)
    except InputError as error:
        raise FileError(f"{place}: {error}") from error


def _line(record: dict[str, Any]) -> str:
    try:
        return json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"cannot be written as JSON: {error}") from error


@dataclass(frozen=True, kw_only=True)
class DeviceRecording:
    """Frames in order, and their end time.

    Iterate over it to play frame by frame; call ``at`` to play by time. Both are deterministic, and neither loops or
    repeats the last frame past the end.
    """

    frames: tuple[DeviceFrame, ...]
    """The frames, in strictly increasing time."""
    end_time_ns: int
    """Time at which the last frame ends [ns], on the clock of the frames."""
    title: str = ""
    """One-line description of the recording."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the recorder noted."""
    complete: bool = True
    """False if the file was cut off before its end was written."""

    def __post_init__(self) -> None:
        """Reject frames out of order and an end before the last frame."""
        times = [frame.time_ns for frame in self.frames]
        for index, (earlier, later) in enumerate(pairwise(times)):
            if later <= earlier:
                raise InputError(f"frame {index + 1} is at {later} ns, not after frame {index} at {earlier} ns")
        if times and self.end_time_ns < times[-1]:
            raise InputError(f"the end at {self.end_time_ns} ns is before the last frame at {times[-1]} ns")

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Iterator[DeviceFrame]:
        return iter(self.frames)

    @property
    def duration_ns(self) -> int:
        """From the first frame to the end [ns]."""
        return self.end_time_ns - self.frames[0].time_ns if self.frames else 0

    def at(self, elapsed_ns: int) -> DeviceFrame | None:
        """Return the newest frame not later than ``elapsed_ns`` after the first, or None once the recording has ended.

        Raises:
            InputError: ``elapsed_ns`` is negative.
        """
        if elapsed_ns < 0:
            raise InputError(f"elapsed_ns must be >= 0, got {elapsed_ns}")
        if not self.frames:
            return None
        now_ns = self.frames[0].time_ns + elapsed_ns
        if now_ns >= self.end_time_ns and now_ns > self.frames[-1].time_ns:
            return None
        return self.frames[bisect.bisect_right(self.frames, now_ns, key=lambda frame: frame.time_ns) - 1]

    def write(self, path: str | Path) -> None:
        """Write the recording to a new file."""
        with DeviceRecorder(path, title=self.title, facts=dict(self.facts)) as recorder:
            for frame in self.frames:
                recorder.write(frame)
            recorder.close(end_time_ns=self.end_time_ns)

    @classmethod
    def read(cls, path: str | Path, *, allow_cut_off: bool = False) -> "DeviceRecording":
        """Read a file.

        Args:
            path: The file.
            allow_cut_off: Read the available part of a truncated file; ``complete`` is then False.

        Raises:
            FileError: The file cannot be read, has another format, has an invalid line, or was cut off.
        """
        try:
            lines = Path(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{path}: cannot be read: {error}") from error
        # A line is complete with its line feed; text after the last line feed was cut off.
        rest = lines.pop()
        if not lines:
            raise FileError(f"{path}: not a device recording; it has no complete line")
        header = parsed_line(lines[0], place=f"{path}:1")
        check_header(header, place=f"{path}:1")
        frames, end = _frames_and_end(lines[1:], str(path))
        if end is None and not allow_cut_off:
            raise FileError(
                f"{path}: cut off after {len(frames)} frames, before the end; "
                "pass allow_cut_off=True to use these frames"
            )
        if end is not None and rest:
            raise FileError(f"{path}: there is text after the end")
        last_ns = frames[-1].time_ns if frames else 0
        try:
            return cls(
                frames=tuple(frames),
                end_time_ns=last_ns if end is None else end,
                title=str(header.get("title", "")),
                facts=header.get("facts") or {},
                complete=end is not None,
            )
        except InputError as error:
            raise FileError(f"{path}: {error}") from error


def _frames_and_end(lines: Sequence[str], path: str) -> tuple[list[DeviceFrame], int | None]:
    """Return the frames and the end time [ns]; None if there is no end."""
    frames: list[DeviceFrame] = []
    for number, text in enumerate(lines, start=2):
        place = f"{path}:{number}"
        record = parsed_line(text, place=place)
        if "end" not in record:
            frames.append(parsed_frame(record, place=place))
            continue
        if number != len(lines) + 1:
            raise FileError(f"{place}: there are lines after the end")
        end = record["end"]
        if not isinstance(end, dict) or end.get("frames") != len(frames) or not isinstance(end.get("time_ns"), int):
            raise FileError(
                f"{place}: the end record is {end!r}, but the file has {len(frames)} frames; it was changed"
            )
        return frames, end["time_ns"]
    return frames, None


class DeviceRecorder(Closing):
    """A recording in progress; use it as a context manager.

    Every frame is flushed, so a crash loses at most the frame being written. Leaving the block writes the end, even
    after an error, so that the recording up to that point is complete.

    Args:
        path: File to write; it must not exist yet.
        title: One-line description of the recording.
        facts: Additional metadata, as JSON values (device model, frame rate, task).
    """

    def __init__(self, path: str | Path, *, title: str = "", facts: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        header = header_line(title, facts or {})
        try:
            self._file = self.path.open("x", encoding="utf-8")
        except OSError as error:
            raise FileError(f"{self.path}: cannot start a recording: {error.strerror}") from error
        self._file.write(header)
        self._frames = 0
        self._last_ns: int | None = None

    @property
    def frames(self) -> int:
        """Frames written so far."""
        return self._frames

    def write(self, frame: DeviceFrame) -> None:
        """Append a frame.

        Raises:
            InputError: Time does not advance; nothing was written.
            StateError: The recording has ended.
        """
        if self._file.closed:
            raise StateError(f"{self.path}: the recording has ended")
        if self._last_ns is not None and frame.time_ns <= self._last_ns:
            raise InputError(
                f"{self.path}: frame {self._frames} is at {frame.time_ns} ns, not after the last at {self._last_ns} ns"
            )
        self._file.write(frame_line(frame))
        self._file.flush()
        self._frames, self._last_ns = self._frames + 1, frame.time_ns

    def close(self, *, end_time_ns: int | None = None) -> None:
        """Write the end.

        Args:
            end_time_ns: Time at which the last frame ends [ns]; the default is the time of the last frame.
        """
        if self._file.closed:
            return
        last = self._last_ns or 0
        if end_time_ns is not None and end_time_ns < last:
            raise InputError(f"{self.path}: the end at {end_time_ns} ns is before the last frame at {last} ns")
        self._file.write(end_line(self._frames, last if end_time_ns is None else end_time_ns))
        self._file.close()
