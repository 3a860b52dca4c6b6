"""A leader on a simulated serial line carries out a task: from counts of servos to a verified demonstration."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from expert_hand import TICKS, expert_record
from serial_servos import SerialServos
from test_leader_arm import MAKES, calibrated
from test_teleop_run import Script

from handloom.engine import InlineExecutor, RunDirectory, RunSettings, verify_dataset
from handloom.engine.sources import TELEOP
from handloom.errors import InputError
from handloom.retarget import DeviceFrame, DeviceRecording
from handloom.scene import build_scene
from handloom.tasks import load_task
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.leader.leader_arm import LeaderArm, LeaderSpec, check_leaders

SEED = 5
TASK = "so101_stack_cubes"


def led(record, servos: SerialServos, arm: LeaderArm) -> DeviceRecording:
    """Return what a leader says whose joints are moved as the expert moves those of the follower."""
    follower = build_scene(record.instance).robots[record.instance.robots[0].name].arms[0]
    opened, closed = follower.spec.gripper_open[0], follower.spec.gripper_closed[0]
    samples = []
    for applied in record.applied:
        for servo, angle in enumerate(applied[follower.ctrl_index], start=1):
            servos.move(servo, round(2048 + angle * 4096 / (2 * math.pi)))
        share = (applied[follower.gripper_ctrl_index[0]] - opened) / (closed - opened)
        servos.move(6, round(3072 - 2048 * min(max(share, 0.0), 1.0)))
        samples += [arm.sample()] * TICKS
    samples += [samples[-1]] * 120
    frames = [DeviceFrame(time_ns=round(k * 1e9 / 60), leader_right=sample) for k, sample in enumerate(samples)]
    return DeviceRecording(frames=tuple(frames), end_time_ns=10**12)


@pytest.mark.parametrize(("kind", "protocol"), MAKES.items())
def test_a_leader_carries_out_a_task_and_the_saved_episode_verifies(tmp_path: Path, kind: str, protocol: str) -> None:
    task = load_task(TASK, overrides=("data.max_episode_length=1500",))
    record = expert_record(task, SEED, 0)
    assert record.success
    with SerialServos(protocol) as servos:
        spec = LeaderSpec(kind=kind, port=servos.port, calibration=calibrated(tmp_path))
        check_leaders(task, SEED, (spec,))
        with LeaderArm.opened(spec) as arm:
            recording = led(record, servos, arm)
    settings = RunSettings.of_task(task, seed=SEED, source=TELEOP, unit_size=1, render="none")
    run = TeleopRun(RunDirectory.begin(tmp_path / "run", settings), task)
    still = DeviceRecording(frames=recording.frames[:4], end_time_ns=10**12)
    script = Script((recording, ["save"]), (still, ["finish"]))
    run.carry_out(script, script)  # type: ignore[arg-type]
    assert ("outcome", True) in script.told
    assert [found.verdict for found in verify_dataset(run.run.dataset, InlineExecutor())] == ["exact"]
    again = DeviceRecording.read(tmp_path / "run" / "inputs" / "episode_000000.jsonl")
    length = len(again.frames)
    assert np.array_equal(again.frames[9].leader_right.joints, recording.frames[9].leader_right.joints)  # type: ignore[union-attr]
    assert length <= len(recording.frames)


def test_leaders_that_no_arm_can_follow_are_refused_before_anything_starts(tmp_path: Path) -> None:
    spec = LeaderSpec(kind="so101", port="/dev/ttyACM0", calibration=tmp_path / "x.json")
    with pytest.raises(InputError, match=r"has 5 joints, the arm franka_left of fr3_pick_place has 7"):
        check_leaders(load_task("fr3_pick_place"), 0, (spec,))
    one = load_task(TASK)
    with pytest.raises(InputError, match="has no arm to lead"):
        check_leaders(one, 0, (replace(spec, side="left"),))
    with pytest.raises(InputError, match="a second leader for one arm"):
        check_leaders(one, 0, (spec, spec))
