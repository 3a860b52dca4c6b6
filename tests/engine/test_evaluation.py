"""Policies judged on unseen scenes."""

import json
from pathlib import Path

import numpy as np
import pytest

from handloom.cli.main import main
from handloom.engine.evaluation import evaluation_of, wilson
from handloom.engine.journal import Receipt
from handloom.engine.policies import policy_source
from handloom.errors import FileError, InputError
from handloom.seeding import TEST_SEEDS

STILL = """
import numpy as np

class Still:
    cameras = ()

    def __init__(self, weights=None):
        self.weights = weights

    def reset(self, instruction, rng):
        assert instruction

    def act(self, observation):
        state = observation["observation.state"].astype(float)
        return np.r_[state[:-1], 1.0]
"""

EXPERT = """
import numpy as np

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import episode_columns
from handloom.scene import build_scene
from handloom.seeding import TEST_SEEDS
from handloom.tasks import load_task

class Expert:
    '''Plays the expert's actions of each scene, which only a test can know.'''

    cameras = ()
    episode = -1

    def reset(self, instruction, rng):
        type(self).episode += 1
        record = simulate(load_task("fr3_pick_cube"), TEST_SEEDS, self.episode, Stopwatch())[1]
        self.actions = list(episode_columns(build_scene(record.instance), record).values["action"])

    def act(self, observation):
        return self.actions.pop(0) if len(self.actions) > 1 else self.actions[0]
"""


def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    monkeypatch.chdir(tmp_path)
    options = ["--executor", "inline", "-o", str(tmp_path / "result"), "--json"]
    assert main(["evaluate", "fr3_pick_cube", *words, *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_policy_that_stands_still_succeeds_nowhere_and_leaves_a_video(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "still_policy.py").write_text(STILL)
    short = ["--set", "data.max_episode_length=20", "cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]"]
    found = evaluate(
        tmp_path, monkeypatch, capsys, "--policy", "still_policy:Still", "-n", "2", "--videos", "1", *short
    )
    assert found["successes"] == 0
    assert found["scenes"] == 2
    assert found["seed"] == TEST_SEEDS
    assert found["failure_reasons"] == {"pick_not_in_hand": 2}
    assert Path(found["videos"][0]).stat().st_size > 500
    assert Path(found["page"]).is_file()
    assert json.loads((tmp_path / "result" / "evaluation.json").read_text())["failed_episodes"] == [0, 1]
    assert main(["verify", str(tmp_path / "result" / "failures"), "--workers", "0"]) == 0


WRONG = (
    STILL.replace("Still", "Wrong")
    + """
    calls = 0

    def act(self, observation):
        type(self).calls += 1
        if self.calls % 3:
            return np.r_[observation["observation.state"][:-1], 1.0]
        return np.full(8, np.nan) if self.calls == 3 else np.zeros(5)
"""
)


def test_a_policy_that_returns_nan_fails_its_scene_and_not_the_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong_policy.py").write_text(WRONG)
    found = evaluate(tmp_path, monkeypatch, capsys, "--policy", "wrong_policy:Wrong", "-n", "2", "--videos", "0")
    assert found["failure_reasons"] == {"action_not_finite": 1, "input_error": 1}


def test_the_actions_of_an_expert_succeed_as_a_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "expert_policy.py").write_text(EXPERT)
    found = evaluate(tmp_path, monkeypatch, capsys, "--policy", "expert_policy:Expert", "-n", "1")
    assert found["successes"] == 1
    assert found["achieved"] == {"pick": 1}
    assert main(["verify", str(tmp_path / "result"), "--workers", "0"]) == 0


def test_a_policy_is_named_by_the_content_of_its_weights(tmp_path: Path) -> None:
    weights = tmp_path / "a.pt"
    weights.write_bytes(b"first")
    before = policy_source("model:Trained", weights)
    weights.write_bytes(b"second")
    assert policy_source("model:Trained", weights) != before


def test_a_policy_that_is_no_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="my_module:MyPolicy"):
        policy_source("model")
    with pytest.raises(FileError, match="no such file"):
        policy_source("model:Trained", tmp_path / "missing.pt")
    with pytest.raises(FileError, match="no such file"):
        policy_source(str(tmp_path / "missing.onnx"))


def test_a_missing_module_ends_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "fr3_pick_cube", "--policy", "nowhere:Policy", "-n", "1"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_wilsons_interval_agrees_with_published_values() -> None:
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)


def test_receipts_add_up() -> None:
    receipts = [
        Receipt(episode=0, success=True, frames=90, fps=30, skills={"pick": 1.0, "place": 2.0}),
        Receipt(episode=1, success=False, reason="place_not_released", frames=600, skills={"pick": 1.5}),
        Receipt(episode=2, success=False, reason="pick_not_grasped", frames=600),
    ]
    found = evaluation_of(receipts, seed=7)
    assert found.success_rate == pytest.approx(1 / 3)
    assert found.achieved == {"pick": 2, "place": 1}
    assert found.failed_episodes == (1, 2)
    assert found.mean_seconds == 3.0


def test_an_onnx_file_is_a_policy(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from handloom.engine.policies import OnnxPolicy

    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    node = helper.make_node("Identity", ["observation.state"], ["action"])
    graph = helper.make_graph(
        [node],
        "hold",
        [helper.make_tensor_value_info("observation.state", kind, [1, 8])],
        [helper.make_tensor_value_info("action", kind, [1, 8])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"actions": "joint", "frames_per_action": "3"})
    onnx.save(model, tmp_path / "hold.onnx")
    policy = OnnxPolicy(tmp_path / "hold.onnx")
    assert (policy.actions, policy.frames_per_action, policy.cameras, policy.objects) == ("joint", 3, (), False)
    state = np.arange(8, dtype=np.float32)
    assert np.array_equal(policy.act({"observation.state": state}), state)
    with pytest.raises(InputError, match="not observed"):
        policy.act({"observation.other": state})
    (tmp_path / "no.onnx").write_bytes(b"nothing")
    with pytest.raises(FileError, match="ONNX"):
        OnnxPolicy(tmp_path / "no.onnx")
