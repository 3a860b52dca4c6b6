"""The checksum of TFRecord files: CRC-32C (Castagnoli), eight bytes at a time."""

import numpy as np

from handloom.kernels import kernel

POLYNOMIAL = 0x82F63B78


def _tables() -> np.ndarray:
    table = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        table[0, byte] = crc
    for byte in range(256):
        for k in range(1, 8):
            before = int(table[k - 1, byte])
            table[k, byte] = before >> 8 ^ int(table[0, before & 0xFF])
    return table


TABLES = _tables()


@kernel
def _crc(data, tables):
    """Return the CRC-32C of bytes (n,); one look into each of eight tables per eight bytes."""
    crc = np.uint32(0xFFFFFFFF)
    n, k = len(data), 0
    while k + 8 <= n:
        low = crc ^ (
            np.uint32(data[k])
            | np.uint32(data[k + 1]) << np.uint32(8)
            | np.uint32(data[k + 2]) << np.uint32(16)
            | np.uint32(data[k + 3]) << np.uint32(24)
        )
        crc = (
            tables[7, low & np.uint32(0xFF)]
            ^ tables[6, (low >> np.uint32(8)) & np.uint32(0xFF)]
            ^ tables[5, (low >> np.uint32(16)) & np.uint32(0xFF)]
            ^ tables[4, low >> np.uint32(24)]
            ^ tables[3, data[k + 4]]
            ^ tables[2, data[k + 5]]
            ^ tables[1, data[k + 6]]
            ^ tables[0, data[k + 7]]
        )
        k += 8
    while k < n:
        crc = tables[0, (crc ^ np.uint32(data[k])) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
        k += 1
    return crc ^ np.uint32(0xFFFFFFFF)


def crc32c(data: np.ndarray) -> int:
    """Return the CRC-32C of bytes (n,)."""
    return int(_crc(np.ascontiguousarray(data, np.uint8), TABLES))
