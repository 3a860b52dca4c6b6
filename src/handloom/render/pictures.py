"""Pictures for people: contact sheets and PNG files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.errors import FileError, InputError

Picture = NDArray[np.uint8]

GAP = 6
LABEL_HEIGHT = 20
PAPER, INK = (24, 25, 28), (225, 226, 230)


def contact_sheet(images: Sequence[Picture], labels: Sequence[str] = (), *, columns: int | None = None) -> Picture:
    """Lay pictures out in a grid with a caption under each.

    Args:
        images: Pictures (h, w, 3) uint8, of any sizes.
        labels: One caption per picture, or none at all.
        columns: Pictures per row; by default as square a grid as fits.

    Returns:
        One picture (h, w, 3) uint8.
    """
    if not images:
        raise InputError("a contact sheet needs at least one picture")
    if labels and len(labels) != len(images):
        raise InputError(f"a contact sheet needs one label per picture, got {len(images)} and {len(labels)}")
    columns = columns or int(np.ceil(np.sqrt(len(images))))
    rows = -(-len(images) // columns)
    cell_w = max(image.shape[1] for image in images)
    cell_h = max(image.shape[0] for image in images) + (LABEL_HEIGHT if labels else 0)
    sheet = Image.new("RGB", (columns * (cell_w + GAP) + GAP, rows * (cell_h + GAP) + GAP), PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(13)
    for k, image in enumerate(images):
        x, y = GAP + k % columns * (cell_w + GAP), GAP + k // columns * (cell_h + GAP)
        sheet.paste(Image.fromarray(image), (x, y))
        if labels:
            pen.text((x + 2, y + image.shape[0] + 2), labels[k], INK, font=font)
    return np.asarray(sheet)


def write_png(path: Path | str, image: Picture) -> Path:
    """Write a picture (h, w, 3) uint8, or (h, w) uint8, as PNG; folders are made as needed."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path, format="PNG", optimize=True)
    except OSError as error:
        raise FileError(f"cannot write the picture {path}: {error}") from error
    return path
