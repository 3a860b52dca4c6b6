"""The dataset benchmark runs and its rows make sense."""

import pytest

from handloom.bench.datasets.dataset import run


@pytest.mark.slow
def test_every_row_has_its_figures() -> None:
    rows = {row["name"]: row for row in run(episodes=2).rows}
    for name in ("handloom h264", "handloom av1", "LeRobot's encoder settings"):
        assert rows[name]["encode_cpu_ms_per_frame"] > 0
        assert rows[name]["mean_error_of_255"] < 4
    assert rows["handloom h264"]["mean_error_of_255"] < 2
    assert rows["handloom merge"]["cpu_ms_per_simulated_s"] > 0
    assert rows["handloom read one frame"]["cpu_ms"] > 0
