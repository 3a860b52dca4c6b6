"""Servos behind a pseudo-terminal: they check and answer packets as the makers' manuals say, and can misbehave."""

import os
import pty
import select
import threading
import tty


class SerialServos:
    """Servos with registers on a line of their own; a context manager.

    Args:
        protocol: ``feetech`` or ``dynamixel``.
        servos: Their numbers.
    """

    def __init__(self, protocol: str, servos=range(1, 7)) -> None:
        self.protocol = protocol
        self.registers = {servo: bytearray(256) for servo in servos}
        self.silent: set[int] = set()
        self.echoes = False
        self.noise = b""
        self.broken = 0
        """How many answers are sent with a wrong checksum."""
        self.questions = 0
        self.rejected = 0
        for servo in self.registers:
            self.move(servo, 2048)
        self._master, slave = pty.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        self._slave = slave
        self._ends = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "SerialServos":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends = True
        self._thread.join()
        for file in (self._master, self._slave):
            if file >= 0:
                os.close(file)

    def unplug(self) -> None:
        self._ends = True
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1

    def move(self, servo: int, counts: int) -> None:
        if self.protocol == "feetech":
            value = abs(counts) | (0x8000 if counts < 0 else 0)
            self.registers[servo][56:58] = value.to_bytes(2, "little")
        else:
            self.registers[servo][132:136] = counts.to_bytes(4, "little", signed=True)

    def home(self, servo: int, offset: int) -> None:
        if self.protocol == "feetech":
            value = abs(offset) | (0x800 if offset < 0 else 0)
            self.registers[servo][31:33] = value.to_bytes(2, "little")
        else:
            self.registers[servo][20:24] = offset.to_bytes(4, "little", signed=True)

    def torque(self, servo: int) -> int:
        return self.registers[servo][40 if self.protocol == "feetech" else 64]

    def _run(self) -> None:
        buffer = b""
        while not self._ends:
            if not select.select([self._master], [], [], 0.02)[0]:
                continue
            try:
                buffer += os.read(self._master, 4096)
            except OSError:
                continue
            buffer = self._served(buffer)

    def _served(self, buffer: bytes) -> bytes:
        while True:
            packet, buffer = (self._feetech if self.protocol == "feetech" else self._dynamixel)(buffer)
            if packet is None:
                return buffer
            if self.echoes:
                os.write(self._master, packet[-1])
            self.questions += 1
            for answer in self._answers(*packet[:3]):
                os.write(self._master, self.noise + answer)

    def _feetech(self, buffer: bytes):
        if len(buffer) < 4 or len(buffer) < 4 + buffer[3]:
            return None, buffer
        assert buffer[:2] == b"\xff\xff"
        packet, rest = buffer[: 4 + buffer[3]], buffer[4 + buffer[3] :]
        if (sum(packet[2:]) & 0xFF) != 0xFF:
            self.rejected += 1
            return None, rest
        return (packet[2], packet[4], packet[5:-1], packet), rest

    def _dynamixel(self, buffer: bytes):
        if len(buffer) < 7 or len(buffer) < 7 + int.from_bytes(buffer[5:7], "little"):
            return None, buffer
        assert buffer[:4] == b"\xff\xff\xfd\x00"
        end = 7 + int.from_bytes(buffer[5:7], "little")
        packet, rest = buffer[:end], buffer[end:]
        if _crc(packet[:-2]) != packet[-2:]:
            self.rejected += 1
            return None, rest
        return (packet[4], packet[7], packet[8:-2], packet), rest

    def _answers(self, servo: int, kind: int, params: bytes):
        wide = self.protocol == "dynamixel"
        if kind == 0x82:
            address = int.from_bytes(params[:2], "little") if wide else params[0]
            length = int.from_bytes(params[2:4], "little") if wide else params[1]
            for asked in params[4 if wide else 2 :]:
                if asked in self.registers and asked not in self.silent:
                    yield self._status(asked, bytes(self.registers[asked][address : address + length]))
        elif kind == 0x03 and servo in self.registers and servo not in self.silent:
            address, values = (int.from_bytes(params[:2], "little"), params[2:]) if wide else (params[0], params[1:])
            self.registers[servo][address : address + len(values)] = values
            yield self._status(servo, b"")

    def _status(self, servo: int, data: bytes) -> bytes:
        if self.protocol == "feetech":
            body = bytes([servo, len(data) + 2, 0]) + data
            packet = b"\xff\xff" + body + bytes([0xFF - (sum(body) & 0xFF)])
        else:
            body = (b"\x55\x00" + data).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
            packet = b"\xff\xff\xfd\x00" + bytes([servo]) + (len(body) + 2).to_bytes(2, "little") + body
            packet += _crc(packet)
        if self.broken:
            self.broken -= 1
            packet = packet[:-1] + bytes([packet[-1] ^ 0x5A])
        return packet


def _crc(packet: bytes) -> bytes:
    """Return the CRC by long division of the message as one number, which is another way than the program's."""
    bits = int.from_bytes(packet, "big") << 16
    for shift in range(bits.bit_length() - 17, -1, -1):
        if bits >> (shift + 16) & 1:
            bits ^= 0x18005 << shift
    return bits.to_bytes(2, "little")
