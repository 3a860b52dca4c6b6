"""Latency from the page to the robot's target, images per second over a socket on this machine, CPU time."""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from handloom.bench.result import BenchResult
from handloom.engine import RunDirectory, RunSettings
from handloom.engine.sources import TELEOP
from handloom.episode.loop import apply_targets
from handloom.errors import require
from handloom.retarget import ControllerSnapshot, DeviceFrame, DeviceRecording
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.serving.picture_stream import OPERATOR, LiveDrawing, PictureStream
from handloom.teleop.session.operator_source import OperatorSource, RecordedInput

TASKS = ("fr3_pick_place", "so101_stack_cubes", "lift2_dual_pick_place")
SECONDS = 8.0
WARM = 10
"""Number of first samples and frames to leave out."""
TICKS = 60.0
"""Rate at which the robot reads a sample [Hz]."""
SAMPLES = 125.0
"""Rate at which a page sends samples [Hz]."""


def run(names: tuple[str, ...] = TASKS, seed: int = 0, *, seconds: float = SECONDS) -> BenchResult:
    """Drive each task for a few seconds with two views, and the first task also with all its views.

    Latency and rates need a machine with two free cores; the CPU times of a frame's commands, physics and images
    do not depend on other load.
    """
    rows = [_measured(name, seed, seconds, views=2) for name in names]
    rows.append(_measured(names[0], seed, seconds, views=0))
    return BenchResult(bench="teleop", rows=(*rows, _saved(names[0], seed, seconds)))


def _saved(name: str, seed: int, seconds: float) -> dict[str, object]:
    """Save a demonstration with all its images, continue with the next scene, and measure the pause of the stream."""
    task = load_task(name, overrides=("data.max_episode_length=100000",))
    with tempfile.TemporaryDirectory() as folder:
        settings = RunSettings.of_task(
            task, seed=seed, source=TELEOP, unit_size=1, render="now", codec="h264", keep_failures=True
        )
        run = TeleopRun(RunDirectory.begin(Path(folder) / "run", settings), task, background=True)
        cameras = (OPERATOR, *(camera.name for camera in sample_task(task, seed, 0).cameras))
        figures = _Page(TeleopApp(run, PageOptions(cameras=cameras[:2])), seconds).drive_on()
    return {"name": f"{name}, while {seconds:.0f} s are being saved in the background", **figures}


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
    work = _processor_time(name, seed, chosen, frames=round(0.25 * seconds * TICKS))
    return {"name": f"{name}, {len(chosen)} views, the first of 640x480", **figures, **work}


