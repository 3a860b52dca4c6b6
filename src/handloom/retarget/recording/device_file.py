"""The file format of device recordings: JSON lines, one header, one line per frame, one end.

    {"format": "handloom.device-frames", "version": 1, "title": "...", "facts": {...}}
    {"time_ns": 0, "state": "running", "reset": false, "controller_right": {"grip_position": [...], ...}}
    ...
    {"end": {"frames": 240, "time_ns": 4000000000}}

Lengths are metres, quaternions xyzw, times nanoseconds on the clock of the first frame. Numbers are written
with the fewest digits that read back as the same bits; NaN and infinity are the strings "nan", "inf", "-inf". A
device that sent nothing is left out of its frame. The end says how many frames there are and until when the
last one lasts; a file without it was cut off.
"""

import json
from typing import Any

from handloom.errors import FileError, InputError
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
    """Read one line as a JSON object, or say where it is broken."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise FileError(f"{place}: not a line of JSON: {error}") from error
    if not isinstance(record, dict):
        raise FileError(f"{place}: a line must be a JSON object, got {type(record).__name__}")
    return record


def check_header(record: dict[str, Any], *, place: str) -> None:
    """Refuse files of another format or of a newer version."""
    if record.get("format") != FORMAT:
        raise FileError(f"{place}: not a device recording; its format is {record.get('format')!r}, not {FORMAT!r}")
    if record.get("version") != VERSION:
        raise FileError(f"{place}: version {record.get('version')!r} is not known here; this is version {VERSION}")


def parsed_frame(record: dict[str, Any], *, place: str) -> DeviceFrame:
    """Read a frame, or say where it is broken."""
    try:
        return DeviceFrame.from_record(record)
    except InputError as error:
        raise FileError(f"{place}: {error}") from error


def _line(record: dict[str, Any]) -> str:
    try:
        return json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"cannot be written as JSON: {error}") from error
