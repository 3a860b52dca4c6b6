"""A scene in which a task was done, with which tests do as they like."""

from dataclasses import dataclass, field

import numpy as np
from tests.oracle.answers.solids import Solids
from tests.oracle.grammar import Written
from tests.oracle.oracle import Oracle, Verdict
from tests.oracle.run_oracle import goal_holds, oracle_of

from handloom.scene import Scene
from handloom.values import EpisodeRecord

Array = np.ndarray
SETTLE = 1.5
"""How long physics gets to make a planted state real [s]."""
LEVEL = (1.0, 0.0, 0.0, 0.0)


@dataclass
class Bench:
    """A scene in which a task was done, the hand back home."""

    written: Written
    scene: Scene
    record: EpisodeRecord
    rng: np.random.Generator
    good: Array = field(init=False)

    def __post_init__(self) -> None:
        world, data = self.scene.world, self.scene.world.data
        world.restore_state(self.record.states[0])
        qpos, ctrl = np.array(data.qpos), np.array(data.ctrl)
        world.restore_state(self.record.states[-1])
        robots = tuple(f"{name}/" for name in self.scene.robots)
        for name, j in world.joints.items():
            if name.startswith(robots):
                data.qpos[world.model.jnt_qposadr[j]] = qpos[world.model.jnt_qposadr[j]]
        data.qvel[:] = 0.0
        data.ctrl[:] = ctrl
        world.forward()
        self.settle(0.5)
        self.good = world.save_state()

    def settle(self, seconds: float = SETTLE) -> None:
        """Let time pass."""
        world = self.scene.world
        world.invalidate()
        world.step(max(1, round(seconds / world.timestep)))

    def oracle(self) -> Oracle:
        """Return the oracle of the present state."""
        return oracle_of(self.scene, self.scene.world.save_state(), self.record.states[0])

    def verdict(self) -> Verdict:
        """Ask the oracle about the present state."""
        return self.oracle().judge(self.written.deeds)

    def judge(self) -> bool:
        """Ask the judge about the present state."""
        return goal_holds(self.scene, self.record.goal)

    def solids(self, name: str, part: str = "") -> Solids:
        """Return the solids of an object in the present state."""
        world = self.scene.world
        start = f"{name}/{part}" if part else f"{name}/"
        bodies = [b for b in range(world.model.nbody) if world.model.body(b).name.startswith(start)]
        return Solids(world.model, world.data, bodies)

    def box(self, name: str, part: str = "") -> tuple[Array, Array]:
        """Return the lowest and highest corner of an object."""
        surface = self.solids(name, part).surface
        return surface.min(axis=0), surface.max(axis=0)

    def is_free(self, name: str) -> bool:
        """Return whether an object moves freely."""
        return f"{name}/free" in dict(self.scene.world.joints.items())

    def put(self, name: str, low_middle: Array, quat: tuple[float, ...] = LEVEL, yaw: float | None = None) -> None:
        """Put an object so that the middle of its lowest side is at a point."""
        world = self.scene.world
        at, dof = world.qpos_index(f"{name}/free"), world.dof_index(f"{name}/free")
        angle = self.rng.uniform(-np.pi, np.pi) if yaw is None else yaw
        q = np.zeros(4)
        turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        w, v = turn[0], turn[1:]
        q[0] = w * quat[0] - v @ np.array(quat[1:])
        q[1:] = w * np.array(quat[1:]) + quat[0] * v + np.cross(v, quat[1:])
        world.data.qpos[at + 3 : at + 7] = q
        world.data.qvel[dof : dof + 6] = 0.0
        world.forward()
        low, high = self.box(name)
        middle = np.array([*(0.5 * (low + high))[:2], low[2]])
        world.data.qpos[at : at + 3] += np.asarray(low_middle) - middle
        world.forward()

    def set_joint(self, name: str, value: float) -> None:
        """Put a joint of an object to a share of its range."""
        world = self.scene.world
        j = world.joint_index(name)
        low, high = world.model.jnt_range[j]
        world.data.qpos[world.model.jnt_qposadr[j]] = low + value * (high - low)
        world.data.qvel[:] = 0.0
        world.forward()

    def depth(self) -> float:
        """Return how deep things are in each other, grains apart [m]: thin floors give way to what falls on them."""
        self.scene.world.refresh()
        return -min((contact.dist for contact in self.scene.world.data.contact), default=0.0)

    def table(self) -> float:
        """Return the height of the table [m]."""
        return float(self.box("table")[1][2])
