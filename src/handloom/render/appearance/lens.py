"""Images as seen through a real lens by a real sensor; depth and labels get only the distortion.

An ideal image with a margin is rendered, then resampled as the lens shows it. Light is linear: exposure, white balance,
vignetting and noise are applied before the sRGB curve is restored.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.render.cameras import lens_grid
from handloom.render.pictures import linear_from_srgb, srgb_from_linear
from handloom.values import CameraSpec
from handloom.values.camera import Optics

MOST_MARGIN = 0.25
"""Maximum margin of an ideal image on each side, as a fraction of its size; stronger lenses show dark rims."""
LEVELS = 4096
"""Steps of the table that encodes linear light."""
READ_NOISE = 0.25
"""Fraction of the noise that remains in the dark."""
KEPT = 16
_LINEAR = linear_from_srgb(np.arange(256) / 255).astype(np.float32)
_ENCODED = np.rint(255 * srgb_from_linear(np.linspace(0, 1, LEVELS))).astype(np.uint8)


class Draws(Protocol):
    """A renderer of ideal images."""

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: Any) -> Any:
        """Render a placed scene from one camera."""
        ...


def through_lens(
    backend: Draws, data: mujoco.MjData, camera: CameraSpec, kinds: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Return the images of a camera by kind, with its lens and sensor.

    Args:
        backend: Renders ideal images of a placed scene.
        data: The state; its time selects the noise.
        camera: The camera.
        kinds: Kinds of images.
    """
    frame = backend.draw(data, ideal_camera(camera), kinds)
    return finished({kind: getattr(frame, kind) for kind in kinds}, camera, float(data.time))


def ideal_camera(camera: CameraSpec) -> CameraSpec:
    """Return the ideal camera whose images ``finished`` converts to those of a camera with a lens."""
    return camera if camera.optics is None else _lens_map(camera)[0]


def finished(images: dict[str, NDArray[Any]], camera: CameraSpec, time: float) -> dict[str, NDArray[Any]]:
    """Return images of the ideal camera with the effects of a camera's lens and sensor at a time [s]."""
    optics = camera.optics
    if optics is None:
        return images
    if optics.distorts:
        _, low, high = _lens_map(camera)
        images = {kind: _bent(image, low, high, smooth=kind == "rgb") for kind, image in images.items()}
    if "rgb" in images:
        images["rgb"] = exposed(images["rgb"], optics, time)
    return images


@lru_cache(maxsize=KEPT)
def _lens_map(camera: CameraSpec) -> tuple[CameraSpec, NDArray[np.intp], NDArray[np.float32]]:
    """Return the ideal camera to render with, and each pixel's position in its image: row, column and fractions."""
    ideal = replace(camera, optics=None)
    if camera.optics is None or not camera.optics.distorts:
        return ideal, np.zeros((2, 0, 0), np.intp), np.zeros((2, 0, 0), np.float32)
    u, v = lens_grid(camera)
    x, y = camera.cx + camera.fx * u - 0.5, camera.cy + camera.fy * v - 0.5
    over = max(-float(x.min()), float(x.max()) - camera.width + 1, -float(y.min()), float(y.max()) - camera.height + 1)
    margin = min(max(int(np.ceil(over)) + 1, 0), int(MOST_MARGIN * max(camera.width, camera.height)))
    wide = replace(
        ideal,
        width=camera.width + 2 * margin,
        height=camera.height + 2 * margin,
        cx=camera.cx + margin,
        cy=camera.cy + margin,
    )
    rows = np.clip(y + margin, 0, wide.height - 1.001)
    columns = np.clip(x + margin, 0, wide.width - 1.001)
    whole = np.stack([np.floor(rows), np.floor(columns)]).astype(np.intp)
    return wide, whole, (np.stack([rows, columns]) - whole).astype(np.float32)


def _bent(image: NDArray[Any], whole: NDArray[np.intp], part: NDArray[np.float32], *, smooth: bool) -> NDArray[Any]:
    """Return an image resampled through a lens: colours are blended, labels come from the nearest pixel."""
    row, column = whole
    if not smooth:
        return image[row + (part[0] > 0.5), column + (part[1] > 0.5)]
    fy, fx = part[0][..., None], part[1][..., None]
    upper = image[row, column] * (1 - fx) + image[row, column + 1] * fx
    lower = image[row + 1, column] * (1 - fx) + image[row + 1, column + 1] * fx
    return np.rint(upper * (1 - fy) + lower * fy).astype(np.uint8)


def exposed(rgb: NDArray[np.uint8], optics: Optics, time: float) -> NDArray[np.uint8]:
    """Return an image as a sensor would record it at a time of the episode [s]."""
    drift = float(np.sin(2 * np.pi * time / optics.drift_seconds + optics.phase))
    gain = optics.exposure * (1.0 + optics.exposure_drift * drift)
    # Red and blue drift against each other.
    red, blue = optics.white_balance
    tint = np.array(
        [red * (1.0 - optics.white_drift * drift), 1.0, blue * (1.0 + optics.white_drift * drift)], np.float32
    )
    light = _LINEAR[rgb] * (np.float32(gain) * tint)
    height, width = rgb.shape[:2]
    if optics.vignetting > 0:
        light *= _vignette(width, height, optics.vignetting)[..., None]
    if optics.noise > 0:
        rng = np.random.default_rng([optics.seed, round(time * 1e6)])
        grain = rng.standard_normal(rgb.shape, dtype=np.float32)
        light += grain * (np.float32(optics.noise) * (np.float32(READ_NOISE) + np.sqrt(np.maximum(light, 0))))
    picture = _ENCODED[np.clip(light * np.float32(LEVELS - 1), 0, LEVELS - 1).astype(np.intp)]
    return compressed(picture, optics.jpeg) if optics.jpeg else picture


@lru_cache(maxsize=KEPT)
def _vignette(width: int, height: int, loss: float) -> NDArray[np.float32]:
    """Return the fraction of light that reaches each pixel (h, w), lowest in the corners."""
    x = (np.arange(width) + 0.5) / width - 0.5
    y = (np.arange(height) + 0.5) / height - 0.5
    r2 = 2.0 * (x[None, :] ** 2 + y[:, None] ** 2)
    return (1.0 - loss * r2).astype(np.float32)


def compressed(picture: NDArray[np.uint8], quality: int) -> NDArray[np.uint8]:
    """Return an image after JPEG compression with a quality from 1 to 100."""
    file = BytesIO()
    Image.fromarray(picture).save(file, format="JPEG", quality=quality)
    return np.asarray(Image.open(file)).copy()
