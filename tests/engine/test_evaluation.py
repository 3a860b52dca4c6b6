"""Policies judged on unseen scenes."""

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from handloom.cli.main import main
from handloom.engine.policy.evaluation import evaluation_of, wilson
from handloom.engine.policy.policies import OnnxPolicy, policy_source
from handloom.engine.runs.journal import Receipt
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


def evaluate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0
) -> dict:
    monkeypatch.chdir(tmp_path)
    options = ["--executor", "inline", "-o", str(tmp_path / "result"), "--json"]
    assert main(["evaluate", "fr3_pick_cube", *words, *options]) == code
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
    words = ("--policy", "wrong_policy:Wrong", "-n", "2", "--videos", "0")
    found = evaluate(tmp_path, monkeypatch, capsys, *words, code=1)  # Every scene ended in a fault of the policy.
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


def write_policy(file: Path, *, nodes: list | None = None, shape: list | None = None, **said: str) -> Path:
    """Write a network that returns its state, or what the given nodes make of it."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes or [helper.make_node("Identity", ["observation.state"], ["action"])],
        "hold",
        [helper.make_tensor_value_info("observation.state", kind, shape or [1, 8])],
        [helper.make_tensor_value_info("action", kind, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, said)
    onnx.save(model, file)
    return file


def test_an_onnx_file_is_a_policy(tmp_path: Path) -> None:
    policy = OnnxPolicy(write_policy(tmp_path / "hold.onnx", actions="joint", frames_per_action="3"))
    assert (policy.actions, policy.frames_per_action, policy.cameras, policy.objects) == ("joint", 3, (), False)
    state = np.arange(8, dtype=np.float32)
    assert np.array_equal(policy.act({"observation.state": state}), state)
    with pytest.raises(InputError, match="not available"):
        policy.act({"observation.other": state})
    (tmp_path / "no.onnx").write_bytes(b"nothing")
    with pytest.raises(FileError, match="ONNX"):
        OnnxPolicy(tmp_path / "no.onnx")


@pytest.mark.parametrize("frames", ["three", "0", "-1", "1e9", "9" * 5000, "³", ""])
def test_metadata_that_is_no_number_is_named(tmp_path: Path, frames: str) -> None:
    with pytest.raises(FileError, match=r"p.onnx: metadata 'frames_per_action': must be a whole number from 1 to 1000"):
        OnnxPolicy(write_policy(tmp_path / "p.onnx", frames_per_action=frames))


def made(op: str, *inputs: str, output: str = "action", **attributes) -> onnx.NodeProto:
    return onnx.helper.make_node(op, list(inputs), [output], **attributes)


def constant(name: str, values: np.ndarray) -> onnx.NodeProto:
    return made("Constant", output=name, value=onnx.numpy_helper.from_array(values))


BROKEN = {
    "another shape of the state": ({"shape": [1, 14]}, "cannot be run on the observations"),
    "a scalar": ({"nodes": [made("ReduceSum", "observation.state", keepdims=0)]}, r"but has shape \(\)"),
    "text": ({"nodes": [made("Cast", "observation.state", to=onnx.TensorProto.STRING)]}, "cannot be read as ONNX"),
    "too few joints": (
        {"nodes": [constant("axis", np.array([1])), made("ReduceSum", "observation.state", "axis")]},
        "an action .* has 8",
    ),
    "a failing node": (
        {"nodes": [constant("shape", np.array([3, 5])), made("Reshape", "observation.state", "shape")]},
        "cannot be run on the observations",
    ),
    "unknown actions": ({"actions": "wishes"}, "wishes"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_network_stops_before_the_first_scene(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    changes, message = BROKEN[kind]
    write_policy(tmp_path / "p.onnx", **changes)
    words = ["evaluate", "fr3_pick_cube", "--policy", "p.onnx", "-n", "2", "--executor", "inline", "-o", "result"]
    assert main(words) == 2
    said = capsys.readouterr()
    assert re.search(message, said.err), said.err
    assert "success" not in said.out
    assert not (tmp_path / "result").exists()


FAULTY = """
class Faulty:
    cameras = ()

    def reset(self, instruction, rng):
        pass

    def act(self, observation):
        return [][0]
"""


def test_scenes_that_all_end_with_a_fault_are_no_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faulty_policy.py").write_text(FAULTY)
    words = ["evaluate", "fr3_pick_cube", "--policy", "faulty_policy:Faulty", "-n", "2", "--executor", "inline"]
    assert main([*words, "-o", "result", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["faults"] == 2
    assert re.search("2 of 2 scenes ended in an error, .*IndexError.*faulty_policy.py:9", said.err), said.err


@pytest.mark.parametrize("place", ["../secret.bin", "ABSOLUTE", "link.bin"])
@pytest.mark.parametrize("where", ["initializer", "attribute"])
def test_weights_outside_the_folder_are_not_read(tmp_path: Path, place: str, where: str) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(np.arange(8, dtype=np.float32).tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(secret)
    weights = onnx.TensorProto(name="weights", data_type=onnx.TensorProto.FLOAT, dims=[1, 8])
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value=str(secret) if place == "ABSOLUTE" else place)
    model = onnx.load(write_policy(folder / "p.onnx", nodes=[made("Add", "observation.state", "weights")]))
    if where == "initializer":
        model.graph.initializer.append(weights)
    else:
        model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["weights"]))
        model.graph.node[0].attribute.add(name="value", type=onnx.AttributeProto.TENSOR, t=weights)
    onnx.save(model, folder / "p.onnx")
    with pytest.raises(FileError, match=r"weights 'weights': the file .* lies outside the folder of the model"):
        OnnxPolicy(folder / "p.onnx")


def test_weights_in_a_file_beside_the_model_are_read(tmp_path: Path) -> None:
    model = onnx.load(write_policy(tmp_path / "p.onnx", nodes=[made("Add", "observation.state", "weights")]))
    weights = np.arange(8, dtype=np.float32)[None]
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "weights"))
    onnx.save(model, tmp_path / "p.onnx", save_as_external_data=True, location="p.bin", size_threshold=0)
    state = np.ones(8, dtype=np.float32)
    assert np.array_equal(OnnxPolicy(tmp_path / "p.onnx").act({"observation.state": state}), weights[0] + 1)
