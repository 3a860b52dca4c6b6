"""Images: sRGB and linear light, safe reading of untrusted files, contact sheets and PNG files."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.errors import FileError, HandloomError, InputError


def linear_from_srgb(srgb: ArrayLike) -> Array:
    """Return linear light of sRGB values in 0..1 (IEC 61966-2-1)."""
    c = np.asarray(srgb, float)
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0.04045) + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(linear: ArrayLike) -> Array:
    """Return sRGB values in 0..1 of linear light in 0..1."""
    c = np.asarray(linear, float)
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * np.maximum(c, 0.0031308) ** (1 / 2.4) - 0.055)


FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TGA", "TIFF", "WEBP")
"""Formats that are read, regardless of the file extension; others would start programs."""
MAX_PIXELS = 70_000_000
"""A little more than 8192 x 8192; a few bytes of a file can declare any size."""


@contextmanager
def open_picture(path: str | Path | BytesIO) -> Iterator[Image.Image]:
    """Open an image, a file or its content, for the duration of a ``with`` block.

    Raises:
        FileError: It cannot be read, or is too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise FileError(f"{path}: has {image.width} x {image.height} pixels; at most {MAX_PIXELS} are read")
                yield image
    except HandloomError:
        raise
    except Exception as error:  # The decoders of the formats raise errors of any type.
        raise FileError(f"{path}: cannot be read as an image: {error}") from error


Picture = NDArray[np.uint8]

GAP = 6
LABEL_HEIGHT, LINE_HEIGHT, MOST_LINES = 20, 16, 5
PAPER, INK = (24, 25, 28), (225, 226, 230)


def contact_sheet(images: Sequence[Picture], labels: Sequence[str] = (), *, columns: int | None = None) -> Picture:
    """Arrange images in a grid with a caption under each, on several lines if it is long.

    Args:
        images: Images (h, w, 3) uint8, of any sizes; smaller ones are enlarged to the height of the largest.
        labels: One caption per image, or none.
        columns: Images per row; by default, the grid is as square as possible.

    Returns:
        One image (h, w, 3) uint8.
    """
    if not images:
        raise InputError("a contact sheet needs at least one image")
    if labels and len(labels) != len(images):
        raise InputError(f"a contact sheet needs one label per image, got {len(images)} and {len(labels)}")
    columns = columns or int(np.ceil(np.sqrt(len(images))))
    rows = -(-len(images) // columns)
    height = max(image.shape[0] for image in images)
    shown = [_with_height(image, height) for image in images]
    widths = [max(image.width for image in shown[k::columns]) for k in range(min(columns, len(shown)))]
    left = [GAP + sum(widths[:k]) + k * GAP for k in range(len(widths))]
    font = ImageFont.load_default(13)
    captions = [_wrapped(label, font, widths[k % columns] - 4) for k, label in enumerate(labels)]
    lines = max(map(len, captions), default=1)
    cell_h = height + (LABEL_HEIGHT + (lines - 1) * LINE_HEIGHT if labels else 0)
    size = (left[-1] + widths[-1] + GAP, rows * (cell_h + GAP) + GAP)
    sheet = Image.new("RGB", size, PAPER)
    pen = ImageDraw.Draw(sheet)
    for k, image in enumerate(shown):
        x, y = left[k % columns], GAP + k // columns * (cell_h + GAP)
        sheet.paste(image, (x, y))
        for line, words in enumerate(captions[k] if labels else ()):
            pen.text((x + 2, y + height + 2 + line * LINE_HEIGHT), words, INK, font=font)
    return np.asarray(sheet)


def _wrapped(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> list[str]:
    """Return a text as lines of at most a width [px]; longer words, and lines after ``MOST_LINES``, are cut."""
    lines = [""]
    for word in re.split(r"(?<=[ _])", text):
        if lines[-1] and font.getlength((lines[-1] + word).rstrip()) > width:
            lines.append("")
        lines[-1] += word
    fitting = [_cut(line.rstrip(), font, width) for line in lines[:MOST_LINES]]
    return [*fitting[:-1], _cut(f"{fitting[-1]} ...", font, width)] if len(lines) > MOST_LINES else fitting


def _cut(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> str:
    while text and font.getlength(text) > width:
        text = text[:-4] + "..." if len(text) > 4 else ""
    return text


def _with_height(image: Picture, height: int) -> Image.Image:
    """Return an image, scaled to a height [px]."""
    own = Image.fromarray(image)
    return own if own.height == height else own.resize((round(own.width * height / own.height), height))


def write_png(path: Path | str, image: Picture) -> Path:
    """Write an image (h, w, 3) uint8, or (h, w) uint8, as PNG; folders are created as needed."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path, format="PNG", optimize=True)
    except OSError as error:
        raise FileError(f"cannot write the image {path}: {error}") from error
    return path
