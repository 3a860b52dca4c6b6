"""The door of the server: strangers cost a bounded number of descriptors, and a save always has some."""

import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("websockets")

from websockets.sync.client import connect

from handloom.dataset import DatasetReader
from handloom.web import gate as gate_module
from handloom.web.gate import MOST_WAITING, PATIENCE, RESERVED, Gate, listening

STRANGERS = 1300
LIMIT = 1024


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gate(clock: Clock) -> Iterator[Gate]:
    with Gate(now=clock) as gate:
        gate.bind(("127.0.0.1", 0))
        gate.listen()
        yield gate


def come(gate: Gate, stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    """Return both ends of a new connection."""
    outside = stack.enter_context(socket.create_connection(gate.getsockname()))
    return outside, stack.enter_context(gate.accept()[0])


def is_dropped(inside: socket.socket) -> bool:
    return bool(select.select([inside], [], [], 0)[0]) and inside.recv(1) == b""


def test_whoever_has_waited_longest_is_dropped_when_too_many_wait_and_whoever_is_through_stays(gate: Gate) -> None:
    with ExitStack() as stack:
        _, operator = come(gate, stack)
        gate.admit(operator.getsockname(), operator.getpeername())
        waiting = [come(gate, stack)[1] for _ in range(MOST_WAITING + 3)]
        assert [is_dropped(inside) for inside in waiting] == [True] * 3 + [False] * MOST_WAITING
        assert not is_dropped(operator)
        assert (gate.waiting, gate.dropped) == (MOST_WAITING, 3)
        waiting[-1].close()
        assert gate.waiting == MOST_WAITING - 1


def test_whoever_takes_too_long_is_dropped(gate: Gate, clock: Clock) -> None:
    with ExitStack() as stack:
        _, early = come(gate, stack)
        clock.time = 0.5 * PATIENCE
        _, late = come(gate, stack)
        clock.time = 1.2 * PATIENCE
        gate.drop_late()
        assert (is_dropped(early), is_dropped(late)) == (True, False)


def test_the_last_descriptors_are_not_given_to_connections(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        _, inside = come(gate, stack)
        assert not is_dropped(inside)
        here = inside.fileno() + 1
        monkeypatch.setattr(gate_module, "RESERVED", 8)
        monkeypatch.setattr(gate_module.resource, "getrlimit", lambda kind: (here + 8, here + 8))
        assert is_dropped(come(gate, stack)[1])
        monkeypatch.setattr(gate_module.resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
        assert not is_dropped(come(gate, stack)[1])


def test_a_name_is_listened_at_and_an_address_of_nobody_is_an_error() -> None:
    with listening("localhost", 0) as gate:
        socket.create_connection(gate.getsockname()[:2]).close()
    with pytest.raises(OSError, match="assign"):
        listening("192.0.2.1", 0)


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = STRANGERS + 400
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this machine allows {hard} open files, {wanted} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def state_when(client: Any, holds: Any, say: Any = None) -> dict[str, Any]:
    end, state = time.monotonic() + 180, {}
    with suppress(TimeoutError):  # While time is stopped no states are sent: the last one says what it waits for.
        while True:
            text = client.recv(timeout=max(0.0, end - time.monotonic()))
            if isinstance(text, str):
                state = json.loads(text)
                if state["type"] == "state" and holds(state):
                    return state
            if say is not None and "session" in state:
                say(state["session"])
    raise AssertionError(f"it did not come to hold: {state}")


def awaits_start(state: dict[str, Any]) -> bool:
    """Return whether a scene is there and time is stopped in it.

    "ready" becomes "driving" as soon as the first frame awaits its start, milliseconds later and long before the start.
    Clients get the newest state only, so a busy server may never send the first of the two.
    """
    return state.get("phase") in ("ready", "driving") and state["state"] == "stopped"


def test_a_thousand_idle_strangers_do_not_keep_a_demonstration_from_being_saved(
    tmp_path: Path, many_descriptors: None
) -> None:
    """At 1,024 open files; strangers have no token, come before and during the save, and say nothing."""
    command = [sys.executable, "-m", "handloom", "teleop", "fr3_pick_place", "--port", "0", "--keep-failures"]
    command += ["--cameras", "operator", "--size", "64", "48", "--preset", "fast", "-o", str(tmp_path / "run")]
    # Set by a shell: a preexec_fn runs after a fork of this process, whose other threads may hold locks.
    command = ["sh", "-c", f'ulimit -n {LIMIT} && exec "$@"', "sh", *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, ExitStack() as stack:
        stack.callback(process.kill)
        assert process.stdout is not None
        address = next(line for line in process.stdout if "token=" in line).split()[-1]
        port = int(address.rpartition(":")[2].partition("/")[0])
        client = stack.enter_context(
            connect(address.replace("http:", "ws:").replace("/?", "/socket?"), max_size=None, ping_interval=None)
        )
        session = state_when(client, awaits_start)["session"]
        client.send(json.dumps({"type": "command", "command": "start", "session": session}))
        grip = {"grip_position": [0, 1, 0], "grip_orientation": [0, 0, 0, 1], "grip_is_valid": True, "squeeze_value": 1}
        count = iter(range(10**6))
        hold = lambda _: client.send(  # noqa: E731
            json.dumps({"type": "input", "seq": next(count), "controller_right": grip, "session": session})
        )
        state_when(client, lambda s: s.get("seconds", 0) > 1.0 and s.get("recording"), hold)
        for _ in range(STRANGERS):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            with suppress(TimeoutError):  # A client that does not read answers no pings, and is taken for gone.
                while True:
                    client.recv(timeout=0)
        taken = len(os.listdir(f"/proc/{process.pid}/fd"))
        assert taken < LIMIT - RESERVED
        client.send(json.dumps({"type": "command", "command": "save", "session": session}))
        state_when(client, lambda s: s.get("episode") == 1 and awaits_start(s))
        with connect(address.replace("http:", "ws:").replace("/?", "/socket?"), max_size=None) as second:
            assert state_when(second, lambda s: True)["role"] == "watch"  # Whoever has the token still gets in.
        process.send_signal(signal.SIGTERM)  # Finishes as the button does: the dataset is there afterwards.
        assert process.wait(120) == 0
    assert len(DatasetReader(tmp_path / "run" / "failures").episodes) == 1
