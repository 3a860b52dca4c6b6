"""Procedural patterns of materials: seamless variation of colour and height over one repeat.

A pattern is a function of a generator that returns an image (h, w, 4) uint8. The first three channels multiply the
material's colour (255 leaves it unchanged); the fourth is height, from 0 (deep) to 255 (high).
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.render.appearance.prints import address, can_label, carton_label, letter, title
from handloom.render.textures import cloud_noise, wrapped_noise

Picture = NDArray[np.uint8]
SIZE = 256
FINE = 512
KEPT = 64
"""Number of patterns that a worker keeps; a fine one takes 1 MB."""


def _image(shade: Array, height: Array | None = None, tint: Array | None = None) -> Picture:
    """Pack brightness (h, w) in 0..1, colour (h, w, 3) and height (h, w) in 0..1."""
    rgb = np.clip(shade, 0.0, 1.0)[..., None] * (np.ones(3) if tint is None else tint)
    z = np.full(shade.shape, 0.5) if height is None else np.clip(height, 0.0, 1.0)
    return np.rint(255 * np.concatenate([np.clip(rgb, 0, 1), z[..., None]], axis=-1)).astype(np.uint8)


def _grid(size: int) -> tuple[Array, Array]:
    """Return x (1, size) and y (size, 1) from 0 to 1."""
    steps = (np.arange(size) + 0.5) / size
    return steps[None, :], steps[:, None]


def _boards(
    rng: np.random.Generator, boards: int, *, size: int = FINE, seams: bool = True, rows: NDArray[np.intp] | None = None
) -> Picture:
    """Boards along x: each with its own tone and rings, fine fibres and pores, and seams between."""
    _, y = _grid(size)
    board = np.minimum((y * boards).astype(int), boards - 1) if rows is None else rows
    count = int(board.max()) + 1
    start, width = rng.uniform(0, 1, count)[board], rng.integers(1, 4, count)[board]
    wander = wrapped_noise(rng, 3, 4 * boards, size)
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (width * boards * y + start + 1.1 * wander))
    fibres = 0.6 * wrapped_noise(rng, 6, size // 4, size) + 0.4 * wrapped_noise(rng, 24, size // 2, size)
    pores = wrapped_noise(rng, 40, size, size) > 0.86
    tone = rng.uniform(-0.07, 0.07, count)[board]
    shade = 0.80 + 0.09 * (rings - 0.5) + 0.16 * (fibres - 0.5) - 0.07 * pores + tone
    height = 0.75 - 0.35 * pores + 0.10 * fibres
    if seams:
        seam = np.abs((y * boards) % 1.0 - 0.5) > 0.5 - 0.7 * boards / size
        shade, height = np.where(seam, 0.62 * shade, shade), np.where(seam, 0.0, height)
    warm = 1.0 - np.array([0.0, 0.05, 0.12]) * (1.0 - np.clip(shade, 0, 1))[..., None]
    return _image(shade + 0.1, height, warm)


def grain(rng: np.random.Generator) -> Picture:
    """One veneer or a few broad boards along x."""
    return _boards(rng, int(rng.integers(2, 5)))


def strips(rng: np.random.Generator) -> Picture:
    """Narrow glued strips along x."""
    return _boards(rng, 24, seams=False)


def blocks(rng: np.random.Generator) -> Picture:
    """Staves of a butcher's block: strips of random lengths."""
    x, y = _grid(FINE)
    rows, pieces = 14, 3
    row = np.minimum((y * rows).astype(int), rows - 1)
    piece = np.floor((x + rng.uniform(0, 1, rows)[row]) * pieces).astype(int) % pieces
    return _boards(rng, rows, rows=row * pieces + piece)


def parquet(rng: np.random.Generator) -> Picture:
    """Floor boards along x, staggered."""
    x, y = _grid(FINE)
    rows, pieces = 6, 1
    row = np.minimum((y * rows).astype(int), rows - 1)
    along = (x + rng.uniform(0, 1, rows)[row]) % 1.0
    image = _boards(rng, rows, rows=row * pieces).astype(float)
    image[np.broadcast_to(along < 1.5 / FINE, image.shape[:2])] *= 0.6
    return np.rint(image).astype(np.uint8)


def paint(rng: np.random.Generator) -> Picture:
    """Brushed paint: almost uniform, faint strokes along x."""
    strokes = wrapped_noise(rng, 4, SIZE, SIZE)
    return _image(0.97 + 0.015 * cloud_noise(rng, 1.4, SIZE) / 2, strokes)


def clouds(rng: np.random.Generator) -> Picture:
    """Plaster, concrete, stone: faint clouds and fine grain."""
    field = cloud_noise(rng, 1.3, SIZE)
    fine = rng.standard_normal((SIZE, SIZE))
    return _image(0.93 + 0.03 * field + 0.012 * fine, 0.5 + 0.12 * cloud_noise(rng, 0.7, SIZE))


