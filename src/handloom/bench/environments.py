"""Steps per second of a task as Gymnasium environments, in one process and in one per core."""

import time
from functools import partial
from typing import Any

import numpy as np

from handloom.bench.result import BenchResult, machine_facts
from handloom.errors import InputError, require

KINDS: dict[str, dict[str, Any]] = {
    "poses": {"cameras": (), "objects": True, "goal": True},
    "images 84x84": {"cameras": None, "size": (84, 84), "preset": "fast"},
}
"""What an environment observes: true poses with the state of the goal, or every camera."""
MOTION = 0.004
"""Largest motion of a tool per step, in each direction [m] and about each axis [rad]."""
WARM_UP = 5
"""Steps before the clock starts: kernels are loaded, every process has built its scene."""


def run(names: tuple[str, ...] | None = None, seeds: int = 300, seed: int = 0) -> BenchResult:
    """Measure steps of one dataset frame with random tool motions and dense rewards.

    Args:
        names: Tasks; ``fr3_pick_place`` by default.
        seeds: Steps of each environment.
        seed: First seed of the scenes and motions.
    """
    if seeds < 1:
        raise InputError(f"at least one step is needed, got {seeds}")
    cores = machine_facts()["cores"]
    rows = []
    for task in names or ("fr3_pick_place",):
        for kind, options in KINDS.items():
            for processes in sorted({1, cores}):
                rows.append({"name": f"handloom {task}, {kind}", **_measured(task, options, processes, seeds, seed)})
    return BenchResult(bench="gym", rows=tuple(rows))


def _measured(task: str, options: dict[str, Any], processes: int, steps: int, seed: int) -> dict[str, Any]:
    """Return the figures of one kind of environment in a number of processes."""
    vector = require("gymnasium.vector", extra="gym")
    pool = vector.AsyncVectorEnv([partial(_make, task, options)] * processes, context="spawn")
    try:
        begin = time.perf_counter()
        pool.reset(seed=seed)
        reset_s = time.perf_counter() - begin
        rng = np.random.default_rng(seed)
        space = pool.single_action_space
        shape = (WARM_UP + steps, processes, *space.shape)
        actions = np.clip(rng.uniform(-MOTION, MOTION, shape), space.low, space.high)
        for action in actions[:WARM_UP]:
            pool.step(action)
        begin, episodes = time.perf_counter(), 0
        for action in actions[WARM_UP:]:
            _, _, terminated, truncated, _ = pool.step(action)
            episodes += int(np.sum(terminated | truncated))
        seconds = time.perf_counter() - begin
    finally:
        pool.close()
    return {
        "num_envs": processes,
        "steps_per_s": processes * steps / seconds,
        "new_scenes": episodes,
        "first_reset_s": reset_s,
    }


def _make(task: str, options: dict[str, Any]) -> Any:
    from handloom.gym import TaskEnvironment

    return TaskEnvironment(task, actions="tool_delta", reward="progress", **options)
