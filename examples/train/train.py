"""Trains the policy of ``model.py`` on prepared episodes (``data.py``).

    python train.py prepared -o model.pt --pictures --minutes 5
    python train.py prepared_1 prepared_2 prepared_3 -o model.pt --pictures --minutes 10  # one policy for several tasks

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

WARM_UP = 200
"""Number of warm-up steps of the learning rate."""
AVERAGED = 10
"""Number of steps between updates of the averaged weights."""
WORDINGS = 24
"""Wordings of an episode's instruction to choose from in every step."""
SMALLEST = 0.02
"""Minimum scale of a number in a chunk [m, or of a rotation matrix], so that constants are not amplified."""


def made_for(folders: tuple[Path, ...], *, pictures: bool, head: str) -> tuple[ModelConfig, dict[str, Any]]:
    """Return the configuration of a network for prepared folders, and the facts of their robot."""
    firsts = []
    for folder in folders:
        files = sorted(folder.glob("[0-9]*.npz"))
        if not files:
            raise SystemExit(f"{folder} has no prepared episodes; write them with data.py")
        firsts.append(dict(np.load(files[0])))
    first = firsts[0]
    if pictures and "pictures" not in first:
        raise SystemExit(f"{folders[0]} was prepared without images")
    if len(folders) > 1 and not pictures:
        raise SystemExit(
            "a policy for several tasks needs --pictures: true poses refer to different objects in each task"
        )
    robot = {name: first[name] for name in ("T_tool_tcp", "opening_index")} | {"state_size": int(first["state_size"])}
    for folder, other in zip(folders, firsts, strict=True):
        alike = np.array_equal(other["opening_index"], first["opening_index"])
        if not alike or (pictures and other["cameras"].tolist() != first["cameras"].tolist()):
            raise SystemExit(f"{folder} has a different robot or different cameras from {folders[0]}")
    config = ModelConfig(
        cameras=tuple(first["cameras"].tolist()) if pictures else (),
        objects=tuple(dict.fromkeys(name for other in firsts for name in other["objects"].tolist())),
        arms=first["opening"].shape[1],
        bases=first["twist_asked"].shape[1] // 3,
        words=len(folders) > 1,
        hidden=1024 if len(folders) > 1 else 512,
        head=head,
        size=first["pictures"].shape[2] if pictures else 128,
        stride=STRIDE,
    )
    return config, robot


def load(files: list[Path], config: ModelConfig, device: str) -> dict[str, Tensor]:
    """Read prepared episodes and split them into samples, which are kept on the device."""
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda number: samples(dict(np.load(files[number])), config, number), range(len(files))))
    kept = {}
    for name, first in list(parts[0].items()):
        ends = np.cumsum([len(part[name]) for part in parts])
        kept[name] = torch.empty((int(ends[-1]), *first.shape[1:]), dtype=torch.from_numpy(first).dtype, device=device)
        for part, end in zip(parts, ends, strict=True):
            own = torch.from_numpy(part.pop(name))
            kept[name][end - len(own) : end] = own
    return kept


def samples(episode: dict[str, np.ndarray], config: ModelConfig, number: int) -> dict[str, np.ndarray]:
    """Return the inputs and targets at every step of an episode, and once its instruction in several words."""
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
        said = [hashed(str(text)) for text in episode["instructions"]]
        found["instructions"] = np.resize(np.array(said, np.int32), (1, WORDINGS, len(said[0])))
        found["episode"] = np.full(len(frames), number)
    if config.cameras:
        found["pictures"] = episode["pictures"]
    return found


def varied(pictures: Tensor, pick: Tensor, shift: int) -> Tensor:
    """Return chosen images as 0 to 1 (batch, cameras, 3, h, w), each with a random shift and brightness.

    Args:
        pictures: All images (samples, cameras, h, w, 3), uint8.
        pick: Indices of the chosen images (batch,).
        shift: Maximum shift in whole pixels; the border is repeated.
    """
    device, (cameras, height, width) = pictures.device, pictures.shape[1:4]
    down = torch.randint(-shift, shift + 1, (len(pick), cameras, 1), device=device)
    rows = (torch.arange(height, device=device) + down).clamp(0, height - 1)
    which = pick[:, None] * cameras + torch.arange(cameras, device=device)
    # Whole rows are copied, and the sideways shift is shared by a batch: both are fast, unlike copying single pixels.
    moved = pictures.view(-1, width * 3).index_select(0, (which[:, :, None] * height + rows).flatten())
    right = torch.randint(-shift, shift + 1, (1,), device=device)
    columns = (torch.arange(width, device=device) + right).clamp(0, width - 1)
    moved = moved.view(-1, width, 3).index_select(1, columns).view(len(pick), cameras, height, width, 3)
    kind = torch.bfloat16 if device.type == "cuda" else torch.float32
    bright = (1 + 0.3 * (torch.rand(len(pick), cameras, 1, 1, 3, device=device) - 0.5)).to(kind)
    light = (0.2 * (torch.rand(len(pick), cameras, 1, 1, 1, device=device) - 0.5)).to(kind)
    return moved.to(kind).mul_(bright / 255).add_(light).clamp_(0, 1).permute(0, 1, 4, 2, 3)


