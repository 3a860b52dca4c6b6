"""The page as a leader: sliders for joints, a policy that is corrected, a desk for everybody."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("websockets")

from test_page import opened, shot, started
from test_page_manners import driven_in

from browser import PROGRAM, Browser
from handloom.episode.policy_source import PolicySource
from handloom.teleop.keeping import teleop_run

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: install chromium or google-chrome"),
]


def test_a_slider_leads_its_joint_and_no_other(tmp_path: Path) -> None:
    with driven_in(tmp_path) as driven, Browser(size=(1440, 900)) as browser:
        started(browser, driven)
        start = driven.source.robot.arms[0].follower.q
        browser.run("document.getElementById('joints-toggle').click()")
        browser.wait("document.querySelectorAll('#joints input').length === 7", "the sliders")
        browser.run(
            "{const s = document.querySelectorAll('#joints input')[0]; s.value = Number(s.value) + 0.3;"
            " s.dispatchEvent(new Event('input'));}"
        )
        moved = lambda: abs(driven.source.robot.arms[0].follower.q[0] - start[0] - 0.3) < 0.02  # noqa: E731
        browser.wait(moved, "the joint to follow")
        assert np.abs(driven.source.robot.arms[0].follower.q[1:] - start[1:]).max() < 1e-4
        browser.run("document.querySelectorAll('#joints input')[1].focus()")
        for _ in range(5):
            browser.tap("ArrowRight")
        nudged = lambda: abs(driven.source.robot.arms[0].follower.q[1] - start[1] - np.radians(5)) < 0.01  # noqa: E731
        browser.wait(nudged, "arrow keys to move the focused one")
        shot(browser, "joints")
        browser.run("document.activeElement.blur()")
        browser.key("KeyE", down=True)
        browser.wait("handloom.state.arms[0].engaged", "keys to drive again")
        browser.key("KeyE", down=False)
        assert browser.errors == []


def test_everybody_has_a_desk_and_comes_back_to_it(tmp_path: Path) -> None:
    with driven_in(tmp_path, operators=2) as driven, Browser() as first, Browser() as second:
        opened(first, driven)
        opened(second, driven)
        assert [page.run("handloom.state.role") for page in (first, second)] == ["control", "control"]
        assert {page.run("handloom.state.episode") for page in (first, second)} == {0, 1}
        desk = second.run("handloom.state.desk")
        second.tap("Enter")
        second.wait("handloom.state.state === 'running'", "time to run at the second desk")
        assert first.run("handloom.state.state") == "stopped"
        second.open(driven.address)
        second.wait("handloom?.state.role === 'control'", "the page to be back")
        assert second.run("handloom.state.desk") == desk
        second.run("document.getElementById('finish').click()")
        second.run("document.getElementById('finish').click()")
        first.tap("Enter")
        first.wait("handloom.state.state === 'running'", "the first to go on alone")


class Waves:
    """A policy that turns the first joint slowly."""

    actions = "joint"
    cameras = ()

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        self.wanted = None

    def act(self, observation) -> np.ndarray:
        if self.wanted is None:
            self.wanted = np.append(np.asarray(observation["observation.state"], float)[:7], 1.0)
        self.wanted[0] += 0.005
        return self.wanted


def test_a_person_takes_over_from_a_policy_by_a_key_and_hands_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teleop_run, "policy_factory", lambda name: partial(PolicySource, policy=Waves()))
    with driven_in(tmp_path, policy="policy=waves") as driven, Browser(size=(1440, 900)) as browser:
        started(browser, driven)
        turned = lambda by: driven.source.scene.world.data.ctrl[0] - start > by  # noqa: E731
        start = float(driven.source.scene.world.data.ctrl[0])
        browser.wait(lambda: turned(0.05), "the policy to drive")
        assert browser.run("document.getElementById('chip-driver').textContent") == "policy drives"
        browser.tap("KeyP")
        browser.wait("document.getElementById('chip-driver').textContent === 'you drive'", "the person to drive")
        shot(browser, "takeover")
        start = float(driven.source.scene.world.data.ctrl[0])
        browser.key("KeyE", down=True)
        high = driven.tool()[2]
        browser.wait(lambda: driven.tool()[2] - high > 0.02, "the hand to be lifted")
        browser.key("KeyE", down=False)
        browser.tap("KeyP")
        browser.wait(lambda: turned(0.05), "the policy to go on")
        assert len(driven.source.corrections) == 1
        assert browser.errors == []
