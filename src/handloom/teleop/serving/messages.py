"""Messages from a page to the server: samples and commands, validated before use."""

import json
import math
from dataclasses import dataclass
from typing import Any

from handloom.errors import InputError, suggest
from handloom.retarget import ControllerSnapshot, LeaderSnapshot

LONGEST = 4096
"""Bytes of a message; a sample of two controllers has about 900."""
COMMANDS = ("start", "pause", "stop", "reset", "save", "discard", "finish", "rewind", "undo", "retry", "claim", "again")
"""Commands of the page's buttons."""
MARKS = ("subtask", "instruction")
"""Scope of a text: the sub-task that begins now, or the whole demonstration."""
LONGEST_MARK = 200
"""Maximum number of characters of such a text."""
WIDEST_EYES = 0.1
"""Maximum distance between the eyes [m]; it is 0.054 to 0.074 for nearly everybody."""
LONGEST_BACK = 3600.0
"""Maximum time to go back at once [s]."""
FARTHEST_HEAD = 20.0
"""Maximum distance of a head from the centred position, along any axis [m]."""
LARGEST_VIEW = 4096
"""Maximum width and height of a view [px]."""
MOST_SEQ = 2**53
"""Largest exact integer in JavaScript, for the numbers of samples."""


@dataclass(frozen=True, kw_only=True)
class InputMessage:
    """Samples of both controllers."""

    seq: int
    """Number of the sample; larger is newer."""
    controller_left: ControllerSnapshot | None = None
    controller_right: ControllerSnapshot | None = None
    leader_left: LeaderSnapshot | None = None
    """Joints that the page commands for the left arm."""
    leader_right: LeaderSnapshot | None = None
    """Joints that the page commands for the right arm, or for the only one."""


@dataclass(frozen=True, kw_only=True)
class CommandMessage:
    """Press of a button on the page."""

    command: str
    """One of ``COMMANDS``."""
    seconds: float = 2.0
    """Time to go back, for ``rewind`` [s]."""


@dataclass(frozen=True, kw_only=True)
class PingMessage:
    """Requests an answer, to measure the round-trip time."""

    sent: float
    """Time on the clock of the page [ms]."""


@dataclass(frozen=True, kw_only=True)
class MarkMessage:
    """Text of the operator about the recording."""

    kind: str
    """One of ``MARKS``."""
    text: str
    """The text; empty leaves it to the session."""


@dataclass(frozen=True, kw_only=True)
class StereoMessage:
    """Request of a headset for the operator's view for both eyes."""

    eye_distance: float
    """Distance between the eyes [m]; 0 ends stereo."""


@dataclass(frozen=True, kw_only=True)
class HeadMessage:
    """Pose of the head with the headset, from which the scene is rendered."""

    seq: int
    """Number sent with the images rendered for it."""
    position: tuple[float, ...]
    """Position relative to the centred view: right, up and back (3,) [m]."""
    orientation: tuple[float, ...]
    """Unit quaternion xyzw (4,)."""


@dataclass(frozen=True, kw_only=True)
class ViewMessage:
    """The view that the page shows large, and its size."""

    name: str
    width: int
    """Size on the page [px]."""
    height: int


Message = InputMessage | CommandMessage | PingMessage | MarkMessage | StereoMessage | HeadMessage | ViewMessage


def parsed_message(text: str | bytes, *, session: str | None = None) -> Message:
    """Parse a message.

    Args:
        text: The received text.
        session: Session that every message except a ping must name; None accepts any.

    Raises:
        InputError: The message is malformed; the error gives the reason.
    """
    if not isinstance(text, str):
        raise InputError("a message must be text, not bytes")
    if len(text) > LONGEST:
        raise InputError(f"a message must have at most {LONGEST} characters, got {len(text)}")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"a message must be JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"a message must be an object, got {type(record).__name__}")
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
    leaders = {name: record.pop(name, None) for name in ("leader_left", "leader_right")}
    if record:
        raise InputError(f"an input message has no field {str(next(iter(record)))[:40]!r}")
    samples: dict[str, Any] = {
        **{name: ControllerSnapshot.from_record(hand) for name, hand in hands.items() if hand is not None},
        **{name: LeaderSnapshot.from_record(arm) for name, arm in leaders.items() if arm is not None},
    }
    return InputMessage(seq=seq, **samples)


