"""Names in files are never paths: whatever a file is called or names, nothing outside is read, written or removed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from canaries import witnessed
from name_cases import NAME_KINDS
from run_names import name_outcomes, summary

SEED = int(os.environ.get("HANDLOOM_HOSTILE_SEED", "0"))
COUNT = int(os.environ.get("HANDLOOM_HOSTILE_NAMES", "400"))
"""Cases of the long test."""


def test_the_witness_sees_every_way_to_touch_a_canary(tmp_path: Path) -> None:
    with witnessed(tmp_path) as (home, witness):
        assert witness.seen() == []
        (home.home / "work9").mkdir()
        (home.home / "work9" / "link").symlink_to(home.outside / "secret.txt")
        os.stat(home.home / "work9" / "link")
        assert witness.seen() == []
        if witness.sees_reading:
            (home.home / "work9" / "link").read_text()
            assert witness.seen() == ["opened outside/secret.txt"]
            os.listdir(home.private)
            assert witness.seen() == ["opened home/private"]
            (home.home / "escaped").touch()
            assert witness.seen() == ["changed home/escaped"]
        (home.private / "victim" / "thesis.txt").write_text("gone")
        assert any("changed" in line for line in witness.seen())


def test_names_that_are_paths_reach_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, str(Path(__file__).with_name("run_names.py")), str(len(NAME_KINDS)), str(SEED)]
    child = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)  # Its memory is its own.
    with capsys.disabled():
        print(f"\nseed {SEED}: {child.stdout.splitlines()[-1:]}")  # noqa: T201 - the figures
    assert child.returncode == 0, child.stderr
    assert " 0 with faults" in child.stdout, child.stdout
    assert re.search(r"exit codes \{.*\b0: .*\b2: |exit codes \{.*\b2: .*\b0: ", child.stdout), "used and refused"


@pytest.mark.slow
def test_hundreds_of_names_that_are_paths_reach_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    done = list(name_outcomes(COUNT, SEED + 1))
    with capsys.disabled():
        print(f"\nseed {SEED + 1}: {summary(done)}")  # noqa: T201 - the figures
    assert [str(outcome) for outcome in done if outcome.faults] == []
