"""Saving beside a session: in another process, again when it fails, and nothing is forgotten."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_teleop_run import IDLE, Script, begun
from unlucky_saves import unlucky

from handloom.dataset import DatasetReader
from handloom.engine import InlineExecutor, verify_dataset
from handloom.engine.runs.journal import Receipt
from handloom.retarget import DeviceRecording
from handloom.teleop.keeping import saver as saver_module
from handloom.teleop.keeping.saver import BackgroundSaver
from handloom.teleop.keeping.takes import Take


def until(holds: Callable[[], Any], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.02)


class Watched:
    def __init__(self, function: Callable[[Any], Receipt]) -> None:
        self.done: list[tuple[Any, Receipt]] = []
        self.told: list[tuple[int, str]] = []
        self.saver = BackgroundSaver(
            lambda job, receipt: self.done.append((job, receipt)),
            lambda waiting, problem: self.told.append((waiting, problem)),
            function=function,
        )


def test_saves_that_fail_or_die_are_tried_again_and_come_in_order(tmp_path: Path) -> None:
    watched = Watched(partial(unlucky, tmp_path, 2))
    for job in (0, 1, 2):
        watched.saver.submit(job)  # type: ignore[arg-type]
    assert watched.saver.close() == []
    assert [job for job, _ in watched.done] == [0, 1, 2]
    assert all((tmp_path / f"episode_{job}").is_file() for job in (0, 1, 2))
    assert watched.told[-1] == (0, "")


def test_what_cannot_be_saved_is_told_waits_to_be_asked_and_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saver_module, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(saver_module, "AGAIN", 600.0)
    watched = Watched(partial(unlucky, tmp_path, 3))
    watched.saver.submit(7)  # type: ignore[arg-type]
    until(lambda: watched.told[-1][1])
    assert "No space left" in watched.told[-1][1]
    assert watched.done == []
    watched.saver.retry()
    until(lambda: watched.done)
    assert watched.saver.close() == []
    assert watched.told[-1] == (0, "")


def test_a_saver_that_is_closed_while_nothing_can_be_saved_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saver_module, "PAUSES", (0.0, 0.0))
    watched = Watched(partial(unlucky, tmp_path, 100))
    job = SimpleNamespace(take=Take(4, 1))  # All that is left of a job: its process need not import what it is made of.
    watched.saver.submit(job)  # type: ignore[arg-type]
    assert watched.saver.close() == [Take(4, 1)]


def test_a_session_goes_on_while_takes_are_written_and_the_dataset_is_the_same(
    tmp_path: Path, hand: DeviceRecording
) -> None:
    run = replace(begun(tmp_path / "run"), background=True)
    offered: list[tuple[int, int]] = []

    class Sees(Script):
        def scene(self, scene, facts) -> None:
            offered.append((facts["episode"], len(run.receipts)))
            super().scene(scene, facts)

    script = Sees((hand, ["save"]), (IDLE, ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert offered == [(0, 0), (1, 0)]  # The next scene came before the first take was written.
    assert ("saved", 1) in script.told
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    inline = begun(tmp_path / "inline")
    script = Script((hand, ["save"]), (IDLE, ["finish"]))
    inline.carry_out(script, script)  # type: ignore[arg-type]
    rows = [DatasetReader(r.run.dataset).rows(0) for r in (run, inline)]
    assert rows[0].equals(rows[1])
    assert threading.active_count() < 20
