"""Policies by name: a user's own class, an ONNX file, or a LeRobot checkpoint."""

import hashlib
import math
import threading
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.config import import_named
from handloom.engine.policy.lerobot_checkpoint import checkpoint_digest, checkpoint_folder
from handloom.engine.policy.lerobot_policy import LeRobotPolicy, lerobot_python
from handloom.episode.columns import IMAGES
from handloom.episode.policy_source import OPTIONS, Observation, PolicySource, TrainedPolicy
from handloom.episode.takeover_source import TakeoverSource
from handloom.errors import FileError, InputError, require
from handloom.onnx_file import first_line, open_onnx
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.tasks import SamplingError, Task, sample_task, worded_skills

PREFIX = "policy="
"""Prefix of the name of a source that is a policy."""
TAKEOVER = "takeover="
"""Prefix of the name of a source in which the expert takes over from a policy; the policy's source name follows."""
OWN = "my_module:MyPolicy"
FILES = (f"{PREFIX}onnx|", f"{PREFIX}lerobot|")
"""Prefix of a source name if the policy is a file or folder."""
NOISE = "noise"
"""Network input that receives normally distributed numbers."""
MOST_FRAMES = 1000
"""Maximum number of frames that an action may last."""
MOST_NOISE = 10_000_000
LONGEST = 30.0
"""Time limit for the first action [s]."""
LOOKED_AT = 10
"""Number of scenes tried until one can be sampled."""


def policy_source(policy: str, weights: Path | None = None, python: Path | None = None) -> str:
    """Return the source name of a policy for a run's manifest; the name of a file includes its content hash.

    Args:
        policy: ``my_module:MyPolicy``, an ONNX file, or the folder of a LeRobot checkpoint.
        weights: File passed to the class as its only argument.
        python: Interpreter that runs LeRobot; None for this one.
    """
    is_file, is_folder = policy.endswith(".onnx"), Path(policy).is_dir()
    if (is_file or is_folder) and weights is not None:
        raise InputError(
            "--weights is for a policy class of your own; ONNX files and checkpoints contain their weights"
        )
    if python is not None and not is_folder:
        raise InputError(f"--policy-python is for the folder of a LeRobot checkpoint, the policy is {policy!r}")
    if is_folder:
        folder = checkpoint_folder(Path(policy)).resolve()
        return f"{PREFIX}lerobot|{folder}|{checkpoint_digest(folder)[:16]}|{lerobot_python(python)}"
    if not is_file and ":" not in policy:
        raise InputError(f"a policy is an ONNX file, the folder of a LeRobot checkpoint or {OWN}, got {policy!r}")
    file = Path(policy) if is_file else weights
    if file is None:
        return PREFIX + policy
    if not file.is_file():
        raise FileError(f"{file}: there is no such file of weights")
    content = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return f"{PREFIX}{'onnx' if is_file else policy}|{file.resolve()}|{content}"


def policy_factory(source: str) -> Any:
    """Return the factory of the sources of a run that a policy drives."""
    return partial(PolicySource, policy=_loaded(source))


def takeover_factory(source: str) -> Any:
    """Return the factory of the sources of a run in which the expert continues where a policy fails."""
    return partial(TakeoverSource, policy=_loaded(source.removeprefix(TAKEOVER)))


def try_policy(source: str, task: Task, seed: int) -> None:
    """Request the first action of a policy file, so that a policy that does not match the task stops before the run.

    User classes are left alone: they may count their calls.

    Raises:
        HandloomError: It cannot be run, or its action does not match this task.
    """
    if not source.startswith(FILES):
        return
    for episode in range(LOOKED_AT):
        try:
            instance = sample_task(task, seed, episode)
        except SamplingError:
            continue
        rng = generator(seed, episode, "skills", task=task.name)
        commands = policy_factory(source)(build_scene(instance), worded_skills(task, instance), rng)
        commands.next(0)
        return


