"""The page's server: who may speak, who controls, and what nonsense does to it."""

import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("websockets")

from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from handloom.errors import FileError, InputError
from handloom.teleop.serving.messages import InputMessage, Message, parsed_message
from handloom.teleop.serving.server import PAGE, TeleopServer
from handloom.web import gate as gate_module
from handloom.web import is_loopback
from handloom.web.certificate import self_signed, token_of
from handloom.web.gate import MOST_WAITING

TOKEN = "secret"


class Served:
    def __init__(self, **options: Any) -> None:
        self.heard: list[Message] = []
        self.control: list[bool] = []
        self.server = TeleopServer(
            TOKEN,
            on_message=lambda message, desk: self.heard.append(message),
            on_control=lambda somebody, desk: self.control.append(somebody),
            **options,
        )
        self.server.start()

    def client(self, *, token: str = TOKEN, origin: str | None = None) -> ClientConnection:
        host = f"127.0.0.1:{self.server.port}"
        return connect(f"ws://{host}/socket?token={token}", origin=origin, max_size=None)  # type: ignore[arg-type]


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.server.close()


def until(holds: Callable[[], Any], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.01)


def said(client: ClientConnection, kind: str) -> dict[str, Any]:
    while True:
        text = client.recv(timeout=20)
        if isinstance(text, str) and json.loads(text)["type"] == kind:
            return json.loads(text)


def tell(client: ClientConnection, session: str, **message: Any) -> None:
    client.send(json.dumps({**message, "session": session}))


def test_the_page_and_its_files_are_served_with_a_policy_that_lets_nothing_else_in(served: Served) -> None:
    base = f"http://127.0.0.1:{served.server.port}"
    for file in PAGE.iterdir():
        with urllib.request.urlopen(f"{base}/{file.name}") as answer:
            assert answer.read() == file.read_bytes()
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
    with urllib.request.urlopen(served.server.address) as answer:
        assert b"<title>Handloom teleop" in answer.read()


