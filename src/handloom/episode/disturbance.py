"""Pushes the hand off its way while the expert works: what is recorded as action stays what the expert asks for."""

import math

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import Chain
from handloom.scene import Scene
from handloom.tasks.config.task_config import DisturbanceConfig

DAMPING = 0.1
"""Of the least squares that turn an offset of the hand into one of the joints [m or rad]."""


class Disturbance:
    """Correlated noise on the pose that each hand is commanded to: an Ornstein-Uhlenbeck process.

    The executed command is the asked one plus the noise. Since the expert asks for its way and not for the disturbed
    one, its action is the correction a policy should learn (the idea of DART, Laskey et al. 2017). The noise is driven
    at full strength on free ways, at a fraction of it on straight ways to and from objects, and not while a gripper
    works (``Schedule.room``); what is left of it then dies away.

    Args:
        config: How strong.
        scene: The scene in its first state.
        rng: The only source of randomness.
    """

    def __init__(self, config: DisturbanceConfig, scene: Scene, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        world = scene.world
        self._arms = [arm for robot in scene.robots.values() for arm in robot.arms]
        self._chains = [
            Chain.from_model(world.model, arm.tool_body, arm.base_body, arm.joint_names, qpos=world.data.qpos)
            for arm in self._arms
        ]
        self._offset = np.zeros((len(self._arms), 6))
        self._share = math.exp(-1.0 / (scene.instance.fps * config.seconds))
        """Of the offset that is left after a frame."""

    def added(self, targets: Array, room: float) -> Array:
        """Return the targets (controls,) that are executed in place of given ones, without NaN.

        Args:
            targets: What the expert asks for.
            room: How strongly the noise is driven in this frame, 0 to 1.
        """
        config = self._config
        scale = room * np.array([config.position] * 3 + [config.rotation] * 3)
        fresh = math.sqrt(1.0 - self._share**2) * scale
        self._offset = self._share * self._offset + fresh * self._rng.standard_normal(self._offset.shape)
        executed = targets.copy()
        for arm, chain, offset in zip(self._arms, self._chains, self._offset, strict=True):
            J = chain.jacobian(targets[arm.ctrl_index])
            executed[arm.ctrl_index] += J.T @ np.linalg.solve(J @ J.T + DAMPING**2 * np.eye(6), offset)
        return executed
