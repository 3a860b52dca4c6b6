"""Several operators in one run, and scenes that are recorded again."""

from pathlib import Path

import pytest
from expert_hand import expert_record, hand_recording
from test_takes import frames_of, slower
from test_teleop_run import IDLE, SEED, Script, begun, task_of

from handloom.dataset import DatasetReader
from handloom.engine import InlineExecutor, verify_dataset
from handloom.retarget import DeviceRecording


@pytest.fixture(scope="module")
def hands(hand: DeviceRecording) -> list[DeviceRecording]:
    return [hand, hand_recording(expert_record(task_of(), SEED, 1))]


class ForScene(Script):
    """An operator whose hand fits whatever scene is offered."""

    def __init__(self, hands: list[DeviceRecording], count: int) -> None:
        super().__init__(*((IDLE, ["save"]) for _ in range(count)), (IDLE, ["finish"]))
        self.hands = hands

    def scene(self, scene, facts) -> None:
        super().scene(scene, facts)
        if self.attempts[0][1] == ["save"]:
            self.attempts[0] = (self.hands[facts["episode"]], ["save"])
        self.begin()


def test_two_operators_have_a_scene_each_and_both_demonstrations_are_kept(tmp_path: Path, hands) -> None:
    run = begun(tmp_path / "run")
    operators = [ForScene(hands, 1), ForScene(hands, 1)]
    run.carry_out_all([(operator, operator) for operator in operators])  # type: ignore[misc]
    first = sorted(operator.told[0] for operator in operators)
    assert first == [("scene", 0), ("scene", 1)]
    reader = DatasetReader(run.run.dataset)
    assert [episode.columns["attempt_index"] for episode in reader.episodes] == [0, 1]
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"] * 2


def test_a_scene_that_is_recorded_again_replaces_the_demonstration_only_when_it_is_saved(tmp_path: Path, hands) -> None:
    hand = hands[0]
    run = begun(tmp_path / "run")
    script = Script((hand, ["save"]), (IDLE, ["again"]), (IDLE, ["discard"]), (IDLE, ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    offered = [what[1] for what in script.told if what[0] == "scene"]
    assert offered == [0, 1, 0, 1]  # Dropped again, it keeps its first demonstration.
    length = frames_of(run)
    again = begun(tmp_path / "run")  # Another session: the first take is in the dataset by now.
    script = Script((hands[1], ["save"]), (IDLE, ["finish"]))
    again.carry_out(script, script)  # type: ignore[arg-type]
    third = begun(tmp_path / "run")
    third.takes.write(0, slower(hand))  # A second take whose save was killed.
    script = Script((IDLE, ["finish"]))
    third.carry_out(script, script)  # type: ignore[arg-type]
    reader = DatasetReader(third.run.dataset)
    assert len(reader.episodes) == 2
    assert reader.episodes[0].length >= length
    assert third.receipts[0].take == 2
    assert sorted(file.name for file in (tmp_path / "run" / "inputs").iterdir()) == [
        "episode_000000.jsonl",
        "episode_000000_take_2.jsonl",
        "episode_000001.jsonl",
    ]
    assert [found.verdict for found in verify_dataset(third.run.dataset, InlineExecutor())] == ["exact"] * 2
