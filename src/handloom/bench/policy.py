"""Time of one policy step on one core: networks of the walking robots, and RMPflow among obstacles."""

import time
from typing import Any

import numpy as np

from handloom.bench.result import BenchResult
from handloom.isaac.motion_generation import Cuboid, RmpFlow, load_supported_motion_policy_config
from handloom.isaac.policy import Walker
from handloom.isaac.wheeled import floor_world
from handloom.robots import load_robot

ROBOTS = ("go2", "h1")
STEPS = 1500
OBSTACLES = (0, 10, 50)
CONTROL_PERIOD = 0.001
"""Period of a robot's own controller [s]."""


def run(robots: tuple[str, ...] = ROBOTS, steps: int = STEPS) -> BenchResult:
    """Time policies while their robots walk.

    Args:
        robots: Legged robots of the zoo.
        steps: Policy steps to time, after a tenth as many to warm up.
    """
    walking = [_timed(robot, steps) for robot in robots]
    following = [_followed(obstacles, steps) for obstacles in OBSTACLES]
    return BenchResult(bench="policy", rows=(*walking, *following))


def _followed(obstacles: int, steps: int) -> dict[str, Any]:
    """Let RMPflow track a target circling among boxes with an FR3, in steps of 1 ms."""
    policy = RmpFlow(**(load_supported_motion_policy_config("fr3") or {}))
    rng, none = np.random.default_rng(0), np.zeros(0)
    for k in range(obstacles):
        direction = rng.normal(size=3) * (1.0, 1.0, 0.5)
        place = 0.9 * direction / np.linalg.norm(direction) + (0.0, 0.0, 0.4)
        policy.add_obstacle(Cuboid(f"box{k}", scale=(0.1, 0.1, 0.1), position=tuple(place)), static=True)
    policy.update_world()
    q, qd = policy.robot.default_q.copy(), np.zeros(policy.robot.dof)
    spent, worked = np.empty(steps), np.empty(steps)
    for step in range(-steps // 10, steps):
        angle = 2.0 * np.pi * step * CONTROL_PERIOD / 4.0
        target = np.array([0.45 + 0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.45])
        start, worked_before = time.perf_counter(), time.thread_time()
        policy.set_end_effector_target(target, (0.0, 1.0, 0.0, 0.0))
        q, qd = policy.compute_joint_targets(q, qd, none, none, CONTROL_PERIOD)
        if step >= 0:
            spent[step], worked[step] = time.perf_counter() - start, time.thread_time() - worked_before
    return {
        "name": f"handloom RMPflow, fr3, {obstacles} boxes, 1 core",
        "joints": policy.robot.dof,
        "median_ms": float(np.median(spent) * 1e3),
        "median_cpu_ms": float(np.median(worked) * 1e3),
        "p99_cpu_ms": float(np.percentile(worked, 99) * 1e3),
        "steps_per_cpu_second": 1.0 / float(np.mean(worked)),
    }


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
        # CPU time of this thread: on a shared machine, wall time would include other work.
        "median_cpu_ms": float(np.median(worked) * 1e3),
        "p99_ms": float(np.percentile(spent, 99) * 1e3),
        "physics_steps_per_policy_step": decimation,
    }
