"""Pictures of strangers are read as pictures, in bounds, or refused in words."""

import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from handloom.errors import FileError
from handloom.render.pictures import open_picture


def png(width: int, height: int) -> bytes:
    """Return a picture that declares a size and has no such content."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def test_a_picture_is_what_it_contains_whatever_its_name(tmp_path: Path) -> None:
    Image.new("RGB", (4, 3), (9, 8, 7)).save(tmp_path / "a.jpg", format="PNG")
    with open_picture(tmp_path / "a.jpg") as image:
        assert image.size == (4, 3)
        assert image.getpixel((0, 0)) == (9, 8, 7)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (png(9_000, 9_000), "has 9000 x 9000 pixels"),
        (png(100_000, 100_000), "cannot be read as an image"),
        (png(8, 8), "cannot be read as an image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "cannot be read as an image"),
        (b"", "cannot be read as an image"),
    ],
)
def test_what_is_too_large_broken_or_a_program_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(FileError, match=said), open_picture(tmp_path / "a.png") as image:
        image.convert("RGB")
