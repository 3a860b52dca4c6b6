"""Pauses are cut out of demonstrations and stay in what replays."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from expert_hand import expert_record
from test_takes import carried_out, frames_of
from test_teleop_run import IDLE, SEED, begun, task_of

from handloom.dataset import DatasetReader, record_of_archive
from handloom.engine import InlineExecutor, verify_dataset
from handloom.retarget import DeviceRecording
from handloom.scene import build_scene
from handloom.teleop.keeping.still import without_pauses

PAUSE = 120
"""Ticks: two seconds."""


def test_a_person_who_waits_in_the_middle_is_cut_short_and_replays_exactly(
    tmp_path: Path, hand: DeviceRecording
) -> None:
    frames = list(hand.frames)
    waits = [replace(frames[60]) for _ in range(PAUSE)]
    paused = [
        replace(frame, time_ns=round(k * 1e9 / 60)) for k, frame in enumerate([*frames[:60], *waits, *frames[60:]])
    ]
    recording = replace(hand, frames=tuple(paused), end_time_ns=paused[-1].time_ns + 1)
    run = replace(begun(tmp_path / "run"), trim=0.5)
    carried_out(run, (recording, ["save"]), (IDLE, ["finish"]))
    kept = frames_of(run)
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    record = record_of_archive(DatasetReader(run.run.dataset).archive(0))
    start, stop = record.left_out[0]
    assert 30 <= start < stop <= 30 + PAUSE // 2  # It is the pause, less a moment before and after it.
    assert stop - start > 20
    assert kept == record.frames - sum(b - a for a, b in record.left_out)  # The archive has all of it.
    again = begun(tmp_path / "again")
    again.replay(DeviceRecording.read(tmp_path / "run" / "inputs" / "episode_000000.jsonl"))
    again.merge()
    assert frames_of(again) == kept


def test_what_moves_is_not_cut() -> None:
    record = expert_record(task_of(), SEED, 0)
    model = build_scene(record.instance).world.model
    cut = without_pauses(record, model, 0.5)
    left = set(record.kept) - set(cut.kept)
    steps = np.abs(np.diff(record.states[:, 1 : 1 + model.nq], axis=0)).max(axis=1)
    assert all(steps[frame] < 1e-3 for frame in left)
    assert without_pauses(record, model, 0.0) is record
