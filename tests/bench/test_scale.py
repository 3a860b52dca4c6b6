"""Repeated episodes are real ones under other numbers, and the benchmark of large runs runs every step."""

from pathlib import Path

import pytest

from handloom.bench.datasets import scale
from handloom.bench.datasets.repeated_episodes import (
    CERTIFICATE,
    INSTANCE,
    SHEET,
    RepeatedEpisode,
    make_attempts,
    write_task,
)
from handloom.dataset import EpisodeFolder, folder_name, merge_episodes
from handloom.engine import InlineExecutor, RunDirectory, RunSettings
from handloom.engine.verification.verify import archives_of, verify_dataset
from handloom.tasks import load_task


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    folder = tmp_path_factory.mktemp("scale")
    task = load_task(str(write_task(folder)))
    run = RunDirectory.begin(folder / "run", RunSettings.of_task(task, seed=3, render="none"))
    make_attempts(run, 7, distinct=2)
    return run


def test_an_episode_repeated_under_its_own_number_has_its_own_bytes(run: RunDirectory) -> None:
    for number, receipt in list(run.receipts().items())[:2]:
        folder = run.episodes / folder_name(number)
        files = RepeatedEpisode(folder, receipt).files(number)
        assert set(files) == {INSTANCE, CERTIFICATE, SHEET}
        assert files == {name: (folder / name).read_bytes() for name in files}


def test_every_attempt_has_a_receipt_and_an_intact_episode(run: RunDirectory) -> None:
    receipts = run.receipts()
    assert list(receipts) == list(range(7))
    for number, receipt in receipts.items():
        episode = EpisodeFolder.open(run.episodes / folder_name(number))
        assert (receipt.episode, receipt.success, episode.outcome.index) == (number, True, number)
        assert episode.archive().instance["episode"] == number
        assert not episode.faults()


def test_repeated_episodes_replay_bit_for_bit(run: RunDirectory, tmp_path: Path) -> None:
    folders = [run.episodes / folder_name(number) for number in range(7)]
    dataset = merge_episodes(folders, tmp_path / "dataset")
    verdicts = list(verify_dataset(dataset, InlineExecutor(), archives=archives_of(dataset)[3:6]))
    assert [verdict.verdict for verdict in verdicts] == ["exact"] * 3


@pytest.mark.slow
def test_every_step_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "DISTINCT", 8)
    rows = {row["name"]: row for row in scale.run(attempts=120).rows}
    assert len(rows) == 9
    for name, row in rows.items():
        assert row["cpu_s"] > 0, name
    assert rows["merge"]["cpu_ms_per_episode"] > 0
    assert 0 < rows["merge"]["files"] < 2 * 120
