"""Textures: packed mip pyramids of the model's images, and their lookup.

A texel is 32 bits, red in the lowest byte. Channels hold the square root of linear light: it spends the 8 bits much as
sRGB does, and decoding is one multiplication.
"""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.kernels import picture_kernel
from handloom.render.color import linear_from_srgb
from handloom.render.cpu.layout import (
    BLUE,
    BOX,
    CYLINDER,
    FACE,
    G_TEX_U,
    G_TEX_V,
    G_TEXTURE,
    G_TYPE,
    GREEN,
    HALF,
    ID,
    ONE,
    PLANE,
    RED,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    ZERO,
    T,
)

# A pixel may cover this many texels before a coarser level is used; higher is sharper and flickers more.
SHARPNESS = np.float32(1.4)
TEXEL_SCALE = np.float32(1.0 / (255.0 * 255.0))


def power_of_two(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Resample an image (h, w, 3) to the next powers of two, so that repeating is a bit mask."""
    out = image
    for axis in (0, 1):
        size = out.shape[axis]
        wanted = 1 << (size - 1).bit_length()
        if wanted != size:
            at = (np.arange(wanted) + 0.5) * size / wanted - 0.5
            low = np.floor(at).astype(int)
            weight = (at - low).reshape([-1, 1, 1] if axis == 0 else [1, -1, 1])
            out = np.take(out, low % size, axis) * (1 - weight) + np.take(out, (low + 1) % size, axis) * weight
    return out.astype(np.float32)


def pyramid(image: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Return the image (h, w, 3) and its box-filtered halves down to one texel along the shorter side."""
    levels = [image]
    while min(levels[-1].shape[:2]) > 1:
        a = levels[-1]
        levels.append(((a[::2, ::2] + a[1::2, ::2] + a[::2, 1::2] + a[1::2, 1::2]) / 4).astype(np.float32))
    return levels


def pack(image: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Pack linear light (h, w, 3) in 0..1 into texels (h * w,)."""
    code = np.rint(255 * np.sqrt(np.clip(image, 0, 1))).astype(np.uint32).reshape(-1, 3)
    return code[:, 0] | code[:, 1] << np.uint32(8) | code[:, 2] << np.uint32(16)


def texture_image(model: mujoco.MjModel, texture: int) -> NDArray[np.float32]:
    """Return a texture of the model as linear light (h, w, 3); a cube map comes as six faces below each other."""
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels = int(model.tex_nchannel[texture])
    start = int(model.tex_adr[texture])
    raw = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    color = raw[..., :3] if channels >= 3 else np.repeat(raw[..., :1], 3, axis=-1)
    return linear_from_srgb(color / np.float32(255)).astype(np.float32)


def texture_arrays(model: mujoco.MjModel, wanted: list[int]) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """Return the texture table (k, 4) of first texel, width, height, levels, and all texels in one array."""
    table, parts, start = [], [np.zeros(1, np.uint32)], 1
    for texture in wanted:
        levels = pyramid(power_of_two(texture_image(model, texture)))
        table.append((start, levels[0].shape[1], levels[0].shape[0], len(levels)))
        parts += [pack(level) for level in levels]
        start += sum(level.shape[0] * level.shape[1] for level in levels)
    return np.array(table, np.int32).reshape(-1, 4), np.concatenate(parts)


@picture_kernel
def _unwrap(lanes, n, row):
    """Turn the hit point in the geom frame into texture coordinates, in repeats of the image.

    Boxes show the image upright on every face, other geoms project it along z (caps, planes) or along y (sides).
    """
    kind = int(row[G_TYPE])
    u_scale = row[G_TEX_U]
    v_scale = row[G_TEX_V]
    for i in range(n):
        face = abs(lanes[i + FACE])
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        if kind == BOX:
            on_x = face < np.float32(1.5)
            flat = face > np.float32(2.5)
        else:
            on_x = False
            flat = (kind == PLANE) | ((kind == CYLINDER) & (face > HALF))
        s = y if on_x else x
        t = y if flat else z
        lanes[i + SPARE_A] = s * u_scale - HALF
        lanes[i + SPARE_B] = -t * v_scale - HALF


@picture_kernel
def sample_texture(lanes, n, row, gid, textures, texels, pixel):
    """Multiply the albedo of geom ``gid`` by its texture, bilinear on the level that suits the distance.

    Reads the hit point in the geom frame from the spare quantities and overwrites them.
    """
    _unwrap(lanes, n, row)
    k = int(row[G_TEXTURE])
    start = textures[k, 0]
    width = textures[k, 1]
    height = textures[k, 2]
    last = textures[k, 3] - 1
    density = pixel * max(row[G_TEX_U] * np.float32(width), row[G_TEX_V] * np.float32(height))
    for i in range(n):
        if lanes[i + ID] == gid:
            footprint = lanes[i + T] * density
            level = 0
            w = width
            h = height
            at = start
            while footprint > SHARPNESS and level < last:
                at += w * h
                w >>= 1
                h >>= 1
                level += 1
                footprint *= HALF
            x = lanes[i + SPARE_A] * np.float32(w) - HALF
            y = lanes[i + SPARE_B] * np.float32(h) - HALF
            x_floor = np.floor(x)
            y_floor = np.floor(y)
            x0 = np.int32(x_floor) & (w - 1)
            y0 = np.int32(y_floor) & (h - 1)
            x1 = (x0 + 1) & (w - 1)
            y1 = (y0 + 1) & (h - 1)
            fx = x - x_floor
            fy = y - y_floor
            a = texels[np.uint64(at + y0 * w + x0)]
            b = texels[np.uint64(at + y0 * w + x1)]
            c = texels[np.uint64(at + y1 * w + x0)]
            d = texels[np.uint64(at + y1 * w + x1)]
            wa = (ONE - fx) * (ONE - fy)
            wb = fx * (ONE - fy)
            wc = (ONE - fx) * fy
            wd = fx * fy
            lanes[i + RED] *= _blend(a, b, c, d, wa, wb, wc, wd, np.uint32(0))
            lanes[i + GREEN] *= _blend(a, b, c, d, wa, wb, wc, wd, np.uint32(8))
            lanes[i + BLUE] *= _blend(a, b, c, d, wa, wb, wc, wd, np.uint32(16))


@picture_kernel
def _blend(a, b, c, d, wa, wb, wc, wd, shift):
    """Blend one channel of four texels in linear light."""
    pa = np.float32((a >> shift) & np.uint32(255))
    pb = np.float32((b >> shift) & np.uint32(255))
    pc = np.float32((c >> shift) & np.uint32(255))
    pd = np.float32((d >> shift) & np.uint32(255))
    return (pa * pa * wa + pb * pb * wb + pc * pc * wc + pd * pd * wd) * TEXEL_SCALE + ZERO
