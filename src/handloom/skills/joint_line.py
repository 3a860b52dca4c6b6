"""Move the joints to a configuration on a straight line in joint space."""

from abc import abstractmethod

import numpy as np

from handloom.arrays import Array
from handloom.skills.skill import ConfigT, Skill
from handloom.values import Check, Command


class JointLine(Skill[ConfigT]):
    """What the joint-space skills share: a goal, a line of joint targets, and the wait for the arm to follow."""

    def simple_generate_manip_cmds(self) -> None:
        """Write one joint target per frame, or none when there is no goal."""
        self._goal: Array | None = None
        self._goal = self.joint_goal()
        if self._goal is not None:
            speed, fps = self.controller.limits.velocity, self.scene.instance.fps
            line = joint_line(self.controller.target, self._goal, self.steps(), speed, fps)
            self.manip_list = [self._joint_command(q) for q in line]
            self.manip_list += [self._joint_command(self._goal)] * self.patience

    @abstractmethod
    def joint_goal(self) -> Array | None:
        """Return the wanted joints (n,) [rad], or None after :meth:`fail`."""

    @abstractmethod
    def steps(self) -> int:
        """Return how many frames the move takes at least."""

    @abstractmethod
    def tolerance(self) -> float:
        """Return the distance (norm) at which the goal counts as reached [rad]."""

    @abstractmethod
    def gripper(self) -> int:
        """Return the gripper state during the move, 1 open or -1 closed."""

    def is_done(self) -> bool:
        """Drop one command per frame; return whether the goal is reached after the line, or patience has run out."""
        waiting = len(self.manip_list) <= self.patience
        if self.manip_list:
            self.manip_list.pop(0)
        goal = self._goal
        arrived = goal is not None and np.linalg.norm(self.controller.arm.joints - goal) < self.tolerance()
        if waiting and arrived:
            self.manip_list = []
        return not self.manip_list

    def checks(self) -> tuple[Check, ...]:
        """Return: the joints are at the goal."""
        arm = self.controller.arm
        joints = [] if self._goal is None else self._goal.tolist()
        arguments = {"robot": arm.robot_name, "arm": arm.name, "joints": joints, "distance": self.tolerance()}
        return (Check(name="joints_at", arguments=arguments),)

    def _joint_command(self, joints: Array) -> Command:
        return self.stay("dummy_forward", arm_action=joints, gripper_state=self.gripper())


def joint_line(start: Array, goal: Array, steps: int, speed: Array, fps: int) -> Array:
    """Return joint targets (frames, n) [rad] on a straight line that starts and ends at rest.

    The published line is as fast as its steps say; a long way in few steps would throw objects about, so it takes more.

    Args:
        start: Joints (n,) [rad].
        goal: Joints (n,) [rad].
        steps: Frames at least.
        speed: Largest speed of each joint (n,) [rad/s].
        fps: Frames per second.
    """
    fewest = int(np.ceil(fps * 1.875 * (np.abs(goal - start) / speed).max()))
    count = max(1, steps, fewest)
    s = np.arange(1, count + 1) / count
    smooth = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return start + smooth[:, None] * (goal - start)
