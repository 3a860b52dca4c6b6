"""The cost sheet in the guide follows from the rates and prices that stand beside it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def costs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_costs", ROOT / "tools" / "write_costs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["write_costs"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_sheet_that_the_rates_give(costs: ModuleType) -> None:
    page = costs.PAGE.read_text(encoding="utf-8")
    assert costs.written(page) == page, "run python tools/write_costs.py"


def test_costs_are_plain_products(costs: ModuleType) -> None:
    rates = costs.Rates(
        realtime_factor=2.0, episode_s=6.0, label_share=0.5, drawing_share=1.0, merge_ms=3.6, video_kb=1000.0
    )
    found = costs.cost(100.0, rates)
    assert found.merge_core_hours == pytest.approx(60_000 * 3.6e-3 / 3600)
    assert found.core_hours == pytest.approx(50.0 + found.merge_core_hours)
    assert found.labelled_core_hours == pytest.approx(75.0 + found.merge_core_hours)
    assert found.video_tb == pytest.approx(0.36)
    assert found.card_core_hours == pytest.approx(16 * found.card_hours)


def test_rates_of_the_sheet_are_those_that_the_guides_tell(costs: ModuleType) -> None:
    rates = costs.Rates()
    page = " ".join(costs.PAGE.read_text(encoding="utf-8").split())
    for told in (
        f"{rates.realtime_factor} seconds",
        f"{rates.video_kb / 1000:.2f} MB",
        f"{rates.episode_s} s per episode",
    ):
        assert told in page
    gpu = " ".join((ROOT / "docs/guides/gpu.md").read_text(encoding="utf-8").split())
    assert f"{rates.card_hours_per_day:,.0f} robot-hours a day" in gpu
