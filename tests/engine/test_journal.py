"""Journals: what is written can be read again, and what is no receipt is refused by name."""

import pytest

from handloom.engine import Receipt
from handloom.engine.runs.journal import Journal
from handloom.errors import FileError


def test_whatever_an_error_said_its_receipt_can_be_read_again(tmp_path):
    journal = Journal(tmp_path / "unit.jsonl")
    for episode, detail in enumerate(["\udcff in a name", "x" * 10**6, "\x00\x1b", "plain"]):
        journal.append(Receipt(episode=episode, success=False, stage="execute", reason="r", detail=detail))
    details = [receipt.detail for receipt in journal.read().values()]
    assert [len(detail) for detail in details[:2]] == [len("? in a name"), 10_000]
    assert details[3] == "plain"


@pytest.mark.parametrize(
    "line",
    ["[]", "null", "{}", '{"episode": 0}', '{"episode": -1, "success": true}', '{"episode": 1e999, "success": true}',
     '{"episode": 0, "success": true, "fps": 0}', '{"episode": 0, "success": true, "skills": {"a": "long"}}',
     '{"episode": 0, "success": true, "seconds": {"plan": NaN}}', "[" * 100_000],
    ids=lambda line: line[:60],
)  # fmt: skip
def test_a_line_that_is_no_receipt_is_refused_by_name(tmp_path, line):
    (tmp_path / "unit.jsonl").write_text(line + "\n")
    with pytest.raises(FileError, match=r"unit\.jsonl"):
        Journal(tmp_path / "unit.jsonl").read()


def test_a_line_that_a_kill_cut_short_is_no_receipt(tmp_path):
    (tmp_path / "unit.jsonl").write_text('{"episode": 3, "success": true}\n{"episode": 4, "succ')
    assert list(Journal(tmp_path / "unit.jsonl").read()) == [3]
