"""Continuous reading of a leader arm, which is reopened after it was unplugged."""

import threading
import time
from collections.abc import Callable

from handloom.retarget import LeaderSnapshot
from handloom.teleop.leader.leader_arm import LeaderArm, LeaderSpec
from handloom.teleop.leader.serial_line import LeaderError

PERIOD = 1.0 / 120.0
"""Interval between readings [s]: two per tick of the robot."""
AGAIN = 1.0
"""Time after which a lost leader is opened again [s]."""


class LeaderReader:
    """A thread that reads one leader.

    Args:
        spec: The leader.
        on_sample: Called with every sample.
        tell: Called with the problem, and with an empty string once it is solved.
        opened: Opens the leader.
    """

    def __init__(
        self,
        spec: LeaderSpec,
        on_sample: Callable[[str, LeaderSnapshot], None],
        tell: Callable[[str], None],
        *,
        opened: Callable[[LeaderSpec], LeaderArm] = LeaderArm.opened,
    ) -> None:
        self._spec, self._on_sample, self._tell, self._opened = spec, on_sample, tell, opened
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"leader {spec.port}", daemon=True)

    def start(self) -> None:
        """Start reading; a leader that cannot be read is reported and retried."""
        self._thread.start()

    def close(self) -> None:
        """End the thread and close the leader."""
        self._ends.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        well = True
        while not self._ends.is_set():
            try:
                with self._opened(self._spec) as arm:
                    while not self._ends.is_set():
                        begin = time.monotonic()
                        self._on_sample(self._spec.device, arm.sample())
                        if not well:
                            well = True
                            self._tell("")
                        self._ends.wait(max(0.0, begin + PERIOD - time.monotonic()))
            except LeaderError as error:
                well = False
                self._tell(f"The leader cannot be read; the arm holds: {error}")
                self._ends.wait(AGAIN)
