"""A policy drives, a person corrects: nothing jumps, corrections are marked, and everything replays."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from expert_hand import expert_record
from test_teleop_run import SEED, Script, task_of

from handloom.dataset import DatasetReader
from handloom.engine import InlineExecutor, RunDirectory, RunSettings, verify_dataset
from handloom.engine.policy.policies import policy_factory, policy_source
from handloom.engine.sources import TELEOP
from handloom.episode.policy_source import PolicySource
from handloom.retarget import ControllerSnapshot, DeviceFrame, DeviceRecording
from handloom.teleop.keeping import teleop_run
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.session.operator_source import RecordedInput

RECORD = {}


class ExpertAgain:
    """A policy that asks for what the expert asked for in this very scene, frame after frame."""

    actions = "controls"
    cameras = ()

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        self.frame = 0

    def act(self, observation) -> np.ndarray:
        asked = RECORD["expert"].asked
        action = asked[min(self.frame, len(asked) - 1)]
        self.frame += 1
        return action


def begun(folder: Path) -> TeleopRun:
    task = task_of()
    settings = RunSettings.of_task(
        task, seed=SEED, source=TELEOP, unit_size=1, render="none", columns=("canonical", "intervention")
    )
    return TeleopRun(RunDirectory.begin(folder, settings), task, policy="policy=corrections")


@pytest.fixture(autouse=True)
def _policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teleop_run, "policy_factory", lambda name: partial(PolicySource, policy=ExpertAgain()))
    RECORD.setdefault("expert", expert_record(task_of(), SEED, 0))


def person(corrects: range, ticks: int = 1800) -> DeviceRecording:
    """Return what the devices of a person say who takes over in some ticks and moves the hand up and back."""
    frames = []
    for tick in range(ticks):
        held = tick in corrects
        up = 0.02 * np.sin(np.pi * (tick - corrects.start) / len(corrects)) if held else 0.0
        hand = ControllerSnapshot(
            grip_position=(0.0, 1.0 + up, 0.0), grip_orientation=(0, 0, 0, 1), grip_is_valid=True, squeeze_value=held
        )
        frames.append(DeviceFrame(time_ns=round(tick * 1e9 / 60), controller_right=hand))
    return DeviceRecording(frames=tuple(frames), end_time_ns=10**12)


def test_a_policy_drives_a_person_corrects_and_the_episode_says_where(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    script = Script((person(range(20, 60)), ["save"]), (person(range(0, 0), 4), ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert ("outcome", True) in script.told
    reader = DatasetReader(run.run.dataset)
    marked = np.array(reader.rows(0)["annotation.intervention"].to_pylist()).ravel()
    assert marked[10:29].all()
    assert not marked[:9].any()
    assert not marked[31:].any()
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    # The take holds what the policy asked for, so that it is carried out again without the policy.
    recording = DeviceRecording.read(tmp_path / "run" / "inputs" / "episode_000000.jsonl")
    assert recording.facts["corrects"] is True
    plain = replace(begun(tmp_path / "again"), policy="")
    again = plain.replay(recording)
    plain.merge()
    hashes = [DatasetReader(r.run.dataset).episodes[0].columns["state_hash"] for r in (run, plain)]
    assert hashes[0] == hashes[1]
    assert again.success


def test_taking_over_and_handing_back_never_exceed_the_speed_of_the_joints(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    seen: list[np.ndarray] = []
    scene = run.scene_of(0)
    assert scene is not None
    frames = person(range(0, 0)).frames
    rng = np.random.default_rng(8)
    hands = []
    for k, frame in enumerate(frames[:600]):
        held = (k // 25) % 2 == 1
        position = np.array([0.0, 1.0, 0.0]) + rng.uniform(-0.3, 0.3, 3) * held
        hand = replace(frame.controller_right, grip_position=position, squeeze_value=float(held))
        hands.append(replace(frame, controller_right=hand))
    operator = RecordedInput(DeviceRecording(frames=tuple(hands), end_time_ns=10**12))
    run.attempt(scene, operator, lambda source, frame: seen.append(source.scene.world.data.ctrl.copy()))
    arm = scene.robots[next(iter(scene.robots))].arms[0]
    steps = np.abs(np.diff([ctrl[arm.ctrl_index] for ctrl in seen], axis=0))
    assert len(seen) > 150
    assert np.all(steps <= arm.spec.speed_limit / scene.instance.fps * (1 + 1e-9))
    assert steps.max() > 0.01


def test_an_object_that_the_policy_holds_is_not_dropped_by_an_open_hand_that_takes_over(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    scene = run.scene_of(0)
    assert scene is not None
    closed: list[float] = []
    expert = RECORD["expert"]
    arm = scene.robots[next(iter(scene.robots))].arms[0]
    grips = expert.applied[:, arm.gripper_ctrl_index[0]]
    grasp = int(np.flatnonzero(grips == arm.spec.gripper_closed[0])[0]) + 15
    operator = RecordedInput(person(range(2 * grasp, 2 * grasp + 40), 2 * grasp + 40))
    run.attempt(scene, operator, lambda source, frame: closed.append(source.robot.arms[0].closedness))
    assert closed[-1] == 1.0


def reaching_network(file: Path) -> Path:
    """Write a network that turns every joint by 0.01 rad from where it is, and keeps the gripper open."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    step = helper.make_tensor("step", kind, [8], [*7 * [0.01], 0.0])
    graph = helper.make_graph(
        [helper.make_node("Add", ["observation.state", "step"], ["action"])],
        "reaching",
        [helper.make_tensor_value_info("observation.state", kind, [1, 8])],
        [helper.make_tensor_value_info("action", kind, None)],
        [step],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"actions": "joint"})
    onnx.save(model, file)
    return file


def test_a_network_in_a_file_drives_is_corrected_and_replays_without_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teleop_run, "policy_factory", policy_factory)
    file = reaching_network(tmp_path / "policy.onnx")
    task = task_of()
    settings = RunSettings.of_task(
        task, seed=SEED, source=TELEOP, unit_size=1, render="none", columns=("canonical", "intervention"),
        keep_failures=True,
    )  # fmt: skip
    run = TeleopRun(RunDirectory.begin(tmp_path / "run", settings), task, policy=policy_source(str(file)))
    script = Script((person(range(40, 80), 120), ["save"]), (person(range(0, 0), 4), ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    file.unlink()
    reader = DatasetReader(run.run.failures)
    marked = np.array(reader.rows(0)["annotation.intervention"].to_pylist()).ravel()
    spans = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    assert len(spans) == 2
    assert spans[1] - spans[0] == pytest.approx(20, abs=1)
    moved = np.array(reader.rows(0)["observation.state"].to_pylist())
    assert abs(moved[15, 0] - moved[0, 0]) > 0.05  # The network drove.
    assert [found.verdict for found in verify_dataset(run.run.failures, InlineExecutor())] == ["exact"]
    plain = TeleopRun(RunDirectory.begin(tmp_path / "again", settings), task)
    plain.replay(DeviceRecording.read(tmp_path / "run" / "inputs" / "episode_000000.jsonl"))
    plain.merge()
    hashes = [DatasetReader(r.run.failures).episodes[0].columns["state_hash"] for r in (run, plain)]
    assert hashes[0] == hashes[1]
