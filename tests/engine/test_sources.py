"""A run can be carried out by other sources than the scripted expert."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from handloom.config import allow_code
from handloom.engine import (
    Goal,
    InlineExecutor,
    ProcessExecutor,
    RunDirectory,
    RunSettings,
    generate_run,
    verify_dataset,
)
from handloom.engine.sources import SOURCES, source_factory
from handloom.errors import ConfigError, InputError, NotFoundError
from handloom.skills import Schedule
from handloom.tasks import load_task
from handloom.teleop.session.operator_source import OperatorSource
from handloom.values import Check, SkillSpan

OPERATOR = "operator_source:StackOperator"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for folder in (Path(__file__).parent, Path(__file__).parents[2] / "examples" / "retarget"):
        monkeypatch.syspath_prepend(str(folder))
    with allow_code():
        yield


def settings(task: str = "so101_stack_cubes", **options) -> RunSettings:
    return RunSettings.of_task(load_task(task), seed=0, unit_size=1, render="none", **options)


class Idle:
    """Does nothing for one frame and says that it has done so."""

    failure, timeline, recording = None, (), True

    def __init__(self, scene, stages, rng) -> None:
        self.controls = scene.world.model.nu

    def next(self, frame: int):
        return None if frame else np.full(self.controls, np.nan)


class Boaster(Idle):
    """Does nothing, either, and brings a success term that holds anyway."""

    def __init__(self, scene, stages, rng) -> None:
        super().__init__(scene, stages, rng)
        open_hand = Check(name="gripper_open", arguments={"robot": "franka", "arm": "left"})
        about = {"robot": "franka", "arm": "left", "skill": "boast", "objects": (), "success": True}
        self.timeline = (SkillSpan(**about, start=0, end=1, checks=(open_hand,)),)


class Unprepared(Idle):
    """Wants to read a file that is not there."""

    def __init__(self, scene, stages, rng) -> None:
        Path("policy.onnx").read_bytes()


def test_a_source_that_opens_a_missing_file_is_named_with_the_file(tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings("fr3_pick_cube", source="test_sources:Unprepared"))
    receipt = generate_run(run, Goal(attempts=1), ProcessExecutor(1)).receipts[0]
    assert receipt.reason == "internal_error"
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'policy.onnx' (test_sources.py:" in receipt.detail


def test_a_teleoperated_stream_is_judged_recorded_and_verified_like_the_expert(tmp_path):
    run = RunDirectory.begin(tmp_path / "r", settings(source=OPERATOR))
    outcome = generate_run(run, Goal(successes=2), ProcessExecutor(1))
    assert [receipt.skills.keys() for receipt in outcome.receipts.values()] == [{"pick", "place"}] * 2
    assert [verdict.verdict for verdict in verify_dataset(run.path, InlineExecutor())] == ["exact"] * 2


@pytest.mark.parametrize("source", ["Idle", "Boaster"])
def test_a_source_is_judged_by_the_terms_of_the_task_whatever_it_says_of_itself(tmp_path, source):
    run = RunDirectory.begin(tmp_path / "r", settings("fr3_pick_cube", source=f"test_sources:{source}"))
    receipt = generate_run(run, Goal(attempts=1), InlineExecutor()).receipts[0]
    assert (receipt.success, receipt.reason) == (False, "pick_not_in_hand")
    assert (
        "after 31 frames this did not hold: cube is in a hand; cube is 5 cm above its initial place" in receipt.detail
    )
    assert not run.dataset.exists()


def test_a_run_goes_on_with_its_own_source_only(tmp_path):
    RunDirectory.begin(tmp_path / "r", settings(source=OPERATOR))
    with pytest.raises(ConfigError, match=f"its source is '{OPERATOR}', now 'expert'"):
        RunDirectory.begin(tmp_path / "r", settings())


def test_a_run_can_be_read_where_its_source_is_not(tmp_path, monkeypatch):
    run = RunDirectory.begin(tmp_path / "r", settings(source=OPERATOR))
    monkeypatch.setitem(sys.modules, "operator_source", None)
    assert RunDirectory.open(run.path).settings.source == OPERATOR


def test_every_source_of_the_table_can_be_made():
    assert [source_factory(name) for name in SOURCES] == [Schedule, OperatorSource]


def test_a_source_that_is_not_there_is_refused_before_anything_is_written():
    with pytest.raises(NotFoundError, match=r"no source named 'exprt'; did you mean 'expert'.*my_module:MySource"):
        settings(source="exprt")
    with pytest.raises(InputError, match=r"source 'nowhere:Nobody' cannot be imported: No module named 'nowhere'"):
        settings(source="nowhere:Nobody")
    with pytest.raises(InputError, match=r"source 'operator_source:Nobody' cannot be imported: .*has no attribute"):
        settings(source="operator_source:Nobody")
