"""The page in a real browser: keys, mouse, gamepad and an emulated headset drive the robot.

The emulated headset is IWER (npm, MIT): ``HANDLOOM_IWER`` names its ``build/iwer.min.js``. ``HANDLOOM_SCREENSHOTS``
names a folder for pictures of what the tests saw.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("websockets")

from expert_hand import expert_record, hand_recording

from browser import PROGRAM, Browser
from handloom.engine import InlineExecutor, RunDirectory, RunSettings, verify_dataset
from handloom.engine.sources import TELEOP
from handloom.retarget import DeviceRecording
from handloom.tasks import load_task
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.session.operator_source import OperatorSource

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: install chromium or google-chrome"),
]
IWER = os.environ.get("HANDLOOM_IWER", "")
SEED = 5
UP = "document.querySelector('[data-hold=up]')"
GAMEPAD = """
const buttons = Array.from({length: 17}, () => ({pressed: false, value: 0}));
const pad = {id: "Test pad", connected: true, axes: [0, 0, 0, 0], buttons};
navigator.getGamepads = () => [pad];
window.pad = pad;
"""


class Driven:
    """An app in a thread of its own, and the source of the attempt that it is at."""

    def __init__(
        self,
        folder: Path,
        task: str,
        *,
        size: tuple[int, int] = (160, 120),
        frames: int = 3600,
        keep_failures: bool = False,
        operators: int = 1,
        policy: str = "",
    ) -> None:
        loaded = load_task(task, overrides=(f"data.max_episode_length={frames}",))
        settings = RunSettings.of_task(
            loaded, seed=SEED, source=TELEOP, unit_size=1, render="none", keep_failures=keep_failures
        )
        self.run = TeleopRun(RunDirectory.begin(folder, settings), loaded, policy=policy)
        self.app = TeleopApp(self.run, PageOptions(size=size, operators=operators))
        self.source: OperatorSource | None = None
        show = self.app.view.frame

        def seen(source: OperatorSource, frame: int) -> None:
            self.source = source
            show(source, frame)

        self.app.view.frame = seen
        addresses: list[str] = []
        self.thread = threading.Thread(target=self.app.serve, args=(addresses.append,))
        self.thread.start()
        while not addresses:
            assert self.thread.is_alive()
            time.sleep(0.01)
        self.address = addresses[0]

    def tool(self, number: int = 0) -> np.ndarray:
        assert self.source is not None
        return self.source.robot.arms[number].follower.T_base_tool[:3, 3].copy()

    def close(self) -> None:
        self.app.finish()
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def driven(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Driven]:
    driven = Driven(tmp_path / "run", getattr(request, "param", "fr3_pick_place"))
    yield driven
    driven.close()


def opened(browser: Browser, driven: Driven) -> None:
    browser.open(driven.address)
    browser.wait("['ready', 'driving'].includes(window.handloom?.state.phase)", "the scene")
    browser.wait("[...document.querySelectorAll('canvas')].every((c) => c.dataset.drawn > 0)", "pictures")


def started(browser: Browser, driven: Driven) -> None:
    opened(browser, driven)
    browser.tap("Enter")
    browser.wait("handloom.state.state === 'running' && handloom.state.arms?.length", "time to run")


def shot(browser: Browser, name: str) -> None:
    if folder := os.environ.get("HANDLOOM_SCREENSHOTS"):
        browser.picture(Path(folder) / f"{name}.png")


def test_keys_move_the_tool_only_while_they_are_held_and_space_closes_the_gripper(driven: Driven) -> None:
    with Browser() as browser:
        started(browser, driven)
        start = driven.tool()
        browser.key("KeyQ", down=True)
        browser.wait("handloom.state.arms[0].engaged", "the clutch to engage")
        browser.wait(lambda: start[2] - driven.tool()[2] > 0.03, "the tool to go down")
        shot(browser, "keyboard")
        browser.key("KeyQ", down=False)
        browser.wait("!handloom.state.arms[0].engaged", "the clutch to let go")
        stopped = driven.tool()
        assert abs(stopped[0] - start[0]) < 2e-3
        browser.tap("Space")
        arm = driven.source.robot.arms[0].arm
        closed = lambda: arm.world.data.ctrl[arm.gripper_ctrl_index[0]] == arm.spec.gripper_closed[0]  # noqa: E731
        browser.wait(closed, "the gripper to close")
        assert np.array_equal(driven.tool(), stopped)
        assert browser.errors == []


def test_buttons_pause_stop_and_begin_again(driven: Driven) -> None:
    with Browser() as browser:
        started(browser, driven)
        for click, state in (("run", "paused"), ("run", "running"), ("stop", "stopped"), ("run", "running")):
            browser.run(f"document.getElementById('{click}').click()")
            browser.wait(f"handloom.state.state === '{state}'", state)
        source = driven.source
        browser.tap("KeyR")
        browser.wait(lambda: driven.source is not source, "another attempt")
        browser.wait("handloom.state.state === 'stopped'", "it to stand still")
        assert browser.run("document.getElementById('save').disabled")


def test_dragging_a_picture_moves_the_tool(driven: Driven) -> None:
    with Browser() as browser:
        started(browser, driven)
        start = driven.tool()
        box = browser.run("document.querySelector('canvas').getBoundingClientRect().toJSON()")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1)
        for k in range(1, 60):
            browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 2 * k, y=y, button="left", buttons=1)
        browser.wait(lambda: np.linalg.norm(driven.tool() - start) > 0.02, "the tool to follow")
        browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", buttons=0)


def test_a_gamepad_moves_grips_and_starts(driven: Driven) -> None:
    with Browser(scripts=(GAMEPAD,)) as browser:
        opened(browser, driven)
        browser.run("pad.buttons[0].pressed = true")
        browser.wait("handloom.state.state === 'running'", "A to start")
        browser.wait("handloom.state.arms?.length", "the arm")
        start = driven.tool()
        browser.run("pad.axes[3] = 0.8; pad.buttons[7].value = 0.525")
        browser.wait(lambda: start[2] - driven.tool()[2] > 0.03, "the stick to lower the tool")
        arm = driven.source.robot.arms[0].arm
        half = 0.5 * (arm.spec.gripper_open[0] + arm.spec.gripper_closed[0])
        reached = lambda: abs(arm.world.data.ctrl[arm.gripper_ctrl_index[0]] - half) < 1e-6  # noqa: E731
        browser.wait(reached, "the trigger to close the gripper half-way")
        assert "Test pad" in browser.run("document.getElementById('device').textContent")
        browser.run("pad.axes[3] = 0; pad.buttons[1].pressed = true")
        browser.wait("handloom.state.state === 'stopped'", "B to stop")


def test_a_second_page_watches_and_a_closed_page_stops_the_robot(driven: Driven) -> None:
    with Browser() as first:
        started(first, driven)
        with Browser() as second:
            opened(second, driven)
            assert second.run("handloom.state.role") == "watch"
            assert second.run("document.getElementById('run').disabled")
            second.tap("Escape")
            assert first.run("handloom.state.state") == "running"
            first.open("about:blank")
            second.wait("handloom.state.state === 'stopped' && handloom.state.free", "the robot to stop")
            second.run("document.getElementById('claim').click()")
            second.wait("handloom.state.role === 'control'", "control to change hands")
            assert second.run("handloom.state.state") == "stopped"


def test_a_phone_has_pads_that_move_the_tool(driven: Driven) -> None:
    with Browser(size=(412, 915)) as browser:
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        browser.call("Emulation.setEmitTouchEventsForMouse", enabled=True, configuration="mobile")
        opened(browser, driven)
        assert not browser.run("document.getElementById('pads').hidden")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        browser.run("document.getElementById('run').click()")
        browser.wait("handloom.state.state === 'running' && handloom.state.arms?.length", "time to run")
        start = driven.tool()
        browser.run(f"{UP}.dispatchEvent(new PointerEvent('pointerdown', {{bubbles: true}}))")
        browser.wait(lambda: driven.tool()[2] - start[2] > 0.02, "the tool to go up")
        browser.run(f"{UP}.dispatchEvent(new PointerEvent('pointerup', {{bubbles: true}}))")
        browser.run("document.getElementById('pads').scrollIntoView()")
        shot(browser, "phone")


def hands_of(recording: DeviceRecording) -> list[dict[str, Any]]:
    """Return what the emulated controllers do, sample by sample."""
    found = []
    for frame in recording.frames:
        hands = {"left": frame.controller_left, "right": frame.controller_right}
        found.append(
            {
                side: {
                    "p": np.asarray(hand.grip_position, float).tolist(),
                    "q": np.asarray(hand.grip_orientation, float).tolist(),
                    "trigger": hand.trigger_value,
                }
                for side, hand in hands.items()
                if hand is not None
            }
        )
    return found


PLAYER = """
window.play = async (frames, perSecond) => {
  const {multiplied, normalised} = await import("./hands.js");
  const device = window.xrDevice, back = {};
  const turn = (q, v) => multiplied(multiplied(q, [...v, 0]), [-q[0], -q[1], -q[2], q[3]]).slice(0, 3);
  // Where the grip is when the pointing ray, which is what can be set, is at the origin.
  for (const side of ["left", "right"]) {
    device.controllers[side].position.set(0, 0, 0);
    device.controllers[side].quaternion.set(0, 0, 0, 1);
  }
  await new Promise((done) => setTimeout(done, 400));
  const latest = window.handloom.xr.latest;
  for (const side of ["left", "right"]) {
    const {grip_position: p, grip_orientation: q} = latest[`controller_${side}`];
    const inverse = [-q[0], -q[1], -q[2], q[3]];
    back[side] = {q: inverse, p: turn(inverse, p).map((v) => -v)};
  }
  let k = 0, last = window.handloom.state.seconds, before = performance.now(), still = 0, seen = null;
  while (window.handloom.state.phase !== "over") {
    // The hand keeps to the time of the episode, however slow the machine is. A person who sees the clutch open, or the
    // picture stall, holds still until it goes on: the arm takes hold where the hand is.
    const {state} = window.handloom, {seconds, arms} = state, now = performance.now();
    if (now - before > 150 || !arms.every((arm) => arm.engaged)) still = 4;
    else if (state !== seen && still > 0) still -= 1;
    if (still === 0) k = Math.min(frames.length - 1, k + Math.min(4, (seconds - last) * perSecond));
    [last, before, seen] = [seconds, now, state];
    for (const [side, hand] of Object.entries(frames[Math.floor(k)])) {
      const controller = device.controllers[side], q = normalised(hand.q), offset = turn(q, back[side].p);
      const ray = normalised(multiplied(q, back[side].q));
      controller.position.set(...hand.p.map((v, i) => v + offset[i]));
      controller.quaternion.set(...ray);
      controller.updateButtonValue("trigger", hand.trigger);
      controller.updateButtonValue("squeeze", 1);
    }
    await new Promise((done) => setTimeout(done, 4));
  }
};
"""


INSTALL = "window.xrDevice = new IWER.XRDevice(IWER.metaQuest3); xrDevice.installRuntime({forceInstall: true});"
needs_iwer = pytest.mark.skipif(
    not Path(IWER).is_file(), reason="HANDLOOM_IWER does not name iwer.min.js (npm pack iwer)"
)


@needs_iwer
def test_each_eye_of_a_headset_sees_its_own_picture(driven: Driven) -> None:
    eyes = "xrDevice.stereoEnabled = true; xrDevice.ipd = 0.064;"
    with Browser(scripts=(f"{Path(IWER).read_text(encoding='utf-8')};\n{INSTALL}{eyes}",)) as browser:
        opened(browser, driven)
        browser.wait("!document.getElementById('vr').hidden", "the headset to be offered")
        browser.run("document.getElementById('vr').click()")
        browser.wait(
            "handloom.state.cameras.some((c) => c.name === 'operator_right')", "the second eye to be asked for"
        )
        assert driven.app.pictures.eye_distance == pytest.approx(0.064, abs=1e-3)
        browser.wait("handloom.xr?.textures.has('operator_right')", "its picture")
        # The headset's own canvas: left half for the left eye, right half for the right one.
        browser.wait("handloom.xr.cameras().every(({ canvas }) => canvas.dataset.drawn > 0)", "both eyes")
        browser.wait(f"({HALVES})() > 2", "the halves to differ")
        shot(browser, "stereo")
        assert not browser.run("Boolean(document.getElementById('view-operator_right'))")
        browser.run("handloom.xr.end()")
        browser.wait("!handloom.state.cameras.some((c) => c.name === 'operator_right')", "one eye again")
        assert browser.errors == []


HALVES = """() => {
  const gl = handloom.xr.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, half = w >> 1;
  const left = new Uint8Array(half * h * 4), right = new Uint8Array(half * h * 4);
  handloom.xr.draw(handloom.xr.viewer);
  gl.readPixels(0, 0, half, h, gl.RGBA, gl.UNSIGNED_BYTE, left);
  gl.readPixels(half, 0, half, h, gl.RGBA, gl.UNSIGNED_BYTE, right);
  return left.reduce((sum, value, k) => sum + Math.abs(value - right[k]), 0) / left.length;
}"""


def test_a_phone_without_ar_turns_the_hand_while_it_is_held(driven: Driven) -> None:
    with Browser(size=(400, 800)) as browser:
        started(browser, driven)
        browser.wait("!document.getElementById('pad-tilt').hidden", "the button")
        turn = lambda alpha: browser.call(  # noqa: E731
            "DeviceOrientation.setDeviceOrientationOverride", alpha=alpha, beta=45, gamma=0
        )
        turn(0)
        browser.wait("handloom.hands.phone", "the sensors")
        before = browser.run("[...handloom.hands.hand.orientation]")
        turn(15)
        browser.wait("Math.abs(handloom.hands.phone[2]) > 0.1", "the phone to be turned")
        assert browser.run("[...handloom.hands.hand.orientation]") == before  # Nobody held it.
        browser.run("document.getElementById('pad-tilt').dispatchEvent(new PointerEvent('pointerdown'))")
        for alpha in (20, 30, 40):
            turn(alpha)
            browser.wait(f"Math.abs(2 * Math.asin(handloom.hands.phone[2]) * 57.3 - {alpha}) < 12", "the turn")
        x, y, z, w = browser.run("handloom.hands.hand.orientation")
        # From 15 to 40 degrees about the vertical, whatever the phone was called north at first.
        assert np.degrees(2.0 * np.arctan2(y, w)) == pytest.approx(25.0, abs=0.5)
        assert abs(x) + abs(z) < 1e-3
        assert browser.errors == []


@needs_iwer
@pytest.mark.parametrize("driven", ["so101_stack_cubes", "fr3_pick_place", "lift2_dual_pick_place"], indirect=True)
def test_an_emulated_headset_carries_out_a_task_and_the_saved_episode_verifies(driven: Driven) -> None:
    recording = hand_recording(expert_record(driven.run.task, SEED, 0))
    iwer = Path(IWER).read_text(encoding="utf-8")
    with Browser(scripts=(f"{iwer};\n{INSTALL}", PLAYER), size=(320, 240)) as browser:
        opened(browser, driven)
        browser.wait("!document.getElementById('vr').hidden", "the headset to be offered")
        browser.run("document.getElementById('vr').click()")
        browser.wait("handloom.xr?.latest.controller_right?.grip_is_valid", "the controllers")
        browser.run("xrDevice.controllers.right.updateButtonValue('a-button', 1)")
        browser.wait("handloom.state.state === 'running'", "A to start")
        browser.run("xrDevice.controllers.right.updateButtonValue('a-button', 0)")
        frames = json.dumps(hands_of(recording))
        browser.call(
            "Runtime.evaluate", expression=f"window.done = play({frames}, 40); 0"
        )  # At two thirds of the speed.
        browser.wait("handloom.state.phase === 'over'", "the end of the attempt", seconds=180)
        shot(browser, f"headset_{driven.run.task.name}")
        assert browser.run("handloom.state.outcome.text") == "The task is done."
        browser.run("xrDevice.controllers.right.updateButtonValue('b-button', 1)")
        browser.wait("handloom.state.saved === 1", "B to save")
    driven.close()
    assert [found.verdict for found in verify_dataset(driven.run.run.dataset, InlineExecutor())] == ["exact"]
