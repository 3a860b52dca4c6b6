"""Success rates of the legged robots at walking, with varied floors, loads, starts and pushes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.bench.result import BenchResult
from handloom.errors import unknown_name
from handloom.isaac.policy import Walker
from handloom.isaac.wheeled.laps.lap import attach_robot, floor_spec
from handloom.robots import RobotDescription, load_robot
from handloom.sim import World

# Attempts differ in foot friction, in the load on the base as a fraction of the weight, in the initial joint positions
# [rad] and in the initial base velocity [m/s, rad/s].
GRIP, LOAD, JOINT_NOISE, SPEED_NOISE = (0.5, 1.0), 0.08, 0.05, 0.15
SETTLE_S = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """Motion of a robot: one row per control period of 20 ms."""

    fell: bool
    poses: Array
    """(n, 3): x [m], y [m], yaw [rad]; the yaw is unwrapped."""
    speeds: Array
    """(n, 3): vx, vy, w of the base in its own frame."""
    heights: Array
    """(n,): height of the base [m]."""

    @property
    def way(self) -> float:
        """Distance from start to end [m]."""
        return float(np.hypot(*(self.poses[-1] - self.poses[0])[:2]))

    def mean_speed(self, after: float = 1.0) -> Array:
        """Return the mean of vx, vy, w (3,) after ``after`` seconds."""
        return self.speeds[round(after / 0.02) :].mean(axis=0)


@dataclass(frozen=True, kw_only=True)
class WalkTrial:
    """A command, its disturbance, and its success criterion."""

    robot: str
    command: tuple[float, float, float]
    seconds: float
    push: float = 0.0
    """[N], for 0.2 s, at a random moment in a random horizontal direction."""
    done: Callable[[Walk], bool]


def _keeps_pace(walk: Walk, command: tuple[float, float, float]) -> bool:
    """Whether the mean speed is within 10 % of the command, or 0.1 m/s and 0.1 rad/s, whichever is larger."""
    error = np.abs(walk.mean_speed() - command)
    return bool(np.all(error <= np.maximum(0.1 * np.abs(command), 0.1)))


TRIALS: dict[str, WalkTrial] = {
    "go2 stands 5 s": WalkTrial(robot="go2", command=(0.0, 0.0, 0.0), seconds=5.0, done=lambda walk: walk.way < 0.03),
    "go2 walks 10 s at 1 m/s": WalkTrial(
        robot="go2", command=(1.0, 0.0, 0.0), seconds=10.0, done=lambda walk: _keeps_pace(walk, (1.0, 0.0, 0.0))
    ),
    "go2 walks sideways 5 s at 0.4 m/s": WalkTrial(
        robot="go2", command=(0.0, 0.4, 0.0), seconds=5.0, done=lambda walk: _keeps_pace(walk, (0.0, 0.4, 0.0))
    ),
    "go2 turns 5 s at 1 rad/s on the spot": WalkTrial(
        robot="go2",
        command=(0.0, 0.0, 1.0),
        seconds=5.0,
        done=lambda walk: _keeps_pace(walk, (0.0, 0.0, 1.0)) and walk.way < 0.3,
    ),
    "go2 is pushed with 30 N standing": WalkTrial(
        robot="go2", command=(0.0, 0.0, 0.0), seconds=6.0, push=30.0, done=lambda walk: walk.way < 0.6
    ),
    "go2 is pushed with 30 N walking": WalkTrial(
        robot="go2", command=(0.6, 0.0, 0.0), seconds=6.0, push=30.0, done=lambda walk: walk.way > 2.5
    ),
    "h1 stands 5 s": WalkTrial(robot="h1", command=(0.0, 0.0, 0.0), seconds=5.0, done=lambda walk: walk.way < 0.1),
    "h1 walks 5 m": WalkTrial(robot="h1", command=(0.8, 0.0, 0.0), seconds=8.0, done=lambda walk: walk.way > 5.0),
    "h1 turns 5 s at 0.6 rad/s on the spot": WalkTrial(
        robot="h1",
        command=(0.0, 0.0, 0.6),
        seconds=5.0,
        done=lambda walk: _keeps_pace(walk, (0.0, 0.0, 0.6)) and walk.way < 0.5,
    ),
    "h1 is pushed with 60 N walking": WalkTrial(
        robot="h1", command=(0.6, 0.0, 0.0), seconds=6.0, push=60.0, done=lambda walk: walk.way > 2.5
    ),
}


def run(names: tuple[str, ...] | None = None, seeds: int = 20, seed: int = 0) -> BenchResult:
    """Attempt everything that a walking robot should be able to do.

    Args:
        names: Names of :data:`TRIALS`, or of robots; all by default.
        seeds: Attempts at each.
        seed: First of the seeds.
    """
    rows = []
    for name in _chosen(names):
        walks = [attempt(TRIALS[name], seed + index) for index in range(seeds)]
        done = [not walk.fell and TRIALS[name].done(walk) for walk in walks]
        rows.append({"name": name, "attempts": seeds, "done": sum(done), **_figures(walks)})
    return BenchResult(bench="walking", rows=tuple(rows))


def attempt(trial: WalkTrial, seed: int) -> Walk:
    """Let a robot do a trial once, with a floor and a load chosen by a seed."""
    rng = np.random.default_rng(seed)
    description = load_robot(trial.robot)
    walker = Walker(description, _world(description, rng), prefix="robot/")
    _disturb(walker, rng)
    world, base = walker.world, walker.robot.root.body
    steps = round(0.02 / world.timestep)
    walker.command((0.0, 0.0, 0.0), 0.02)
    walker.advance(round(SETTLE_S / world.timestep))
    walker.command(trial.command, 0.02)
    begin, angle = rng.uniform(1.5, 3.0), rng.uniform(-np.pi, np.pi)
    force = trial.push * np.array([np.cos(angle), np.sin(angle), 0.0])
    rows = []
    for tick in range(round(trial.seconds / 0.02)):
        world.data.xfrc_applied[base, :3] = force if begin <= tick * 0.02 < begin + 0.2 else 0.0
        walker.advance(steps)
        pose, velocity = walker.pose(), walker.robot.root.velocity()
        level = np.array([np.cos(pose.yaw), np.sin(pose.yaw)])
        across = np.array([-level[1], level[0]])
        speeds = (velocity[:2] @ level, velocity[:2] @ across, velocity[5])
        rows.append([pose.x, pose.y, pose.yaw, *speeds, walker.robot.root.pose()[2, 3]])
        if walker.fallen:
            break
    table = np.array(rows)
    table[:, 2] = np.unwrap(table[:, 2])
    return Walk(fell=walker.fallen, poses=table[:, :3], speeds=table[:, 3:6], heights=table[:, 6])


def _world(description: RobotDescription, rng: np.random.Generator) -> World:
    """Put the robot on a floor, with this attempt's friction and load."""
    spec, robot = floor_spec(description), description.spec()
    grip, load = rng.uniform(*GRIP), rng.uniform(0.0, LOAD)
    weight = sum(body.mass for body in robot.bodies)
    drive = description.config.drive
    assert drive is not None
    base = robot.body(drive.base_path)
    base.mass += load * weight
    for geom in robot.geoms:
        if "foot" in geom.name:
            geom.friction[0] = grip
    attach_robot(spec, robot, description, prefix="robot/")
    return World.from_spec(spec)


