"""Prints on goods: labels of cans and cartons, titles of books, letters on toy blocks, addresses on parcels.

Each is a pattern (h, w, 4) as in ``handloom.render.patterns``, which multiplies the colour of the paper or paint below
it. Names of goods and makers are invented.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Picture = NDArray[np.uint8]
SIZE: Final = 256
MAKERS: Final = ("Lumo", "Brenta", "Okavi", "Tarnwell", "Piko", "Solvara", "Nordby", "Ciela", "Maroo", "Hazelby")
GOODS: Final = ("COLA", "TOMATO", "OATS", "TEA", "BEANS", "JUICE", "MILK", "SOUP", "CRISPS", "HONEY", "CORN", "COCOA")
TITLES: Final = ("The Quiet Loom", "Salt & Cedar", "North of Here", "Small Engines", "A Winter Map", "Weather Notes")
LETTERS: Final = "ABCDEFGHKMRSTXYZ23456789"
INKS: Final = ((40, 44, 60), (150, 30, 34), (28, 84, 52), (30, 60, 130), (110, 62, 20), (90, 30, 100))
WHITE: Final = (255, 255, 255)
Ink = tuple[int, int, int]


def _sheet(color: Ink = WHITE, size: tuple[int, int] = (SIZE, SIZE)) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    sheet = Image.new("RGB", size, color)
    return sheet, ImageDraw.Draw(sheet)


def _font(text: str, width: float, height: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return a font in which a text fits a width and height [px]."""
    size = height
    wide = ImageFont.load_default(100).getlength(text) / 100
    return ImageFont.load_default(max(min(size, width / max(wide, 1e-3)), 6))


def _write(pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, room: tuple[float, float], ink: Ink) -> None:
    pen.text(at, text, ink, font=_font(text, *room), anchor="mm")


def _finished(sheet: Image.Image, rng: np.random.Generator, *, wear: float = 0.0) -> Picture:
    """Return the print with a flat relief, and a few scratches from wear."""
    image = np.asarray(sheet, np.float64) / 255
    if wear > 0:
        mask = Image.new("L", sheet.size, 0)
        pen = ImageDraw.Draw(mask)
        for _ in range(int(wear * 24)):
            x, y = rng.uniform(0, SIZE, 2)
            length, turn = rng.uniform(4, 26), rng.uniform(0, np.pi)
            pen.line((x, y, x + length * np.cos(turn), y + length * np.sin(turn)), int(rng.integers(60, 160)))
        image = image + (1.0 - image) * (np.asarray(mask, float) / 255)[..., None] * 0.6
    flat = np.full((*image.shape[:2], 1), 0.5)
    return np.rint(255 * np.concatenate([np.clip(image, 0, 1), flat], axis=-1)).astype(np.uint8)


def _pick(rng: np.random.Generator, choices: tuple) -> object:
    return choices[int(rng.integers(len(choices)))]


def _ink(rng: np.random.Generator) -> Ink:
    return INKS[int(rng.integers(len(INKS)))]


def can_label(rng: np.random.Generator) -> Picture:
    """A label around a can, bottle or jar: name, maker, a wave or rings, small print at the seam."""
    sheet, pen = _sheet()
    ink, second = _ink(rng), _ink(rng)
    style = int(rng.integers(3))
    if style == 0:
        x = np.arange(0, SIZE + 4, 4)
        wave = 0.66 * SIZE + 0.06 * SIZE * np.sin(2 * np.pi * x / SIZE + rng.uniform(0, 6))
        pen.polygon([(0, SIZE), *zip(x.tolist(), wave.tolist(), strict=True), (SIZE, SIZE)], fill=ink)
    elif style == 1:
        for k, radius in enumerate((92, 80)):
            pen.ellipse((128 - radius, 118 - radius, 128 + radius, 118 + radius), fill=(ink, WHITE)[k])
    else:
        pen.rectangle((0, 24, SIZE, 40), fill=ink)
        pen.rectangle((0, SIZE - 40, SIZE, SIZE - 24), fill=second)
    _write(pen, (128, 104), str(_pick(rng, GOODS)), (150, 56), second if style else ink)
    _write(pen, (128, 146), str(_pick(rng, MAKERS)), (110, 26), ink if style != 1 else second)
    for row in range(7):
        y = 60 + 9 * row
        pen.line((4, y, 4 + int(rng.uniform(10, 26)), y), (90, 90, 90))
    _bars(pen, rng, (226, 70, 252, 150), upright=False)
    return _finished(sheet, rng, wear=float(rng.uniform(0, 1)))


