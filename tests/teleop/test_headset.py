"""What a headset shows and hears: panels where one looks, a line of words, bare hands. Needs IWER."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("websockets")

from test_page import INSTALL, IWER, needs_iwer, opened, shot
from test_page_manners import driven_in

from browser import PROGRAM, Browser
from handloom.spatial import matrix_from_quat

DRAWN_FOR_NOW = """(() => {
  const xr = handloom.xr, shown = xr.cameras().filter(({ name }) => name.startsWith('operator'));
  xr.mark ??= xr.headSeq;
  const done = shown.length === 2 && shown.every(({ canvas }) => canvas.head > xr.mark + 3);
  if (done) xr.mark = null;
  return done;
})()"""
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: install chromium or google-chrome"),
]
CENTRE = """() => {
  const gl = handloom.xr.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, box = new Uint8Array(64 * 64 * 4);
  handloom.xr.draw(handloom.xr.viewer);
  gl.readPixels((w >> 2) - 32, (h >> 1) - 32, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, box);
  return box.reduce((sum, value) => sum + value, 0) / box.length;
}"""


@needs_iwer
def test_a_headset_sees_the_scene_from_where_the_head_is(tmp_path: Path) -> None:
    turned = "xrDevice.stereoEnabled = true; xrDevice.quaternion.set(0, Math.SQRT1_2, 0, Math.SQRT1_2);"
    turned += "xrDevice.position.set(0.8, 1.2, -0.5);"
    with (
        driven_in(tmp_path, size=(640, 480)) as driven,
        Browser(
            scripts=(f"{Path(IWER).read_text(encoding='utf-8')};\n{INSTALL}{turned}",), size=(1280, 720)
        ) as browser,
    ):
        opened(browser, driven)
        browser.wait("!document.getElementById('vr').hidden", "the headset to be offered")
        browser.run("document.getElementById('vr').click()")
        browser.wait("handloom.xr?.viewer && handloom.xr.textures.has('operator_right')", "the headset")
        browser.wait(DRAWN_FOR_NOW, "pictures for the head")
        camera = driven.app.pictures.cameras_of(driven.app.view._scene)[0]
        start = np.array(camera.position)
        level = matrix_from_quat(np.array(camera.quat))
        assert abs(level[2, 0]) < 1e-6  # Level, whichever way the room was entered.
        shot(browser, "headset_level")
        # Down by 40 degrees, as one looks at a table, in the frame of a room that was entered turned by 90 degrees.
        browser.run(
            "{const h = 20 * Math.PI / 180, c = Math.cos(h), s = -Math.sin(h), r = Math.SQRT1_2;"
            "xrDevice.quaternion.set(r * s, r * c, -r * s, r * c)}"
        )
        browser.wait(DRAWN_FOR_NOW, "pictures for the turned head")
        looks = lambda: driven.app.pictures.cameras_of(driven.app.view._scene)[0]  # noqa: E731
        browser.wait(
            lambda: abs(matrix_from_quat(np.array(looks().quat))[2, 2] + np.sin(np.radians(40))) < 0.02, "the look down"
        )
        browser.wait(f"({CENTRE})() > 60", "the table")
        shot(browser, "headset_down")
        # 10 cm to the right of whoever looks: in this room that is along its -z.
        browser.run("xrDevice.position.set(0.8, 1.2, -0.6)")
        browser.wait(lambda: abs(np.linalg.norm(np.array(looks().position) - start) - 0.1) < 0.01, "the head to move")
        moved = np.array(looks().position) - start
        assert moved @ level[:, 0] == pytest.approx(0.1, abs=0.005)
        browser.run("xrDevice.controllers.left.updateButtonValue('thumbstick', 1)")
        browser.wait(lambda: np.linalg.norm(np.array(looks().position) - start) < 0.01, "the view to be centred again")
        assert browser.run("handloom.xr.written").startswith("stopped")  # The line of words.
        browser.run("xrDevice.controllers.right.updateButtonValue('a-button', 1)")
        browser.wait("handloom.xr.written.startsWith('running')", "the line to say so")
        browser.run(
            "handloom.xr.pulses = handloom.xr.beeps = 0; handloom.xr.told("
            "{arms: [{device: 'controller_right', held_up: false, touching: false}]}, "
            "{arms: [{device: 'controller_right', held_up: true, touching: true}], phase: 'over',"
            " outcome: {success: true}})"
        )
        assert browser.run("[handloom.xr.pulses, handloom.xr.beeps]") == [4, 3]
        assert browser.errors == []


@needs_iwer
def test_bare_hands_pinch_to_move_and_to_grip(tmp_path: Path) -> None:
    with (
        driven_in(tmp_path) as driven,
        Browser(scripts=(f"{Path(IWER).read_text(encoding='utf-8')};\n{INSTALL}",)) as browser,
    ):
        opened(browser, driven)
        browser.run("xrDevice.primaryInputMode = 'hand'")
        browser.run("document.getElementById('vr').click()")
        browser.wait("handloom.xr?.latest.controller_right?.grip_is_valid", "the hand")
        assert browser.run("handloom.xr.latest.controller_right.trigger_value") == 0
        browser.run("xrDevice.hands.right.updatePinchValue(1)")
        browser.wait("handloom.xr.latest.controller_right.trigger_value === 1", "thumb and index finger to close")
        browser.run("xrDevice.hands.right.updatePinchValue(0)")
        browser.wait("handloom.xr.latest.controller_right.trigger_value === 0", "them to open")
        assert browser.errors == []
