"""A policy as the command source of an episode; goals are judged along the way."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset import Feature
from handloom.episode.actions import Actions
from handloom.episode.observer import Observer
from handloom.errors import InputError
from handloom.render.backends import run_backend
from handloom.scene import Scene
from handloom.skills.deeds import make_judge
from handloom.skills.schedule import Stages
from handloom.values import Failure, FunnelStage, SkillSpan

Observation = dict[str, NDArray[Any]]
OPTIONS = {"actions": "joint", "frames_per_action": 1, "cameras": None, "size": None, "objects": False, "inputs": {}}
"""Optional attributes of a policy, and their defaults. ``inputs`` maps the names of required observations to their
shapes, or to None for any shape.
"""


class TrainedPolicy(Protocol):
    """Policy interface of ``handloom evaluate``. Attributes in ``OPTIONS`` declare observations and actions."""

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Begin an episode.

        Args:
            instruction: The instruction.
            rng: The only source of randomness.
        """
        ...

    def act(self, observation: Observation) -> Array:
        """Return an action (n,), or a chunk of actions (k, n) to execute before the next observation."""
        ...


class PolicySource:
    """Drives a scene by a policy until the task's goals are achieved or the frames are used up.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task; the policy is judged by their effects on the scene, or by the task's goal.
        rng: Random generator for the policy and for the terms.
        policy: The policy.
    """

    recording = True

    def __init__(self, scene: Scene, stages: Stages, rng: np.random.Generator, *, policy: TrainedPolicy) -> None:
        said = {name: getattr(policy, name, default) for name, default in OPTIONS.items()}
        self.failure: Failure | None = None
        self._scene = scene
        self._policy = policy
        self._judge = make_judge(scene, stages, rng)
        self._actions = Actions(scene, said["actions"])
        check_inputs(said["inputs"], Observer(scene, objects=said["objects"]).features)
        self._observer = Observer(
            scene, cameras=said["cameras"], size=said["size"], objects=said["objects"], backend=run_backend()
        )
        self._frames = int(said["frames_per_action"])
        self._chunk: deque[Array] = deque()
        self._waypoints: deque[Array] = deque()
        policy.reset(scene.instance.instruction, rng)

    @property
    def timeline(self) -> list[SkillSpan]:
        """Timeline of achieved steps."""
        return self._judge.timeline

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None when the goals are achieved or can no longer be reached."""
        self._judge.look(frame)
        if self._judge.achieved:
            return None
        if frame >= self._scene.instance.max_frames - 1:
            self.failure = self._judge.failure(frame)
            return None
        return self.command(frame)

    def interrupt(self) -> None:
        """Discard pending actions: the robot was moved by another source, so the policy must observe again."""
        self._chunk.clear()
        self._waypoints.clear()

    def command(self, frame: int) -> Array | None:
        """Return the policy's command in a frame (controls,), regardless of the goals; None if it is not finite."""
        if not self._waypoints:
            if not self._chunk:
                self._chunk.extend(self._asked())
            action = self._chunk.popleft()
            if not np.isfinite(action).all():
                detail = f"at frame {frame} the policy returned values that are not finite: {action}"
                self.failure = Failure(stage=FunnelStage.EXECUTE, reason="action_not_finite", detail=detail)
                return None
            targets = self._actions.targets(action)
            self._waypoints.extend(interpolated(self._scene, targets, self._frames))
        return self._waypoints.popleft()

    def _asked(self) -> Array:
        chunk = np.asarray(self._policy.act(self._observer.observe()), float)
        if chunk.ndim not in (1, 2) or chunk.size == 0:
            raise InputError(f"a policy returns an action (n,) or a chunk (k, n), got shape {chunk.shape}")
        return np.atleast_2d(chunk)


def check_inputs(inputs: Mapping[str, tuple[int, ...] | None], observed: Sequence[Feature]) -> None:
    """Raise an error that lists every policy input that the task lacks or has in another shape."""
    shapes = {feature.name: feature.shape for feature in observed}
    missing = [name for name in inputs if name not in shapes]
    if missing:
        raise InputError(
            f"the policy needs {', '.join(missing)}, which this task does not have; available are {', '.join(shapes)}"
        )
    for name, shape in inputs.items():
        if shape is not None and shape != shapes[name]:
            raise InputError(f"the policy needs {name} of shape {shape}; in this task it has {shapes[name]}")


def interpolated(scene: Scene, targets: Array, frames: int) -> Array:
    """Return targets (frames, controls) interpolated linearly from the current ones to given ones; NaN stays."""
    present = scene.world.data.ctrl
    share = np.arange(1, frames + 1)[:, None] / frames
    between = present + (targets - present) * share
    between[-1] = targets  # Exact to the last bit.
    return between
