"""Figures of pictures: sharpness and brightness of a few frames."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

BLURRED = 1e-4
"""Variance of the Laplacian of brightness (0 to 1) below which a picture is blurred or empty."""
DARK, BRIGHT = 0.12, 0.92
"""Mean brightness, 0 to 1, below and above which hardly anything can be seen."""
FLAT = 0.02
"""Spread of brightness below which a picture shows nothing."""


@dataclass(kw_only=True)
class PictureFigures:
    """Figures of one camera."""

    sharpness: list[float] = field(default_factory=list)
    brightness: list[float] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Take in a picture (h, w, 3)."""
        gray = picture.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32) / 255.0
        laplacian = -4 * gray[1:-1, 1:-1] + gray[:-2, 1:-1] + gray[2:, 1:-1] + gray[1:-1, :-2] + gray[1:-1, 2:]
        self.sharpness.append(float(laplacian.var()))
        self.brightness.append(float(gray.mean()))
        self.spread.append(float(gray.std()))

    def share(self, which: str) -> float:
        """Return the share of pictures that are ``blurred``, ``dark``, ``bright`` or ``empty``."""
        tests = {
            "blurred": np.array(self.sharpness) < BLURRED,
            "dark": np.array(self.brightness) < DARK,
            "bright": np.array(self.brightness) > BRIGHT,
            "empty": np.array(self.spread) < FLAT,
        }
        return float(tests[which].mean()) if self.brightness else float("nan")
