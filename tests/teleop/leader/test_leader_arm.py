"""Leader arms on a simulated serial line: positions, calibration, bad lines, lost plugs."""

import json
import math
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from serial_servos import SerialServos

from handloom.errors import FileError, HandloomError, InputError
from handloom.teleop.leader.calibration import MotorCalibration, measured_calibration, read_calibration
from handloom.teleop.leader.leader_arm import JOINTS, KINDS, LeaderArm, LeaderSpec
from handloom.teleop.leader.leader_reader import LeaderReader
from handloom.teleop.leader.serial_line import LeaderError, SerialLine
from handloom.teleop.leader.servo_bus import DynamixelProtocol, FeetechProtocol, ServoBus, crc16

MAKES = {"so101": "feetech", "koch": "dynamixel"}


def calibrated(folder: Path, *, homing: int = 0, drive_mode: int = 0) -> Path:
    """Write a calibration as LeRobot does."""
    motors = {}
    for number, joint in enumerate((*JOINTS, "gripper"), start=1):
        motors[joint] = {"id": number, "drive_mode": drive_mode, "homing_offset": homing}
        motors[joint] |= {"range_min": 1024, "range_max": 3072}
    file = folder / "leader.json"
    file.write_text(json.dumps(motors))
    return file


def spec(kind: str, servos: SerialServos, file: Path) -> LeaderSpec:
    return LeaderSpec(kind=kind, port=servos.port, calibration=file)


def test_packets_are_those_of_the_manuals() -> None:
    # Feetech: ping and read of two bytes at 56; Dynamixel: ping of servo 1 and its CRC, from Robotis' e-manual.
    assert FeetechProtocol().question(0x01, 1, b"") == bytes.fromhex("ffff010201fb")
    assert FeetechProtocol().question(0x02, 1, b"\x38\x02") == bytes.fromhex("ffff0104023802be")
    assert DynamixelProtocol().question(0x01, 1, b"") == bytes.fromhex("fffffd00010300 01194e".replace(" ", ""))
    assert crc16(b"") == 0


@pytest.mark.parametrize(("kind", "protocol"), MAKES.items())
def test_a_leader_says_where_its_joints_are_and_its_motors_are_off(tmp_path: Path, kind: str, protocol: str) -> None:
    with SerialServos(protocol) as servos:
        for servo in servos.registers:
            servos.registers[servo][40] = servos.registers[servo][64] = 1
        for servo, counts in zip(range(1, 7), (2048, 2048 + 512, 2048 - 1024, 2049, 1500, 1024), strict=True):
            servos.move(servo, counts)
        with LeaderArm.opened(spec(kind, servos, calibrated(tmp_path))) as arm:
            found = arm.sample()
        expected = np.array([0.0, 512, -1024, 1, -548]) * 2 * math.pi / 4096
        assert np.allclose(found.joints, expected, atol=1e-12)
        assert found.gripper == 1.0
        assert not any(servos.torque(servo) for servo in servos.registers)
        assert servos.rejected == 0


@pytest.mark.parametrize(("kind", "protocol"), MAKES.items())
def test_offsets_are_added_once_whether_the_servo_does_it_or_not(tmp_path: Path, kind: str, protocol: str) -> None:
    file = calibrated(tmp_path, homing=100)
    sign = KINDS[kind].protocol.offset_sign
    for in_servo in (False, True):
        with SerialServos(protocol) as servos:
            for servo in servos.registers:
                servos.home(servo, 100 if in_servo else 0)
                servos.move(servo, 2048 if in_servo else 2048 - sign * 100)
            with LeaderArm.opened(spec(kind, servos, file)) as arm:
                assert np.allclose(arm.sample().joints, 0.0)


def test_a_joint_that_turns_beyond_the_last_count_does_not_jump(tmp_path: Path) -> None:
    with SerialServos("feetech") as servos, LeaderArm.opened(spec("so101", servos, calibrated(tmp_path))) as arm:
        seen = []
        for counts in range(3000, 5000, 50):
            servos.move(5, counts % 4096)
            seen.append(np.asarray(arm.sample().joints)[4])
        assert np.allclose(np.diff(seen), 50 * 2 * math.pi / 4096)


@pytest.mark.parametrize(("kind", "protocol"), MAKES.items())
def test_noise_echoes_and_broken_answers_are_passed_over(tmp_path: Path, kind: str, protocol: str) -> None:
    with SerialServos(protocol) as servos:
        servos.echoes, servos.noise = True, b"\x00\xff\x17"
        with LeaderArm.opened(spec(kind, servos, calibrated(tmp_path))) as arm:
            for k in range(20):
                servos.broken = k % 3
                servos.move(1, 2048 + 10 * k)
                assert np.asarray(arm.sample().joints)[0] == pytest.approx(10 * k * 2 * math.pi / 4096)


def test_positions_that_look_like_a_header_are_stuffed() -> None:
    with SerialServos("dynamixel", servos=(1,)) as servos, SerialLine(servos.port) as line:
        value = int.from_bytes(b"\xff\xff\xfd\x00", "little")
        servos.move(1, value)
        assert ServoBus(line, DynamixelProtocol(), (1,)).positions() == {1: value}


