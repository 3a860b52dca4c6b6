"""Journals of finished units are packed into few files, and nothing is lost on the way."""

import json

import pyarrow.parquet as pq
import pytest

from handloom.engine import RunDirectory, RunSettings
from handloom.engine.report import report_of
from handloom.engine.runs.journal import Journal, Receipt
from handloom.engine.runs.ledger import ledger_parts, pack_journals, read_part, write_part
from handloom.errors import FileError
from handloom.tasks import load_task


def receipt(episode: int) -> Receipt:
    failed = episode % 3 == 2
    return Receipt(
        episode=episode,
        success=not failed,
        stage="execute" if failed else "",
        reason="not_grasped" if failed else "",
        detail="pick: nothing is held, \N{SNOWMAN}" if failed else "",
        frames=100 + episode,
        fps=30,
        seconds={"plan": 0.1 + episode, "render": 1.0 / 3.0} if episode % 2 else {"plan": 0.5},
        cpu_seconds=1.25,
        skills={} if failed else {"pick": 2.0},
        disturbed=("mug", "can") if episode % 4 == 1 else (),
    )


@pytest.fixture
def run(tmp_path) -> RunDirectory:
    run = RunDirectory.begin(tmp_path / "run", RunSettings.of_task(load_task("fr3_pick_cube"), seed=0, unit_size=4))
    for unit in range(6):
        for episode in range(4 * unit, 4 * unit + (4 if unit != 3 else 2)):  # One unit is not finished.
            run.journal(unit).append(receipt(episode))
    return run


def plain(receipts: dict[int, Receipt]) -> dict[int, dict]:
    return {episode: found.to_json() for episode, found in receipts.items()}


def test_packing_changes_nothing_that_is_known(run):
    before, report = run.receipts(), report_of(run.receipts().values())
    assert run.pack_journals(at_least=1) == 5
    assert [file.name for file in sorted((run.path / "journal").iterdir())] == [
        "ledger_000000.parquet",
        "unit_000003.jsonl",
    ]
    after = run.receipts()
    assert plain(after) == plain(before)
    assert after == before
    assert list(after) == sorted(after)
    assert report_of(after.values()) == report


def test_few_journals_are_left_alone(run):
    assert run.pack_journals() == 0
    assert ledger_parts(run.path / "journal") == []


def test_an_unfinished_unit_goes_on_in_its_journal(run):
    run.pack_journals(at_least=1)
    assert sorted(run.journal(3).read()) == [12, 13]
    run.journal(3).append(receipt(14))
    run.journal(3).append(receipt(15))
    assert run.pack_journals(at_least=1) == 1
    assert sorted(run.receipts()) == list(range(24))
    assert len(ledger_parts(run.path / "journal")) == 2


def test_a_kill_between_the_part_and_the_journals_counts_nothing_twice(run):
    journals = sorted((run.path / "journal").glob("unit_*.jsonl"))
    found = [r for file in journals[:2] for r in Journal(file).read().values()]
    write_part(run.path / "journal", found)  # And then it was killed.
    assert report_of(run.receipts().values()).attempts == 22
    pack_journals(run.path / "journal", 4, at_least=1)
    assert report_of(run.receipts().values()).attempts == 22


def test_a_damaged_part_is_named(run):
    run.pack_journals(at_least=1)
    (part,) = ledger_parts(run.path / "journal")
    content = part.read_bytes()
    part.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match="ledger_000000"):
        run.receipts()


def test_a_part_reads_back_exactly(tmp_path):
    told = [receipt(k) for k in range(7)]
    part = write_part(tmp_path, told)
    assert [json.dumps(r.to_json()) for r in read_part(part)] == [json.dumps(r.to_json()) for r in told]


def test_parts_from_before_bystanders_were_looked_at_are_read(tmp_path):
    file = write_part(tmp_path, [receipt(episode) for episode in range(4)])
    older = pq.read_table(file).drop_columns(["disturbed"])
    pq.write_table(older, file)
    assert [found.disturbed for found in read_part(file)] == [()] * 4
