"""The CUDA source as one text: constants, settings, and all files in place of their includes.

One text, because whoever keeps compiled code keeps it by the text alone and would not notice a change in an include.
"""

import re
from pathlib import Path

from handloom.render.cuda.constants import definitions

KERNELS = Path(__file__).parent / "kernels"
Settings = tuple[int, int, int]
"""What a build of the kernels is specialised on: shadows, occlusion, smoothing."""
# Pictures are the same bits as the processor's: nothing is contracted, nothing approximated.
OPTIONS = ("--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")
_INCLUDE = re.compile(r'^#include "([a-z_]+\.cuh)"\n', re.MULTILINE)


def source(settings: Settings) -> str:
    """Return the source of one build."""
    shadows, occlusion, smoothing = settings
    text = _INCLUDE.sub(lambda found: (KERNELS / found[1]).read_text("utf-8"), (KERNELS / "draw.cu").read_text("utf-8"))
    text = text.replace("#pragma once\n", "")
    return definitions(SHADOWS=shadows, OCCLUSION=occlusion, SMOOTHING=smoothing) + text
