"""The CUDA source as one text: constants, settings, and all files in place of their includes.

One text, because compile caches are keyed by the text alone and would miss a change in an include.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from handloom.render.cpu import frame, layout, reflect, smooth, trace
from handloom.render.cpu.light import occlude, penumbra, shading, shadow_culling, turned_light
from handloom.render.cpu.model import bvh, placement, texture
from handloom.render.cpu.rays import beads, space, triangles, turned, wide_tests

FROM_LAYOUT = (
    *("TILE_WIDTH", "TILE_HEIGHT", "LANES", "GROUPS", "POSE", "GEOM_COLUMNS", "LIGHT_COLUMNS", "VIEW_COLUMNS"),
    *("P_W", "P_U", "P_V", "P_COLOR", "P_BARS", "WINDOW_COLUMNS"),
    *(
        "PLANE",
        "SPHERE",
        "CAPSULE",
        "ELLIPSOID",
        "CYLINDER",
        "BOX",
        "MESH",
        "TRIANGLES",
        "BEADS",
        "TURNED",
        "BIG",
        "TINY",
    ),
)
"""Names taken from ``layout`` in addition to the columns of its tables."""
COLUMNS = ("G_", "L_", "W_", "V_")
"""Prefixes of the names of columns."""
OTHERS: dict[str, Any] = {
    "BLOCK": bvh.BLOCK,
    "WIDTH": bvh.WIDTH,
    "LINKS": bvh.LINKS,
    "STACK": bvh.STACK,
    "BOX_ROUNDING": np.float32(wide_tests.ROUNDING),
    "SEAM": np.float32(wide_tests.SEAM),
    "SEAM_FAR": np.float32(1 + wide_tests.SEAM),
    "AS_NEAR": triangles.AS_NEAR,
    "LAMP_U": triangles.LAMP_U,
    "LAMP_V": triangles.LAMP_V,
    "LAMP_POINTS": triangles.LAMP_POINTS,
    "LAMP_WEIGHT": triangles.LAMP_WEIGHT,
    "MITRE": triangles.MITRE,
    "SHADOW_START": triangles.SHADOW_START,
    "BEAD_CORNER": beads.CORNER,
    "TURNED_SEAM": turned.SEAM,
    "TURNED_LEVEL": turned.LEVEL,
    "SUNK": turned_light.SUNK,
    "CONTACT": penumbra.CONTACT,
    "LIGHT_NEAR": shadow_culling.LIGHT_NEAR,
    "PLACE_LIGHT_NEAR": placement.LIGHT_NEAR,
    "BEFORE_NEAR": placement.BEFORE_NEAR,
    "LEAST_NEAR": placement.LEAST_NEAR,
    "DEPTH_CLOSER": placement.CLOSER,
    "DEPTH_BEFORE": placement.BEFORE,
    "GAP_CLOSER": space.CLOSER,
    "WORTH_GROUPS": occlude.WORTH_GROUPS,
    "LIFT": trace.LIFT,
    "LAYER_GAP": trace.LAYER_GAP,
    "MAX_LAYERS": trace.MAX_LAYERS,
    "MAX_MIRRORS": reflect.MAX_MIRRORS,
    "UPPER_FACE": reflect.UPPER_FACE,
    "SHARPNESS": texture.SHARPNESS,
    "TEXEL_SCALE": texture.TEXEL_SCALE,
    "FOUR_THIRDS": np.float32(4.0 / 3.0),
    "SAMPLE_X": smooth.SAMPLE_X,
    "SAMPLE_Y": smooth.SAMPLE_Y,
    "FACE_KEYS": smooth.FACE_KEYS,
    "FACE_ZERO": smooth.FACE_ZERO,
    "RESHADE": frame.RESHADE,
    **{f"FILM_{k}": getattr(shading, f"FILM_{k}") for k in "ABCDE"},
    **{f"SRGB_{k}": getattr(shading, f"SRGB_{k}") for k in "1248"},
    **{k: getattr(shading, k) for k in ("MIRROR_CONTRAST", "FACE_ON", "SHARPEST_EDGE", "BLUR", "CLEAR_COAT")},
}


def constants() -> dict[str, Any]:
    """Return every constant of the CUDA source by name."""
    columns = {name: value for name, value in vars(layout).items() if name.startswith(COLUMNS)}
    return {**{name: getattr(layout, name) for name in FROM_LAYOUT}, **columns, **OTHERS}


def definitions(**settings: int) -> str:
    """Return the constants and the settings of a build as definitions in C."""
    return "".join(f"#define {name} {_literal(value)}\n" for name, value in _all(settings))


def _all(settings: dict[str, int]) -> Iterator[tuple[str, Any]]:
    yield from constants().items()
    yield from settings.items()


def _literal(value: Any) -> str:
    """Return one or several numbers as C literals, with the shortest digits that give the same bits."""
    if isinstance(value, tuple):
        return "{" + ", ".join(_literal(item) for item in value) + "}"
    if isinstance(value, np.floating):
        return f"{float(value)!r}f"
    return repr(value)


KERNELS = Path(__file__).parent / "kernels"
Settings = tuple[int, int, int]
"""Settings of a specialised build of the kernels: shadows, occlusion, smoothing."""
# Images have the same bits as on the CPU: no operation is contracted or approximated.
OPTIONS = ("--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
_INCLUDE = re.compile(r'^#include "([a-z_]+\.cuh)"\n', re.MULTILINE)


def source(settings: Settings) -> str:
    """Return the source of one build."""
    shadows, occlusion, smoothing = settings
    text = _INCLUDE.sub(lambda found: (KERNELS / found[1]).read_text("utf-8"), (KERNELS / "draw.cu").read_text("utf-8"))
    text = text.replace("#pragma once\n", "")
    return definitions(SHADOWS=shadows, OCCLUSION=occlusion, SMOOTHING=smoothing) + text
