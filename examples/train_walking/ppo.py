"""Proximal policy optimisation [Schulman et al. 2017], in plain PyTorch, for a mirror-symmetric policy."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from gaits import Gait
from torch import Tensor, nn

from handloom.isaac.policy.policy_env import PolicyEnv

# Added to variances, so that near-constant inputs are not amplified.
VAR_FLOOR = 1e-3
# Signs of the terms of an observation in a mirror; terms of joints are mirrored joint by joint.
MIRROR = {
    "base_lin_vel": (1.0, -1.0, 1.0),
    "base_ang_vel": (-1.0, 1.0, -1.0),
    "projected_gravity": (1.0, -1.0, 1.0),
    "generated_commands": (1.0, -1.0, -1.0),
    # In the mirror the other foot is on the floor, half a cycle later.
    "gait_phase": (-1.0, -1.0),
}


def mirror_joints(gait: Gait, joints: tuple[str, ...]) -> np.ndarray:
    """Return the matrix (n, n) that turns joint values into those of the mirror image."""
    matrix = np.zeros((len(joints), len(joints)), dtype=np.float32)
    for row, name in enumerate(joints):
        other = name
        for left, right in gait.pairs:
            if left in name:
                other = name.replace(left, right)
            elif right in name:
                other = name.replace(right, left)
        sign = next(sign for part, sign in gait.mirrored.items() if part in name)
        matrix[row, joints.index(other)] = sign
    return matrix


def mirror_observation(env: PolicyEnv, joint_mirror: np.ndarray) -> np.ndarray:
    """Return the matrix (k, k) that turns an observation into that of the mirror image."""
    blocks = [np.diag(MIRROR[term.func]) if term.func in MIRROR else joint_mirror for term in env.terms]
    size = sum(len(block) for block in blocks)
    matrix, at = np.zeros((size, size), dtype=np.float32), 0
    for block in blocks:
        matrix[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return matrix


class Normalizer(nn.Module):
    """Running mean and deviation of observations."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("var", torch.ones(size))
        self.register_buffer("count", torch.tensor(1e-4))

    def update(self, batch: Tensor) -> None:
        """Add a batch (n, size)."""
        count = len(batch)
        total = self.count + count
        delta = batch.mean(0) - self.mean
        spread = self.var * self.count + batch.var(0, unbiased=False) * count
        self.var = (spread + delta**2 * self.count * count / total) / total
        self.mean = self.mean + delta * count / total
        self.count = total

    def forward(self, batch: Tensor) -> Tensor:
        """Return the batch with mean 0 and deviation 1."""
        return (batch - self.mean) * torch.rsqrt(self.var + VAR_FLOOR)


