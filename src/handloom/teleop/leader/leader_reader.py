"""Reads a leader arm again and again, and opens it again when it was unplugged."""

import threading
import time
from collections.abc import Callable

from handloom.retarget import LeaderSnapshot
from handloom.teleop.leader.leader_arm import LeaderArm, LeaderSpec
from handloom.teleop.leader.serial_line import LeaderError

PERIOD = 1.0 / 120.0
"""From reading to reading [s]: twice per tick of the robot."""
AGAIN = 1.0
"""After this a leader that was lost is opened again [s]."""


class LeaderReader:
    """A thread that reads one leader.

    Args:
        spec: The leader.
        on_sample: Given every sample.
        tell: Told what is wrong with it, and nothing when all is well again.
        opened: Opens it.
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
                self._tell(f"The leader cannot be read, the arm holds: {error}")
                self._ends.wait(AGAIN)
