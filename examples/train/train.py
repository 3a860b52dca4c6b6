"""Trains the policy of ``model.py`` on prepared episodes (``data.py``).

    python train.py prepared -o model.pt --pictures --minutes 5
    python train.py prepared_1 prepared_2 prepared_3 -o model.pt --pictures --minutes 10    # one policy, told the words

Everything is kept on the device; a thousand episodes of two cameras at 128 pixels take 7 GB.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro
from data import STRIDE
from model import ARM, CHUNK, ModelConfig, Network, hashed, save, six, state_vector
from torch import Tensor

SMALLEST = 0.02
"""Smallest scale of a number of a chunk: what hardly changes is not blown up [m, or of a rotation matrix]."""


def made_for(folders: tuple[Path, ...], *, pictures: bool, head: str) -> tuple[ModelConfig, dict[str, Any]]:
    """Return what a network must be to learn from prepared folders, and the facts of their robot."""
    firsts = []
    for folder in folders:
        files = sorted(folder.glob("[0-9]*.npz"))
        if not files:
            raise SystemExit(f"{folder} has no prepared episodes: data.py writes them")
        firsts.append(dict(np.load(files[0])))
    first = firsts[0]
    if pictures and "pictures" not in first:
        raise SystemExit(f"{folders[0]} was prepared without pictures")
    if len(folders) > 1 and not pictures:
        raise SystemExit("a policy for several tasks needs --pictures: true poses of other objects mean other things")
    robot = {name: first[name] for name in ("T_tool_tcp", "opening_index")} | {"state_size": int(first["state_size"])}
    for folder, other in zip(folders, firsts, strict=True):
        alike = np.array_equal(other["opening_index"], first["opening_index"])
        if not alike or (pictures and other["cameras"].tolist() != first["cameras"].tolist()):
            raise SystemExit(f"{folder} is of another robot or other cameras than {folders[0]}")
    config = ModelConfig(
        cameras=tuple(first["cameras"].tolist()) if pictures else (),
        objects=tuple(dict.fromkeys(name for other in firsts for name in other["objects"].tolist())),
        arms=first["opening"].shape[1],
        bases=first["twist_asked"].shape[1] // 3,
        words=len(folders) > 1,
        head=head,
        size=first["pictures"].shape[2] if pictures else 128,
        stride=STRIDE,
    )
    return config, robot


def load(files: list[Path], config: ModelConfig) -> dict[str, np.ndarray]:
    """Read prepared episodes and cut them into samples."""
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda file: samples(dict(np.load(file)), config), files))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def samples(episode: dict[str, np.ndarray], config: ModelConfig) -> dict[str, np.ndarray]:
    """Return what is seen and what is wanted at every step of an episode."""
    frames, length = episode["frames"], len(episode["opening"])
    T_now = episode["T_base_tcp"][frames]
    T_now_base = np.linalg.inv(T_now)
    objects = episode["T_base_object"]
    ahead = np.minimum(frames[:, None] + STRIDE * np.arange(1, CHUNK + 1) - 1, length - 1)
    T = T_now_base[:, None] @ episode["T_base_tcp_asked"][ahead]
    arms = np.concatenate([T[..., :3, 3], six(T[..., :3, :3]), episode["opening_asked"][ahead][..., None]], -1)
    steps = [arms.reshape(*ahead.shape, -1), episode["twist_asked"][ahead]]
    known = (T_now_base[:, :, None] @ objects)[..., :3, 3]
    names = episode["objects"].tolist()
    points = np.full((len(frames), config.arms, len(config.objects), 3), np.nan)
    for k, name in enumerate(names):
        points[:, :, config.objects.index(name)] = known[:, :, k]
    found = {
        "state": state_vector(T_now, episode["opening"][frames], None if config.cameras else objects),
        "chunk": np.concatenate(steps, -1).reshape(len(frames), -1).astype(np.float32),
        "objects": points.reshape(len(frames), -1).astype(np.float32),
    }
    if config.words:
        found["words"] = np.tile(hashed(str(episode["instruction"])), (len(frames), 1))
    if config.cameras:
        found["pictures"] = episode["pictures"].transpose(0, 1, 4, 2, 3)
    return found


def varied(pictures: Tensor, shift: int) -> Tensor:
    """Return pictures (batch, cameras, 3, h, w) uint8 as 0 to 1, each shifted and lit a little differently."""
    batch, cameras, _, height, width = pictures.shape
    flat = pictures.flatten(0, 1).float() / 255
    bright = 1 + 0.3 * (torch.rand(len(flat), 3, 1, 1, device=flat.device) - 0.5)
    light = 0.2 * (torch.rand(len(flat), 1, 1, 1, device=flat.device) - 0.5)
    flat = (flat * bright + light).clamp(0, 1)
    move = (torch.rand(len(flat), 2, device=flat.device) - 0.5) * 2 * shift
    turn = torch.zeros(len(flat), 2, 3, device=flat.device)
    turn[:, 0, 0], turn[:, 1, 1] = 1.0, 1.0
    turn[:, :, 2] = 2 * move / torch.tensor([width, height], device=flat.device)
    grid = torch.nn.functional.affine_grid(turn, list(flat.shape), align_corners=False)
    moved = torch.nn.functional.grid_sample(flat, grid, padding_mode="border", align_corners=False)
    return moved.view(batch, cameras, 3, height, width)


def train(
    prepared: tyro.conf.Positional[tuple[Path, ...]],
    *,
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("model.pt"),
    pictures: bool = False,
    head: str = "direct",
    episodes: int | None = None,
    steps: int = 20_000,
    minutes: float = 30.0,
    batch: int = 256,
    rate: float = 5e-4,
    shift: int = 4,
    seed: int = 0,
) -> None:
    """Train a policy.

    Args:
        prepared: Folders of prepared episodes, one for each task; a policy for several is told the words.
        output: File of the weights.
        pictures: The policy sees pictures; without, it sees the true poses of the objects.
        head: direct or flow.
        episodes: How many of each folder to train on; all when not given.
        steps: Steps of the optimiser.
        minutes: Bound on the time; the learning rate is led down to its end by then.
        batch: Samples per step.
        rate: Largest learning rate.
        shift: Pictures are moved by up to this many pixels.
        seed: Seed of weights and batches.
    """
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    config, robot = made_for(prepared, pictures=pictures, head=head)
    files, aside = [], []
    for folder in prepared:
        own = sorted(folder.glob("[0-9]*.npz"))[:episodes]
        held = max(1, len(own) // 20)
        files, aside = files + own[held:], aside + own[:held]
    begin = time.monotonic()
    known = {name: torch.from_numpy(value).to(device) for name, value in load(files, config).items()}
    fresh = {name: torch.from_numpy(value).to(device) for name, value in load(aside, config).items()}
    asked = known["chunk"].view(-1, CHUNK, config.step)[..., ARM - 1 : ARM * config.arms : ARM]
    config = replace(config, firm=bool((asked.frac().abs() < 1e-3).float().mean() > 0.999))
    network = Network(config).to(device)
    _fit_scales(network, known)
    size_of = sum(parameter.numel() for parameter in network.parameters())
    print(
        f"{len(files) + len(aside)} episodes, {len(known['state'])} samples, {size_of / 1e6:.1f} M weights, "
        f"loaded in {time.monotonic() - begin:.0f} s",
        flush=True,
    )
    average = {name: value.clone() for name, value in network.state_dict().items()}
    optimiser = torch.optim.AdamW(network.parameters(), rate, weight_decay=1e-3)
    begin, done = time.monotonic(), 0.0
    count = 0
    while done < 1.0:
        done = max(count / steps, (time.monotonic() - begin) / (60 * minutes))
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (count + 1) / 500) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
        pick = torch.randint(len(known["state"]), (batch,), device=device)
        parts = _loss(network, {name: value[pick] for name, value in known.items()}, shift, device)
        optimiser.zero_grad()
        sum(parts.values()).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        keep = min(0.999, (count + 1) / (count + 10))
        torch._foreach_lerp_(list(average.values()), [v.detach() for v in network.state_dict().values()], 1 - keep)
        count += 1
        if count % 1000 == 0 or done >= 1.0:
            told = {name: round(float(value.detach()), 4) for name, value in parts.items()}
            off = _held_out(network, average, fresh, device)
            print(f"{count:6d} {time.monotonic() - begin:5.0f} s  {told}  held out {off}", flush=True)
    network.load_state_dict(average)
    save(network.cpu().eval(), str(output), **robot)


def _loss(network: Network, sample: dict[str, Tensor], shift: int, device: str) -> dict[str, Tensor]:
    pictures = sample.get("pictures")
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda" and pictures is not None):
        seen = sample["state"] if pictures is None else varied(pictures, shift)
        state = sample["state"]
        if pictures is not None:
            # A policy that can tell the opening to the last digit learns to read the time off it.
            state = state + torch.randn_like(state) * network.state_scale * 0.02
        return network.loss(sample | {"state": state}, seen)


@torch.no_grad()
def _held_out(network: Network, average: dict[str, Tensor], fresh: dict[str, Tensor], device: str) -> str:
    """Return how far the averaged weights are off in episodes that were not trained on."""
    own = {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(average)
    network.eval()
    off, opening, wrong = [], [], []
    for start in range(0, len(fresh["state"]), 512):
        part = {name: value[start : start + 512] for name, value in fresh.items()}
        noise = torch.randn_like(part["chunk"])
        pictures = part["pictures"].float() / 255 if "pictures" in part else part["state"]
        guess = network(part["state"], pictures, noise, part.get("words"))
        error = guess - part["chunk"].view_as(guess)
        arms = error[:, 7, : ARM * network.config.arms].view(len(error), -1, ARM)
        off.append(arms[..., :3].norm(dim=-1).flatten())
        opening.append(arms[..., 9].abs().flatten())
        if "pictures" in part and network.config.objects:
            places = network.objects(network.seen(part["state"], pictures, part.get("words"))) / 10
            distance = (places - part["objects"]).view(len(places), -1, 3).norm(dim=-1)
            wrong.append(distance.nanmedian(0).values[None])
    network.train()
    network.load_state_dict(own)
    told = f"{1000 * torch.cat(off).median():.1f} mm, opening {torch.cat(opening).mean():.3f}"
    return told + (f", objects {1000 * torch.cat(wrong).nanmean():.0f} mm" if wrong else "")


def _fit_scales(network: Network, known: dict[str, Tensor]) -> None:
    state, chunk = known["state"], known["chunk"]
    network.state_mean.copy_(state.mean(0))
    network.state_scale.copy_(state.std(0).clamp(min=1e-2))
    network.chunk_mean.copy_(chunk.mean(0))
    network.chunk_scale.copy_(chunk.std(0).clamp(min=SMALLEST))


if __name__ == "__main__":
    tyro.cli(train)
