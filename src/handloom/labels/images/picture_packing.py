"""Lossless packing of label images: small differences between neighbouring pixels are stored in few bits, in one pass.

An image is packed as one or more consecutive planes: rows of numbers, each predicted as left + upper - upper left in
the same channel, with 0 outside the image. An error e of the prediction is stored as 2 e for e >= 0 and as -2 e - 1
otherwise. Sixteen of these numbers along a row make a block, which uses 0, 1, 2, 4, 8 or 16 bits per number; the last
block of a row is padded with zeros. First come the codes of all blocks (0 to 5, row by row), then the blocks.
Everything is written to words of 16 bits, little-endian, from the lowest bit on; a code takes four bits.
"""

import numpy as np
from numpy.typing import NDArray

from handloom.kernels import picture_kernel

BLOCK = 16
"""Numbers in a block."""
WIDTHS = (0, 1, 2, 4, 8, 16)
"""Bits of each number, by the code of the block."""
ROUND = np.float32(12582912.0)
"""1.5 * 2^23: added and subtracted, it rounds numbers below 2^22 to the nearest integer, ties to even."""
INFINITE, ZERO = np.float32(np.inf), np.float32(0.0)
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


def most_words(height: int, width: int) -> int:
    """Return the maximum number of 16-bit words of a packed plane with this many rows and numbers per row."""
    blocks = height * -(-width // BLOCK)
    return blocks * BLOCK + -(-blocks // 4)


@picture_kernel(inline="always")
def _squeezed(four, bits):
    """Return the lowest bits of four 16-bit numbers, held in one 64-bit number, side by side."""
    pairs = (four | (four >> np.uint64(16 - bits))) & np.uint64(((1 << 2 * bits) - 1) * ((1 << 32) + 1))
    return (pairs | (pairs >> np.uint64(32 - 2 * bits))) & np.uint64((1 << 4 * bits) - 1)


@picture_kernel
def _pack_block(a, b, c, d, out, end):
    """Write a block of four times four numbers to the words from ``end`` on; return its code.

    Indices without a sign need no checks.
    """
    every = a | b | c | d
    if every == 0:
        return 0
    every |= every >> np.uint64(32)
    largest = (every | (every >> np.uint64(16))) & np.uint64(0xFFFF)
    if largest < 2:
        low, high = _squeezed(a, 1) | _squeezed(b, 1) << np.uint64(4), _squeezed(c, 1) | _squeezed(d, 1) << np.uint64(4)
        out[end] = np.uint16(low | high << np.uint64(8))
        return 1
    if largest < 4:
        out[end] = np.uint16(_squeezed(a, 2) | _squeezed(b, 2) << np.uint64(8))
        out[end + ONE] = np.uint16(_squeezed(c, 2) | _squeezed(d, 2) << np.uint64(8))
        return 2
    if largest < 16:
        out[end], out[end + ONE] = np.uint16(_squeezed(a, 4)), np.uint16(_squeezed(b, 4))
        out[end + TWO], out[end + THREE] = np.uint16(_squeezed(c, 4)), np.uint16(_squeezed(d, 4))
        return 3
    if largest < 256:
        for four in (a, b, c, d):
            word = _squeezed(four, 8)
            out[end], out[end + ONE] = np.uint16(word), np.uint16(word >> np.uint64(16))
            end += TWO
        return 4
    for four in (a, b, c, d):
        out[end], out[end + ONE] = np.uint16(four), np.uint16(four >> np.uint64(16))
        out[end + TWO], out[end + THREE] = np.uint16(four >> np.uint64(32)), np.uint16(four >> np.uint64(48))
        end += np.uint64(4)
    return 5


@picture_kernel(entry=True)
def pack_plane(values, channels, scale, low, high, is_depth, is_byte, rows, numbers, fours, out):
    """Round values to stored numbers and pack them; return the words written. Every value is read once.

    Args:
        values: The plane (h, n) float32.
        channels: Number of interleaved channels per pixel.
        scale: Stored numbers per unit.
        low: Smallest value; lower values are clipped to it.
        high: Largest value.
        is_depth: Whether infinite values are stored as 0.
        is_byte: Whether stored numbers have 8 bits, and wrap around there, else 16.
        rows: Scratch (2, channels + n) int16, the row above and this one.
        numbers: Scratch (16 * blocks of a row,) uint16.
        fours: The same memory (blocks of a row, 4) uint64.
        out: Receives the words of 16 bits.
    """
    height, width = values.shape
    blocks = fours.shape[0]
    rows[:] = 0
    numbers[:] = 0
    end = np.uint64((height * blocks + 3) // 4)
    codes, count, place = np.uint16(0), 0, np.uint64(0)
    for y in range(height):
        above, row, line = rows[(y + 1) % 2], rows[y % 2], values[y]
        here, upper = row[channels:], above[channels:]
        if is_depth:
            for x in range(width):
                z = (min(max(line[x], low), high) * scale + ROUND) - ROUND
                here[x] = np.int16(np.int32(z if line[x] < INFINITE else ZERO))
        else:
            for x in range(width):
                here[x] = np.int16(np.int32((min(max(line[x], low), high) * scale + ROUND) - ROUND))
        if is_byte:
            for x in range(width):
                e = np.int8(here[x] - row[x] - upper[x] + above[x])
                numbers[x] = np.uint8((e << 1) ^ (e >> 7))
        else:
            for x in range(width):
                e = np.int16(here[x] - row[x] - upper[x] + above[x])
                numbers[x] = np.uint16((e << 1) ^ (e >> 15))
        for k in range(blocks):
            code = _pack_block(fours[k, 0], fours[k, 1], fours[k, 2], fours[k, 3], out, end)
            end += np.uint64((1 << code) >> 1)
            codes |= np.uint16(code << (4 * (count & 3)))
            count += 1
            if count & 3 == 0:
                out[place] = codes
                codes = np.uint16(0)
                place += ONE
    if count & 3:
        out[place] = codes
    return end


def unpack(packed: bytes, planes: int, shape: tuple[int, int, int], dtype: str) -> NDArray[np.generic]:
    """Return the stored numbers (planes, h, w, channels) of a packed image.

    Args:
        packed: Its bytes.
        planes: Number of consecutive planes.
        shape: Height, width and channels of each.
        dtype: Type of the stored numbers, of 8 or 16 bits.
    """
    words = np.frombuffer(packed, "<u2")
    height, width, channels = shape
    image = np.empty((planes, height, width, channels), dtype)
    start = 0
    for plane in image:
        errors, start = _unpacked_errors(words, start, height, -(-width * channels // BLOCK))
        steps = errors[:, : width * channels].astype(dtype).reshape(shape)
        plane[:] = np.cumsum(np.cumsum(steps, axis=1, dtype=dtype), axis=0, dtype=dtype)
    return image


def _unpacked_errors(words: NDArray[np.uint16], start: int, height: int, blocks: int) -> tuple[NDArray[np.int16], int]:
    """Return the prediction errors (height, 16 * blocks) of the plane that begins at a word, and its end."""
    count = height * blocks
    halves = words[start : start + -(-count // 4), None] >> np.arange(0, 16, 4, dtype=np.uint16)
    codes = (halves & 15).reshape(-1)[:count]
    sizes = np.array(WIDTHS)[codes]
    ends = start + len(halves) + np.cumsum(sizes)
    numbers = np.zeros((count, BLOCK), np.uint16)
    for code, bits in enumerate(WIDTHS[1:], 1):
        mine = np.flatnonzero(codes == code)
        stored = words[(ends - sizes)[mine, None] + np.arange(bits)]
        shifts = np.arange(0, 16, bits, dtype=np.uint16)
        numbers[mine] = ((stored[..., None] >> shifts) & (2**bits - 1)).reshape(-1, BLOCK)
    errors = (numbers >> 1).astype(np.int16) ^ -(numbers & 1).astype(np.int16)
    return errors.reshape(height, blocks * BLOCK), int(ends[-1])
