"""The file format of the 3D view, loaded with a single request: a JSON header followed by arrays."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"HLS1"
"""First bytes; then the length of the header as uint32, little endian, the header, and the arrays."""
ALIGNED = 8
"""Arrays begin at multiples of this, so that a browser can view them in place [bytes]."""


class Container:
    """Collects arrays; the header refers to each by ``{"at", "count", "type"}``."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, values: NDArray[Any] | bytes) -> dict[str, Any]:
        """Append an array, or bytes, and return its header entry: offset [bytes], number of values, type."""
        array = np.frombuffer(values, np.uint8) if isinstance(values, bytes) else np.ascontiguousarray(values)
        reference = {"at": self._size, "count": int(array.size), "type": array.dtype.name}
        content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        content += b"\0" * (-len(content) % ALIGNED)
        self._parts.append(content)
        self._size += len(content)
        return reference

    def packed(self, header: dict[str, Any]) -> bytes:
        """Return the file; offsets of arrays count from the end of the header."""
        text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-(len(MAGIC) + 4 + len(text)) % ALIGNED)
        return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *self._parts])


def event(kind: str, **facts: Any) -> bytes:
    """Return a file without arrays: one event."""
    return Container().packed({"kind": kind, **facts})


def sized(content: bytes) -> bytes:
    """Return a file preceded by its length (uint32, little endian), for a stream of several files."""
    return len(content).to_bytes(4, "little") + content


def unpacked(content: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the header of a file and the bytes after it."""
    if content[:4] != MAGIC:
        raise ValueError("this is not a scene of the 3D view")
    length = int.from_bytes(content[4:8], "little")
    return json.loads(content[8 : 8 + length]), memoryview(content)[8 + length :]


def array_of(reference: dict[str, Any], content: memoryview) -> NDArray[Any]:
    """Return an array (count,) of a file."""
    dtype = np.dtype(reference["type"])
    return np.frombuffer(content[reference["at"] : reference["at"] + reference["count"] * dtype.itemsize], dtype)
