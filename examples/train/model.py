"""A small policy: images or true poses in, a chunk of tool poses out, all relative to the current tools.

The network sees the opening of every gripper, the pose of every tool centre in its arm's base, and either images or
the true poses of the objects and their moving parts; optionally also the words of the task. It predicts the pose of
each tool centre over the next CHUNK steps of a tenth of a second, relative to the current pose, the opening of each
gripper, and the motion of a base. It does not receive the robot's joints.
"""

import re
import zlib
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from handloom.dataset.robot_columns import pose7
from handloom.spatial import pose_from_pos_quat

CHUNK = 16
"""Steps predicted at once."""
ARM = 10
"""Numbers per step and arm: translation, two columns of the rotation, opening."""
WORDS = 4096
"""Number of hash buckets for words and pairs of words."""
STILL = 0.004
"""A hand that moved less than this between two observations counts as standing still [m]."""
FLOW_STEPS = 10
"""Euler steps from noise to a chunk."""


@dataclass(frozen=True)
class ModelConfig:
    """Configuration of a network, saved with its weights."""

    cameras: tuple[str, ...] = ()
    """Names of the input cameras; empty: the input is true poses."""
    objects: tuple[str, ...] = ()
    """Names of the bodies that the task's skills handle: objects, and moving parts as ``cabinet.drawer_0``."""
    arms: int = 1
    bases: int = 0
    """Number of driving bases."""
    words: bool = False
    """Whether it reads the words of the task: one policy for several tasks."""
    firm: bool = True
    """Whether grippers are only ever fully opened or closed; if so, intermediate openings are not predicted."""
    size: int = 128
    """Width and height of an image [px]."""
    head: str = "direct"
    """``direct`` predicts the median chunk; ``flow`` samples one of several possible chunks."""
    hidden: int = 512
    execute: int = 4
    """Steps executed before the next observation."""
    execute_stalled: int = 12
    """The same if the hands stand still but should move: the beginning and the end of a pause look alike, and the
    start of a smooth motion is too small to overcome the resistance that holds the hand, even if it is repeated."""
    stride: int = 3
    """Frames per step."""

    @property
    def step(self) -> int:
        """Numbers per step of a chunk."""
        return ARM * self.arms + 3 * self.bases

    @property
    def state_size(self) -> int:
        """Numbers that describe the robot and, without cameras, the objects."""
        return self.arms * (ARM + (0 if self.cameras else len(self.objects) * 12))


class Encoder(nn.Module):
    """Images to points: a small ResNet; each of its last channels gives the image position of its maximum.

    Its first layer sees squares of 4 x 4 pixels as 48 channels: layers at the full size, and layers of three
    channels, would take a GPU longer than all other layers together.
    """

    def __init__(self, width: int = 64, points: int = 64) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.PixelUnshuffle(4), nn.Conv2d(48, width, 3, 1, 1), nn.SiLU())
        self.blocks = nn.Sequential(
            Block(width, width, 1),
            Block(width, 2 * width, 2),
            Block(2 * width, 2 * width, 1),
        )
        self.to_points = nn.Conv2d(2 * width, points, 1)
        self.to_facts = nn.Linear(2 * width, points)
        self.size, self.channels = 3 * points, 2 * width

    def forward(self, picture: Tensor, told: Tensor | None = None) -> Tensor:
        """Return features (batch, size).

        Args:
            picture: Images (batch, 3, h, w), 0 to 1.
            told: Scale and offset of every channel (batch, 2 * channels), which choose what to look for.
        """
        x = self.blocks(self.stem(4.0 * picture - 2.0))
        if told is not None:
            scale, offset = told.to(x.dtype)[:, :, None, None].chunk(2, dim=1)
            x = nn.functional.silu(x * (1 + scale) + offset)
        heat = self.to_points(x)
        batch, points, height, width = heat.shape
        share = torch.softmax(heat.flatten(2).float(), -1).view(batch, points, height, width)
        across = torch.linspace(-1.0, 1.0, width, device=x.device)
        down = torch.linspace(-1.0, 1.0, height, device=x.device)
        where = [(share.sum(2) * across).sum(-1), (share.sum(3) * down).sum(-1)]
        return torch.cat([*where, self.to_facts(x.mean((2, 3))).float()], -1)


