"""The report of a run: the same figures in words, as JSON, and on a page that needs nothing else."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from handloom.engine import Receipt, RunDirectory, RunSettings, Tally, report_of
from handloom.engine.reporting import write_page
from handloom.engine.reporting.charts import bars, rose, strips, top_view
from handloom.engine.reporting.diversity import LARGE, MOST_EPISODES, Diversity, chosen_episodes
from handloom.engine.reporting.drawing import Label, ticks
from handloom.tasks import load_task

RECEIPTS = [
    Receipt(
        episode=0, success=True, frames=90, seconds={"plan": 1.0, "render": 2.0}, cpu_seconds=2.0, skills={"pick": 3}
    ),
    Receipt(episode=1, success=False, stage="plan", reason="no_path", detail="pick: <blocked> by the shelf"),
    Receipt(
        episode=2,
        success=True,
        frames=30,
        seconds={"plan": 1.0},
        cpu_seconds=1.0,
        skills={"pick": 1},
        disturbed=("mug",),
    ),
    Receipt(
        episode=3,
        success=False,
        stage="execute",
        reason="slipped",
        detail="pick: the cube fell",
        disturbed=("can", "mug"),
    ),
]


def test_the_figures_follow_from_the_receipts():
    report = report_of(RECEIPTS)
    assert (report.attempts, report.episodes, report.success_rate) == (4, 2, 0.5)
    assert report.funnel == {
        **{"attempts": 4, "sample": 4, "grasp": 4, "reach": 4},
        **{"plan": 3, "execute": 2, "success": 2},
    }
    assert report.failure_reasons == {"no_path": 1, "slipped": 1}
    assert report.robot_hours * 3600 == pytest.approx(4.0)
    assert report.realtime_factor == pytest.approx(1.0)
    assert report.cpu_realtime_factor == pytest.approx(4 / 3)
    assert report.skill_seconds == {"pick": 2.0}
    assert (report.disturbed, report.disturbed_attempts) == ({"mug": 2, "can": 1}, 2)


def test_adding_receipts_one_by_one_gives_the_same_report():
    tally = Tally()
    for receipt in RECEIPTS:
        tally.add([receipt])
    assert tally.report() == report_of(RECEIPTS)


def test_a_run_without_attempts_has_a_report_of_zeros():
    report = report_of([])
    assert (report.success_rate, report.realtime_factor, report.cpu_realtime_factor) == (0.0, 0.0, 0.0)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                assert (value or "").startswith("data:")

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_one_file_of_whole_elements_with_words_escaped(tmp_path):
    run = RunDirectory.begin(tmp_path / "run", RunSettings.of_task(load_task("fr3_pick_cube"), seed=0))
    for receipt in RECEIPTS:
        run.journal(0).append(receipt)
    page = write_page(run, tmp_path / "report", workers=2)
    text = page.read_text()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert not re.search(r"(src|href)=|url\(|@import", text)
    assert "&lt;blocked&gt; by the shelf" in text
    for name in ("funnel", "failures", "disturbed", "durations", "throughput"):
        with Image.open(tmp_path / "report" / f"{name}.png") as picture:
            assert picture.size[0] == 1040


def test_charts_of_nothing_and_of_one_thing_are_drawn():
    for drawing in (
        bars([("a", 0.0, "0")]),
        strips([("a", [])], unit="s"),
        top_view({"cube": np.zeros((1, 2))}),
        top_view({}, paths=[np.zeros((5, 2))]),
        rose({"cube": np.array([[0.0, 0.0, -1.0]])}),
    ):
        assert drawing.svg("x").startswith("<svg")
        assert drawing.picture().std() > 0


def test_charts_stay_small_whatever_a_run_names():
    rows = [(f"reason {i}\n\x1b[2J" + "x" * 1000, 1.0, "1") for i in range(20_000)]
    assert bars(rows).height < 1300
    assert strips([(name, [value]) for name, value, _ in rows], unit="s").picture().shape[0] < 2600
    texts = [label.text for label in bars(rows).shapes if isinstance(label, Label)]
    assert max(map(len, texts)) <= 40
    assert all(text.isprintable() for text in texts)


def test_grasps_from_above_are_in_the_centre_and_level_ones_on_the_rim():
    def distance(vector: list[float]) -> float:
        dots = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="3.2"', rose({"a": np.array([vector])}).svg("x"))
        ((x, y),) = dots
        return float(np.hypot(float(x) - 170, float(y) - 160)) / 150

    assert distance([0.0, 0.0, -1.0]) == pytest.approx(0.0, abs=0.01)
    assert distance([np.sin(0.5), 0.0, -np.cos(0.5)]) == pytest.approx(0.5 / (np.pi / 2), abs=0.01)
    assert distance([1.0, 0.0, 0.0]) == pytest.approx(1.0, abs=0.01)


def test_paths_spread_as_far_as_they_are_apart():
    line = np.stack([np.linspace(0, 1, 40), np.zeros(40), np.zeros(40)], axis=1)
    assert Diversity(episodes=1, paths=(line,)).path_spread == 0.0
    two = Diversity(episodes=2, paths=(line, line[::2] + np.array([0.0, 0.0, 0.3])))
    # Half of the pairs are a path and itself.
    assert two.path_spread == pytest.approx(0.3 / np.sqrt(2), abs=0.01)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.3, 0.31), (0, 5230), (2, 2.0001)])
def test_ticks_are_few_round_and_inside(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 6
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)


@pytest.mark.parametrize("count", [0, 1, 7, 199, 200, 201, LARGE, LARGE + 1, 10**6])
def test_the_episodes_examined_are_spread_over_the_dataset(count):
    chosen = chosen_episodes(count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(count, MOST_EPISODES)
    assert not chosen or (chosen[0], chosen[-1]) == (0, count - 1)
    assert max(np.diff(chosen), default=0) <= max(1, count // 30)
