"""The pages in a real browser: open, filter, scrub, play, flag, compare; by mouse and by keyboard alone."""

from pathlib import Path

import pytest
from page import Look, looking_at
from view_data import write_dataset

from browser import PROGRAM
from handloom.dataset.episodes.flags import read_flags

pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")]


def test_a_dataset_is_searched_filtered_and_sorted(ours: Path, plain: Path) -> None:
    with looking_at(ours, plain) as page:
        page.wait("document.querySelector('.shelves')", "the list of datasets")
        page.go("#/dataset/d0+d1")
        page.wait("document.querySelectorAll('.episode').length === 9", "all cards")
        page.type("input[type=search]", "blue cube")
        assert page.cards() == ["put the blue cube away"] * 2
        assert page.status().startswith("2 of 9")
        page.type("input[type=search]", "")
        page.type("form label:nth-of-type(4) select", "so101")
        assert page.status().startswith("3 of 9")
        assert "robot=so101" in page.run("location.hash")
        page.click("show all")
        assert page.status().startswith("9 of 9")
        page.run("document.querySelector('select option[value=seconds]').parentElement.value = 'seconds'")
        page.run(
            "document.querySelector('select option[value=seconds]').parentElement.dispatchEvent(new Event('change'))"
        )
        lengths = page.run(
            "[...document.querySelectorAll('.episode .chips')].map((n) => parseFloat(n.children[1].textContent))"
        )
        assert lengths == sorted(lengths)
        page.wait("document.querySelectorAll('.episode.seen').length === 9", "the thumbnails")
        assert page.browser.errors == []


def shown(page: Look) -> list[int]:
    return page.run("[...document.querySelectorAll('.view')].map((node) => Number(node.dataset.frame))")


def test_all_cameras_plots_and_marks_follow_the_scrubber(ours: Path) -> None:
    with looking_at(ours) as page:
        page.go("#/episode/d0/3")
        page.wait("document.querySelector('video')?.readyState >= 2", "the video")
        page.wait("document.querySelectorAll('.uplot').length === 2", "the plots")
        for frame in (30, 4, 17):
            page.type("input.scrubber", str(frame))
            page.wait(lambda frame=frame: shown(page) == [frame] * 3, "all cameras to show the frame")
            colour = page.run(
                "(() => { const video = document.querySelector('video'), canvas = document.createElement('canvas'); "
                "canvas.width = 64; canvas.height = 48; const pen = canvas.getContext('2d'); "
                "pen.drawImage(video, 0, 0); return pen.getImageData(60, 24, 1, 1).data[1]; })()"
            )
            assert colour == pytest.approx(40 + 3 * frame, abs=5)  # The picture itself tells its frame.
            assert f"frame {frame} of" in page.run("document.querySelector('.readout').textContent")
        assert page.run("[...document.querySelectorAll('.mark')].map((node) => node.textContent)")[:2] == [
            "reach",
            "grasp",
        ]
        assert page.run("document.querySelectorAll('.point').length") == 1  # The gripper closes once.
        page.click("grasp", ".mark")
        page.wait(lambda: shown(page) == [8] * 3, "the start of the sub-task")
        assert page.browser.errors == []


def test_an_episode_plays_to_its_end_and_not_into_the_next_one(ours: Path) -> None:
    with looking_at(ours) as page:
        page.go("#/episode/d0/1")
        page.wait("document.querySelector('video')?.readyState >= 2", "the video")
        page.click("Play")
        page.wait("document.querySelector('.player .primary').textContent === 'Pause'", "it to play")
        page.wait("document.querySelector('.player .primary').textContent === 'Play'", "it to end")
        page.wait(lambda: shown(page) == [24] * 3, "the last frame")
        ends = page.run("document.querySelector('video').currentTime")
        assert ends == pytest.approx((20 + 24.5) / 30, abs=0.02)
        assert page.browser.errors == []


def test_an_episode_is_flagged_with_a_note_only_where_editing_is_allowed(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "cubes", 2)
    with looking_at(root) as page:
        page.go("#/episode/d0/1")
        page.wait("document.querySelector('.tools button[disabled]')", "the button that does nothing")
    with looking_at(root, edit=True) as page:
        page.go("#/episode/d0/1")
        page.wait("document.querySelector('.tools dialog')", "the page")
        page.click("Flag with a note")
        page.type("dialog textarea", "slips <img src=x onerror=alert(1)>")
        page.click("Flag it", "dialog button")
        page.wait("document.querySelector('.tools').textContent.includes('slips <img')", "the note")
        assert [flag["note"] for flag in read_flags(root).values()] == ["slips <img src=x onerror=alert(1)>"]
        page.go("#/dataset/d0")
        page.wait("document.querySelectorAll('.episode').length === 2", "the cards")
        page.type("form label:nth-of-type(9) select", "flagged")
        assert page.status().startswith("1 of 2")
        assert page.browser.errors == []


def test_two_episodes_are_compared_in_step(ours: Path) -> None:
    with looking_at(ours) as page:
        page.go("#/dataset/d0")
        page.wait("document.querySelectorAll('.episode').length === 6", "the cards")
        page.run("[...document.querySelectorAll('.episode input')].slice(2, 4).forEach((box) => box.click())")
        page.click("Compare the two episodes")
        page.wait("document.querySelectorAll('video').length === 2", "both")
        page.wait("[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)", "the videos")
        page.type("input.scrubber", "32")
        page.wait(lambda: shown(page) == [29] * 3 + [32] * 3, "the shorter one to stay at its end")
        assert page.browser.errors == []


def test_two_evaluations_show_where_each_policy_fails(evaluations: tuple[Path, Path]) -> None:
    with looking_at(*evaluations) as page:
        page.go("#/evaluation/d0+d1")
        page.wait("document.querySelectorAll('.plane').length === 2", "the factors")
        texts = page.run("[...document.querySelectorAll('.same strong')].map((node) => node.textContent)")
        assert texts == ["both: 3", "only first: 2", "only second: 1", "neither: 2"]
        page.run("document.querySelectorAll('.same')[1].querySelector('a').click()")
        page.wait("document.querySelectorAll('video').length === 2", "both episodes of a scene")
        assert page.browser.errors == []


def test_everything_is_done_by_keyboard_alone(ours: Path) -> None:
    with looking_at(ours, edit=False) as page:
        page.wait("document.querySelectorAll('.episode').length === 6", "the cards")
        for _ in range(40):
            page.key("Tab")
            if page.run("document.activeElement.matches('.episode > a')"):
                break
        assert page.run("document.activeElement.getAttribute('href')") == "#/episode/d0/0"
        page.key("ArrowRight")
        page.key("ArrowRight")
        assert page.run("document.activeElement.getAttribute('href')") == "#/episode/d0/2"
        page.key("Enter")
        page.wait("document.querySelector('video')?.readyState >= 2", "the episode")
        for _ in range(3):
            page.key("ArrowRight")
        page.wait(lambda: shown(page) == [3] * 3, "three frames on")
        page.key("End")
        page.wait(lambda: shown(page) == [29] * 3, "the end")
        page.key("Home")
        page.key(" ", "Space")
        page.wait("document.querySelector('.player .primary').textContent === 'Pause'", "it to play")
        page.key("n")
        page.wait("location.hash === '#/episode/d0/3'", "the next episode")
        page.key("t")
        assert page.run("document.documentElement.dataset.theme") in ("light", "dark")
        assert page.browser.errors == []
