"""Policy networks from files: ONNX, and TorchScript where torch is installed."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError, FileError, require
from handloom.onnx_file import first_line, open_onnx


class Network(Protocol):
    """A network that turns an observation (k,) into an action (n,)."""

    inputs: int
    """k"""
    outputs: int
    """n"""

    def __call__(self, observation: Array) -> Array:
        """Return the raw action (n,)."""
        ...


def load_network(file: str | Path, *, inputs: int, layout: str, outputs: int) -> Network:
    """Load a network and check that it fits.

    Args:
        file: ``.onnx``, or ``.pt``, ``.pth`` or ``.jit`` (TorchScript).
        inputs: Length of the observation.
        layout: Description of the observation, for messages.
        outputs: Number of joints it drives.

    Raises:
        FileError: There is no such file, or it cannot be read.
        ConfigError: Weights are not finite, an input is not provided, or a length is wrong; the message names it.
        MissingExtraError: The package for this file type is not installed.
    """
    path = Path(file)
    if not path.is_file():
        raise FileError(f"{path}: no such policy file")
    kinds = {".onnx": OnnxNetwork, ".pt": TorchScriptNetwork, ".pth": TorchScriptNetwork, ".jit": TorchScriptNetwork}
    if path.suffix not in kinds:
        raise FileError(f"{path}: a policy file ends in {', '.join(kinds)}")
    return kinds[path.suffix](path, inputs, layout, outputs)


class OnnxNetwork:
    """A network from an ONNX file, run on one core."""

    def __init__(self, path: Path, inputs: int, layout: str, outputs: int) -> None:
        onnx = require("onnx", extra="policy")
        self.inputs, self.outputs = inputs, outputs
        model, self._session, _ = open_onnx(path)
        onnx.load_external_data_for_model(model, str(path.parent))
        _refuse_wild_weights(path, {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer})
        taken = self._session.get_inputs()
        if len(taken) != 1:
            names = ", ".join(repr(node.name) for node in taken)
            raise ConfigError(f"{path}: the network has the inputs {names}; only one, the observation, is provided")
        self._name = taken[0].name
        width = taken[0].shape[-1]
        if isinstance(width, int) and width != inputs:
            raise ConfigError(_misfit(path, f"input {self._name!r} takes {width}", layout))
        self._run = self._session.run
        self._wanted = [self._session.get_outputs()[0].name]
        self._flat = len(taken[0].shape) == 1
        found = self._try(path, layout)
        if found.shape != (outputs,):
            name = self._wanted[0]
            raise ConfigError(f"{path}: output {name!r} has {found.size} numbers, the robot has {outputs} joints")

    def __call__(self, observation: Array) -> Array:
        """Return the raw action (n,)."""
        row = observation.astype(np.float32)
        (action,) = self._run(self._wanted, {self._name: row if self._flat else row[None]})
        return action.reshape(-1).astype(np.float64)

    def _try(self, path: Path, layout: str) -> Array:
        try:
            return self(np.zeros(self.inputs))
        except Exception as error:
            raise ConfigError(_misfit(path, f"input {self._name!r} does not take {self.inputs}", layout)) from error


class TorchScriptNetwork:
    """A network from a TorchScript file, run on one core."""

    def __init__(self, path: Path, inputs: int, layout: str, outputs: int) -> None:
        self._torch: Any = require("torch", extra="policy")
        self.inputs, self.outputs = inputs, outputs
        try:
            with warnings.catch_warnings():
                # torch deprecates this format, but published policies use it.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._module = self._torch.jit.load(str(path), map_location="cpu").eval()
        except Exception as error:
            raise FileError(f"{path}: cannot be read as TorchScript: {first_line(error)}") from error
        state = self._module.state_dict()
        _refuse_wild_weights(path, {name: tensor.numpy() for name, tensor in state.items()})
        taken = [argument.name for argument in self._module.forward.schema.arguments[1:]]
        if len(taken) != 1:
            names = ", ".join(repr(name) for name in taken)
            raise ConfigError(f"{path}: the network has the inputs {names}; only one, the observation, is provided")
        try:
            found = self(np.zeros(inputs))
        except RuntimeError as error:
            raise ConfigError(_misfit(path, f"input {taken[0]!r} does not take {inputs}", layout)) from error
        if found.shape != (outputs,):
            raise ConfigError(f"{path}: the output has {found.size} numbers, the robot has {outputs} joints")

    def __call__(self, observation: Array) -> Array:
        """Return the raw action (n,)."""
        torch = self._torch
        with torch.inference_mode():
            action = self._module(torch.from_numpy(observation.astype(np.float32))[None])
        return action.numpy().reshape(-1).astype(np.float64)


def _refuse_wild_weights(path: Path, weights: Mapping[str, NDArray[Any]]) -> None:
    for name, values in weights.items():
        if np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
            wild = int(np.sum(~np.isfinite(values)))
            raise ConfigError(f"{path}: weights {name!r}: {wild} of {values.size} values are NaN or infinite")


def _misfit(path: Path, what: str, layout: str) -> str:
    return f"{path}: {what} numbers, but the observation has {layout}"
