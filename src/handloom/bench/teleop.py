"""Latency from the page to the robot's target, and pictures per second, over a socket on this machine."""

import json
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from handloom.bench.result import BenchResult
from handloom.engine import RunDirectory, RunSettings
from handloom.engine.run_settings import TELEOP
from handloom.errors import require
from handloom.tasks import load_task, sample_task
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.operator_source import OperatorSource
from handloom.teleop.picture_stream import OPERATOR
from handloom.teleop.teleop_run import TeleopRun

TASKS = ("fr3_pick_place", "so101_stack_cubes", "lift2_dual_pick_place")
SECONDS = 8.0
WARM = 10
"""First samples and frames, which are left out."""
RATE = 60.0
"""Samples that a page sends per second."""


def run(names: tuple[str, ...] = TASKS, seed: int = 0, *, seconds: float = SECONDS) -> BenchResult:
    """Drive each task for some seconds with two views, and the first one with all of its views, too."""
    rows = [_measured(name, seed, seconds, views=2) for name in names]
    return BenchResult(bench="teleop", rows=(*rows, _measured(names[0], seed, seconds, views=0)))


def _measured(name: str, seed: int, seconds: float, *, views: int) -> dict[str, object]:
    task = load_task(name, overrides=("data.max_episode_length=100000",))
    cameras = (OPERATOR, *(camera.name for camera in sample_task(task, seed, 0).cameras))
    chosen = cameras[:views] if views else cameras
    with tempfile.TemporaryDirectory() as folder:
        settings = RunSettings.of_task(task, seed=seed, source=TELEOP, unit_size=1, render="none")
        app = TeleopApp(
            TeleopRun(RunDirectory.begin(Path(folder) / "run", settings), task), PageOptions(cameras=chosen)
        )
        figures = _Page(app, seconds).drive()
    return {"name": f"{name}, {len(chosen)} views of 320x240 or less", **figures}


class _Page:
    """What a page does, without a browser: it starts the session, moves a hand in a circle and counts pictures."""

    def __init__(self, app: TeleopApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds
        self._sent: dict[int, float] = {}
        self._latencies: list[float] = []
        self._frames: list[float] = []
        self._last = -1
        show = app.view.frame

        def seen(source: OperatorSource, frame: int) -> None:
            source.on_targets = self._commanded
            show(source, frame)

        app.view.frame = seen

    def _commanded(self) -> None:
        now, used = time.monotonic(), self._app.live.used
        self._frames.append(now)
        if used != self._last and used in self._sent:
            self._latencies.append(now - self._sent[used])
        self._last = used

    def drive(self) -> dict[str, float]:
        """Return the figures."""
        addresses: list[str] = []
        ready = threading.Event()
        thread = threading.Thread(target=self._app.serve, args=(_then(addresses.append, ready.set),))
        thread.start()
        ready.wait()
        connect = require("websockets.sync.client", extra="teleop").connect
        address = addresses[0].replace("http://", "ws://").replace("/?", "/socket?")
        pictures: list[float] = []
        with connect(address, max_size=None) as socket:
            reader = threading.Thread(target=self._read, args=(socket, pictures))
            reader.start()
            while not pictures:  # The first one comes when the scene and its kernels are there.
                time.sleep(0.05)
            socket.send(json.dumps({"type": "command", "command": "start"}))
            self._move(socket)
            socket.send(json.dumps({"type": "command", "command": "finish"}))
            thread.join()
            reader.join()
        latencies = 1e3 * np.array(self._latencies[WARM:])
        shown = np.array(pictures)
        steady = shown[shown > shown[-1] - self._seconds / 2]
        frames = np.array(self._frames[WARM:])
        return {
            "latency_median_ms": float(np.median(latencies)),
            "latency_p99_ms": float(np.percentile(latencies, 99)),
            "pictures_per_s": float((len(steady) - 1) / (steady[-1] - steady[0])),
            "simulated_frames_per_s": float((len(frames) - 1) / (frames[-1] - frames[0])),
        }

    def _read(self, socket: Any, pictures: list[float]) -> None:
        for message in socket:
            if isinstance(message, bytes) and message[0] == 0:
                pictures.append(time.monotonic())

    def _move(self, socket: Any) -> None:
        begin = time.monotonic()
        for seq in range(round(self._seconds * RATE)):
            time.sleep(max(0.0, begin + seq / RATE - time.monotonic()))
            angle = 2.0 * np.pi * seq / RATE / 4.0
            hand = {
                "grip_position": [0.04 * np.sin(angle), 1.0 + 0.04 * (np.cos(angle) - 1.0), 0.0],
                "grip_orientation": [0.0, 0.0, 0.0, 1.0],
                "grip_is_valid": True,
                "squeeze_value": 1.0,
            }
            self._sent[seq] = time.monotonic()
            message = {"type": "input", "seq": seq, "controller_left": hand, "controller_right": hand}
            socket.send(json.dumps(message))


def _then(first: Callable[[str], None], second: Callable[[], None]) -> Callable[[str], None]:
    def both(address: str) -> None:
        first(address)
        second()

    return both