def _disturb(walker: Walker, rng: np.random.Generator) -> None:
    robot, yaw = walker.robot, rng.uniform(-np.pi, np.pi)
    position, _ = robot.get_world_pose()
    robot.set_world_pose(position, [np.cos(yaw / 2.0), 0.0, 0.0, np.sin(yaw / 2.0)])
    noise = rng.uniform(-JOINT_NOISE, JOINT_NOISE, robot.num_dof)
    robot.set_joint_positions(robot.get_joint_positions() + noise)
    robot.set_linear_velocity(rng.uniform(-SPEED_NOISE, SPEED_NOISE, 3))
    robot.set_angular_velocity(rng.uniform(-SPEED_NOISE, SPEED_NOISE, 3))
    mujoco.mj_forward(walker.world.model, walker.world.data)


def _figures(walks: list[Walk]) -> dict[str, Any]:
    standing = [walk for walk in walks if not walk.fell]
    speeds = np.array([walk.mean_speed() for walk in standing]).reshape(-1, 3).mean(axis=0)
    return {
        "falls": len(walks) - len(standing),
        "mean_vx_m_s": float(speeds[0]),
        "mean_vy_m_s": float(speeds[1]),
        "mean_w_rad_s": float(speeds[2]),
        "mean_way_m": float(np.mean([walk.way for walk in walks])),
    }


def _chosen(names: tuple[str, ...] | None) -> list[str]:
    if not names:
        return list(TRIALS)
    found = []
    for name in names:
        matching = [key for key, trial in TRIALS.items() if name in (key, trial.robot)]
        if not matching:
            raise unknown_name("walking trial or robot", name, [*TRIALS, *{t.robot for t in TRIALS.values()}])
        found += matching
    return found
