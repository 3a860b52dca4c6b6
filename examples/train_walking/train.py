"""Train a walking policy: ``python examples/train_walking/train.py go2 --seed 0 -o out/go2``.

Hundreds of robots walk at once in MuJoCo's batched simulation; PPO in plain PyTorch improves one small network. Needs
``pip install torch onnx``. The result is written by ``export.py``.
"""

import csv
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import mujoco
import numpy as np
import torch
import tyro
from gaits import GAITS
from ppo import Actor, Learner, PpoSettings
from walking import WalkingBatch

from handloom.isaac.policy.policy_env import PolicyEnv
from handloom.robots import load_robot

HIDDEN = (128, 128)
# Rate of falls below which the level rises [1/s].
SAFE = 0.08
# Number of updates in which only the critic learns: with an untrained critic, the actor would unlearn the reference.
WARM_UP = 15
# Control periods of the reference that the network imitates before it learns to walk.
SKETCH = 300


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the training."""

    robot: tyro.conf.Positional[str]
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder for checkpoints and the curve."""
    seed: int = 0
    steps: float | None = None
    """Control periods to learn from, over all robots; by default those of the gait."""
    robots: int = 512
    """Number of robots that walk in parallel."""
    horizon: int = 24
    """Control periods between updates."""
    threads: int = 2
    start: Path | None = None
    """Folder of an earlier training run to continue: its network, level and curve."""
    weights: dict[str, float] = field(default_factory=dict)
    """Reward weights that differ from the gait's, such as ``turning 2.5``."""


