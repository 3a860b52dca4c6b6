"""Takes are people's work: none is lost, none becomes another, whatever fails or is killed when."""

import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_teleop_run import IDLE, Script, begun

from handloom.dataset import DatasetReader, record_of_archive
from handloom.engine import InlineExecutor, verify_dataset
from handloom.errors import InputError
from handloom.retarget import DeviceFrame, DeviceRecording
from handloom.teleop.keeping import saver
from handloom.teleop.keeping.takes import Take, Takes
from handloom.teleop.keeping.teleop_run import TeleopRun


def slower(recording: DeviceRecording) -> DeviceRecording:
    """Return another take of the same scene: the hand waits for half a second before it begins."""
    first = recording.frames[0]
    waits = tuple(replace(first, time_ns=round(k * 1e9 / 60)) for k in range(30))
    later = tuple(replace(frame, time_ns=frame.time_ns + 500_000_000) for frame in recording.frames)
    return replace(recording, frames=waits + later, end_time_ns=recording.end_time_ns + 500_000_000)


def carried_out(run: TeleopRun, *attempts: tuple[DeviceRecording, list[str]]) -> Script:
    script = Script(*attempts)
    run.carry_out(script, script)  # type: ignore[arg-type]
    return script


def frames_of(run: TeleopRun) -> int:
    (episode,) = DatasetReader(run.run.dataset).episodes
    return episode.length


def test_every_take_of_a_scene_has_a_file_of_its_own(tmp_path: Path) -> None:
    takes = Takes(tmp_path / "inputs")
    assert list(takes) == []
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "episode_000003.jsonl.partial").write_text("cut off")  # What a kill left.
    assert [takes.write(episode, IDLE) for episode in (3, 3, 1, 3)] == [Take(3, 1), Take(3, 2), Take(1, 1), Take(3, 3)]
    assert sorted(file.name for file in (tmp_path / "inputs").iterdir()) == [
        "episode_000001.jsonl",
        "episode_000003.jsonl",
        "episode_000003_take_2.jsonl",
        "episode_000003_take_3.jsonl",
    ]
    assert takes.unfinished({1: 1}) == [Take(3, 3)]
    assert DeviceRecording.read(takes.path(Take(3, 2))).complete


