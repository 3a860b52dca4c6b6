"""Procedural textures: functions of a random generator that return an sRGB image that repeats seamlessly.

Noise is made in the Fourier domain or on wrapped lattices, so left matches right and top matches bottom.
"""

from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.render.pictures import linear_from_srgb, srgb_from_linear

Picture = NDArray[np.uint8]
Field = Array
SIZE = 256
# Fine enough for a wrist camera half a metre above one metre of table.
FINE = 512
# Shades between the two colours of a blend.
SHADES = 1024


def wrapped_noise(rng: np.random.Generator, cells_x: int, cells_y: int, size: int = SIZE) -> Field:
    """Return smooth noise (size, size) in 0..1 on a lattice of cells_x by cells_y that wraps around."""
    lattice = rng.random((cells_y, cells_x))
    at_x, at_y = np.arange(size) * cells_x / size, np.arange(size) * cells_y / size
    x0, y0 = at_x.astype(int), at_y.astype(int)
    fx, fy = at_x - x0, at_y - y0
    fx, fy = fx * fx * (3 - 2 * fx), (fy * fy * (3 - 2 * fy))[:, None]
    x1, y1 = (x0 + 1) % cells_x, (y0 + 1) % cells_y
    top = lattice[y0][:, x0] * (1 - fx) + lattice[y0][:, x1] * fx
    bottom = lattice[y1][:, x0] * (1 - fx) + lattice[y1][:, x1] * fx
    return top * (1 - fy) + bottom * fy


def cloud_noise(rng: np.random.Generator, roughness: float, size: int = SIZE) -> Field:
    """Return fractal noise (size, size) with mean 0 and deviation 1; a higher ``roughness`` is smoother."""
    spectrum = np.fft.rfft2(rng.standard_normal((size, size)))
    k = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :])
    k[0, 0] = np.inf
    field = np.fft.irfft2(spectrum / k**roughness, s=(size, size))
    return (field - field.mean()) / field.std()


def _blend(field: Field, dark: ArrayLike, light: ArrayLike) -> Picture:
    """Return the image of a blend from one sRGB colour to another, in linear light."""
    a, b = linear_from_srgb(dark), linear_from_srgb(light)
    shades = np.rint(255 * srgb_from_linear(a + (b - a) * np.linspace(0, 1, SHADES)[:, None])).astype(np.uint8)
    return shades[np.rint((SHADES - 1) * np.clip(field, 0, 1)).astype(np.int32)]


def _near(rng: np.random.Generator, color: ArrayLike, spread: float) -> Array:
    """Return a similar colour with slightly different lightness and hue, as for objects of one kind."""
    scale = 1 + rng.normal(0, spread) + rng.normal(0, 0.3 * spread, 3)
    return np.clip(np.asarray(color, float) * scale, 0.02, 0.98)


# sRGB of oak, beech, walnut, maple and cherry, oiled.
WOODS = ((0.66, 0.50, 0.35), (0.74, 0.58, 0.44), (0.45, 0.32, 0.23), (0.79, 0.67, 0.51), (0.62, 0.40, 0.27))


