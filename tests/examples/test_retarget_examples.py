"""The retargeting examples run as their docstrings say."""

import runpy
import sys
from pathlib import Path

import pytest

from handloom.engine.verification.verify import archives_of, verify_episode

EXAMPLE = Path(__file__).parents[2] / "examples" / "retarget" / "stack_cubes.py"


def run(out: Path, scenes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--scenes", str(scenes), "--out", str(out)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")


def test_the_stacking_example_writes_a_dataset_that_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "stacks", 1, monkeypatch)
    assert "scene 0: stacked" in capsys.readouterr().out
    assert (tmp_path / "stacks" / "operator_000000.jsonl").is_file()
    (archive,) = archives_of(tmp_path / "stacks")
    assert verify_episode(str(archive)).verdict == "exact"


@pytest.mark.slow
def test_twenty_teleoperated_scenes_stack_and_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "stacks", 20, monkeypatch)
    archives = archives_of(tmp_path / "stacks")
    assert len(archives) >= 19
    assert {verify_episode(str(archive)).verdict for archive in archives} == {"exact"}