def veins(rng: np.random.Generator) -> Picture:
    """Marble: bands that fade, a few sharp veins."""
    field = cloud_noise(rng, 1.5, FINE)
    sharp = np.exp(-np.abs(cloud_noise(rng, 1.9, FINE) + 0.25 * field) / 0.045)
    soft = np.exp(-np.abs(cloud_noise(rng, 2.2, FINE)) / 0.20)
    mask = np.clip(0.5 + 0.5 * cloud_noise(rng, 2.0, FINE), 0, 1)
    shade = 0.97 - 0.30 * sharp * mask - 0.09 * soft + 0.01 * field
    tint = 1.0 - np.array([0.03, 0.015, 0.0]) * (sharp * mask)[..., None]
    return _image(shade, None, tint)


def grains(rng: np.random.Generator) -> Picture:
    """Granite: specks of several minerals."""
    specks = cloud_noise(rng, 0.35, FINE)
    coarse = cloud_noise(rng, 0.7, FINE)
    shade = 0.62 + 0.13 * specks + 0.07 * coarse + 0.25 * (specks > 1.4) - 0.30 * (specks < -1.35)
    return _image(shade)


def chips(rng: np.random.Generator) -> Picture:
    """Terrazzo: chips of stone in cement."""
    cells = 260
    points, tones = rng.random((cells, 2)), rng.uniform(0.45, 1.0, cells)[:, None] * rng.uniform(0.85, 1.0, (cells, 3))
    x, y = _grid(SIZE)
    nearest = np.full((SIZE, SIZE), np.inf)
    second, owner = nearest.copy(), np.zeros((SIZE, SIZE), int)
    for k, (px, py) in enumerate(points):
        dx, dy = np.abs(x - px), np.abs(y - py)
        far = np.hypot(np.minimum(dx, 1 - dx), np.minimum(dy, 1 - dy))
        closer = far < nearest
        second = np.where(closer, nearest, np.minimum(second, far))
        owner, nearest = np.where(closer, k, owner), np.where(closer, far, nearest)
    chip = (second - nearest > 0.012) & (tones[owner, 0] < 0.85)
    return _image(
        np.where(chip, 1.0, 0.96 + 0.01 * cloud_noise(rng, 1.0, SIZE)),
        None,
        np.where(chip[..., None], tones[owner], 1.0),
    )


def _tiles(
    rng: np.random.Generator, across: int, up: int, joint: float, *, shift: float = 0.0, spread: float = 0.02
) -> Picture:
    """Tiles with grout: ``joint`` is its width as a fraction of the repeat; every second row is shifted."""
    x, y = _grid(FINE)
    row = np.floor(y * up).astype(int)
    u = x * across + shift * (row % 2)
    v = y * up
    column = np.floor(u).astype(int) % across
    fx, fy = u - np.floor(u), np.broadcast_to(v - np.floor(v), (FINE, FINE))
    edge = np.minimum(np.minimum(fx, 1 - fx) / across, np.minimum(fy, 1 - fy) / up)
    share = np.clip((edge - 0.5 * joint) / (1.2 * joint), 0.0, 1.0)
    rise = share * share * (3 - 2 * share)
    tone = 1.0 - spread * rng.random((up, across))[np.broadcast_to(row, (FINE, FINE)), column]
    grout = edge < 0.5 * joint
    shade = np.where(grout, 0.66 + 0.05 * rng.standard_normal((FINE, FINE)), 0.985 * tone)
    return _image(shade, rise)


def square_tiles(rng: np.random.Generator) -> Picture:
    """Two by two square tiles."""
    return _tiles(rng, 2, 2, 0.009)


def metro_tiles(rng: np.random.Generator) -> Picture:
    """Metro tiles, two long by four high, in running bond."""
    return _tiles(rng, 2, 4, 0.009, shift=0.5)


def mosaic(rng: np.random.Generator) -> Picture:
    """Small square tiles of many shades."""
    return _tiles(rng, 8, 8, 0.010, spread=0.30)


def bricks(rng: np.random.Generator) -> Picture:
    """Bricks in running bond, rough."""
    image = _tiles(rng, 2, 6, 0.020, shift=0.5, spread=0.30).astype(float)
    image[..., :3] *= (0.95 + 0.04 * np.clip(cloud_noise(rng, 0.7, FINE), -2, 1))[..., None]
    image[..., 3] *= 0.9 + 0.08 * np.clip(cloud_noise(rng, 0.5, FINE), -1, 1)
    return np.rint(np.clip(image, 0, 255)).astype(np.uint8)