def main(options: Options) -> None:
    """Train."""
    torch.manual_seed(options.seed)
    # The physics uses the threads; a second thread for such small networks would mostly wait.
    torch.set_num_threads(1)
    rng = np.random.default_rng(options.seed)
    gait = GAITS[options.robot]
    gait = replace(gait, weights={**gait.weights, **options.weights})
    env = PolicyEnv(load_robot(options.robot).folder / "policy" / "env.yaml")
    walkers = WalkingBatch(gait, env, count=options.robots, threads=options.threads, rng=rng)
    seen, critic_seen = _views(walkers)
    actor = Actor(env, gait, walkers.joints, HIDDEN, gait.std)
    settings = PpoSettings()
    learner = Learner(actor, critic_seen.shape[1], HIDDEN, settings)
    if options.start:
        walkers.level = _load(learner, options.start / "checkpoint.pt")
    else:
        sketch(actor, walkers, rng)
        seen, critic_seen = _views(walkers)
    options.output.mkdir(parents=True, exist_ok=True)
    curve = Curve(options.output / "curve.csv", before=options.start and options.start / "curve.csv")
    per_update = options.robots * options.horizon
    updates = int((options.steps or gait.steps) // per_update)
    for update in range(updates):
        rows, means = [], []
        for _ in range(options.horizon):
            action, log_prob, mean = learner.act(seen)
            with torch.no_grad():
                value = learner.value(critic_seen)
            reward, fell, late, terms = walkers.step(action.numpy().astype(np.float64))
            next_critic = _tensor(walkers.critic_view())
            with torch.no_grad():
                # For an episode that ends by timeout, bootstrap from the critic's value.
                reward = _tensor(reward) + settings.gamma * learner.value(next_critic) * _tensor(late)
            done = fell | late
            rows.append((seen, critic_seen, action, log_prob, mean, value, reward, _tensor(done)))
            means.append(terms)
            curve.ended(fell, late)
            walkers.start_over(fell, late)
            seen, critic_seen = _views(walkers)
        data = _experience(rows, learner, critic_seen, settings)
        losses = learner.update(data, rng, critic_only=not options.start and update < WARM_UP)
        # After the update, so that it compares actions with those of the same network.
        actor.see(data["observation"])
        learner.critic_norm.update(data["critic"])
        terms = {name: float(np.mean([m[name] for m in means])) for name in means[0]}
        falls = curve.falls / (per_update * env.period)
        change = per_update / gait.ramp
        walkers.level = float(np.clip(walkers.level + (change if falls < SAFE else -0.5 * change), -1.0, 1.0))
        curve.write(per_update, walkers.level, terms, losses, actor.std().mean().item())
        if (update + 1) % 50 == 0 or update + 1 == updates:
            _save(learner, walkers.level, options.output / "checkpoint.pt")
            _note(options, curve.steps)


def sketch(actor: Actor, walkers: WalkingBatch, rng: np.random.Generator) -> None:
    """Let the robots follow the reference, and train the network to imitate it."""
    pairs = []
    for _ in range(SKETCH):
        seen, action = _tensor(walkers.policy_view()), walkers.reference_action()
        pairs.append((seen, _tensor(action)))
        _, fell, late, _ = walkers.step(action + rng.normal(0.0, 0.3, action.shape))
        walkers.start_over(fell, late)
    seen, action = (torch.cat(column) for column in zip(*pairs, strict=True))
    actor.see(seen)
    optimizer = torch.optim.Adam(actor.layers.parameters(), lr=1e-3)
    for _ in range(6):
        for chosen in torch.from_numpy(rng.permutation(len(seen))).split(1024):
            loss = (actor(seen[chosen]) - action[chosen]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"reference learned, mean squared error {loss.item():.4f}")


def _experience(rows: list, learner: Learner, critic_seen: torch.Tensor, s: PpoSettings) -> dict[str, torch.Tensor]:
    """Return the batch with generalised advantages."""
    seen, critic, action, log_prob, mean, value, reward, done = map(torch.stack, zip(*rows, strict=True))
    with torch.no_grad():
        following = learner.value(critic_seen)
    advantage, running = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in range(len(rows) - 1, -1, -1):
        going = 1.0 - done[t]
        error = reward[t] + s.gamma * following * going - value[t]
        running = error + s.gamma * s.trace * going * running
        advantage[t] = running
        following = value[t]
    table = {"observation": seen, "critic": critic, "action": action, "mean": mean}
    flat = {key: tensor.flatten(0, 1) for key, tensor in table.items()}
    vectors = {"log_prob": log_prob, "advantage": advantage, "return": advantage + value}
    return flat | {key: tensor.flatten() for key, tensor in vectors.items()}


class Curve:
    """The training curve: one row per update, in a file; it continues an earlier one.

    Args:
        file: The file, written anew.
        before: The earlier curve, or None.
    """

    def __init__(self, file: Path, *, before: Path | None) -> None:
        text = before.read_text() if before else ""
        self._file = file
        self._file.unlink(missing_ok=True)
        self.steps, seconds = 0, 0.0
        if text:
            self._file.write_text(text)
            last = list(csv.DictReader(text.splitlines()))[-1]
            self.steps, seconds = int(last["steps"]), float(last["seconds"])
        self.falls, self._ends, self._began = 0, 0, time.perf_counter() - seconds

    def ended(self, fell: np.ndarray, late: np.ndarray) -> None:
        """Count falls and full episodes."""
        self.falls += int(fell.sum())
        self._ends += int((fell | late).sum())

    def write(self, steps: int, level: float, terms: dict, losses: dict, std: float) -> None:
        """Write a row for a number of further steps."""
        seconds = time.perf_counter() - self._began
        self.steps += steps
        row = {"steps": self.steps, "seconds": round(seconds), "level": level, "falls": self.falls, "ends": self._ends}
        row |= terms | losses | {"std": std}
        new = not self._file.exists()
        with self._file.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()})
        self.falls = self._ends = 0


def _note(options: Options, steps: int) -> None:
    """Record everything needed to repeat the training."""
    versions = {module.__name__: module.__version__ for module in (torch, np, mujoco)}
    facts = {"robot": options.robot, "seed": options.seed, "steps": steps, "robots": options.robots}
    facts |= {"horizon": options.horizon, "weights": options.weights, "versions": versions}
    if options.start:
        facts["after"] = json.loads((options.start / "training.json").read_text())
    (options.output / "training.json").write_text(json.dumps(facts, indent=1) + "\n")


def _views(walkers: WalkingBatch) -> tuple[torch.Tensor, torch.Tensor]:
    return _tensor(walkers.policy_view()), _tensor(walkers.critic_view())


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(array, dtype=np.float32))


def _save(learner: Learner, level: float, file: Path) -> None:
    parts = {"actor": learner.actor, "critic": learner.critic, "critic_norm": learner.critic_norm}
    state = {name: part.state_dict() for name, part in parts.items()}
    torch.save(state | {"rate": learner.rate, "level": level}, file)


def _load(learner: Learner, file: Path) -> float:
    """Load an earlier training state; return the level."""
    stored = torch.load(file, weights_only=True)
    learner.actor.load_state_dict(stored["actor"])
    learner.critic.load_state_dict(stored["critic"])
    learner.critic_norm.load_state_dict(stored["critic_norm"])
    learner.rate = stored["rate"]
    return stored["level"]


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
