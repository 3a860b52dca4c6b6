"""Disturbs the expert during execution; the recorded action remains the expert's own command."""

import math
from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.skills.schedule import HandPhase
from handloom.tasks.config.task_config import DisturbanceConfig

DAMPING = 0.1
"""Damping of the least squares that convert an offset of the hand to joint offsets [m or rad]."""
PUSHED = (0.02, 0.05)
"""Distance that an object slides when pushed [m]."""
LEAST_FRICTION = 0.3
"""Assumed friction of an object without contacts."""
PUSH_SECONDS = 0.13
"""Duration of a push [s]."""
PUSH_DELAY = (0.1, 1.0)
"""Delay of a push after the hand has started towards the object [s]."""
DROP_SECONDS = 0.3
"""Time that a hand stays open when it drops its object [s]."""
DROP_DELAY = (0.1, 0.7)
"""Delay of a drop after the hand has started moving with the object [s]."""


class Disturbance:
    """Correlated noise on each hand's commanded pose (an Ornstein-Uhlenbeck process), pushes and drops.

    The executed command is the expert's command plus the noise. Since the expert commands its own path, not the
    disturbed one, its action is the correction that a policy should learn (the idea of DART, Laskey et al. 2017). The
    noise has full strength on free paths, a fraction of it on straight paths to and from objects, and none while a
    gripper moves (``Schedule.room``), when the rest decays.

    A push is a horizontal force on an object that a hand is approaching, a drop opens a hand that carries one; each
    object is pushed and dropped at most once. The expert has to detect both (``Schedule.retries``).

    Args:
        config: How strong.
        scene: The scene in its first state.
        rng: The only source of randomness.
    """

    def __init__(self, config: DisturbanceConfig, scene: Scene, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        self._arms = [arm for robot in scene.robots.values() for arm in robot.arms]
        self._chains = [arm.chain() for arm in self._arms]
        self._offset = np.zeros((len(self._arms), 6))
        self._scene = scene
        self._begun: dict[HandPhase, int] = {}
        """Frame in which a push or a drop starts; negative if there is none."""
        self._force: dict[HandPhase, Array] = {}
        self._frame = 0
        self._share = math.exp(-1.0 / (scene.instance.fps * config.seconds))
        """Fraction of the offset that remains after a frame."""

    def added(self, targets: Array, room: float, phases: Sequence[HandPhase] = ()) -> Array:
        """Return the targets (controls,) to execute instead of given ones, without NaN; apply pushes.

        Args:
            targets: The expert's command.
            room: Strength of new noise in this frame, 0 to 1.
            phases: Current phase of each hand.
        """
        config = self._config
        scale = room * np.array([config.position] * 3 + [config.rotation] * 3)
        fresh = math.sqrt(1.0 - self._share**2) * scale
        self._offset = self._share * self._offset + fresh * self._rng.standard_normal(self._offset.shape)
        executed = targets.copy()
        for arm, chain, offset in zip(self._arms, self._chains, self._offset, strict=True):
            J = chain.jacobian(targets[arm.ctrl_index])
            executed[arm.ctrl_index] += J.T @ np.linalg.solve(J @ J.T + DAMPING**2 * np.eye(6), offset)
        self._upset(phases, executed)
        self._frame += 1
        return executed

    def _upset(self, phases: Sequence[HandPhase], executed: Array) -> None:
        """Start the pushes and drops that are due."""
        fps, forces = self._scene.instance.fps, self._scene.world.data.xfrc_applied
        for phase in phases:
            if phase not in self._begun:
                self._decide(phase)
        for phase, begin in self._begun.items():
            seconds = (self._frame - begin) / fps
            if phase.phase == "reach" and 0.0 <= seconds < PUSH_SECONDS + 1.0 / fps:
                body = self._scene.world.body_index(self._scene.body_of(phase.object))
                # An object reached before its push is due is not pushed, and a finished push ends.
                acts = seconds < PUSH_SECONDS and (phase in phases or forces[body].any())
                forces[body, :2] = self._force[phase] if acts else 0.0
            elif phase.phase == "carry" and 0.0 <= seconds < DROP_SECONDS and phase in phases:
                arm = self._scene.robot(phase.robot).arm(phase.arm)
                executed[arm.gripper_ctrl_index] = arm.spec.gripper_open

    def _decide(self, phase: HandPhase) -> None:
        """Draw whether and when an object is disturbed; all draws are always made, so that they stay independent."""
        config, fps = self._config, self._scene.instance.fps
        share, (early, late) = (config.pushes, PUSH_DELAY) if phase.phase == "reach" else (config.drops, DROP_DELAY)
        happens, delay = self._rng.random() < share, self._rng.uniform(early, late)
        angle, way = self._rng.uniform(-np.pi, np.pi), self._rng.uniform(*PUSHED)
        self._begun[phase] = self._frame + math.ceil(delay * fps) if happens else -fps
        world = self._scene.world
        body = world.body_index(self._scene.body_of(phase.object))
        touched = np.any(world.model.geom_bodyid[world.data.contact.geom] == body, axis=-1)
        friction = float(world.data.contact.friction[touched, 0].max(initial=LEAST_FRICTION))
        # The push accelerates it, then friction stops it: distance = speed * time / 2 + speed^2 / (2 * braking).
        braking = friction * float(np.linalg.norm(world.model.opt.gravity))
        speed = braking * (math.hypot(PUSH_SECONDS / 2.0, math.sqrt(2.0 * way / braking)) - PUSH_SECONDS / 2.0)
        strength = float(world.model.body_subtreemass[body]) * (speed / PUSH_SECONDS + braking)
        self._force[phase] = strength * np.array([math.cos(angle), math.sin(angle)])
