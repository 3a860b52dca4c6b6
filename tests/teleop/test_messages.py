"""Whatever a page sends is a message or an InputError."""

import json

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.retarget import ControllerSnapshot
from handloom.teleop.serving.messages import (
    CommandMessage,
    HeadMessage,
    InputMessage,
    MarkMessage,
    PingMessage,
    parsed_message,
)

HAND = {"grip_position": [0.0, 1.0, -0.3], "grip_orientation": [0, 0, 0, 1], "grip_is_valid": True, "squeeze_value": 1}


def test_samples_commands_and_pings_are_read() -> None:
    read = parsed_message(json.dumps({"type": "input", "seq": 3, "controller_right": HAND, "controller_left": None}))
    assert isinstance(read, InputMessage)
    assert (read.seq, read.controller_left) == (3, None)
    assert isinstance(read.controller_right, ControllerSnapshot)
    assert parsed_message('{"type": "command", "command": "start"}') == CommandMessage(command="start")
    assert parsed_message('{"type": "ping", "sent": 1.5}') == PingMessage(sent=1.5)
    mark = parsed_message('{"type": "mark", "kind": "subtask", "text": " Lift  it. "}')
    assert mark == MarkMessage(kind="subtask", text="Lift it.")


def test_numbers_that_are_none_reach_the_nodes_which_know_how_to_hold() -> None:
    read = parsed_message('{"type": "input", "seq": 0, "controller_right": {"grip_position": [NaN, 1e999, 0]}}')
    assert isinstance(read, InputMessage)
    assert read.controller_right is not None
    assert np.isnan(np.asarray(read.controller_right.grip_position)[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"bytes", "text, not bytes"),
        ("x" * 5000, "at most 4096 characters"),
        ("{", "must be JSON"),
        ("[" * 4000, "must be JSON"),
        ("[]", "an object"),
        ('{"type": "inptu"}', "did you mean 'input'"),
        ('{"type": 3}', "no message of type"),
        ('{"type": "input"}', "seq must be"),
        ('{"type": "input", "seq": true}', "seq must be"),
        ('{"type": "input", "seq": -1}', "seq must be"),
        ('{"type": "input", "seq": 1e300}', "seq must be"),
        ('{"type": "input", "seq": 1, "admin": true}', "no field 'admin'"),
        ('{"type": "input", "seq": 1, "controller_right": []}', "mapping of fields"),
        ('{"type": "input", "seq": 1, "controller_right": {"grip_position": [1]}}', "shape"),
        ('{"type": "input", "seq": 1, "controller_right": {"trigger_value": "x"}}', "must be a number"),
        ('{"type": "input", "seq": 1, "controller_right": {"trigger_value": 1' + "0" * 400 + "}}", "too large"),
        ('{"type": "command", "command": "rm"}', "no command 'rm'"),
        ('{"type": "command"}', "no command"),
        ('{"type": "command", "command": "rewind", "seconds": NaN}', "must be 0 to 3600 s"),
        ('{"type": "command", "command": "rewind", "seconds": -1}', "must be 0 to 3600 s"),
        ('{"type": "view", "width": 3, "height": 4}', "a view needs a name"),
        ('{"type": "view", "name": "head", "width": 30000, "height": 4}', "1 to 4096 pixels"),
        ('{"type": "view", "name": "head", "width": 3.5, "height": 4}', "1 to 4096 pixels"),
        ('{"type": "ping"}', "at which it was sent"),
        ('{"type": "ping", "sent": NaN}', "at which it was sent"),
        ('{"type": "ping", "sent": -1e999}', "at which it was sent"),
        ('{"type": "stereo", "eye_distance": 3}', "between the eyes must be 0 to 0.1 m"),
        ('{"type": "stereo", "eye_distance": NaN}', "between the eyes must be 0 to 0.1 m"),
        ('{"type": "stereo"}', "between the eyes must be 0 to 0.1 m"),
        ('{"type": "mark", "kind": "word", "text": "x"}', "no mark of kind 'word'"),
        ('{"type": "mark", "kind": "subtask"}', "one line of at most 200 characters"),
        ('{"type": "mark", "kind": "subtask", "text": "' + "x" * 201 + '"}', "one line of at most 200 characters"),
        ('{"type": "mark", "kind": "subtask", "text": "a\\u001b[2J"}', "one line of at most 200 characters"),
    ],
)
def test_what_is_no_message_is_refused_with_the_reason(text: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parsed_message(text)


def test_joints_of_a_leader_and_poses_of_a_head_are_read_and_nonsense_is_refused() -> None:
    found = parsed_message('{"type": "input", "seq": 1, "leader_right": {"joints": [0.1, 0.2], "gripper": 1}}')
    assert isinstance(found, InputMessage)
    assert found.leader_right is not None
    assert list(found.leader_right.joints) == [0.1, 0.2]  # type: ignore[call-overload]
    head = parsed_message('{"type": "head", "seq": 7, "position": [0, 1, 0], "orientation": [0, 0, 0, 2]}')
    assert isinstance(head, HeadMessage)
    assert head.orientation == (0.0, 0.0, 0.0, 1.0)
    for broken in (
        '{"type": "input", "seq": 1, "leader_left": {"joints": []}}',
        '{"type": "input", "seq": 1, "leader_left": {"joints": "ab"}}',
        '{"type": "input", "seq": 1, "leader_left": {"joints": [[1]]}}',
        '{"type": "head", "seq": 0, "position": [0, 1, 0], "orientation": [0, 0, 0, 1]}',
        '{"type": "head", "seq": 1, "position": [0, 1, NaN], "orientation": [0, 0, 0, 1]}',
        '{"type": "head", "seq": 1, "position": [0, 1, 900], "orientation": [0, 0, 0, 1]}',
        '{"type": "head", "seq": 1, "position": [0, 1, 0], "orientation": [0, 0, 0, 0]}',
        '{"type": "head", "seq": 1, "position": [0, 1], "orientation": [0, 0, 0, 1]}',
    ):
        with pytest.raises(InputError):
            parsed_message(broken)
