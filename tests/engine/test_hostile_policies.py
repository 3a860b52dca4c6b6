"""Checkpoints and networks that anybody may have made: read or refused with a message; no code runs, nothing leaks."""

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from handloom.engine.policy import policies
from handloom.engine.policy.policies import OnnxPolicy, policy_source
from handloom.errors import HandloomError, InputError
from handloom.isaac.policy import load_network

CASES = int(os.environ.get("HANDLOOM_HOSTILE", "300"))
"""How many files are tried of each kind; 5,000 of each were, once."""
STATE = np.ones(8, np.float32)


def network_bytes(*inputs: str) -> bytes:
    """Return a small network with weights, a metadata entry and a node that has an attribute."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    weights = onnx.numpy_helper.from_array(np.ones((8, 8), np.float32), "w")
    nodes = [
        helper.make_node("Gemm", [inputs[0], "w"], ["y"], transB=1),
        helper.make_node("Tanh", ["y"], ["action"]),
    ]
    shapes = {name: [1, 4 if name == "noise" else 8] for name in inputs}
    given = [helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()]
    given_back = [helper.make_tensor_value_info("action", kind, [1, 8])]
    model = helper.make_model(
        helper.make_graph(nodes, "g", given, given_back, [weights]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    helper.set_model_props(model, {"frames_per_action": "2", "actions": "joint"})
    return model.SerializeToString()


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return bytes with some changed, left out or put in."""
    raw = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        place, length = rng.randrange(len(raw) + 1), rng.randrange(1, 12)
        new = bytes(rng.randrange(256) for _ in range(length))
        what = rng.randrange(3)
        raw[place : place + (0 if what == 0 else length)] = b"" if what == 1 else new
    return bytes(raw)


def policy_of(file: Path) -> None:
    policy = OnnxPolicy(file)
    policy.reset("words", np.random.default_rng(0))
    policy.act({"observation.state": STATE})


def walking_network(file: Path) -> None:
    load_network(file, inputs=8, layout="a 8 = 8", outputs=8)(STATE.astype(float))


@pytest.mark.parametrize(("use", "inputs"), [(policy_of, ("observation.state", "noise")), (walking_network, ("obs",))])
def test_damaged_networks_are_read_or_refused(
    use: Callable[[Path], None], inputs: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, whole, file = random.Random(7), network_bytes(*inputs), tmp_path / "p.onnx"
    file.write_bytes(whole)
    use(file)
    refused: list[str] = []
    for _ in range(CASES):
        file.write_bytes(damaged(whole, rng))
        try:
            use(file)
        except HandloomError as error:
            refused.append(str(error))
    assert len(refused) > CASES // 3
    assert not any("\n" in message for message in refused)
    assert capsys.readouterr().out == ""


ODD: tuple[Any, ...] = (
    None, True, -1, 1e308, "", "x" * 1000, "../../etc/passwd", "/etc/passwd", [], {}, [[]], {"a": {}}, "os.system",
    {"class": "subprocess.Popen", "config": {"args": ["touch", "CANARY"]}}, [{"class": "builtins.exec"}],
)  # fmt: skip
"""What is put in place of a value."""


def mutated(value: Any, rng: random.Random) -> Any:
    """Return JSON values with one of them replaced, left out or added."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.15:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [mutated(item, rng) if k == place else item for k, item in enumerate(value)]
    return rng.choice(ODD)


def test_hostile_checkpoints_are_taken_or_refused_before_anything_of_theirs_runs(tmp_path: Path) -> None:
    rng, folder, canary = random.Random(11), tmp_path / "pretrained_model", tmp_path / "CANARY"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    steps = [
        {"registry_name": "rename_observations_processor", "config": {"rename_map": {"a": "b"}}},
        {"registry_name": "normalizer_processor", "config": {"eps": 1e-8}, "state_file": "norm.safetensors"},
    ]
    files = {
        "config.json": {"type": "act", "output_features": {"action": {"type": "ACTION", "shape": [8]}}},
        "policy_preprocessor.json": {"name": "policy_preprocessor", "steps": steps},
        "policy_postprocessor.json": {"name": "policy_postprocessor", "steps": steps[1:]},
    }
    outcomes = {True: 0, False: 0}
    for _ in range(CASES):
        chosen = rng.choice(list(files))
        for name, content in files.items():
            values = mutated(content, rng) if name == chosen else content
            raw = json.dumps(values).replace("CANARY", str(canary)).encode()
            (folder / name).write_bytes(damaged(raw, rng) if name == chosen and rng.random() < 0.2 else raw)
        try:
            taken = bool(policy_source(str(folder), python=Path(sys.executable)))
        except HandloomError:
            taken = False
        else:
            for name in list(files)[1:]:
                for step in json.loads((folder / name).read_bytes()).get("steps", []):
                    assert "registry_name" in step, step  # What else is there LeRobot would import and call.
        outcomes[taken] += 1
    assert not canary.exists()
    assert min(outcomes.values()) > CASES // 20, outcomes


def test_a_network_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper, kind = onnx.helper, onnx.TensorProto
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["still"]),
            helper.make_node("Add", ["old", "one"], ["new"]),
        ],
        "body",
        [value("i", kind.INT64, []), value("go", kind.BOOL, []), value("old", kind.FLOAT, [1, 8])],
        [value("still", kind.BOOL, []), value("new", kind.FLOAT, [1, 8])],
        [onnx.numpy_helper.from_array(np.ones((1, 8), np.float32), "one")],
    )
    initial = {"many": np.array(2**62), "true": np.array(True)}
    graph = helper.make_graph(
        [helper.make_node("Loop", ["many", "true", "observation.state"], ["action"], body=body)],
        "bomb",
        [value("observation.state", kind.FLOAT, [1, 8])],
        [value("action", kind.FLOAT, [1, 8])],
        [onnx.numpy_helper.from_array(array, name) for name, array in initial.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "p.onnx")
    monkeypatch.setattr(policies, "LONGEST", 1.0)
    with pytest.raises(InputError, match="cannot be run on the observations"):
        policy_of(tmp_path / "p.onnx")
