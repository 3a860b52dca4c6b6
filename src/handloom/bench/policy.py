"""Time of one step of a walking policy on one core: reading the robot, the network, writing the targets."""

import time
from typing import Any

import numpy as np

from handloom.bench.result import BenchResult
from handloom.control.policy import Walker
from handloom.control.wheeled import floor_world
from handloom.robots import load_robot

ROBOTS = ("go2", "h1")
STEPS = 1500


def run(robots: tuple[str, ...] = ROBOTS, steps: int = STEPS) -> BenchResult:
    """Time policies while their robots walk.

    Args:
        robots: Legged robots of the zoo.
        steps: Policy steps that are timed, after a tenth as many that are not.
    """
    return BenchResult(bench="policy", rows=tuple(_timed(robot, steps) for robot in robots))


def _timed(robot: str, steps: int) -> dict[str, Any]:
    description = load_robot(robot)
    walker = Walker(description, floor_world(description), prefix="robot/")
    policy, world = walker.policy, walker.world
    decimation = round(policy.env.period / world.timestep)
    spent, worked = np.empty(steps), np.empty(steps)
    for step in range(-steps // 10, steps):
        start, worked_before = time.perf_counter(), time.thread_time()
        policy.forward(world.timestep, [0.6, 0.0, 0.2])
        if step >= 0:
            spent[step], worked[step] = time.perf_counter() - start, time.thread_time() - worked_before
        world.step()
        for _ in range(decimation - 1):
            policy.forward(world.timestep, [0.6, 0.0, 0.2])
            world.step()
    return {
        "name": f"handloom {robot}, 1 core",
        "observation": policy.env.observation_size(len(policy.robot.dof_names)),
        "joints": len(policy.robot.dof_names),
        "median_ms": float(np.median(spent) * 1e3),
        # Work of the core alone: on a machine that others use, the clock also counts what they do.
        "median_cpu_ms": float(np.median(worked) * 1e3),
        "p99_ms": float(np.percentile(spent, 99) * 1e3),
        "physics_steps_per_policy_step": decimation,
    }
