"""Policies by name: a class of the user's own, an ONNX file, or a LeRobot checkpoint."""

import hashlib
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.config import import_named
from handloom.engine.lerobot_policy import LeRobotPolicy, checkpoint_digest, checkpoint_folder
from handloom.episode.policy_source import OPTIONS, Observation, PolicySource, TrainedPolicy
from handloom.errors import FileError, InputError, require

PREFIX = "policy="
"""How the name of a source begins that is a policy."""
OWN = "my_module:MyPolicy"


def policy_source(policy: str, weights: Path | None = None) -> str:
    """Return the name of the source that runs a policy, as a run's manifest keeps it; files are named by content, too.

    Args:
        policy: ``my_module:MyPolicy``, an ONNX file, or the folder of a LeRobot checkpoint.
        weights: File that the class is given as its only argument.
    """
    is_file, is_folder = policy.endswith(".onnx"), Path(policy).is_dir()
    if (is_file or is_folder) and weights is not None:
        raise InputError("--weights is for a policy of your own; ONNX files and checkpoints have their weights inside")
    if is_folder:
        folder = checkpoint_folder(Path(policy)).resolve()
        require("lerobot", extra="lerobot")
        return f"{PREFIX}lerobot|{folder}|{checkpoint_digest(folder)[:16]}"
    if not is_file and ":" not in policy:
        raise InputError(
            f"a policy is an ONNX file, the folder of a LeRobot checkpoint or written {OWN}, got {policy!r}"
        )
    file = Path(policy) if is_file else weights
    if file is None:
        return PREFIX + policy
    if not file.is_file():
        raise FileError(f"{file}: there is no such file of weights")
    content = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return f"{PREFIX}{'onnx' if is_file else policy}|{file.resolve()}|{content}"


def policy_factory(source: str) -> Any:
    """Return what makes the sources of a run that a policy drives."""
    return partial(PolicySource, policy=_loaded(source))


@cache
def _loaded(source: str) -> TrainedPolicy:
    """Load a policy once per worker."""
    name, _, rest = source.removeprefix(PREFIX).partition("|")
    file = rest.partition("|")[0]
    if name == "onnx":
        return OnnxPolicy(Path(file))
    if name == "lerobot":
        return LeRobotPolicy(Path(file))
    made = import_named("policy", name, {}, own=OWN)
    try:
        return made(file) if file else made()
    except TypeError as error:
        hint = "" if file else "; does it need a file? give it with --weights"
        raise InputError(f"policy {name!r} cannot be made: {error}{hint}") from error


class OnnxPolicy:
    """A network whose inputs have the names of observations and whose first output is an action or a chunk of them.

    Columns go in as (1, n) float32, pictures as (1, h, w, 3) uint8; an input named ``noise`` gets normal numbers. The
    options of a policy (``actions``, ``frames_per_action`` ...) are read from the model's metadata.

    Args:
        file: The ONNX file.
    """

    def __init__(self, file: Path) -> None:
        runtime = require("onnxruntime", extra="policy")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            self._session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise FileError(f"{file} is no ONNX model that can be run: {error}") from error
        said = self._session.get_modelmeta().custom_metadata_map
        self._inputs = {node.name: node.shape for node in self._session.get_inputs()}
        seen = [name for name in self._inputs if name != "noise"]
        self.actions = said.get("actions", OPTIONS["actions"])
        self.frames_per_action = int(said.get("frames_per_action", 1))
        pictures = [name for name in seen if name.startswith("observation.images.")]
        self.cameras = tuple(name.removeprefix("observation.images.") for name in pictures)
        self.size = tuple(self._inputs[pictures[0]][2:0:-1]) if pictures else None
        self.objects = any(name.startswith("observation.objects.") for name in seen)
        self._rng = np.random.default_rng(0)

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self._rng = rng

    def act(self, observation: Observation) -> Array:
        """Return the first output without its batch axis."""
        given = {}
        for name, shape in self._inputs.items():
            if name == "noise":
                given[name] = self._rng.standard_normal(shape).astype(np.float32)
            elif name in observation:
                given[name] = observation[name][None]
            else:
                known = ", ".join(observation)
                raise InputError(f"the policy wants an input {name!r}, which is not observed; observed are {known}")
        return np.asarray(self._session.run(None, given)[0])[0]