def wood(rng: np.random.Generator, size: int = FINE) -> Picture:
    """Return a top glued from boards along x, each with its own tone and grain, fine fibres and pores, and seams."""
    boards = int(rng.integers(4, 7))
    y = np.arange(size)[:, None] / size
    board = np.minimum((y * boards).astype(int), boards - 1)
    # Every board is cut from a different part of the trunk, with different offset and spacing of its rings.
    start, width = rng.uniform(0, 1, boards)[board], rng.integers(1, 4, boards)[board]
    wander = wrapped_noise(rng, 3, 4 * boards, size)
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (width * boards * y + start + 1.1 * wander))
    fibres = 0.6 * wrapped_noise(rng, 6, size // 4, size) + 0.4 * wrapped_noise(rng, 24, size // 2, size)
    pores = wrapped_noise(rng, 40, size, size) > 0.86
    field = 0.30 * rings + 0.45 * fibres + 0.25 * wrapped_noise(rng, 2, 3 * boards, size) - 0.12 * pores
    field += rng.uniform(-0.10, 0.10, boards)[board]
    seam = np.abs((y * boards) % 1.0 - 0.5) > 0.5 - 0.8 * boards / size
    field = np.where(seam, 0.5 * field, field)
    tone = _near(rng, WOODS[int(rng.integers(len(WOODS)))], 0.06)
    return _blend(field + 0.08, tone * 0.60, np.clip(tone * 1.22, 0, 1))


def stone(rng: np.random.Generator, size: int = SIZE) -> Picture:
    """Return speckled stone with soft veins."""
    veins = np.abs(cloud_noise(rng, 1.6, size))
    field = 0.55 + 0.12 * cloud_noise(rng, 1.0, size) + 0.08 * rng.standard_normal((size, size)) - 0.25 * (veins < 0.06)
    tone = _near(rng, [0.62, 0.61, 0.59], 0.06)
    return _blend(field, tone * 0.6, np.clip(tone * 1.2, 0, 1))


def plaster(rng: np.random.Generator, size: int = SIZE) -> Picture:
    """Return a painted wall: almost uniform, faintly cloudy."""
    field = 0.5 + 0.16 * cloud_noise(rng, 1.2, size)
    tone = _near(rng, [0.80, 0.79, 0.76], 0.05)
    return _blend(field, tone * 0.93, np.clip(tone * 1.05, 0, 1))


def cloth(rng: np.random.Generator, size: int = SIZE) -> Picture:
    """Return a plain weave: warp and weft over and under each other."""
    threads = int(rng.integers(24, 49))
    x = np.arange(size) * threads / size
    over = (np.floor(x)[:, None] + np.floor(x)[None, :]) % 2
    profile = np.abs(np.sin(np.pi * x))
    field = np.where(over > 0, profile[None, :], profile[:, None])
    field = 0.35 + 0.45 * field + 0.06 * cloud_noise(rng, 0.8, size)
    tone = rng.uniform(0.25, 0.75, 3)
    return _blend(field, tone * 0.6, np.clip(tone * 1.15, 0, 1))


def metal(rng: np.random.Generator, size: int = SIZE) -> Picture:
    """Return brushed metal: fine lines along x."""
    lines = wrapped_noise(rng, 4, size, size) * 0.6 + wrapped_noise(rng, 16, size // 2, size) * 0.4
    tone = _near(rng, [0.72, 0.73, 0.75], 0.03)
    return _blend(lines, tone * 0.86, np.clip(tone * 1.08, 0, 1))


def checker(rng: np.random.Generator, size: int = SIZE) -> Picture:
    """Return two by two squares of two related colours."""
    first = rng.uniform(0.3, 0.8, 3)
    squares = (np.arange(size) >= size // 2).astype(int)
    field = (squares[:, None] + squares[None, :]) % 2
    return _blend(field.astype(float), first * rng.uniform(0.5, 0.8), first)


def noise(rng: np.random.Generator, size: int = SIZE) -> Picture:
    """Return coloured clouds, for strong randomisation."""
    channels = [np.clip(0.5 + 0.25 * cloud_noise(rng, 1.4, size), 0, 1) for _ in range(3)]
    return np.rint(255 * np.stack(channels, axis=-1)).astype(np.uint8)


def label(rng: np.random.Generator, size: int = SIZE, *, text: str = "HANDLOOM") -> Picture:
    """Return a printed label: a band of colour, a word, lines of small print, a bar code."""
    paper, band = rng.uniform(0.85, 0.98, 3), rng.uniform(0.1, 0.7, 3)
    sheet = Image.new("RGB", (size, size), tuple(int(255 * c) for c in paper))
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((0, size // 8, size, size // 2), tuple(int(255 * c) for c in band))
    font = ImageFont.load_default(max(size // (len(text) or 1), 8))
    pen.text((size // 2, size * 5 // 16), text, "white", font=font, anchor="mm")
    for row in range(5):
        y = size * 9 // 16 + row * size // 28
        pen.line((size // 10, y, size // 10 + int(rng.uniform(0.3, 0.8) * size), y), (90, 90, 90), max(size // 100, 1))
    x = size // 10
    while x < size * 9 // 10:
        wide = int(rng.integers(1, 5)) * max(size // 128, 1)
        pen.rectangle((x, size * 13 // 16, x + wide, size * 15 // 16), "black")
        x += wide + int(rng.integers(1, 4)) * max(size // 128, 1)
    return np.asarray(sheet)


TEXTURES: dict[str, Callable[..., Picture]] = {
    "checker": checker,
    "cloth": cloth,
    "label": label,
    "metal": metal,
    "noise": noise,
    "plaster": plaster,
    "stone": stone,
    "wood": wood,
}


def texture(name: str, rng: np.random.Generator, size: int | None = None) -> Picture:
    """Return a procedural texture (size, size, 3) uint8 by name; ``size`` should be a power of two.

    Without a size, the resolution suits the texture.
    """
    if name not in TEXTURES:
        raise unknown_name("texture", name, TEXTURES)
    return TEXTURES[name](rng) if size is None else TEXTURES[name](rng, size)


def add_texture(
    spec: mujoco.MjSpec, name: str, image: Picture, *, repeat: tuple[float, float] = (1.0, 1.0), per_metre: bool = True
) -> str:
    """Add an image to a model under construction, with a material that shows it; return the material's name.

    Args:
        spec: The model under construction.
        name: Name of texture and material.
        image: (h, w, 3) uint8, sRGB.
        repeat: Number of repeats of the image, per metre or over the geom.
        per_metre: Whether repeats are per metre,
            not over the geom.
    """
    height, width = image.shape[:2]
    added = spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3)
    added.data = np.ascontiguousarray(image).tobytes()
    material = spec.add_material(name=name, texrepeat=list(repeat), texuniform=per_metre)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    return name
