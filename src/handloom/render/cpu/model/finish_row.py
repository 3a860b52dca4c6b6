"""The material columns of a geom row, from a finish."""

import math

import numpy as np
from numpy.typing import NDArray

from handloom.render.cpu.layout import (
    BOX,
    CYLINDER,
    G_ALPHA,
    G_BOX,
    G_COLOR,
    G_GLOW,
    G_HALF,
    G_METAL,
    G_MIRROR,
    G_RELIEF,
    G_SHININESS,
    G_SPECULAR,
    G_TEX_ALONG,
    G_TEX_AROUND,
    G_TEX_DENSITY,
    G_TEX_SHIFT,
    G_TEX_U,
    G_TEX_V,
    G_TYPE,
    MESH,
    PLANE,
    READABLE,
    TRIANGLES,
)
from handloom.render.cpu.model.texture import TextureKey
from handloom.render.materials import Finish, material
from handloom.render.pictures import linear_from_srgb

# Number of variants of one pattern; another part of the seed selects the visible part of a variant.
PIECES = 4
# The same for prints, which distinguish goods of one kind.
PRINTS = 12
# Maximum exponent of highlights, because lamps have a size.
SHARPEST = 600.0


def write_finish(finish: Finish, row: NDArray[np.float32]) -> TextureKey | None:
    """Write colour and gloss; return the pattern, if there is one."""
    stuff = material(finish.material)
    row[G_COLOR : G_COLOR + 3] = linear_from_srgb(np.array(finish.color or stuff.color))
    row[G_ALPHA] = stuff.opacity
    row[G_SPECULAR], row[G_METAL], row[G_GLOW], row[G_MIRROR] = stuff.specular, stuff.metallic, stuff.emission, 0.0
    row[G_SHININESS] = min(max(2.0, 2.0 / max(stuff.roughness, 0.01) ** 4 - 2.0), SHARPEST)
    row[G_TEX_U], row[G_TEX_V] = 1.0 / stuff.size, 1.0 / stuff.size
    row[G_RELIEF] = stuff.relief
    return (stuff.pattern, finish.seed % (PRINTS if stuff.fits else PIECES)) if stuff.pattern else None


def wrap_pattern(finish: Finish, row: NDArray[np.float32]) -> None:
    """Wrap the pattern around round shapes, and lay it along the longest side of others."""
    kind, half = int(row[G_TYPE]), row[G_HALF : G_HALF + 3]
    if material(finish.material).fits:
        _fit_print(row, kind, half)
        return
    row[G_TEX_ALONG] = int(np.argmax(half)) if kind == BOX else 0
    # Two irrational steps spread the seeds evenly over the pattern.
    row[G_TEX_SHIFT : G_TEX_SHIFT + 2] = (finish.seed * 0.6180339887) % 1.0, (finish.seed * 0.7548776662) % 1.0
    if kind not in (BOX, PLANE, MESH, TRIANGLES):
        radius = float(half[0] if kind == CYLINDER else max(half[0], half[1]))
        row[G_TEX_AROUND] = max(1, round(2 * math.pi * radius * float(row[G_TEX_U])))


def _fit_print(row: NDArray[np.float32], kind: int, half: NDArray[np.float32]) -> None:
    """Let a print cover the front of a box once, and a round shape twice, front and back."""
    wide, deep, high = (2 * float(h) for h in half)
    lies = kind == BOX and high < min(wide, deep)
    row[G_TEX_U], row[G_TEX_V] = 1.0 / wide, 1.0 / (deep if lies else high)
    # The letters of a wide, low title stay sharp at the price of some flicker.
    row[G_TEX_DENSITY] = math.sqrt(float(row[G_TEX_U]) * float(row[G_TEX_V]))
    row[G_TEX_ALONG] = READABLE
    if kind != BOX:
        row[G_TEX_AROUND] = 2.0
        row[G_TEX_SHIFT], row[G_TEX_SHIFT + 1] = 0.0, 0.5 + float(row[G_BOX + 2]) * float(row[G_TEX_V])
        row[G_TEX_DENSITY] = math.sqrt(float(row[G_TEX_V]) * 2.0 / (math.pi * wide))
