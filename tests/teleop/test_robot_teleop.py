"""Arms behind a clutch: engaging moves nothing, releasing stops, and what the hand does is followed."""

from collections.abc import Iterator

import numpy as np
import pytest

from handloom.episode.loop import apply_targets
from handloom.retarget import (
    ControllerSnapshot,
    DeviceFrame,
    ExecutionState,
    SqueezeGate,
    TeleopSession,
    TeleopSessionConfig,
)
from handloom.scene import Scene, build_scene
from handloom.tasks import load_task, sample_task
from handloom.teleop.control.robot_teleop import RobotTeleop
from spread import every

DT = 1.0 / 60.0
TASKS = (
    "fr3_pick_place",
    "franka_robotiq85_pick_place",
    "fr3_suction_stack_cartons",
    "so101_stack_cubes",
    "lift2_handover",
    "split_aloha_tidy_shelf",
    "genie1_two_plates",
    "pick_place on fr3_pair",
    "pick_place on aloha",
    "pick_place on ur5e_robotiq85",
)
"""One for every robot with arms; a deed names the robot that does it."""


def scene_of(task: str) -> Scene:
    name, _, robot = task.partition(" on ")
    return build_scene(sample_task(load_task(name, robot=robot or None), 0, 0))


class Driven:
    """A scene's robots under a session whose frames the test gives; arms are where they are told to be at once."""

    def __init__(self, task: str) -> None:
        self.scene = scene_of(task)
        self.robot = RobotTeleop(self.scene)
        self.frame = DeviceFrame(time_ns=0)
        self.session = TeleopSession(TeleopSessionConfig("test", self.robot.graph, devices=lambda: self.frame))
        self.session.__enter__()

    def tick(self, *, state: ExecutionState = ExecutionState.RUNNING, **hands: ControllerSnapshot | None) -> np.ndarray:
        self.frame = DeviceFrame(time_ns=self.frame.time_ns + 16_666_667, state=state, **hands)
        outputs = self.session.step(self.robot.inputs())
        heard = [device for device, sample in hands.items() if sample is not None]
        targets = self.robot.targets(outputs, DT, running=state == ExecutionState.RUNNING, heard=heard)
        for arm in self.robot.arms:
            self.scene.world.data.qpos[arm.arm.qpos_index] = arm.follower.q
        return targets

    def tools(self) -> np.ndarray:
        """Where the commanded tools are (arms, 3) [m]."""
        return np.array([arm.follower.T_base_tool[:3, 3] for arm in self.robot.arms])


def hand(
    position=(0.0, 1.0, -0.3), quat=(0.0, 0.0, 0.0, 1.0), *, squeeze=1.0, valid=True, **more
) -> ControllerSnapshot:
    return ControllerSnapshot(
        grip_position=position, grip_orientation=quat, grip_is_valid=valid, squeeze_value=squeeze, **more
    )


def random_hand(rng: np.random.Generator) -> ControllerSnapshot | None:
    """Return what a tracker may say: mostly a hand, sometimes nothing, NaN, a zero quaternion or an invalid pose."""
    position, quat = rng.uniform(-1.0, 2.0, 3), rng.normal(size=4)
    kind = rng.integers(10)
    if kind == 0:
        return None
    if kind == 1:
        position[rng.integers(3)] = rng.choice([np.nan, np.inf, 1e30])
    if kind == 2:
        quat[:] = 0.0
    if kind == 3:
        quat[rng.integers(4)] = np.nan
    return hand(position, quat, squeeze=float(rng.choice([0.0, 1.0], p=[0.3, 0.7])), valid=kind != 4)


@pytest.mark.parametrize("task", TASKS)
def test_engaging_never_moves_an_arm_in_a_thousand_random_sequences(task: str) -> None:
    driven, rng = Driven(task), np.random.default_rng(24)
    latches, worst = 0, 0.0
    engaged = [False] * len(driven.robot.arms)
    while latches < 1000 // len(TASKS):
        state = ExecutionState(rng.choice(["running", "paused", "stopped"], p=[0.9, 0.05, 0.05]))
        hands = {arm.device: random_hand(rng) for arm in driven.robot.arms}
        before = driven.tools()
        driven.tick(state=state, **hands)
        jump = np.linalg.norm(driven.tools() - before, axis=1)
        for number, arm in enumerate(driven.robot.arms):
            if arm.is_engaged and not engaged[number]:
                latches, worst = latches + 1, max(worst, float(jump[number]))
            elif not arm.is_engaged:
                assert jump[number] == 0.0
            engaged[number] = arm.is_engaged
    assert worst < 1e-6


