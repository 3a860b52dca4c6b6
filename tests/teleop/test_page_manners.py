"""What the page does for people who slip, reload, tab, read in daylight, hold a phone, or open an old address."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("websockets")

from page_operator import Keyboard, PageOperator, Thumbs
from test_page import Driven, opened, shot, started

from browser import PROGRAM, Browser
from handloom.dataset import DatasetReader
from handloom.engine import InlineExecutor, verify_dataset

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: install chromium or google-chrome"),
]


HIDDEN = """(wanted) => [...document.querySelectorAll(wanted)].filter((e) => {
  const r = e.getBoundingClientRect();
  return !(r.width > 20 && r.top >= -1 && r.left >= -1 && r.bottom <= innerHeight + 1 && r.right <= innerWidth + 1);
}).map((e) => e.id || e.dataset.pad || e.tagName)"""
OVERLAPPING = """() => {
  const boxes = [...document.querySelectorAll('.pad, .pad-buttons, .view.large, .bar')]
    .map((e) => [e.className, e.getBoundingClientRect()]).filter(([, r]) => r.width > 0);
  const shared = (p, q, a, b) => Math.min(p[b], q[b]) - Math.max(p[a], q[a]) > 2;
  const meet = (p, q) => shared(p, q, 'left', 'right') && shared(p, q, 'top', 'bottom');
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => meet(p, q)).map(([b]) => [a, b]));
}"""


@contextmanager
def driven_in(folder: Path, **options) -> Iterator[Driven]:
    driven = Driven(folder / "run", "fr3_pick_place", **options)
    try:
        yield driven
    finally:
        driven.close()


def phone(browser: Browser, width: int, height: int) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)


def test_a_page_that_is_loaded_again_drops_nothing(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        started(browser, driven)
        browser.key("KeyE", down=True)
        browser.wait("handloom.state.arms[0].engaged", "the clutch to engage")
        browser.key("KeyE", down=False)
        browser.tap("Space")
        arm = driven.source.robot.arms[0]
        browser.wait(lambda: arm.closedness == 1.0, "the gripper to close")
        started(browser, driven)  # A new page in the same window.
        assert browser.run("handloom.hands.hand.closed")
        time.sleep(1.0)
        assert arm.closedness == 1.0
        browser.tap("Space")
        browser.wait(lambda: arm.closedness == 0.0, "the new page to open it")
        browser.tap("Space")
        browser.wait(lambda: arm.closedness == 1.0, "it to close again")
        source = driven.source
        browser.tap("KeyR")
        browser.tap("KeyR")
        browser.wait(lambda: driven.source is not source, "another attempt")
        browser.wait("handloom.state.phase === 'driving' && handloom.state.state === 'stopped'", "it to stand")
        browser.tap("Enter")
        browser.wait("handloom.state.seconds > 0.5", "time to run")
        assert driven.source.robot.arms[0].closedness == 0.0  # A fresh scene begins with an open hand.
        assert browser.errors == []


def test_one_slip_loses_nothing(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        started(browser, driven)
        source = driven.source
        browser.key("KeyE", down=True)
        browser.wait("handloom.state.seconds > 2", "two seconds")
        browser.key("KeyE", down=False)
        for key in ("KeyR", "KeyN"):
            browser.tap(key)
            browser.wait("!document.getElementById('banner').hidden", "the question")
            assert driven.source is source
            assert browser.run("handloom.state.state") == "running"
        browser.tap("KeyN")
        browser.wait("handloom.state.episode === 1", "the next scene")
        high = source.robot.arms[0].follower.q
        browser.wait("!document.getElementById('undo').disabled", "undo to be offered")
        browser.tap("KeyU")
        browser.wait("handloom.state.episode === 0 && handloom.state.seconds > 2", "the attempt to be back")
        assert np.allclose(driven.source.robot.arms[0].follower.q, high, atol=0.05)
        assert browser.run("handloom.state.state") == "stopped"


def test_going_back_takes_two_seconds_off_and_time_goes_on_from_there(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        started(browser, driven)
        source = driven.source
        browser.wait("handloom.state.seconds > 4", "four seconds")
        browser.tap("KeyB")
        browser.wait(lambda: driven.source is not source, "another attempt")
        until = lambda: len(driven.source.frames) >= len(source.frames) - 122  # noqa: E731
        browser.wait(until, "it to be where it was")
        time.sleep(0.5)
        ticks = len(driven.source.frames)
        assert abs(ticks - (len(source.frames) - 120)) <= 3
        states = driven.source.frames[: ticks - 4]
        assert states == source.frames[: len(states)]
        browser.tap("Enter")
        browser.wait(lambda: len(driven.source.frames) > ticks + 30, "time to go on")


def test_tab_moves_the_focus_and_enter_presses_what_has_it(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        opened(browser, driven)
        for _ in range(3):
            browser.call("Input.dispatchKeyEvent", type="rawKeyDown", code="Tab", key="Tab", windowsVirtualKeyCode=9)
            browser.call("Input.dispatchKeyEvent", type="keyUp", code="Tab", key="Tab", windowsVirtualKeyCode=9)
        assert browser.run("document.activeElement !== document.body")
        browser.run("document.getElementById('help').focus()")
        enter = {"code": "Enter", "key": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        browser.call("Input.dispatchKeyEvent", type="keyDown", **enter)
        browser.call("Input.dispatchKeyEvent", type="keyUp", code="Enter", key="Enter")
        browser.wait("document.getElementById('help-dialog').open", "the help")
        assert browser.run("handloom.state.state") == "stopped"


def test_the_shortest_tap_of_a_key_moves_the_tool(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        started(browser, driven)
        time.sleep(0.5)
        for _ in range(5):
            start = driven.tool()
            browser.run(
                "for (const type of ['keydown', 'keyup']) "
                "dispatchEvent(new KeyboardEvent(type, {code: 'KeyE', key: 'e'}))"
            )
            browser.wait(lambda start=start: driven.tool()[2] - start[2] > 0.001, "the tool to rise a little")
            browser.wait("!handloom.state.arms[0].engaged", "the clutch to let go")


def test_an_old_address_is_told_to_be_one_and_the_token_of_a_run_stays(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        good = driven.address
        browser.open(good.partition("token=")[0] + "token=old")
        browser.wait("document.getElementById('banner').textContent.includes('token')", "the reason")
        before = browser.run("performance.getEntriesByType('resource').length")
        time.sleep(2.0)
        assert browser.run("performance.getEntriesByType('resource').length") == before  # It does not try for ever.
    with driven_in(tmp_path) as driven:
        assert driven.address.partition("token=")[2] == good.partition("token=")[2]


def test_pictures_are_drawn_as_large_as_they_are_shown(tmp_path: Path) -> None:
    with driven_in(tmp_path, size=(640, 480)) as driven, Browser(size=(1440, 900)) as browser:
        opened(browser, driven)
        browser.wait("document.querySelector('.large canvas').width === 640", "the large one")
        small = browser.run("document.querySelector('.view:not(.large) canvas').width")
        assert small <= 320


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [(1440, 900), (390, 844), (844, 390)])
def test_everything_needed_is_in_sight_on_every_screen(tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    with driven_in(tmp_path, size=(640, 480)) as driven, Browser(size=size) as browser:
        if size[0] < 1000:
            phone(browser, *size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        browser.call("Emulation.setEmulatedMedia", features=features)
        started(browser, driven)
        wanted = "#run, #stop, #save, #rewind, .view.large canvas" + (", .pad, #pad-grip" if size[0] < 1000 else "")
        hidden = browser.run(f"({HIDDEN})('{wanted}')")
        overlapping = browser.run(f"({OVERLAPPING})()")
        time.sleep(0.5)
        shot(browser, f"{size[0]}x{size[1]}_{theme}")
        assert hidden == []
        assert overlapping == []
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        light = browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(243, 245, 248)"
        assert light == (theme == "light")


def test_a_phone_shows_what_became_of_an_attempt_beside_the_picture(tmp_path: Path) -> None:
    for size in ((390, 844), (844, 390)):
        with driven_in(tmp_path / str(size[0]), frames=45) as driven, Browser(size=size) as browser:
            phone(browser, *size)
            started(browser, driven)
            browser.wait("handloom.state.phase === 'over'", "the time to be up")
            browser.wait("document.getElementById('banner').textContent.includes('Time is up')", "the reason")
            assert browser.run(f"({HIDDEN})('#banner, .view.large canvas, #rewind')") == []
            x, y = browser.run("{const r = banner.getBoundingClientRect(); [r.x + r.width / 2, r.y + r.height / 2]}")
            assert browser.run(f"document.elementFromPoint({x}, {y}).id") == "banner"  # Nothing lies over it.


def test_a_page_that_lost_its_server_says_so_and_offers_nothing_to_press(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser() as browser:
        started(browser, driven)
        driven.app.server.close()
        browser.wait("document.getElementById('banner').textContent.includes('Nobody answers')", "the reason")
        assert browser.run("document.getElementById('chip-role').textContent") == "not connected"
        pressable = "[...document.querySelectorAll('.bar button:not(:disabled)')].map((b) => b.id).filter((id) => id)"
        assert set(browser.run(pressable)) <= {"more", "help", "vr", "ar", "claim"}
        assert browser.run("document.getElementById('claim').hidden")


def test_attempts_that_failed_can_be_saved_from_the_page_when_they_may_be(tmp_path: Path) -> None:
    with driven_in(tmp_path, keep_failures=True) as driven, Browser() as browser:
        started(browser, driven)
        browser.key("KeyE", down=True)
        browser.wait("handloom.state.seconds > 1.5 && handloom.state.recording", "a second")
        browser.key("KeyE", down=False)
        browser.tap("KeyK")
        browser.tap("KeyK")
        browser.wait("handloom.state.episode === 1", "the next scene")
    assert len(DatasetReader(driven.run.run.failures).episodes) == 1


@pytest.mark.parametrize("how", ["keyboard", "phone"])
def test_keys_alone_and_thumbs_alone_carry_out_a_task(tmp_path: Path, how: str) -> None:
    with driven_in(tmp_path) as driven, Browser(size=(1280, 860)) as browser:
        if how == "phone":
            phone(browser, 390, 844)
        opened(browser, driven)
        device = Keyboard(browser) if how == "keyboard" else Thumbs(browser)
        device.click("run")
        browser.wait("handloom.state.state === 'running' && handloom.state.arms?.length", "time to run")

        def source():
            assert driven.source is not None
            return driven.source

        worker = PageOperator(device, source)
        worker.pick_and_place("cube", "plate")
        browser.wait("handloom.state.phase === 'over'", "the end of the attempt")
        assert browser.run("handloom.state.outcome.text") == "The task is done."
        device.click("save")
        browser.wait("handloom.state.saved === 1", "it to be saved")
    assert [found.verdict for found in verify_dataset(driven.run.run.dataset, InlineExecutor())] == ["exact"]
    assert threading.active_count() < 20