def train(
    prepared: tyro.conf.Positional[tuple[Path, ...]],
    *,
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("model.pt"),
    pictures: bool = False,
    head: str = "direct",
    episodes: int | None = None,
    steps: int = 20_000,
    minutes: float = 30.0,
    batch: int = 128,
    rate: float = 5e-4,
    shift: int = 4,
    seed: int = 0,
) -> None:
    """Train a policy.

    Args:
        prepared: Folders of prepared episodes, one for each task; a policy for several tasks reads the words.
        output: File of the weights.
        pictures: The policy sees images; otherwise it sees the true poses of the objects.
        head: direct or flow.
        episodes: Number of episodes of each folder to train on; all by default.
        steps: Steps of the optimiser.
        minutes: Time limit; the learning rate decays to its final value by then.
        batch: Samples per step.
        rate: Largest learning rate.
        shift: Maximum shift of images in pixels.
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
    known, fresh = load(files, config, device), load(aside, config, device)
    asked = known["chunk"].view(-1, CHUNK, config.step)[..., ARM - 1 : ARM * config.arms : ARM]
    config = replace(config, firm=bool((asked.frac().abs() < 1e-3).float().mean() > 0.999))
    network = Network(config).to(device, memory_format=torch.channels_last)
    _fit_scales(network, known)
    size_of = sum(parameter.numel() for parameter in network.parameters())
    print(
        f"{len(files) + len(aside)} episodes, {len(known['state'])} samples, {size_of / 1e6:.1f} M weights, "
        f"loaded in {time.monotonic() - begin:.0f} s",
        flush=True,
    )
    step = Steps(network, known, rate=rate, batch=batch, shift=shift)
    average = {name: value.clone() for name, value in network.state_dict().items()}
    own = list(network.state_dict().values())
    begin, count, told_at = time.monotonic(), 0, 0.0
    while (done := max(count / steps, (time.monotonic() - begin) / (60 * minutes))) < 1.0:
        step(rate * min(1.0, (count + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * done)))
        count += 1
        if count % AVERAGED == 0:
            keep = min(0.999**AVERAGED, count / (count + 10 * AVERAGED))
            torch._foreach_lerp_(list(average.values()), own, 1 - keep)
            if device == "cuda":
                torch.cuda.synchronize()  # Wait for queued work, so that only finished work is measured.
        if done - told_at > 0.25:
            told_at = done
            print(f"{count:6d} {time.monotonic() - begin:5.0f} s  {step.told()}", flush=True)
    passed = time.monotonic() - begin
    off = _held_out(network, average, fresh)
    print(f"{count:6d} {passed:5.0f} s  {step.told()}  held out {off}  {count / passed:.0f} steps/s", flush=True)
    network.load_state_dict(average)
    save(network.cpu().eval(), str(output), **robot)


class Steps:
    """Steps of the optimiser; on a GPU they are captured once and replayed, so that the CPU is hardly used.

    Args:
        network: What is trained.
        known: All samples, on its device.
        rate: First learning rate.
        batch: Samples per step.
        shift: Maximum shift of images in pixels.
    """

    def __init__(self, network: Network, known: dict[str, Tensor], *, rate: float, batch: int, shift: int) -> None:
        self._network, self._batch, self._shift = network, batch, shift
        apart = ("pictures", "instructions")
        self._known = {name: value for name, value in known.items() if name not in apart}
        self._instructions = known.get("instructions")
        self._pictures = known.get("pictures")
        self._device = known["state"].device
        card = self._device.type == "cuda"
        self._rate = torch.tensor(rate, device=self._device)
        self._optimiser = torch.optim.AdamW(
            network.parameters(), self._rate, weight_decay=1e-3, fused=card, capturable=card
        )
        self._parts: dict[str, Tensor] = {}
        self._graph = self._recorded() if card else None

    def __call__(self, rate: float) -> None:
        """Take a step at a learning rate."""
        self._rate.fill_(rate)
        if self._graph is None:
            self._step()
        else:
            self._graph.replay()

    def told(self) -> dict[str, float]:
        """Return the parts of the loss in the last step."""
        return {name: round(float(value.detach()), 4) for name, value in self._parts.items()}

    def _step(self) -> None:
        pick = torch.randint(len(self._known["state"]), (self._batch,), device=self._device)
        sample = {name: value[pick] for name, value in self._known.items()}
        seen = state = sample["state"]
        if self._instructions is not None:
            which = torch.randint(WORDINGS, (self._batch,), device=self._device)
            sample["words"] = self._instructions[sample["episode"], which]
        if self._pictures is not None:
            seen = varied(self._pictures, pick, self._shift)
            # A policy that sees the exact opening learns to infer the time from it.
            state = state + torch.randn_like(state) * self._network.state_scale * 0.02
        half = self._device.type == "cuda" and self._pictures is not None
        with torch.autocast(self._device.type, torch.bfloat16, enabled=half, cache_enabled=False):
            self._parts = self._network.loss(sample | {"state": state}, seen)
        self._optimiser.zero_grad(set_to_none=True)
        sum(self._parts.values()).backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)
        self._optimiser.step()

    def _recorded(self) -> "torch.cuda.CUDAGraph | None":
        """Return a captured step, or None if capturing fails: then every step is launched separately."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        self._rate.fill_(0.0)
        with torch.cuda.stream(stream):
            for _ in range(5):
                self._step()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            self._optimiser.zero_grad(set_to_none=True)
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self._step()
        except RuntimeError as error:
            print(f"steps are not captured: {str(error).splitlines()[0]}", flush=True)
            torch.cuda.synchronize()
            return None
        return graph


@torch.no_grad()
def _held_out(network: Network, average: dict[str, Tensor], fresh: dict[str, Tensor]) -> str:
    """Return the error of the averaged weights on held-out episodes."""
    own = {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(average)
    network.eval()
    off, opening, wrong = [], [], []
    for start in range(0, len(fresh["state"]), 512):
        part = {name: value[start : start + 512] for name, value in fresh.items() if name != "instructions"}
        if "instructions" in fresh:
            part["words"] = fresh["instructions"][part["episode"], 0]
        noise = torch.randn_like(part["chunk"])
        pictures = part["pictures"].permute(0, 1, 4, 2, 3).float() / 255 if "pictures" in part else part["state"]
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
