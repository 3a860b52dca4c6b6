"""Writes device frames to a file as they come."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from handloom.errors import FileError, InputError, StateError
from handloom.retarget.recording.device_file import end_line, frame_line, header_line
from handloom.retarget.sources.device_frame import DeviceFrame


class DeviceRecorder:
    """A recording in progress; use it as a context manager.

    Every frame is flushed, so a crash loses at most the frame being written. Leaving the block writes the
    end, also after an error: what was recorded until then is whole.

    Args:
        path: File to write; it must not exist yet.
        title: One line about the recording.
        facts: Anything else worth keeping, as JSON values (device model, frame rate, task).
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
            end_time_ns: Until when the last frame lasts [ns]; the time of the last frame if not given.
        """
        if self._file.closed:
            return
        last = self._last_ns or 0
        if end_time_ns is not None and end_time_ns < last:
            raise InputError(f"{self.path}: the end at {end_time_ns} ns is before the last frame at {last} ns")
        self._file.write(end_line(self._frames, last if end_time_ns is None else end_time_ns))
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
