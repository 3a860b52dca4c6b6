"""Files from strangers end in one typed error, or in success: no traceback, bounded time and memory."""

import os
import random
from pathlib import Path

import pytest
from kinds import KINDS, Kind
from run_cases import outcomes, summary

from handloom.cli.main import main

SEED = int(os.environ.get("HANDLOOM_HOSTILE_SEED", "0"))
"""Another seed makes other files of the same kinds."""
LONG = {"usd_grows_without_end", "xml_asks_for_memory"}
"""Kinds that use up the time a reader has."""


@pytest.mark.parametrize(
    "make",
    [pytest.param(made, id=made.__name__, marks=[pytest.mark.slow] * (made.__name__ in LONG)) for made in KINDS],
)
def test_every_kind_of_hostile_file_is_read_or_refused_in_words(
    make: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "stranger" / "files"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for words in make(folder, random.Random(f"{SEED} {make.__name__}")):
        code = main(words)  # An error that is not ours would come out of here.
        printed = capsys.readouterr()
        assert code in (0, 1, 2), words
        assert "root:" not in printed.out + printed.err, "a secret came out"
        assert code == 0 or (printed.out + printed.err).strip(), words


@pytest.mark.slow
def test_a_hundred_hostile_files_end_within_30_s_and_2_gb(capsys: pytest.CaptureFixture[str]) -> None:
    done = list(outcomes(100, SEED))
    with capsys.disabled():
        print(f"\nseed {SEED}: {summary(done)}")  # noqa: T201 - the figures
    assert [str(outcome) for outcome in done if outcome.fault] == []
