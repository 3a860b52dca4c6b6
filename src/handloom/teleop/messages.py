"""Messages from a page to the server: samples and commands, validated before use."""

import json
import math
from dataclasses import dataclass
from typing import Any

from handloom.errors import InputError, suggest
from handloom.retarget import ControllerSnapshot

LONGEST = 4096
"""Bytes of a message; a sample of two controllers has about 900."""
COMMANDS = ("start", "pause", "stop", "reset", "save", "discard", "finish", "rewind", "undo", "retry", "claim")
"""What buttons of the page ask for."""
MARKS = ("subtask", "instruction")
"""What words are for: the stretch that begins now, or the whole demonstration."""
LONGEST_MARK = 200
"""Characters of such words."""
WIDEST_EYES = 0.1
"""Largest distance of two eyes [m]; 0.054 to 0.074 for nearly everybody."""
LONGEST_BACK = 3600.0
"""Farthest that one goes back at once [s]."""
LARGEST_VIEW = 4096
"""Largest width and height of a view [px]."""
MOST_SEQ = 2**53
"""Numbers of samples are whole in JavaScript up to here."""


@dataclass(frozen=True, kw_only=True)
class InputMessage:
    """Samples of both controllers."""

    seq: int
    """Number of the sample; larger is newer."""
    controller_left: ControllerSnapshot | None = None
    controller_right: ControllerSnapshot | None = None


@dataclass(frozen=True, kw_only=True)
class CommandMessage:
    """A button of the page."""

    command: str
    """One of ``COMMANDS``."""
    seconds: float = 2.0
    """How far to go back, when it is to rewind [s]."""


@dataclass(frozen=True, kw_only=True)
class PingMessage:
    """Asks for an answer, to measure the way there and back."""

    sent: float
    """Time on the clock of the page [ms]."""


@dataclass(frozen=True, kw_only=True)
class MarkMessage:
    """Words of the operator for what is being recorded."""

    kind: str
    """One of ``MARKS``."""
    text: str
    """The words; empty leaves them to the session."""


@dataclass(frozen=True, kw_only=True)
class StereoMessage:
    """A headset asks for the operator's view for both eyes."""

    eye_distance: float
    """Distance of the eyes [m]; 0 ends it."""


@dataclass(frozen=True, kw_only=True)
class ViewMessage:
    """Says which view the page shows large, and how large."""

    name: str
    width: int
    """Size of what is shown [px]."""
    height: int


Message = InputMessage | CommandMessage | PingMessage | MarkMessage | StereoMessage | ViewMessage


def parsed_message(text: str | bytes, *, session: str | None = None) -> Message:
    """Read a message.

    Args:
        text: What came.
        session: What everything but a ping must say it belongs to; None asks for nothing.

    Raises:
        InputError: The message is malformed; the text says why.
    """
    if not isinstance(text, str):
        raise InputError("a message is text, not bytes")
    if len(text) > LONGEST:
        raise InputError(f"a message has {LONGEST} characters at most, got {len(text)}")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"a message is JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"a message is an object, got {type(record).__name__}")
    kind = record.pop("type", None)
    if not isinstance(kind, str) or kind not in _READERS:
        raise InputError(f"no message of type {str(kind)[:40]!r}; {suggest(str(kind)[:40], _READERS)}")
    said = record.pop("session", None)
    if session is not None and said != session and kind != "ping":
        raise InputError("it belongs to another connection, or to none")
    try:
        return _READERS[kind](record)
    except OverflowError as error:
        raise InputError(f"a number is too large: {error}") from error


def _input(record: dict[str, Any]) -> InputMessage:
    seq = record.pop("seq", None)
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq <= MOST_SEQ:
        raise InputError(f"seq must be a whole number from 0, got {str(seq)[:40]}")
    hands = {name: record.pop(name, None) for name in ("controller_left", "controller_right")}
    if record:
        raise InputError(f"an input message has no field {str(next(iter(record)))[:40]!r}")
    samples = {name: None if hand is None else ControllerSnapshot.from_record(hand) for name, hand in hands.items()}
    return InputMessage(seq=seq, **samples)


def _command(record: dict[str, Any]) -> CommandMessage:
    command = record.get("command")
    if not isinstance(command, str) or command not in COMMANDS:
        raise InputError(f"no command {str(command)[:40]!r}; {suggest(str(command)[:40], COMMANDS)}")
    seconds = record.get("seconds", 2.0)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0.0 <= seconds <= LONGEST_BACK:
        raise InputError(f"one goes back by 0 to {LONGEST_BACK:.0f} s, got {str(seconds)[:40]}")
    return CommandMessage(command=command, seconds=float(seconds))


def _ping(record: dict[str, Any]) -> PingMessage:
    sent = record.get("sent")
    if not isinstance(sent, int | float) or isinstance(sent, bool) or not math.isfinite(sent):
        raise InputError("a ping says when it was sent")
    return PingMessage(sent=float(sent))


def _mark(record: dict[str, Any]) -> MarkMessage:
    kind, text = record.get("kind"), record.get("text")
    if not isinstance(kind, str) or kind not in MARKS:
        raise InputError(f"no mark of kind {str(kind)[:40]!r}; {suggest(str(kind)[:40], MARKS)}")
    if not isinstance(text, str) or len(text) > LONGEST_MARK or not text.isprintable():
        raise InputError(f"the words of a mark are one line of {LONGEST_MARK} characters at most")
    return MarkMessage(kind=kind, text=" ".join(text.split()))


def _stereo(record: dict[str, Any]) -> StereoMessage:
    distance = record.get("eye_distance")
    if not isinstance(distance, int | float) or isinstance(distance, bool) or not 0.0 <= distance <= WIDEST_EYES:
        raise InputError(f"eyes are 0 to {WIDEST_EYES} m apart, got {str(distance)[:40]}")
    return StereoMessage(eye_distance=float(distance))


def _view(record: dict[str, Any]) -> ViewMessage:
    name, sides = record.get("name"), (record.get("width"), record.get("height"))
    if not isinstance(name, str) or len(name) > LONGEST_MARK:
        raise InputError("a view has a name")
    if not all(isinstance(side, int) and not isinstance(side, bool) and 1 <= side <= LARGEST_VIEW for side in sides):
        raise InputError(f"a view is 1 to {LARGEST_VIEW} pixels wide and high, got {str(sides)[:40]}")
    return ViewMessage(name=name, width=int(sides[0] or 1), height=int(sides[1] or 1))


_READERS = {
    "input": _input,
    "command": _command,
    "ping": _ping,
    "mark": _mark,
    "stereo": _stereo,
    "view": _view,
}
