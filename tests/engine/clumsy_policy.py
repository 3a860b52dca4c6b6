"""A policy that reaches beside a cube in some scenes: what the expert has to take over from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.robot_columns import pose7
from handloom.spatial import invert_pose, pose_from_pos_quat

ABOVE, LOW = 0.12, 0.0
"""Heights of the tool centre over the cube's middle on its way [m]."""
TCP = 0.1034
"""From the tool to its centre, of the FR3 [m]."""


class ClumsyPolicy:
    """Goes over the cube, down, shuts the hand and lifts; ``off`` metres beside it."""

    actions = "tool_pose"
    frames_per_action = 3
    cameras: tuple[str, ...] = ()
    objects = True

    def __init__(self, off: float = 0.0) -> None:
        self.off = off

    def reset(self, instruction: str, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self.steps, self.start = 0, None

    def act(self, observation: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the next pose of the tool with the opening (8,)."""
        seven = observation["observation.ee_pose.base"].astype(float)
        if self.start is None:
            T_base_tool, world = (pose_from_pos_quat(v[:3], v[3:]) for v in (seven, self._world(observation)))
            cube = pose_from_pos_quat(*np.split(observation["observation.objects.cube"].astype(float), [3]))
            self.start, self.goal = seven, (T_base_tool @ invert_pose(world) @ cube)[:3, 3]
        self.steps += 1
        heights = np.interp(self.steps, [0, 20, 40, 60, 75], [ABOVE, ABOVE, LOW, LOW, 0.15])
        goal = self.goal + np.array([self.off, 0.0, heights + TCP])
        share = min(1.0, self.steps / 15)
        position = (1 - share) * self.start[:3] + share * goal
        down = pose7(np.array([np.diag([1.0, -1.0, -1.0, 1.0])]))[0, 3:]
        return np.r_[position, down, 1.0 if self.steps < 48 else 0.0]

    def _world(self, observation: dict[str, NDArray[Any]]) -> NDArray[Any]:
        return observation["observation.ee_pose.world"].astype(float)


class Missing(ClumsyPolicy):
    """Always misses."""

    def __init__(self) -> None:
        super().__init__(0.05)
