"""Lossless packing of label images: small differences between neighbouring pixels in few bits, in one pass.

An image is packed as one plane or several, one after the other: rows of numbers, of which each is predicted as
left + upper - upper left in the same channel, where what lies outside the image is 0. An error e of the prediction is
stored as 2 e for e >= 0 and as -2 e - 1 otherwise. Sixteen of these numbers along a row make a block, which takes 0, 1,
2, 4, 8 or 16 bits for each of them; the last block of a row is filled up with zeros. First come the codes of all blocks
(0 to 5, row by row), then the blocks. Everything is written to words of 16 bits, little-endian, from the lowest bit
on; a code takes four bits.
"""

import numpy as np
from numpy.typing import NDArray

from handloom.kernels import picture_kernel

BLOCK = 16
"""Numbers in a block."""
WIDTHS = (0, 1, 2, 4, 8, 16)
"""Bits of each number, by the code of the block."""
ROUND = np.float32(12582912.0)
"""1.5 * 2^23: added and subtracted, it rounds to the nearest whole number, ties to the even one, below 2^22."""
INFINITE, ZERO, ONE = np.float32(np.inf), np.float32(0.0), np.uint64(1)


def most_words(height: int, width: int) -> int:
    """Return the most words of 16 bits that a packed plane of that many rows and numbers in a row takes."""
    blocks = height * -(-width // BLOCK)
    return blocks * BLOCK + -(-blocks // 4)


@picture_kernel(inline="always")
def _word(block, first, bits):
    """Return the word of 16 bits that holds the numbers of a block from the first on."""
    word = np.uint16(block[first])
    for i in range(1, 16 // bits):
        word |= np.uint16(block[first + i] << (bits * i))
    return word


@picture_kernel
def _pack_block(block, out, end):
    """Write a block (16,) to the words from ``end`` on; return its code. Indices without sign need no checks."""
    largest = np.uint16(0)
    for i in range(BLOCK):
        largest |= block[i]
    if largest == 0:
        return 0
    if largest < 2:
        out[end] = _word(block, 0, 1)
        return 1
    if largest < 4:
        out[end], out[end + ONE] = _word(block, 0, 2), _word(block, 8, 2)
        return 2
    if largest < 16:
        for i in range(4):
            out[end + np.uint64(i)] = _word(block, 4 * i, 4)
        return 3
    if largest < 256:
        for i in range(8):
            out[end + np.uint64(i)] = np.uint16(block[2 * i] | (block[2 * i + 1] << 8))
        return 4
    for i in range(BLOCK):
        out[end + np.uint64(i)] = block[i]
    return 5


@picture_kernel(entry=True)
def pack_plane(values, channels, scale, low, high, is_depth, is_byte, rows, numbers, out):
    """Round values to stored numbers and pack them; return the words written. Every value is read once.

    Args:
        values: The plane (h, n) float32.
        channels: How many channels follow each other in a pixel.
        scale: Stored numbers per unit.
        low: Least value; what is below is stored as this.
        high: Largest value.
        is_depth: Whether infinite values are stored as 0.
        is_byte: Whether stored numbers have 8 bits, and wrap around there, else 16.
        rows: Scratch (2, channels + n) int16, the row above and this one.
        numbers: Scratch (blocks of a row, 16) uint16.
        out: Receives the words of 16 bits.
    """
    height, width = values.shape
    blocks = numbers.shape[0]
    flat = numbers.reshape(-1)
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
                flat[x] = np.uint8((e << 1) ^ (e >> 7))
        else:
            for x in range(width):
                e = np.int16(here[x] - row[x] - upper[x] + above[x])
                flat[x] = np.uint16((e << 1) ^ (e >> 15))
        for k in range(blocks):
            code = _pack_block(numbers[k], out, end)
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
        planes: Planes that follow each other.
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
    """Return the errors (height, 16 * blocks) of the plane that begins at a word, and where it ends."""
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
