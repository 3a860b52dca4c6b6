"""The 3D panel of the episode page: it follows the clock, is looked through cameras, and draws again from its angle."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

from browser import PROGRAM, Browser
from handloom.cli.main import main
from handloom.viewer.library import Library
from handloom.viewer.view_app import ViewOptions, view_server

pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no Chromium")]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    run = tmp_path_factory.mktemp("run") / "run"
    assert main(["generate", "fr3_pick_place", "--attempts", "1", "-o", str(run), "--seed", "3", "--workers", "1"]) == 0
    server = view_server(Library([Path(run)]), ViewOptions())
    server.start()
    with Browser(size=(1440, 900)) as browser:
        browser.open(server.address)
        browser.run("location.hash = '#/episode/d0/0'")
        browser.wait("!!document.querySelector('.scene3d-controls')", "the scene")
        yield browser
        assert browser.errors == []
    server.close()


def test_the_view_is_drawn_and_looked_through_a_camera(page: Browser) -> None:
    eye = "document.querySelector('.scene3d-canvas').dataset.eye"
    page.wait(f"!!{eye}", "the first picture")
    first = page.run(eye)
    choose = (
        "(() => {{ const s = document.querySelector('.scene3d-controls select'); s.value = {0}; "
        "s.dispatchEvent(new Event('change')); }})()"
    )
    page.run(choose.format("s.options[1].value"))
    page.wait(f"{eye} !== '{first}'", "the camera's view")
    page.run(choose.format("''"))


def test_a_frame_is_drawn_again_from_the_present_angle(page: Browser) -> None:
    page.run("[...document.querySelectorAll('button')].find((b) => b.textContent.startsWith('Render from')).click()")
    page.wait("document.querySelector('.scene3d-drawn img')?.naturalWidth === 1280", "the picture")
    page.run("document.querySelector('.scene3d-drawn button').click()")
    page.wait("!document.querySelector('.scene3d-drawn')", "the dialog to close")
