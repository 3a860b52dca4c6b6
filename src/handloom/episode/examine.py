"""Loads on the robots in a recorded episode: penetration depths, and margins to joint and speed limits."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.episode.loop import USER_INPUTS
from handloom.scene import Scene, build_scene
from handloom.values import EpisodeRecord


@dataclass(frozen=True, kw_only=True)
class Penetration:
    """The deepest penetration of a kind during an episode."""

    metres: float = 0.0
    """Depth [m]; 0 without contact."""
    between: tuple[str, str] = ("", "")
    """The two bodies."""
    time: float = 0.0
    """[s]"""


@dataclass(frozen=True, kw_only=True)
class Examination:
    """Figures over every physics step of an episode."""

    steps: int
    """Physics steps examined."""
    into_surroundings: Penetration
    """Between a robot and a fixed object, such as the table."""
    between_arms: Penetration
    """Between two arms, of one robot or of two."""
    joint_excess: float
    """Largest excess of any arm joint over its range [rad]; 0 without excess."""
    speed: float
    """Largest speed of any arm joint [rad/s]."""
    share_of_speed_limit: float
    """Largest speed of any arm joint as a fraction of that joint's limit; 0 if unknown."""
    commanded_speed: float
    """Largest change of any arm joint's target from frame to frame [rad/s]."""
    final_state_same: bool
    """Whether the last state equals that of the recording, bit for bit."""


def examine(record: EpisodeRecord) -> Examination:
    """Simulate a recorded episode again and measure every physics step, not only the frames."""
    scene = build_scene(record.instance)
    world, watch = scene.world, _Watch(scene)
    model, data = world.model, world.data
    for inputs in record.applied:
        mujoco.mj_setState(model, data, np.ascontiguousarray(inputs), USER_INPUTS)
        for _ in range(record.instance.substeps):
            world.step()
            watch.look()
    same = world.save_state().tobytes() == np.ascontiguousarray(record.states[-1]).tobytes()
    return Examination(
        steps=record.frames * record.instance.substeps,
        into_surroundings=watch.surroundings,
        between_arms=watch.arms,
        joint_excess=watch.excess,
        speed=watch.speed,
        share_of_speed_limit=watch.share,
        commanded_speed=_commanded_speed(scene, record),
        final_state_same=same,
    )


def _commanded_speed(scene: Scene, record: EpisodeRecord) -> float:
    controls = np.concatenate([arm.ctrl_index for robot in scene.robots.values() for arm in robot.arms])
    change = np.abs(np.diff(record.applied[:, controls], axis=0))
    return float(change.max(initial=0.0)) * record.instance.fps


class _Watch:
    """Collects the worst figures."""

    def __init__(self, scene: Scene) -> None:
        world = scene.world
        self._model, self._data = world.model, world.data
        self.surroundings, self.arms = Penetration(), Penetration()
        self.excess, self.speed, self.share = 0.0, 0.0, 0.0
        self._owner = _arm_of_bodies(scene)
        robots = [f"{name}/" for name in scene.robots]
        self._robot = np.array([_name(self._model, b).startswith(tuple(robots)) for b in range(self._model.nbody)])
        self._fixed = (self._model.body_weldid == 0) & ~self._robot
        arms = [arm for robot in scene.robots.values() for arm in robot.arms]
        joints = [world.joint_index(joint) for arm in arms for joint in arm.joint_names]
        self._speed_limit = np.concatenate([arm.spec.speed_limit for arm in arms]) if arms else np.zeros(0)
        self._qpos, self._dof = self._model.jnt_qposadr[joints], self._model.jnt_dofadr[joints]
        self._range = self._model.jnt_range[joints]

    def look(self) -> None:
        """Record the figures of the last step."""
        q = self._data.qpos[self._qpos]
        outside = np.maximum(self._range[:, 0] - q, q - self._range[:, 1])
        self.excess = max(self.excess, float(outside.max(initial=0.0)))
        speed = np.abs(self._data.qvel[self._dof])
        self.speed = max(self.speed, float(speed.max(initial=0.0)))
        self.share = max(self.share, float((speed / self._speed_limit).max(initial=0.0)))
        contact = self._data.contact
        a, b = self._model.geom_bodyid[contact.geom.T]
        into = (self._robot[a] & self._fixed[b]) | (self._robot[b] & self._fixed[a])
        first, second = self._owner[a], self._owner[b]
        apart = (first >= 0) & (second >= 0) & (first != second)
        self.surroundings = self._deeper(self.surroundings, into, a, b)
        self.arms = self._deeper(self.arms, apart, a, b)

    def _deeper(
        self, worst: Penetration, of: NDArray[np.bool_], a: NDArray[np.intp], b: NDArray[np.intp]
    ) -> Penetration:
        found = np.flatnonzero(of)
        if len(found) == 0:
            return worst
        k = found[np.argmin(self._data.contact.dist[found])]
        depth = -float(self._data.contact.dist[k])
        if depth <= worst.metres:
            return worst
        names = (_name(self._model, int(a[k])), _name(self._model, int(b[k])))
        return Penetration(metres=depth, between=names, time=float(self._data.time))


def _name(model: mujoco.MjModel, body: int) -> str:
    return str(model.body(body).name)


def _arm_of_bodies(scene: Scene) -> NDArray[np.intp]:
    """Return the index of the arm that moves each body (nbody,); -1 for other bodies."""
    world = scene.world
    owner = np.full(world.model.nbody, -1)
    for number, arm in enumerate(arm for robot in scene.robots.values() for arm in robot.arms):
        root = world.model.jnt_bodyid[world.joint_index(arm.joint_names[0])]
        for body in world.subtree(_name(world.model, int(root))):
            owner[world.body_index(body)] = number
    return owner
