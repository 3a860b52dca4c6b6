"""Ray actors give the same results as worker processes, and may be lost."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs the extra ray")

from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.ray_executor import RayExecutor
from handloom.tasks import load_task

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]")


@pytest.fixture(autouse=True)
def functions_on_the_path(monkeypatch):
    """Actors import work functions by name, so their folder must be on the path of every process."""
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, sys.path)]))


def digest(folder: Path) -> list[str]:
    return [hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted((folder / "data").rglob("*.parquet"))]


def test_a_run_on_ray_writes_the_same_bytes(tmp_path):
    settings = RunSettings.of_task(load_task("fr3_pick_cube", overrides=SMALL), seed=0, unit_size=1)
    runs = {name: RunDirectory.begin(tmp_path / name, settings) for name in ("ray", "inline")}
    generate_run(runs["ray"], Goal(successes=3), RayExecutor(2))
    generate_run(runs["inline"], Goal(successes=3), InlineExecutor())
    assert digest(runs["ray"].dataset) == digest(runs["inline"].dataset)


def test_a_lost_actor_is_reported_and_the_rest_goes_on(tmp_path):
    import crashing

    items = [str(tmp_path / name) for name in "ab"]
    finished = list(RayExecutor(2).run(crashing.die_once, iter(items)))
    assert {f.item for f in finished} == set(items)
    assert all("actor was lost" in f.crash for f in finished)
    assert [f.result for f in RayExecutor(2).run(crashing.die_once, iter(items))] == ["alive"] * 2