def wandering_hand(rng: np.random.Generator) -> Iterator[ControllerSnapshot]:
    """Yield a hand that holds on for seconds and is swung about, faster than any arm, with leaps of the tracker."""
    position, velocity, turn, spin = np.array([0.0, 1.0, -0.3]), np.zeros(3), np.zeros(3), np.zeros(3)
    held = True
    while True:
        velocity = 0.95 * velocity + rng.normal(scale=0.4, size=3)
        spin = 0.95 * spin + rng.normal(scale=1.0, size=3)
        position = np.clip(position + velocity * DT, [-1.0, 0.0, -1.3], [1.0, 2.0, 0.7])
        turn = turn + spin * DT
        if rng.random() < 0.02:
            position = position + rng.normal(scale=0.3, size=3)
        held = held if rng.random() > (0.01 if held else 0.2) else not held
        angle = float(np.linalg.norm(turn))
        quat = (*(np.sin(angle / 2) * turn / max(angle, 1e-12)), np.cos(angle / 2))
        yield hand(tuple(position), quat, squeeze=float(held), trigger_value=float(rng.random() < 0.5))


@pytest.mark.parametrize("frames", [150, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["wandering", "broken"])
@pytest.mark.parametrize("task", every(TASKS, 2, 1))
def test_commands_stay_finite_and_within_the_speed_of_the_joints_whatever_hands_do(
    task: str, kind: str, frames: int
) -> None:
    driven, rng = Driven(task), np.random.default_rng(7)
    ways = {arm.device: wandering_hand(rng) for arm in driven.robot.arms}
    last = driven.scene.world.data.ctrl.copy()
    fastest, driving = 0.0, 0
    for _ in range(frames):
        hands = {device: next(way) if kind == "wandering" else random_hand(rng) for device, way in ways.items()}
        targets = driven.tick(**hands)
        targets = np.where(np.isnan(targets), last, targets)
        assert np.all(np.isfinite(targets))
        for arm in driven.robot.arms:
            index = arm.arm.ctrl_index
            share = float((np.abs(targets - last)[index] / (arm.arm.spec.speed_limit * DT)).max())
            assert share <= 1 + 1e-9
            fastest, driving = max(fastest, share), driving + arm.is_engaged
        last = targets
    # It says something only if the arms were driven, and to their limit.
    assert driving > 0.3 * frames
    assert fastest > 0.9


@pytest.mark.parametrize("task", TASKS)
def test_the_tool_follows_the_hand_in_the_directions_in_which_the_robot_looks(task: str) -> None:
    driven = Driven(task)
    arm = driven.robot.arms[0]
    start = arm.arm.T_world_base @ arm.follower.T_base_tool
    forward = driven.robot.T_world_anchor[:3, :3] @ np.array([0.0, 0.0, -1.0])
    for k in range(60):
        # 3 cm ahead and 2 cm up: the device looks along -z, and its y is up.
        share = min(k / 30, 1.0)
        driven.tick(**{arm.device: hand((0.0, 1.0 + 0.02 * share, -0.3 - 0.03 * share))})
    moved = (arm.arm.T_world_base @ arm.follower.T_base_tool)[:3, 3] - start[:3, 3]
    assert np.allclose(moved, 0.03 * forward + [0.0, 0.0, 0.02], atol=1.5e-3)
    assert abs(forward[2]) < 1e-9


def test_releasing_stops_the_arm_at_once_and_grasping_again_goes_on_from_there() -> None:
    driven = Driven("fr3_pick_place")
    driven.tick(controller_right=hand())
    driven.tick(controller_right=hand((0.0, 1.05, -0.3)))
    stopped = driven.tools()
    for _ in range(5):
        driven.tick(controller_right=hand((0.0, 1.05, -0.3), squeeze=0.0))
    assert np.array_equal(driven.tools(), stopped)
    driven.tick(controller_right=hand((0.5, 0.2, 0.4)))
    assert np.array_equal(driven.tools(), stopped)


class Pressing(Driven):
    """A hand with physics that goes up and down over a table."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self.arm = self.robot.arms[0]
        self.height, self.aside = 1.0, 0.0
        self.lowest = np.inf
        """Of the commanded tool, in the world [m]."""

    def tick(self, **options) -> np.ndarray:
        self.frame = DeviceFrame(time_ns=self.frame.time_ns + 16_666_667, **options)
        return self.robot.targets(self.session.step(self.robot.inputs()), DT, running=True, heard=options)

    def measured(self) -> float:
        """Height of the measured tool in the world [m]."""
        site = self.arm.arm.prefix + self.arm.arm.spec.tcp_site
        return float(self.scene.world.data.site(site).xpos[2])

    def commanded(self) -> float:
        return float((self.arm.arm.T_world_base @ self.arm.follower.T_base_tool)[2, 3])

    def move(self, speed: float, frames: int) -> list[tuple[float, float]]:
        """Move the hand [m/s] and return its heights and those of the tool, frame by frame."""
        heights = []
        for _ in range(frames):
            for _ in range(2):
                self.height += speed * DT
                targets = self.tick(**{self.arm.device: hand((self.aside, self.height, -0.3))})
            apply_targets(self.scene, targets)
            self.scene.world.step(self.scene.instance.substeps)
            self.lowest = min(self.lowest, self.commanded())
            heights.append((self.height, self.measured()))
        return heights


@pytest.mark.parametrize("task", every(TASKS, 2))
def test_an_arm_pressed_ten_centimetres_into_the_table_comes_back_as_soon_as_the_hand_does(task: str) -> None:
    pressing = Pressing(task)
    if "suction" in task:  # There are cartons below the hand.
        pressing.move(0.0, 2)
        for k in range(60):
            pressing.aside = 0.35 * k / 60
            pressing.move(0.0, 1)
    for _ in range(400):  # Down until nothing goes down any more ...
        before = pressing.measured()
        pressing.move(-0.2, 6)
        if before - pressing.measured() < 0.002:
            break
    pressing.move(-0.2, 15)  # ... and ten centimetres further.
    pressing.move(0.0, 30)
    hand_low, tool_low = pressing.height, pressing.measured()
    back = pressing.move(0.05, 60)
    late = [(h - hand_low) - (t - tool_low) for h, t in back if h - hand_low > 0.005]
    assert max(late) < 0.005
    assert late[-1] > -0.005  # It follows; it does not jump up.


def test_no_command_of_an_arm_with_five_joints_lies_inside_the_table() -> None:
    pressing = Pressing("so101_stack_cubes")
    model, data = pressing.scene.world.model, pressing.scene.world.data
    cube = next(obj for obj in pressing.scene.instance.objects if not obj.fixed)
    geom = int(model.body(f"{cube.name}/object").geomadr[0])
    table = float(data.geom_xpos[geom][2] - model.geom_size[geom][2])
    pressing.move(-0.2, 60)
    assert table < pressing.lowest < table + 0.05
    assert abs(pressing.lowest - pressing.measured()) < 0.005


def test_an_arm_that_presses_on_a_carton_pushes_and_comes_back_soon() -> None:
    pressing = Pressing("fr3_suction_stack_cartons")
    pressing.move(-0.2, 75)
    held = pressing.commanded()
    assert 0.002 < pressing.measured() - held < 0.02  # It pushes, and not ever harder.
    pressing.move(-0.2, 30)
    assert abs(pressing.commanded() - held) < 0.005
    low, tool = pressing.height, pressing.measured()
    pressing.move(0.05, 60)
    assert (pressing.height - low) - (pressing.measured() - tool) < 0.015


def test_the_trigger_closes_the_gripper_and_a_lost_controller_keeps_it_closed() -> None:
    driven = Driven("fr3_pick_place")
    index = driven.robot.arms[0].arm.gripper_ctrl_index
    assert driven.tick(controller_right=hand())[index] == pytest.approx(0.04)
    assert driven.tick(controller_right=hand(trigger_value=1.0))[index] == pytest.approx(0.0)
    assert driven.tick(controller_right=None)[index] == pytest.approx(0.0)


def test_a_page_that_is_loaded_again_drops_nothing_and_a_pressed_trigger_closes_nothing_in_a_new_scene() -> None:
    driven = Driven("fr3_pick_place")
    arm = driven.robot.arms[0]
    driven.tick(controller_right=hand())
    driven.tick(controller_right=hand(trigger_value=1.0))
    assert arm.closedness == 1.0
    driven.tick(state=ExecutionState.STOPPED)  # The page is gone.
    driven.tick(controller_right=None)  # The new one has started the session, and says nothing yet.
    for _ in range(5):
        driven.tick(controller_right=hand())  # The new one has an open hand.
    assert arm.closedness == 1.0
    driven.tick(controller_right=hand(trigger_value=1.0))  # It takes the gripper over ...
    driven.tick(controller_right=hand(trigger_value=0.3))
    assert arm.closedness < 0.3  # ... and opens it.
    driven = Driven("fr3_pick_place")
    for _ in range(5):
        driven.tick(controller_right=hand(trigger_value=1.0))
    assert driven.robot.arms[0].closedness == 0.0
    driven.tick(controller_right=hand(trigger_value=0.0))
    driven.tick(controller_right=hand(trigger_value=1.0))
    assert driven.robot.arms[0].closedness == 1.0


def test_the_roll_of_the_hand_turns_the_wrist_of_an_arm_with_five_joints_and_engaging_does_not() -> None:
    driven = Driven("so101_stack_cubes")
    arm = driven.robot.arms[0]
    turned = (0.0, 0.0, np.sin(0.2), np.cos(0.2))
    start = driven.scene.world.data.ctrl[arm.arm.ctrl_index[-1]]
    assert driven.tick(controller_right=hand(quat=turned))[arm.arm.ctrl_index[-1]] == pytest.approx(start, abs=1e-9)
    for _ in range(60):
        targets = driven.tick(controller_right=hand())
    assert abs(targets[arm.arm.ctrl_index[-1]] - start) == pytest.approx(0.4, abs=1e-3)


def test_two_controllers_drive_two_arms_and_neither_moves_the_other() -> None:
    driven = Driven("lift2_handover")
    assert [(arm.arm.name, arm.device) for arm in driven.robot.arms] == [
        ("left", "controller_left"),
        ("right", "controller_right"),
    ]
    start = driven.tools()
    for k in range(30):
        driven.tick(controller_left=hand((0.0, 1.0 + 0.001 * k, -0.3)), controller_right=hand(squeeze=0.0))
    moved = np.linalg.norm(driven.tools() - start, axis=1)
    assert moved[0] > 0.02
    assert moved[1] == 0.0


def test_sticks_drive_a_drivable_base_and_its_wheels_and_not_while_paused() -> None:
    driven = Driven("lift2_fetch_carton")
    (part,) = driven.robot.bases
    base, world = part.base, driven.scene.world
    start = base.pose
    back = {"controller_left": hand(squeeze=0.0, thumbstick_y=-1.0), "controller_right": hand(squeeze=0.0)}
    still = {"controller_left": hand(squeeze=0.0), "controller_right": hand(squeeze=0.0)}

    def frames(count: int, **options) -> np.ndarray:
        for _ in range(count):
            driven.tick(**options)
            targets = driven.tick(**options)
            apply_targets(driven.scene, targets)
            world.step(driven.scene.instance.substeps)
        return targets

    targets = frames(60, **back)
    assert targets[base.ctrl_index] @ targets[base.ctrl_index] == pytest.approx(0.5**2, abs=1e-6)
    assert all(targets[wheel.ctrl] != 0.0 for wheel in base.wheels)
    frames(60, **still)
    c, s = np.cos(start[2]), np.sin(start[2])
    ahead, left = np.array([[c, s], [-s, c]]) @ (base.pose - start)[:2]
    # 1.25 s to 0.5 m/s, 0.75 s at it, 1.25 s to rest.
    assert ahead == pytest.approx(-(0.5 * 1.25 + 0.5 * 0.75), abs=0.03)
    assert abs(left) < 0.005
    assert np.linalg.norm(base.velocity) < 0.01
    frames(20, **back)
    paused = driven.tick(state=ExecutionState.PAUSED, **back)
    assert not paused[base.ctrl_index].any()


def test_a_base_that_the_task_holds_is_not_driven() -> None:
    assert Driven("lift2_handover").robot.bases == []


def test_a_gate_passes_a_controller_on_only_while_it_is_squeezed() -> None:
    from handloom.retarget import ControllerInput, group_of

    gate = SqueezeGate("gate")
    for squeeze, passed in ((0.0, False), (0.5, False), (0.51, True)):
        group = group_of(ControllerInput(), *hand(squeeze=squeeze).slots())
        assert gate({"controller_right": group})["controller_right"].is_none is not passed
