"""Textures: packed mip pyramids of the model's images, and their lookup.

A texel is 32 bits, red in the lowest byte, the height of a relief in the highest. Colours hold the square root of
linear light: it uses the 8 bits much like sRGB, and decoding is one multiplication.
"""

from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BLUE,
    BOX,
    CYLINDER,
    FACE,
    G_RELIEF,
    G_ROT,
    G_TEX_ALONG,
    G_TEX_AROUND,
    G_TEX_DENSITY,
    G_TEX_MAPPED,
    G_TEX_SHIFT,
    G_TEX_U,
    G_TEX_V,
    G_TEXTURE,
    G_TYPE,
    GREEN,
    HALF,
    ID,
    LANES,
    MESH,
    NX,
    NY,
    NZ,
    ONE,
    PLANE,
    RED,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPARE_E,
    SPARE_G,
    SPARE_H,
    SPARE_I,
    SPARE_J,
    TINY,
    TRIANGLES,
    TURNED,
    ZERO,
    T,
)
from handloom.render.cpu.rays.geom_frame import rotation_of
from handloom.render.cpu.rays.space import greatest
from handloom.render.patterns import KEPT, pattern
from handloom.render.pictures import linear_from_srgb

TextureKey = int | tuple[str, int]
"""A texture of the model by its id, or a pattern by its name and seed."""

TWO, THREE = np.float32(2), np.float32(3)
# A pixel may cover this many texels before a coarser level is used; higher values are sharper and flicker more.
SHARPNESS = np.float32(1.4)
TEXEL_SCALE = np.float32(1.0 / (255.0 * 255.0))
# Linear light of every sRGB byte.
LINEAR = linear_from_srgb(np.arange(256) / 255).astype(np.float32)
# Texel numbers must stay exact in float32, so larger images are halved until both sides are at most this long.
MAX_SIDE = 2048


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


def pack(image: NDArray[np.float32]) -> NDArray[np.int32]:
    """Pack linear light (h, w, 3) in 0..1, with or without a fourth channel of heights, into texels (h * w,)."""
    code = np.rint(255 * np.sqrt(np.clip(image[..., :3], 0, 1))).astype(np.uint32).reshape(-1, 3)
    texels = code[:, 0] | code[:, 1] << 8 | code[:, 2] << 16
    if image.shape[-1] > 3:
        texels |= np.rint(255 * np.clip(image[..., 3], 0, 1)).astype(np.uint32).ravel() << 24
    return texels.view(np.int32)


def texture_image(model: mujoco.MjModel, texture: int) -> NDArray[np.float32]:
    """Return a texture of the model as linear light (h, w, 3); a cube map comes as six faces below each other."""
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels = int(model.tex_nchannel[texture])
    start = int(model.tex_adr[texture])
    raw = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    color = raw[..., :3] if channels >= 3 else np.repeat(raw[..., :1], 3, axis=-1)
    return LINEAR[color]