class Norm(nn.GroupNorm):
    """A group norm that keeps the precision of its input; autocast would make it float32."""

    def forward(self, x: Tensor) -> Tensor:
        """Return maps of the same shape and precision."""
        if not torch.is_autocast_enabled(x.device.type):
            return super().forward(x)
        with torch.autocast(x.device.type, enabled=False):
            return nn.functional.group_norm(x, self.num_groups, self.weight.to(x.dtype), self.bias.to(x.dtype))


class Block(nn.Module):
    """Two convolutions with a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1),
            Norm(8, after),
            nn.SiLU(),
            nn.Conv2d(after, after, 3, 1, 1),
            Norm(8, after),
        )
        self.short = nn.Identity() if (before, stride) == (after, 1) else nn.Conv2d(before, after, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Return maps (batch, after, h / stride, w / stride)."""
        return nn.functional.silu(self.main(x) + self.short(x))


class Residual(nn.Module):
    """A residual layer."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, 2 * size), nn.SiLU(), nn.Dropout(dropout), nn.Linear(2 * size, size)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, size)."""
        return x + self.main(x)


class Network(nn.Module):
    """The whole network, including normalisation."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        hidden, answer = config.hidden, CHUNK * config.step
        self.encoders = nn.ModuleList(Encoder() for _ in config.cameras)
        seen = config.state_size + sum(encoder.size for encoder in self.encoders)
        if config.words:
            self.words = nn.EmbeddingBag(WORDS, 128, mode="mean")
            self.told = nn.ModuleList(nn.Linear(128, 2 * encoder.channels) for encoder in self.encoders)
            seen += 128
        dropout = 0.1 if config.cameras else 0.0
        self.trunk = nn.Sequential(nn.Linear(seen, hidden), Residual(hidden, dropout), Residual(hidden, dropout))
        self.objects = nn.Linear(hidden, config.arms * len(config.objects) * 3)
        """Object poses relative to the tools: predicted only in training, as an auxiliary loss on the images."""
        given = answer + 1 if config.head == "flow" else 0
        self.head = nn.Sequential(
            nn.Linear(hidden + given, hidden),
            Residual(hidden, dropout),
            Residual(hidden, dropout),
            nn.Linear(hidden, answer),
        )
        for name, size in (("state", config.state_size), ("chunk", answer)):
            self.register_buffer(f"{name}_mean", torch.zeros(size))
            self.register_buffer(f"{name}_scale", torch.ones(size))

    def seen(self, state: Tensor, pictures: Tensor, words: Tensor | None = None) -> Tensor:
        """Return features (batch, hidden).

        Args:
            state: States (batch, n).
            pictures: Images (batch, cameras, 3, h, w), 0 to 1.
            words: Hashed words (batch, count) of the task, for a network that reads them.
        """
        parts = [(state - self.state_mean) / self.state_scale]
        if self.config.words:
            meant = self.words(words)
            told = [layer(meant) for layer in self.told]
            parts.append(meant)
        else:
            told = [None] * len(self.encoders)
        parts += [encoder(pictures[:, k], told[k]) for k, encoder in enumerate(self.encoders)]
        return self.trunk(torch.cat(parts, -1))

    def loss(self, sample: dict[str, Tensor], pictures: Tensor) -> dict[str, Tensor]:
        """Return the parts of the loss of samples: state, chunk (batch, CHUNK * step), objects (batch, n), words.

        An object that a task does not have is NaN.
        """
        seen = self.seen(sample["state"], pictures, sample.get("words"))
        wanted = (sample["chunk"] - self.chunk_mean) / self.chunk_scale
        losses = {}
        if self.config.head == "flow":
            noise, time = torch.randn_like(wanted), torch.rand(len(wanted), 1, device=wanted.device)
            between = (1 - time) * noise + time * wanted
            flow = self.head(torch.cat([seen, between, time], -1))
            losses["chunk"] = (flow - (wanted - noise)).square().mean()
        else:
            losses["chunk"] = (self.head(seen) - wanted).abs().mean()
        if self.config.cameras and self.config.objects:
            known = sample["objects"].isfinite()
            off = (self.objects(seen) - 10.0 * sample["objects"].nan_to_num()).abs()
            losses["objects"] = (off * known).sum() / known.sum().clamp(min=1)
        return losses

    def forward(self, state: Tensor, pictures: Tensor, noise: Tensor, words: Tensor | None = None) -> Tensor:
        """Return chunks (batch, CHUNK, step); ``direct`` ignores the noise (batch, CHUNK * step)."""
        seen = self.seen(state, pictures, words)
        if self.config.head == "flow":
            x = noise
            for k in range(FLOW_STEPS):
                time = torch.full_like(x[:, :1], k / FLOW_STEPS)
                x = x + self.head(torch.cat([seen, x, time], -1)) / FLOW_STEPS
        else:
            x = self.head(seen) + 0.0 * noise
        return (x * self.chunk_scale + self.chunk_mean).view(-1, CHUNK, self.config.step)


def six(R: NDArray[Any]) -> NDArray[Any]:
    """Return the first two columns of rotations (..., 3, 3) as (..., 6)."""
    return np.concatenate([R[..., :, 0], R[..., :, 1]], -1)


def rotation(six: NDArray[Any]) -> NDArray[Any]:
    """Return the rotations (..., 3, 3) nearest to two columns (..., 6)."""
    x = six[..., :3] / np.linalg.norm(six[..., :3], axis=-1, keepdims=True)
    y = six[..., 3:] - (x * six[..., 3:]).sum(-1, keepdims=True) * x
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], -1)


def hashed(instruction: str, count: int = 64) -> NDArray[Any]:
    """Return the hash buckets (count,) of the words of a sentence and of neighbouring pairs, repeated to fill."""
    words = re.findall(r"[a-z0-9]+", instruction.lower())
    said = [*words, *(f"{a} {b}" for a, b in pairwise(words))][:count] or [""]
    places = [zlib.crc32(word.encode()) % WORDS for word in said]
    return np.resize(np.array(places), count)


def state_vector(T_base_tcp: NDArray[Any], opening: NDArray[Any], T_base_object: NDArray[Any] | None) -> NDArray[Any]:
    """Return states (n, state_size).

    Args:
        T_base_tcp: Tool centres in their arms' bases (n, arms, 4, 4).
        opening: Openings (n, arms).
        T_base_object: Bodies in the arms' bases (n, arms, bodies, 4, 4), or None.
    """
    parts = []
    for arm in range(T_base_tcp.shape[1]):
        T_base, T_tcp = T_base_tcp[:, arm], np.linalg.inv(T_base_tcp[:, arm])
        parts += [opening[:, arm, None], T_base[:, :3, 3], six(T_base[:, :3, :3])]
        for k in range(0 if T_base_object is None else T_base_object.shape[2]):
            T = T_tcp @ T_base_object[:, arm, k]
            turn = np.arctan2(T[:, 1, 0] - T[:, 0, 1], T[:, 0, 0] + T[:, 1, 1])[:, None]
            # Harmonics of the rotation about the tool axis: grasps of a square repeat every quarter turn.
            turns = [part for n in (1, 2, 4) for part in (np.cos(n * turn), np.sin(n * turn))]
            parts += [T[:, :3, 3], T_base_object[:, arm, k, :3, 3], *turns]
    return np.concatenate(parts, -1).astype(np.float32)


def save(network: Network, file: str, **robot: Any) -> None:
    """Write the weights, their configuration, and facts of the robot: T_tool_tcp, opening_index, state_size."""
    torch.save({"config": asdict(network.config), "weights": network.state_dict(), "robot": robot}, file)


class Trained:
    """The policy that ``handloom evaluate TASK --policy model:Trained --weights model.pt`` runs."""

    actions = "tool_pose"

    def __init__(self, weights: str) -> None:
        torch.set_num_threads(1)
        saved = torch.load(weights, map_location="cpu", weights_only=False)
        config = ModelConfig(**saved["config"])
        self.network = Network(config).eval()
        self.network.load_state_dict(saved["weights"])
        self.network.to(memory_format=torch.channels_last)
        self.robot = saved["robot"]
        self.config = config
        self.frames_per_action = config.stride
        self.cameras = config.cameras
        self.size = (config.size, config.size)
        self.objects = not config.cameras

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self.rng = rng
        self.last: NDArray[Any] | None = None
        self.words = torch.from_numpy(hashed(instruction))[None]

    def act(self, observation: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the next actions (execute, n): poses of the end effectors in their arms' bases, openings, twists."""
        T_base_tool = _poses(observation["observation.ee_pose.base"])
        T_base_tcp = T_base_tool @ self.robot["T_tool_tcp"]
        objects = None
        if self.objects:
            # Bodies are observed in the world; the tools are known in both frames, which gives the pose of each arm's
            # base.
            T_base_world = T_base_tool @ np.linalg.inv(_poses(observation["observation.ee_pose.world"]))
            bodies = [_poses(observation[f"observation.objects.{name}"]) for name in self.config.objects]
            objects = (T_base_world[:, None] @ np.concatenate(bodies))[None]
        opening = observation["observation.state"][None, self.robot["opening_index"]]
        state = torch.from_numpy(state_vector(T_base_tcp[None], opening, objects))
        pictures = [observation[f"observation.images.{camera}"] for camera in self.cameras]
        seen = torch.from_numpy(np.array([pictures])).permute(0, 1, 4, 2, 3).float() / 255 if pictures else state
        noise = torch.from_numpy(self.rng.standard_normal((1, CHUNK * self.config.step))).float()
        with torch.no_grad():
            chunk = self.network(state, seen, noise, self.words)[0].double().numpy()
        now = np.concatenate([T_base_tcp[:, :3, 3], opening.T], -1)
        steps = self.config.execute
        if self.last is not None and stalled(now - self.last, chunk[: self.config.execute_stalled]):
            steps = self.config.execute_stalled
        self.last = now
        return self._actions(T_base_tcp, chunk[:steps])

    def _actions(self, T_base_tcp: NDArray[Any], chunk: NDArray[Any]) -> NDArray[Any]:
        actions = []
        for arm in range(self.config.arms):
            step = chunk[:, ARM * arm : ARM * (arm + 1)]
            T = np.tile(np.eye(4), (len(step), 1, 1))
            T[:, :3, :3], T[:, :3, 3] = rotation(step[:, 3:9]), step[:, :3]
            T_base_tool = T_base_tcp[arm] @ T @ np.linalg.inv(self.robot["T_tool_tcp"][arm])
            # A hand commanded to be nearly shut holds less firmly than one commanded to shut.
            opening = (step[:, 9:] > 0.5).astype(float) if self.config.firm else step[:, 9:]
            actions += [pose7(T_base_tool), opening]
        return np.concatenate([*actions, chunk[:, ARM * self.config.arms :]], -1)


def stalled(moved: NDArray[Any], chunk: NDArray[Any]) -> bool:
    """Return whether hands that should move stand still.

    Args:
        moved: Motion of each tool centre and opening since the last observation (arms, 4) [m, fraction].
        chunk: The predicted chunk (steps, n).
    """
    arms = chunk[:, : ARM * len(moved)].reshape(len(chunk), len(moved), ARM)
    still = np.linalg.norm(moved[:, :3], axis=-1).max() < STILL and np.abs(moved[:, 3]).max() < 0.05
    return bool(still and np.linalg.norm(arms[-1, :, :3], axis=-1).max() > 2 * STILL)


def _poses(sevens: NDArray[Any]) -> NDArray[Any]:
    """Return poses (n, 4, 4) from concatenated positions and quaternions (7 n,)."""
    rows = sevens.astype(float).reshape(-1, 7)
    return pose_from_pos_quat(rows[:, :3], rows[:, 3:])
