"""The retargeting examples run as their docstrings say."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "retarget" / "stack_cubes.py"


def test_the_stacking_example_stacks_and_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--scenes", "1", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    said = capsys.readouterr().out
    assert "scene 0: stacked" in said
    assert "replays exactly" in said
    assert [file.name for file in tmp_path.iterdir()] == ["operator_0_000000.jsonl"]
