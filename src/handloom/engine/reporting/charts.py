"""The kinds of charts in a report. Each takes plain numbers and returns a drawing."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from handloom.arrays import Array
from handloom.engine.reporting.drawing import SERIES, Box, Dot, Drawing, Label, Path, text_width, ticks

WIDTH = 520.0
ROW = 30.0
BAR = 18.0
MOST_ROWS = 40
"""Maximum rows of a chart; a run has a dozen reasons and skills, a forged one may have thousands."""
GOLDEN = 0.618034
"""Golden ratio: its multiples, modulo 1, spread dots evenly without a random generator."""


def bars(rows: Sequence[tuple[str, float, str]], *, whole: float | None = None, role: str = "main") -> Drawing:
    """Draw one horizontal bar per row.

    Args:
        rows: Name, length, and the text after the bar.
        whole: Length of the pale bar behind each; None omits it.
        role: Colour of the bars.
    """
    rows = [(_word(name), value, note) for name, value, note in rows[:MOST_ROWS]]
    left = max(text_width(name) for name, _, _ in rows) + 14
    right = max(text_width(note) for _, _, note in rows) + 14
    longest = whole or max((value for _, value, _ in rows), default=0.0) or 1.0
    scale = (WIDTH - left - right) / longest
    drawing = Drawing(WIDTH, ROW * len(rows) + 4)
    for k, (name, value, note) in enumerate(rows):
        top = 4 + k * ROW
        base = top + BAR - 4
        if whole:
            drawing.add(Box(x=left, y=top, width=whole * scale, height=BAR, role="soft"))
        drawing.add(Box(x=left, y=top, width=max(value * scale, 1.0), height=BAR, role=role))
        end = left + (whole or value) * scale + 8
        drawing.add(Label(x=left - 10, y=base, text=name, anchor="end"), Label(x=end, y=base, text=note, role="muted"))
    return drawing


def strips(rows: Sequence[tuple[str, Sequence[float]]], *, unit: str) -> Drawing:
    """Draw every value as a dot on a line per row, with a stroke at the median and its number.

    Args:
        rows: Name and values.
        unit: Unit of the values.
    """
    rows = [(_word(name), values) for name, values in rows[:MOST_ROWS]]
    left = max(text_width(name) for name, _ in rows) + 14
    right = 60.0
    high = max((max(values) for _, values in rows if len(values)), default=1.0) * 1.03 or 1.0
    scale = (WIDTH - left - right) / high
    bottom = ROW * len(rows) + 6
    drawing = Drawing(WIDTH, bottom + 26)
    for tick in ticks(0.0, high):
        x = left + tick * scale
        drawing.add(Path(points=((x, 2), (x, bottom)), role="grid"))
        drawing.add(Label(x=x, y=bottom + 17, text=f"{tick:g}", role="muted", size=12, anchor="middle"))
    drawing.add(Label(x=WIDTH - right + 12, y=bottom + 17, text=unit, role="muted", size=12))
    for k, (name, values) in enumerate(rows):
        middle = 4 + k * ROW + BAR / 2
        drawing.add(Label(x=left - 10, y=middle + 5, text=name, anchor="end"))
        opacity = float(np.clip(12 / max(len(values), 1), 0.12, 0.7))
        for j, value in enumerate(values):
            offset = (j * GOLDEN % 1.0 - 0.5) * (BAR - 4)
            drawing.add(Dot(x=left + value * scale, y=middle + offset, radius=2.6, role="main", opacity=opacity))
        if len(values):
            median = float(np.median(values))
            x = left + median * scale
            drawing.add(Path(points=((x, middle - 11), (x, middle + 11)), role="ink", width=2))
            drawing.add(Label(x=WIDTH - right + 12, y=middle + 5, text=f"{median:.1f} {unit}", size=12))
    return drawing


def _word(name: str) -> str:
    """Return a name shortened to one line for a chart."""
    return "".join(c if c.isprintable() else " " for c in name[:40])


def top_view(
    points: Mapping[str, Array],
    *,
    paths: Sequence[Array] = (),
    marks: Mapping[str, tuple[float, float]] | None = None,
) -> Drawing:
    """Draw points in the plane [m] with equal scales: dots by series, lines, and named marks.

    Args:
        points: Series > points (n, 2).
        paths: Lines (n, 2) each.
        marks: Single named points, such as the position of a robot.
    """
    marks = marks or {}
    everything = [*points.values(), *paths, *(np.array([place]) for place in marks.values())]
    frame = _Frame(np.concatenate([part for part in everything if len(part)]))
    drawing = frame.drawing
    opacity = float(np.clip(14 / max(len(paths), 1), 0.1, 0.7))
    for line in paths:
        drawing.add(Path(points=tuple(frame.at(p) for p in line), role="main", width=1.2, opacity=opacity))
    for line in paths:
        for end, role in ((line[0], "good"), (line[-1], "bad")):
            x, y = frame.at(end)
            drawing.add(Dot(x=x, y=y, radius=2.2, role=role, opacity=0.8))
    for k, (name, places) in enumerate(points.items()):
        role = f"series{min(k, SERIES - 1)}"
        opacity = float(np.clip(40 / max(len(places), 1), 0.25, 0.85))
        for place in places:
            x, y = frame.at(place)
            drawing.add(Dot(x=x, y=y, radius=3.2, role=role, opacity=opacity))
        frame.legend(k, _word(name), role)
    for name, place in marks.items():
        x, y = frame.at(np.array(place))
        drawing.add(
            Box(x=x - 5, y=y - 5, width=10, height=10, role="muted"), Label(x=x + 9, y=y + 5, text=_word(name), size=12)
        )
    return drawing


class _Frame:
    """A plane with equal scales, a grid in metres, and room for a legend on the right."""

    def __init__(self, places: Array) -> None:
        low, high = places.min(axis=0), places.max(axis=0)
        margin = 0.06 * max(float((high - low).max()), 0.05)
        self.low, self.high = low - margin, high + margin
        span = self.high - self.low
        self.scale = float(min(380.0 / span[0], 330.0 / span[1]))
        self.width, self.height = (float(side) for side in span * self.scale)
        self.left, self.top = 44.0, 8.0
        self.drawing = Drawing(WIDTH, self.height + 34)
        for axis in range(2):
            for tick in ticks(float(self.low[axis]), float(self.high[axis])):
                self._grid_line(axis, tick)

    def _grid_line(self, axis: int, tick: float) -> None:
        across = float(tick - self.low[axis]) * self.scale
        text = f"{tick:.6g}"
        bottom = self.top + self.height
        if axis == 0:
            x = self.left + across
            ends = ((x, self.top), (x, bottom))
            label = Label(x=x, y=bottom + 17, text=text, role="muted", size=12, anchor="middle")
        else:
            y = bottom - across
            ends = ((self.left, y), (self.left + self.width, y))
            label = Label(x=self.left - 7, y=y + 4, text=text, role="muted", size=12, anchor="end")
        self.drawing.add(Path(points=ends, role="grid"), label)

    def at(self, place: Array) -> tuple[float, float]:
        """Return the position of a point on the sheet."""
        x, y = (place[:2] - self.low) * self.scale
        return self.left + float(x), self.top + self.height - float(y)

    def legend(self, row: int, name: str, role: str) -> None:
        """Name a series."""
        x, y = self.left + self.width + 18, self.top + 14 + 22 * row
        self.drawing.add(Dot(x=x, y=y - 4, radius=4.5, role=role), Label(x=x + 11, y=y, text=name, size=12))


def rose(directions: Mapping[str, Array]) -> Drawing:
    """Draw approach directions of hands, seen along the vertical: the centre is straight down, the rim is level.

    Args:
        directions: Series > unit vectors (n, 3) of approach, in the frame of the grasped object.
    """
    side, left, top = 300.0, 20.0, 10.0
    centre = (left + side / 2, top + side / 2)
    drawing = Drawing(WIDTH, side + 36)
    for degrees in (30, 60, 90):
        radius = side / 2 * degrees / 90
        ring = [(centre[0] + radius * np.cos(a), centre[1] - radius * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 73)]
        drawing.add(*(Path(points=pair, role="grid") for pair in pairwise(ring)))
        # Away from the axes, where grasps of boxes cluster.
        x, y = centre[0] + radius * np.cos(-0.6), centre[1] - radius * np.sin(-0.6)
        drawing.add(Label(x=float(x) + 3, y=float(y) + 9, text=f"{degrees}°", role="muted", size=11))
    for k, (name, vectors) in enumerate(directions.items()):
        role = f"series{min(k, SERIES - 1)}"
        opacity = float(np.clip(40 / max(len(vectors), 1), 0.25, 0.85))
        for vector in vectors:
            tilt = float(np.arccos(np.clip(-vector[2], -1.0, 1.0)))
            # A hand that moves along +x came from -x.
            angle = float(np.arctan2(-vector[1], -vector[0]))
            radius = min(tilt / (np.pi / 2), 1.0) * side / 2
            x, y = centre[0] + radius * np.cos(angle), centre[1] - radius * np.sin(angle)
            drawing.add(Dot(x=float(x), y=float(y), radius=3.2, role=role, opacity=opacity))
        y = top + 14 + 22 * k
        drawing.add(Dot(x=left + side + 58, y=y - 4, radius=4.5, role=role))
        drawing.add(Label(x=left + side + 69, y=y, text=_word(name), size=12))
    note = "centre: straight down, 90°: level; directions are those of the object's own axes"
    drawing.add(Label(x=left, y=side + 30, text=note, role="muted", size=12))
    return drawing
