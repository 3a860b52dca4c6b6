"""A chart as a list of shapes, which become SVG for the page or pixels for a PNG."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

ROLES = {
    "paper": "#ffffff",
    "ink": "#1d2129",
    "muted": "#5d6674",
    "grid": "#e3e6ea",
    "soft": "#e8eef6",
    "main": "#2a6fc9",
    "good": "#15875a",
    "bad": "#c2452f",
    "series0": "#2a6fc9",
    "series1": "#d97a06",
    "series2": "#15875a",
    "series3": "#8457c4",
    "series4": "#c03a7a",
    "series5": "#5d6674",
}
"""Meaning of a colour > its value on a light background. The page has its own values for dark mode."""

SERIES = 6
"""Number of series colours of a chart."""

OVERSAMPLING = 3
"""A PNG is drawn this much larger and then reduced, for smooth edges."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    role: str
    radius: float = 2.0


@dataclass(frozen=True, kw_only=True)
class Path:
    """An open line through points."""

    points: tuple[Point, ...]
    role: str
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    role: str
    opacity: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Label:
    """One line of text; ``y`` is its base line."""

    x: float
    y: float
    text: str
    role: str = "ink"
    size: float = 13.0
    anchor: Anchor = "start"


@dataclass
class Drawing:
    """Shapes on a sheet of a size [px]; later ones cover earlier ones."""

    width: float
    height: float
    shapes: list[Box | Path | Dot | Label] = field(default_factory=list)

    def add(self, *shapes: Box | Path | Dot | Label) -> None:
        """Add shapes on top."""
        self.shapes += shapes

    def svg(self, title: str) -> str:
        """Return an SVG element that takes its colours from the page's style."""
        parts = "".join(_svg(shape) for shape in self.shapes)
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" style="max-width:{self.width:g}px"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" {size}>{parts}</svg>'

    def picture(self) -> NDArray[np.uint8]:
        """Return pixels (h, w, 3) at twice the size, on a light background."""
        scale = 2 * OVERSAMPLING
        size = (round(self.width * scale), round(self.height * scale))
        image = Image.new("RGB", size, ROLES["paper"])
        pen = ImageDraw.Draw(image, "RGBA")
        for shape in self.shapes:
            _paint(pen, shape, scale)
        return np.asarray(image.resize((size[0] // OVERSAMPLING, size[1] // OVERSAMPLING), Image.Resampling.LANCZOS))


def text_width(text: str, size: float = 13.0) -> float:
    """Return an upper bound of the width of a line of text [px]; the page's font may differ from the measured one."""
    return 1.2 * float(ImageFont.load_default(size).getlength(text))


def _svg(shape: Box | Path | Dot | Label) -> str:
    match shape:
        case Box():
            place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
            return f'<rect class="fill-{shape.role}" {place} rx="{shape.radius:g}"/>'
        case Path():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            look = f'stroke-width="{shape.width:g}" stroke-opacity="{shape.opacity:g}"'
            return f'<polyline class="line-{shape.role}" points="{points}" {look}/>'
        case Dot():
            place = f'cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}"'
            return f'<circle class="fill-{shape.role}" {place} fill-opacity="{shape.opacity:g}"/>'
        case Label():
            place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" text-anchor="{shape.anchor}"'
            return f'<text class="fill-{shape.role}" {place}>{escape(shape.text)}</text>'


def _paint(pen: ImageDraw.ImageDraw, shape: Box | Path | Dot | Label, scale: float) -> None:
    colour = ROLES[shape.role]
    match shape:
        case Box():
            if shape.width > 0 and shape.height > 0:
                corners = [v * scale for v in (shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)]
                pen.rounded_rectangle(corners, shape.radius * scale, fill=colour)
        case Path():
            points = [(x * scale, y * scale) for x, y in shape.points]
            pen.line(points, fill=colour + _alpha(shape.opacity), width=round(shape.width * scale), joint="curve")
        case Dot():
            r = shape.radius
            ends = [v * scale for v in (shape.x - r, shape.y - r, shape.x + r, shape.y + r)]
            pen.ellipse(ends, fill=colour + _alpha(shape.opacity))
        case Label():
            anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
            font = ImageFont.load_default(shape.size * scale)
            pen.text((shape.x * scale, shape.y * scale), shape.text, colour, font=font, anchor=anchor)


def _alpha(opacity: float) -> str:
    return f"{round(255 * opacity):02x}"


def ticks(low: float, high: float, count: int = 5) -> Sequence[float]:
    """Return round numbers from ``low`` to ``high``, about ``count`` of them."""
    span = max(high - low, 1e-12)
    power = 10.0 ** np.floor(np.log10(span / count))
    step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= count)
    first = np.ceil(low / step - 1e-9)
    return [float(step * k) + 0.0 for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]
