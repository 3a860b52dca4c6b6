"""Networks from files: the same numbers, and a clear word when a file does not fit."""

from pathlib import Path

import numpy as np
import pytest
from tests.isaac.policy.onnx_files import write_linear

from handloom.errors import ConfigError, FileError
from handloom.isaac.policy import load_network

WEIGHT, BIAS = np.arange(6.0).reshape(2, 3), np.array([1.0, -1.0])
SIZES = {"inputs": 3, "layout": "a 1 + b 2 = 3", "outputs": 2}


def test_an_onnx_network_computes_what_its_weights_say(tmp_path: Path) -> None:
    network = load_network(write_linear(tmp_path / "p.onnx", WEIGHT, BIAS), **SIZES)
    seen = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(network(seen), WEIGHT @ seen + BIAS, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_a_torchscript_network_computes_what_its_weights_say(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight[:] = torch.from_numpy(WEIGHT)
        layer.bias[:] = torch.from_numpy(BIAS)
    torch.jit.save(torch.jit.trace(layer, torch.zeros(1, 3)), str(tmp_path / "p.pt"))
    network = load_network(tmp_path / "p.pt", **SIZES)
    seen = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(network(seen), WEIGHT @ seen + BIAS, rtol=1e-6)
    with pytest.raises(ConfigError, match="does not take 4 numbers, but the observation has a 4 = 4"):
        load_network(tmp_path / "p.pt", inputs=4, layout="a 4 = 4", outputs=2)
    with torch.no_grad():
        layer.bias[0] = float("nan")
    torch.jit.save(torch.jit.trace(layer, torch.zeros(1, 3), check_trace=False), str(tmp_path / "n.pt"))
    with pytest.raises(ConfigError, match="weights 'bias': 1 of 2 values are NaN or infinite"):
        load_network(tmp_path / "n.pt", **SIZES)


def test_weights_that_are_not_finite_are_named(tmp_path: Path) -> None:
    wild = WEIGHT.copy()
    wild[1, 2] = np.nan
    with pytest.raises(ConfigError, match=r"p.onnx: weights 'layer.weight': 1 of 6 values are NaN or infinite"):
        load_network(write_linear(tmp_path / "p.onnx", wild, BIAS), **SIZES)


def test_an_input_that_nothing_provides_is_named(tmp_path: Path) -> None:
    file = write_linear(tmp_path / "p.onnx", WEIGHT, BIAS, inputs=("obs", "hidden"))
    with pytest.raises(ConfigError, match="inputs 'obs', 'hidden'; only one, the observation"):
        load_network(file, **SIZES)


def test_a_network_for_another_layout_or_robot_is_refused(tmp_path: Path) -> None:
    file = write_linear(tmp_path / "p.onnx", WEIGHT, BIAS)
    with pytest.raises(ConfigError, match="input 'obs' takes 3 numbers, but the observation has a 1 = 1"):
        load_network(file, inputs=1, layout="a 1 = 1", outputs=2)
    with pytest.raises(ConfigError, match="output 'actions' has 2 numbers, the robot has 12 joints"):
        load_network(file, inputs=3, layout="a 3 = 3", outputs=12)


def test_files_that_are_no_networks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such policy file"):
        load_network(tmp_path / "p.onnx", **SIZES)
    (tmp_path / "p.onnx").write_text("nothing")
    with pytest.raises(FileError, match="cannot be read as ONNX"):
        load_network(tmp_path / "p.onnx", **SIZES)
    (tmp_path / "p.txt").write_text("nothing")
    with pytest.raises(FileError, match=r"a policy file ends in .onnx"):
        load_network(tmp_path / "p.txt", **SIZES)
