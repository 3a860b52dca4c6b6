"""Runs a LeRobot checkpoint for another process. A standalone program: its interpreter has LeRobot but not Handloom.

Usage: ``python lerobot_worker.py``, with messages on the standard input and answers on the standard output. A message
is its size (8 bytes, big-endian), a line of JSON, and the arrays that the line lists as ``[name, dtype, shape]``, one
after another. Every message gets an answer; an error is an answer with the key ``error``.
"""

import json
import math
import os
import struct
import sys
from importlib import import_module
from typing import IO, Any

SIZE = struct.Struct(">Q")


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a message and its arrays.

    Raises:
        EOFError: The other side is gone.
    """
    size = stream.read(SIZE.size)
    if len(size) < SIZE.size:
        raise EOFError
    content = stream.read(SIZE.unpack(size)[0])
    line, _, rest = content.partition(b"\n")
    message, arrays, place = json.loads(line), {}, 0
    for name, dtype, shape in message.pop("arrays"):
        count = math.prod(shape)
        arrays[name] = import_module("numpy").frombuffer(rest, dtype=dtype, count=count, offset=place).reshape(shape)
        place += arrays[name].nbytes
    return message, arrays


def send(stream: IO[bytes], message: dict[str, Any], arrays: dict[str, Any] | None = None) -> None:
    """Write a message and its arrays."""
    given = arrays or {}
    listed = [(name, array.dtype.str, array.shape) for name, array in given.items()]
    line = json.dumps({**message, "arrays": listed}).encode() + b"\n"
    stream.write(SIZE.pack(len(line) + sum(array.nbytes for array in given.values())) + line)
    for array in given.values():
        stream.write(array.tobytes())
    stream.flush()


class Checkpoint:
    """A loaded checkpoint."""

    def __init__(self, folder: str) -> None:
        self.torch = import_module("torch")
        # Workers share the cores, and sums must not depend on the number of cores.
        self.torch.set_num_threads(1)
        factory = import_module("lerobot.policies.factory")
        config = import_module("lerobot.configs.policies").PreTrainedConfig.from_pretrained(folder)
        if hasattr(config, "pretrained_backbone_weights"):
            # Pretrained weights would be downloaded only to be replaced by those of the checkpoint.
            config.pretrained_backbone_weights = None
        self.policy = factory.get_policy_class(config.type).from_pretrained(folder, config=config)
        self.device = str(config.device)
        with open(os.path.join(folder, "policy_preprocessor.json"), encoding="utf-8") as file:
            known = {step.get("registry_name") for step in json.load(file).get("steps", [])}
        # It may have been trained on a device that this machine lacks.
        moved = {"device_processor": {"device": self.device}} if "device_processor" in known else {}
        self.before, self.after = factory.make_pre_post_processors(
            config, pretrained_path=folder, preprocessor_overrides=moved
        )
        self.words = ""

    def features(self) -> list[tuple[str, list[int], bool]]:
        """Return the inputs: name, shape, and whether each is an image."""
        found = self.policy.config.input_features or {}
        return [(str(name), list(f.shape), f.type == "VISUAL") for name, f in found.items()]

    def reset(self, words: str, seed: int) -> None:
        """Begin an episode."""
        self.torch.manual_seed(seed)
        self.words = words
        self.policy.reset()
        self.before.reset()
        self.after.reset()

    def act(self, observed: dict[str, Any]) -> Any:
        """Return the action (1, n) of a frame."""
        batch: dict[str, Any] = {"task": self.words, "robot_type": ""}
        for name, array in observed.items():
            value = self.torch.tensor(array)
            if value.ndim == 3:
                value = value.permute(2, 0, 1).float() / 255.0
            batch[name] = value[None].to(self.device)
        with self.torch.inference_mode():
            return self.after(self.policy.select_action(self.before(batch))).float().cpu().numpy()


def answer(loaded: dict[str, Checkpoint], message: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict, dict]:
    """Return the answer to a message, and its arrays."""
    if message["do"] == "load":
        loaded[""] = Checkpoint(message["folder"])
        return {"features": loaded[""].features()}, {}
    if message["do"] == "reset":
        loaded[""].reset(message["words"], message["seed"])
        return {}, {}
    return {}, {"action": loaded[""].act(arrays)}


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer messages until the other side is gone."""
    loaded: dict[str, Checkpoint] = {}
    while True:
        try:
            message, arrays = receive(requests)
        except EOFError:
            return
        try:
            result, values = answer(loaded, message, arrays)
        except Exception as error:
            missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
            result, values = {"error": f"{type(error).__name__}: {error}", "missing": missing.split(".")[0]}, {}
        send(answers, result, values)


def main() -> None:
    """Keep the pipes for messages: LeRobot prints while it loads, and transformers asks questions."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    serve(requests, answers)


if __name__ == "__main__":
    main()
