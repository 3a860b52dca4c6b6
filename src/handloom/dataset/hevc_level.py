"""The level that a lossless HEVC video says it needs.

A level bounds the bit rate, and x265 puts "no bound" (8.5) into lossless streams; rerun takes such a file for one
without a video. Decoders do not look at the level, so the highest real one, 6.2, is said instead.
"""

from pathlib import Path

HIGHEST_LEVEL = 186
"""Level 6.2, in thirtieths."""
SEQUENCE_PARAMETERS = 33
"""Type of the HEVC unit whose level readers look at."""
LEVEL_AT = 14
"""Where its level stands: after two bytes of header, one of layers and eleven of profile."""


def bound_level(path: Path) -> None:
    """Write the highest real level into the sequence parameters of a closed HEVC MP4 file."""
    content = bytearray(path.read_bytes())
    box = content.rfind(b"hvcC") + 4
    arrays, at = content[box + 22], box + 23
    for _ in range(arrays):
        kind, count, at = content[at] & 0x3F, int.from_bytes(content[at + 1 : at + 3], "big"), at + 3
        for _ in range(count):
            size, at = int.from_bytes(content[at : at + 2], "big"), at + 2
            if kind == SEQUENCE_PARAMETERS:
                level = at + _escaped(bytes(content[at : at + size]), LEVEL_AT)
                content[level] = min(content[level], HIGHEST_LEVEL)
            at += size
    path.write_bytes(content)


def _escaped(unit: bytes, index: int) -> int:
    """Return where byte ``index`` of a unit is, counting the 3 that is put after every two zeros."""
    place, zeros = 0, 0
    for _ in range(index):
        zeros = zeros + 1 if unit[place] == 0 else 0
        place += 1
        if zeros == 2 and unit[place] == 3:
            place, zeros = place + 1, 0
    return place
