"""A serial line to a bus of servos: raw bytes at a baud rate, with a deadline on every read."""

import os
import select
import termios
import time
from pathlib import Path

from handloom.errors import HandloomError

BAUD = 1_000_000
"""Baud rate of the servos of SO-101 and Koch leaders."""


class LeaderError(HandloomError):
    """A leader arm cannot be read."""


class SerialLine:
    """An open serial port; a context manager.

    Args:
        port: Device file such as ``/dev/ttyACM0``.
        baud: Bits per second.

    Raises:
        LeaderError: There is no such port, it may not be opened, or it does not support the rate.
    """

    def __init__(self, port: str | Path, *, baud: int = BAUD) -> None:
        self.port = str(port)
        try:
            self._file = os.open(self.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except FileNotFoundError as error:
            raise LeaderError(f"{self.port}: there is no such port; there are {_ports()}") from error
        except PermissionError as error:
            raise LeaderError(
                f"{self.port}: not allowed to open it; join the group that owns it (sudo usermod -aG dialout $USER) "
                "and log in again"
            ) from error
        except OSError as error:
            raise LeaderError(f"{self.port}: cannot be opened: {error.strerror}") from error
        try:
            self._configure(baud)
        except (termios.error, LeaderError) as error:
            os.close(self._file)
            raise LeaderError(f"{self.port}: not a serial port with {baud} baud: {error}") from error

    def _configure(self, baud: int) -> None:
        """Set the rate, eight bits without parity, and raw mode."""
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise LeaderError(f"this system does not support {baud} baud")
        settings = termios.tcgetattr(self._file)
        settings[0] = settings[1] = settings[3] = 0
        settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
        settings[4] = settings[5] = speed
        settings[6][termios.VMIN] = settings[6][termios.VTIME] = 0
        termios.tcsetattr(self._file, termios.TCSANOW, settings)

    def __enter__(self) -> "SerialLine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the port."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def ask(self, packet: bytes) -> None:
        """Discard unexpected input, and write a packet."""
        try:
            termios.tcflush(self._file, termios.TCIFLUSH)
            while packet:
                packet = packet[os.write(self._file, packet) :]
        except (OSError, termios.error) as error:
            raise LeaderError(f"{self.port}: cannot be written to; is it still plugged in? ({error})") from error

    def read(self, seconds: float) -> bytes:
        """Return the received bytes, after waiting for at most a given time [s]; empty if there are none."""
        end = time.monotonic() + seconds
        while True:
            try:
                left = end - time.monotonic()
                ready = select.select([self._file], [], [], max(0.0, left))[0]
                if not ready:
                    return b""
                found = os.read(self._file, 4096)
            except BlockingIOError:
                continue
            except (OSError, ValueError) as error:
                raise LeaderError(f"{self.port}: cannot be read; is it still plugged in? ({error})") from error
            if not found:
                raise LeaderError(f"{self.port}: closed at the other end; is it still plugged in?")
            return found


def _ports() -> str:
    """Return the serial ports of this machine as text."""
    found = sorted(str(port) for kind in ("ttyACM*", "ttyUSB*", "cu.usb*") for port in Path("/dev").glob(kind))
    return ", ".join(found) or "none; is the leader plugged in and powered?"
