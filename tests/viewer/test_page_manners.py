"""Hostile words run no script, no serious fault of accessibility, many episodes stay quick, memory stays flat."""

import json
import os
import resource
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from hostile_words import HOSTILE
from page import Look, looking_at
from view_data import write_evaluation, write_plain_dataset

from browser import PROGRAM, Browser
from handloom.viewer.library import Library
from handloom.viewer.view_app import ViewOptions, view_server

pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")]
ROOT = Path(__file__).parents[2]
AXE = Path(os.environ.get("HANDLOOM_AXE", ROOT / "build" / "axe" / "package" / "axe.min.js"))
"""From npm, for tests alone: ``make axe``."""


def test_words_of_a_dataset_run_no_script_whatever_they_are(tmp_path: Path) -> None:
    """Every one of them is the words of an episode, the robot, a name of a signal and of a camera."""
    root = write_plain_dataset(tmp_path / "<img src=x onerror=hit()>", len(HOSTILE), words=HOSTILE.__getitem__)
    info = json.loads((root / "meta" / "info.json").read_text(encoding="utf-8"))
    info["robot_type"] = HOSTILE[0]
    info["features"]["action"]["names"] = [HOSTILE[1], HOSTILE[2]]
    (root / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    with looking_at(root, edit=True) as page:
        page.run("window.hit = () => { window.was_hit = true; }; window.alert = window.hit;")
        page.wait("document.querySelectorAll('.episode').length > 10", "the cards")
        seen = set()
        for place in range(0, 6000, 700):
            page.run(f"scrollTo(0, {place})")
            time.sleep(0.1)
            seen |= set(page.cards())
        assert len(seen) == len(set(HOSTILE))  # Each stands there as it is written.
        assert (
            page.run("document.querySelectorAll('main script, main iframe, main object, main svg[onload]').length") == 0
        )
        for index in (0, 1, 2, 17):
            page.go(f"#/episode/d0/{index}")
            page.wait(lambda index=index: page.run("document.querySelector('h1')?.textContent") == HOSTILE[index], "it")
            page.wait("document.querySelector('.uplot, .card > p.quiet')", "the plots")
        page.go("#/compare/d0/3")
        page.wait("document.querySelector('.picks li')", "the choice")
        page.type("input[type=search]", HOSTILE[4][:12])
        assert page.run("window.was_hit") is None
        assert not [error for error in page.browser.errors if "signals" not in error]


SERIOUS = """
axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
  .filter((fault) => ['serious', 'critical'].includes(fault.impact))
  .map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.html).slice(0, 3).join(' | ')}`))
"""


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there; make axe gets it")
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(ours: Path, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    judged = write_evaluation(tmp_path / "judged", wins=lambda index: index < 3, scenes=4)
    with looking_at(ours, judged, size=size, edit=True) as page:
        page.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        page.run(AXE.read_text(encoding="utf-8"))
        for place, ready in (
            ("#/", ".shelves"),
            ("#/dataset/d0", ".episode.seen"),
            ("#/dataset/d1", ".episode.seen"),
            ("#/episode/d0/0", ".uplot"),
            ("#/episode/d1f/0", ".uplot"),
            ("#/compare/d0/0/d0/1", ".uplot"),
            ("#/evaluation/d1", ".plane"),
        ):
            page.go(place)
            page.wait(f"document.querySelector({ready!r})", place)
            assert page.run(SERIOUS) == [], place
            assert page.run("document.documentElement.scrollWidth <= innerWidth"), f"{place} is wider than the screen"
        assert page.browser.errors == []


MANY = 10_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_plain_dataset(
        tmp_path_factory.mktemp("many") / "many", MANY, words=lambda index: f"fold towel {index}"
    )


FRAMES = """
new Promise((done) => {
  const times = [], start = performance.now();
  const step = (now) => {
    times.push(now);
    scrollBy(0, 60);
    if (now - start < 3000) requestAnimationFrame(step);
    else done(times.length / ((times.at(-1) - times[0]) / 1000));
  };
  requestAnimationFrame(step);
})
"""


@pytest.mark.slow
def test_ten_thousand_episodes_open_in_two_seconds_and_scroll_smoothly(many: Path) -> None:
    server = view_server(Library([many]), ViewOptions())
    server.start()
    try:
        with Browser(size=(1440, 900)) as browser:
            start = time.monotonic()
            page = Look(browser, server.address)
            page.wait("document.querySelectorAll('.episode').length > 20", "the cards")
            took = time.monotonic() - start
            assert page.status().startswith("10,000 of 10,000")
            nodes = page.run("document.querySelectorAll('.episode').length")
            browser.call("Tracing.start", categories="disabled-by-default-devtools.timeline.frame,devtools.timeline")
            asked = page.run(FRAMES)
            drawn = browser.traced()
            sys.stdout.write(
                f"open {took:.2f} s, {nodes} cards of {MANY}, {asked:.0f} frames/s asked, {drawn:.0f} drawn\n"
            )
            assert nodes < 200
            assert took < 2.0
            assert drawn >= 50
            page.type("input[type=search]", "towel 9999")
            assert page.cards() == ["fold towel 9999"]
    finally:
        server.close()


SCRUB = """
(async () => {
  const slider = document.querySelector('input.scrubber'), times = [];
  const views = [...document.querySelectorAll('.view')];
  for (const frame of [25, 3, 17, 9, 28, 1, 14, 22, 6, 19]) {
    const start = performance.now();
    slider.value = frame;
    slider.dispatchEvent(new Event('input'));
    while (!views.every((view) => Number(view.dataset.frame) === frame)) await new Promise(requestAnimationFrame);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
})()
"""


@pytest.mark.slow
def test_scrubbing_shows_the_frame_within_a_tenth_of_a_second(ours: Path, plain: Path) -> None:
    with looking_at(ours, plain) as page:
        for place in ("#/episode/d0/3", "#/episode/d1/1"):
            page.go(place)
            page.wait(
                "document.querySelector('video')?.readyState >= 3 && document.querySelector('.uplot')", "the video"
            )
            times = page.run(SCRUB)
            sys.stdout.write(f"{place}: median {times[5]:.0f} ms, slowest {times[-1]:.0f} ms\n")
            assert times[5] < 100


@pytest.mark.slow
def test_memory_stays_flat_over_a_thousand_requests(ours: Path, many: Path) -> None:
    server = view_server(Library([ours, many]), ViewOptions())
    server.start()
    try:
        cookie = {"Cookie": f"handloom_{server.port}={server.app.token}"}

        def ask(count: int) -> None:
            for number in range(count):
                path = (
                    f"/api/episodes/d0/{number % 6}",
                    f"/api/episodes/d0/{number % 6}/signals",
                    f"/api/episodes/d0/{number % 6}/frames/1/{number % 20}.jpg",
                    f"/api/episodes/d1/{number * 7 % MANY}/strip.jpg",
                    "/api/videos/d0/0/0/0.mp4",
                )[number % 5]
                asked = urllib.request.Request(f"{server.origin}{path}", headers=cookie)
                with urllib.request.urlopen(asked) as answer:
                    answer.read()

        ask(300)
        before = resident()
        ask(1000)
        grown = resident() - before
        sys.stdout.write(f"{before / 1e6:.0f} MB before, {grown / 1e6:+.1f} MB after a thousand requests\n")
        assert grown < 20e6
    finally:
        server.close()


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()