def brush(rng: np.random.Generator) -> Picture:
    """Brushed metal: fine lines along x."""
    lines = wrapped_noise(rng, 3, SIZE, SIZE) * 0.6 + wrapped_noise(rng, 12, SIZE // 2, SIZE) * 0.4
    return _image(0.84 + 0.16 * lines, lines)


def fine_brush(rng: np.random.Generator) -> Picture:
    """Brushed metal with fainter lines."""
    lines = wrapped_noise(rng, 4, SIZE, SIZE)
    return _image(0.93 + 0.07 * lines, lines)


def weave(rng: np.random.Generator) -> Picture:
    """A plain weave: warp and weft over and under each other."""
    threads = 24
    at = np.arange(SIZE, dtype=np.float64) * threads / SIZE
    over = (np.floor(at)[:, None] + np.floor(at)[None, :]) % 2
    profile = np.abs(np.sin(np.pi * at))
    field: Array = np.where(over > 0, profile[None, :], profile[:, None])
    return _image(0.72 + 0.22 * field + 0.03 * cloud_noise(rng, 0.8, SIZE), np.asarray(field, np.float64))


def tufts(rng: np.random.Generator) -> Picture:
    """Carpet."""
    field = cloud_noise(rng, 0.3, SIZE)
    return _image(0.80 + 0.09 * field, 0.5 + 0.2 * field)


def fibres(rng: np.random.Generator) -> Picture:
    """Cardboard, felt: short fibres, faint ribs."""
    ribs = 0.5 + 0.5 * np.sin(2 * np.pi * 20 * _grid(SIZE)[1])
    return _image(
        0.94 + 0.02 * cloud_noise(rng, 0.9, SIZE) + 0.02 * (ribs - 0.5), 0.5 + 0.15 * cloud_noise(rng, 0.5, SIZE)
    )


def cast(rng: np.random.Generator) -> Picture:
    """A fine orange-peel relief: cast metal, leather, foam."""
    return _image(0.95 + 0.02 * cloud_noise(rng, 0.9, SIZE), 0.5 + 0.18 * cloud_noise(rng, 1.0, SIZE))


def crust(rng: np.random.Generator) -> Picture:
    """Bread: rough, darker where it is baked."""
    field = cloud_noise(rng, 1.4, SIZE)
    tint = 1.0 - np.array([0.0, 0.06, 0.12]) * np.clip(field, 0, 2)[..., None]
    return _image(
        0.90 - 0.09 * np.clip(field, -1, 2) + 0.02 * rng.standard_normal((SIZE, SIZE)),
        0.5 + 0.2 * cloud_noise(rng, 0.7, SIZE),
        tint,
    )


def dimples(rng: np.random.Generator) -> Picture:
    """Citrus: fine pits."""
    pits = wrapped_noise(rng, 28, 28, SIZE)
    return _image(0.95 - 0.08 * (pits > 0.75).astype(np.float64), 1.0 - np.clip((pits - 0.45) * 2.5, 0, 1))


def speckles(rng: np.random.Generator) -> Picture:
    """Apples: lengthwise streaks of a second colour, fine pale dots."""
    streaks = wrapped_noise(rng, 40, 5, SIZE) * wrapped_noise(rng, 6, 2, SIZE)
    dots = wrapped_noise(rng, 60, 60, SIZE) > 0.965
    tint = np.ones((SIZE, SIZE, 3)) - np.array([0.04, 0.25, 0.20]) * np.clip(streaks * 1.5, 0, 1)[..., None]
    return _image(np.where(dots, 1.0, 0.90), None, tint)


def blemishes(rng: np.random.Generator) -> Picture:
    """Bananas: small brown spots and lengthwise shades."""
    field = cloud_noise(rng, 1.1, SIZE)
    spots = np.clip((field - 1.9) * 2.0, 0, 1)
    tint = 1.0 - np.array([0.45, 0.55, 0.5]) * spots[..., None]
    return _image(0.96 + 0.02 * np.clip(cloud_noise(rng, 1.8, SIZE), -1, 1), None, tint)


def sprinkles(rng: np.random.Generator) -> Picture:
    """Icing with coloured sprinkles."""
    shade, tint, height = np.full((SIZE, SIZE), 0.98), np.ones((SIZE, SIZE, 3)), np.full((SIZE, SIZE), 0.3)
    for _ in range(46):
        x, y, turn = rng.uniform(0, SIZE), rng.uniform(0, SIZE), rng.uniform(0, np.pi)
        tone = rng.uniform(0.2, 1.0, 3)
        for step in np.linspace(-7, 7, 15):
            row, column = int(y + step * np.sin(turn)) % SIZE, int(x + step * np.cos(turn)) % SIZE
            rows, columns = np.arange(row, row + 4) % SIZE, np.arange(column, column + 4) % SIZE
            tint[np.ix_(rows, columns)], height[np.ix_(rows, columns)] = tone, 1.0
    return _image(shade, height, tint)


PATTERNS: Final[dict[str, Callable[[np.random.Generator], Picture]]] = {
    function.__name__: function
    for function in (
        *(blemishes, blocks, bricks, brush, cast, chips, clouds, crust, dimples, fibres, fine_brush, grain, grains),
        *(metro_tiles, mosaic, paint, parquet, speckles, sprinkles, square_tiles, strips, tufts, veins, weave),
        *(address, can_label, carton_label, letter, title),
    )
}


@lru_cache(maxsize=KEPT)
def pattern(name: str, seed: int) -> Picture:
    """Return a pattern (h, w, 4) uint8 by name; the same seed gives the same pattern."""
    if name not in PATTERNS:
        raise unknown_name("pattern", name, PATTERNS)
    image = PATTERNS[name](np.random.default_rng(seed))
    image.setflags(write=False)
    return image