def killed_while_saving(folder: Path, recording: DeviceRecording, where: str) -> None:
    """Save a take in a process that is killed at a moment of the save."""
    run = begun(folder)

    def kill(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if where == "between rename and journal":
        run._note = kill  # type: ignore[method-assign]
    else:
        saver.write_episode = kill  # type: ignore[assignment]
    carried_out(run, (recording, ["save"]))


@pytest.mark.parametrize("where", ["between rename and journal", "before the episode is written"])
def test_a_kill_during_a_save_loses_no_take_and_the_next_session_goes_on_with_the_next_scene(
    tmp_path: Path, hand: DeviceRecording, where: str
) -> None:
    context = multiprocessing.get_context("fork")
    process = context.Process(target=killed_while_saving, args=(tmp_path / "run", hand, where))
    process.start()
    process.join(300)
    assert process.exitcode == -signal.SIGKILL
    run = begun(tmp_path / "run")
    assert run.receipts == {}
    assert (run.run.episodes / "episode_000000").is_dir() == (where == "between rename and journal")
    script = carried_out(run, (slower(hand), ["finish"]))
    assert script.told[:2] == [("saved", 1), ("scene", 1)]  # Scene 0 is done: nobody is asked for it twice.
    assert run.run.receipts()[0].take == 1
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    whole = begun(tmp_path / "whole")
    carried_out(whole, (hand, ["save"]), (IDLE, ["finish"]))
    records = [record_of_archive(DatasetReader(r.run.dataset).archive(0)) for r in (run, whole)]
    assert np.array_equal(records[0].states, records[1].states)


def test_a_save_that_fails_is_told_and_can_be_repeated(
    tmp_path: Path, hand: DeviceRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(tmp_path / "run")
    monkeypatch.setattr(saver, "PAUSES", (0.0,))
    write, calls = saver.write_episode, []

    def full(*args: object) -> None:
        calls.append(args)
        if len(calls) <= 2:
            raise OSError(28, "No space left on device")
        write(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(saver, "write_episode", full)
    script = carried_out(run, (hand, ["save", "save"]), (IDLE, ["finish"]))
    assert len(calls) == 3
    assert [event[0] for event in script.told] == [
        "scene",
        "outcome",
        "not saved",
        "outcome",
        "saved",
        "scene",
        "outcome",
    ]
    assert "No space left on device" in script.told[2][1]
    assert list(run.takes) == [Take(0, 1)]
    assert frames_of(run) > 0


def test_after_a_failed_save_another_take_is_saved_as_itself_and_the_first_one_is_kept(
    tmp_path: Path, hand: DeviceRecording
) -> None:
    run = begun(tmp_path / "run")
    note, failures = run._note, [OSError(5, "Input/output error")] * 3

    def unsure(receipt) -> None:  # The episode has its name by now, the journal does not know of it.
        if failures:
            raise failures.pop()
        note(receipt)

    run._note = unsure  # type: ignore[method-assign]
    script = carried_out(run, (hand, ["save", "reset"]), (slower(hand), ["save"]), (IDLE, ["finish"]))
    assert [event[0] for event in script.told].count("not saved") == 1
    assert list(run.takes) == [Take(0, 1), Take(0, 2)]
    assert run.run.receipts()[0].take == 2
    first = begun(tmp_path / "first")
    carried_out(first, (hand, ["save"]), (IDLE, ["finish"]))
    assert frames_of(run) == frames_of(first) + 15  # Half a second more: it is the second take.


def test_going_back_goes_on_from_the_very_state_of_then(tmp_path: Path, hand: DeviceRecording) -> None:
    """A person who drops the cube goes back: what is saved is the first part and the new one, and replays exactly."""
    run = begun(tmp_path / "run")
    middle = 100  # Ticks: the cube is not lifted yet.
    astray = replace(
        hand, frames=hand.frames[:middle] + tuple(DeviceFrame(time_ns=f.time_ns) for f in hand.frames[middle:])
    )
    frames: list[int] = []

    class Sees(Script):
        def frame(self, source_or_tick, frame_or_time):
            if not isinstance(source_or_tick, int):
                frames.append(frame_or_time)
                return None
            return super().frame(source_or_tick, frame_or_time)

    script = Sees((astray, ["rewind"]), (hand, ["save"]), (IDLE, ["finish"]))
    script.back = (len(hand.frames) - middle) / 60 + 1.0  # One second before it went astray.
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert run.saved == 1
    (take,) = run.takes
    kept = DeviceRecording.read(run.takes.path(take))
    cut = middle - 60
    assert [f.controller_right for f in kept.frames[:cut]] == [f.controller_right for f in hand.frames[:cut]]
    assert kept.frames[cut].state == "stopped"  # There the clutch lets go, so that nothing jumps.
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    other = begun(tmp_path / "other")
    assert other.replay(kept).success


def test_what_was_dropped_by_mistake_comes_back(tmp_path: Path, hand: DeviceRecording) -> None:
    run = begun(tmp_path / "run")
    script = carried_out(
        run, (hand, ["discard"]), (IDLE, ["undo"]), (IDLE, ["save"]), (IDLE, ["undo"]), (IDLE, ["finish"])
    )
    scenes = [event[1] for event in script.told if event[0] == "scene"]
    assert scenes[:3] == [0, 1, 0]  # The next scene, and back in the one that was left.
    assert run.run.receipts()[0].success
    assert frames_of(run) > 0


def test_nothing_comes_back_in_the_place_of_a_demonstration_that_is_saved(
    tmp_path: Path, hand: DeviceRecording
) -> None:
    run = begun(tmp_path / "run")
    script = carried_out(run, (hand, ["reset"]), (slower(hand), ["save"]), (IDLE, ["undo"]), (IDLE, ["finish"]))
    scenes = [event[1] for event in script.told if event[0] == "scene"]
    assert scenes == [0, 0, 1, 1]
    assert list(run.takes) == [Take(0, 1)]
    assert frames_of(run) > 0


def test_finishing_keeps_a_success_that_was_not_saved_yet(tmp_path: Path, hand: DeviceRecording) -> None:
    run = begun(tmp_path / "run")
    carried_out(run, (hand, ["finish"]))
    assert run.saved == 1
    assert frames_of(run) > 0


def test_a_broken_file_among_the_takes_stops_no_session_and_is_not_overwritten(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    broken = run.run.path / "inputs" / "episode_000000.jsonl"
    broken.parent.mkdir()
    broken.write_text("{}\n")
    script = carried_out(run, (IDLE, ["finish"]))
    assert script.told[0] == ("scene", 0)
    assert broken.read_text() == "{}\n"
    assert run.takes.write(0, IDLE) == Take(0, 2)


def test_a_recording_is_not_replayed_over_a_scene_that_is_done(tmp_path: Path, hand: DeviceRecording) -> None:
    run = begun(tmp_path / "run")
    assert run.replay(hand).success
    with pytest.raises(InputError, match=r"scene 0 of .* is done; replay into another folder"):
        run.replay(hand)
