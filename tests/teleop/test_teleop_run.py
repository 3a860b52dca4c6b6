"""An operator's session from the first scene to the dataset: the same run folder, the same verification."""

import json
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handloom.dataset import DatasetReader, record_of_archive
from handloom.engine import InlineExecutor, RunDirectory, RunSettings, verify_dataset
from handloom.engine.sources import TELEOP
from handloom.engine.verification.verify import dataset_faults
from handloom.errors import InputError
from handloom.retarget import DeviceFrame, DeviceRecording
from handloom.tasks import Task, load_task
from handloom.teleop.app import PageOptions, TeleopApp
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.session.operator_source import RecordedInput

SEED = 5


def task_of(name: str = "fr3_pick_cube") -> Task:
    """Return the task of a session; the usual one is the shortest there is, because every test drives through it."""
    return load_task(name, overrides=("data.max_episode_length=900",))


def begun(folder: Path, task: Task | None = None, **options: Any) -> TeleopRun:
    task = task or task_of()
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

    def marks(self, frame: int) -> list[str]:
        return list(self.input.marks(frame))

    instruction = ""
    is_decided = False
    back = 1.0

    def say(self, text: str) -> None:
        self.instruction = text

    def verdict(self) -> str:
        verdicts = self.attempts[0][1]
        word = verdicts.pop(0)
        if not verdicts:
            self.attempts.pop(0)
        return word

    def scene(self, scene, facts) -> None:
        self.told.append(("scene", facts["episode"]))

    def outcome(self, record, *, may_save) -> None:
        self.told.append(("outcome", record.success))

    def finishing(self) -> None:
        pass

    def saving(self, waiting, problem) -> None:
        pass

    def not_saved(self, why) -> None:
        self.told.append(("not saved", why))

    def saved(self, episodes) -> None:
        self.told.append(("saved", episodes))


IDLE = DeviceRecording(frames=tuple(DeviceFrame(time_ns=k * 10**7) for k in range(8)), end_time_ns=10**9)


