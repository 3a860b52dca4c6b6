"""A leader arm: its servos, and their positions as joints of the follower."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handloom.cache import user_cache
from handloom.errors import InputError, unknown_name
from handloom.retarget import LeaderSnapshot
from handloom.safe_paths import safe_name
from handloom.scene import build_scene
from handloom.tasks import SamplingError, Task, sample_task
from handloom.teleop.control.robot_teleop import RobotTeleop
from handloom.teleop.leader.calibration import Calibration, read_calibration
from handloom.teleop.leader.serial_line import SerialLine
from handloom.teleop.leader.servo_bus import COUNTS, DynamixelProtocol, FeetechProtocol, ServoBus, ServoProtocol

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
GRIPPER = "gripper"
SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class LeaderKind:
    """A model of leader arm."""

    protocol: ServoProtocol
    joints: tuple[str, ...] = JOINTS
    """From base to wrist; servo 1 is the first joint, and the gripper is the last."""

    @property
    def servos(self) -> dict[str, int]:
        """Joint name > number of its servo, including the gripper."""
        return {name: number for number, name in enumerate((*self.joints, GRIPPER), start=1)}


KINDS: Mapping[str, LeaderKind] = {
    "so101": LeaderKind(protocol=FeetechProtocol()),
    "so100": LeaderKind(protocol=FeetechProtocol()),
    "koch": LeaderKind(protocol=DynamixelProtocol()),
}
"""Name of a model > its description."""


@dataclass(frozen=True, kw_only=True)
class LeaderSpec:
    """A leader as given on the command line: ``[left:|right:]KIND=PORT[,CALIBRATION]``."""

    kind: str
    port: str
    side: str = ""
    """``left`` or ``right``; empty for the only arm."""
    calibration: Path
    """Calibration file."""

    @classmethod
    def parsed(cls, text: str) -> "LeaderSpec":
        """Parse a leader.

        Raises:
            InputError: It has another format.
        """
        head, equals, rest = text.partition("=")
        side, colon, kind = head.rpartition(":")
        port, _, file = rest.partition(",")
        if not equals or not port or (colon and side not in SIDES):
            raise InputError(
                f"a leader is written [left:|right:]KIND=PORT[,CALIBRATION], such as so101=/dev/ttyACM0, got {text!r}"
            )
        if kind not in KINDS:
            raise unknown_name("kind of leader", kind, KINDS)
        found = Path(file) if file else user_cache() / "teleop" / safe_name(f"leader_{kind}_{Path(port).name}.json")
        return cls(kind=kind, port=port, side=side, calibration=found)

    @property
    def device(self) -> str:
        """The controller that it replaces; a leader without a side leads the right arm, or the only one."""
        return f"controller_{self.side or 'right'}"


def check_leaders(task: Task, seed: int, leaders: Sequence[LeaderSpec]) -> None:
    """Refuse leaders that the arms of a task cannot follow joint by joint.

    Raises:
        InputError: There are more leaders than arms, two for one arm, or a leader has another number of joints.
    """
    if not leaders:
        return
    try:
        scene = build_scene(sample_task(task, seed, 0))
    except SamplingError:  # The first scene that can be sampled then shows it.
        return
    arms = {arm.device: arm for arm in RobotTeleop(scene).arms}
    for number, leader in enumerate(leaders):
        arm, joints = arms.get(leader.device), KINDS[leader.kind].joints
        if arm is None:
            raise InputError(f"the leader on {leader.port} has no arm to lead; {task.name} has {', '.join(arms)}")
        if leader.device in [other.device for other in leaders[:number]]:
            raise InputError(f"a second leader for one arm, on {leader.port}; write left: and right: before them")
        if arm.follower.chain.dof != len(joints):
            raise InputError(
                f"a {leader.kind} leader has {len(joints)} joints, the arm {arm.name} of {task.name} has "
                f"{arm.follower.chain.dof}; it can lead arms with the same joints, such as that of so101_stack_cubes"
            )


class LeaderArm:
    """An open leader; a context manager.

    Args:
        kind: Its model.
        line: Its serial line.
    """

    def __init__(self, kind: LeaderKind, line: SerialLine) -> None:
        self.kind, self._line = kind, line
        self.bus = ServoBus(line, kind.protocol, tuple(kind.servos.values()))
        self._calibration: Calibration = {}
        self._added: dict[int, int] = {}
        self._last: dict[str, float] = {}

    @classmethod
    def opened(cls, spec: LeaderSpec) -> "LeaderArm":
        """Open a leader, switch its motors off, and apply its calibration."""
        kind = KINDS[spec.kind]
        calibration = read_calibration(spec.calibration, tuple(kind.servos))
        arm = cls(kind, SerialLine(spec.port))
        try:
            arm.bus.release()
            arm.calibrate(calibration)
        except BaseException:
            arm.close()
            raise
        return arm

    def calibrate(self, calibration: Calibration) -> None:
        """Apply a calibration; offsets that the servos do not add themselves are added here."""
        own, sign = self.bus.offsets(), self.kind.protocol.offset_sign
        self._calibration = calibration
        self._added = {motor.id: sign * motor.homing_offset - own[motor.id] for motor in calibration.values()}
        self._last = {}

    def __enter__(self) -> "LeaderArm":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its line."""
        self._line.close()

    def sample(self) -> LeaderSnapshot:
        """Return the current position of the leader.

        Raises:
            LeaderError: A servo does not answer.
        """
        positions = self.bus.positions()
        counts = {name: self._counts(name, positions[motor.id]) for name, motor in self._calibration.items()}
        joints = [self._calibration[name].angle(counts[name]) for name in self.kind.joints]
        return LeaderSnapshot(joints=joints, gripper=self._calibration[GRIPPER].closedness(counts[GRIPPER]))

    def _counts(self, name: str, raw: int) -> float:
        """Return a position with its offset, without jumps at full turns [counts]."""
        motor = self._calibration[name]
        counts = raw + self._added[motor.id]
        near = self._last.get(name, 0.5 * (motor.range_min + motor.range_max))
        self._last[name] = counts - COUNTS * round((counts - near) / COUNTS)
        return self._last[name]
