"""handloom teleop: drive a task's robot from a browser and keep what was done as a dataset."""

import signal
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.cli.flags import (
    NO_HINT,
    Backend,
    ColumnStyle,
    LerobotFeature,
    Number,
    OptionalFile,
    OptionalOutput,
    Overrides,
    Preset,
    Task,
)
from handloom.cli.verbs.doctor import compile_kernels
from handloom.config import own_code
from handloom.engine import RunDirectory, RunSettings
from handloom.engine.sources import TELEOP
from handloom.errors import InputError, require
from handloom.render.run_drawing import drawing_for
from handloom.retarget import DeviceRecording
from handloom.safe_paths import safe_name
from handloom.tasks import load_task
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.serving.picture_stream import check_views

LENGTH = "data.max_episode_length"


def run(
    task: Task,
    *,
    output: OptionalOutput = None,
    seed: Number = 0,
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1",
    port: Number = 8420,
    https: bool = False,
    open: bool = False,
    size: Annotated[tuple[int, int], tyro.conf.arg(metavar="WIDTH HEIGHT")] = (640, 480),
    cameras: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME [NAME ...]", help_behavior_hint=NO_HINT)] = (),
    seconds: float = 120.0,
    scale: float = 1.0,
    trim: float = 0.0,
    render: Literal["now", "later", "none"] = "now",
    preset: Preset = "balanced",
    backend: Backend = "cpu",
    columns: tuple[ColumnStyle, ...] = ("canonical",),
    lerobot_features: Annotated[tuple[LerobotFeature, ...], tyro.conf.arg(help_behavior_hint=NO_HINT)] = (),
    keep_failures: bool = False,
    replay: OptionalFile = None,
    set: Overrides = (),
    allow_code: bool = False,
) -> int:
    """Drive a robot from a browser: keyboard, mouse, gamepad, phone or headset. Needs the extra teleop.

    Open the address that is printed. What you save goes through the loop, the judge and the writer of generate.
    The same command again goes on with the next scene.

    Args:
        task: A task of the library, or a YAML file.
        output: Folder of the run. Default: out/teleop_TASK.
        seed: Seed of the scenes.
        host: Address to serve at; one that other machines reach is served over HTTPS only.
        port: Port of the page; 0 takes a free one.
        https: Serve HTTPS on this machine, too, with a certificate that this machine signs itself.
        open: Open the page in the browser of this machine.
        size: Width and height that the large live picture fits into; it is drawn as large as the page shows it.
        cameras: Views to show on the page: operator, and the cameras of the task. Default: all.
        seconds: Longest demonstration.
        scale: Metres the tool moves per metre of the hand.
        trim: Cut pauses longer than so many seconds out of what is saved; the archive keeps them. 0 cuts none.
        render: Draw the pictures of the dataset when a demonstration is saved, later with handloom render, or not.
        preset: How much work goes into the pictures of the dataset.
        backend: What draws these and the live ones: cpu, or cuda for NVIDIA cards (extra gpu).
        columns: Names of the columns, as for generate.
        lerobot_features: What is written only when asked for, as for generate: language writes your marks into frames.
        keep_failures: Allow to save attempts that did not succeed, into failures/.
        replay: Carry out a recording again instead (a file of the folder inputs/ of a run), without a page.
        set: Overrides such as data.fps=20.
        allow_code: Run Python code that the task names.
    """
    if allow_code:
        own_code.allow_code()
    if not 1.0 <= seconds <= 3600.0:
        raise InputError(f"--seconds is between 1 and 3600, got {seconds}")
    if not 0.05 <= scale <= 20.0:
        raise InputError(f"--scale is between 0.05 and 20, got {scale}")
    if not 0.0 <= trim <= 3600.0:
        raise InputError(f"--trim is between 0 and 3600 seconds, got {trim}")
    loaded = load_task(task, overrides=set)
    if not any(text.startswith(f"{LENGTH}=") for text in set):
        frames = round(seconds * loaded.config.data.fps)
        loaded = load_task(task, overrides=(*set, f"{LENGTH}={frames}"))
    settings = RunSettings.of_task(
        loaded,
        seed=seed,
        source=TELEOP,
        unit_size=1,
        render=render,
        preset=preset,
        backend=backend,
        columns=columns,
        lerobot_features=lerobot_features,
        keep_failures=keep_failures,
    )
    if replay is None:
        require("websockets", extra="teleop")
        check_views(loaded, seed, cameras)
    directory = RunDirectory.begin(output or Path("out") / safe_name(f"teleop_{loaded.name}"), settings)
    with directory.held(), drawing_for(backend, workers=0):
        teleop_run = TeleopRun(directory, loaded, scale, trim, background=replay is None)
        compile_kernels()
        if replay is not None:
            return _replay(teleop_run, replay)
        app = TeleopApp(
            teleop_run, PageOptions(host=host, port=port, https=https, size=size, cameras=cameras, backend=backend)
        )
        try:
            with _finishing_on_signals(app):
                app.serve(lambda address: _tell_address(address, open_page=open))
        except KeyboardInterrupt:
            print("stopped; what was saved is kept")
    for take in teleop_run.unsaved:
        print(f"could not be written: {teleop_run.takes.path(take)}; the same command again tries once more")
    print(f"{teleop_run.saved} demonstrations in {directory.dataset}; check them: handloom verify {directory.path}")
    return 0


@contextmanager
def _finishing_on_signals(app: TeleopApp) -> Iterator[None]:
    """Finish the session on Ctrl-C and on SIGTERM as its button does; a second Ctrl-C stops at once."""

    def finish(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # In a thread of its own: the one that was interrupted may be holding the lock.
        threading.Thread(target=app.finish).start()

    before = {number: signal.signal(number, finish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_address(address: str, *, open_page: bool) -> None:
    print(f"open in a browser: {address}", flush=True)
    if open_page:
        webbrowser.open(address)


def _replay(teleop_run, file: Path) -> int:
    record = teleop_run.replay(DeviceRecording.read(file))
    teleop_run.merge()
    print(f"replayed {record.frames} frames: {'success' if record.success else record.failure}")
    return 0 if record.success else 1
