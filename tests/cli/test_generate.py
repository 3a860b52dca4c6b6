"""What `handloom generate` says while it runs where no bar can be drawn: a log file, a pipe, a job scheduler."""

from pathlib import Path

import pytest

from handloom.cli.datasets.report import REMEDIES
from handloom.cli.runs.generate_display import FIRST_ATTEMPTS, GenerateDisplay, HopelessRun
from handloom.engine import Goal, Receipt

COOKBOOK = Path(__file__).parents[2] / "docs" / "guides" / "cookbook.md"


def shown(capsys, outcomes: list[str], *, advise: bool = True) -> list[str]:
    """Return the lines that a run of ten demonstrations prints; an outcome is a reason, empty for a success."""
    with GenerateDisplay(Goal(successes=10), advise=advise) as display:
        for k, reason in enumerate(outcomes):
            display.update({k: Receipt(episode=k, success=not reason, reason=reason, detail="pick: " + "x" * 90)})
    return capsys.readouterr().err.splitlines()


def test_without_a_terminal_a_line_tells_every_few_attempts_how_many_succeeded_and_why_others_failed(capsys):
    lines = shown(capsys, ["", "not_lifted", "", "not_lifted", "no_path", *[""] * 7])
    assert lines[0].startswith("attempt 1 failed, not_lifted: pick: xxx")
    assert lines[2] == "5 attempts, 2 succeeded, failures: not_lifted 2, no_path 1"
    assert lines[3] == "10 attempts, 7 succeeded, failures: not_lifted 2, no_path 1"
    assert len(lines) == 4, "one failure is one line, however long"


def test_a_run_of_which_most_attempts_fail_names_the_leading_reason_and_what_helps(capsys):
    (note,) = [line for line in shown(capsys, ["not_lifted", "", "no_path"] * 5) if line.startswith("note:")]
    assert note.startswith("note: 3 of 10 attempts succeeded; 4 failed with not_lifted; try: a smaller or lighter")
    assert note.endswith("in the cookbook under 'When attempts fail'")
    (note,) = [line for line in shown(capsys, ["not_calm"] * 11) if line.startswith("note:")]
    assert "10 failed with not_calm; its meaning is in the cookbook" in note
    assert not any(line.startswith("note:") for line in shown(capsys, ["not_lifted", ""] * 5))
    assert not any(line.startswith("note:") for line in shown(capsys, ["not_lifted"] * 10, advise=False))


@pytest.mark.parametrize("reason", REMEDIES)
def test_what_helps_is_what_the_cookbook_says(reason):
    rows = [line for line in COOKBOOK.read_text("utf-8").splitlines() if line.startswith("| `")]
    (row,) = [row for row in rows if f"`{reason}`" in row.split("|")[1]]
    assert row.split("|")[3].strip() == REMEDIES[reason]


def test_a_run_ends_when_the_first_attempts_fail_alike_and_not_when_one_differs(tmp_path):
    for last, stops in (("no_path", True), ("slipped", False), ("", False)):
        run = HopelessRun(tmp_path / f"stop{last}", enabled=True)
        for k in range(FIRST_ATTEMPTS):
            reason = last if k == FIRST_ATTEMPTS - 1 else "no_path"
            run.update({k: Receipt(episode=k, success=not reason, reason=reason)})
        assert (run.stop_file.exists(), run.reason) == (stops, "no_path" if stops else "")


def test_a_run_is_judged_by_attempts_0_to_9_whichever_finish_first(tmp_path):
    failed = {k: Receipt(episode=k, success=False, reason="no_path") for k in range(3 * FIRST_ATTEMPTS)}
    for win, stops in ((4, False), (2 * FIRST_ATTEMPTS, True)):
        run = HopelessRun(tmp_path / f"stop{win}", enabled=True)
        receipts = {**failed, win: Receipt(episode=win, success=True)}
        for k in reversed(receipts):
            run.update({k: receipts[k]})
            assert not run.reason or k == 0, "not before the last of the ten is known"
        assert bool(run.reason) == run.stop_file.exists() == stops
