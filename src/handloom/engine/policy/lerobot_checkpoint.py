"""A LeRobot checkpoint folder: its content, and whether loading it would run code that it names."""

import hashlib
from pathlib import Path
from typing import Any

from handloom.config.own_code import all_code_allowed
from handloom.dataset.files.reading import read_json
from handloom.errors import FileError, NotAllowedError

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PREPROCESSOR, POSTPROCESSOR = "policy_preprocessor.json", "policy_postprocessor.json"
"""Steps around the network, such as normalising; LeRobot saves them since 0.4."""
SUBFOLDER = "pretrained_model"
"""Location of the policy in the folder of a training step of LeRobot."""
POLICIES = frozenset(("act", "diffusion", "multi_task_dit", "pi0", "pi05", "smolvla", "tdmpc", "vqbet", "xvla"))
"""Policy types whose classes load nothing but tensors, according to the source of lerobot 0.4.4 and 0.6.1. Others,
such as groot, pi0_fast, sac and wall_x, fetch a model that the checkpoint names with ``trust_remote_code=True``."""
STEPS = frozenset(
    (
        "absolute_actions_processor",
        "device_processor",
        "image_crop_resize_processor",
        "normalizer_processor",
        "numpy2torch_action_processor",
        "observation_processor",
        "pi05_prepare_state_tokenizer_processor_step",
        "pi0_new_line_processor",
        "relative_actions_processor",
        "rename_observations_processor",
        "smolvla_new_line_processor",
        "to_batch_processor",
        "to_batch_processor_action",
        "to_batch_processor_complementary_data",
        "to_batch_processor_observation",
        "tokenizer_processor",
        "torch2numpy_action_processor",
        "unnormalizer_processor",
        "xvla_add_domain_id",
        "xvla_image_scale",
        "xvla_image_to_float",
        "xvla_imagenet_normalize",
        "xvla_rotation_6d_to_axis_angle",
    )
)
"""Registered names of LeRobot's steps that only compute, according to the source of lerobot 0.4.4 and 0.6.1."""


def checkpoint_folder(path: Path) -> Path:
    """Return the folder of a complete checkpoint: the given one, or the policy inside a training step's folder.

    Raises:
        FileError: It contains no checkpoint, or one that cannot be run. This check does not need LeRobot.
        NotAllowedError: Loading it would run code that it names, and the user did not allow that.
    """
    folder = path / SUBFOLDER if (path / SUBFOLDER / CONFIG).is_file() else path
    if not (folder / CONFIG).is_file():
        raise FileError(
            f"{path} contains no LeRobot checkpoint: there is no {CONFIG} in it; give the folder {SUBFOLDER} that "
            f"LeRobot's training writes, such as outputs/train/RUN/checkpoints/last/{SUBFOLDER}"
        )
    config = _read_config(folder)
    if not (folder / WEIGHTS).is_file():
        hint = "; it contains only an adapter: merge it into its policy first" if _is_adapter(folder) else ""
        raise FileError(f"{folder} is not a complete LeRobot checkpoint: it has no {WEIGHTS} in it{hint}")
    for name in (PREPROCESSOR, POSTPROCESSOR):
        if not (folder / name).is_file():
            raise FileError(
                f"{folder} is not a complete LeRobot checkpoint: it has no {name}; LeRobot before 0.4 did not save "
                f"it; try: python -m lerobot.processor.migrate_policy_normalization --pretrained-path {folder}"
            )
    refuse_code(folder, config["type"])
    return folder


def refuse_code(folder: Path, policy: str) -> None:
    """Raise an error that names every part of a checkpoint that would run its own code, unless that is allowed.

    Files of steps must lie in the folder, even if code is allowed.
    """
    found = []
    if policy not in POLICIES:
        found.append(f"{folder / CONFIG}: the policy type {policy!r}")
    for name in (PREPROCESSOR, POSTPROCESSOR):
        for number, step in enumerate(steps(folder, name)):
            place, registered = f"{folder / name}: steps.{number}", step.get("registry_name")
            # LeRobot imports any "class" named here, e.g. subprocess.Popen, and calls it with the step's "config".
            if "registry_name" not in step:
                found.append(f"{place}: the class {step.get('class')!r}")
            elif not isinstance(registered, str):
                raise FileError(f"{place}: registry_name must be a name, got {registered!r}")
            elif registered not in STEPS:
                found.append(f"{place}: the step {registered!r}")
            file = step.get("state_file")
            if file is not None and (not isinstance(file, str) or Path(file).name != file):
                raise FileError(f"{place}: state_file must be the name of a file in the folder, got {file!r}")
    if found and not all_code_allowed():
        raise NotAllowedError(
            "this checkpoint names code that can do anything, not only compute: "
            + "; ".join(found)
            + "; if you trust whoever made it, allow it with --allow-code"
        )


def steps(folder: Path, name: str = PREPROCESSOR) -> list[dict[str, Any]]:
    """Return the steps before or after the network."""
    content = read_json(folder / name)
    found = content.get("steps", []) if isinstance(content, dict) else None
    if not isinstance(found, list) or not all(isinstance(step, dict) for step in found):
        raise FileError(f"{folder / name} does not describe the steps of a LeRobot policy: it has no list 'steps'")
    return found


def renamed(folder: Path) -> dict[str, str]:
    """Return a map from policy input to dataset name, for observations that a step of the checkpoint renames."""
    names = {}
    for step in steps(folder):
        settings = step.get("config")
        renames = settings.get("rename_map") if isinstance(settings, dict) else None
        if isinstance(renames, dict):
            names |= {str(new): str(old) for old, new in renames.items()}
    return names


def checkpoint_digest(folder: Path) -> str:
    """Return a digest of everything in a checkpoint that determines its actions."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in (".json", ".safetensors"):
            digest.update(file.name.encode())
            with file.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _read_config(folder: Path) -> dict[str, Any]:
    config = read_json(folder / CONFIG)
    if not isinstance(config, dict) or not isinstance(config.get("type"), str):
        raise FileError(
            f"{folder / CONFIG} is not the configuration of a LeRobot policy: it has no 'type', such as act or "
            f"diffusion"
        )
    outputs = config.get("output_features")
    if not isinstance(outputs, dict) or not outputs.get("action"):
        raise FileError(
            f"{folder / CONFIG}: a policy of type {config['type']!r} has no output 'action', so it cannot control a "
            f"robot"
        )
    return config


def _is_adapter(folder: Path) -> bool:
    return (folder / "adapter_config.json").is_file()
