"""Train a tiny ACT with the real lerobot, save it, and write its actions in lerobot's own loop.

Run by ``test_lerobot_policy.py`` with another interpreter. Usage: ``python train_with_lerobot.py DATASET CHECKPOINT
FOLDER``, with observations in ``FOLDER/episode_0.npz`` and ``episode_1.npz``.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "dataset"))

import numpy as np
from read_with_lerobot import make_torchvision_importable

STEPS, BATCH, CHUNK, CARRIED_OUT = 12, 4, 8, 3


def train(root: str, saved: Path, episodes: Path) -> dict:
    """Train for some steps and return the losses and the names of the inputs."""
    import torch
    from lerobot.configs.types import FeatureType
    from lerobot.datasets.lerobot_dataset import LeRobotDataset, LeRobotDatasetMetadata
    from lerobot.datasets.utils import dataset_to_policy_features
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy
    from lerobot.policies.factory import make_pre_post_processors

    torch.manual_seed(0)
    torch.set_num_threads(1)
    known = LeRobotDatasetMetadata("local/test", root=root)
    features = dataset_to_policy_features(known.features)
    config = ACTConfig(
        input_features={name: f for name, f in features.items() if f.type is not FeatureType.ACTION},
        output_features={"action": features["action"]},
        chunk_size=CHUNK,
        n_action_steps=CARRIED_OUT,
        dim_model=32,
        n_heads=2,
        dim_feedforward=64,
        n_encoder_layers=1,
        n_vae_encoder_layers=1,
        latent_dim=8,
        pretrained_backbone_weights=None,
        device="cpu",
        push_to_hub=False,
    )
    policy = ACTPolicy(config)
    before, after = make_pre_post_processors(config, dataset_stats=known.stats)
    times = {"action": [i / known.fps for i in config.action_delta_indices]}
    dataset = LeRobotDataset("local/test", root=root, video_backend="pyav", delta_timestamps=times)
    batches = torch.utils.data.DataLoader(dataset, batch_size=BATCH, shuffle=True)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    policy.train()
    losses: list[float] = []
    while len(losses) < STEPS:
        for batch in batches:
            loss, _ = policy.forward(before(batch))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == STEPS:
                break
    # As it would be when it was trained with weights from elsewhere and on another device.
    config.pretrained_backbone_weights = "ResNet18_Weights.IMAGENET1K_V1"
    policy.save_pretrained(saved)
    before.save_pretrained(saved)
    after.save_pretrained(saved)
    steps = json.loads((saved / "policy_preprocessor.json").read_text())
    for step in steps["steps"]:
        if step.get("registry_name") == "device_processor":
            step["config"]["device"] = "cuda"
    (saved / "policy_preprocessor.json").write_text(json.dumps(steps))
    policy.eval()
    act(policy, before, after, episodes)
    return {"losses": losses, "inputs": sorted(config.input_features)}


def act(policy, before, after, folder: Path) -> None:
    """Write the actions (frames, n) of lerobot's own loop in two episodes."""
    import torch
    from lerobot.utils.control_utils import predict_action

    for episode in range(2):
        with np.load(folder / f"episode_{episode}.npz") as stored:
            seen = {name: stored[name] for name in policy.config.input_features}
            words = str(stored["words"])
        policy.reset()
        actions = []
        for frame in range(len(next(iter(seen.values())))):
            wanted = {name: values[frame] for name, values in seen.items()}
            actions.append(predict_action(wanted, policy, torch.device("cpu"), before, after, False, words)[0].numpy())
        np.save(folder / f"actions_{episode}.npy", np.array(actions))


if __name__ == "__main__":
    make_torchvision_importable()
    result = train(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    sys.stdout.write(json.dumps(result) + "\n")