def test_a_servo_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with SerialServos("feetech") as servos, LeaderArm.opened(spec("so101", servos, calibrated(tmp_path))) as arm:
        servos.silent = {3}
        with pytest.raises(LeaderError, match=r"no answer from servo 3; is the leader powered"):
            arm.sample()


def test_the_wrong_kind_of_servos_is_said_to_be_silent(tmp_path: Path) -> None:
    class Deaf(SerialServos):
        """Servos that understand nothing of what is asked."""

        def _served(self, buffer: bytes) -> bytes:
            return b""

    with Deaf("dynamixel") as servos, pytest.raises(LeaderError, match="and is its kind right"):
        LeaderArm.opened(spec("so101", servos, calibrated(tmp_path)))


def test_ports_that_are_not_there_or_no_ports_are_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(LeaderError, match="there is no such port; there are"):
        SerialLine(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(LeaderError, match="not a serial port with 1000000 baud"):
        SerialLine(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("so101", "written"),
        ("so101=", "written"),
        ("middle:so101=/dev/x", "written"),
        ("so102=/dev/x", "so101"),
    ],
)
def test_a_leader_that_is_written_wrongly_says_how_it_is_written(text: str, why: str) -> None:
    with pytest.raises(HandloomError, match=why):
        LeaderSpec.parsed(text)


def test_a_leader_is_written_with_side_kind_port_and_calibration() -> None:
    found = LeaderSpec.parsed("left:koch=/dev/ttyUSB0,my.json")
    assert (found.kind, found.port, found.device) == ("koch", "/dev/ttyUSB0", "controller_left")
    assert found.calibration == Path("my.json")
    assert LeaderSpec.parsed("so101=/dev/ttyACM0").device == "controller_right"


def test_calibrations_that_are_missing_broken_or_of_another_arm_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        read_calibration(tmp_path / "none.json", JOINTS)
    file = tmp_path / "short.json"
    file.write_text(json.dumps({"shoulder_pan": json.loads(calibrated(tmp_path).read_text())["shoulder_pan"]}))
    with pytest.raises(FileError, match="has no shoulder_lift"):
        read_calibration(file, JOINTS)


@pytest.mark.parametrize(("kind", "protocol"), MAKES.items())
def test_a_leader_that_is_moved_through_its_ranges_is_calibrated(tmp_path: Path, kind: str, protocol: str) -> None:
    make = KINDS[kind]
    with SerialServos(protocol) as servos, SerialLine(servos.port) as line:
        arm = LeaderArm(make, line)
        for servo in servos.registers:
            servos.move(servo, 4000)  # Near the jump from 4095 to 0.
        moves = iter([-800, -400, 0, 400, 800])

        def moving() -> bool:
            step = next(moves, None)
            for servo in servos.registers:
                servos.move(servo, (4000 + (step or 0)) % 4096)
            return step is not None

        found = measured_calibration(
            make.servos, arm.bus.positions, arm.bus.offsets(), offset_sign=make.protocol.offset_sign, moving=moving
        )
        assert {(motor.range_min, motor.range_max) for motor in found.values()} == {(2048 - 800, 2048 + 800)}
        arm.calibrate(found)
        for counts in (4000, (4000 + 512) % 4096):
            for servo in servos.registers:
                servos.move(servo, counts)
            last = arm.sample()
        assert np.allclose(last.joints, 512 * 2 * math.pi / 4096)
        with pytest.raises(LeaderError, match="not moved through their ranges: shoulder_pan"):
            measured_calibration(make.servos, arm.bus.positions, arm.bus.offsets(), offset_sign=1, moving=lambda: False)


def test_a_servo_that_turns_the_other_way_is_turned_round() -> None:
    plain, turned = (MotorCalibration(id=1, drive_mode=mode, range_min=0, range_max=4096) for mode in (0, 1))
    assert plain.angle(3000) == -turned.angle(3000) > 0
    assert plain.closedness(1024) == 1.0 - turned.closedness(1024) == 0.75


def test_a_leader_that_is_unplugged_is_told_of_and_read_again_when_it_is_back(tmp_path: Path) -> None:
    file, heard, told = calibrated(tmp_path), [], []
    changed = threading.Event()
    current: list[SerialServos] = []

    def opened(leader: LeaderSpec) -> LeaderArm:
        return LeaderArm.opened(LeaderSpec(kind="so101", port=current[-1].port, calibration=file))

    def tell(words: str) -> None:
        told.append(words)
        changed.set()

    with SerialServos("feetech") as first:
        current.append(first)
        leader = spec("so101", first, file)
        reader = LeaderReader(leader, lambda device, sample: heard.append((device, sample)), tell, opened=opened)
        reader.start()
        while not heard:
            time.sleep(0.005)
        first.unplug()
        assert changed.wait(10.0)
        assert "the arm holds" in told[0]
        changed.clear()
        with SerialServos("feetech") as second:
            current.append(second)
            assert changed.wait(10.0)
            while told[-1]:
                assert changed.wait(10.0)
                changed.clear()
            reader.close()
    assert heard[0][0] == "controller_right"


def test_input_errors_are_those_of_the_command_line() -> None:
    with pytest.raises(InputError):
        LeaderSpec.parsed("x")
