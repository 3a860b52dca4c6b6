"""A policy that LeRobot trained and saved, run by the user's own installation of LeRobot."""

import contextlib
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.episode.columns import IMAGES
from handloom.episode.policy_source import Observation
from handloom.errors import FileError, InputError, require

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PREPROCESSOR, POSTPROCESSOR = "policy_preprocessor.json", "policy_postprocessor.json"
"""Steps around the network, such as normalising; LeRobot saves them since 0.4."""
SUBFOLDER = "pretrained_model"
"""Where LeRobot's training puts the policy inside the folder of a step."""
STATE, ENVIRONMENT = "observation.state", "observation.environment_state"
"""The only inputs besides pictures and words that LeRobot's policies read."""
UNUSED_CAMERA = "empty_camera"
"""Part of the names of cameras that a policy has room for and that nobody has."""


def checkpoint_folder(path: Path) -> Path:
    """Return the folder that holds a whole checkpoint: the given one, or the policy inside the folder of a step.

    Raises:
        FileError: It holds none, or one that cannot be run; LeRobot is not needed to find that out.
    """
    folder = path / SUBFOLDER if (path / SUBFOLDER / CONFIG).is_file() else path
    if not (folder / CONFIG).is_file():
        raise FileError(
            f"{path} holds no LeRobot checkpoint: there is no {CONFIG} in it; it is the folder {SUBFOLDER} that "
            f"LeRobot's training writes, such as outputs/train/RUN/checkpoints/last/{SUBFOLDER}"
        )
    _read_config(folder)
    if not (folder / WEIGHTS).is_file():
        hint = "; it holds an adapter only: merge it into its policy first" if _is_adapter(folder) else ""
        raise FileError(f"{folder} is no whole LeRobot checkpoint: there is no {WEIGHTS} in it{hint}")
    for name in (PREPROCESSOR, POSTPROCESSOR):
        if not (folder / name).is_file():
            raise FileError(
                f"{folder} is no whole LeRobot checkpoint: there is no {name} in it; LeRobot before 0.4 saved "
                f"none, try: python -m lerobot.processor.migrate_policy_normalization --pretrained-path {folder}"
            )
    return folder


def checkpoint_digest(folder: Path) -> str:
    """Return a digest of everything in a checkpoint that decides its actions."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in (".json", ".safetensors"):
            digest.update(file.name.encode())
            with file.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


class LeRobotPolicy:
    """A LeRobot checkpoint as a policy: one ``select_action`` per frame, which deals out the policy's own chunks.

    It is shown the columns and pictures that its ``input_features`` name, pictures in the size it was trained on, and
    the words of the task; its action is the dataset's ``action``.

    Args:
        folder: Folder with ``config.json``, ``model.safetensors`` and the processors.

    Raises:
        MissingExtraError: LeRobot is not installed.
        FileError: LeRobot cannot load the checkpoint.
    """

    actions = "joint"

    def __init__(self, folder: Path) -> None:
        require("lerobot", extra="lerobot")
        self._torch = require("torch", extra="lerobot")
        # Workers share the cores, and sums must not depend on how many there are.
        self._torch.set_num_threads(1)
        try:
            # LeRobot prints while it loads; the standard output is for results.
            with contextlib.redirect_stdout(sys.stderr):
                self._policy, self._before, self._after = _loaded(folder)
        except Exception as error:
            raise FileError(f"{folder}: lerobot cannot load this checkpoint: {error}") from error
        self._device = self._policy.config.device
        self._words = ""
        renamed = _renamed(folder)
        features: dict[str, Any] = {
            renamed.get(str(name), str(name)): feature
            for name, feature in self._policy.config.input_features.items()
            if UNUSED_CAMERA not in name
        }
        pictures = {name: feature.shape for name, feature in features.items() if feature.type == "VISUAL"}
        self._read = tuple(features)
        self.inputs = dict.fromkeys(pictures) | {
            name: tuple(features[name].shape) for name in (STATE, ENVIRONMENT) if name in features
        }
        self.cameras = tuple(name.removeprefix(IMAGES) for name in pictures)
        # Renamed pictures were trained on in the size of the dataset, not in that of the policy they were given to.
        own = set(renamed.values())
        self.size = {name.removeprefix(IMAGES): shape[:0:-1] for name, shape in pictures.items() if name not in own}

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Begin an episode; what the policy draws depends on the episode alone."""
        self._torch.manual_seed(int(rng.integers(2**62)))
        self._words = instruction
        self._policy.reset()
        self._before.reset()
        self._after.reset()

    def act(self, observation: Observation) -> Array:
        """Return the action (n,) of this frame."""
        torch = self._torch
        batch: dict[str, Any] = {"task": self._words, "robot_type": ""}
        for name in self._read:
            # Columns that were trained on and are not observed here are none that LeRobot's policies read.
            if name in observation:
                value = torch.from_numpy(np.ascontiguousarray(observation[name]))
                if value.ndim == 3:
                    value = value.permute(2, 0, 1).float() / 255.0
                batch[name] = value[None].to(self._device)
        with torch.inference_mode():
            action = self._after(self._policy.select_action(self._before(batch)))
        if action.ndim != 2 or len(action) != 1:
            raise InputError(f"the policy returns an action of shape {tuple(action.shape)}, (1, n) was expected")
        return action[0].float().cpu().numpy()


def _loaded(folder: Path) -> tuple[Any, Any, Any]:
    """Return the policy, what comes before it and what comes after."""
    configs = require("lerobot.configs.policies", extra="lerobot")
    factory = require("lerobot.policies.factory", extra="lerobot")
    config = configs.PreTrainedConfig.from_pretrained(folder)
    if hasattr(config, "pretrained_backbone_weights"):
        # They would be downloaded only to be replaced by those of the checkpoint.
        config.pretrained_backbone_weights = None
    policy = factory.get_policy_class(config.type).from_pretrained(folder, config=config)
    moved = {"device_processor": {"device": str(config.device)}}  # Where it was trained may be a device we lack.
    known = {step.get("registry_name") for step in _steps(folder)}
    before, after = factory.make_pre_post_processors(
        config,
        pretrained_path=str(folder),
        preprocessor_overrides={name: values for name, values in moved.items() if name in known},
    )
    return policy, before, after


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileError(f"{folder / CONFIG} is no JSON: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("type"), str):
        raise FileError(
            f"{folder / CONFIG} is not that of a LeRobot policy: it has no 'type', such as act or diffusion"
        )
    if not (config.get("output_features") or {}).get("action"):
        raise FileError(
            f"{folder / CONFIG}: a policy of type {config['type']!r} without the output 'action' acts on nothing"
        )
    return config


def _is_adapter(folder: Path) -> bool:
    return (folder / "adapter_config.json").is_file()


def _renamed(folder: Path) -> dict[str, str]:
    """Return input of the policy > name in the dataset, where a step of the checkpoint renames observations."""
    maps = [step.get("config", {}).get("rename_map") or {} for step in _steps(folder)]
    return {new: old for renames in maps for old, new in renames.items()}


def _steps(folder: Path) -> list[dict[str, Any]]:
    """Return the steps before the network."""
    return json.loads((folder / PREPROCESSOR).read_text(encoding="utf-8")).get("steps", [])