@cache
def _loaded(source: str) -> TrainedPolicy:
    """Load a policy once per worker."""
    name, _, rest = source.removeprefix(PREFIX).partition("|")
    file, _, rest = rest.partition("|")
    if name == "onnx":
        return OnnxPolicy(Path(file))
    if name == "lerobot":
        return LeRobotPolicy(Path(file), python=Path(rest.partition("|")[2]))
    made = import_named("policy", name, {}, own=OWN)
    try:
        return made(file) if file else made()
    except TypeError as error:
        hint = "" if file else "; if it needs a file, pass it with --weights"
        raise InputError(f"policy {name!r} cannot be created: {error}{hint}") from error


class OnnxPolicy:
    """A network whose inputs are named after observations and whose first output is an action or a chunk of actions.

    Columns go in as (1, n) float32, images as (1, h, w, 3) uint8; an input named ``noise`` receives normally
    distributed numbers. The options of a policy (``actions``, ``frames_per_action`` ...) are read from the model's
    metadata.

    Args:
        file: The ONNX file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        _, self._session, said = open_onnx(file)
        self._inputs = {node.name: node.shape for node in self._session.get_inputs()}
        seen = [name for name in self._inputs if name != NOISE]
        self.actions = said.get("actions", OPTIONS["actions"])
        self.frames_per_action = self._count(said, "frames_per_action")
        pictures = [name for name in seen if name.startswith(IMAGES)]
        self.cameras = tuple(name.removeprefix(IMAGES) for name in pictures)
        self.size = {name.removeprefix(IMAGES): size for name in pictures if (size := self._picture_size(name))}
        self.objects = any(name.startswith("observation.objects.") for name in seen)
        self._noise = self._noise_shape()
        self._tried = False
        self._rng = np.random.default_rng(0)

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self._rng = rng

    def act(self, observation: Observation) -> Array:
        """Return the first output without its batch axis."""
        given = {}
        for name in self._inputs:
            if name == NOISE:
                given[name] = self._rng.standard_normal(self._noise).astype(np.float32)
            elif name in observation:
                given[name] = observation[name][None]
            else:
                known = ", ".join(observation)
                raise InputError(f"the policy needs an input {name!r}, which is not available; available are {known}")
        try:
            found = self._first(given) if not self._tried else self._session.run(None, given)[0]
        # ONNX Runtime has many exception types without a common base.
        except Exception as error:
            raise InputError(f"{self._file} cannot be run on the observations: {first_line(error)}") from error
        action = np.asarray(found)
        if action.ndim < 2 or action.dtype.kind not in "fiu":
            raise InputError(
                f"{self._file}: the first output must hold numbers of shape (1, n) or (1, k, n), but has shape "
                f"{action.shape} and type {action.dtype}"
            )
        return action[0]

    def _first(self, given: Observation) -> Any:
        """Return the first output of the first run, which is aborted if it takes far too long: a network can loop."""
        how = require("onnxruntime", extra="policy").RunOptions()
        watch = threading.Timer(LONGEST, setattr, (how, "terminate", True))
        watch.start()
        try:
            found = self._session.run(None, given, how)[0]
        finally:
            watch.cancel()
        self._tried = True
        return found

    def _count(self, said: Mapping[str, str], key: str) -> int:
        text = said.get(key, "1")
        if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MOST_FRAMES):
            raise FileError(
                f"{self._file}: metadata {key!r}: must be a whole number from 1 to {MOST_FRAMES}, got {text[:80]!r}"
            )
        return int(text)

    def _picture_size(self, name: str) -> tuple[int, int] | None:
        """Return width and height of an image; None if any size is accepted."""
        shape = self._inputs[name]
        if len(shape) != 4:
            raise FileError(f"{self._file}: input {name!r}: an image has the shape (1, height, width, 3), got {shape}")
        height, width = shape[1:3]
        return (width, height) if isinstance(height, int) and isinstance(width, int) else None

    def _noise_shape(self) -> tuple[int, ...]:
        shape = self._inputs.get(NOISE, ())
        if not all(isinstance(length, int) and length > 0 for length in shape[1:]) or math.prod(shape[1:]) > MOST_NOISE:
            raise FileError(
                f"{self._file}: input {NOISE!r}: needs a fixed shape of at most {MOST_NOISE} numbers, got {shape}"
            )
        return (1, *shape[1:]) if shape else ()