def network(sizes: tuple[int, ...], last: float) -> nn.Sequential:
    """Return layers with ELU between them, orthogonal weights, and a small last layer."""
    layers: list[nn.Module] = []
    for index, (before, after) in enumerate(pairwise(sizes)):
        layer = nn.Linear(before, after)
        final = index == len(sizes) - 2
        nn.init.orthogonal_(layer.weight, last if final else 2**0.5)
        nn.init.zeros_(layer.bias)
        layers += [layer] if final else [layer, nn.ELU()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    """A mirror-symmetric policy: the mean of its action and of the mirrored action for the mirrored observation."""

    def __init__(
        self, env: PolicyEnv, gait: Gait, joints: tuple[str, ...], hidden: tuple[int, ...], std: float
    ) -> None:
        super().__init__()
        mirror = mirror_joints(gait, joints)
        self.register_buffer("mirror_out", torch.from_numpy(mirror))
        self.register_buffer("mirror_in", torch.from_numpy(mirror_observation(env, mirror)))
        size = len(self.mirror_in)
        self.normalizer = Normalizer(size)
        self.layers = network((size, *hidden, len(joints)), last=0.01)
        self.log_std = nn.Parameter(torch.full((len(joints),), float(np.log(std))))

    def forward(self, observation: Tensor) -> Tensor:
        """Return the mean action (n, joints)."""
        both = torch.cat([observation, observation @ self.mirror_in.T])
        straight, mirrored = self.layers(self.normalizer(both)).chunk(2)
        return 0.5 * (straight + mirrored @ self.mirror_out.T)

    def std(self) -> Tensor:
        """Return the standard deviation of each action, equal for left and right."""
        log_std = 0.5 * (self.log_std + self.mirror_out.abs() @ self.log_std)
        return log_std.clamp(-4.0, 0.5).exp()

    def see(self, observations: Tensor) -> None:
        """Add observations, and their mirror images, to the normalisation statistics."""
        self.normalizer.update(torch.cat([observations, observations @ self.mirror_in.T]))


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """Settings of the learner."""

    gamma: float = 0.99
    trace: float = 0.95
    clip: float = 0.2
    epochs: int = 4
    minibatches: int = 4
    entropy: float = 0.004
    target_kl: float = 0.01
    learning_rate: float = 5e-4
    """Initial learning rate of the actor; it adapts to the size of the policy's steps."""
    critic_rate: float = 1e-3
    max_norm: float = 1.0


class Learner:
    """Actor, critic and their optimiser."""

    def __init__(self, actor: Actor, critic_size: int, hidden: tuple[int, ...], settings: PpoSettings) -> None:
        self.actor, self.settings = actor, settings
        self.critic_norm = Normalizer(critic_size)
        self.critic = network((critic_size, *hidden, 1), last=1.0)
        self.rate = settings.learning_rate
        self.optimizer = torch.optim.Adam(actor.parameters(), lr=self.rate)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=settings.critic_rate)

    @torch.no_grad()
    def act(self, observation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return actions, their log probabilities and their means."""
        mean = self.actor(observation)
        normal = torch.distributions.Normal(mean, self.actor.std())
        action = normal.sample()
        return action, normal.log_prob(action).sum(1), mean

    def value(self, seen: Tensor) -> Tensor:
        """Return the critic's value estimate."""
        return self.critic(self.critic_norm(seen))[:, 0]

    def update(self, data: dict[str, Tensor], rng: np.random.Generator, *, critic_only: bool) -> dict[str, float]:
        """Improve the critic, and by default the actor, with a batch of experience."""
        s = self.settings
        advantage = data["advantage"]
        data["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        old_std, losses = self.actor.std().detach(), []
        for _ in range(s.epochs):
            order = torch.from_numpy(rng.permutation(len(advantage)))
            for chosen in order.chunk(s.minibatches):
                part = {key: value[chosen] for key, value in data.items()}
                value_loss = (self.value(part["critic"]) - part["return"]).square().mean()
                _descend(self.critic_optimizer, value_loss, s.max_norm)
                surrogate = 0.0 if critic_only else self._improve(part, old_std)
                losses.append((surrogate, value_loss.item()))
        surrogate, value_loss = np.mean(losses, axis=0)
        explained = 1.0 - value_loss / data["return"].var().item()
        return {"surrogate": surrogate, "value_loss": value_loss, "explained": explained, "rate": self.rate}

    def _improve(self, part: dict[str, Tensor], old_std: Tensor) -> float:
        """Take one step of the actor; return its loss."""
        s = self.settings
        mean, std = self.actor(part["observation"]), self.actor.std()
        normal = torch.distributions.Normal(mean, std)
        self._adapt(part["mean"], old_std, mean.detach(), std.detach())
        ratio = (normal.log_prob(part["action"]).sum(1) - part["log_prob"]).exp()
        bounded = ratio.clamp(1 - s.clip, 1 + s.clip)
        surrogate = -torch.min(ratio * part["advantage"], bounded * part["advantage"]).mean()
        _descend(self.optimizer, surrogate - s.entropy * normal.entropy().sum(1).mean(), s.max_norm)
        return surrogate.item()

    @torch.no_grad()
    def _adapt(self, old_mean: Tensor, old_std: Tensor, mean: Tensor, std: Tensor) -> None:
        """Keep the policy's steps near the target size."""
        spread = (old_std**2 + (old_mean - mean) ** 2) / (2 * std**2)
        kl = (torch.log(std / old_std) + spread - 0.5).sum(1).mean().item()
        if kl > 2 * self.settings.target_kl:
            self.rate = max(1e-5, self.rate / 1.5)
        elif 0 < kl < 0.5 * self.settings.target_kl:
            self.rate = min(2e-3, self.rate * 1.5)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate


def _descend(optimizer: torch.optim.Optimizer, loss: Tensor, max_norm: float) -> None:
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], max_norm)
    optimizer.step()
