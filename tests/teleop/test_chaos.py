"""Reloads, drop-outs, second tabs, restarts and kills at random moments: nothing saved is lost, nothing is dropped.

``HANDLOOM_TELEOP_CHAOS`` says at how many moments; 100 take about ten minutes. ``HANDLOOM_TELEOP_CHAOS_SEED`` draws
others.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("websockets")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from handloom.dataset import DatasetReader
from handloom.engine import InlineExecutor, verify_dataset
from handloom.retarget import DeviceRecording

MOMENTS = int(os.environ.get("HANDLOOM_TELEOP_CHAOS", "6"))
SEED = int(os.environ.get("HANDLOOM_TELEOP_CHAOS_SEED", "41"))
PATIENCE = 240.0


class Operator:
    """A person with a page, whom anything may happen to; a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        self.client: ClientConnection | None = None
        self._stack = ExitStack()
        self.state: dict[str, Any] = {}
        self.seq, self.trigger = 0, 0.0
        self.rng = np.random.default_rng(12)
        self.saved: set[int] = set()
        """Scenes whose demonstrations the page was told to be kept."""

    def __enter__(self) -> "Operator":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self._stack.close()

    def begin(self) -> None:
        command = [sys.executable, "-m", "handloom", "teleop", "so101_stack_cubes", "--port", "0", "--keep-failures"]
        command += ["--render", "none", "--cameras", "operator", "--size", "64", "48", "-o", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = next(line for line in self.process.stdout if "token=" in line)
        self.address = line.split()[-1].replace("http:", "ws:").replace("/?", "/socket?")
        self.open()

    def open(self) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self._stack.close()
                self.client = self._stack.enter_context(connect(self.address, max_size=None, ping_interval=None))
                self.look(lambda state: state.get("phase") in ("ready", "driving", "over"), drive=False)
                if self.state["role"] == "watch":
                    self.say(type="command", command="claim")
                    self.look(lambda state: state["role"] == "control", drive=False)
                return
            except (OSError, InvalidStatus, TimeoutError):
                assert time.monotonic() < end
                time.sleep(0.2)

    def say(self, **message: Any) -> None:
        assert self.client is not None
        self.client.send(json.dumps({**message, "session": self.state.get("session", "")}))

    def look(self, holds: Any, *, drive: bool = True, seconds: float = PATIENCE) -> dict[str, Any]:
        """Drive with what the page shows until something holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(TimeoutError):
                assert self.client is not None
                text = self.client.recv(timeout=0.05)
                if isinstance(text, str) and (found := json.loads(text))["type"] == "state":
                    self.state = found
                    if holds(found):
                        return found
            if drive and self.state.get("state") == "running":
                self.seq += 1
                grip = {"grip_position": [0, 1, 0], "grip_orientation": [0, 0, 0, 1], "grip_is_valid": True}
                hand = {**grip, "squeeze_value": 1.0, "trigger_value": self.trigger}
                self.say(type="input", seq=self.seq, controller_right=hand)
        raise TimeoutError(f"it did not come to hold: {self.state}")

    def demonstrate(self) -> None:
        """Record something with a closed gripper and save it; now and then, a scene that was saved before."""
        if self.state.get("may_again") and self.rng.random() < 0.3:
            self.say(type="command", command="again")
            self.look(lambda s: s.get("is_again"))
        episode = self.state["episode"]
        if self.state["phase"] != "over":
            self.say(type="command", command="start")
            begin = self.state.get("seconds", 0.0)
            self.look(lambda s: s["state"] == "running" and s.get("seconds", 0.0) >= begin + 0.2)
            self.trigger = 1.0
            self.look(lambda s: s.get("recording") and s["seconds"] >= begin + 0.6 and s["arms"][0]["closed"] == 1.0)
        self.say(type="command", command="save")
        self.look(lambda s: s["episode"] != episode)
        self.saved.add(episode)
        self.trigger = 0.0

    def suffer(self, what: str) -> None:
        """Let something happen."""
        assert self.client is not None
        assert self.process is not None
        held = self.state.get("arms") and self.state["arms"][0]["closed"] == 1.0, self.state.get("episode")
        if what == "reload":
            self.client.close()
            self.open()
        elif what == "drop":
            self.client.socket.close()
            self.open()
        elif what == "second tab":
            with connect(self.address, max_size=None) as second:
                second.send('{"type": "command", "command": "finish", "session": "x"}')
                assert json.loads(second.recv(timeout=PATIENCE))["type"] in ("state", "pong")
        else:
            self.process.send_signal(signal.SIGTERM if what == "SIGTERM" else signal.SIGKILL)
            self.process.communicate(timeout=PATIENCE)
            assert self.process.returncode == (0 if what == "SIGTERM" else -signal.SIGKILL)
            self.seq, self.trigger = 0, 0.0
            self.begin()
            return
        new_page = what in ("reload", "drop")
        if new_page and held[0] and held[1] == self.state.get("episode") and self.state.get("arms"):
            self.trigger = 0.0  # A new page has an open hand ...
            self.say(type="command", command="start")
            with suppress(TimeoutError):
                self.look(lambda s: False, seconds=0.4)
            if held[1] == self.state["episode"] and self.state["arms"]:  # A save that was under way may end a scene.
                assert self.state["arms"][0]["closed"] == 1.0  # ... and drops nothing.


@pytest.mark.slow
def test_nothing_saved_is_lost_and_nothing_held_is_dropped_whatever_happens_when(tmp_path: Path) -> None:
    rng = np.random.default_rng(SEED)
    events = ["reload", "drop", "second tab", "SIGTERM", "SIGKILL"]
    with Operator(tmp_path / "run") as operator:
        operator.begin()
        for _ in range(MOMENTS):
            what = str(rng.choice(events, p=[0.3, 0.25, 0.15, 0.1, 0.2]))
            moment = time.monotonic() + float(rng.uniform(0.0, 2.0))
            try:
                while time.monotonic() < moment:
                    operator.state.setdefault("episode", -1)
                    _until(operator, moment)
            except ConnectionClosed:
                operator.open()
            operator.suffer(what)
        operator.demonstrate()
        operator.say(type="command", command="finish")
        assert operator.process is not None
        operator.process.communicate(timeout=PATIENCE)
        assert operator.process.returncode == 0
    reader = DatasetReader(tmp_path / "run" / "failures")
    kept = [episode.columns["attempt_index"] for episode in reader.episodes]
    assert set(kept) >= operator.saved
    assert len(operator.saved) >= 1
    assert len(kept) == len(set(kept))
    takes = sorted((tmp_path / "run" / "inputs").glob("episode_*.jsonl"))
    assert all(DeviceRecording.read(take).complete for take in takes)
    assert {int(take.name[8:14]) for take in takes} == set(kept)  # Every take on the disk became an episode.
    verdicts = {found.verdict for found in verify_dataset(tmp_path / "run" / "failures", InlineExecutor())}
    assert verdicts == {"exact"}


def _until(operator: Operator, moment: float) -> None:
    """Demonstrate, and stop in the middle of it when a moment has come."""
    look = operator.look

    def hurried(holds: Any, *, drive: bool = True, seconds: float = PATIENCE) -> dict[str, Any]:
        return look(holds, drive=drive, seconds=max(0.01, min(seconds, moment - time.monotonic())))

    operator.look = hurried  # type: ignore[method-assign]
    try:
        operator.demonstrate()
    except TimeoutError:
        return
    finally:
        operator.look = look  # type: ignore[method-assign]
