"""Pictures in files that may come from anybody."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from handloom.errors import FileError, HandloomError

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TGA", "TIFF", "WEBP")
"""What is read, whatever the file is called; others start programs."""
MAX_PIXELS = 70_000_000
"""8192 x 8192 and a little more; a few bytes of a file can declare any size."""


@contextmanager
def open_picture(path: str | Path) -> Iterator[Image.Image]:
    """Open a picture for the length of a ``with`` block.

    Raises:
        FileError: It cannot be read, or is too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise FileError(f"{path}: has {image.width} x {image.height} pixels; {MAX_PIXELS} are read at most")
                yield image
    except HandloomError:
        raise
    except Exception as error:  # The decoders of the formats raise what they like.
        raise FileError(f"{path}: cannot be read as a picture: {error}") from error
