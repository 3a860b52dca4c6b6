"""Arms that follow a leader joint by joint: no jump, no speed above the limits, nothing inside the table."""

import numpy as np
import pytest
from test_robot_teleop import DT, TASKS, Driven, hand

from handloom.retarget import DeviceFrame, ExecutionState, LeaderSnapshot
from handloom.teleop.control.arm_teleop import JOINING


class Led(Driven):
    """A robot whose first arm has a leader."""

    def lead(self, joints, gripper=0.0, *, state: ExecutionState = ExecutionState.RUNNING) -> np.ndarray:
        self.frame = DeviceFrame(time_ns=self.frame.time_ns + 16_666_667, state=state)
        outputs = self.session.step(self.robot.inputs())
        leader = None if joints is None else LeaderSnapshot(joints=joints, gripper=gripper)
        leaders = {} if leader is None else {self.arm.device: leader}
        running = state == ExecutionState.RUNNING
        targets = self.robot.targets(outputs, DT, running=running, heard=(), leaders=leaders)
        self.scene.world.data.qpos[self.arm.arm.qpos_index] = self.arm.follower.q
        return targets

    @property
    def arm(self):
        return self.robot.arms[0]


@pytest.mark.parametrize("task", TASKS)
def test_an_arm_joins_its_leader_slowly_and_then_follows_as_fast_as_its_joints_may(task: str) -> None:
    led = Led(task)
    start = led.arm.follower.q
    goal = start + np.where(np.arange(len(start)) % 2, 0.3, -0.3)
    goal = np.clip(goal, led.arm.follower.chain.lower + 0.02, led.arm.follower.chain.upper - 0.02)
    last = start
    for _ in range(20):
        led.lead(goal)
        assert np.abs(led.arm.follower.q - last).max() <= JOINING[0] * DT * (1 + 1e-9)
        last = led.arm.follower.q
    assert led.arm.is_joining
    for _ in range(60):
        led.lead(goal)
    assert not led.arm.is_joining
    assert np.abs(led.arm.follower.q - goal).max() < 0.05 or led.arm.is_held_up


@pytest.mark.parametrize("task", TASKS)
def test_no_leader_makes_a_joint_faster_than_its_limit_or_leaves_its_range(task: str) -> None:
    led, rng = Led(task), np.random.default_rng(3)
    limit, chain = led.arm.arm.spec.speed_limit, led.arm.follower.chain
    last = led.arm.follower.q
    for k in range(150):
        joints = rng.uniform(-4.0, 4.0, chain.dof) if k % 30 == 0 or rng.random() < 0.1 else last + 0.02
        if rng.random() < 0.1:
            joints[rng.integers(chain.dof)] = rng.choice([np.nan, np.inf])
        targets = led.lead(joints, float(rng.choice([0.0, 1.0, np.nan])))
        now = led.arm.follower.q
        assert np.all(np.abs(now - last) <= limit * DT * (1 + 1e-9))
        assert np.all(now >= np.minimum(chain.lower, last) - 1e-9)
        assert np.all(now <= np.maximum(chain.upper, last) + 1e-9)
        assert not np.isinf(targets).any()
        last = now


def test_a_leader_of_another_arm_or_without_an_answer_holds_the_arm() -> None:
    led = Led("fr3_pick_place")
    start = led.arm.follower.q
    for joints in ([0.1] * 5, [np.nan] * 7, None):
        led.lead(joints)
        assert np.array_equal(led.arm.follower.q, start)
        assert not led.arm.is_engaged


def test_the_gripper_follows_the_leader_once_that_has_been_where_the_gripper_is() -> None:
    led = Led("so101_stack_cubes")
    start = led.arm.follower.q
    led.lead(start, 0.8)
    assert led.arm.closedness == 0.0
    led.lead(start, 0.05)
    led.lead(start, 1.0)
    assert led.arm.closedness == 1.0


def test_a_hand_goes_on_from_where_the_leader_left_the_arm() -> None:
    led = Led("so101_stack_cubes")
    goal = led.arm.follower.q + np.array([0.2, 0.0, 0.0, 0.0, 0.0])
    for _ in range(60):
        led.lead(goal)
    here = led.tools()
    led.tick(controller_right=hand())
    assert led.arm.is_engaged
    assert np.abs(led.tools() - here).max() < 1e-6
