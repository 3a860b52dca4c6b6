"""Make the helpers beside the tests importable under ``--import-mode=importlib``."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
