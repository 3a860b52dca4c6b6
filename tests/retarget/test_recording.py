"""Recordings replay exactly, by frame and by time, end explicitly, and say where they are broken."""

import math

import numpy as np
import pytest

from handloom.errors import FileError, InputError, StateError
from handloom.retarget import (
    ControllerSnapshot,
    ControllersSource,
    DeviceFrame,
    DeviceRecorder,
    DeviceRecording,
    ExecutionState,
    OutputCombiner,
    SO101GripperRetargeter,
    SO101PositionClutchRetargeter,
    device_inputs,
)

STEP_NS = 11_111_111


def frames(count: int = 50) -> list[DeviceFrame]:
    rng = np.random.default_rng(4)
    made = []
    for index in range(count):
        position = rng.normal(size=3)
        if index % 7 == 3:
            position[0] = math.nan
        sample = ControllerSnapshot(
            grip_position=position, grip_orientation=rng.normal(size=4), grip_is_valid=True, trigger_value=rng.random()
        )
        made.append(
            DeviceFrame(
                time_ns=5_000_000_000 + index * STEP_NS,
                state=ExecutionState.RUNNING if index > 4 else ExecutionState.PAUSED,
                reset=index == 20,
                controller_right=None if index % 9 == 5 else sample,
            )
        )
    return made


def run(recording) -> list[np.ndarray]:
    """Play a recording frame by frame through a fresh graph."""
    controllers = ControllersSource("controllers")
    right = {ControllersSource.RIGHT: controllers.output(ControllersSource.RIGHT)}
    graph = OutputCombiner(
        {
            "pose": SO101PositionClutchRetargeter("c").connect(right).output("ee_pose"),
            "jaw": SO101GripperRetargeter("g").connect(right).output("gripper_command"),
        }
    )
    out = []
    for frame in recording:
        outputs = graph(device_inputs(graph, frame), frame.context)
        out.append(np.append(outputs["pose"][0], outputs["jaw"][0]))
    return out


def written(path) -> list[DeviceFrame]:
    made = frames()
    with DeviceRecorder(path, title="test", facts={"rate_hz": 90}) as recorder:
        for frame in made:
            recorder.write(frame)
        recorder.close(end_time_ns=made[-1].time_ns + STEP_NS)
    return made


def test_a_replay_gives_the_same_commands_bit_for_bit(tmp_path) -> None:
    made = written(tmp_path / "r.jsonl")
    recording = DeviceRecording.read(tmp_path / "r.jsonl")
    assert recording.frames == tuple(made)
    assert (recording.title, recording.facts, recording.complete) == ("test", {"rate_hz": 90}, True)
    np.testing.assert_array_equal(run(recording), run(made))
    recording.write(tmp_path / "copy.jsonl")
    assert (tmp_path / "copy.jsonl").read_bytes() == (tmp_path / "r.jsonl").read_bytes()


def test_playing_by_time_gives_the_newest_frame_and_none_after_the_end(tmp_path) -> None:
    made = written(tmp_path / "r.jsonl")
    recording = DeviceRecording.read(tmp_path / "r.jsonl")
    assert recording.duration_ns == len(made) * STEP_NS
    for elapsed in range(0, recording.duration_ns, 3_000_000):
        assert recording.at(elapsed) == made[elapsed // STEP_NS]
    assert recording.at(recording.duration_ns - 1) == made[-1]
    assert recording.at(recording.duration_ns) is None
    with pytest.raises(InputError):
        recording.at(-1)


def test_without_an_end_time_the_last_frame_is_still_seen_once() -> None:
    made = frames(3)
    recording = DeviceRecording(frames=tuple(made), end_time_ns=made[-1].time_ns)
    assert recording.at(2 * STEP_NS) == made[-1]
    assert recording.at(2 * STEP_NS + 1) is None
    assert DeviceRecording(frames=(), end_time_ns=0).at(0) is None


def test_time_must_advance(tmp_path) -> None:
    with DeviceRecorder(tmp_path / "r.jsonl") as recorder:
        recorder.write(DeviceFrame(time_ns=10))
        with pytest.raises(InputError, match="not after the last"):
            recorder.write(DeviceFrame(time_ns=10))
    assert len(DeviceRecording.read(tmp_path / "r.jsonl")) == 1
    with pytest.raises(StateError):
        recorder.write(DeviceFrame(time_ns=20))


def test_a_recording_is_never_overwritten(tmp_path) -> None:
    written(tmp_path / "r.jsonl")
    with pytest.raises(FileError, match="cannot start"):
        DeviceRecorder(tmp_path / "r.jsonl")


def test_a_file_cut_at_any_byte_is_noticed_and_what_is_whole_can_be_used(tmp_path) -> None:
    made = written(tmp_path / "r.jsonl")
    whole = (tmp_path / "r.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    for cut in [*range(first, len(whole) - 1, 997), len(whole) - 1]:
        (tmp_path / "cut.jsonl").write_bytes(whole[:cut])
        with pytest.raises(FileError, match="cut off"):
            DeviceRecording.read(tmp_path / "cut.jsonl")
        part = DeviceRecording.read(tmp_path / "cut.jsonl", allow_cut_off=True)
        assert not part.complete
        assert part.frames == tuple(made[: len(part)])
        assert len(part) == whole[first:cut].count(b"\n")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda lines: [lines[0].replace("handloom.device-frames", "other"), *lines[1:]], "1: not a device recording"),
        (lambda lines: [lines[0].replace('"version":1', '"version":2'), *lines[1:]], "1: version 2"),
        (lambda lines: [*lines[:3], "{oops", *lines[3:]], "4: not a JSON line"),
        (lambda lines: [*lines[:3], "[1]", *lines[3:]], "4: a line must be a JSON object"),
        (lambda lines: [*lines[:3], '{"time_ns": 0, "foot": {}}', *lines[3:]], "4: a device frame has no field 'foot'"),
        (lambda lines: [*lines[:3], *lines[4:]], "it was changed"),
        (lambda lines: [*lines, lines[1]], "lines after the end"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "not after frame"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path, change, text) -> None:
    written(tmp_path / "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    (tmp_path / "bad.jsonl").write_text("\n".join(change(lines)) + "\n")
    with pytest.raises(FileError, match=text):
        DeviceRecording.read(tmp_path / "bad.jsonl")


def test_an_empty_or_missing_file_is_refused(tmp_path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    for name in ("empty.jsonl", "missing.jsonl"):
        with pytest.raises(FileError, match=name):
            DeviceRecording.read(tmp_path / name)
