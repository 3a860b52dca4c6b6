"""handloom teleop: drive a task's robot from a browser and record it as a dataset."""

import select
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
    OptionalRobot,
    Overrides,
    Preset,
    Task,
)
from handloom.cli.verbs.doctor import compile_kernels
from handloom.config import own_code
from handloom.dataset.robot_columns import INTERVENTION
from handloom.engine import RunDirectory, RunSettings
from handloom.engine.policy.policies import policy_source, try_policy
from handloom.engine.sources import TELEOP
from handloom.errors import InputError, require
from handloom.render.backends import drawing_for
from handloom.retarget import DeviceRecording
from handloom.safe_paths import safe_name
from handloom.tasks import load_task
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.leader.calibration import measured_calibration, write_calibration
from handloom.teleop.leader.leader_arm import KINDS, LeaderArm, LeaderSpec, check_leaders
from handloom.teleop.leader.serial_line import SerialLine
from handloom.teleop.serving.picture_stream import check_views

LENGTH = "data.max_episode_length"
RANGES = {"seconds": (1.0, 3600.0), "scale": (0.05, 20.0), "trim": (0.0, 3600.0), "operators": (1, 8)}
"""Option > its minimum and maximum."""


def run(
    task: Task,
    *,
    robot: OptionalRobot = None,
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
    leader: Annotated[
        tuple[str, ...], tyro.conf.arg(metavar="[SIDE:]KIND=PORT[,FILE]", help_behavior_hint=NO_HINT)
    ] = (),
    calibrate: bool = False,
    policy: Annotated[str | None, tyro.conf.arg(metavar="POLICY", help_behavior_hint=NO_HINT)] = None,
    weights: OptionalFile = None,
    policy_python: OptionalFile = None,
    operators: Number = 1,
    replay: OptionalFile = None,
    set: Overrides = (),
    allow_code: bool = False,
) -> int:
    """Drive a robot from a browser with keyboard, mouse, gamepad, phone or headset. Needs the extra teleop.

    Open the address that is printed. Saved demonstrations are simulated, judged and written as by generate.
    Repeating the command continues with the next scene.

    Args:
        task: A task of the library, or a YAML file.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        output: Folder of the run. Default: out/teleop_TASK.
        seed: Seed of the scenes.
        host: Address to serve at; addresses that other machines can reach use HTTPS only.
        port: Port of the page; 0 chooses a free one.
        https: Use HTTPS even on this machine, with a self-signed certificate.
        open: Open the page in the browser of this machine.
        size: Maximum width and height of the large live image, which is rendered at the size shown on the page.
        cameras: Views to show on the page: operator, and the cameras of the task. Default: all.
        seconds: Maximum length of a demonstration.
        scale: Metres that the tool moves per metre of hand motion.
        trim: Cut pauses longer than this many seconds from the saved demonstration; the archive keeps them. 0 cuts
            nothing.
        render: Render the images of the dataset when a demonstration is saved, later with handloom render, or not at
            all.
        preset: Quality of the dataset's images.
        backend: Renderer of these and the live images: cpu, or cuda for NVIDIA GPUs (extra gpu).
        columns: Names of the columns, as for generate.
        lerobot_features: Optional features to write, as for generate: language writes your marks into frames.
        keep_failures: Allow saving failed attempts, into failures/.
        leader: Leader arms that the robot follows joint by joint: so101, so100 or koch, and the serial port, such as
            so101=/dev/ttyACM0 or left:koch=/dev/ttyUSB0,my_calibration.json (LeRobot calibration files also work).
        calibrate: Measure the ranges of the leader arms first: you move them by hand.
        policy: Let a policy drive, and correct it: drive by holding a key, a stick or the squeeze; the policy continues
            when you release it. Specified as for evaluate. Your frames are marked in the column
            annotation.intervention.
        weights: File to pass to the policy's class.
        policy_python: Python interpreter that has LeRobot and runs the checkpoint; by default this one.
        operators: Number of people who work at the same time, each with their own page and scene.
        replay: Replay a recording instead (a file from the folder inputs/ of a run), without a page.
        set: Overrides such as data.fps=20.
        allow_code: Run Python code that the task names.
    """
    if allow_code:
        own_code.allow_code()
    _check_numbers(seconds=seconds, scale=scale, trim=trim, operators=operators)
    if policy is not None and operators > 1:
        raise InputError("only one person can correct a --policy; omit --operators")
    if (weights is not None or policy_python is not None) and policy is None:
        raise InputError("--weights and --policy-python belong to --policy")
    leaders = tuple(LeaderSpec.parsed(text) for text in leader)
    loaded = load_task(task, overrides=set, robot=robot)
    if not any(text.startswith(f"{LENGTH}=") for text in set):
        frames = round(seconds * loaded.config.data.fps)
        loaded = load_task(task, overrides=(*set, f"{LENGTH}={frames}"), robot=robot)
    settings = RunSettings.of_task(
        loaded,
        seed=seed,
        source=TELEOP,
        unit_size=1,
        render=render,
        preset=preset,
        backend=backend,
        columns=(*columns, INTERVENTION) if policy is not None else columns,
        lerobot_features=lerobot_features,
        keep_failures=keep_failures,
    )
    if replay is None:
        require("websockets", extra="teleop")
        check_views(loaded, seed, cameras)
        check_leaders(loaded, seed, leaders)
        _prepare(leaders, calibrate=calibrate)
    source = ""
    if policy is not None:
        own_code.allow_code(policy)  # Named by the user on the command line.
        source = policy_source(policy, weights, policy_python)
        try_policy(source, loaded, seed)
    directory = RunDirectory.begin(
        output or Path("out") / safe_name(f"teleop_{loaded.name}" + (f"_{robot}" if robot else "")), settings
    )
    with directory.held(), drawing_for(backend, workers=0):
        teleop_run = TeleopRun(directory, loaded, scale, trim, background=replay is None, policy=source)
        compile_kernels()
        if replay is not None:
            return _replay(teleop_run, replay)
        page = PageOptions(host=host, port=port, https=https, size=size, cameras=cameras, backend=backend)
        app = TeleopApp(teleop_run, replace(page, operators=operators, leaders=leaders))
        try:
            with _finishing_on_signals(app):
                app.serve(lambda address: _tell_address(address, open_page=open))
        except KeyboardInterrupt:
            print("stopped; everything saved is kept")
    for take in teleop_run.unsaved:
        print(f"could not be written: {teleop_run.takes.path(take)}; run the same command to try again")
    print(f"{teleop_run.saved} demonstrations in {directory.dataset}; check them: handloom verify {directory.path}")
    return 0


