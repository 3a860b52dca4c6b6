"""Small ONNX files for tests."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def write_linear(file: Path, weight: np.ndarray, bias: np.ndarray, *, inputs: tuple[str, ...] = ("obs",)) -> Path:
    """Write ``actions = obs @ weight.T + bias``; further inputs are added to the bias and to nothing else."""
    outputs, size = weight.shape
    initializers = [
        numpy_helper.from_array(weight.astype(np.float32), "layer.weight"),
        numpy_helper.from_array(bias.astype(np.float32), "layer.bias"),
    ]
    nodes = [helper.make_node("Gemm", ["obs", "layer.weight", "layer.bias"], ["y"], transB=1)]
    last = "y"
    for name in inputs[1:]:
        nodes.append(helper.make_node("Add", [last, name], [f"{last}_{name}"]))
        last = f"{last}_{name}"
    nodes.append(helper.make_node("Identity", [last], ["actions"]))
    shapes = {"obs": [1, size]} | {name: [1, outputs] for name in inputs[1:]}
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, outputs])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, str(file))
    return file