def _command(record: dict[str, Any]) -> CommandMessage:
    command = record.get("command")
    if not isinstance(command, str) or command not in COMMANDS:
        raise InputError(f"no command {str(command)[:40]!r}; {suggest(str(command)[:40], COMMANDS)}")
    seconds = record.get("seconds", 2.0)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0.0 <= seconds <= LONGEST_BACK:
        raise InputError(f"the time to go back must be 0 to {LONGEST_BACK:.0f} s, got {str(seconds)[:40]}")
    return CommandMessage(command=command, seconds=float(seconds))


def _ping(record: dict[str, Any]) -> PingMessage:
    sent = record.get("sent")
    if not isinstance(sent, int | float) or isinstance(sent, bool) or not math.isfinite(sent):
        raise InputError("a ping needs the time at which it was sent")
    return PingMessage(sent=float(sent))


def _mark(record: dict[str, Any]) -> MarkMessage:
    kind, text = record.get("kind"), record.get("text")
    if not isinstance(kind, str) or kind not in MARKS:
        raise InputError(f"no mark of kind {str(kind)[:40]!r}; {suggest(str(kind)[:40], MARKS)}")
    if not isinstance(text, str) or len(text) > LONGEST_MARK or not text.isprintable():
        raise InputError(f"the text of a mark must be one line of at most {LONGEST_MARK} characters")
    return MarkMessage(kind=kind, text=" ".join(text.split()))


def _stereo(record: dict[str, Any]) -> StereoMessage:
    distance = record.get("eye_distance")
    if not isinstance(distance, int | float) or isinstance(distance, bool) or not 0.0 <= distance <= WIDEST_EYES:
        raise InputError(f"the distance between the eyes must be 0 to {WIDEST_EYES} m, got {str(distance)[:40]}")
    return StereoMessage(eye_distance=float(distance))


def _head(record: dict[str, Any]) -> HeadMessage:
    seq, position, orientation = record.get("seq"), record.get("position"), record.get("orientation")
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 < seq < 2**32:
        raise InputError(f"seq of a head must be a whole number from 1, got {str(seq)[:40]}")
    p, q = _numbers(position, 3, FARTHEST_HEAD), _numbers(orientation, 4, 2.0)
    length = math.sqrt(sum(value * value for value in q))
    if length < 0.5:
        raise InputError("the orientation of a head must be a unit quaternion")
    return HeadMessage(seq=seq, position=p, orientation=tuple(value / length for value in q))


def _numbers(values: Any, count: int, largest: float) -> tuple[float, ...]:
    """Return the given number of finite values, none larger than allowed."""
    good = isinstance(values, list) and len(values) == count
    if not good or not all(
        isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= largest for v in values
    ):
        raise InputError(f"a head needs {count} numbers up to {largest:g} here, got {str(values)[:60]}")
    return tuple(float(value) for value in values)


def _view(record: dict[str, Any]) -> ViewMessage:
    name, sides = record.get("name"), (record.get("width"), record.get("height"))
    if not isinstance(name, str) or len(name) > LONGEST_MARK:
        raise InputError("a view needs a name")
    if not all(isinstance(side, int) and not isinstance(side, bool) and 1 <= side <= LARGEST_VIEW for side in sides):
        raise InputError(f"a view must be 1 to {LARGEST_VIEW} pixels wide and high, got {str(sides)[:40]}")
    return ViewMessage(name=name, width=int(sides[0] or 1), height=int(sides[1] or 1))


_READERS = {
    "input": _input,
    "command": _command,
    "ping": _ping,
    "mark": _mark,
    "stereo": _stereo,
    "head": _head,
    "view": _view,
}