def _check_numbers(**given: float) -> None:
    """Refuse options outside their ranges."""
    for name, value in given.items():
        low, high = RANGES[name]
        if not low <= value <= high:
            raise InputError(f"--{name} is between {low:g} and {high:g}, got {value}")


def _prepare(leaders: Sequence[LeaderSpec], *, calibrate: bool) -> None:
    """Open every leader once to report faults early; calibrate it first if needed."""
    for spec in leaders:
        if calibrate or not spec.calibration.is_file():
            _calibrate(spec)
        LeaderArm.opened(spec).close()


def _calibrate(spec: LeaderSpec) -> None:
    """Calibrate a leader with the help of the person at the terminal."""
    if not sys.stdin.isatty():
        raise InputError(
            f"{spec.calibration}: there is no calibration of the leader on {spec.port}; run this once in a terminal, "
            "or give a LeRobot calibration file after the port"
        )
    kind = KINDS[spec.kind]
    with SerialLine(spec.port) as line:
        arm = LeaderArm(kind, line)
        arm.bus.release()
        offsets = arm.bus.offsets()
        input(f"leader on {spec.port}: hold every joint in the middle of its range, then press Enter ")
        print(
            "now move every joint, and the trigger, through its whole range; press Enter when done ", end="", flush=True
        )
        found = measured_calibration(
            kind.servos,
            arm.bus.positions,
            offsets,
            offset_sign=kind.protocol.offset_sign,
            moving=lambda: not select.select([sys.stdin], [], [], 0.02)[0],
        )
        sys.stdin.readline()
    write_calibration(spec.calibration, found)
    print(f"wrote:   {spec.calibration}")


@contextmanager
def _finishing_on_signals(app: TeleopApp) -> Iterator[None]:
    """Finish the session on Ctrl-C and SIGTERM, like the Finish button; a second Ctrl-C stops at once."""

    def finish(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # In a separate thread: the interrupted thread may be holding the lock.
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
