"""The benchmark of teleoperation measures what a page would see."""

import pytest

pytest.importorskip("websockets")

from handloom.bench.teleop import run


@pytest.mark.slow
def test_latency_and_pictures_are_measured_for_two_views_and_for_all_and_beside_saving() -> None:
    *driven, saving = run(("so101_stack_cubes",), seconds=2.0).rows
    assert [row["name"].split(", ")[1][0] for row in driven] == ["2", "3"]
    assert saving["next_scene_ms"] > 0.0
    assert 0.0 < saving["p99_gap_ms"] <= saving["longest_gap_ms"]
    for row in driven:
        assert 0.0 < row["latency_median_ms"] <= row["latency_p99_ms"]
        assert row["pictures_per_s"] > 0.0
        assert min(row[f"{what}_cpu_ms"] for what in ("command", "physics", "pictures")) > 0.0
