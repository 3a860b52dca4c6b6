"""The audit of demonstrations measures what it says."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.skills.conftest import run_with

from handloom.bench.datasets import data
from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import InputError
from handloom.tasks import load_task, sample_task

SKILLS = Path(__file__).parents[2] / "examples" / "skills"


@pytest.fixture(scope="module")
def demonstration():
    scene, record = simulate(load_task("fr3_pick_place"), 2, 0, Stopwatch())
    assert record.success
    return scene, record


def test_the_cube_is_seen_and_large_in_the_main_picture(demonstration):
    audit = data.audit(*demonstration)
    assert audit.coverage > 0.008
    assert audit.seen > 0.95
    assert 0.0 < audit.idle < 0.1
    assert 1.0 <= audit.path_ratio < 3.0
    assert audit.landing < 0.01


def test_a_thing_is_let_go_at_the_bottom_of_a_drawer_and_not_above_its_rim():
    scene, record = simulate(load_task("fr3_put_in_drawer"), 91, 1, Stopwatch())
    assert record.success
    placed = next(span for span in record.timeline if span.skill == "place")
    fall, _ = data._landing(scene, record, placed)
    assert 0.0 <= fall < 0.012


def test_a_camera_that_looks_away_sees_nothing(demonstration):
    scene, record = demonstration
    away = tuple(
        replace(c, parent=None, position=(0.0, 0.0, 3.0), quat=(1.0, 0.0, 0.0, 0.0)) for c in record.instance.cameras
    )
    audit = data.audit(scene, replace(record, instance=replace(record.instance, cameras=away)))
    assert audit.coverage == 0.0
    assert audit.seen == 0.0


def test_corrupt_sentences_are_counted(tmp_path):
    task = load_task("fr3_pick_cube", overrides=["data.language_instruction=Miss the cube_1", "data.paraphrases=[]"])
    assert len(data.corrupt_sentences(task, 0, 1)) >= 2
    assert not data.corrupt_sentences(load_task("fr3_pick_cube"), 0, 2)


def test_no_seeds_are_refused():
    with pytest.raises(InputError, match="at least 1 seed"):
        data.run(["fr3_pick_cube"], seeds=0)


def test_a_robot_that_drives_is_not_idle():
    room = sample_task(load_task(SKILLS / "navigate.yaml"), 0, 0)
    scene, record = run_with(replace(room, cameras=()), {"name": "mobile__translate", "target": [-0.4, 0.0]})
    assert record.success
    assert data.audit(scene, record).idle < 0.6, "it rests a second at the end"