def carton_label(rng: np.random.Generator) -> Picture:
    """The front of a carton: maker, goods, an image of fruit or rings, weight, a band at the foot."""
    sheet, pen = _sheet()
    ink, second = _ink(rng), _ink(rng)
    pen.rectangle((0, SIZE - 46, SIZE, SIZE), fill=ink)
    _write(pen, (128, 36), str(_pick(rng, MAKERS)), (180, 40), second)
    _write(pen, (128, 82), str(_pick(rng, GOODS)), (220, 58), ink)
    for _ in range(int(rng.integers(5, 12))):
        x, y, r = rng.uniform(40, 216), rng.uniform(128, 190), rng.uniform(10, 24)
        tone = tuple(int(v) for v in rng.uniform(90, 250, 3))
        pen.ellipse((x - r, y - r, x + r, y + r), fill=tone, outline=tuple(v * 3 // 4 for v in tone))
        pen.ellipse((x - 0.5 * r, y - 0.6 * r, x - 0.1 * r, y - 0.2 * r), fill=tuple((v + 255) // 2 for v in tone))
    _write(pen, (206, SIZE - 23), f"{int(rng.integers(2, 10)) * 50} g", (70, 24), WHITE)
    for row in range(3):
        pen.line((16, SIZE - 34 + 9 * row, 16 + int(rng.uniform(50, 110)), SIZE - 34 + 9 * row), (230, 230, 230))
    return _finished(sheet, rng, wear=float(rng.uniform(0, 1)))


def title(rng: np.random.Generator) -> Picture:
    """A title in a frame, on one or two lines."""
    sheet, pen = _sheet(size=(SIZE, SIZE // 2))
    ink = _ink(rng)
    pen.rectangle((5, 5, SIZE - 6, SIZE // 2 - 6), outline=ink, width=3)
    _write(pen, (128, 52), str(_pick(rng, TITLES)), (226, 46), ink)
    _write(pen, (128, 98), str(_pick(rng, MAKERS)), (120, 24), ink)
    return _finished(sheet, rng)


def letter(rng: np.random.Generator) -> Picture:
    """A face of a toy cube: bare wood with a coloured letter, or a border and dots."""
    sheet, pen = _sheet((250, 250, 250))
    fibres = np.clip(rng.normal(0, 1, (SIZE, 1)), -2, 2).repeat(SIZE, axis=1)
    style = int(rng.integers(3))
    edge = (118, 118, 118)
    if style == 0:
        pen.rounded_rectangle((22, 22, 234, 234), 26, outline=edge, width=11)
        _write(pen, (128, 130), LETTERS[int(rng.integers(len(LETTERS)))], (150, 170), (92, 92, 92))
    elif style == 1:
        _write(pen, (128, 130), LETTERS[int(rng.integers(len(LETTERS)))], (190, 220), (84, 84, 84))
    else:
        for x, y in ((70, 70), (186, 186), (128, 128), (70, 186), (186, 70))[: int(rng.integers(2, 6))]:
            pen.ellipse((x - 24, y - 24, x + 24, y + 24), fill=(84, 84, 84))
    image = _finished(sheet, rng).astype(float)
    image[..., :3] *= (0.97 + 0.015 * fibres)[..., None]
    return np.rint(np.clip(image, 0, 255)).astype(np.uint8)


def address(rng: np.random.Generator) -> Picture:
    """The label of a parcel: lines of writing, a bar code."""
    sheet, pen = _sheet()
    pen.rectangle((3, 3, SIZE - 4, SIZE - 4), outline=(60, 60, 60), width=2)
    for row in range(5):
        y = 34 + 18 * row
        pen.line((20, y, 20 + int(rng.uniform(90, 200)), y), (40, 40, 40), 5 if row == 0 else 3)
    _bars(pen, rng, (20, 150, 236, 230), upright=True)
    return _finished(sheet, rng)


def _bars(
    pen: ImageDraw.ImageDraw, rng: np.random.Generator, room: tuple[int, int, int, int], *, upright: bool
) -> None:
    """Draw a bar code into a rectangle."""
    left, top, right, bottom = room
    at, end = (left, right) if upright else (top, bottom)
    while at < end - 3:
        wide = int(rng.integers(1, 5))
        box = (at, top, at + wide, bottom) if upright else (left, at, right, at + wide)
        pen.rectangle(box, fill=(20, 20, 20))
        at += wide + int(rng.integers(2, 5))
