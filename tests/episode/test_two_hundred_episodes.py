"""Successful episodes of every task in the library: they replay, and they spare robots and tables."""

import os
import sys
import time

import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.episode.examine import examine
from handloom.skills.arms.arm_controller import JOINT_SPEED
from handloom.tasks import SamplingError, library, load_task

EPISODES = int(os.environ.get("HANDLOOM_TEST_EPISODES", "3"))
"""Successful episodes per task; 10 make about 200 over the library."""
DEEPEST = 0.002
"""Robots press at most this deep into tables and into each other, at any physics step [m]."""
EXCESS = 1e-3
"""Joints leave their ranges by at most this, under the weight of the arm [rad]."""


@pytest.mark.slow
@pytest.mark.parametrize("name", library())
def test_successful_episodes_replay_and_spare_the_robot(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    task, lines, wrong = load_task(name), [], []
    attempts, begin = 0, time.process_time()
    while len(lines) < EPISODES and attempts < 3 * EPISODES + 5:
        attempts += 1
        try:
            _, record = simulate(task, 0, attempts - 1, Stopwatch())
        except SamplingError:
            continue
        if not record.success:
            continue
        again, seen = replay(record), examine(record)
        table, arms = seen.into_surroundings, seen.between_arms
        share = seen.share_of_speed_limit
        lines.append(
            f"{name} {attempts - 1}: table {1e3 * table.metres:.2f} mm {table.between}, "
            f"arms {1e3 * arms.metres:.2f} mm, out of range {seen.joint_excess:.4f} rad, "
            f"speed {seen.speed:.2f} rad/s (asked {seen.commanded_speed:.2f}, {share:.0%} of a limit), "
            f"replay {'exact' if again.exact else 'different'}"
        )
        kept = again.exact and seen.final_state_same and max(table.metres, arms.metres) <= DEEPEST
        kept &= seen.joint_excess <= EXCESS and 0.0 < share <= 1.0
        kept &= seen.commanded_speed <= 1.01 * JOINT_SPEED
        if not kept:
            wrong.append(lines[-1])
    seconds = time.process_time() - begin
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {len(lines)} successes of {attempts}, {seconds:.0f} s of CPU time\n")
        sys.stdout.write("\n".join(lines) + "\n")
    assert len(lines) == EPISODES
    assert not wrong, "\n".join(wrong)
