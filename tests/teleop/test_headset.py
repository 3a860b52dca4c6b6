"""What a headset shows and hears: panels where one looks, a line of words, bare hands. Needs IWER."""

from pathlib import Path

import pytest

pytest.importorskip("websockets")

from test_page import INSTALL, IWER, needs_iwer, opened, shot
from test_page_manners import driven_in

from browser import PROGRAM, Browser

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
def test_the_panels_of_a_headset_are_where_one_looks_and_come_along_when_asked(tmp_path: Path) -> None:
    turned = "xrDevice.stereoEnabled = true; xrDevice.quaternion.set(0, Math.SQRT1_2, 0, Math.SQRT1_2);"
    turned += "xrDevice.position.set(0.8, 1.2, -0.5);"
    with (
        driven_in(tmp_path) as driven,
        Browser(scripts=(f"{Path(IWER).read_text(encoding='utf-8')};\n{INSTALL}{turned}",)) as browser,
    ):
        opened(browser, driven)
        browser.wait("!document.getElementById('vr').hidden", "the headset to be offered")
        browser.run("document.getElementById('vr').click()")
        browser.wait("handloom.xr?.viewer && handloom.xr.textures.has('operator_right')", "the headset")
        browser.wait(f"({CENTRE})() > 100", "the picture straight ahead")  # The panel, not the dark room around it.
        shot(browser, "headset_turned")
        browser.run("xrDevice.quaternion.set(0, 1, 0, 0)")
        browser.wait(f"({CENTRE})() < 90", "something else to be ahead")
        browser.run("xrDevice.controllers.left.updateButtonValue('thumbstick', 1)")
        browser.wait(f"({CENTRE})() > 100", "the picture to come along")
        assert browser.run("handloom.xr.written").startswith("stopped")  # The line of words.
        browser.run("xrDevice.controllers.right.updateButtonValue('a-button', 1)")
        browser.wait("handloom.xr.written.startsWith('running')", "the line to say so")
        browser.run(
            "handloom.xr.pulses = 0; handloom.xr.told({arms: [{device: 'controller_right', held_up: false}]}, "
            "{arms: [{device: 'controller_right', held_up: true}], phase: 'over', outcome: {success: true}})"
        )
        assert browser.run("handloom.xr.pulses") == 3
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
