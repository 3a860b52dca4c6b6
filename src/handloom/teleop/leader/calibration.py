"""Calibration of a leader's joints from its servo positions: LeRobot's files, or measured here."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from handloom.dataset.files.durable import write_json
from handloom.dataset.files.reading import read_json
from handloom.errors import FileError
from handloom.teleop.leader.serial_line import LeaderError
from handloom.teleop.leader.servo_bus import COUNTS

LEAST_RANGE = 200
"""Minimum motion of a joint through its range [counts]: 18 degrees."""


class MotorEntry(TypedDict):
    """A motor in a LeRobot file."""

    id: Annotated[int, Field(ge=0, le=253)]
    drive_mode: Annotated[int, Field(ge=0, le=1)]
    homing_offset: Annotated[int, Field(ge=-(2**31), lt=2**31)]
    range_min: Annotated[int, Field(ge=-(2**20), le=2**20)]
    range_max: Annotated[int, Field(ge=-(2**20), le=2**20)]


@dataclass(frozen=True, kw_only=True)
class MotorCalibration:
    """One servo, with the fields of LeRobot's calibration files."""

    id: int
    drive_mode: int = 0
    """1 for a servo with reversed direction."""
    homing_offset: int = 0
    """Offset to add to the position [counts], with the sign of the servo's own register."""
    range_min: int = 0
    """Position at one end of the joint [counts], after the offset."""
    range_max: int = COUNTS - 1

    def angle(self, counts: float) -> float:
        """Return the angle of a joint whose zero is the middle of its range [rad]."""
        turned = (counts - 0.5 * (self.range_min + self.range_max)) * 2.0 * math.pi / COUNTS
        return -turned if self.drive_mode else turned

    def closedness(self, counts: float) -> float:
        """Return the closedness of a gripper, 0..1; the lower end of its range is closed."""
        share = (counts - self.range_min) / max(1, self.range_max - self.range_min)
        return min(max(share if self.drive_mode else 1.0 - share, 0.0), 1.0)


Calibration = Mapping[str, MotorCalibration]
"""Joint name > its servo."""


def read_calibration(file: Path, joints: Sequence[str]) -> Calibration:
    """Read a calibration in LeRobot's format for leaders.

    Raises:
        FileError: There is no calibration, it is damaged, or joints are missing.
    """
    found = read_json(file, dict[str, MotorEntry])
    missing = [joint for joint in joints if joint not in found]
    if missing:
        raise FileError(
            f"{file}: the calibration has no {', '.join(missing)}; it has {', '.join(found)}; is the kind right?"
        )
    for joint in joints:
        if found[joint]["range_max"] <= found[joint]["range_min"]:
            raise FileError(f"{file}: {joint}: range_max must be larger than range_min, got {found[joint]}")
    return {joint: MotorCalibration(**found[joint]) for joint in joints}


def write_calibration(file: Path, calibration: Calibration) -> None:
    """Write a calibration in LeRobot's format."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {joint: asdict(motor) for joint, motor in calibration.items()}
    write_json(file, content)


def measured_calibration(
    joints: Mapping[str, int],
    positions: Callable[[], Mapping[int, int]],
    offsets: Mapping[int, int],
    *,
    offset_sign: int,
    moving: Callable[[], bool],
) -> Calibration:
    """Return a calibration, measured on a leader that is moved from the middle through its ranges.

    Args:
        joints: Joint name > number of its servo.
        positions: Returns the positions of all servos [counts].
        offsets: Offsets that the servos themselves add to their positions [counts].
        offset_sign: Sign of the servos' own register of the offset.
        moving: Returns whether someone is still moving the leader; called before every reading.

    Raises:
        LeaderError: A joint was not moved.
    """
    middle = dict(positions())
    lowest, highest = dict.fromkeys(joints, COUNTS // 2), dict.fromkeys(joints, COUNTS // 2)
    while moving():
        now = positions()
        for joint, servo in joints.items():
            # Counted from the middle, so that no range contains the jump from the highest count to zero.
            counts = (now[servo] - middle[servo] + COUNTS // 2) % COUNTS
            lowest[joint], highest[joint] = min(lowest[joint], counts), max(highest[joint], counts)
    still = [joint for joint in joints if highest[joint] - lowest[joint] < LEAST_RANGE]
    if still:
        raise LeaderError(f"not moved through their ranges: {', '.join(still)}; start again and move every joint")
    return {
        joint: MotorCalibration(
            id=servo,
            homing_offset=offset_sign * (offsets[servo] + COUNTS // 2 - middle[servo]),
            range_min=lowest[joint],
            range_max=highest[joint],
        )
        for joint, servo in joints.items()
    }