def test_saved_attempts_become_a_dataset_that_verifies_and_failures_cannot_be_saved(tmp_path: Path, hand) -> None:
    run = begun(tmp_path / "run")
    script = Script((IDLE, ["save", "reset"]), (hand, ["save"]), (IDLE, ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert script.told == [
        ("scene", 0),
        ("outcome", False),
        ("outcome", False),  # Told again: it may not be saved.
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
        ({"task": "other", "seed": SEED, "episode": 0}, "belongs to task 'other'"),
        ({"task": "fr3_pick_cube", "seed": 1, "episode": 0}, "belongs to seed 1"),
        ({"task": "fr3_pick_cube", "seed": SEED}, "has no episode number"),
    ],
)
def test_recordings_of_something_else_are_refused(tmp_path: Path, facts: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        begun(tmp_path / "run").replay(replace(IDLE, facts=facts))


def test_words_of_the_operator_become_the_sub_tasks_and_the_instruction_of_the_dataset(tmp_path: Path, hand) -> None:
    run = begun(tmp_path / "run", lerobot_features=("language",))
    words = {"marks": [[0, "Reach."], [60, "Carry it over."]], "instruction": "Tidy up."}
    record = run.replay(replace(hand, facts={**hand.facts, **words}))
    assert record.success
    run.merge()
    reader = DatasetReader(run.run.dataset)
    (episode,) = reader.episodes
    assert episode.tasks == ("Tidy up.",)
    assert [part["label"] for part in episode.columns["segments"]] == ["Reach.", "Carry it over."]
    assert set(reader.subtasks) >= {"Reach.", "Carry it over."}
    rows = reader.rows(0)
    persistent = rows["language_persistent"].to_pylist()[0]
    assert [entry["content"] for entry in persistent] == ["Reach.", "Carry it over."]
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    assert dataset_faults(run.run.dataset) == ()
    again = DeviceRecording.read(tmp_path / "run" / "inputs" / "episode_000000.jsonl")
    assert {name: again.facts[name] for name in words} == words
    with pytest.raises(InputError, match=r"not a list of \[frame, words\]"):
        begun(tmp_path / "other").replay(replace(hand, facts={**hand.facts, "marks": [["x"]]}))


class Page:
    """What a page does, without a browser: it moves a hand and waits for states."""

    def __init__(self, app: TeleopApp) -> None:
        self.app, self.seq, self.session = app, 0, ""
        ready: list[str] = []
        self.thread = threading.Thread(target=app.serve, args=(ready.append,), daemon=True)
        self.thread.start()
        while not ready:
            assert self.thread.is_alive()
            time.sleep(0.05)
        self.address = ready[0].replace("http://", "ws://").replace("/?", "/socket?")

    def send(self, client, squeeze: float) -> None:
        self.seq += 1
        grip = {"grip_position": [0.0, 1.0, 0.0], "grip_orientation": [0, 0, 0, 1], "grip_is_valid": True}
        hand = {**grip, "squeeze_value": squeeze}
        self.tell(client, type="input", seq=self.seq, controller_right=hand)

    def command(self, client, name: str) -> None:
        self.tell(client, type="command", command=name)

    def tell(self, client, **message: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):  # What came before is still there to be read.
            client.send(json.dumps({**message, "session": self.session}))

    def state_when(self, client, holds) -> dict[str, Any]:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            text = client.recv(timeout=120)
            if isinstance(text, str):
                found = json.loads(text)
                self.session = found.get("session", self.session)
                if holds(found):
                    return found
            if self.app.live.state == "running":
                self.send(client, 1.0)
        raise AssertionError("it did not come to hold")

    def start(self, client) -> None:
        self.state_when(client, lambda s: s.get("phase") in ("ready", "driving"))
        self.command(client, "start")
        self.state_when(client, lambda s: any(arm["engaged"] for arm in s.get("arms", ())))

    def finish(self, client) -> None:
        def finished(state: dict[str, Any]) -> bool:
            if state.get("phase") in ("ready", "driving"):
                self.command(client, "finish")  # Again: after too many messages a few are dropped.
            return state.get("phase") == "finished"

        self.state_when(client, finished)

    def ended(self) -> bool:
        self.thread.join(120)
        return not self.thread.is_alive()


def drain(client) -> None:
    """Read what has come: a client that does not read answers no pings, and is taken for gone after a while."""
    with suppress(TimeoutError):
        while True:
            client.recv(timeout=0)


def test_ten_thousand_hostile_messages_do_not_harm_a_session(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    from websockets.sync.client import connect

    page = Page(TeleopApp(begun(tmp_path / "run"), PageOptions(size=(64, 48))))
    with connect(page.address, max_size=None) as client:
        page.start(client)
        with connect(page.address, max_size=None) as second:  # It watches, and shouts as loud as it can.
            for k in range(5_000):
                second.send(['{"type": "command", "command": "finish"}', "{", '{"type": "mark", "text": 1}'][k % 3])
                if k % 20 == 0:
                    drain(client)
                    drain(second)
                client.send(['{"type": "inpt"}', "[]", '{"type": "input", "seq": 0}', "NaN", '{"seq": 1e999}'][k % 5])
        before = page.state_when(client, lambda s: s.get("type") == "state")
        after = page.state_when(client, lambda s: s.get("seconds", 0) > before["seconds"] + 0.5 and s["clients"] == 1)
        assert after["state"] == "running"
        page.finish(client)
    assert page.ended()
    assert page.app.server.refused


def test_a_page_names_what_it_records(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    from websockets.sync.client import connect

    run = begun(tmp_path / "run", task_of("fr3_pick_place"), keep_failures=True)
    page = Page(TeleopApp(run, PageOptions(size=(64, 48), cameras=("operator",))))
    with connect(page.address, max_size=None) as client:
        page.start(client)
        page.tell(client, type="mark", kind="subtask", text="Reach  for it.")
        page.state_when(client, lambda s: s.get("mark") == "Reach for it.")
        page.tell(client, type="mark", kind="subtask", text="")  # A controller's button: the task's own words.
        told = page.state_when(client, lambda s: s.get("mark", "").startswith("Pick up the"))
        assert told["suggestions"][0].startswith("Put the")
        assert told["done"] == []  # Naming it is not doing it.
        page.tell(client, type="mark", kind="instruction", text="Tidy up.")
        page.state_when(client, lambda s: s["said"] == "Tidy up." and s["seconds"] > told["seconds"] + 0.2)
        page.command(client, "save")
        page.state_when(client, lambda s: s.get("episode") == 1 and s["said"] == "" and s["mark"] == "")
        page.finish(client)
    assert page.ended()
    (episode,) = DatasetReader(run.run.failures).episodes
    assert episode.tasks == ("Tidy up.",)
    labels = [part["label"] for part in episode.columns["segments"]]
    assert (labels[0], labels[1][:11]) == ("Reach for it.", "Pick up the")