def _processor_time(name: str, seed: int, cameras: tuple[str, ...], *, frames: int) -> dict[str, float]:
    """Return the CPU time of a frame [ms]: commands (all ticks and the goals), physics, and one set of images."""
    task = load_task(name, overrides=("data.max_episode_length=100000",))
    instance = sample_task(task, seed, 0)
    scene = build_scene(instance)
    ticks = tuple(
        DeviceFrame(time_ns=round(1e9 * k / TICKS), controller_left=hand, controller_right=hand)
        for k in range(4 * frames)
        if (hand := ControllerSnapshot.from_record(_hand(k / TICKS)))
    )
    operator = RecordedInput(DeviceRecording(frames=ticks, end_time_ns=ticks[-1].time_ns + 1))
    source = OperatorSource(scene, worded_skills(task, instance), generator(seed, 0, "skills"), operator=operator)
    pictures = PictureStream(lambda files: None, cameras=cameras)
    drawing = LiveDrawing(scene, pictures.cameras_of(scene), "fast")
    pictures.close()
    spent: dict[str, list[float]] = {"command_cpu_ms": [], "physics_cpu_ms": [], "pictures_cpu_ms": []}
    for frame in range(frames):
        moments = [time.thread_time()]
        targets = source.next(frame)
        moments.append(time.thread_time())
        if targets is not None:
            apply_targets(scene, targets)
        scene.world.step(instance.substeps)
        moments.append(time.thread_time())
        drawing.files(scene.world.save_state())
        moments.append(time.thread_time())
        for values, cost in zip(spent.values(), np.diff(moments), strict=True):
            values.append(1e3 * cost)
    return {what: float(np.median(values[len(values) // 5 :])) for what, values in spent.items()}


def _hand(seconds: float) -> dict[str, Any]:
    """Return samples of a controller that moves in a circle with its squeeze held."""
    angle = 2.0 * np.pi * seconds / 4.0
    return {
        "grip_position": [0.04 * np.sin(angle), 1.0 + 0.04 * (np.cos(angle) - 1.0), 0.0],
        "grip_orientation": [0.0, 0.0, 0.0, 1.0],
        "grip_is_valid": True,
        "squeeze_value": 1.0,
    }


class _Page:
    """Emulates a page without a browser: starts the session, moves a hand in a circle and counts images."""

    def __init__(self, app: TeleopApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds
        self._sent: dict[int, float] = {}
        self._latencies: list[float] = []
        self._frames: list[float] = []
        self._last = -1
        self._session = ""
        self._state: dict[str, Any] = {}
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
        with self._page() as (_, pictures):
            pass
        latencies = 1e3 * np.array(self._latencies[WARM:])
        shown = np.array(pictures)
        steady = shown[shown > shown[-1] - self._seconds / 2]
        frames = np.array(self._frames[WARM:])
        simulated = np.sum((frames >= steady[0]) & (frames <= steady[-1]))
        return {
            "latency_median_ms": float(np.median(latencies)),
            "latency_p99_ms": float(np.percentile(latencies, 99)),
            "pictures_per_s": float((len(steady) - 1) / (steady[-1] - steady[0])),
            "frames_drawn": float(min(1.0, len(steady) / max(1, simulated))),
            "simulated_frames_per_s": float((len(frames) - 1) / (frames[-1] - frames[0])),
        }

    def drive_on(self) -> dict[str, float]:
        """Drive, save, and drive in the next scene until the data are written; return statistics of the stream."""
        with self._page() as (socket, pictures):
            asked = time.monotonic()
            self._send(socket, type="command", command="save")
            while self._state.get("episode") == 0 or self._state.get("phase") != "driving":
                time.sleep(0.005)
            offered = time.monotonic()
            self._send(socket, type="command", command="start")
            begin, seq = time.monotonic(), 10**6
            while self._state.get("waiting") and time.monotonic() < begin + 10.0 * self._seconds:
                self._send(socket, type="input", seq=(seq := seq + 1), controller_right=_hand(seq / SAMPLES))
                time.sleep(1.0 / SAMPLES)
            written = time.monotonic()
        # Starting with the first images of the next scene: building it delays them, saving does not.
        shown = np.array([moment for moment in pictures if offered + 0.3 < moment < written])
        change = np.array([moment for moment in pictures if asked - 0.2 < moment < offered + 0.6])
        gaps = 1e3 * np.diff(shown)
        alone = np.array([moment for moment in pictures if asked - 0.5 * self._seconds < moment < asked])
        return {
            "longest_gap_before_ms": float(1e3 * np.diff(alone).max()) if len(alone) > 1 else float("nan"),
            "next_scene_ms": 1e3 * (offered - asked),
            "gap_at_change_of_scene_ms": float(1e3 * np.diff(change).max()) if len(change) > 1 else float("nan"),
            "written_after_s": written - asked,
            "longest_gap_ms": float(gaps.max()) if len(gaps) else float("nan"),
            "p99_gap_ms": float(np.percentile(gaps, 99)) if len(gaps) else float("nan"),
            "pictures_per_s": float(1e3 / gaps.mean()) if len(gaps) else float("nan"),
        }

    @contextmanager
    def _page(self) -> Iterator[tuple[Any, list[float]]]:
        """Serve, connect like a page, start and move; yield the socket and the times of images [s], then finish."""
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
            while not pictures:  # The first image arrives when the scene and its kernels are ready.
                time.sleep(0.05)
            self._send(socket, type="command", command="start")
            self._move(socket)
            yield socket, pictures
            self._send(socket, type="command", command="finish")
            thread.join()
            reader.join()

    def _read(self, socket: Any, pictures: list[float]) -> None:
        with suppress(require("websockets.exceptions", extra="teleop").ConnectionClosed):
            for message in socket:
                if isinstance(message, bytes) and message[0] == 0:
                    pictures.append(time.monotonic())
                elif isinstance(message, str) and (record := json.loads(message))["type"] == "state":
                    self._state = record
                    self._session = record.get("session", self._session)

    def _move(self, socket: Any) -> None:
        begin = time.monotonic()
        for seq in range(round(self._seconds * SAMPLES)):
            time.sleep(max(0.0, begin + seq / SAMPLES - time.monotonic()))
            hand = _hand(seq / SAMPLES)
            self._sent[seq] = time.monotonic()
            self._send(socket, type="input", seq=seq, controller_left=hand, controller_right=hand)

    def _send(self, socket: Any, **message: Any) -> None:
        socket.send(json.dumps({**message, "session": self._session}))


def _then(first: Callable[[str], None], second: Callable[[], None]) -> Callable[[str], None]:
    def both(address: str) -> None:
        first(address)
        second()

    return both
