"""A policy trained and saved by LeRobot, run by LeRobot in a separate process.

LeRobot needs different versions of packages from Handloom's (NumPy, Pillow, PyAV, packaging), so the two need not
share an environment: the process may use another interpreter.
"""

import os
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from handloom.arrays import Array
from handloom.engine.policy import lerobot_worker
from handloom.engine.policy.lerobot_checkpoint import checkpoint_folder, renamed
from handloom.episode.columns import IMAGES
from handloom.episode.policy_source import Observation
from handloom.errors import FileError, InputError, MissingExtraError

STATE, ENVIRONMENT = "observation.state", "observation.environment_state"
"""The only inputs besides images and words that LeRobot's policies read."""
UNUSED_CAMERA = "empty_camera"
"""Part of the names of placeholder cameras, which a policy reserves but no robot has."""
LAST_WORDS = 2000
"""Number of characters shown of a process's last output."""
HOW = (
    "LeRobot needs different versions of packages from Handloom's, so give it its own environment: python3 -m venv "
    "lerobot-env && lerobot-env/bin/pip install lerobot, then add --policy-python lerobot-env/bin/python"
)


def lerobot_python(given: Path | None = None) -> str:
    """Return the interpreter that runs LeRobot: the given one, or this one if it has LeRobot.

    Raises:
        InputError: There is no such program.
        MissingExtraError: No interpreter is given, and LeRobot is not installed here.
    """
    if given is None:
        if find_spec("lerobot") is None:
            raise MissingExtraError(f"a LeRobot checkpoint needs the package 'lerobot', which is not installed; {HOW}")
        return sys.executable
    if not given.is_file() or not os.access(given, os.X_OK):
        raise InputError(f"--policy-python names a Python interpreter, such as lerobot-env/bin/python; got {given}")
    return str(given.absolute())  # Not resolved: the link is what ties the interpreter to its environment.


class LeRobotPolicy:
    """A LeRobot checkpoint as a policy: one ``select_action`` per frame, which steps through the policy's own chunks.

    It receives the columns and images named in its ``input_features``, images in the size used for training, and the
    instruction; its action is the dataset's ``action``.

    Args:
        folder: Folder with ``config.json``, ``model.safetensors`` and the processors.
        python: Interpreter that has LeRobot; None for this one.

    Raises:
        MissingExtraError: LeRobot is not installed for the interpreter.
        FileError: LeRobot cannot load the checkpoint.
        NotAllowedError: The checkpoint names code, and the user did not allow that.
    """

    actions = "joint"

    def __init__(self, folder: Path, *, python: Path | None = None) -> None:
        folder = checkpoint_folder(folder)
        self._worker = _Worker(lerobot_python(python))
        said, _ = self._worker.ask({"do": "load", "folder": str(folder.resolve())}, what=f"{folder}: cannot be loaded")
        names = renamed(folder)
        features: dict[str, tuple[tuple[int, ...], bool]] = {
            str(names.get(name, name)): (tuple(shape), seen) for name, shape, seen in said["features"]
        }
        features = {name: feature for name, feature in features.items() if UNUSED_CAMERA not in name}
        pictures = {name: shape for name, (shape, seen) in features.items() if seen}
        self._read = tuple(features)
        self.inputs = dict.fromkeys(pictures) | {
            name: features[name][0] for name in (STATE, ENVIRONMENT) if name in features
        }
        self.cameras = tuple(name.removeprefix(IMAGES) for name in pictures)
        # Renamed images were used for training in the dataset's size, not in the size that the policy declares.
        own = set(names.values())
        self.size = {name.removeprefix(IMAGES): shape[:0:-1] for name, shape in pictures.items() if name not in own}

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Start an episode; the policy's random numbers depend only on the episode."""
        self._worker.ask({"do": "reset", "words": instruction, "seed": int(rng.integers(2**62))})

    def act(self, observation: Observation) -> Array:
        """Return the action (n,) of this frame."""
        # LeRobot's policies do not read the columns that are missing here, even if they were in the training data.
        seen = {name: observation[name] for name in self._read if name in observation}
        action = self._worker.ask({"do": "act"}, seen)[1]["action"]
        if action.ndim != 2 or len(action) != 1:
            raise InputError(f"the policy returned an action of shape {action.shape}, expected (1, n)")
        return action[0]


class _Worker:
    """The process that runs LeRobot; it ends with this object or with this process."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(
                [python, lerobot_worker.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said
            )
        except OSError as error:
            self._said.close()
            raise InputError(f"--policy-python {python}: cannot be run: {error.strerror or error}") from error
        weakref.finalize(self, _end, self._process, self._said)

    def ask(
        self, message: dict[str, Any], arrays: dict[str, Any] | None = None, *, what: str = "the policy failed"
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the answer to a message, and its arrays; ``what`` begins the message of an error."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            lerobot_worker.send(process.stdin, message, arrays)
            answer, values = lerobot_worker.receive(process.stdout)
        except (EOFError, BrokenPipeError) as error:
            raise FileError(f"{what}: {self._python} ended with code {process.wait()}{self._last_words()}") from error
        if answer.get("missing") in ("lerobot", "torch", "numpy"):
            raise MissingExtraError(f"{self._python} has no package {answer['missing']!r}; {HOW}")
        if "error" in answer:
            raise FileError(f"{what}: lerobot says: {answer['error']}")
        return answer, values

    def _last_words(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - LAST_WORDS))
        words = self._said.read().decode("utf-8", "replace").strip()
        return f": {words.splitlines()[-1]}" if words else ""


def _end(process: "subprocess.Popen[bytes]", said: IO[bytes]) -> None:
    """Stop a process that is waiting for messages."""
    for stream in (process.stdin, process.stdout, said):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    process.kill()
    process.wait()
