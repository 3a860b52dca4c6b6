"""An operator's session from the first scene to the dataset: the same run folder, the same verification."""

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from expert_hand import expert_record, hand_recording

from handloom.dataset import DatasetReader, record_of_archive
from handloom.engine import InlineExecutor, RunDirectory, RunSettings, verify_dataset
from handloom.engine.run_settings import TELEOP
from handloom.errors import InputError
from handloom.retarget import DeviceFrame, DeviceRecording
from handloom.tasks import Task, load_task
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.operator_source import RecordedInput
from handloom.teleop.teleop_run import TeleopRun

SEED = 5


def task_of(name: str = "fr3_pick_place") -> Task:
    return load_task(name, overrides=("data.max_episode_length=900",))


def begun(folder: Path, **options: Any) -> TeleopRun:
    task = task_of()
    settings = RunSettings.of_task(task, seed=SEED, source=TELEOP, unit_size=1, **{"render": "none", **options})
    return TeleopRun(RunDirectory.begin(folder, settings), task)


class Script:
    """An operator who says beforehand what becomes of each attempt; stands in for the live input and the view."""

    def __init__(self, *attempts: tuple[DeviceRecording, list[str]]) -> None:
        self.attempts = list(attempts)
        self.told: list[Any] = []

    def begin(self) -> None:
        if self.attempts:
            self.input = RecordedInput(self.attempts[0][0])

    def frame(self, source_or_tick, frame_or_time):
        if isinstance(source_or_tick, int):
            return self.input.frame(source_or_tick, frame_or_time)
        return None

    def verdict(self) -> str:
        verdicts = self.attempts[0][1]
        word = verdicts.pop(0)
        if not verdicts:
            self.attempts.pop(0)
        return word

    def scene(self, scene, facts) -> None:
        self.told.append(("scene", facts["episode"]))

    def outcome(self, record) -> None:
        self.told.append(("outcome", record.success))

    def saving(self, episode) -> None:
        pass

    def saved(self, episodes) -> None:
        self.told.append(("saved", episodes))


@pytest.fixture(scope="module")
def hand() -> DeviceRecording:
    return hand_recording(expert_record(task_of(), SEED, 0))


IDLE = DeviceRecording(frames=tuple(DeviceFrame(time_ns=k * 10**7) for k in range(8)), end_time_ns=10**9)


def test_saved_attempts_become_a_dataset_that_verifies_and_failures_cannot_be_saved(tmp_path: Path, hand) -> None:
    run = begun(tmp_path / "run")
    script = Script((IDLE, ["save", "reset"]), (hand, ["save"]), (IDLE, ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert script.told == [
        ("scene", 0),
        ("outcome", False),
        ("scene", 0),
        ("outcome", True),
        ("saved", 1),
        ("scene", 1),
        ("outcome", False),
    ]
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    reader = DatasetReader(run.run.dataset)
    assert len(reader.episodes) == 1
    assert sorted(run.run.receipts()) == [0]


def test_a_session_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    first = begun(tmp_path / "run")
    script = Script((IDLE, ["discard"]), (IDLE, ["finish"]))
    first.carry_out(script, script)  # type: ignore[arg-type]
    second = begun(tmp_path / "run")
    script = Script((IDLE, ["finish"]))
    second.carry_out(script, script)  # type: ignore[arg-type]
    assert second.run.receipts()[0].reason == "discarded"
    assert script.told[0] == ("scene", 1)


def test_the_recorded_input_of_a_demonstration_makes_it_again_bit_for_bit(tmp_path: Path, hand) -> None:
    first = begun(tmp_path / "a")
    script = Script((hand, ["save"]), (IDLE, ["finish"]))
    first.carry_out(script, script)  # type: ignore[arg-type]
    recording = DeviceRecording.read(tmp_path / "a" / "inputs" / "episode_000000.jsonl")
    second = begun(tmp_path / "b")
    assert second.replay(recording).success
    second.merge()
    records = [record_of_archive(DatasetReader(run.run.dataset).archive(0)) for run in (first, second)]
    assert records[0].states.tobytes() == records[1].states.tobytes()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"task": "other", "seed": SEED, "episode": 0}, "of task 'other'"),
        ({"task": "fr3_pick_place", "seed": 1, "episode": 0}, "of seed 1"),
        ({"task": "fr3_pick_place", "seed": SEED}, "does not say of which episode"),
    ],
)
def test_recordings_of_something_else_are_refused(tmp_path: Path, facts: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        begun(tmp_path / "run").replay(replace(IDLE, facts=facts))


def test_a_page_drives_the_simulation_and_ten_thousand_hostile_messages_do_not_harm_it(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    from websockets.sync.client import connect

    app = TeleopApp(begun(tmp_path / "run"), PageOptions(size=(64, 48)))
    ready: list[str] = []
    thread = threading.Thread(target=app.serve, args=(ready.append,))
    thread.start()
    while not ready:
        assert thread.is_alive()
        time.sleep(0.01)
    address = ready[0].replace("http://", "ws://").replace("/?", "/socket?")
    seq = 0

    def send(client, squeeze: float, x: float) -> None:
        nonlocal seq
        seq += 1
        hand = {
            "grip_position": [x, 1.0, 0.0],
            "grip_orientation": [0, 0, 0, 1],
            "grip_is_valid": True,
            "squeeze_value": squeeze,
        }
        client.send(json.dumps({"type": "input", "seq": seq, "controller_right": hand}))

    def state_when(client, holds) -> dict[str, Any]:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            text = client.recv(timeout=60)
            if isinstance(text, str) and holds(found := json.loads(text)):
                return found
            if app.live.state == "running":
                send(client, 1.0, 0.0)
        raise AssertionError("it did not come to hold")

    with connect(address, max_size=None) as client:
        state_when(client, lambda s: s.get("phase") in ("ready", "driving"))
        client.send('{"type": "command", "command": "start"}')
        state_when(client, lambda s: any(arm["engaged"] for arm in s.get("arms", ())))
        with connect(address, max_size=None) as second:  # It watches, and shouts as loud as it can.
            for k in range(5_000):
                second.send(['{"type": "command", "command": "finish"}', "{", '{"type": "input", "seq": 1}'][k % 3])
                client.send(['{"type": "inpt"}', "[]", '{"type": "input", "seq": 0}', "NaN", '{"seq": 1e999}'][k % 5])
        before = state_when(client, lambda s: s.get("type") == "state")
        after = state_when(client, lambda s: s.get("seconds", 0) > before["seconds"] + 0.5 and s["clients"] == 1)
        assert after["state"] == "running"
        client.send('{"type": "command", "command": "finish"}')
        state_when(client, lambda s: s.get("phase") == "finished")
    thread.join(60)
    assert not thread.is_alive()
    assert app.server.refused
