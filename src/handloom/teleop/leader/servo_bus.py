"""Positions of bus servos: the packets of Feetech STS servos and of Dynamixel's protocol 2.0."""

import time
from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

from handloom.teleop.leader.serial_line import LeaderError, SerialLine

REPLY = 0.03
"""Time limit for the answers to one request [s]; six servos at 1 Mbaud need 2 ms, a USB adapter up to 16 ms."""
TRIES = 3
"""Attempts per request before the bus counts as silent."""
COUNTS = 4096
"""Steps of one turn."""
BROADCAST = 0xFE
READ, WRITE, SYNC_READ = 0x02, 0x03, 0x82
HEADER = b"\xff\xff"


class ServoProtocol(Protocol):
    """Format of requests, and of answers in a stream of bytes."""

    position: tuple[int, int]
    """Register of the present position: address and length."""
    offset: tuple[int, int]
    """Register of the homing offset."""
    torque: tuple[int, int]
    """Register that switches the motor on and off."""
    offset_sign: int
    """Factor of the offset when it is added to the position."""

    def question(self, kind: int, servo: int, params: bytes) -> bytes:
        """Return a packet."""
        ...

    def registers(self, register: tuple[int, int]) -> bytes:
        """Return the parameters that select a register."""
        ...

    def answers(self, stream: bytes) -> Iterator[tuple[int, bytes, int]]:
        """Yield servo, data and end position of each complete answer; broken ones are skipped."""
        ...

    def number(self, data: bytes, register: tuple[int, int]) -> int:
        """Return the number in a register."""
        ...


class FeetechProtocol:
    """STS3215 servos: header FF FF, id, length, instruction or error, parameters, inverted sum."""

    position, offset, torque = (56, 2), (31, 2), (40, 1)
    offset_sign = -1
    SIGNS: ClassVar = {(56, 2): 15, (31, 2): 11}
    """The sign bit; the other bits are the magnitude."""

    def question(self, kind: int, servo: int, params: bytes) -> bytes:
        """Return a packet."""
        body = bytes([servo, len(params) + 2, kind]) + params
        return HEADER + body + bytes([_inverted_sum(body)])

    def registers(self, register: tuple[int, int]) -> bytes:
        """Return the parameters that select a register."""
        return bytes(register)

    def answers(self, stream: bytes) -> Iterator[tuple[int, bytes, int]]:
        """Yield servo, data and end position of each complete answer."""
        place = 0
        while (place := stream.find(HEADER, place)) >= 0 and place + 4 <= len(stream):
            servo, length = stream[place + 2 : place + 4]
            end = place + 4 + length
            if servo == 0xFF or length < 2:
                place += 1
            elif end > len(stream):
                return
            elif stream[end - 1] == _inverted_sum(stream[place + 2 : end - 1]):
                yield servo, stream[place + 5 : end - 1], end
                place = end
            else:
                place += 1

    def number(self, data: bytes, register: tuple[int, int]) -> int:
        """Return the number in a register: sign and magnitude, lowest byte first."""
        value, sign = int.from_bytes(data, "little"), self.SIGNS.get(register)
        if sign is None:
            return value
        magnitude = value & ((1 << sign) - 1)
        return -magnitude if value >> sign & 1 else magnitude


class DynamixelProtocol:
    """X-series servos, protocol 2.0: header FF FF FD 00, id, length, instruction, parameters, CRC-16."""

    position, offset, torque = (132, 4), (20, 4), (64, 1)
    offset_sign = 1
    STATUS = 0x55

    def question(self, kind: int, servo: int, params: bytes) -> bytes:
        """Return a packet."""
        body = bytes([kind]) + params
        body = body.replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
        packet = b"\xff\xff\xfd\x00" + bytes([servo]) + (len(body) + 2).to_bytes(2, "little") + body
        return packet + crc16(packet).to_bytes(2, "little")

    def registers(self, register: tuple[int, int]) -> bytes:
        """Return the parameters that select a register."""
        return b"".join(value.to_bytes(2, "little") for value in register)

    def answers(self, stream: bytes) -> Iterator[tuple[int, bytes, int]]:
        """Yield servo, data and end position of each complete answer; requests echoed by the adapter are skipped."""
        place = 0
        while (place := stream.find(b"\xff\xff\xfd\x00", place)) >= 0 and place + 7 <= len(stream):
            end = place + 7 + int.from_bytes(stream[place + 5 : place + 7], "little")
            if end > len(stream):
                return
            packet = stream[place:end]
            if len(packet) < 11 or crc16(packet[:-2]) != int.from_bytes(packet[-2:], "little"):
                place += 1
                continue
            body = packet[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
            if body[0] == self.STATUS:
                yield packet[4], body[2:], end
            place = end

    def number(self, data: bytes, register: tuple[int, int]) -> int:
        """Return the number in a register: two's complement, lowest byte first."""
        return int.from_bytes(data, "little", signed=register[1] > 1)


def _inverted_sum(body: bytes) -> int:
    return ~sum(body) & 0xFF


def crc16(packet: bytes) -> int:
    """Return the checksum of Dynamixel's protocol 2.0: polynomial 0x8005, from the highest bit, starting at 0."""
    value = 0
    for byte in packet:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x8005 if value & 0x8000 else value << 1) & 0xFFFF
    return value


class ServoBus:
    """Reads servos on one line; their motors are switched off, so that a hand can move them.

    Args:
        line: The line.
        protocol: Protocol of the servos.
        servos: Numbers of the servos.
    """

    def __init__(self, line: SerialLine, protocol: ServoProtocol, servos: Sequence[int]) -> None:
        self._line, self._protocol, self._servos = line, protocol, tuple(servos)

    def positions(self) -> dict[int, int]:
        """Return the present position of every servo [counts]."""
        return self.read(self._protocol.position)

    def offsets(self) -> dict[int, int]:
        """Return the offset that every servo adds to its position [counts]."""
        return {servo: self._protocol.offset_sign * n for servo, n in self.read(self._protocol.offset).items()}

    def release(self) -> None:
        """Switch the motors off."""
        for servo in self._servos:
            address = self._protocol.registers(self._protocol.torque)
            address = address[: len(address) // 2]
            self._asked(self._protocol.question(WRITE, servo, address + b"\x00"), (servo,), 0)

    def read(self, register: tuple[int, int]) -> dict[int, int]:
        """Return a register of every servo, with one request to all of them.

        Raises:
            LeaderError: A servo does not answer; the message names it.
        """
        params = self._protocol.registers(register) + bytes(self._servos)
        found = self._asked(self._protocol.question(SYNC_READ, BROADCAST, params), self._servos, register[1])
        return {servo: self._protocol.number(found[servo], register) for servo in self._servos}

    def _asked(self, question: bytes, servos: Sequence[int], length: int) -> dict[int, bytes]:
        """Return the answers of servos to a request, which is repeated if one is missing."""
        found: dict[int, bytes] = {}
        for _ in range(TRIES):
            self._line.ask(question)
            stream, end = b"", time.monotonic() + REPLY
            while len(found) < len(servos) and (left := end - time.monotonic()) > 0.0:
                stream += self._line.read(left)
                for servo, data, _ in self._protocol.answers(stream):
                    if servo in servos and len(data) == length:
                        found[servo] = data
            if len(found) == len(servos):
                return found
        missing = ", ".join(str(servo) for servo in servos if servo not in found)
        raise LeaderError(
            f"{self._line.port}: no answer from servo {missing}; is the leader powered, are its servos numbered "
            f"{', '.join(map(str, self._servos))}, and is its kind right?"
        )
