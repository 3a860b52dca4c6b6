"""Heights, depths and clearances of fitted furniture [m].

They follow common kitchen standards (EN 1116, NKBA guidelines): worktops at 85 to 95 cm, 60 to 65 cm deep; at least 45
cm from a worktop to the unit above it and 65 cm from a hob to its hood; aisles of at least 1 m between facing runs.
"""

from typing import Final

COUNTER = 0.91
"""Height of a worktop."""
TOP = 0.038
"""Thickness of a worktop."""
PLINTH = 0.122
"""Height of the plinth under base units."""
BASE = COUNTER - TOP - PLINTH
"""Height of a base unit without its plinth."""
DEPTH = 0.56
"""Depth of a base unit without its front."""
EDGE = 0.62
"""Depth of a worktop; people and robots stand at its front edge."""
CORNER = EDGE + 0.075
"""Width of the blind corner of two runs: the other run's depth and a strip that keeps handles clear of drawers."""
UPPER = 1.46
"""Lower edge of wall cabinets."""
UPPER_DEPTH, UPPER_HEIGHT = 0.34, 0.70
SHELF = 1.34
"""Lower edge of a wall shelf's brackets; its board is 9 cm higher."""
BETWEEN = 0.36
"""Distance between two wall shelves, one above the other."""
HOOD = COUNTER + 0.68
"""Lower edge of a hood."""
SILL = 1.46
"""Lower edge of a window above a worktop."""
WAY = 1.0
"""Minimum aisle width between facing runs, and between a run and an island."""
WIDTHS: Final = {
    "drawers": 0.60,
    "cabinet": 0.60,
    "sink": 0.80,
    "stove": 0.60,
    "dishwasher": 0.60,
    "fridge": 0.70,
    "pantry": 0.60,
    "corner": CORNER,
    "filler": 0.075,
    "gap": 0.60,
}
"""Units of a run > default width."""
ABOVE: Final = {"drawers": "cabinet", "cabinet": "cabinet", "sink": "window", "stove": "hood", "dishwasher": "cabinet"}
"""Units > default unit above them; none above all other units."""
