"""The engine benchmark runs and its rows make sense."""

import pytest

from handloom.bench.engine import BUDGET_MS, run


@pytest.mark.slow
def test_every_row_has_its_figures() -> None:
    rows = {row["name"]: row for row in run("fr3_pick_cube", episodes=2).rows}
    one = rows["handloom fr3_pick_cube, 1 worker"]
    assert all(one[f"{stage}_ms"] > 0 for stage in BUDGET_MS)
    assert one["cpu_realtime_factor"] >= one["realtime_factor"] * 0.9
    assert rows["handloom fr3_pick_cube, 2 workers"]["scaling"] > 0
    assert rows["handloom resume and merge, 1000 episodes"]["merge_ms"] > 0