@pytest.mark.parametrize(
    "path", ["/server.py", "/../server.py", "/page/../../server.py", "/%2e%2e/server.py", "/none.js"]
)
def test_nothing_outside_the_page_is_served(served: Served, path: str) -> None:
    with socket.create_connection(("127.0.0.1", served.server.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 404 " in raw.recv(100)


def test_no_file_of_the_page_names_another_host() -> None:
    for file in PAGE.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"token": "guess"}, "a wrong token"),
        ({"token": ""}, "a wrong token"),
        ({"origin": "http://evil.example"}, "origin"),
    ],
)
def test_a_wrong_token_and_a_page_of_another_origin_are_refused(served: Served, options: dict, why: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        served.client(**options)
    assert refused.value.response.status_code == 403
    assert why.encode() in refused.value.response.body
    assert served.control == []


def test_a_page_of_the_same_origin_is_let_in(served: Served) -> None:
    with served.client(origin=f"http://127.0.0.1:{served.server.port}") as client:
        assert said(client, "state")["role"] == "control"


def test_the_first_controls_the_second_watches_and_takes_over_only_after_the_first_has_left(served: Served) -> None:
    with served.client() as first, served.client() as second:
        assert said(first, "state")["role"] == "control"
        watching = said(second, "state")
        assert watching["role"] == "watch"
        session = watching["session"]
        tell(second, session, type="command", command="start")
        tell(second, session, type="command", command="claim")
        second.send('{"type": "ping", "sent": 1}')
        said(second, "pong")
        assert served.heard == []
        first.close()
        until(lambda: served.control == [True, False])
        tell(second, session, type="command", command="claim")
        until(lambda: served.control == [True, False, True])
        tell(second, session, type="command", command="start")
        until(lambda: len(served.heard) == 1)


def test_everybody_gets_a_desk_while_there_are_free_ones_and_comes_back_to_it() -> None:
    heard: list[tuple[Message, int]] = []
    control: list[tuple[bool, int]] = []
    server = TeleopServer(
        TOKEN,
        on_message=lambda message, desk: heard.append((message, desk)),
        on_control=lambda somebody, desk: control.append((somebody, desk)),
        desks=2,
    )
    server.start()
    try:
        address = f"ws://127.0.0.1:{server.port}/socket?token={TOKEN}"
        server.publish_state({"episode": 0}, 0)
        server.publish_state({"episode": 1}, 1)
        with connect(address) as first, connect(address) as second, connect(address) as third:
            states = [said(client, "state") for client in (first, second, third)]
            assert [(s["desk"], s["role"]) for s in states] == [(1, "control"), (2, "control"), (1, "watch")]
            assert [s["episode"] for s in states] == [0, 1, 0]
            tell(second, states[1]["session"], type="command", command="start")
            tell(third, states[2]["session"], type="command", command="start")
            until(lambda: heard)
            assert [desk for _, desk in heard] == [1]
            second.close()
            until(lambda: (False, 1) in control)
            with connect(f"{address}&desk=2") as back:
                state = said(back, "state")
                assert (state["desk"], state["role"]) == (2, "control")
            with connect(f"{address}&desk=99999") as odd:
                assert said(odd, "state")["desk"] in (1, 2)
    finally:
        server.close()


def test_states_and_pictures_reach_everybody_the_newest_ones(served: Served) -> None:
    with served.client() as first, served.client() as second:
        for k in range(50):
            served.server.publish_state({"k": k})
        served.server.publish_pictures([b"one", b"two"])
        for client in (first, second):
            while said(client, "state").get("k") != 49:
                pass
            pictures: list[bytes] = []
            while len(pictures) < 2:
                data = client.recv(timeout=20)
                if isinstance(data, bytes):
                    pictures.append(data)
            assert pictures == [b"\x00one", b"\x01two"]


def test_a_client_that_floods_is_not_read_and_the_next_one_is_served(served: Served, caplog) -> None:
    with served.client() as client:
        session = said(client, "state")["session"]
        for seq in range(3000):
            tell(client, session, type="input", seq=seq)
        client.send('{"type": "ping", "sent": 1}')
        until(lambda: sum(served.server.refused.values()) > 500)
    assert len(served.heard) < 2500
    until(lambda: served.control[-1] is False)
    with served.client() as client:
        client.send('{"type": "ping", "sent": 2}')
        assert said(client, "pong")["sent"] == 2
    assert sum("reported once" in record.message for record in caplog.records) == len(served.server.refused)


def test_ten_thousand_malformed_messages_are_refused_each_kind_logged_once(served: Served, caplog) -> None:
    rng = np.random.default_rng(24)
    good = json.dumps(
        {"type": "input", "seq": 1, "controller_right": {"grip_position": [0, 1, 2], "grip_is_valid": True}}
    )
    read = 0
    for _ in range(10_000):
        text = list(good)
        for _ in range(int(rng.integers(1, 6))):
            place = int(rng.integers(len(text)))
            text[place : place + int(rng.integers(0, 4))] = rng.choice(
                list('{}[]",:0e9-\\u\x00NaInf'), int(rng.integers(0, 4))
            )
        try:
            read += isinstance(parsed_message("".join(text)), InputMessage)
        except InputError:
            continue
    assert read < 10_000
    with served.client() as client:
        for text in ("{", "[1]", b"\xff\x00", '{"type": "input", "seq": []}', "null"):
            client.send(text)
        client.send('{"type": "ping", "sent": 3}')
        assert said(client, "pong")["sent"] == 3
    assert sum("reported once" in record.message for record in caplog.records) == len(served.server.refused) == 1


def test_messages_of_one_connection_are_worth_nothing_on_another(served: Served) -> None:
    with served.client() as first:
        old = said(first, "state")["session"]
        messages = [
            {"type": "command", "command": "start"},
            {"type": "input", "seq": 1},
            {"type": "mark", "kind": "subtask", "text": "x"},
        ]
        for message in messages:
            tell(first, old, **message)
        until(lambda: len(served.heard) == 3)
    until(lambda: served.control[-1] is False)
    with served.client() as second:  # It has the token, and says again what was overheard.
        assert said(second, "state")["role"] == "control"
        for message in messages:
            tell(second, old, **message)
            second.send(json.dumps(message))
        second.send('{"type": "ping", "sent": 5}')
        assert said(second, "pong")["sent"] == 5
        assert len(served.heard) == 3


def test_pings_that_say_no_number_are_not_answered(served: Served) -> None:
    with served.client() as client:
        for text in ("NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400):
            client.send('{"type": "ping", "sent": ' + text + "}")
        client.send('{"type": "ping", "sent": 6}')
        assert said(client, "pong")["sent"] == 6
        assert served.server.refused == {"malformed message": 5}


def test_a_message_beyond_the_limit_closes_its_socket_only(served: Served) -> None:
    with served.client() as watcher:
        said(watcher, "state")
        with served.client() as loud:
            loud.send("x" * 100_000)
            until(lambda: loud.close_code == 1009)
        watcher.send('{"type": "ping", "sent": 4}')
        assert said(watcher, "pong")["sent"] == 4


def test_a_port_that_is_taken_is_an_error_that_says_what_to_do(served: Served) -> None:
    second = TeleopServer(TOKEN, on_message=print, on_control=print, port=served.server.port)
    with pytest.raises(FileError, match="try another --port"):
        second.start()


def test_other_machines_are_served_over_https_with_a_certificate_that_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    files = self_signed("127.0.0.1", tmp_path)
    before = files[0].read_bytes()
    assert self_signed("127.0.0.1", tmp_path)[0].read_bytes() == before
    assert files[1].stat().st_mode & 0o077 == 0
    served = Served(certificate=files)
    try:
        assert served.server.address.startswith("https://")
        trusting = ssl.create_default_context(cafile=str(files[0]))
        with urllib.request.urlopen(served.server.address, context=trusting) as answer:
            assert answer.status == 200
        host = f"127.0.0.1:{served.server.port}"
        with connect(f"wss://{host}/socket?token={TOKEN}", ssl=trusting, origin=f"https://{host}") as client:  # type: ignore[arg-type]
            assert said(client, "state")["role"] == "control"
    finally:
        served.server.close()


def test_strangers_who_never_finish_a_tls_handshake_keep_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setattr(gate_module, "PATIENCE", 2.0)
    files = self_signed("127.0.0.1", tmp_path)
    served = Served(certificate=files)
    gate = served.server.gate
    assert gate is not None
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    strangers = [socket.create_connection(("127.0.0.1", served.server.port)) for _ in range(200)]
    try:
        for stranger in strangers[::2]:
            with suppress(OSError):
                stranger.sendall(hello)  # A handshake that begins and does not go on.
        until(lambda: gate.dropped >= 200 - MOST_WAITING)
        assert gate.waiting <= MOST_WAITING
        trusting = ssl.create_default_context(cafile=str(files[0]))
        host = f"127.0.0.1:{served.server.port}"
        with connect(f"wss://{host}/socket?token={TOKEN}", ssl=trusting) as client:
            assert said(client, "state")["role"] == "control"
            until(lambda: gate.waiting == 0, 30.0)  # The others were given their time.
            client.send('{"type": "ping", "sent": 7}')
            assert said(client, "pong")["sent"] == 7
    finally:
        for stranger in strangers:
            stranger.close()
        served.server.close()


def test_a_request_that_comes_a_byte_at_a_time_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_module, "PATIENCE", 1.0)
    gate = served.server.gate
    assert gate is not None
    with socket.create_connection(("127.0.0.1", served.server.port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        until(lambda: gate.waiting == 1)
        end = time.monotonic() + 60.0
        with suppress(OSError):
            while gate.waiting:
                assert time.monotonic() < end
                slow.sendall(b"X")
                time.sleep(0.2)
        assert gate.waiting == 0


def test_a_page_can_ask_why_its_socket_was_refused(served: Served) -> None:
    base = f"http://127.0.0.1:{served.server.port}/check?token="
    with urllib.request.urlopen(base + TOKEN) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(base + "old")
    assert refused.value.code == 403
    refused.value.close()


def test_the_token_of_a_run_is_kept_and_is_its_own_and_nobody_elses_to_read(tmp_path: Path) -> None:
    token = token_of(tmp_path / "run", tmp_path / "kept")
    assert token_of(tmp_path / "run", tmp_path / "kept") == token
    assert token_of(tmp_path / "other", tmp_path / "kept") != token
    files = list((tmp_path / "kept").iterdir())
    assert len(files) == 2
    for file in files:
        assert file.stat().st_mode & 0o077 == 0
        file.write_text("")  # Cut off: it is made anew.
    assert len(token_of(tmp_path / "run", tmp_path / "kept")) >= 20


def test_only_addresses_of_this_machine_are_loopback() -> None:
    assert is_loopback("127.0.0.1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("192.168.1.5")


def test_a_server_that_has_ended_keeps_nobody_from_going_on() -> None:
    served = Served()
    served.server.close()
    served.server.publish_state({"phase": "finishing"})
    served.server.publish_pictures([b"image"])