def texture_arrays(model: mujoco.MjModel, wanted: list[TextureKey]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the texture table (k, 4) of first texel, width, height, levels, and all texels in one array."""
    table, parts, start = [], [np.zeros(1, np.int32)], 1
    for texture in wanted:
        if isinstance(texture, int):
            sizes, packed = _packed(texture_image(model, texture))
        else:
            sizes, packed = _packed_pattern(*texture)
        table.append((start, *sizes))
        parts.append(packed)
        start += len(packed)
    return np.array(table, np.int32).reshape(-1, 4), np.concatenate(parts)


def _packed(image: NDArray[np.float32]) -> tuple[tuple[int, int, int], NDArray[np.int32]]:
    """Return width, height and levels of an image (h, w, 3 or 4), and all its texels."""
    levels = pyramid(power_of_two(image))
    while max(levels[0].shape[:2]) > MAX_SIDE:
        levels = levels[1:]
    return (levels[0].shape[1], levels[0].shape[0], len(levels)), np.concatenate([pack(level) for level in levels])


@lru_cache(maxsize=KEPT)
def _packed_pattern(name: str, seed: int) -> tuple[tuple[int, int, int], NDArray[np.int32]]:
    """Return the texels of a pattern; scenes share them."""
    image = pattern(name, seed)
    height = image[..., 3:].astype(np.float32) / 255
    return _packed(np.concatenate([LINEAR[image[..., :3]], height], axis=-1).astype(np.float32))


@picture_kernel
def _unwrap(lanes, row, gid):
    """Convert the hit point in the geom frame to texture coordinates [repeats]; 0 in lanes of other geoms.

    Meshes have their own coordinates; boxes show the image upright on every face; meshes without coordinates are
    projected along the main direction of the normal; other geoms along z (caps, planes) or y (sides).
    """
    kind = int(row[G_TYPE])
    u_scale = row[G_TEX_U]
    v_scale = row[G_TEX_V]
    is_box = kind == BOX
    is_plane = kind == PLANE
    is_cylinder = kind == CYLINDER
    is_mesh = kind in (MESH, TRIANGLES)
    r0, r3, r6 = row[G_ROT], row[G_ROT + 3], row[G_ROT + 6]
    r2, r5, r8 = row[G_ROT + 2], row[G_ROT + 5], row[G_ROT + 8]
    if kind == TRIANGLES and row[G_TEX_MAPPED] > ZERO:
        for i in range(LANES):
            mine = lanes[i + ID] == gid
            lanes[i + SPARE_A] = lanes[i + SPARE_D] * u_scale if mine else ZERO
            lanes[i + SPARE_B] = lanes[i + SPARE_E] * v_scale if mine else ZERO
        return
    if row[G_TEX_AROUND] > ZERO:
        _unwrap_round(lanes, row, gid, is_cylinder)
        return
    along, u_shift, v_shift = row[G_TEX_ALONG], row[G_TEX_SHIFT], row[G_TEX_SHIFT + 1]
    print_ = along > np.float32(2.5)
    deep, across = (along > np.float32(1.5)) & (not print_), (along > HALF) & (along < np.float32(1.5))
    for i in range(LANES):
        face = abs(lanes[i + FACE])
        nx, ny, nz = lanes[i + NX], lanes[i + NY], lanes[i + NZ]
        level = is_mesh & (abs(nx * r2 + ny * r5 + nz * r8) > np.float32(0.7))
        on_x = (is_box & (face < np.float32(1.5))) | (is_mesh & (abs(nx * r0 + ny * r3 + nz * r6) > np.float32(0.7)))
        flat = level | is_plane | (is_box & (face > np.float32(2.5))) | (is_cylinder & (face > HALF))
        s = lanes[i + SPARE_B] if on_x else lanes[i + SPARE_A]
        t = lanes[i + SPARE_B] if flat else lanes[i + SPARE_C]
        # Seen from behind and from the left, the axes run from right to left.
        away = (lanes[i + FACE] == TWO) | (lanes[i + FACE] == -ONE)
        s = -s if print_ & away & is_box else s
        mine = lanes[i + ID] == gid
        swap = (across & flat) | (deep & (not flat))
        u, v = (t if swap else s), (s if swap else t)
        lanes[i + SPARE_A] = u * u_scale - HALF + u_shift if mine else ZERO
        lanes[i + SPARE_B] = -v * v_scale - HALF + v_shift if mine else ZERO
        # Directions of u and v, for the relief: 0 along x, 1 along y, 2 along z. Spare F is that of ``greatest``.
        s_axis = ONE if on_x else ZERO
        t_axis = ONE if flat else TWO
        lanes[i + SPARE_J] = t_axis if swap else s_axis
        lanes[i + SPARE_G] = s_axis if swap else t_axis
        # Old values here may be infinite, and zero times infinity is not zero.
        lanes[i + SPARE_H] = ZERO
        lanes[i + SPARE_I] = ZERO


@picture_kernel(inline="always")
def _turn_of(x, y):
    """Return the angle of (x, y) in turns, -1/2 to 1/2, to 1e-4: an odd polynomial, no library function."""
    a, b = abs(x), abs(y)
    q = min(a, b) / max(a, b, TINY)
    s = q * q
    r = ((np.float32(-0.0464964749) * s + np.float32(0.15931422)) * s - np.float32(0.327622764)) * s * q + q
    r = np.float32(1.5707963268) - r if b > a else r
    r = np.float32(3.1415926536) - r if x < ZERO else r
    return (-r if y < ZERO else r) * np.float32(0.15915494309)


@picture_kernel
def _unwrap_round(lanes, row, gid, is_cylinder):
    """Wrap the texture around the z axis; horizontal ends show it from above."""
    around, u_scale, v_scale = row[G_TEX_AROUND], row[G_TEX_U], row[G_TEX_V]
    u_shift, v_shift = row[G_TEX_SHIFT], row[G_TEX_SHIFT + 1]
    r2, r5, r8 = row[G_ROT + 2], row[G_ROT + 5], row[G_ROT + 8]
    for i in range(LANES):
        x, y, z = lanes[i + SPARE_A], lanes[i + SPARE_B], lanes[i + SPARE_C]
        up = abs(lanes[i + NX] * r2 + lanes[i + NY] * r5 + lanes[i + NZ] * r8)
        level = (up > np.float32(0.9)) & (is_cylinder | (row[G_TYPE] == TURNED))
        mine = lanes[i + ID] == gid
        u = x * u_scale if level else _turn_of(x, y) * around
        v = y if level else z
        lanes[i + SPARE_A] = u + u_shift if mine else ZERO
        lanes[i + SPARE_B] = -v * v_scale + v_shift if mine else ZERO
        inverse = ONE / np.sqrt(x * x + y * y + TINY)
        # Around the axis: the direction itself, marked by 3.
        lanes[i + SPARE_J] = ZERO if level else THREE
        lanes[i + SPARE_G] = ONE if level else TWO
        lanes[i + SPARE_H] = -y * inverse
        lanes[i + SPARE_I] = x * inverse


@picture_kernel
def _emboss(lanes, row, gid, corners, width, height):
    """Tilt normals by the slope of the heights of four texels; fractions are in spares A, B, the level's size in C."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    u_gain = row[G_RELIEF] * row[G_TEX_U] * np.float32(width / 255.0)
    v_gain = row[G_RELIEF] * row[G_TEX_V] * np.float32(height / 255.0)
    for i in range(LANES):
        a = np.float32(np.int32((corners[i] >> 24) & 255))
        b = np.float32(np.int32((corners[i + LANES] >> 24) & 255))
        c = np.float32(np.int32((corners[i + 2 * LANES] >> 24) & 255))
        d = np.float32(np.int32((corners[i + 3 * LANES] >> 24) & 255))
        fx, fy, scale = lanes[i + SPARE_A], lanes[i + SPARE_B], lanes[i + SPARE_C]
        du = ((b - a) * (ONE - fy) + (d - c) * fy) * u_gain * scale
        dv = ((c - a) * (ONE - fx) + (d - b) * fx) * v_gain * scale
        du = min(max(du, -ONE), ONE)
        dv = min(max(dv, -ONE), ONE)
        f, g = lanes[i + SPARE_J], lanes[i + SPARE_G]
        round_u = f > np.float32(2.5)
        # Slope in the geom frame; v runs against its axis.
        x = du * lanes[i + SPARE_H] if round_u else (du if f < HALF else ZERO)
        y = du * lanes[i + SPARE_I] if round_u else (du if (f > HALF) & (f < np.float32(1.5)) else ZERO)
        z = du if (f > np.float32(1.5)) & (not round_u) else ZERO
        x -= dv if g < HALF else ZERO
        y -= dv if (g > HALF) & (g < np.float32(1.5)) else ZERO
        z -= dv if g > np.float32(1.5) else ZERO
        nx, ny, nz = lanes[i + NX], lanes[i + NY], lanes[i + NZ]
        wx, wy, wz = r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z
        along = wx * nx + wy * ny + wz * nz
        px, py, pz = nx - wx + along * nx, ny - wy + along * ny, nz - wz + along * nz
        inverse = ONE / np.sqrt(px * px + py * py + pz * pz)
        mine = lanes[i + ID] == gid
        lanes[i + NX] = px * inverse if mine else nx
        lanes[i + NY] = py * inverse if mine else ny
        lanes[i + NZ] = pz * inverse if mine else nz


@picture_kernel
def _choose_level(lanes, gid, density, levels):
    """Write the size of the chosen level, relative to the full image, to the third spare quantity: 1, 1/2, 1/4 ..."""
    for i in range(LANES):
        lanes[i + SPARE_C] = ONE
        lanes[i + SPARE_D] = lanes[i + T] * density if lanes[i + ID] == gid else ZERO
    # No lane needs more halvings than the coarsest one.
    coarsest = greatest(lanes, SPARE_D)
    for _ in range(levels - 1):
        if coarsest <= SHARPNESS:
            break
        coarsest *= HALF
        for i in range(LANES):
            coarse = lanes[i + SPARE_D] > SHARPNESS
            lanes[i + SPARE_C] = lanes[i + SPARE_C] * HALF if coarse else lanes[i + SPARE_C]
            lanes[i + SPARE_D] = lanes[i + SPARE_D] * HALF if coarse else lanes[i + SPARE_D]


@picture_kernel
def _find_texels(lanes, corners, width, height):
    """Write the four texels around each lane to ``corners`` (4 * LANES,), relative to the texture's first texel.

    All in float32, which is exact for sizes that are powers of two and for fewer than 2^24 texels. The levels before
    one of w_l x h_l texels have (w h - w_l h_l) 4 / 3 texels. Leaves the two fractions in the spare quantities.
    """
    w = np.float32(width)
    h = np.float32(height)
    inv_w = ONE / w
    inv_h = ONE / h
    third = np.float32(4.0 / 3.0)
    for i in range(LANES):
        scale = lanes[i + SPARE_C]
        wl = w * scale
        hl = h * scale
        inverse = ONE / scale
        inv_wl = inv_w * inverse
        inv_hl = inv_h * inverse
        first = np.floor((w * h - wl * hl) * third + HALF)
        x = lanes[i + SPARE_A] * wl - HALF
        y = lanes[i + SPARE_B] * hl - HALF
        x0 = np.floor(x)
        y0 = np.floor(y)
        lanes[i + SPARE_A] = x - x0
        lanes[i + SPARE_B] = y - y0
        x0 = x0 - wl * np.floor(x0 * inv_wl)
        y0 = y0 - hl * np.floor(y0 * inv_hl)
        x1 = x0 + ONE if x0 + ONE < wl else ZERO
        y1 = y0 + ONE if y0 + ONE < hl else ZERO
        corners[i] = np.int32(first + y0 * wl + x0)
        corners[i + LANES] = np.int32(first + y0 * wl + x1)
        corners[i + 2 * LANES] = np.int32(first + y1 * wl + x0)
        corners[i + 3 * LANES] = np.int32(first + y1 * wl + x1)


@picture_kernel(inline="always")
def _blend(corners, i, wa, wb, wc, wd, shift):
    """Blend one channel of the four texels of a lane, in linear light."""
    a = np.float32(np.int32((corners[i] >> shift) & 255))
    b = np.float32(np.int32((corners[i + LANES] >> shift) & 255))
    c = np.float32(np.int32((corners[i + 2 * LANES] >> shift) & 255))
    d = np.float32(np.int32((corners[i + 3 * LANES] >> shift) & 255))
    return (a * a * wa + b * b * wb + c * c * wc + d * d * wd) * TEXEL_SCALE


@picture_kernel
def sample_texture(lanes, row, gid, textures, texels, corners, pixel):
    """Multiply the albedo of geom ``gid`` by its texture, bilinear on the level that fits the distance.

    Reads the hit point in the geom frame from the spare quantities and overwrites them. All lanes are looked up, those
    of other geoms at a harmless position; only the lookup itself is not vector code.

    Args:
        lanes: Flat batch of rays.
        row: Geom row.
        gid: Its number, as float32.
        textures: Texture table.
        texels: All texels.
        corners: Scratch (4 * LANES,) int32.
        pixel: Size of a pixel at depth 1 [m].
    """
    _unwrap(lanes, row, gid)
    k = int(row[G_TEXTURE])
    first = textures[k, 0]
    width = textures[k, 1]
    height = textures[k, 2]
    density = pixel * row[G_TEX_DENSITY] * np.float32(max(width, height))
    _choose_level(lanes, gid, density, textures[k, 3])
    _find_texels(lanes, corners, width, height)
    for i in range(LANES):
        corners[i] = texels[np.uint64(first + corners[i])]
        corners[i + LANES] = texels[np.uint64(first + corners[i + LANES])]
        corners[i + 2 * LANES] = texels[np.uint64(first + corners[i + 2 * LANES])]
        corners[i + 3 * LANES] = texels[np.uint64(first + corners[i + 3 * LANES])]
    for i in range(LANES):
        fx = lanes[i + SPARE_A]
        fy = lanes[i + SPARE_B]
        wa = (ONE - fx) * (ONE - fy)
        wb = fx * (ONE - fy)
        wc = (ONE - fx) * fy
        wd = fx * fy
        mine = lanes[i + ID] == gid
        lanes[i + RED] *= _blend(corners, i, wa, wb, wc, wd, 0) if mine else ONE
        lanes[i + GREEN] *= _blend(corners, i, wa, wb, wc, wd, 8) if mine else ONE
        lanes[i + BLUE] *= _blend(corners, i, wa, wb, wc, wd, 16) if mine else ONE
    if row[G_RELIEF] > ZERO and row[G_TEX_MAPPED] == ZERO:
        _emboss(lanes, row, gid, corners, width, height)
