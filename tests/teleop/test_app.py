"""While a robot is driven, nothing of the program itself holds the others up."""

import gc
import sys

from handloom.teleop.app import SWITCH, no_long_pauses


def test_what_is_loaded_already_is_not_looked_at_by_the_garbage_collector_while_a_robot_is_driven() -> None:
    gc.collect()  # What earlier tests left is no longer there when the robot is driven.
    before = len(gc.get_objects())
    interval = sys.getswitchinterval()
    with no_long_pauses():
        assert gc.get_freeze_count() > 0.9 * before
        assert len(gc.get_objects()) < 0.1 * before
        assert sys.getswitchinterval() <= SWITCH * 1.001
    assert gc.get_freeze_count() == 0
    assert sys.getswitchinterval() == interval
